"""Quartets around the edges of a tree: as many for an edge near the leaves as for a deep one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...trees import Tree

__all__ = ["edge_quartets"]


def edge_quartets(
    trees: Sequence[Tree], names: Sequence[str], count: int, *, among: frozenset[str], seed: int
) -> NDArray[np.int32]:
    """int32[q, 4], quartets ``ab|cd`` that lie around an edge, one leaf in each of four branches at its ends.

    Most of all quartets span the deepest edges; a share of wrong quartets hardly tells of the others, of which the
    Robinson-Foulds distance counts each the same. Here every internal edge is drawn as often.

    Parameters
    ----------
    trees
        The edges are theirs.
    names
        What the rows are called.
    count
        How many are drawn; those without a leaf of ``among`` are left out.
    among, seed
        Of which at least one leaf has to be; and of the drawing.
    """
    rng = np.random.default_rng(seed)
    row = {name: i for i, name in enumerate(names)}
    ends = [(tree, edge) for tree in trees for edge in _internal_edges(tree.collapse_unary().unroot())]
    rows = []
    for number in rng.integers(len(ends), size=count).tolist() if ends else ():
        tree, (below, above) = ends[number]
        branches = [side[i] for side in (below, above) for i in rng.permutation(len(side))[:2].tolist()]
        drawn = [tree.leaves[branch[rng.integers(len(branch))]] for branch in branches]
        if not among.isdisjoint(drawn):
            rows.append([row[name] for name in drawn])
    return np.array(rows, dtype=np.int32).reshape(-1, 4)


def _internal_edges(tree: Tree) -> list[tuple[list[NDArray[np.int64]], list[NDArray[np.int64]]]]:
    """For each internal edge the leaves of the branches at its lower end, and of those at its upper end."""
    n = tree.n_leaves
    children: list[list[int]] = [[] for _ in tree.parent]
    for node, parent in enumerate(tree.parent.tolist()):
        if parent >= 0:
            children[parent].append(node)
    inside: dict[int, NDArray[np.int64]] = {}
    root = int(np.flatnonzero(tree.parent < 0)[0])
    stack = [(root, False)]
    while stack:
        node, done = stack.pop()
        if node < n:
            inside[node] = np.array([node])
        elif done:
            inside[node] = np.concatenate([inside[child] for child in children[node]])
        else:
            stack += [(node, True), *((child, False) for child in children[node])]
    edges = []
    for node in range(n, len(tree.parent)):
        parent = int(tree.parent[node])
        if parent < 0:
            continue
        above = [inside[child] for child in children[parent] if child != node]
        if parent != root:
            above.append(np.setdiff1d(np.arange(n), inside[parent]))
        edges.append(([inside[child] for child in children[node]], above))
    return edges
