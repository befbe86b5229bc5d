"""Shape statistics: how large, deep and balanced a tree is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ._tree import Tree
from ._tree_checks import check_tree

__all__ = ["ShapeStatistics", "shape_statistics"]


@dataclass(frozen=True)
class ShapeStatistics:
    """A row of the paper's dataset table (``tbl:c_elegans_stats``).

    Attributes
    ----------
    n_leaves
        Number of leaves, n.
    colless
        Colless index, normalised to 0 (balanced) ... 1 (caterpillar). It is defined for binary trees: NaN where a node
        has more than two children, and for fewer than three leaves, where every tree is as balanced as any other.
    diameter
        The longest path between two leaves.
    depth_mean, depth_sd
        Mean and population standard deviation, over the leaves, of the path from the root.
    faith_pd
        Faith's phylogenetic diversity: the sum of all branch lengths.
    mean_pairwise_distance
        Mean path length over all pairs of leaves; NaN for a single leaf.
    """

    n_leaves: int
    colless: float
    diameter: float
    depth_mean: float
    depth_sd: float
    faith_pd: float
    mean_pairwise_distance: float


def shape_statistics(tree: Tree, *, by: Literal["length", "topology"] = "length") -> ShapeStatistics:
    r"""Colless index, diameter, depth, Faith's PD and mean pairwise distance of a rooted tree, in O(n).

    With :math:`\ell_v` the length of the edge above node :math:`v`, :math:`k_v` the number of leaves below it and
    :math:`L_v, R_v` those of its two children,

    .. math::
        \mathrm{Colless} = \frac{2}{(n-1)(n-2)} \sum_v |L_v - R_v|, \qquad
        \mathrm{PD} = \sum_v \ell_v, \qquad
        \overline{d} = \binom{n}{2}^{-1} \sum_v \ell_v \, k_v (n - k_v).

    These are the columns of the paper's ``tbl:c_elegans_stats``: "Based on Reference Tree" by the lengths that
    :meth:`Tree.restrict` adds up while it prunes, "Based on Topology" with every branch of length 1, so that PD of a
    binary tree is :math:`2n - 2`.

    Parameters
    ----------
    tree
        A rooted tree. Single-child nodes are no branchings.
    by
        ``"length"``: the branch lengths, that of a stem above the first branching included. ``"topology"``: every edge
        between branchings counts 1, and a stem 0.

    Returns
    -------
    ShapeStatistics
        One number for each column.

    Examples
    --------
    >>> caterpillar = Tree([4, 4, 5, 6, 5, 6, -1], ["a", "b", "c", "d"], rooted=True)
    >>> shape_statistics(caterpillar, by="topology")
    ShapeStatistics(n_leaves=4, colless=1.0, diameter=4.0, depth_mean=2.25, depth_sd=0.829..., faith_pd=6.0,
    mean_pairwise_distance=3.166...)
    """
    check_tree(tree)
    if not tree.rooted:
        raise ValueError(
            "This tree is unrooted; depth and the Colless index need a root. Root it first (root_at_midpoint, "
            "root_by_outgroup, root_by_prior), or read it with rooted=True if its root is meant."
        )
    n, below = tree.n_leaves, tree.n_below.astype(np.float64)
    depth = tree.depths(by)[:n]
    along = tree.known_lengths() if by == "length" else np.append(tree.level[:-1] - tree.level[tree.parent[:-1]], 0.0)
    pairs = n * (n - 1) / 2
    return ShapeStatistics(
        n_leaves=n,
        colless=_colless(tree),
        diameter=_diameter(tree, along),
        depth_mean=float(depth.mean()),
        depth_sd=float(depth.std()),
        faith_pd=float(along.sum()),
        mean_pairwise_distance=float((along * below * (n - below)).sum() / pairs) if pairs else math.nan,
    )


def _diameter(tree: Tree, along: NDArray[np.float64]) -> float:
    """Bottom-up: the longest path that turns at a node joins the two longest that come up to it."""
    up, steps = tree.parent.tolist(), along.tolist()
    longest = [0.0] * tree.n_leaves + [-math.inf] * (tree.n_nodes - tree.n_leaves)
    widest = -math.inf
    for node in range(tree.n_nodes - 1):
        reach = longest[node] + steps[node]
        widest = max(widest, longest[up[node]] + reach)
        longest[up[node]] = max(longest[up[node]], reach)
    return widest if tree.n_leaves > 1 else 0.0


def _colless(tree: Tree) -> float:
    n = tree.n_leaves
    if n < 3 or (tree.degree > 2).any():
        return math.nan
    # |L - R| is twice the larger of the two less their sum
    larger = np.zeros(tree.n_nodes, dtype=np.int64)
    np.maximum.at(larger, tree.parent[:-1], tree.n_below[:-1])
    branching = tree.degree == 2
    difference = (2 * larger - tree.n_below)[branching].sum()
    return float(2 * difference / ((n - 1) * (n - 2)))
