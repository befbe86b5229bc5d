"""Controls: what a score must be compared with before it says anything about lineage.

- A fresh realisation: new features that evolved on the same tree (``simulation.fresh(seed)``), from which a fit builds
  ``fit.tree(fresh, honor_prior=False)``. What was memorised of the training cells is of no use there.
- Leaves held out (:func:`hold_out_leaves`): a fit to some leaves, and the tree of the others.
- Copying (:func:`copy_nearest_leaf`): the answer of one who learned nothing but where everyone stands.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..learners import check_features
from ..learners._features import FeatureMatrix, own_row_names
from ..seeds import Seed, seeded_generator
from ..trees import Tree
from ..trees._tree_checks import check_tree, checked_leaves

__all__ = ["HeldOutLeaves", "copy_nearest_leaf", "hold_out_leaves"]

_LEAST = 4  # leaves: fewer have one tree only
_ROUNDS = 100  # of matching; two to five are usual
_EXACT = 1e-9  # of a feature's variance: what repeats itself better counts as exact


def copy_nearest_leaf(
    train_features: FeatureMatrix,
    test_features: FeatureMatrix,
    tree: Tree,
    *,
    leaves: Sequence[str] | None = None,
) -> Tree:
    r"""The training tree, copied: each test leaf is put where the training leaf stands that it resembles most.

    Test leaves are matched to training leaves, one to one, with the least sum of weighted squared distances. Features
    are standardised and count the same at first; then each counts by how well it repeats itself between the leaves so
    matched, until the matching stays as it is. With :math:`r` the mean squared difference of a feature between matched
    leaves and :math:`s^2` its variance across leaves the weight is :math:`\max(0, 1/r - 1/2s^2)`, by which a squared
    difference enters the log-likelihood ratio of "the same leaf" against "any other".

    Nothing of how features relate to lineage is learned; yet where the test features are the training features and a
    little noise, with whatever is not signal drawn anew (the paper's supervised setting), the copy is the true tree: RF
    0.000 in all twelve scenarios of its table of simulations. A learner that does no better there has shown no more. On
    a fresh realisation of the features the copy has nothing right.

    Parameters
    ----------
    train_features, test_features
        float[n, g], the same features of the same leaves, once more.
    tree
        The tree of the training leaves.
    leaves
        The names of the rows of both matrices, unless DataFrames bring them; by default the leaves of the tree in its
        order.

    Returns
    -------
    Tree
        The tree with the test leaves' names where their matches were; without node names and support.

    Examples
    --------
    >>> from celltreeqm.trees import parse_newick
    >>> tree = parse_newick("((a,b),(c,d));")
    >>> copy_nearest_leaf([[0], [1], [5], [6]], [[0.1], [6.1], [5.1], [0.9]], tree).clades(1)
    (('a', 'd'), ('b', 'c'))
    """
    check_tree(tree)
    train, test = (
        check_features(features, _row_names(features, tree, leaves)) for features in (train_features, test_features)
    )
    if set(train.leaves) != set(tree.leaves) or set(test.leaves) != set(tree.leaves):
        raise ValueError(
            f"The rows ({len(train.leaves)} to train on, {len(test.leaves)} to test) are not the {tree.n_leaves} "
            "leaves of the tree; a row for each leaf was needed. Pass tree.restrict(leaves)."
        )
    if train.values.shape[1] != test.values.shape[1]:
        raise ValueError(
            f"There are {train.values.shape[1]} features to train on and {test.values.shape[1]} to test; the same "
            "features were needed."
        )
    of_train = _match(test.values, train.values).tolist()
    new_name = {train.leaves[i]: name for name, i in zip(test.leaves, of_train, strict=True)}
    bare = Tree(tree.parent, tree.leaves, tree.lengths, rooted=tree.rooted)
    return bare.rename(new_name).reorder(tree.leaves)


class HeldOutLeaves(NamedTuple):
    """Leaves to fit on and leaves that were held out, both in the order given.

    Parameters
    ----------
    kept, held_out
        Leaf names.
    """

    kept: tuple[str, ...]
    held_out: tuple[str, ...]


def hold_out_leaves(leaves: Sequence[str], fraction: float = 0.2, *, seed: Seed = None) -> HeldOutLeaves:
    """Split leaves at random into some to fit on and some to test on.

    A fit to the kept leaves, with the true tree restricted to them as its prior, is scored on the tree that it builds
    of the held-out ones: ``fit.tree(X_held_out, leaves=held_out, honor_prior=False)``.

    Parameters
    ----------
    leaves
        Names.
    fraction
        The share that is held out, rounded down; at least 4 leaves must be on either side.
    seed
        Seed or generator.

    Examples
    --------
    >>> kept, held_out = hold_out_leaves([f"t{i}" for i in range(20)], 0.25, seed=0)
    >>> len(kept), len(held_out)
    (15, 5)
    """
    leaves = checked_leaves(leaves)
    n = len(leaves)
    if not (isinstance(fraction, numbers.Real) and 0 < fraction < 1):
        raise ValueError(f"fraction={fraction!r} was given; a share between 0 and 1 was needed.")
    out = math.floor(fraction * n + 1e-9)
    if min(out, n - out) < _LEAST:
        raise ValueError(
            f"Of {n} leaves, fraction={fraction} holds out {out} and keeps {n - out}; either side needs {_LEAST} "
            "or more."
        )
    gone = set(seeded_generator(seed).permutation(n)[:out].tolist())
    return HeldOutLeaves(
        kept=tuple(name for i, name in enumerate(leaves) if i not in gone),
        held_out=tuple(name for i, name in enumerate(leaves) if i in gone),
    )


def _match(test: NDArray[np.float64], train: NDArray[np.float64]) -> NDArray[np.int64]:
    """int[n], the training row of each test row, no two the same."""
    from scipy.optimize import linear_sum_assignment
    from scipy.spatial.distance import cdist

    variance = (test.var(axis=0) + train.var(axis=0)) / 2
    varies = variance > 0
    if not varies.any():
        return np.arange(len(test))
    scale = np.sqrt(variance[varies])
    test, train = test[:, varies] / scale, train[:, varies] / scale
    weights = np.ones(len(scale))
    matched = np.full(len(test), -1)
    for _ in range(_ROUNDS):
        root = np.sqrt(weights)
        rows = linear_sum_assignment(cdist(test * root, train * root, "sqeuclidean"))[1]
        if (rows == matched).all():
            break
        matched = rows
        apart = np.mean((test - train[matched]) ** 2, axis=0)
        weights = np.maximum(1 / np.maximum(apart, _EXACT) - 1 / 2, 0)
        if not weights.any():  # no feature repeats itself
            break
    return matched


def _row_names(features: FeatureMatrix, tree: Tree, leaves: Sequence[str] | None) -> Sequence[str] | None:
    if leaves is not None:
        return leaves
    return None if own_row_names(features) is not None else tree.leaves
