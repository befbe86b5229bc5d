"""Clade frequencies over many trees of the same leaves: what support and consensus are made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._splits import clade_set, leaf_intervals, split_hashes, split_set
from ._tree import Tree
from ._tree_checks import as_numbers, check_tree, some_names

__all__ = ["CladeFrequencies", "clade_frequencies", "majority_consensus", "with_support"]


@dataclass(frozen=True, eq=False)
class CladeFrequencies:
    """The clades (splits, where ``rooted`` is False) that occur in some trees, the most frequent first.

    Attributes
    ----------
    leaves
        The n leaf names, in the order of the first tree.
    members
        bool[s, n], the leaves of each clade; of a split the side without leaf 0.
    frequency
        float[s], the share of the trees, or of their weight, that have it: above 0, at most 1.
    rooted
        Whether these are clades of rooted trees.
    """

    leaves: tuple[str, ...]
    members: NDArray[np.bool_]
    frequency: NDArray[np.float64]
    rooted: bool


def clade_frequencies(trees: Sequence[Tree], *, weights: ArrayLike | None = None) -> CladeFrequencies:
    """How often each clade occurs in rooted trees, or each non-trivial split in unrooted ones.

    Clades of two to n - 1 leaves count, once a tree. They are compared by hash, so that this takes time proportional to
    the trees' size, and memory for the result alone.

    Parameters
    ----------
    trees
        Trees of the same leaves, in any order; all rooted or all unrooted.
    weights
        float[len(trees)], not negative, how much each tree counts; None means all the same.

    Returns
    -------
    CladeFrequencies
        Sorted by frequency, then from large to small, then by the leaves.

    Examples
    --------
    >>> ab_cd = Tree([4, 4, 5, 5, 6, 6, -1], ["a", "b", "c", "d"], rooted=True)
    >>> ac_bd = Tree([4, 5, 4, 5, 6, 6, -1], ["a", "b", "c", "d"], rooted=True)
    >>> found = clade_frequencies([ab_cd, ac_bd, ab_cd, ab_cd])
    >>> found.members.astype(int), found.frequency
    (array([[1, 1, 0, 0],
           [0, 0, 1, 1],
           [1, 0, 1, 0],
           [0, 1, 0, 1]]), array([0.75, 0.75, 0.25, 0.25]))
    """
    rooted = _checked(trees)
    counts_for = _checked_weights(weights, len(trees))
    leaves = trees[0].leaves
    column = {name: i for i, name in enumerate(leaves)}
    row: dict[tuple[int, int], int] = {}
    members = [np.zeros((0, len(leaves)), dtype=bool)]
    which: list[int] = []
    weight: list[float] = []
    for tree, counts in zip(trees, counts_for.tolist(), strict=True):
        present = clade_set(tree) if rooted else split_set(tree)
        new = sorted(present - row.keys())
        if new:
            row.update({key: len(row) + i for i, key in enumerate(new)})
            members.append(_members(tree, new, column, rooted=rooted))
        which.extend(row[key] for key in present)
        weight.extend([counts] * len(present))
    total = np.cumsum(counts_for)[-1]  # added up in the same order as a clade's, so that all trees are exactly 1
    frequency = np.zeros(len(row))
    np.add.at(frequency, which, weight)
    frequency /= total
    rows = np.concatenate(members)
    sizes = rows.sum(axis=1).tolist()
    order = sorted(np.flatnonzero(frequency).tolist(), key=lambda i: (-frequency[i], -sizes[i], (~rows[i]).tobytes()))
    return CladeFrequencies(leaves, rows[order], frequency[order], rooted)


def with_support(tree: Tree, trees: Sequence[Tree]) -> Tree:
    """The same tree with the share of other trees that have it on each internal edge.

    Clades are compared if ``tree`` and ``trees`` are all rooted, else splits: the edges of a rooted tree get, from
    unrooted trees, the support of the splits that they make. Edges without a clade or non-trivial split get NaN.

    Parameters
    ----------
    tree
        The tree to put support on; what it has is replaced.
    trees
        For instance its bootstrap replicates: trees of the same leaves, in any order; all rooted or all unrooted.

    Returns
    -------
    Tree
        The tree with ``support``, from 0 to 1.

    Examples
    --------
    >>> ab_cd = Tree([4, 4, 5, 5, 5, -1], ["a", "b", "c", "d"])
    >>> ac_bd = Tree([4, 5, 4, 5, 5, -1], ["a", "b", "c", "d"])
    >>> with_support(ab_cd, [ab_cd, ac_bd]).support
    array([nan, nan, nan, nan, 0.5, nan])
    """
    check_tree(tree)
    clades = _checked(trees, like=tree) and tree.rooted
    count: Counter[tuple[int, int]] = Counter()
    for other in trees:
        count.update(clade_set(other) if clades else split_set(other))
    n, below = tree.n_leaves, tree.n_below
    inner = (np.arange(tree.n_nodes) >= n) & (below >= 2) & (below < n if clades else below <= n - 2)
    hashes = split_hashes(tree, clades=clades)
    support = np.full(tree.n_nodes, np.nan)
    support[inner] = [count[a, b] / len(trees) for a, b in hashes[inner].tolist()]
    return replace(tree, support=support)


def majority_consensus(trees: Sequence[Tree], *, threshold: float = 0.5) -> Tree:
    """The tree of all clades (splits, where unrooted) that more than a share of the trees have, with their support.

    Parameters
    ----------
    trees
        Trees of the same leaves; all rooted or all unrooted.
    threshold
        At least 0.5, below which clades may contradict each other, and less than 1.

    Returns
    -------
    Tree
        Without branch lengths; its polytomies are what the trees do not agree on.

    Examples
    --------
    >>> ab_cd = Tree([4, 4, 5, 5, 5, -1], ["a", "b", "c", "d"])
    >>> ac_bd = Tree([4, 5, 4, 5, 5, -1], ["a", "b", "c", "d"])
    >>> majority_consensus([ab_cd, ac_bd, ab_cd]) == ab_cd
    True
    """
    if not (isinstance(threshold, Real) and 0.5 <= threshold < 1):
        raise ValueError(f"threshold={threshold!r} was given; it is at least 0.5 and less than 1.")
    found = clade_frequencies(trees)
    kept = np.flatnonzero(found.frequency > threshold)
    kept = kept[np.argsort(found.members[kept].sum(axis=1), kind="stable")]
    n, root = len(found.leaves), len(found.leaves) + len(kept)
    parent, support = np.full(root + 1, -1), np.full(root + 1, np.nan)
    holder = np.full(n, root)  # the smallest clade so far that each leaf is in
    for i in range(len(kept) - 1, -1, -1):
        inside = found.members[kept[i]]
        parent[n + i] = holder[np.argmax(inside)]
        support[n + i] = found.frequency[kept[i]]
        holder[inside] = n + i
    parent[:n] = holder
    if n == 1:
        return trees[0].collapse_unary()
    return Tree(parent, found.leaves, None, None, support, rooted=found.rooted)


def _checked(trees: Sequence[Tree], like: Tree | None = None) -> bool:
    """Whether the trees are rooted; raises if they are not of one kind or not of the same leaves."""
    if isinstance(trees, Tree):
        raise TypeError("One tree was given; a sequence of trees was needed. Put it in a list.")
    if not isinstance(trees, Sequence):
        raise TypeError(f"A {type(trees).__name__} was given; a sequence of trees was needed. Make a list of them.")
    if not len(trees):
        raise ValueError("No trees were given; frequencies need at least one.")
    for tree in trees:
        check_tree(tree, "one of the trees")
    rooted = sum(tree.rooted for tree in trees)
    if 0 < rooted < len(trees):
        raise ValueError(
            f"{rooted} of the {len(trees)} trees are rooted and {len(trees) - rooted} are not, so neither clades nor "
            "splits can be compared. Root all of them, or take tree.unroot() of each."
        )
    first = trees[0] if like is None else like
    names = set(first.leaves)
    for number, tree in enumerate(trees):
        if tree.leaves != first.leaves and (differ := sorted(names ^ set(tree.leaves))):
            other = "the first one" if like is None else "the tree that gets the support"
            raise ValueError(
                f"Tree {number} has other leaves than {other}; in only one of them: {some_names(differ)}. "
                "Restrict the trees to the leaves that all have (tree.restrict)."
            )
    return rooted > 0


def _checked_weights(weights: ArrayLike | None, count: int) -> NDArray[np.float64]:
    if weights is None:
        return np.ones(count)
    given = as_numbers(weights, "The weights")
    if given.shape != (count,) or not (np.isfinite(given) & (given >= 0)).all() or not given.any():
        raise ValueError(
            f"weights={weights!r} was given for {count} trees; one finite number a tree was needed, not negative and "
            "not all 0."
        )
    return given


def _members(tree: Tree, wanted: list[tuple[int, int]], column: dict[str, int], *, rooted: bool) -> NDArray[np.bool_]:
    """bool[len(wanted), n], the leaves of clades of a tree given by hash, in the order of the columns."""
    order, start, stop = leaf_intervals(tree)
    place = np.array([column[name] for name in tree.leaves])[order]
    node_of = {(a, b): node for node, (a, b) in enumerate(split_hashes(tree, clades=rooted).tolist())}
    inside = np.zeros((len(wanted), tree.n_leaves), dtype=bool)
    for row, key in enumerate(wanted):
        inside[row, place[start[node_of[key]] : stop[node_of[key]]]] = True
    return inside if rooted else inside ^ inside[:, :1]
