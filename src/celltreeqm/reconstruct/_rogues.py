"""Rogue leaves: those that stand here and there in bootstrap trees, and take support from clades around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..trees import Tree, with_support

__all__ = ["LeafStability", "leaf_stability"]

_TRIED = 20  # leaves whose removal is tried: the most unstable


@dataclass(frozen=True)
class LeafStability:
    """How stable the place of each leaf is over the trees of a bootstrap.

    Parameters
    ----------
    leaves
        The names, in the order of the tree.
    instability
        float[n]: the sd over bootstrap trees of a leaf's path lengths in edges, as a share of their mean, averaged over
        the other leaves.
    gain
        float[n]: by how much the mean support of the tree's clades rises where the leaf is taken out of all trees; NaN
        for leaves that are stable enough not to be tried.
    rogues
        Leaves more unstable than the upper quartile by over 1.5 interquartile ranges without which mean support rises:
        the largest gain first.
    """

    leaves: tuple[str, ...]
    instability: NDArray[np.float64]
    gain: NDArray[np.float64]
    rogues: tuple[str, ...]


def leaf_stability(tree: Tree, trees: Sequence[Tree]) -> LeafStability:
    """Find the leaves whose position is unstable over bootstrap trees.

    Parameters
    ----------
    tree
        The tree whose clades are supported.
    trees
        Its bootstrap trees, on the same leaves.

    Examples
    --------
    >>> from celltreeqm.trees import parse_newick
    >>> tree = parse_newick("(((a,b),c),(d,(e,(f,g))));")
    >>> found = leaf_stability(tree, [tree, parse_newick("((a,c),((d,b),(e,(f,g))));")])
    >>> found.leaves[int(found.instability.argmax())]
    'b'
    """
    support = _mean_support(tree, trees)
    n = tree.n_leaves
    total, squares = np.zeros((n, n)), np.zeros((n, n))
    for one in trees:
        paths = one.unroot().reorder(tree.leaves).distances(by="topology").astype(np.float64)
        paths /= paths.mean() or 1.0
        total += paths
        squares += paths * paths
    mean = total / len(trees)
    spread = np.sqrt(np.maximum(squares / len(trees) - mean * mean, 0.0))
    spread[spread < 1e-6] = 0.0  # what is left of identical trees
    share = spread / np.where(mean > 0, mean, 1.0)
    instability = share.sum(axis=1) / max(n - 1, 1)
    low, high = np.quantile(instability, [0.25, 0.75])
    gain = np.full(n, np.nan)
    tried = np.argsort(-instability, kind="stable")[: min(_TRIED, n - 4)] if n > 4 else np.zeros(0, dtype=np.int64)
    for leaf in tried.tolist():
        if instability[leaf] > 0:
            rest = [name for name in tree.leaves if name != tree.leaves[leaf]]
            gain[leaf] = _mean_support(tree.restrict(rest), [one.restrict(rest) for one in trees]) - support
    outlying = instability > high + 1.5 * (high - low)
    rogues = sorted(np.flatnonzero(outlying & (gain > 0)).tolist(), key=lambda leaf: -gain[leaf])
    return LeafStability(tree.leaves, instability, gain, tuple(tree.leaves[leaf] for leaf in rogues))


def _mean_support(tree: Tree, trees: Sequence[Tree]) -> float:
    support = with_support(tree.unroot(), [one.unroot() for one in trees]).support
    known = np.asarray(support)[np.isfinite(np.asarray(support))]
    return float(known.mean()) if len(known) else 1.0
