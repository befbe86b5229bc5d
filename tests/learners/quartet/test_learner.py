"""``QuartetLearner``: the same seed and the same bytes, laws, and all that is refused before anything is trained."""

from __future__ import annotations

import builtins
import random
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import torch

from celltreeqm.evaluation import feature_recovery
from celltreeqm.learners import HeritableLearner, learner_by_name
from celltreeqm.learners.direct import DirectLearner
from celltreeqm.learners.quartet import QuartetLearner, _fitting
from celltreeqm.simulate import simulate_scenario
from celltreeqm.trees import (
    neighbor_joining,
    parse_newick,
    prior_at_level,
    quartet_agreement,
    robinson_foulds,
    root_at,
)

from .small import HALF, LEAVES, REPLICATE, TRUTH, X, fitted, learner, written

ENCODERS = ["transformer", "fc", "linear", "diagonal"]
ALL_AT_ONCE = {  # everything that draws something, in one training
    "gate": "gumbel",
    "data_dropout": 0.2,
    "metric_dropout": 0.2,
    "noise": 0.1,
    "permute": True,
    "gate_start": "heritable",
    "draws": 0.5,
    "weight_average": 0.9,
    "select": "last",
}


# Seeds


@pytest.mark.parametrize("changes", [{}, ALL_AT_ONCE, {"encoder": "fc", "norm": "batch"}, {"gate": "sigmoid"}])
def test_the_same_seed_gives_the_same_bytes(changes, tmp_path):
    one, same, other = (fitted(seed=seed, **changes) for seed in (1, 1, 2))
    assert one.parameters.tobytes() == same.parameters.tobytes() != other.parameters.tobytes()
    assert one.distances().tobytes() == same.distances().tobytes() != other.distances().tobytes()
    assert written(one, tmp_path / "one") == written(same, tmp_path / "same") != written(other, tmp_path / "other")


def test_a_generator_or_nothing_is_recorded_as_a_seed():
    one = fitted(seed=np.random.default_rng(5), steps=5)
    assert fitted(seed=one.provenance.seed, steps=5).parameters.tobytes() == one.parameters.tobytes()
    drawn, again = fitted(seed=None, steps=0), fitted(seed=None, steps=0)
    assert drawn.provenance.seed != again.provenance.seed


def test_seeds_may_be_large():
    seeds = (2**63 - 1, 2**64, 2**70)
    assert len({fitted(seed=seed, steps=5).parameters.tobytes() for seed in seeds}) == len(seeds)


def test_generators_of_others_are_left_alone():
    torch.manual_seed(11)
    np.random.seed(11)
    random.seed(11)
    before = torch.get_rng_state(), np.random.get_state()[1].copy(), random.getstate()
    fit = fitted(**ALL_AT_ONCE)
    fit.distances(REPLICATE)
    fit.refit(X, seed=0).tree()
    assert (torch.get_rng_state() == before[0]).all()
    assert (np.random.get_state()[1] == before[1]).all()
    assert random.getstate() == before[2]


def test_what_others_draw_does_not_matter():
    torch.manual_seed(1)
    one = fitted(**ALL_AT_ONCE)
    torch.manual_seed(2)
    torch.rand(7)
    assert fitted(**ALL_AT_ONCE).parameters.tobytes() == one.parameters.tobytes()


def test_threads_of_torch_are_as_they_were():
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        fitted(steps=2, threads=1).embed()
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


# Laws


@pytest.mark.parametrize("prior", [TRUTH, HALF, prior_at_level(TRUTH, 2)])
def test_rerooting_a_prior_changes_nothing(prior):
    elsewhere = root_at(prior, int(prior.parent[0]))
    assert elsewhere != prior
    one, other = fitted(prior=prior), fitted(prior=elsewhere)
    assert other.parameters.tobytes() == one.parameters.tobytes()
    assert other.selection == one.selection
    assert other.step == one.step
    assert other.tree() == one.tree()


@pytest.mark.parametrize("encoder", ENCODERS)
def test_the_prior_is_displayed(encoder):
    priors = [prior_at_level(TRUTH, 1), HALF]
    fit = fitted(prior=priors, encoder=encoder, steps=5)
    for tree in (fit.tree(), fit.tree(REPLICATE)):
        for prior in priors:
            seen = quartet_agreement(tree.restrict(prior.leaves), prior)
            assert seen.different == seen.only_second == 0
    free = fit.tree(honor_prior=False)
    assert free == neighbor_joining(fit.distances(), LEAVES)


@pytest.mark.parametrize("encoder", ["fc", "linear", "diagonal", "transformer"])
def test_the_order_of_leaves_does_not_matter(encoder):
    order = np.random.default_rng(0).permutation(len(LEAVES))
    one = fitted(encoder=encoder, select="last")
    other = fitted(X[order], [LEAVES[i] for i in order], encoder=encoder, select="last")
    np.testing.assert_allclose(other.distances(), one.distances()[np.ix_(order, order)], rtol=2e-3, atol=2e-3)
    assert robinson_foulds(one.tree(honor_prior=False), other.tree(honor_prior=False)) == 0


def test_scale_and_shift_of_features_do_not_matter():
    rng = np.random.default_rng(0)
    changed = X * rng.uniform(0.1, 100, size=X.shape[1]) + rng.normal(size=X.shape[1])
    one, other = fitted(encoder="fc", steps=10), fitted(changed, encoder="fc", steps=10)
    np.testing.assert_allclose(other.distances(), one.distances(), rtol=1e-3, atol=1e-4)


def test_constant_features_are_never_shown():
    constant = np.full((len(LEAVES), 2), 7.0)
    one, other = fitted(), fitted(np.hstack([X, constant]))
    assert other.parameters.tobytes() == one.parameters.tobytes()
    assert not other.selected[-2:].any()
    assert (other.feature_scores[-2:] == 0).all()


def test_unlabelled_leaves_take_part_unless_the_context_is_the_known_ones():
    elsewhere = X.copy()
    elsewhere[8:] = np.random.default_rng(0).normal(size=elsewhere[8:].shape)
    for context, same in (("known", True), ("all", False)):
        one, other = (fitted(values, prior=HALF, context=context) for values in (X, elsewhere))
        assert (one.parameters.tobytes() == other.parameters.tobytes()) == same


@pytest.mark.parametrize("known", [12, 18])  # one training, and two
def test_nothing_of_unlabelled_leaves_reaches_a_heritable_start_either(known):
    simulation = simulate_scenario("A1", leaves=32, seed=0)
    values = simulation.features[:, ::4]
    elsewhere = values.copy()
    elsewhere[known:] = np.random.default_rng(0).normal(size=elsewhere[known:].shape)
    prior = simulation.truth.restrict(simulation.leaves[:known])
    one, other = (
        QuartetLearner(context="known", steps=10, width=16).fit(features, simulation.leaves, prior=prior, seed=0)
        for features in (values, elsewhere)
    )
    assert one.parameters.tobytes() == other.parameters.tobytes()
    assert (one.start == other.start).all()
    assert one.selection == other.selection


def test_the_register_knows_it():
    assert learner_by_name("quartet", preset="weak-real") == QuartetLearner(preset="weak-real")


# Refused before anything is trained


@pytest.fixture
def nothing_is_trained(monkeypatch):
    def refuse(*arguments, **more):
        raise AssertionError("something was fitted before the input was refused")

    monkeypatch.setattr(_fitting, "train", refuse)
    monkeypatch.setattr(HeritableLearner, "fit", refuse)


def without(values, row, column, value):
    values = values.copy()
    values[row, column] = value
    return values


@pytest.mark.usefixtures("nothing_is_trained")
@pytest.mark.parametrize(
    "values, leaves, prior, sentence",
    [
        (X, LEAVES, parse_newick(f"({','.join(LEAVES)});"), "resolves none of the 1,820 quartets of 16 leaves"),
        (X, LEAVES, TRUTH.restrict(LEAVES[:3]), "resolves none of the 1,820 quartets of 16 leaves"),
        (X, LEAVES, TRUTH.restrict(LEAVES[:1]), r"resolves none of the 1,820 quartets .*\(it has 1 of them\)"),
        (X[:1], LEAVES[:1], None, "1 leaves came; quartets need 4 or more. DirectLearner takes fewer."),
        (X[:3], LEAVES[:3], None, "3 leaves came; quartets need 4 or more"),
        (X[:0], (), None, "0 leaves came|at least one|No leaf"),
        (without(X, 2, 3, np.nan), LEAVES, TRUTH, rf"The value of leaf '{LEAVES[2]}' \(row 2\) .* column 3 is nan"),
        (without(X, 0, 0, np.inf), LEAVES, TRUTH, "is inf; features must be finite"),
        (np.ones_like(X), LEAVES, TRUTH, "All 15 features are the same in all 16 leaves"),
        (X[:10], LEAVES[:10], TRUTH, "6 leaves of the prior have no row in the data"),
        (X[:, :0], LEAVES, TRUTH, "has no features"),
        (X[:10], LEAVES, TRUTH, "16 leaf names came with a 10 x 15 feature matrix"),
        (X, None, TRUTH, "The features came without leaf names"),
        (X, [LEAVES[0], *LEAVES[:-1]], None, "must be unique"),
    ],
)
def test_data_that_teach_nothing_are_refused(values, leaves, prior, sentence):
    with pytest.raises(ValueError, match=sentence):
        QuartetLearner().fit(values, leaves, prior=prior, seed=0)


@pytest.mark.usefixtures("nothing_is_trained")
@pytest.mark.parametrize(
    "changes, given, sentence",
    [
        ({"device": "cuda:7"}, {}, "device='cuda:7' was given, and there is no such device here"),
        ({"device": "abacus"}, {}, "device='abacus' was given, and there is no such device here"),
        ({"gate_start": [0.5] * 3}, {}, "gate_start holds 3 weights for 15 features; one a feature was needed"),
        ({"draws": 0.5}, {}, "draws=0.5 came without a tree to draw along"),
        ({"select": "test"}, {}, "select='test' came without monitor="),
        ({"select": "test"}, {"monitor": {"validation": (X, TRUTH)}}, "select='test' came without monitor="),
        ({"context": "known"}, {"prior": None}, "context='known' came without a prior: no leaf is known"),
        ({"loss": "additivity", "gate": "none"}, {"prior": None}, "loss='additivity' came without a prior"),
        ({"preset": "weak-simulation"}, {"prior": None}, "loss='additivity' came without a prior"),
        ({"loss": "triplet", "gate": "none"}, {"prior": None}, "loss='triplet' came without a prior"),
        ({"gate": "linear"}, {}, "gate='linear' acts on the deviation loss of the unsupervised setting alone"),
        ({"heads": 3}, {}, "width=16 and heads=3 came together; the width must be a multiple of the heads"),
        ({"heads": 3, "gate_start": "heritable"}, {}, "width=16 and heads=3 came together"),
        ({}, {"seed": -1}, "seed=-1 was given"),
    ],
)
def test_settings_that_do_not_suit_the_data_are_refused(changes, given, sentence):
    with pytest.raises(ValueError, match=sentence):
        fitted(**(given | changes))


CHOICES = ("preset", "encoder", "norm", "gate", "loss", "quartets", "deviation_by", "deviation_from", "distance")
WHOLE = {"layers": -1, "heads": 0, "width": 0, "dimensions": 0, "steps": -1, "batch": 0, "warm_up": -1, "look_every": 0}
WEIGHTS = ("gate_weight", "additivity", "close", "push", "margin", "second_margin", "deviation", "noise")
RATES = ("learning_rate", "gate_learning_rate", "weight_decay", "clip")
SHARES = ("data_dropout", "metric_dropout", "weight_average", "draws")


@pytest.mark.parametrize("name", [*CHOICES, "context", "select", "builder"])
@pytest.mark.parametrize("value", ["nonsense", 3])
def test_choices_that_do_not_exist_are_refused(name, value):
    with pytest.raises(ValueError, match=f"{name}={value!r} was given; it is one of '"):
        QuartetLearner(**{name: value})


@pytest.mark.parametrize("name, value", [*WHOLE.items(), ("patience", 0), ("threads", 0)])
def test_whole_numbers_that_are_none_are_refused(name, value):
    for bad in (value, 2.5, "2", True):
        with pytest.raises(ValueError, match=rf"{name}={bad!r} was given; a whole number of \d or more is needed"):
            QuartetLearner(**{name: bad})


@pytest.mark.parametrize("name", [*WEIGHTS, *RATES])
@pytest.mark.parametrize("value", [-0.1, float("nan"), float("inf"), "1", True])
def test_weights_that_are_none_are_refused(name, value):
    with pytest.raises(ValueError, match=rf"{name}={value!r} was given; a number of 0 or more is needed"):
        QuartetLearner(**{name: value})


@pytest.mark.parametrize("name", SHARES)
@pytest.mark.parametrize("value", [-0.1, 1.0, float("nan"), "0.5"])
def test_shares_that_are_none_are_refused(name, value):
    with pytest.raises(ValueError, match=rf"{name}={value!r} was given; a number from 0 to below 1 is needed"):
        QuartetLearner(**{name: value})


@pytest.mark.parametrize(
    "changes, sentence",
    [
        ({"temperature": (1.0, 0.0)}, r"temperature=\(1.0, 0.0\) was given; two numbers above 0 are needed"),
        ({"temperature": 1.0}, "temperature=1.0 was given; two numbers above 0"),
        ({"temperature": (1.0, float("inf"))}, r"temperature=\(1.0, inf\) was given"),
        ({"gate_start": "weights"}, "gate_start='weights' was given; it is 'none', 'heritable' or a weight for each"),
        ({"gate_start": 3}, "gate_start=3 was given; it is 'none', 'heritable' or a weight for each"),
        ({"gate_start": ["a"]}, r"gate_start=\('a',\) was given; it is 'none', 'heritable' or a weight for each"),
        ({"gate_start": [0.5, 1.5]}, "gate_start holds weights outside 0 to 1"),
        ({"gate_start": [0.5, -0.5]}, "gate_start holds weights outside 0 to 1"),
        ({"gate_start": [0.5, float("nan")]}, "gate_start holds weights outside 0 to 1"),
        ({"skip": True, "encoder": "diagonal"}, "skip=True came with encoder='diagonal'"),
        ({"device": None}, "device=None was given; 'auto' or the name of a device is needed"),
    ],
)
def test_settings_of_another_kind_are_refused(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        QuartetLearner(**changes)


def test_numbers_of_numpy_are_numbers(tmp_path):
    plain = fitted(width=16, margin=0.5, steps=5, temperature=(1.0, 0.5), gate_start=[0.9] * X.shape[1])
    other = fitted(
        width=np.int64(16),
        margin=np.float32(0.5),
        steps=np.int8(5),
        temperature=np.array([1.0, 0.5]),
        gate_start=np.full(X.shape[1], 0.9),
    )
    assert written(other, tmp_path / "other") == written(plain, tmp_path / "plain")
    assert hash(learner(width=np.int64(16))) == hash(learner(width=16))


def test_data_frames_bring_their_names():
    frame = pd.DataFrame(X, index=LEAVES, columns=[f"gene {i}" for i in range(X.shape[1])])
    fit = QuartetLearner(steps=2, gate_start="none", width=16).fit(frame, prior=TRUTH, seed=0)
    assert fit.leaves == LEAVES
    assert fit.feature_names == tuple(frame.columns)


# Without PyTorch


def test_without_torch_there_is_a_hint(monkeypatch):
    imported = builtins.__import__

    def without_torch(name, *arguments, **more):
        if name.split(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
        return imported(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", without_torch)
    with pytest.raises(ModuleNotFoundError, match=r"needs PyTorch, .*: pip install 'celltreeqm\[torch\]'"):
        fitted()


def test_all_else_works_without_torch():
    code = """
        import sys
        sys.modules["torch"] = None  # any import of it fails
        import celltreeqm as ctq
        from celltreeqm.learners import AdaptiveLearner, DirectLearner, HeritableLearner
        s = ctq.simulate_scenario("A1", leaves=8, seed=0)
        for learner in (DirectLearner(), HeritableLearner(), AdaptiveLearner()):
            assert learner.fit(s.features, s.leaves, seed=0).tree().n_leaves == 8
        learner = ctq.QuartetLearner(preset="weak-real")
        assert learner.settings(8, 60).width == 256
        try:
            learner.fit(s.features, s.leaves, prior=s.truth)
        except ModuleNotFoundError as problem:
            print(problem)
    """
    code = "\n".join(line[8:] for line in code.splitlines())
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "pip install 'celltreeqm[torch]'" in run.stdout


# How good its trees are


@pytest.mark.slow
def test_auto_recognises_leaves_and_places_fresh_ones_as_well_as_the_heritable_learner():
    replicate, fresh, heritable = [], [], []
    for seed in range(3):
        simulation = simulate_scenario("C2", seed=seed)
        values, leaves, truth = simulation.features, simulation.leaves, simulation.truth
        monitor = {"validation": (simulation.replicate(seed=300 + seed).features, truth)}
        fit = QuartetLearner().fit(values, leaves, prior=truth, seed=seed, monitor=monitor)
        weights = HeritableLearner().fit(values, leaves, prior=truth, seed=seed)
        again, other = simulation.replicate(seed=100 + seed).features, simulation.fresh(seed=200 + seed)
        replicate.append(robinson_foulds(fit.tree(again, honor_prior=False), truth))
        fresh.append(robinson_foulds(fit.tree(other.features, honor_prior=False), other.truth))
        heritable.append(robinson_foulds(weights.tree(other.features, honor_prior=False), other.truth))
    assert np.mean(replicate) <= 0.05
    assert np.mean(fresh) <= np.mean(heritable) + 0.05


@pytest.mark.slow
def test_from_scratch_it_finds_the_features_that_count_and_recognises_leaves():
    found, direct = [], []
    for seed in range(2):
        simulation = simulate_scenario("C2", seed=seed)
        leaves, truth = simulation.leaves, simulation.truth
        monitor = {"validation": (simulation.replicate(seed=1 + 10 * seed).features, truth)}
        learner = QuartetLearner(gate_start="none")
        fit = learner.fit(simulation.features, leaves, prior=truth, seed=seed, monitor=monitor)
        test = simulation.replicate(seed=2 + 10 * seed).features
        found.append(robinson_foulds(fit.tree(test, honor_prior=False), truth))
        direct.append(robinson_foulds(DirectLearner().fit(test, leaves, seed=0).tree(), truth))
        assert feature_recovery(fit.selected, simulation.signal).precision > 0.9
    assert np.mean(found) < 0.1 < 0.8 < np.mean(direct)
