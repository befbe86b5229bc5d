"""What is known of each clade of a tree before anyone says whether it is true: support, spread, size, length."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..learners.adaptive._measure import labelled_trees
from ..trees import Tree, with_support
from ..trees._splits import edge_lengths_by_split, informative, split_hashes
from ._given import edge_sides, given_edges

__all__ = ["DESCRIPTION", "EdgeTable", "describe_edges", "judge_edges"]

DESCRIPTION = (
    "raw support",
    "spread over readings",
    "mean support over readings",
    "support in direct reconstruction",
    "size",
    "known leaves",
    "unknown leaves",
    "relative length",
    "partly given",
)


@dataclass(frozen=True)
class EdgeTable:
    """The splits of a tree that the prior does not give, one row each.

    Parameters
    ----------
    nodes
        int[e], the nodes whose edges make them.
    raw
        float[e], their bootstrap support.
    description
        float[e, 9], the columns of :data:`DESCRIPTION`: supports as log odds, numbers of leaves (of the smaller side)
        and lengths as logarithms.
    """

    nodes: NDArray[np.int64]
    raw: NDArray[np.float64]
    description: NDArray[np.float64]


def describe_edges(
    tree: Tree, trees: Sequence[Tree], readings: Sequence[Sequence[Tree]], prior: Iterable[Tree]
) -> EdgeTable:
    """Describe the splits of a tree by bootstrap trees of the fit and of plain readings of the features."""
    prior = tuple(prior)
    nodes = informative(tree)
    given = np.array(given_edges(tree, prior), dtype=object)
    nodes = nodes[given[nodes] != "yes"]
    supports = np.array([np.asarray(with_support(tree, some).support)[nodes] for some in (trees, *readings)])
    known = np.zeros(tree.n_leaves, dtype=bool)
    for labelled in labelled_trees(prior):
        known[[tree.index[name] for name in labelled.leaves if name in tree.index]] = True
    sides = edge_sides(tree, nodes)
    twice = 2 * sides.sum(axis=1)
    # Of two halves the one that more is known of, so that it does not matter where the root is.
    other = (twice > tree.n_leaves) | ((twice == tree.n_leaves) & (2 * (sides & known).sum(axis=1) < known.sum()))
    sides[other] ^= True
    n_known = (sides & known).sum(axis=1)
    size = sides.sum(axis=1)
    odds = log_odds(supports, len(trees))
    table = [
        odds[0],
        supports.std(axis=0),
        odds.mean(axis=0),
        odds[1],
        np.log(size),
        np.log1p(n_known),
        np.log1p(size - n_known),
        _relative_lengths(tree, nodes),
        (given[nodes] == "partly").astype(np.float64),
    ]
    return EdgeTable(nodes, supports[0], np.array(table).T.reshape(len(nodes), len(DESCRIPTION)))


def log_odds(support: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Log odds of shares of n, drawn in by half a tree so that they are finite."""
    drawn_in = (support * n + 0.5) / (n + 1)
    return np.asarray(np.log(drawn_in / (1 - drawn_in)))


def judge_edges(tree: Tree, nodes: NDArray[np.int64], truth: Tree) -> NDArray[np.float64]:
    """float[e], 1 for splits of the true tree, 0 for those against it, NaN where its polytomies leave it open."""
    columns = [truth.index[name] for name in tree.leaves]
    true = truth.splits()[:, columns]
    sides = edge_sides(tree, nodes)
    a, b, c, d = (
        (one.astype(np.float32) @ other.T.astype(np.float32)) > 0
        for one, other in ((sides, true), (sides, ~true), (~sides, true), (~sides, ~true))
    )
    same = ((~a & ~d) | (~b & ~c)).any(axis=1)
    against = (a & b & c & d).any(axis=1)
    return np.where(same, 1.0, np.where(against, 0.0, np.nan))


def _relative_lengths(tree: Tree, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Logarithms of lengths in medians of the tree's inner edges; 0 where there are none."""
    if tree.lengths is None or not len(nodes):
        return np.zeros(len(nodes))
    along = edge_lengths_by_split(tree.unroot())  # the two edges at a root are one
    keys = split_hashes(tree)
    inner = np.array([along[a, b] for a, b in keys[informative(tree)].tolist()])
    lengths = np.array([along[a, b] for a, b in keys[nodes].tolist()])
    middle = float(np.median(inner[inner > 0])) if (inner > 0).any() else 0.0
    if not middle:
        return np.zeros(len(nodes))
    return np.asarray(np.log(np.clip(lengths / middle, 0.05, 20.0)))
