"""Path distances between the leaves of a tree, in one pass."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ._splits import leaf_intervals
from ._tree import Tree

__all__ = ["leaf_distances"]


def leaf_distances(tree: Tree, by: Literal["length", "topology"] = "length") -> NDArray[np.float64]:
    """float[n, n], see :meth:`Tree.distances`. O(n^2) time and no memory beyond the result."""
    if by == "length":
        along = tree.known_lengths()
    elif by == "topology":
        along = unit_steps(tree)
    else:
        raise ValueError(f"by={by!r} was given; it is 'length' or 'topology'.")
    depth = np.zeros(tree.n_nodes)
    for node in range(tree.n_nodes - 2, -1, -1):
        depth[node] = depth[tree.parent[node]] + along[node]
    order, start, stop = leaf_intervals(tree)
    try:
        out = np.zeros((tree.n_leaves, tree.n_leaves))
    except MemoryError:
        raise MemoryError(
            f"The distances between {tree.n_leaves} leaves take {8e-9 * tree.n_leaves**2:.3g} GB, more than there is. "
            "Restrict the tree to fewer leaves: tree.restrict(leaves)."
        ) from None
    _fill(tree.parent, depth, order, start, stop, out)
    return out


def unit_steps(tree: Tree) -> NDArray[np.float64]:
    """float[m], 1 for every edge but those that single-child nodes (or an unrooted root of two) make superfluous."""
    along: NDArray[np.float64] = (tree.degree != 1).astype(np.float64)
    along[: tree.n_leaves] = 1.0
    along[-1] = 0.0
    if not tree.rooted:
        top = tree.root
        while tree.degree[top] == 1:
            top = int(np.flatnonzero(tree.parent == top)[0])
            along[top] = 0.0
        if tree.degree[top] == 2:
            side = int(np.flatnonzero(tree.parent == top)[0])
            while tree.degree[side] == 1:
                side = int(np.flatnonzero(tree.parent == side)[0])
            along[side] = 0.0
    return along


@njit(cache=True)
def _fill(parent, depth, order, start, stop, out):  # type: ignore[no-untyped-def]
    for node in range(len(parent) - 1):
        up = parent[node]
        for x in range(start[node], stop[node]):
            i = order[x]
            for y in range(stop[node], stop[up]):
                j = order[y]
                d = depth[i] + depth[j] - 2.0 * depth[up]
                out[i, j] = d
                out[j, i] = d
