"""The resolved quartets of trees as a numbered list: any of them can be looked up by its number, none is stored.

A quartet ``ab|cd`` that a tree resolves has two end nodes, where the path between its two pairs begins and ends. Seen
from one of them, ``w``, the leaves c and d lie in the same branch k of w, and a and b in two others. The other end sees
it with the pairs exchanged, and no third node sees it so. Counting the order of a and b and that of c and d as well,
every resolved quartet is claimed exactly eight times, once in each order that keeps it ``ab|cd``. Branch k of size b at
a node of n leaves whose other branches have sizes b_i claims

    b (b - 1) * sum_i b_i (n - b - b_i)

of them, so the claims are numbered branch by branch; a number is turned into its four leaves by division with remainder
and two short searches. A uniform number is therefore an exactly uniform resolved quartet, in a uniform order.

The leaves of a branch are consecutive on the circle of leaves in depth-first order; the branch above a node too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from celltreeqm.trees import Tree

from ._known_counts import count_resolved

__all__ = ["Claims"]

ORDERS = 8  # claims of one quartet: two ends, two orders of a and b, two of c and d


@dataclass(frozen=True, eq=False)
class Claims:
    """The claims of one or more trees, numbered one tree after the other.

    Parameters
    ----------
    ends
        int64[k], the claims of the first 1, 2, ... k trees; the last is the number of all.
    """

    ends: NDArray[np.int64]
    _table: NDArray[np.int64]
    _runs: NDArray[np.int64]
    _circle: NDArray[np.int32]
    _guide: NDArray[np.int64]
    _shift: int

    @property
    def total(self) -> int:
        """Number of claims: eight a resolved quartet and tree."""
        return int(self.ends[-1])

    @classmethod
    def of(cls, trees: Sequence[Tree], rows: Sequence[NDArray[np.int32]]) -> Claims:
        """The claims of trees whose leaves stand in the given rows."""
        resolved = sum(count_resolved(tree) for tree in trees)
        if resolved >= 2**63 // ORDERS:
            raise ValueError(
                f"The prior's trees resolve {resolved:.3g} quartets; more than {2**63 // ORDERS:.3g} (those of 72,529 "
                "leaves) cannot be numbered in 64 bits. Sample from a restriction of the prior to fewer leaves."
            )
        tables, runs, circles, ends = [], [], [], []
        n_runs = n_circle = n_claims = 0
        for tree, row in zip(trees, rows, strict=True):
            table, run, order = _claims_of(tree)
            table[:, FIRST : LAST + 1] += n_runs
            table[:, BASE] += n_circle
            table[:, END] += n_claims
            n_runs += len(run)
            n_circle += 2 * tree.n_leaves
            n_claims = int(table[-1, END]) if len(table) else n_claims
            tables.append(table)
            runs.append(run)
            circles += [row[order], row[order]]
            ends.append(n_claims)
        table = np.ascontiguousarray(np.concatenate(tables))
        guide, shift = _guide(table[:, END])
        return cls(
            np.array(ends, dtype=np.int64),
            table,
            np.concatenate(runs),
            np.concatenate(circles).astype(np.int32),
            guide,
            shift,
        )

    def look_up(self, numbers: NDArray[np.int64]) -> NDArray[np.int32]:
        """int32[q, 4], the rows a, b, c, d of ``ab|cd`` for claims by number, from 0 to ``total - 1``."""
        out: NDArray[np.int32] = _look_up(
            numbers, self._table, self._runs, self._circle, self._guide, np.int64(self._shift)
        )
        return out


# Columns of the table, a line for each branch k with claims.
END = 0  # claims up to and with this branch's
OTHERS = 1  # ordered pairs of leaves from two different other branches
SIZE = 2  # leaves in branch k
REST = 3  # leaves in the other branches
HOLE = 4  # leaves before branch k around the node
BEFORE = 5  # ordered pairs whose first leaf is before branch k
FIRST = 6  # the node's first run of equal branches in the list of runs
HERE = 7  # the run with branch k
LAST = 8  # the run after the node's last
BASE = 9  # where on the circle the node's first branch starts


def _claims_of(tree: Tree) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Table of claims; runs; leaf order.

    A run is one or more branches of equal size that follow each other around a node, of which there are few even at a
    node of many branches: int64[r, 3], the leaves and the sum of squared branch sizes before it, and its branch size.
    """
    n = tree.n_leaves
    order, start = _order_by_size(tree)
    inner = np.arange(n, tree.n_nodes - 1)
    node = np.concatenate([tree.parent[:-1], inner])
    place = np.concatenate([start[:-1], np.full(len(inner), n)])  # the branch above comes last around its node
    size = np.concatenate([tree.n_below[:-1], n - tree.n_below[inner]])
    turn = np.lexsort((place, node))
    turn = turn[size[turn] > 0]
    node, size = node[turn], size[turn]

    opens = np.diff(node, prepend=-1) != 0
    first = np.flatnonzero(opens)
    group = np.cumsum(opens) - 1
    squares = np.add.reduceat(size**2, first) if len(first) else size
    hole = np.cumsum(size) - size
    hole -= hole[first[group]]
    hole_squared = np.cumsum(size**2) - size**2
    hole_squared -= hole_squared[first[group]]
    runs = np.flatnonzero(opens | (np.diff(size, prepend=-1) != 0))

    rest = n - size
    others = rest**2 - (squares[group] - size**2)
    claims = size * (size - 1) * others
    has = np.flatnonzero(claims)
    table = np.empty((len(has), 10), dtype=np.int64)
    table[:, END] = np.cumsum(claims[has])
    table[:, OTHERS] = others[has]
    table[:, SIZE] = size[has]
    table[:, REST] = rest[has]
    table[:, HOLE] = hole[has]
    table[:, BEFORE] = (rest * hole - hole_squared)[has]
    table[:, FIRST] = np.searchsorted(runs, first)[group[has]]
    table[:, HERE] = (np.searchsorted(runs, np.arange(len(node)), side="right") - 1)[has]
    table[:, LAST] = np.searchsorted(runs, np.append(first[1:], len(node)))[group[has]]
    table[:, BASE] = start[node[has]]
    return table, np.stack([hole[runs], hole_squared[runs], size[runs]], axis=1).astype(np.int64), order


def _order_by_size(tree: Tree) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A depth-first order of the leaves in which siblings come by size, and where in it each node's leaves start."""
    parent, size = tree.parent[:-1], tree.n_below[:-1]
    turn = np.lexsort((size, parent))
    before = np.cumsum(size[turn]) - size[turn]
    first = np.searchsorted(parent[turn], parent[turn])
    offset = np.zeros(tree.n_nodes, dtype=np.int64)
    offset[turn] = before - before[first]
    start, up = offset.tolist(), parent.tolist()
    for node in range(tree.n_nodes - 2, -1, -1):
        start[node] += start[up[node]]
    order = np.empty(tree.n_leaves, dtype=np.int64)
    order[start[: tree.n_leaves]] = np.arange(tree.n_leaves)
    return order, np.array(start, dtype=np.int64)


def _guide(ends: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """For a claim number's high bits, the first line of the table it can be in: about one step from the right one."""
    total = int(ends[-1]) if len(ends) else 0
    shift = max(0, total.bit_length() - (4 * len(ends)).bit_length())
    steps = np.arange((total >> shift) + 1, dtype=np.int64) << shift
    return np.searchsorted(ends, steps, side="right").astype(np.int64), shift


@njit(cache=True)
def _divide(number, by):  # type: ignore[no-untyped-def]
    # Unsigned division is much faster, and nothing here is negative.
    return np.int64(np.uint64(number) // np.uint64(by))


@njit(cache=True)
def _look_up(numbers, table, runs, circle, guide, shift):  # type: ignore[no-untyped-def]
    out = np.empty((len(numbers), 4), dtype=np.int32)
    for x in range(len(numbers)):
        number = numbers[x]
        line = guide[number >> shift]
        while table[line, END] <= number:
            line += 1
        if line > 0:
            number -= table[line - 1, END]
        size, rest, hole, base = table[line, SIZE], table[line, REST], table[line, HOLE], table[line, BASE]

        # c and d: an ordered pair of different leaves of branch k.
        pair = _divide(number, table[line, OTHERS])
        number -= pair * table[line, OTHERS]
        c = _divide(pair, size - 1)
        d = pair - c * (size - 1)
        d += d >= c

        # a: a leaf of another branch i, which has `rest - width` leaves b to go with. Count as if branch k were in too.
        low, high = table[line, FIRST], table[line, HERE] + 1
        if number >= table[line, BEFORE]:
            number += size * (rest - size)
            low, high = table[line, HERE], table[line, LAST]
        while high - low > 1:
            middle = (low + high) >> 1
            if rest * runs[middle, 0] - runs[middle, 1] <= number:
                low = middle
            else:
                high = middle
        start, width = runs[low, 0], runs[low, 2]
        number -= rest * start - runs[low, 1]
        a = _divide(number, rest - width)
        b = number - a * (rest - width)
        start += _divide(a, width) * width
        a += runs[low, 0]

        # b: any leaf outside branches i and k.
        if start < hole:
            b += width if b >= start else 0
            b += size if b >= hole else 0
        else:
            b += size if b >= hole else 0
            b += width if b >= start else 0
        out[x, 0] = circle[base + a]
        out[x, 1] = circle[base + b]
        out[x, 2] = circle[base + hole + c]
        out[x, 3] = circle[base + hole + d]
    return out
