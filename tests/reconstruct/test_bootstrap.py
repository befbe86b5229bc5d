"""Bootstrap trees: the laws of support, the same bytes for any number of workers, cells, modules, and bad input."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from celltreeqm.learners import AdaptiveLearner, DirectLearner, Fit, HeritableLearner
from celltreeqm.reconstruct import bootstrap_trees, gene_modules, given_edges
from celltreeqm.reconstruct._bootstrap import drawn_columns
from celltreeqm.simulate import Scenario, Simulation, simulate_scenario
from celltreeqm.trees import Tree

SMALL = Scenario(leaves=16, shape="yule", signal=30, noise=30)
LEARNERS = {
    "direct": DirectLearner(),
    "heritable": HeritableLearner(),
    "adaptive": AdaptiveLearner(bag=6, best=2, repeats=1, folds=2),
}


@pytest.fixture(scope="module")
def simulation() -> Simulation:
    return simulate_scenario(SMALL, seed=0)


@pytest.fixture(scope="module")
def fits(simulation: Simulation) -> dict[str, Fit]:
    prior = simulation.truth.restrict(simulation.leaves[::2])
    return {
        name: learner.fit(simulation.features, simulation.leaves, prior=prior, seed=1)
        for name, learner in LEARNERS.items()
    }


def _cells(generator: np.random.Generator, *, X: NDArray[np.float64], sd: float) -> NDArray[np.float64]:
    return X + generator.normal(0, sd, X.shape)


def inner_support(tree: Tree) -> NDArray[np.float64]:
    assert tree.support is not None
    return tree.support[np.isfinite(tree.support)]


@pytest.mark.parametrize("name", LEARNERS)
def test_support_is_1_where_all_resamples_are_identical(simulation: Simulation, name: str) -> None:
    one = simulation.features[:, simulation.signal][:, :1]
    copies = np.repeat(one, 8, axis=1)
    fit = LEARNERS[name].fit(copies, simulation.leaves, seed=0)
    found = bootstrap_trees(fit, copies, n=5, seed=0)
    assert (inner_support(found.support(fit.tree())) == 1).all()


@pytest.mark.parametrize("name", LEARNERS)
def test_a_single_module_makes_all_trees_the_same(simulation: Simulation, fits: dict[str, Fit], name: str) -> None:
    fit = fits[name]
    found = bootstrap_trees(fit, simulation.features, n=4, seed=3, modules=np.zeros(60))
    assert (inner_support(found.support(found.trees[0])) == 1).all()
    if name == "direct":
        assert (inner_support(found.support(fit.tree())) == 1).all()


@pytest.mark.parametrize("name", LEARNERS)
def test_trees_display_the_prior_and_given_edges_have_support_1(
    simulation: Simulation, fits: dict[str, Fit], name: str
) -> None:
    truth = simulation.truth
    half = truth.restrict(simulation.leaves[::2])
    found = bootstrap_trees(fits[name], simulation.features, n=4, seed=3)
    for tree in (*found.trees, *found.readings[0]):
        assert tree.restrict(half.leaves).unroot().same_topology(half.unroot())
    whole = LEARNERS[name].fit(simulation.features, simulation.leaves, prior=truth, seed=0)
    tree = bootstrap_trees(whole, simulation.features, n=3, seed=0).support(whole.tree())
    assert set(np.array(given_edges(tree, truth))[np.isfinite(tree.support)]) == {"yes"}
    assert (inner_support(tree) == 1).all()


@pytest.mark.slow
def test_trees_are_the_same_for_any_number_of_workers(simulation: Simulation, fits: dict[str, Fit]) -> None:
    X = simulation.features
    for cells in (None, partial(_cells, X=X, sd=1.0)):
        one, two = (
            bootstrap_trees(fits["adaptive"], X, n=4, seed=5, workers=workers, cells=cells) for workers in (1, 2)
        )
        assert all(
            np.array_equal(a.parent, b.parent) and np.array_equal(a.lengths, b.lengths)
            for a, b in zip(one.trees, two.trees, strict=True)
        )


@pytest.mark.parametrize("name", ["direct", "adaptive"])
def test_the_order_of_leaves_and_the_unit_of_features_do_not_matter(simulation: Simulation, name: str) -> None:
    X, leaves = simulation.features, simulation.leaves
    order = np.random.default_rng(0).permutation(len(leaves))
    shuffled = [leaves[i] for i in order]
    fit = LEARNERS[name].fit(X, leaves, seed=1)
    other = LEARNERS[name].fit(8 * X[order], shuffled, seed=1)
    one = bootstrap_trees(fit, X, n=5, seed=2)
    two = bootstrap_trees(other, 8 * X[order], n=5, seed=2)
    for a, b in zip(one.trees, two.trees, strict=True):
        assert a.same_topology(b.reorder(leaves))


def test_support_counts_the_trees_that_have_a_clade(simulation: Simulation, fits: dict[str, Fit]) -> None:
    found = bootstrap_trees(fits["direct"], simulation.features, n=20, seed=0)
    tree = found.support(fits["direct"].tree())
    below = 0
    for node in np.flatnonzero(np.isfinite(tree.support)).tolist():
        clade = frozenset(tree.leaves_below(node))
        has = 0
        for one in found.trees:
            sides = {frozenset(one.leaves_below(other)) for other in range(one.n_nodes)}
            has += clade in sides or frozenset(tree.leaves) - clade in sides
        assert tree.support[node] == has / 20
        below += has < 20
    assert below > 3


def test_more_signal_has_more_support() -> None:
    means = []
    for signal in (10, 200):
        simulation = simulate_scenario(Scenario(leaves=16, shape="yule", signal=signal, noise=10), seed=0)
        fit = DirectLearner().fit(simulation.features, simulation.leaves, seed=0)
        tree = bootstrap_trees(fit, simulation.features, n=30, seed=0).support(fit.tree())
        means.append(inner_support(tree).mean())
    assert means[1] > means[0] + 0.15


def test_copies_of_features_make_no_support_where_modules_are_drawn_whole() -> None:
    simulation = simulate_scenario(Scenario(leaves=16, shape="yule", signal=12, noise=12), seed=1)
    X = np.repeat(simulation.features, 6, axis=1)
    fit = DirectLearner().fit(X, simulation.leaves, seed=0)
    modules = gene_modules(X, correlation=0.95)
    assert modules.tolist() == np.repeat(np.arange(24), 6).tolist()
    once = DirectLearner().fit(simulation.features, simulation.leaves, seed=0)
    honest = inner_support(bootstrap_trees(once, simulation.features, n=60, seed=0).support(once.tree())).mean()
    whole = inner_support(bootstrap_trees(fit, X, n=60, seed=0, modules=modules).support(fit.tree())).mean()
    single = inner_support(bootstrap_trees(fit, X, n=60, seed=0).support(fit.tree())).mean()
    assert abs(whole - honest) < 0.05
    assert single > honest + 0.1


def test_cells_within_taxa_are_resampled_where_given(simulation: Simulation, fits: dict[str, Fit]) -> None:
    X, fit = simulation.features, fits["direct"]
    plain = bootstrap_trees(fit, X, n=30, seed=0)
    same = bootstrap_trees(fit, X, n=30, seed=0, cells=[X] * 30)
    assert all(a.same_topology(b) for a, b in zip(plain.trees, same.trees, strict=True))
    assert (plain.resampled, same.resampled) == ("features", "features and cells")
    noisy = bootstrap_trees(fit, X, n=30, seed=0, cells=partial(_cells, X=X, sd=2 * X.std()))
    tree = fit.tree()
    assert inner_support(noisy.support(tree)).mean() < inner_support(plain.support(tree)).mean() - 0.05


def test_modules_are_drawn_whole_and_as_many_as_there_are() -> None:
    modules = np.array([0, 1, 0, 2, 1, 0])
    for seed in range(20):
        drawn = drawn_columns(6, modules, np.random.default_rng(seed))
        times = np.bincount(drawn, minlength=6)
        assert times[0] == times[2] == times[5]
        assert times[1] == times[4]
        assert times[[0, 1, 3]].sum() == 3


def test_modules_join_features_that_vary_together_or_against_each_other() -> None:
    generator = np.random.default_rng(0)
    programs = generator.normal(size=(40, 3))
    X = np.repeat(programs, 4, axis=1) * np.tile([1, -2, 3, 1], 3) + generator.normal(0, 0.3, (40, 12))
    X = np.column_stack([X, np.ones(40), generator.normal(size=40)])
    assert gene_modules(X).tolist() == [0] * 4 + [1] * 4 + [2] * 4 + [3, 4]
    order = generator.permutation(40)
    assert gene_modules(7 * X[order] + 3).tolist() == gene_modules(X).tolist()
    assert gene_modules(X, correlation=0).max() == 0


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"n": 0}, "n=0 was given; a whole number of resamples"),
        ({"n": 2.5}, "n=2.5 was given"),
        ({"workers": 0}, "workers=0 was given"),
        ({"modules": [0, 1]}, r"modules has shape \(2,\) for 60 features"),
        ({"cells": [np.zeros((16, 60))], "n": 3}, "cells has 1 matrix for n=3 resamples"),
        ({"cells": [np.zeros((15, 60))], "n": 1}, "A resample of cells gave features of 15 taxa"),
        ({"seed": -1}, "seed=-1 was given"),
    ],
)
def test_wrong_settings_are_refused(
    simulation: Simulation, fits: dict[str, Fit], settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        bootstrap_trees(fits["direct"], simulation.features, **settings)


def test_features_of_other_leaves_are_refused(simulation: Simulation, fits: dict[str, Fit]) -> None:
    with pytest.raises(ValueError, match="15 rows and the fit has 16 leaves"):
        bootstrap_trees(fits["direct"], simulation.features[1:])
    with pytest.raises(ValueError, match="59 features and the fit was made with 60"):
        bootstrap_trees(fits["direct"], simulation.features[:, 1:])


def test_modules_of_impossible_features_are_refused() -> None:
    with pytest.raises(ValueError, match="10001 features came; modules are made of 10000 at most"):
        gene_modules(np.zeros((2, 10_001)))
    with pytest.raises(ValueError, match="correlation=1.5 was given; a number from 0 to 1"):
        gene_modules(np.zeros((2, 3)), correlation=1.5)
    with pytest.raises(ValueError, match="not finite"):
        gene_modules([[0.0, np.nan]])
