"""Calibration: what it learns where the truth of clades is known, when it holds back, and what it says of itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from celltreeqm.learners import DirectLearner, HeritableLearner
from celltreeqm.reconstruct import bootstrap_trees, calibrate_support, given_edges, judge_support
from celltreeqm.reconstruct._calibration import learn_calibration
from celltreeqm.reconstruct._correction import Correction, cross_validated_loss, learn_correction, log_loss
from celltreeqm.reconstruct._edge_table import DESCRIPTION
from celltreeqm.reconstruct._hidden_labels import JudgedClades, rerun_with_hidden_labels
from celltreeqm.simulate import Scenario, Simulation, simulate_scenario
from celltreeqm.trees import prior_at_level, root_at_midpoint

COLUMNS = len(DESCRIPTION)


def judged(n: int, seed: int, slope: float, shift: float, runs: int = 4) -> JudgedClades:
    """Clades that are true with log odds of so much a log odd of raw support."""
    generator = np.random.default_rng(seed)
    description = generator.normal(size=(n, COLUMNS))
    description[:, 0] = generator.normal(1, 2, n)
    probability = 1 / (1 + np.exp(-slope * description[:, 0] - shift))
    true = (generator.random(n) < probability).astype(float)
    return JudgedClades(1 / (1 + np.exp(-description[:, 0])), description, true, np.arange(n) % runs)


@pytest.fixture(scope="module")
def simulation() -> Simulation:
    return simulate_scenario(Scenario(leaves=32, shape="yule", signal=25, noise=50), seed=2)


def test_a_correction_is_where_the_penalized_likelihood_is_flat() -> None:
    some = judged(200, 0, 0.5, -0.3)
    learned = learn_correction(some.description, some.true, 3.0)
    x = (some.description - np.array(learned.means)) / np.array(learned.scales)
    left = learned(some.description) - some.true
    assert np.allclose(x.T @ left + 3.0 * np.array(learned.coefficients), 0, atol=1e-4)
    assert abs(left.sum() + 0.03 * learned.intercept) < 1e-4


def test_an_endless_penalty_keeps_raw_support_but_for_its_level() -> None:
    some = judged(4000, 1, 1.0, 0.0)
    learned = learn_correction(some.description, some.true, 1e9)
    assert np.abs(learned.coefficients).max() < 1e-5
    assert abs(learned.intercept) < 0.15


def test_overconfidence_is_found_and_undone() -> None:
    some, other = judged(600, 2, 0.3, -0.5), judged(4000, 3, 0.3, -0.5)
    found = learn_calibration(some, seed=0)
    assert found.basis == "labels"
    assert found.corrected_loss < found.raw_loss - 0.1
    assert found.correction is not None
    wanted = 1 / (1 + np.exp(-0.3 * other.description[:, 0] + 0.5))
    assert np.abs(found.correction(other.description) - wanted).mean() < 0.06
    assert "learned from 600 clades" in found.message


def test_raw_support_that_is_right_is_kept() -> None:
    kept = [learn_calibration(judged(300, seed, 1.0, 0.0), seed=0) for seed in range(20)]
    assert sum(found.basis == "nothing" for found in kept) >= 18
    found = next(found for found in kept if found.basis == "nothing")
    assert found.correction is None
    assert "a calibration was no better than it" in found.message


def test_too_few_clades_keep_raw_support() -> None:
    found = learn_calibration(judged(20, 0, 0.2, -1.0), seed=0)
    assert found.basis == "nothing"
    assert "only 20 clades of labelled leaves could be judged, and 40 are needed" in found.message


def test_all_false_is_learned_though_nothing_is_true() -> None:
    some = judged(200, 4, 1.0, 0.0)
    some = JudgedClades(some.raw, some.description, np.zeros(200), some.run)
    found = learn_calibration(some, seed=0)
    assert found.correction is not None
    assert found.correction(some.description).max() < 0.3


def test_clades_are_judged_in_runs_that_did_not_learn_from_them() -> None:
    """A description that marks each run cannot be used for that run."""
    some = judged(400, 5, 0.0, 0.0, runs=4)
    described = some.description.copy()
    described[:, 3] = 10 * (some.run == 0)
    true = np.where(some.run == 0, 1.0, some.true)
    held_out = cross_validated_loss(described, true, some.run, 1.0)[some.run == 0].mean()
    seen = log_loss(learn_correction(described, true, 1.0)(described), true)[some.run == 0].mean()
    assert seen < held_out - 0.2


def test_runs_hide_labels_and_judge_what_is_not_given(simulation: Simulation) -> None:
    prior = simulation.truth.restrict(simulation.leaves[:20])
    fit = DirectLearner().fit(simulation.features, simulation.leaves, prior=prior, seed=0)
    found = rerun_with_hidden_labels(fit, fit.features, runs=4, resamples=6, shares=(0.2, 0.5), seed=1)
    assert np.bincount(found.run).tolist() == [17] * 4  # of 20 leaves all splits, as each lacks the hidden ones
    assert 0.2 < found.true.mean() < 1
    both = DirectLearner().fit(
        simulation.features, simulation.leaves, prior=[prior, prior_at_level(simulation.truth, 3)], seed=0
    )
    fewer = rerun_with_hidden_labels(both, fit.features, runs=4, resamples=6, shares=(0.2, 0.5), seed=1)
    assert len(fewer.true) < len(found.true)  # clades stay known, and are not judged
    assert fewer.true.mean() > found.true.mean() - 0.1


@pytest.mark.slow
@pytest.mark.parametrize("learner", [DirectLearner(), HeritableLearner(folds=2)])
def test_the_same_for_any_number_of_workers(simulation: Simulation, learner: Any) -> None:
    prior = simulation.truth.restrict(simulation.leaves[:16])
    fit = learner.fit(simulation.features, simulation.leaves, prior=prior, seed=0)
    one, two = (
        calibrate_support(fit, simulation.features, runs=3, resamples=5, seed=4, workers=workers) for workers in (1, 2)
    )
    assert one == two or (np.isnan(one.raw_loss) and one.message == two.message)


def test_permuted_labels_make_false_clades_fall(simulation: Simulation) -> None:
    """Labels that belong to other rows: the tree is right, and the features say nothing of it."""
    X = simulation.features[np.random.default_rng(0).permutation(32)]
    prior = simulation.truth.restrict(simulation.leaves[:24])
    fit = DirectLearner().fit(X, simulation.leaves, prior=prior, seed=0)
    found = calibrate_support(fit, X, runs=6, resamples=20, seed=0)
    assert found.basis == "labels"
    sampled = bootstrap_trees(fit, X, n=50, seed=0)
    tree = fit.tree()
    raw = judge_support(sampled.support(tree), simulation.truth, prior)
    told = judge_support(found.support(tree, sampled, prior), simulation.truth, prior)
    assert raw.support[~raw.true].max() > 0.5
    assert told.support[~told.true].max() < 0.4
    assert told.support[~told.true].mean() < raw.support[~raw.true].mean() - 0.1


def test_given_edges_keep_their_support_and_roots_do_not_matter(simulation: Simulation) -> None:
    backbone = simulation.truth.restrict(simulation.leaves[:16])
    prior = [prior_at_level(simulation.truth, 2), backbone]
    fit = DirectLearner().fit(simulation.features, simulation.leaves, prior=prior, seed=0)
    some = judged(600, 2, 0.3, -0.5)
    found = learn_calibration(some, seed=0)
    sampled = bootstrap_trees(fit, simulation.features, n=20, seed=0)
    tree = found.support(fit.tree(), sampled, prior)
    given = np.array(given_edges(tree, prior))
    assert {"yes", "partly", "no"} == set(given)
    assert tree.support is not None
    assert (tree.support[given == "yes"] == 1).all()
    inner = np.isfinite(tree.support) & (given != "yes")
    assert inner.any()
    assert (tree.support[inner] < 1).all()
    turned = found.support(root_at_midpoint(fit.tree()), sampled, prior)
    assert turned.support is not None
    assert sorted(set(turned.support[np.isfinite(turned.support)].round(9))) == sorted(
        set(tree.support[np.isfinite(tree.support)].round(9))
    )


def test_without_labels_the_message_says_that_raw_support_is_overconfident(simulation: Simulation) -> None:
    fit = DirectLearner().fit(simulation.features, simulation.leaves, seed=0)
    found = calibrate_support(fit, simulation.features, seed=0)
    assert (found.basis, found.correction, found.n_clades) == ("nothing", None, 0)
    assert "over-confident" in found.message


def test_wrong_settings_are_refused(simulation: Simulation) -> None:
    fit = DirectLearner().fit(simulation.features, simulation.leaves, seed=0)
    X: NDArray[np.float64] = simulation.features
    for settings, message in (
        ({"runs": 1}, "runs=1 was given; a whole number of 2 or more"),
        ({"resamples": 2}, "resamples=2 was given; a whole number of 5 or more"),
        ({"workers": 0}, "workers=0 was given"),
        ({"modules": [0]}, r"modules has shape \(1,\)"),
    ):
        with pytest.raises(ValueError, match=message):
            calibrate_support(fit, X, **settings)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="31 rows and the fit has 32 leaves"):
        calibrate_support(fit, X[1:])


def test_a_correction_says_what_it_says() -> None:
    one = Correction(0.5, (0.0, 1.0), (0.0, 2.0), (1.0, 4.0))
    assert one(np.array([[1.0, 6.0]]))[0] == pytest.approx(1 / (1 + np.exp(-2.5)))
