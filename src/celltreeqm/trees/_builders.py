"""Trees from distances: neighbour joining, UPGMA and Ward, each with or without a prior."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._agglomeration import Joins, Rule, join_clusters
from ._matrices import check_distances
from ._priors import check_priors
from ._tree import Tree

__all__ = ["neighbor_joining", "upgma", "ward"]


def neighbor_joining(
    distances: ArrayLike, leaves: Sequence[str] | None = None, *, prior: Tree | Iterable[Tree] | None = None
) -> Tree:
    r"""The neighbour-joining tree of a distance matrix; under a prior, one that displays every prior tree.

    Joins, time after time, the two clusters with the least

    .. math:: Q(i, j) = d(i, j) - u_i - u_j, \qquad u_i = \frac{1}{r - 2} \sum_k d(i, k)

    among the r that are left (of those pairs that the prior allows), until three are left. It recovers every additive
    tree (the paper's appendix "Constructing the Tree with NJ"). Exact, in float64; sorted rows make it far faster than
    its O(n^3) in practice.

    Parameters
    ----------
    distances
        float[n, n], symmetric and not negative.
    leaves
        The n names of the rows; a DataFrame brings them as its index.
    prior
        What is known: one tree, or several that do not contradict each other, on any of the leaves. The result,
        restricted to a prior tree's leaves, has all its splits. Roots do not matter here, but of three or more trees
        that overlap they help to find a tree that displays all.

    Returns
    -------
    Tree
        Unrooted and binary. Lengths are neighbour joining's own and may be negative; ``fit_branch_lengths`` fits
        lengths that are not.

    Examples
    --------
    >>> d = [[0, 3, 7, 8], [3, 0, 8, 9], [7, 8, 0, 5], [8, 9, 5, 0]]
    >>> tree = neighbor_joining(d, ["a", "b", "c", "d"])
    >>> tree.distances().tolist() == d
    True
    """
    return _build(distances, leaves, prior, "neighbor joining")


def upgma(
    distances: ArrayLike, leaves: Sequence[str] | None = None, *, prior: Tree | Iterable[Tree] | None = None
) -> Tree:
    """The UPGMA tree (average linkage); under a prior, one that displays every prior tree.

    Parameters are those of :func:`neighbor_joining`. Without a prior this is scipy's average linkage.

    Returns
    -------
    Tree
        Rooted and binary, all leaves equally deep: a join at distance d makes a node at height d / 2. Where a prior
        delays a join, the node is put no lower than those below it.

    Examples
    --------
    >>> tree = upgma([[0, 2, 6], [2, 0, 6], [6, 6, 0]], ["a", "b", "c"])
    >>> tree.depths()[:3].tolist(), tree.clades(1)
    ([3.0, 3.0, 3.0], (('a', 'b'), ('c',)))
    """
    return _build(distances, leaves, prior, "average")


def ward(
    distances: ArrayLike, leaves: Sequence[str] | None = None, *, prior: Tree | Iterable[Tree] | None = None
) -> Tree:
    """The Ward tree (least growth of the within-cluster variance); under a prior, one that displays every prior tree.

    Parameters are those of :func:`neighbor_joining`; the distances are meant to be Euclidean. Without a prior this is
    scipy's Ward linkage.

    Returns
    -------
    Tree
        Rooted and binary, all leaves equally deep: a join at Ward distance d makes a node at height d / 2.

    Examples
    --------
    >>> ward([[0, 2, 6], [2, 0, 6], [6, 6, 0]], ["a", "b", "c"]).clades(1)
    (('a', 'b'), ('c',))
    """
    return _build(distances, leaves, prior, "ward")


def _build(distances: ArrayLike, leaves: Sequence[str] | None, prior: Tree | Iterable[Tree] | None, rule: Rule) -> Tree:
    work, names = check_distances(distances, leaves)
    priors = _without_repetition([tree for tree in check_priors(prior, names) if tree.n_leaves > 3])
    if len(names) == 1:
        return Tree([-1], names, [0.0], rooted=rule != "neighbor joining")
    if rule != "neighbor joining" and not priors:
        return _from_scipy(work, names, rule)
    joins = join_clusters(work, names, priors, rule)
    return _unrooted(joins, names) if rule == "neighbor joining" else _ultrametric(joins.pairs, joins.distance, names)


def _without_repetition(priors: list[Tree]) -> list[Tree]:
    kept: list[Tree] = []
    for tree in priors:
        if not any(tree.unroot().same_topology(other.unroot()) for other in kept):
            kept.append(tree)
    return kept


def _from_scipy(work: NDArray[np.float64], names: tuple[str, ...], rule: Rule) -> Tree:
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    table = linkage(squareform(work, checks=False), method="ward" if rule == "ward" else "average")
    return _ultrametric(table[:, :2].astype(np.int64), table[:, 2], names)


def _unrooted(joins: Joins, names: Sequence[str]) -> Tree:
    n, t = len(names), len(joins.pairs)
    parent = np.full(n + t + 1, -1)
    lengths = np.zeros(n + t + 1)
    parent[joins.pairs] = np.arange(n, n + t)[:, None]
    lengths[joins.pairs] = joins.lengths
    parent[list(joins.left)] = n + t
    lengths[list(joins.left)] = joins.left_lengths
    return Tree(parent, names, lengths, rooted=False)


def _ultrametric(pairs: NDArray[np.int64], distance: NDArray[np.float64], names: Sequence[str]) -> Tree:
    n, t = len(names), len(pairs)
    parent = np.full(n + t, -1)
    parent[pairs] = np.arange(n, n + t)[:, None]
    height = np.concatenate([np.zeros(n), distance / 2])
    for node, (a, b) in enumerate(pairs.tolist(), start=n):
        height[node] = max(height[node], height[a], height[b])
    lengths = np.zeros(n + t)
    lengths[:-1] = height[parent[:-1]] - height[:-1]
    return Tree(parent, names, lengths, rooted=True)
