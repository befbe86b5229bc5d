"""Where the features of the other leaves would put each leaf of a known tree, and where the tree has it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..trees import Tree
from ..trees._splits import leaf_intervals

__all__ = ["Margins", "Places", "leave_one_out_paths", "place_margins"]

_PENALTIES = (1e-3, 1e-2, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # shares of the kernel's mean eigenvalue
_TINY = float(np.finfo(float).tiny)


class Margins(NamedTuple):
    """How much better each leaf's features fit elsewhere.

    Parameters
    ----------
    margin
        float[m], the best correlation elsewhere less that where the tree has the leaf; negative where the tree's place
        is the best.
    elsewhere
        int[m], the node below the edge that is the best elsewhere.
    if_wrong
        float[m, m], what the margin of each leaf would about be if the tree had it where it has another leaf; NaN where
        that is the same place.
    """

    margin: NDArray[np.float64]
    elsewhere: NDArray[np.int64]
    if_wrong: NDArray[np.float64]


class Places:
    """The places of a known tree as they are seen from its leaves, in edges.

    Parameters
    ----------
    tree
        Unrooted, on four leaves or more.
    """

    def __init__(self, tree: Tree) -> None:
        n, m, parent = tree.n_leaves, tree.n_nodes, tree.parent
        order, start, stop = leaf_intervals(tree)
        inside = np.zeros((m, n), dtype=bool)
        for node in range(m):
            inside[node, order[start[node] : stop[node]]] = True
        steps = np.zeros((m, n))
        for node in range(n):
            above = parent[node]
            while above >= 0:
                steps[-1, node] += 1
                above = parent[above]
        for node in range(m - 2, -1, -1):
            steps[node] = steps[parent[node]] + np.where(inside[node], -1, 1)
        self.inside = inside
        self.paths = steps[:n]
        self.from_edges = steps[:-1] + np.where(inside[:-1], 0.5, -0.5)
        self.from_nodes = steps[n:]
        at = parent[:n]
        self.at = at - n
        # A leaf that is taken off leaves one edge, or a node of many; on all edges there the tree still agrees.
        edges = np.arange(m - 1)
        self.own = (edges == at[:, None]) | (parent[:-1] == at[:, None])


def leave_one_out_paths(kernel: NDArray[np.float64], paths: NDArray[np.float64]) -> NDArray[np.float64]:
    """float[m, m], each leaf's path lengths to all others as ridge regression on the other leaves predicts them.

    In closed form; the penalty is that of the least squared error. What stands on the diagonal means nothing.
    """
    m, mean = len(kernel), kernel.mean(axis=0)
    values, vectors = np.linalg.eigh(kernel - mean - mean[:, None] + mean.mean())
    values = np.maximum(values, 0.0)
    centred = paths - paths.mean(axis=0)
    rotated = vectors.T @ centred
    best, out = np.inf, paths
    for penalty in _PENALTIES:
        share = values / (values + max(penalty * values.mean(), _TINY))
        leverage = np.minimum((vectors**2) @ share + 1 / m, 1 - 1e-6)
        left = (centred - vectors @ (share[:, None] * rotated)) / (1 - leverage)[:, None]
        np.fill_diagonal(left, 0.0)
        error = float((left**2).sum())
        if error < best:
            best, out = error, paths - left
    return out


def place_margins(predicted: NDArray[np.float64], places: Places) -> Margins:
    """Which place's path lengths to the other leaves correlate best with those predicted, and by how much.

    Correlations do not ask how long the leaf's own edge is, nor how far predictions are shrunk.
    """
    m = len(predicted)
    told = predicted.copy()
    np.fill_diagonal(told, 0.0)
    told -= told.sum(axis=1, keepdims=True) / (m - 1)
    np.fill_diagonal(told, 0.0)
    told /= np.sqrt(np.maximum((told**2).sum(axis=1, keepdims=True), _TINY))

    def correlations(profiles: NDArray[np.float64]) -> NDArray[np.float64]:
        rest = profiles.sum(axis=1) - profiles.T
        spread = (profiles**2).sum(axis=1) - profiles.T**2 - rest**2 / (m - 1)
        return np.asarray((told @ profiles.T) / np.sqrt(np.maximum(spread, 1e-9)))

    on_edges = correlations(places.from_edges)
    here = np.where(places.own, on_edges, -np.inf).max(axis=1)
    at_leaves = correlations(places.from_nodes)[:, places.at]
    here = np.maximum(here, np.diagonal(at_leaves))
    elsewhere = np.where(places.own, -np.inf, on_edges)
    best = elsewhere.argmax(axis=1)
    most = elsewhere[np.arange(m), best]
    margin = np.where(np.isfinite(most), most - here, -2.0)
    if_wrong = np.where(places.at[:, None] == places.at, np.nan, np.maximum(most, here)[:, None] - at_leaves)
    return Margins(margin, best, if_wrong)
