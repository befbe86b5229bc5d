"""Every number that the paper gives of a set-up, and what "auto" makes of the data."""

from __future__ import annotations

from dataclasses import asdict, fields

import pytest

from celltreeqm.learners.quartet import PRESETS, QuartetLearner, Settings

# The paper's appendix "Training Setups": layers, heads, projection and hidden columns, outputs, both dropouts, weight
# of the gate's regularisation.
SETUPS = {
    "supervised-simulation": (8, 2, 256, 128, 0.3, 0.2, 5.0),
    "supervised-real": (8, 2, 1024, 128, 0.1, 0.1, 0.01),
    "weak-simulation": (4, 2, 256, 128, 0.3, 0.2, 8.0),
    "weak-real": (8, 2, 256, 128, 0.3, 0.2, 0.01),
}
# The baseline of its "Loss Function Component Study".
LOSS = {
    "loss": "additivity",
    "quartets": "mismatched",
    "deviation": 0.01,
    "additivity": 2.0,
    "close": 1.0,
    "push": 10.0,
    "margin": 0.5,
}
PRIORS = {"auto": (True, False), "unsupervised": (False,)}  # with which a preset can be used, if not with one alone


def settings(preset, **given):
    return QuartetLearner(preset=preset, **given).settings(64, 600, prior=preset != "unsupervised")


def test_the_presets_are_the_papers_setups_and_auto():
    assert set(PRESETS) == {*SETUPS, "ablation", "unsupervised", "auto"}
    assert QuartetLearner().preset == "auto"


@pytest.mark.parametrize("preset", SETUPS)
def test_every_number_that_the_paper_gives_of_a_setup(preset):
    made = settings(preset)
    numbers = (made.layers, made.heads, made.width, made.dimensions)
    assert (*numbers, made.data_dropout, made.metric_dropout, made.gate_weight) == SETUPS[preset]
    assert made.encoder == "transformer"
    assert {name: getattr(made, name) for name in LOSS} == LOSS
    # D is Euclidean, Omega as written and of all features; the gate is "when necessary", a Gumbel gate in the paper.
    assert (made.distance, made.deviation_by, made.deviation_from) == ("euclidean", "paper", "features")
    assert made.gate == "none"
    assert settings(preset, gate="gumbel").gate_weight == SETUPS[preset][-1]
    assert made.builder == "neighbor_joining"


def test_the_setups_have_nothing_that_the_paper_does_not_have():
    for preset in (*SETUPS, "ablation", "unsupervised"):
        made = settings(preset)
        assert (made.skip, made.permute, made.noise, made.draws, made.weight_average) == (False, False, 0, 0, 0)
        assert made.patience is None
        assert QuartetLearner(preset=preset).start() == "none"


def test_the_ablation_is_of_the_small_real_data_set_supervised():
    assert PRESETS["ablation"] == PRESETS["supervised-real"]


def test_the_unsupervised_setup():
    made = settings("unsupervised")
    assert (made.encoder, made.layers, made.width) == ("fc", 3, 32)
    assert (made.loss, made.gate, made.gate_weight) == ("close", "linear", 1.0)  # |G - I| comes without a factor
    assert (made.additivity, made.close) == (1.0, 1.0)  # nor has the additivity loss one
    assert (made.data_dropout, made.metric_dropout, made.norm) == (0, 0, "none")


def test_celltreeqm_fc_is_eight_layers_of_1024():
    made = settings("supervised-real", encoder="fc")
    assert (made.encoder, made.layers, made.width) == ("fc", 8, 1024)


def test_what_the_paper_does_not_give_is_the_same_in_all_of_its_setups():
    for name in (
        *("steps", "batch", "learning_rate", "gate_learning_rate", "warm_up", "weight_decay", "clip"),
        *("temperature", "second_margin", "look_every"),
    ):
        assert len({getattr(settings(preset), name) for preset in SETUPS}) == 1


@pytest.mark.parametrize("preset", PRESETS)
def test_nothing_is_left_open(preset):
    for prior in PRIORS.get(preset, (True,)):
        made = QuartetLearner(preset=preset).settings(64, 600, prior=prior)
        assert [field.name for field in fields(Settings) if getattr(made, field.name) is None] == ["patience"]


@pytest.mark.parametrize("preset", PRESETS)
def test_what_is_given_wins_over_the_preset(preset):
    given = {
        **{"layers": 3, "width": 12, "heads": 3, "data_dropout": 0.0, "gate": "sigmoid", "margin": 0.0, "steps": 0},
        **{"skip": False, "permute": False, "noise": 0.0, "deviation": 0.0, "patience": 4, "temperature": (2.0, 0.5)},
    }
    for prior in PRIORS.get(preset, (True,)):
        made = asdict(QuartetLearner(preset=preset, **given).settings(64, 600, prior=prior))
        assert {name: made[name] for name in given} == given


# Auto


def test_auto_with_a_heritable_start_trains_shortly_on_the_features_that_the_start_left():
    made = QuartetLearner().settings(64, 600)
    assert QuartetLearner().start() == "heritable"
    assert (made.encoder, made.layers, made.heads, made.width) == ("transformer", 4, 2, 128)
    assert (made.gate, made.skip, made.steps) == ("none", True, 300)
    assert (made.noise, made.permute, made.draws) == (0.1, True, 0.5)
    assert (made.data_dropout, made.metric_dropout) == (0, 0)
    assert {name: getattr(made, name) for name in LOSS} == LOSS


@pytest.mark.parametrize("n, dimensions", [(4, 32), (33, 32), (34, 33), (64, 63), (513, 512), (2000, 512)])
def test_auto_has_an_output_for_every_direction_that_the_inputs_have(n, dimensions):
    assert QuartetLearner().settings(n, 600).dimensions == dimensions


def test_auto_draws_along_the_tree_of_the_start_only_where_the_start_makes_one():
    made = QuartetLearner(gate_start=[0.5] * 600).settings(64, 600)
    assert (made.draws, made.permute, made.skip, made.steps) == (0.0, True, True, 300)


@pytest.mark.parametrize("n, steps", [(64, 1500), (128, 1500), (129, 3000)])
def test_auto_from_scratch_has_a_gumbel_gate_and_thousands_of_steps(n, steps):
    learner = QuartetLearner(gate_start="none")
    made = learner.settings(n, 600)
    assert learner.start() == "none"
    assert (made.gate, made.deviation_from, made.steps) == ("gumbel", "gated", steps)
    assert (made.skip, made.permute, made.noise, made.draws) == (False, False, 0, 0)
    assert (made.encoder, made.layers, made.heads, made.width, made.dimensions) == ("transformer", 4, 2, 128, 128)


def test_auto_without_a_prior_is_the_unsupervised_setup_on_top_of_a_heritable_start():
    made = QuartetLearner().settings(64, 600, prior=False)
    assert (made.encoder, made.layers, made.width, made.loss) == ("fc", 3, 32, "close")
    assert (made.gate, made.skip, made.dimensions, made.steps) == ("none", True, 63, 300)
    assert (made.noise, made.permute, made.draws) == (0, False, 0)


def test_auto_without_a_prior_and_a_start_has_no_matrix_too_large_for_a_laptop():
    learner = QuartetLearner(gate_start="none")
    unsupervised = QuartetLearner(preset="unsupervised")
    assert learner.settings(64, 2_000, prior=False) == unsupervised.settings(64, 2_000, prior=False)
    assert learner.settings(64, 2_001, prior=False).gate == "none"


def test_the_diagonal_has_no_layer_to_add_to_components():
    assert not QuartetLearner(encoder="diagonal").settings(64, 600).skip
