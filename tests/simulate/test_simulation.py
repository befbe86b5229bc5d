"""Simulations: what is drawn, what depends on which seed, and the way into a TreeData."""

import dataclasses

import numpy as np
import pytest
import treedata

from celltreeqm.simulate import SCENARIOS, Scenario, simulate_scenario
from celltreeqm.simulate._features import mean_sd
from celltreeqm.trees import from_obst

ALL_KINDS = Scenario(leaves=16, signal=5, noise=4, alternative=3, alternative_trees=2, batch=2, cycle=2)


def columns(simulation, kind):
    return simulation.features[:, [k == kind for k in simulation.kinds]]


def test_columns_come_in_the_order_of_their_kinds_with_names_and_a_mask():
    simulation = simulate_scenario(ALL_KINDS, seed=0)
    assert simulation.features.shape == (16, 16)
    assert [simulation.kinds.count(kind) for kind in dict.fromkeys(simulation.kinds)] == [5, 4, 3, 2, 2]
    assert tuple(dict.fromkeys(simulation.kinds)) == ("signal", "noise", "alternative", "batch", "cycle")
    assert simulation.signal.tolist() == [True] * 5 + [False] * 11
    assert simulation.feature_names[:6] == ("signal_1", "signal_2", "signal_3", "signal_4", "signal_5", "noise_1")
    assert len(set(simulation.feature_names)) == 16
    assert simulation.leaves == simulation.truth.leaves
    assert simulation.truth.rooted
    assert simulation.heritability.tolist() == [1.0] * 5 + [0.0] * 11
    assert sorted(simulation.covariates) == ["batch", "phase"]


def test_the_arrays_cannot_be_written_to():
    simulation = simulate_scenario(ALL_KINDS, seed=0)
    for array in (simulation.features, simulation.heritability, *simulation.covariates.values()):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize("name", ["B1", "B2", "B3", "weak"])
def test_noise_has_the_scenarios_share_of_the_signals_sd(name):
    simulation = simulate_scenario(name, seed=1)
    sigma = mean_sd(columns(simulation, "signal"))
    noise = columns(simulation, "noise")
    assert noise.std() == pytest.approx(SCENARIOS[name].noise_scale * sigma, rel=0.04)
    mean = columns(simulation, "signal").mean() if name == "weak" else 0.0
    assert abs(noise.mean() - mean) < 4 * noise.std() / np.sqrt(noise.size)


def test_the_mean_of_weak_noise_is_the_signals_even_where_that_is_far_from_zero():
    scenario = Scenario(leaves=2, max_length=50, signal=1, noise=5000, noise_mean="signal")
    simulation = simulate_scenario(scenario, seed=1)
    center, noise = columns(simulation, "signal").mean(), columns(simulation, "noise")
    assert abs(center) > noise.std(), "or the test says nothing"
    assert noise.mean() == pytest.approx(center, abs=4 * noise.std() / 100)


def test_the_unsupervised_set_up_has_unit_edges_and_noise_of_sd_ten():
    simulation = simulate_scenario("unsupervised", seed=0)
    assert set(simulation.truth.lengths[:-1].tolist()) == {1.0}
    assert columns(simulation, "noise").std() == pytest.approx(10, rel=0.04)


def test_programs_have_their_share_of_the_signals_sd():
    scenario = dataclasses.replace(ALL_KINDS, leaves=64, signal=50, batch=2000, n_batches=4, cycle=2000)
    simulation = simulate_scenario(dataclasses.replace(scenario, program_scale=0.5), seed=0)
    sigma = mean_sd(columns(simulation, "signal"))
    assert columns(simulation, "cycle").std() == pytest.approx(0.5 * sigma, rel=0.05)
    assert columns(simulation, "batch").std() == pytest.approx(0.5 * sigma, rel=0.05)


def test_heritability_is_drawn_feature_by_feature_and_known():
    simulation = simulate_scenario(Scenario(leaves=8, signal=4000, heritability=(0.2, 0.8)), seed=0)
    assert simulation.heritability.min() >= 0.2
    assert simulation.heritability.max() <= 0.8
    assert simulation.heritability.mean() == pytest.approx(0.5, abs=0.02)
    sisters = np.diff(simulation.features[:2], axis=0)[0] ** 2
    low, high = sisters[simulation.heritability < 0.35].mean(), sisters[simulation.heritability > 0.65].mean()
    assert low > 1.5 * high, "sisters are the more alike the more heritable a feature is"


def test_alternative_trees_have_the_scenarios_shape():
    scenario = Scenario(leaves=12, shape="caterpillar", alternative=3, alternative_trees=2)
    for tree in simulate_scenario(scenario, seed=0).alternatives:
        assert sorted(tree.level[:6].tolist()) == [1, 2, 3, 4, 5, 5]


# Seeds


def test_the_same_seed_is_the_same_simulation():
    first, again = simulate_scenario(ALL_KINDS, seed=3), simulate_scenario(ALL_KINDS, seed=3)
    assert first.features.tobytes() == again.features.tobytes()
    assert first.truth == again.truth
    assert first.alternatives == again.alternatives
    assert first.replicate(5).features.tobytes() == again.replicate(5).features.tobytes()
    assert first.fresh(5).features.tobytes() == again.fresh(5).features.tobytes()
    assert (simulate_scenario(ALL_KINDS, seed=4).features != first.features).any()


def test_an_omitted_seed_is_drawn_and_recorded():
    simulation = simulate_scenario(ALL_KINDS)
    assert simulate_scenario(ALL_KINDS, seed=simulation.seed).features.tobytes() == simulation.features.tobytes()
    assert simulate_scenario(ALL_KINDS).seed != simulation.seed
    replicate = simulation.replicate()
    assert simulation.replicate(replicate.seed).features.tobytes() == replicate.features.tobytes()
    drawn = simulate_scenario(ALL_KINDS, seed=np.random.default_rng(0))
    assert drawn.seed == simulate_scenario(ALL_KINDS, seed=np.random.default_rng(0)).seed
    assert drawn.history == (("scenario", drawn.seed),)


def test_asking_for_a_replicate_changes_nothing_whatever_the_order():
    simulation = simulate_scenario(ALL_KINDS, seed=0)
    before = simulation.features.tobytes()
    fresh_first = simulation.fresh(1).features.tobytes()
    replicate = simulation.replicate(1).features.tobytes()
    assert simulation.features.tobytes() == before
    assert simulation.fresh(1).features.tobytes() == fresh_first
    assert simulation.replicate(1).features.tobytes() == replicate


def test_the_signal_does_not_depend_on_what_stands_beside_it():
    plain = simulate_scenario(Scenario(leaves=16, signal=5), seed=0)
    full = simulate_scenario(ALL_KINDS, seed=0)
    assert plain.truth == full.truth
    assert (plain.features == columns(full, "signal")).all()
    more = simulate_scenario(dataclasses.replace(ALL_KINDS, noise=40, cycle=9), seed=0)
    for kind in ("signal", "alternative", "batch"):
        assert (columns(more, kind) == columns(full, kind)).all()


@pytest.mark.parametrize("shape", ["yule", "uniform", "caterpillar"])
def test_a_shape_that_is_not_the_scenarios_takes_any_number_of_leaves(shape):
    simulation = simulate_scenario("C2", leaves=22, shape=shape, seed=0)
    assert simulation.scenario == dataclasses.replace(SCENARIOS["C2"], leaves=22, shape=shape)
    assert [tree.n_leaves for tree in simulation.alternatives] == [11, 11]
    with pytest.raises(ValueError, match="a balanced tree has a power of two"):
        simulate_scenario("C2", leaves=22, seed=0)


def test_increments_leave_the_tree_as_it_is():
    first, second = (simulate_scenario("A1", increments=kind, seed=0) for kind in ("sd", "variance"))
    assert first.truth == second.truth
    assert second.scenario.increments == "variance"
    assert (first.features[:, 0] != second.features[:, 0]).all()


def test_a_replicate_drawn_with_its_originals_seed_has_noise_of_its_own():
    simulation = simulate_scenario("B2", seed=7)
    for other in (simulation.replicate(7), simulation.fresh(7), simulation.replicate(7).replicate(7)):
        mine, theirs = columns(simulation, "noise").ravel(), columns(other, "noise").ravel()
        assert abs(np.corrcoef(mine, theirs)[0, 1]) < 4 / np.sqrt(len(mine))


# Replicates and fresh realisations


def test_a_replicate_has_the_same_signal_with_a_tenth_of_its_sd_added_and_all_else_anew():
    simulation = simulate_scenario("D2", seed=0)
    replicate = simulation.replicate(1)
    signal, error = columns(simulation, "signal"), columns(replicate, "signal") - columns(simulation, "signal")
    assert error.std() == pytest.approx(0.1 * mean_sd(signal), rel=0.05)
    assert abs(error.mean()) < 4 * error.std() / np.sqrt(error.size)
    assert (columns(replicate, "noise") != columns(simulation, "noise")).all()
    assert (columns(replicate, "alternative") != columns(simulation, "alternative")).all()
    assert {frozenset(tree.leaves) for tree in replicate.alternatives} != {
        frozenset(tree.leaves) for tree in simulation.alternatives
    }
    assert replicate.truth == simulation.truth
    assert replicate.kinds == simulation.kinds
    assert replicate.history == (("scenario", 0), ("replicate", 1))
    assert replicate.seed == 1


def test_a_fresh_realisation_shares_the_tree_alone():
    simulation = simulate_scenario("heritability", seed=0)
    fresh = simulation.fresh(1)
    assert fresh.truth == simulation.truth
    assert (fresh.heritability == simulation.heritability).all()
    own = [np.corrcoef(a, b)[0, 1] for a, b in zip(fresh.features.T, simulation.features.T, strict=True)]
    assert abs(np.mean(own)) < 0.15, "a feature tells nothing of its namesake"
    distances = np.corrcoef(
        ((fresh.features[:, None] - fresh.features[None]) ** 2).sum(axis=2).ravel(),
        ((simulation.features[:, None] - simulation.features[None]) ** 2).sum(axis=2).ravel(),
    )[0, 1]
    assert distances > 0.3, "but all of them together tell the tree"


# Into a TreeData


def test_a_treedata_holds_the_truth_and_the_kinds():
    simulation = simulate_scenario(ALL_KINDS, seed=2)
    tdata = simulation.to_treedata()
    assert (tdata.X == simulation.features).all()
    assert tuple(tdata.obs_names) == simulation.leaves
    assert tuple(tdata.var_names) == simulation.feature_names
    assert tuple(tdata.var["kind"]) == simulation.kinds
    assert from_obst(tdata, "truth") == simulation.truth
    assert [from_obst(tdata, f"alternative_{i}") for i in (1, 2)] == list(simulation.alternatives)
    assert sorted(tdata.obs) == ["batch", "phase"]
    assert tdata.obs["batch"].tolist() == [f"batch_{number + 1}" for number in simulation.covariates["batch"]]
    tdata.X[0, 0] = 99
    assert simulation.features[0, 0] != 99


@pytest.mark.parametrize("name", ["A1", "unsupervised", "heritability"])
def test_a_treedata_survives_its_file(tmp_path, name):
    simulation = simulate_scenario(name, leaves=8, seed=2).replicate(3)
    simulation.to_treedata().write_h5td(tmp_path / "sim.h5td")
    again = treedata.read_h5td(tmp_path / "sim.h5td")
    assert (again.X == simulation.features).all()
    assert from_obst(again, "truth") == simulation.truth
    assert tuple(again.var["kind"]) == simulation.kinds
    assert list(again.uns["simulation"]["history"]) == ["scenario 2", "replicate 3"]
    assert again.uns["simulation"]["name"] == name


def test_bad_seeds_are_told_in_a_sentence():
    with pytest.raises(ValueError, match="seed=-1 was given; a seed is a whole number of 0 or more"):
        simulate_scenario("A1", seed=-1)
    with pytest.raises(ValueError, match="seed=-2 was given"):
        simulate_scenario("A1", seed=1).replicate(-2)
