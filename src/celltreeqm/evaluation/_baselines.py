"""The two baselines: direct reconstruction, and direct reconstruction under the same prior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from ..learners import DirectFit, DirectLearner, check_features
from ..learners._features import FeatureMatrix
from ..trees import Tree
from ..trees._tree_checks import check_tree
from ._same_leaves import check_leaves_of_truth
from ._scores import Yardstick

__all__ = ["Bases", "base_scores"]

Bases: TypeAlias = tuple[Mapping[str, float], Mapping[str, float]]


def base_scores(
    yardstick: Yardstick,
    features: FeatureMatrix | None,
    leaves: Sequence[str] | None,
    *,
    direct: Tree | None,
    direct_under_prior: Tree | None,
    train_leaves: Sequence[str] | None,
    all_is_known: bool,
) -> Bases:
    """The metrics of direct reconstruction without and with the prior; empty where there is no such baseline.

    There is none under a prior where there is no prior, and none under one that resolves everything, as that is the
    prior itself. With ``train_leaves`` the train RF is that of these leaves' own tree.
    """
    for tree, name in ((direct, "direct"), (direct_under_prior, "direct_under_prior")):
        if tree is not None:
            check_tree(tree, name)
            remedy = "Build it from the leaves of the truth."
            check_leaves_of_truth(tree.leaves, yardstick.truth, f"the tree given as {name}", remedy)
    fit = None if features is None else _fit(yardstick, features, leaves)
    bases: list[Mapping[str, float]] = []
    for base, honor_prior in ((direct, False), (direct_under_prior, True)):
        if base is None and fit is not None and (not honor_prior or (yardstick.priors and not all_is_known)):
            base = fit.tree(honor_prior=honor_prior)
        if base is None:
            bases.append({})
            continue
        train_tree = None
        if train_leaves is not None:
            train_tree = base.restrict(train_leaves) if fit is None else _alone(fit, train_leaves, honor_prior)
        bases.append(yardstick.score(base, train_tree).values)
    return bases[0], bases[1]


def _fit(yardstick: Yardstick, features: FeatureMatrix, leaves: Sequence[str] | None) -> DirectFit:
    checked = check_features(features, leaves)
    check_leaves_of_truth(checked.leaves, yardstick.truth, "the feature matrix", "Give the rows of the truth's leaves.")
    return DirectLearner().fit(checked.values, checked.leaves, prior=yardstick.priors, seed=0)


def _alone(fit: DirectFit, leaves: Sequence[str], honor_prior: bool) -> Tree:
    rows = {name: row for row, name in enumerate(fit.leaves)}
    own = fit.features[[rows[name] for name in leaves]]
    return fit.tree(own, leaves=leaves, honor_prior=honor_prior)
