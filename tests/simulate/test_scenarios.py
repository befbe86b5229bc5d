"""Scenarios: the settings of the paper, and what no scenario can have."""

import dataclasses

import pytest

from celltreeqm.simulate import SCENARIOS, Scenario, simulate_scenario

# The paper's table: name, w, d_sig, d_noise, alpha, S, T, d_AltSig, beta, SNR, d (None where it has an empty cell)
TABLE = [
    ("A1", 2, 20, 20, 0.5, 20, 1, 20, 0.5, 0.5, 60),
    ("A2", 2, 50, 50, 0.5, 50, 1, 50, 0.5, 0.5, 150),
    ("A3", 2, 100, 100, 0.5, 100, 1, 100, 0.5, 0.5, 300),
    ("B1", 2, 20, 100, 0.5, None, None, None, None, 0.2, 120),
    ("B2", 5, 50, 500, 1, None, None, None, None, 0.1, 550),
    ("B3", 10, 100, 2000, 2, None, None, None, None, 0.05, 2100),
    ("C1", 2, 20, None, None, 20, 1, 20, 0.5, 1, 40),
    ("C2", 5, 50, None, None, 50, 2, 100, 1, 0.5, 150),
    ("C3", 10, 100, None, None, 100, 2, 200, 2, 0.5, 300),
    ("D1", 2, 20, 100, 0.5, 20, 1, 20, 0.5, 0.17, 140),
    ("D2", 5, 50, 500, 1, 50, 2, 100, 1, 0.08, 650),
    ("D3", 10, 100, 2000, 2, 100, 2, 200, 2, 0.05, 2300),
]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row[0])
def test_presets_are_the_rows_of_the_papers_table(row):
    name, w, d_sig, d_noise, alpha, s, trees, d_alt, beta, snr, d = row
    scenario = SCENARIOS[name]
    assert scenario.name == name
    assert (scenario.leaves, scenario.shape, scenario.increments) == (64, "balanced", "sd")
    assert (scenario.max_length, scenario.signal) == (w, d_sig)
    assert (scenario.noise, scenario.alternative) == (d_noise or 0, d_alt or 0)
    assert (scenario.batch, scenario.cycle, scenario.heritability) == (0, 0, 1)
    if d_noise:
        assert (scenario.noise_scale, scenario.noise_sd) == (alpha, None)
    if d_alt:
        assert (scenario.alternative_trees, scenario.alternative_scale) == (trees, beta)
        assert scenario.alternative_max_length == beta * w
        assert s * trees == d_alt, "d_AltSig counts the columns of all trees"
    assert scenario.n_features == d
    assert scenario.signal / (scenario.noise + scenario.alternative) == pytest.approx(snr, abs=0.006)


def test_weak_and_unsupervised_presets_are_the_papers():
    weak = SCENARIOS["weak"]
    assert (weak.leaves, weak.max_length, weak.signal, weak.noise, weak.alternative) == (64, 2, 50, 500, 50)
    assert (weak.noise_scale, weak.noise_mean) == (1, "signal")
    assert (weak.alternative_trees, weak.alternative_max_length) == (2, 2)
    plain = SCENARIOS["unsupervised"]
    assert (plain.leaves, plain.max_length, plain.signal, plain.noise, plain.noise_sd) == (128, 1, 32, 32, 10)
    assert plain.n_features == 64


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_preset_can_be_drawn_with_other_leaves(name):
    simulation = simulate_scenario(name, leaves=16, seed=0)
    assert simulation.scenario == dataclasses.replace(SCENARIOS[name], leaves=16)
    assert simulation.features.shape == (16, SCENARIOS[name].n_features)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"max_length": 0.5}, "max_length=0.5 was given; .* at least 1"),
        ({"leaves": 100}, "n_leaves=100 was given; a balanced tree has a power of two. Ask for 64 or 128"),
        ({"leaves": 1}, "n_leaves=1 was given"),
        ({"leaves": -64}, "n_leaves=-64 was given"),
        ({"shape": "star"}, "shape='star' was given; it is 'balanced', 'yule', 'uniform' or 'caterpillar'"),
        ({"signal": 0}, "signal=0 was given; it is a number of features, 1 or more"),
        ({"noise": -1}, "noise=-1 was given; it is a number of features, 0 or more"),
        ({"alternative": -1}, "alternative=-1 was given"),
        ({"batch": -1}, "batch=-1 was given"),
        ({"cycle": -1}, "cycle=-1 was given"),
        ({"noise_scale": -0.1}, "noise_scale=-0.1 was given; a finite number of 0 or more"),
        ({"noise_sd": float("nan")}, "noise_sd=nan was given; a finite number of 0 or more"),
        ({"program_scale": float("inf")}, "program_scale=inf was given"),
        ({"increments": "std"}, "increments='std' was given; it is 'variance' or 'sd'"),
        ({"noise_mean": "one"}, "noise_mean='one' was given; it is 'zero' or 'signal'"),
        ({"heritability": 1.1}, "heritability=1.1 was given; it is a number between 0 and 1"),
        ({"heritability": (0.9, 0.1)}, r"heritability=\(0.9, 0.1\) was given; .* the lower first"),
        ({"n_batches": 0}, "n_batches=0 was given; 64 leaves make 1 to 64"),
        ({"n_batches": 65}, "n_batches=65 was given; 64 leaves make 1 to 64"),
        (
            {"alternative": 5, "alternative_scale": 0.4},
            "alternative_scale=0.4 times max_length=2.0 is 0.8; .* at least 1",
        ),
        ({"alternative": 5, "alternative_trees": 3}, "64 leaves cannot be split into 3 groups"),
        ({"alternative": 5, "alternative_trees": 65}, "65 alternative trees .* there are 64 leaves"),
        ({"alternative": 5, "alternative_trees": 0}, "0 alternative trees were asked for"),
    ],
)
def test_what_no_scenario_can_have_is_told_in_a_sentence(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        Scenario(**changes)


def test_unit_lengths_are_the_edge_of_what_alternative_trees_can_have():
    assert Scenario(alternative=5, alternative_scale=0.5).alternative_max_length == 1


def test_unknown_scenarios_are_told_which_there_are():
    with pytest.raises(
        ValueError, match="scenario='Z9' was given; the scenarios are A1, A2, .*, weak, unsupervised, .*"
    ):
        simulate_scenario("Z9")
    with pytest.raises(ValueError, match="n_leaves=100 was given; a balanced tree has a power of two"):
        simulate_scenario("A1", leaves=100)


@pytest.mark.parametrize(
    "changes",
    [
        {"leaves": "64"},
        {"leaves": 64.0},
        {"max_length": None},
        {"signal": 20.0},
        {"noise": "5"},
        {"noise_scale": "a"},
        {"noise_scale": None},
        {"heritability": [0.2, 1.0]},
        {"heritability": (0.2, "1")},
        {"n_batches": 2.5},
        {"alternative": 4, "alternative_trees": 2.0},
        {"alternative": 4, "alternative_scale": None},
    ],
)
def test_settings_that_are_no_numbers_are_told_in_a_sentence(changes):
    with pytest.raises(TypeError, match="was given; a (whole )?number was needed"):
        Scenario(**changes)


@pytest.mark.parametrize("heritability", [(), (0.1, 0.2, 0.3)])
def test_heritability_is_one_number_or_two(heritability):
    with pytest.raises(ValueError, match="a number between 0 and 1, or two"):
        Scenario(heritability=heritability)


@pytest.mark.parametrize("wrong", [None, 5])
def test_what_is_no_scenario_is_told_which_there_are(wrong):
    with pytest.raises(ValueError, match="the scenarios are A1, .* Or pass a Scenario"):
        simulate_scenario(wrong)
