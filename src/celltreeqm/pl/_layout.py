"""Where each node of a drawn tree goes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..trees import Tree

__all__ = ["edge_paths", "node_positions", "to_circle"]

_GAP = 0.02  # of the circle stays open, so that its first and last leaves are told apart
_ARC = np.radians(2.0)  # an arc is drawn in steps of at most this


def node_positions(tree: Tree) -> NDArray[np.float64]:
    """float[m, 2], how far from the root and at which place among the leaves each node stands.

    Away from the root it goes by branch lengths (negative ones count as 0); without lengths all leaves are level and
    an internal node stands as many branchings before them as its deepest leaf needs. Leaves stand as near to the order
    of their numbers as the tree allows, so two trees of the same leaves can be read side by side.
    """
    n, m = tree.n_leaves, tree.n_nodes
    parent = tree.parent.tolist()
    depth = np.zeros(m)
    if tree.lengths is not None:
        along = np.maximum(tree.lengths, 0.0)
        for node in range(m - 2, -1, -1):
            depth[node] = depth[parent[node]] + along[node]
    else:
        height = np.zeros(m)
        for node in range(m - 1):
            height[parent[node]] = max(height[parent[node]], height[node] + 1)
        depth = height[-1] - height

    middle = np.zeros(m)
    middle[:n] = np.arange(n)
    for node in range(m - 1):
        middle[parent[node]] += middle[node]
    middle /= tree.n_below

    place = np.zeros(m)
    following, stack = 0, [tree.root]
    while stack:
        node = stack.pop()
        if node < n:
            place[node] = following
            following += 1
        stack.extend(sorted(tree.children[node], key=middle.__getitem__, reverse=True))
    lowest, highest = np.full(m, np.inf), np.full(m, -np.inf)
    for node in range(m):
        if node >= n:
            place[node] = (lowest[node] + highest[node]) / 2
        up = parent[node]
        if up >= 0:
            lowest[up], highest[up] = min(lowest[up], place[node]), max(highest[up], place[node])
    return np.stack([depth, place], axis=1)


def edge_paths(tree: Tree, positions: NDArray[np.float64], *, circular: bool) -> list[NDArray[np.float64]]:
    """The line above each node but the root, float[points, 2]: from the parent across, then outwards to the node."""
    paths = []
    for node, up in enumerate(tree.parent[:-1].tolist()):
        (inner, start), (outer, stop) = positions[up], positions[node]
        steps = 2
        if circular:
            steps = 2 + int(abs(stop - start) * _angle_per_place(tree.n_leaves) / _ARC)
        across = np.stack([np.full(steps, inner), np.linspace(start, stop, steps)], axis=1)
        path = np.vstack([across, [outer, stop]])
        paths.append(to_circle(path, tree.n_leaves) if circular else path)
    return paths


def to_circle(positions: NDArray[np.float64], n_leaves: int) -> NDArray[np.float64]:
    """Depth becomes the radius and the place among the leaves the angle, anticlockwise from the right."""
    radius, angle = positions[:, 0], positions[:, 1] * _angle_per_place(n_leaves)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def _angle_per_place(n_leaves: int) -> float:
    return 2 * np.pi * (1 - _GAP) / n_leaves
