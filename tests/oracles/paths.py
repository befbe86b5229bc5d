"""Path distances between leaves by breadth-first search, a leaf at a time."""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from celltreeqm.trees import Tree

from .splits import leaves_below_each


def adjacency(tree: Tree) -> dict[int, dict[int, float]]:
    """Neighbours of every node, with the length of the edge between (1 where the tree has no lengths)."""
    graph: dict[int, dict[int, float]] = {node: {} for node in range(len(tree.parent))}
    for node, up in enumerate(tree.parent.tolist()):
        if up >= 0:
            length = 1.0 if tree.lengths is None else float(tree.lengths[node])
            graph[node][up] = graph[up][node] = length
    return graph


def path(graph: dict[int, dict[int, float]], start: int, end: int) -> list[int]:
    """The nodes from start to end, both included."""
    came_from: dict[int, int] = {start: start}
    waiting = deque([start])
    while waiting:
        here = waiting.popleft()
        for near in graph[here]:
            if near not in came_from:
                came_from[near] = here
                waiting.append(near)
    way = [end]
    while way[-1] != start:
        way.append(came_from[way[-1]])
    return way[::-1]


def path_distances(tree: Tree, by: Literal["length", "topology"] = "length") -> NDArray[np.float64]:
    """float[n, n], by length or by the number of branching nodes on the way.

    By topology a path is one edge longer than the branching nodes inside it. In a rooted tree those are the nodes of
    two or more children; in an unrooted tree the nodes from which leaves are reached in three or more directions.
    """
    graph, branches = adjacency(tree), _branching(tree)
    n = len(tree.leaves)
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i != j:
                way = path(graph, i, j)
                if by == "length":
                    out[i, j] = sum(graph[a][b] for a, b in pairwise(way))
                else:
                    out[i, j] = 1 + sum(branches[node] for node in way[1:-1])
    return out


def _branching(tree: Tree) -> list[bool]:
    found = []
    for node, below in enumerate(leaves_below_each(tree)):
        children = sum(up == node for up in tree.parent.tolist())
        leaves_above = len(below) < len(tree.leaves)
        found.append(children > 1 if tree.rooted else children + leaves_above > 2)
    return found
