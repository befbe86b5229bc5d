"""The methods without learning: direct reconstruction, and copying."""

from __future__ import annotations

from ..evaluation import copy_nearest_leaf
from ..learners import DirectLearner, Fit
from ..trees import Tree
from ._methods import Outcome, register_method
from ._problems import Problem

__all__ = ["copy_nearest", "direct", "tree_of_labelled", "trees_of"]


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
