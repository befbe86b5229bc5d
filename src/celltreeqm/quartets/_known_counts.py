"""How many quartets a prior knows, and how many it does not, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from celltreeqm.trees import Tree, check_priors
from celltreeqm.trees._refinement import common_refinement

from ._prior_rows import leaves_of

__all__ = ["QuartetClassCounts", "count_known_quartets", "count_resolved", "quartet_class_counts"]


@dataclass(frozen=True)
class QuartetClassCounts:
    """The quartets of n leaves by what a prior says of them; the four numbers sum to C(n, 4).

    Parameters
    ----------
    known
        Resolved by a tree of the prior (K).
    partial
        One to three leaves in the prior (P).
    unknown_inside
        All four leaves in the prior, and unresolved (U-in).
    unknown_outside
        No leaf in the prior (U-out).
    """

    known: int
    partial: int
    unknown_inside: int
    unknown_outside: int

    @property
    def total(self) -> int:
        """C(n, 4)."""
        return self.known + self.partial + self.unknown_inside + self.unknown_outside


def count_known_quartets(prior: Tree | Sequence[Tree] | None) -> int:
    """Number of quartets that any tree of the prior resolves, exact.

    In one tree they are counted from the nodes: a resolved quartet ``ab|cd`` is seen from both of its ends, with c and
    d in one branch and a and b in two others, so

        K = 1/2 * sum over nodes w and branches k of w:  C(b_k, 2) e2(sizes of the other branches of w)

    where the branch above a node is one of them. Several trees are counted as a union: for every intersection C of
    their leaf sets, the quartets that are in C and in no smaller one, as resolved by the common refinement of the trees
    that hold all of C. That takes time in the square of the number of different intersections of four leaves or more.

    Parameters
    ----------
    prior
        One tree, several that do not contradict each other, or None, which knows nothing.

    Examples
    --------
    >>> from celltreeqm.trees import prior_from_clades
    >>> count_known_quartets(prior_from_clades([0] * 64 + [1] * 38, [str(i) for i in range(102)]))
    1417248
    """
    trees = check_priors(prior)
    if len(trees) == 1:
        return count_resolved(trees[0])
    closed = _closed_leaf_sets(trees)
    known = 0
    for whole in closed:
        refined = common_refinement([tree.restrict(whole) for tree in trees if whole <= set(tree.leaves)])
        # Resolved by `refined` and in no set smaller than `part`, for every closed part of the whole, smallest first.
        within: dict[frozenset[str], int] = {}
        for part in closed:
            if part <= whole:
                smaller = sum(count for other, count in within.items() if other < part)
                within[part] = count_resolved(refined.restrict(part)) - smaller
        known += within[whole]
    return known


def quartet_class_counts(prior: Tree | Sequence[Tree] | None, leaves: Sequence[str]) -> QuartetClassCounts:
    """How the quartets of the data fall into known, partial, unknown inside and unknown outside the prior, exact.

    A leaf is in the prior if any of its trees has it. With n leaves in the data, L of them in the prior and K known
    quartets the classes are K, C(n, 4) - C(L, 4) - C(n - L, 4), C(L, 4) - K and C(n - L, 4).

    Parameters
    ----------
    prior
        One tree, several, or None. All of its leaves must be among ``leaves``.
    leaves
        The names of the data's leaves.

    Examples
    --------
    >>> prior = Tree([4, 4, 5, 5, 6, 6, -1], ["a", "b", "c", "d"])
    >>> quartet_class_counts(prior, ["a", "b", "c", "d", "e"])
    QuartetClassCounts(known=1, partial=4, unknown_inside=0, unknown_outside=0)
    """
    names = leaves_of((), leaves)
    trees = check_priors(prior, names)
    n, inside = len(names), len(leaves_of(trees, None))
    known = count_known_quartets(trees)
    outside = comb(n - inside, 4)
    return QuartetClassCounts(
        known=known,
        partial=comb(n, 4) - comb(inside, 4) - outside,
        unknown_inside=comb(inside, 4) - known,
        unknown_outside=outside,
    )


def count_resolved(tree: Tree) -> int:
    """Number of quartets that one tree resolves, exact beyond 64 bits too."""
    n = tree.n_leaves
    inner = np.arange(n, tree.n_nodes - 1)
    node = np.concatenate([tree.parent[:-1], inner])
    size = np.concatenate([tree.n_below[:-1], n - tree.n_below[inner]])
    if 4 * comb(n, 4) >= 2**63:
        size = size.astype(object)  # Python ints
    squares = np.zeros(tree.n_nodes, dtype=size.dtype)
    np.add.at(squares, node, size**2)
    others = (n - size) ** 2 - (squares[node] - size**2)
    return int((size * (size - 1) // 2 * (others // 2)).sum()) // 2


def _closed_leaf_sets(trees: Sequence[Tree]) -> list[frozenset[str]]:
    """The trees' leaf sets and their intersections of four leaves or more, smallest first.

    Of those that hold a quartet one is the smallest, and the trees that hold the quartet are those that hold that set.
    """
    closed = {frozenset(tree.leaves) for tree in trees if tree.n_leaves >= 4}
    fresh = closed
    while fresh:
        pairs = ((a & b) for a in fresh for b in closed)
        fresh = {both for both in pairs if len(both) >= 4} - closed
        closed = closed | fresh
    return sorted(closed, key=lambda leaves: (len(leaves), sorted(leaves)))
