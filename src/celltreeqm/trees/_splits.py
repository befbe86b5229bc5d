"""Splits and clades as 128-bit hashes: what makes two trees the same, and what Robinson-Foulds counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._tree import Tree

__all__ = ["edge_lengths_by_split", "split_hashes", "split_matrix", "topology_key"]


def leaf_hashes(names: tuple[str, ...]) -> NDArray[np.uint64]:
    """uint64[n, 2], two well mixed 64-bit values for each leaf by its rank among the sorted names.

    They depend on the set of names alone, never on a seed, so the same leaves give the same hashes everywhere.
    """
    rank = np.empty(len(names), dtype=np.uint64)
    rank[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names), dtype=np.uint64)
    return np.stack([_splitmix(2 * rank + np.uint64(1)), _splitmix(2 * rank + np.uint64(2))], axis=1)


def _splitmix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    with np.errstate(over="ignore"):
        z = x * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def split_hashes(tree: Tree, *, clades: bool = False) -> NDArray[np.uint64]:
    """uint64[m, 2], a hash for the edge above each node: the XOR of the leaf hashes below it.

    As a split the two sides are one thing: of a side's hash and its complement's the lower stands for both. With
    ``clades=True`` the side below is meant and is kept as it is.
    """
    hashes = np.zeros((tree.n_nodes, 2), dtype=np.uint64)
    hashes[: tree.n_leaves] = leaf_hashes(tree.leaves)
    low, high = hashes[:, 0].tolist(), hashes[:, 1].tolist()
    for node, up in enumerate(tree.parent[:-1].tolist()):
        low[up] ^= low[node]
        high[up] ^= high[node]
    if not clades:
        all_low, all_high = low[-1], high[-1]
        for node, (a, b) in enumerate(zip(low, high, strict=True)):
            if (a ^ all_low, b ^ all_high) < (a, b):
                low[node], high[node] = a ^ all_low, b ^ all_high
    return np.array([low, high], dtype=np.uint64).T


def informative(tree: Tree) -> NDArray[np.int64]:
    """The nodes whose edge makes a non-trivial split, one node for each split, ascending."""
    n, below = tree.n_leaves, tree.n_below
    nodes = np.flatnonzero((below >= 2) & (below <= n - 2) & (np.arange(tree.n_nodes) >= n))
    hashes = split_hashes(tree)[nodes]
    _, first = np.unique(hashes, axis=0, return_index=True)
    return nodes[np.sort(first)]


def split_set(tree: Tree) -> set[tuple[int, int]]:
    """The hashes of the non-trivial splits."""
    return {(a, b) for a, b in split_hashes(tree)[informative(tree)].tolist()}


def clade_set(tree: Tree) -> set[tuple[int, int]]:
    """The hashes of the clades of two or more leaves, without that of all."""
    n, below = tree.n_leaves, tree.n_below
    nodes = np.flatnonzero((below >= 2) & (below < n))
    return {(a, b) for a, b in split_hashes(tree, clades=True)[nodes].tolist()}


def topology_key(tree: Tree) -> frozenset[tuple[int, int]]:
    """What two trees of the same leaves share if and only if they have the same clades (splits, where unrooted)."""
    return frozenset(clade_set(tree) if tree.rooted else split_set(tree))


def edge_lengths_by_split(tree: Tree) -> dict[tuple[int, int], float]:
    """Length of every edge, trivial ones included, by its hash; edges that make the same split are added up."""
    hashes = split_hashes(tree, clades=tree.rooted)[:-1].tolist()
    total: dict[tuple[int, int], float] = {}
    for (a, b), length in zip(hashes, tree.known_lengths()[:-1].tolist(), strict=True):
        total[a, b] = total.get((a, b), 0.0) + length
    if not tree.rooted:
        total.pop((0, 0), None)  # an edge with all leaves below it parts nothing
    return total


def split_matrix(tree: Tree) -> NDArray[np.bool_]:
    """bool[s, n], see :meth:`Tree.splits`."""
    nodes = informative(tree)
    wanted = {node: row for row, node in enumerate(nodes.tolist())}
    rows = np.zeros((len(nodes), tree.n_leaves), dtype=bool)
    order, start, stop = leaf_intervals(tree)
    for node, row in wanted.items():
        rows[row, order[start[node] : stop[node]]] = True
    flip = rows[:, 0]
    rows[flip] = ~rows[flip]
    return rows


def leaf_intervals(tree: Tree) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """``(order, start, stop)``: the leaves below a node are ``order[start[node]:stop[node]]``, a depth-first order."""
    below = tree.n_below.tolist()
    parent = tree.parent.tolist()
    start = [0] * tree.n_nodes
    free = [0] * tree.n_nodes
    for node in range(tree.n_nodes - 2, -1, -1):
        up = parent[node]
        start[node] = start[up] + free[up]
        free[up] += below[node]
    first = np.array(start, dtype=np.int64)
    order = np.empty(tree.n_leaves, dtype=np.int64)
    order[first[: tree.n_leaves]] = np.arange(tree.n_leaves)
    return order, first, first + tree.n_below
