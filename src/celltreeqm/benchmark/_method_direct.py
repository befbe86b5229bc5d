"""The methods without learning: direct reconstruction, and copying."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..evaluation import copy_nearest_leaf
from ..learners import DirectLearner, Fit
from ..learners.heritable._fit import standardized
from ..trees import Tree
from ._methods import Outcome, register_method
from ._problems import Problem

__all__ = ["copy_nearest", "direct", "direct_standardized", "pca", "random_projection", "tree_of_labelled", "trees_of"]


@register_method("direct")
def direct(problem: Problem, seed: int) -> Outcome:
    """Neighbour joining on Euclidean distances of the features as they are, without and with the prior."""
    fit = DirectLearner().fit(problem.features, problem.leaves, prior=problem.prior, seed=seed)
    trees = trees_of(fit, problem, honor_prior=False)
    if problem.signal is not None:
        of_signal = DirectLearner().fit(problem.features[:, problem.signal], problem.leaves, seed=seed)
        trees["signal"] = of_signal.tree()
    return Outcome(trees, trees_of(fit, problem, honor_prior=True), tree_of_labelled(fit, problem))


@register_method("copy-nearest")
def copy_nearest(problem: Problem, seed: int) -> Outcome:
    """A control for supervised problems: the training tree, with each test leaf where its nearest training leaf is."""
    full = isinstance(problem.prior, Tree) and set(problem.prior.leaves) == set(problem.leaves)
    if problem.honor_prior or not full or not isinstance(problem.prior, Tree):
        return Outcome()
    return Outcome(
        {
            name: copy_nearest_leaf(problem.features, features, problem.prior, leaves=problem.leaves)
            for name, features in problem.test.items()
        }
    )


@register_method("direct-standardized")
def direct_standardized(problem: Problem, seed: int) -> Outcome:
    """A control for what standardises features: neighbour joining on Euclidean distances of standardised features."""
    tables = {"given": problem.features, **problem.test}
    return Outcome({name: _joined(standardized(table), problem) for name, table in tables.items()})


@register_method("pca")
def pca(problem: Problem, seed: int) -> Outcome:
    """Neighbour joining on the first 5, 10 and 20 principal components."""
    centred = problem.features - problem.features.mean(axis=0)
    left, singular, _ = np.linalg.svd(centred, full_matrices=False)
    points = left * singular
    return Outcome({f"pca-{d}": _joined(points[:, :d], problem) for d in (5, 10, 20)})


@register_method("random-projection")
def random_projection(problem: Problem, seed: int) -> Outcome:
    """Neighbour joining after a Gaussian random projection to 2, 5 and 10 dimensions."""
    rng = np.random.default_rng(seed)
    trees = {}
    for d in (2, 5, 10):
        directions = rng.normal(scale=1 / math.sqrt(d), size=(problem.features.shape[1], d))
        trees[f"projection-{d}"] = _joined(problem.features @ directions, problem)
    return Outcome(trees)


def trees_of(fit: Fit, problem: Problem, *, honor_prior: bool) -> dict[str, Tree]:
    """The trees of a fit from the problem's features and its test tables; none under a prior that must not be honoured.

    What a learner's method puts into its :class:`Outcome`.
    """
    if honor_prior and not (problem.honor_prior and fit.prior):
        return {}
    tables = {"given": None, **problem.test}
    return {name: fit.tree(features, honor_prior=honor_prior) for name, features in tables.items()}


def tree_of_labelled(fit: Fit, problem: Problem) -> Tree | None:
    """The tree of the leaves of the prior alone, where these are some of all: ``labelled`` of an :class:`Outcome`."""
    inside = {name for tree in fit.prior for name in tree.leaves}
    rows = [row for row, name in enumerate(problem.leaves) if name in inside]
    if not 0 < len(rows) < len(problem.leaves):
        return None
    return fit.tree(problem.features[rows], leaves=[problem.leaves[row] for row in rows], honor_prior=False)


def _joined(points: NDArray[np.float64], problem: Problem) -> Tree:
    return DirectLearner().fit(points, problem.leaves, seed=0).tree()
