"""``evaluate``: a tree against the truth, beside two baselines."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..learners._features import FeatureMatrix
from ..trees import Tree, check_priors
from ..trees._tree_checks import check_tree, some_names
from ._baselines import Bases, base_scores
from ._evaluation import Evaluation
from ._feature_recovery import feature_recovery
from ._same_leaves import check_leaves_of_truth
from ._scores import Yardstick, displays, relative_improvement
from ._subtrees import chosen_levels

__all__ = ["evaluate"]


def evaluate(
    tree: Tree,
    truth: Tree,
    *,
    prior: Tree | Sequence[Tree] | None = None,
    features: FeatureMatrix | None = None,
    leaves: Sequence[str] | None = None,
    direct: Tree | None = None,
    direct_under_prior: Tree | None = None,
    honor_prior: bool | None = None,
    train_tree: Tree | None = None,
    levels: Sequence[int] | None = None,
    selected: ArrayLike | None = None,
    signal: ArrayLike | None = None,
) -> Evaluation:
    r"""Measure a tree against the truth, beside direct reconstruction without and with the same prior.

    =====================  =============================================================================================
    ``RF``                 Robinson-Foulds distance of the whole trees
    ``unlabelled-leaf RF`` the same of the leaves that are in no prior tree, both trees restricted to them; NaN if these
                           are fewer than four: a prior of clades that covers all leaves labels them all
    ``train RF``           the same of the labelled leaves alone
    ``QD``                 quartet distance, exact; a quartet that only one of the trees resolves counts as different
    ``K-QD``               of the quartets that the prior resolves
    ``P-QD``               of those with one to three leaves in the prior
    ``U-QD``               of the unknown: those with no leaf in the prior or, where the prior has all leaves, those
                           that it does not resolve
    ``subtree RF l``       mean RF inside the true clades at level l; see :func:`local_subtree_errors`
    ``recall``             of the selected features; see :func:`feature_recovery`
    ``precision``          of the selected features
    =====================  =============================================================================================

    For each distance the improvement :math:`\Delta\% = (\text{base} - \text{value}) / \text{base}` (the paper's Eq.
    delta_percentage) is given over two bases: direct reconstruction, which is neighbour joining on Euclidean distances
    of the features as they are, and the same under the prior. Only the second is fair to what was learned: a prior
    improves trees by itself, the RF, QD and P-QD of the full tree even where it is permuted, which is why these are
    never printed without U-QD and unlabelled-leaf RF. An empty class of quartets, and a base of 0, give NaN. Without
    a prior all leaves are unlabelled and all quartets unknown.

    Parameters
    ----------
    tree, truth
        Trees on the same leaves. Local subtree errors need a rooted truth.
    prior
        What was known when the tree was made, on any of the leaves.
    features, leaves
        float[n, g], the features from which the two baselines are built, and the names of their rows, unless a
        DataFrame brings them. Without them, and without the next two, there are no baselines.
    direct, direct_under_prior
        The baselines' trees, where they are there already.
    honor_prior
        Whether the tree was built under the prior; by default whether it displays it. If so, what the prior settles is
        printed as "given" and has no improvement. Pass False for a tree that was built without, however well it fits.
    train_tree
        The tree of the training data where it is one of its own: of the labelled leaves alone, or of the training
        features in a supervised task. By default the train RF is that of the tree restricted to the labelled leaves.
        The train RF's direct base is then direct reconstruction from the same leaves alone.
    levels
        Levels of the local subtree errors; by default those of 1, 2 and 3 at which the truth has a clade of four
        leaves.
    selected, signal
        bool[g], the features that were selected and those that carry the signal; both or neither.

    Returns
    -------
    Evaluation
        Its ``table`` is a DataFrame; ``print`` shows it.

    Raises
    ------
    ValueError
        If leaves do not match, or the tree does not display a prior that it is said to honour.

    Examples
    --------
    >>> from celltreeqm.learners import DirectLearner
    >>> from celltreeqm.simulate import random_tree, simulate_brownian
    >>> truth = random_tree(32, seed=3)
    >>> features = simulate_brownian(truth, 20, seed=3)
    >>> prior = truth.restrict(truth.leaves[::2])
    >>> tree = DirectLearner(builder="upgma").fit(features, truth.leaves, prior=prior).tree()
    >>> evaluation = evaluate(tree, truth, prior=prior, features=features, leaves=truth.leaves)
    >>> print(evaluation.text(["RF", "K-QD"]))
    32 leaves, 16 of them in the prior, which the tree honours
                        value  direct  Delta%  direct, same prior  Delta%
    RF                  0.034   0.310    88.9               0.138    75.0
    unlabelled-leaf RF  0.000   0.308   100.0               0.154   100.0
    K-QD                given   0.133       -               given       -
    U-QD                0.000   0.113   100.0               0.066   100.0
    >>> evaluation["RF"]
    0.034482758620689655
    """
    check_tree(tree)
    check_tree(truth, "the truth")
    check_leaves_of_truth(tree.leaves, truth, "the tree", "Compare them on the leaves they share, with restrict.")
    if train_tree is not None:
        _check_train_tree(train_tree, truth)
    priors = check_priors(prior, truth.leaves)
    yardstick = Yardstick(truth, priors, chosen_levels(truth, levels))
    scores = yardstick.score(tree, train_tree)
    honored = _is_honored(tree, priors, honor_prior)
    given = scores.decided - ({"train RF"} if train_tree is not None else set()) if honored else frozenset()
    bases = base_scores(
        yardstick,
        features,
        leaves,
        direct=direct,
        direct_under_prior=direct_under_prior,
        train_leaves=None if train_tree is None else train_tree.leaves,
        all_is_known=scores.all_is_known,
    )
    rows = [_row(name, value, scores.counts[name], bases, name in given) for name, value in scores.values.items()]
    if selected is not None or signal is not None:
        rows += _recovery_rows(selected, signal)
    return Evaluation(pd.DataFrame(rows), _heading(yardstick, honored), scores.decided)


def _row(name: str, value: float, count: int, bases: Bases, given: bool) -> dict[str, object]:
    direct, under_prior = (base.get(name, math.nan) for base in bases)
    return {
        "metric": name,
        "value": value,
        "direct": direct,
        "delta_direct": math.nan if given else relative_improvement(direct, value),
        "direct_under_prior": under_prior,
        "delta_under_prior": math.nan if given else relative_improvement(under_prior, value),
        "given": given,
        "count": count,
    }


def _recovery_rows(selected: ArrayLike | None, signal: ArrayLike | None) -> list[dict[str, object]]:
    if selected is None or signal is None:
        here, absent = ("signal", "selected") if selected is None else ("selected", "signal")
        raise ValueError(f"{here} came without {absent}; recall and precision of selected features need both.")
    found = feature_recovery(selected, signal)
    none: Bases = ({}, {})
    return [
        _row("recall", found.recall, int(np.sum(signal)), none, False),
        _row("precision", found.precision, int(np.sum(selected)), none, False),
    ]


def _is_honored(tree: Tree, priors: tuple[Tree, ...], said: bool | None) -> bool:
    if said is not None and not isinstance(said, bool | np.bool_):
        raise TypeError(f"honor_prior={said!r} was given; True, False or None was needed.")
    if not priors or (said is not None and not said):
        return False
    shown = displays(tree, priors)
    if said and not shown:
        raise ValueError(
            "The tree was said to honour the prior (honor_prior=True), and it does not display it: restricted to the "
            "prior's leaves it lacks splits of the prior. Pass the prior that it was built under, or honor_prior=False."
        )
    return shown


def _check_train_tree(train_tree: Tree, truth: Tree) -> None:
    check_tree(train_tree, "train_tree")
    foreign = [name for name in train_tree.leaves if name not in truth.index]
    if foreign:
        few = len(foreign) == 1
        raise ValueError(
            f"{len(foreign)} {'leaf' if few else 'leaves'} of train_tree {'is' if few else 'are'} "
            f"not in the truth: {some_names(foreign)}. Give the tree of leaves that the truth has."
        )


def _heading(yardstick: Yardstick, honored: bool) -> str:
    n = yardstick.truth.n_leaves
    if not yardstick.priors:
        return f"{n} leaves, no prior"
    how = "which the tree honours" if honored else "which is not honoured"
    return f"{n} leaves, {len(yardstick.labelled)} of them in the prior, {how}"
