"""The heritable learner: laws, input that teaches nothing, and how good its trees are."""

from __future__ import annotations

import dataclasses
import logging
import math

import numpy as np
import pytest

from celltreeqm.evaluation import feature_recovery
from celltreeqm.learners import learner_by_name, load_fit
from celltreeqm.learners.heritable import HeritableLearner
from celltreeqm.simulate import SCENARIOS, simulate_scenario
from celltreeqm.trees import (
    neighbor_joining,
    parse_newick,
    prior_at_level,
    quartet_agreement,
    robinson_foulds,
    root_at,
)

SMALL = simulate_scenario("weak", leaves=32, seed=0)
X, LEAVES, TRUTH = SMALL.features[:, ::3], SMALL.leaves, SMALL.truth
SIGNAL = SMALL.signal[::3]


def known_tree(simulation, share, seed):
    n = len(simulation.leaves)
    drawn = np.random.default_rng(seed).permutation(n)[: math.floor(share * n)]
    return simulation.truth.restrict([simulation.leaves[i] for i in sorted(drawn)])


def mean_error(problems, **changes):
    """Mean Robinson-Foulds distance of trees under the prior."""
    errors = []
    for seed, (simulation, prior) in enumerate(problems):
        fit = HeritableLearner(**changes).fit(simulation.features, simulation.leaves, prior=prior, seed=seed)
        errors.append(robinson_foulds(fit.tree(), simulation.truth))
    return np.mean(errors)


# Laws


def test_scale_and_shift_of_features_do_not_matter():
    rng = np.random.default_rng(0)
    changed = X * rng.choice([-100, -1, 0.01, 7], size=X.shape[1]) + rng.normal(size=X.shape[1])
    prior = prior_at_level(TRUTH, 2)
    one, other = (HeritableLearner().fit(x, LEAVES, prior=prior, seed=0) for x in (X, changed))
    np.testing.assert_allclose(other.weights, one.weights, atol=1e-6)
    np.testing.assert_allclose(other.distances(), one.distances(), rtol=1e-6, atol=1e-9)
    assert other.builder == one.builder


@pytest.mark.parametrize("seed", [0, 1])
def test_the_order_of_leaves_does_not_matter(seed):
    prior = known_tree(SMALL, 0.5, 1)
    order = np.random.default_rng(seed).permutation(32)
    one = HeritableLearner().fit(X, LEAVES, prior=prior, seed=0)
    other = HeritableLearner().fit(X[order], [LEAVES[i] for i in order], prior=prior, seed=0)
    np.testing.assert_allclose(other.weights, one.weights, atol=1e-6)
    assert robinson_foulds(one.tree(), other.tree()) == 0


@pytest.mark.parametrize("prior", [TRUTH, known_tree(SMALL, 0.6, 0), prior_at_level(TRUTH, 2)])
def test_rerooting_a_prior_changes_nothing(prior):
    one = HeritableLearner().fit(X, LEAVES, prior=prior, seed=0)
    elsewhere = root_at(prior, int(prior.parent[0]))
    other = HeritableLearner().fit(X, LEAVES, prior=elsewhere, seed=0)
    np.testing.assert_allclose(other.weights, one.weights, atol=1e-8)
    assert other.tree() == one.tree()


@pytest.mark.parametrize("builder", ["neighbor_joining", "upgma", "best"])
def test_the_prior_is_displayed(builder):
    priors = [prior_at_level(TRUTH, 1), known_tree(SMALL, 0.4, 3)]
    fit = HeritableLearner(builder=builder).fit(X, LEAVES, prior=priors, seed=0)
    for prior in priors:
        seen = quartet_agreement(fit.tree().restrict(prior.leaves), prior)
        assert seen.different == seen.only_second == 0
    assert fit.builder == (builder if builder != "best" else max(fit.builders, key=fit.builders.get))


def test_the_same_seed_gives_the_same_bytes():
    one, same, other = (HeritableLearner().fit(X, LEAVES, seed=seed) for seed in (1, 1, 2))
    assert one.weights.tobytes() == same.weights.tobytes() != other.weights.tobytes()
    assert one.starts == same.starts
    assert one.distances().tobytes() == same.distances().tobytes()


def test_distances_are_those_of_standardised_weighted_features():
    fit = HeritableLearner(builder="neighbor_joining").fit(X, LEAVES, seed=0)
    z = (X - X.mean(axis=0)) / X.std(axis=0) * np.sqrt(fit.weights)
    np.testing.assert_allclose(fit.embed(), z, atol=1e-12)
    np.testing.assert_allclose(fit.distances()[2, 5], np.linalg.norm(z[2] - z[5]))
    assert fit.tree() == neighbor_joining(fit.distances(), LEAVES)
    assert (fit.feature_scores == fit.weights).all()
    assert (fit.selected == (fit.gates > 0.5)).all()
    assert ((fit.weights >= 0) & (fit.weights <= fit.gates) & (fit.gates <= 1)).all()


# Where the tree is known


def test_a_prior_that_resolves_everything_is_where_features_are_scored():
    fit = HeritableLearner().fit(X, LEAVES, prior=TRUTH, seed=0)
    assert fit.starts == []
    assert fit.starts_agree
    assert robinson_foulds(fit.tree(), TRUTH) == 0
    assert fit.weights[SIGNAL].mean() > 0.6 > 0.2 > fit.weights[~SIGNAL].mean()
    other_folds = HeritableLearner(builder="neighbor_joining").fit(X, LEAVES, prior=TRUTH, seed=5)
    assert (other_folds.weights == fit.weights).all()


def test_what_is_known_tells_the_lineage_from_a_stronger_structure():
    """In D2 the alternative trees have twice as many features as the lineage: without a prior they win."""
    for seed in range(2):
        simulation = simulate_scenario("D2", seed=seed)
        prior = known_tree(simulation, 0.6, seed)
        fit = HeritableLearner().fit(simulation.features, simulation.leaves, prior=prior, seed=seed)
        blind = HeritableLearner().fit(simulation.features, simulation.leaves, seed=seed)
        assert feature_recovery(fit.selected, simulation.signal).recall > 0.9
        assert robinson_foulds(fit.tree(), simulation.truth) < 0.2 < 0.5
        assert robinson_foulds(blind.tree(), simulation.truth) > 0.5


def test_starts_that_end_in_different_trees_are_reported(caplog):
    simulation = simulate_scenario("competing", leaves=32, seed=3)
    with caplog.at_level(logging.INFO, logger="celltreeqm"):
        fit = HeritableLearner().fit(
            simulation.features, simulation.leaves, prior=known_tree(simulation, 0.2, 0), seed=0
        )
    assert {start["start"] for start in fit.starts} == {"all", "spectral", "known"}
    assert fit.starts[0]["robinson_foulds"] == 0
    evidence = [start["evidence"] for start in fit.starts]
    assert evidence == sorted(evidence, reverse=True)
    assert fit.starts_agree == ("Different starts ended in different trees" not in caplog.text)
    assert not fit.starts_agree


@pytest.mark.parametrize(
    ("prior", "names"), [(None, ["all", "spectral"]), (prior_at_level(TRUTH, 1), ["known", "all", "spectral"])]
)
@pytest.mark.parametrize("most", [1, 2])
def test_no_more_starts_than_asked_for_what_is_known_first(prior, names, most):
    fit = HeritableLearner(max_starts=most, builder="neighbor_joining").fit(X, LEAVES, prior=prior, seed=0)
    assert {start["start"] for start in fit.starts} == set(names[:most])


# The fit


def test_a_new_matrix_is_measured_by_the_learned_weights():
    fresh = SMALL.fresh(1).features[:, ::3]
    fit = HeritableLearner().fit(X, LEAVES, prior=TRUTH, seed=0)
    z = (fresh - fresh.mean(axis=0)) / fresh.std(axis=0) * np.sqrt(fit.weights)
    np.testing.assert_allclose(fit.embed(fresh), z, atol=1e-12)
    assert fit.tree(fresh, honor_prior=False) != fit.tree(honor_prior=False)


def test_a_refit_keeps_builder_prior_and_settings():
    prior = prior_at_level(TRUTH, 1)
    fit = HeritableLearner(folds=3).fit(X, LEAVES, prior=prior, seed=0)
    drawn = np.random.default_rng(0).integers(X.shape[1], size=X.shape[1])
    again = fit.refit(X[:, drawn], seed=4)
    assert again.builder == fit.builder
    assert again.prior == fit.prior
    assert again.provenance.settings["folds"] == 3
    assert again.weights[SIGNAL[drawn]].mean() > 3 * again.weights[~SIGNAL[drawn]].mean()


def test_resampled_noise_does_not_vouch_for_itself():
    """Copies of a feature agree perfectly; were they in different folds, noise would look heritable."""
    noise = np.random.default_rng(0).normal(size=(32, 100))
    drawn = np.random.default_rng(1).integers(100, size=100)
    fit = HeritableLearner().fit(noise[:, drawn], LEAVES, seed=0)
    assert fit.selected.mean() < 0.1


def test_a_fit_comes_back_from_disk(tmp_path):
    fit = HeritableLearner().fit(X, LEAVES, prior=prior_at_level(TRUTH, 1), seed=0)
    fit.save(tmp_path / "fit")
    back = load_fit(tmp_path / "fit")
    assert back.weights.tobytes() == fit.weights.tobytes()
    assert back.starts == fit.starts
    assert back.builders == fit.builders
    assert back.tree() == fit.tree()
    assert learner_by_name("heritable", folds=4) == HeritableLearner(folds=4)


# Input that teaches little or nothing


def test_constant_features_weigh_nothing(caplog):
    flat = np.column_stack([X, np.full((32, 3), 0.1)])
    with caplog.at_level(logging.WARNING, logger="celltreeqm"):
        fit = HeritableLearner().fit(flat, LEAVES, seed=0)
    assert f"3 of {flat.shape[1]} features are the same in all leaves" in caplog.text
    assert fit.weights[-3:].tolist() == fit.gates[-3:].tolist() == [0, 0, 0]
    np.testing.assert_allclose(fit.weights[:-3], HeritableLearner().fit(X, LEAVES, seed=0).weights)
    nothing = HeritableLearner().fit(np.ones((32, 3)), LEAVES, prior=TRUTH, seed=0)
    assert not nothing.weights.any()
    assert robinson_foulds(nothing.tree(), TRUTH) == 0


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_few_leaves_have_one_tree_and_teach_nothing(n):
    fit = HeritableLearner().fit(X[:n], LEAVES[:n], seed=0)
    assert fit.weights.tolist() == [float(n > 1)] * X.shape[1]
    assert fit.tree().leaves == LEAVES[:n]


@pytest.mark.parametrize("n", [4, 5])
@pytest.mark.parametrize("g", [1, 2, 3])
def test_small_tables_have_a_fit(n, g):
    fit = HeritableLearner().fit(
        X[:n, :g], LEAVES[:n], prior=parse_newick("(a,b,c);").rename(dict(zip("abc", LEAVES[:3], strict=True))), seed=0
    )
    assert np.isfinite(fit.weights).all()
    assert fit.weights.any()
    assert fit.tree().n_leaves == n


def test_copies_of_a_leaf_are_no_distance_apart():
    twice, names = np.vstack([X, X[3]]), [*LEAVES, "copy"]
    for builder in ("neighbor_joining", "upgma"):
        fit = HeritableLearner(builder=builder).fit(twice, names, seed=0)
        assert fit.distances()[3, 32] == 0
        assert [3, 32] in [np.flatnonzero(split).tolist() for split in fit.tree().splits()]


def test_wrong_input_is_refused():
    bad = X.copy()
    bad[2, 3] = np.nan
    with pytest.raises(ValueError, match=rf"The value of leaf '{LEAVES[2]}' \(row 2\) in feature column 3 is nan"):
        HeritableLearner().fit(bad, LEAVES)
    with pytest.raises(ValueError, match="of the prior have no row in the data"):
        HeritableLearner().fit(X[:5], LEAVES[:5], prior=TRUTH)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"builder": "nj"}, "builder='nj' was given; it is 'neighbor_joining', 'upgma', 'ward' or 'best'"),
        ({"folds": 1}, "folds=1 was given; a whole number of 2 or more"),
        ({"repeats": 0}, "repeats=0 was given; a whole number of 1 or more"),
        ({"max_iterations": 0}, "max_iterations=0 was given"),
        ({"max_starts": 0}, "max_starts=0 was given"),
        ({"repeats": 1.5}, "repeats=1.5 was given; a whole number of 1 or more"),
        ({"folds": None}, "folds=None was given; a whole number of 2 or more"),
    ],
)
def test_settings_that_do_not_exist_are_refused(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        HeritableLearner(**changes)


# How good the trees are: fast versions, then the claims

WEAK = {0.3: 0.065, 0.5: 0.055, 0.8: 0.022, 1: 0.09, 2: 0.085, 3: 0.06}


def weak_problems(known, seeds):
    for seed in seeds:
        simulation = simulate_scenario("weak", leaves=64, seed=seed)
        prior = known_tree(simulation, known, seed) if known < 1 else prior_at_level(simulation.truth, known)
        yield simulation, prior


@pytest.mark.parametrize("known", [0.3, 2])
def test_weak_signal_under_a_prior(known):
    assert mean_error(weak_problems(known, range(3))) <= WEAK[known] + 0.03


def test_nothing_known_and_half_of_the_features_noise():
    simulations = [simulate_scenario("unsupervised", seed=seed) for seed in range(2)]
    assert mean_error((simulation, None) for simulation in simulations) <= 0.15


def test_the_builder_is_chosen_by_the_shape_of_the_tree():
    """Ward's trees are even: best where the lineage is, bad where it is not."""
    chosen = {}
    for shape in ("balanced", "uniform"):
        simulation = simulate_scenario(
            dataclasses.replace(SCENARIOS["unsupervised"], shape=shape, max_length=1), seed=0
        )
        chosen[shape] = HeritableLearner().fit(simulation.features, simulation.leaves, seed=0).builder
    assert chosen == {"balanced": "ward", "uniform": "neighbor_joining"}


def test_signal_features_are_selected_on_the_known_tree():
    for name in ("A1", "B2", "D1"):
        simulation = simulate_scenario(name, seed=0)
        fit = HeritableLearner().fit(simulation.features, simulation.leaves, prior=simulation.truth, seed=0)
        recall, precision = feature_recovery(fit.selected, simulation.signal)
        assert min(recall, precision) >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize("known", WEAK)
def test_weak_signal_claim(known):
    assert mean_error(weak_problems(known, range(20))) <= WEAK[known]


@pytest.mark.slow
@pytest.mark.parametrize("noise_sd", [10.0, None])
def test_unsupervised_claim(noise_sd):
    scenario = dataclasses.replace(SCENARIOS["unsupervised"], noise_sd=noise_sd)
    simulations = [simulate_scenario(scenario, seed=seed) for seed in range(20)]
    assert mean_error((simulation, None) for simulation in simulations) <= 0.135


@pytest.mark.slow
def test_table_claim():
    figures = []
    for name in [letter + number for letter in "ABCD" for number in "123"]:
        for seed in range(10):
            simulation = simulate_scenario(name, seed=seed)
            fresh = simulation.fresh(seed)
            fit = HeritableLearner().fit(simulation.features, simulation.leaves, prior=simulation.truth, seed=seed)
            signal = np.where(simulation.signal)[0]
            alone = neighbor_joining(
                np.linalg.norm(fresh.features[:, None, signal] - fresh.features[:, signal], axis=2), fresh.leaves
            )
            errors = [
                robinson_foulds(tree, fresh.truth) for tree in (fit.tree(fresh.features, honor_prior=False), alone)
            ]
            figures.append((*feature_recovery(fit.selected, simulation.signal), errors[0] - errors[1]))
    recall, precision, worse = np.mean(figures, axis=0)
    assert recall >= 0.97
    assert precision >= 0.97
    assert worse <= 0.02
