"""Counting the quartets that two trees resolve alike and differently: the compiled loops.

For a quartet ab|cd a tree has two nodes with its leaves in three branches: at one a and b are in the same branch, at
the other c and d. (A node's branches are its children and what lies above.) For a node u of the first tree and a node v
of the second let ``x[k, l]`` be the number of leaves in branch k of u and branch l of v. Then

- a quartet resolved alike is counted at exactly two node pairs, by
  ``sum_kl choose(x[k, l], 2) * #(two leaves outside row k and column l, in different rows and columns)``;
- a quartet resolved differently is counted at exactly four, by
  ``sum x[k, l] x[k, j] x[i, l] x[i', j']`` over different rows k, i, i' and different columns l, j, j'.

Leaves may carry weights; a quartet then counts as the product of its leaves' weights. Leaves of weight zero are cut off
both trees. The arithmetic wraps at 2^64, so results are exact whenever the four-fold counts fit.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ._quartet_tables import polytomy_pairs

__all__ = ["count_quartets", "leaf_layout"]


def count_quartets(
    parent_1: NDArray[np.int64],
    numbers_1: NDArray[np.int64],
    parent_2: NDArray[np.int64],
    numbers_2: NDArray[np.int64],
    weights: NDArray[np.int64],
) -> tuple[int, int, int, int]:
    """Four times the quartets resolved alike, four times those resolved differently, and those each tree leaves open.

    ``numbers`` gives each leaf of a tree its place in ``weights``. The first two results are to be read modulo 2^64;
    the last two count every leaf of non-zero weight as one.
    """
    order_1, offset_1, bound_1 = leaf_layout(parent_1, numbers_1, weights)
    order_2, offset_2, bound_2 = leaf_layout(parent_2, numbers_2, weights)
    n = len(order_1)
    position = np.empty(len(weights), dtype=np.int64)
    position[order_1] = np.arange(n)
    back = position[order_2]
    position[order_2] = np.arange(n)
    place = position[order_1]

    pairs = _binary_pairs(_binary_nodes(offset_1, bound_1), _binary_nodes(offset_2, bound_2), place, weights[order_2])
    below = polytomy_pairs(offset_1, bound_1, offset_2, bound_2, place, weights[order_2], False)
    across = polytomy_pairs(offset_2, bound_2, offset_1, bound_1, back, weights[order_1], True)
    same, different = (a + b + c for a, b, c in zip(pairs, below, across, strict=True))
    return same, different, _unresolved(offset_1, bound_1, n), _unresolved(offset_2, bound_2, n)


def _binary_nodes(offset: NDArray[np.int64], bound: NDArray[np.int64]) -> NDArray[np.int64]:
    """int64[3, k], where the leaves of each node with two children begin, part and end."""
    first = offset[:-1][np.diff(offset) == 3]
    return np.stack([bound[first], bound[first + 1], bound[first + 2]])


@njit(cache=True)
def leaf_layout(parent, numbers, weights):  # type: ignore[no-untyped-def]
    """A tree as intervals of its leaves in depth-first order: ``(order, offset, bound)``.

    ``order`` holds the leaves' numbers. The children of the i-th branching node, in post-order, are the intervals
    between successive entries of ``bound[offset[i]:offset[i + 1]]``. Leaves of weight zero and nodes with one child are
    left out.
    """
    m, n = len(parent), len(numbers)
    below = np.zeros(m, dtype=np.int64)
    branches = np.zeros(m, dtype=np.int64)
    for leaf in range(n):
        below[leaf] = weights[numbers[leaf]] != 0
    for node in range(m - 1):
        if below[node]:
            below[parent[node]] += below[node]
            branches[parent[node]] += 1
    start = np.zeros(m, dtype=np.int64)
    filled = np.zeros(m, dtype=np.int64)
    for node in range(m - 2, -1, -1):
        up = parent[node]
        start[node] = start[up] + filled[up]
        filled[up] += below[node]
    order = np.empty(below[m - 1], dtype=np.int64)
    for leaf in range(n):
        if below[leaf]:
            order[start[leaf]] = numbers[leaf]
    # Post-order: by where a node's leaves end; among nodes that end together the ascending order is right already.
    ends = np.zeros(len(order) + 2, dtype=np.int64)
    for node in range(n, m):
        if branches[node] > 1:
            ends[start[node] + below[node] + 1] += 1
    for p in range(len(order) + 1):
        ends[p + 1] += ends[p]
    inner = np.empty(ends[-1], dtype=np.int64)
    for node in range(n, m):
        if branches[node] > 1:
            inner[ends[start[node] + below[node]]] = node
            ends[start[node] + below[node]] += 1
    offset = np.zeros(len(inner) + 1, dtype=np.int64)
    free = np.full(m, -1, dtype=np.int64)
    for i in range(len(inner)):
        free[inner[i]] = offset[i]
        offset[i + 1] = offset[i] + branches[inner[i]] + 1
    bound = np.empty(offset[-1], dtype=np.int64)
    for node in range(m - 2, -1, -1):
        up = parent[node]
        if below[node] and free[up] >= 0:
            bound[free[up]] = start[node]
            bound[free[up] + 1] = start[node] + below[node]
            free[up] += 1
    return order, offset, bound


@njit(cache=True)
def _unresolved(offset, bound, n):  # type: ignore[no-untyped-def]
    """The number of quartets with four leaves in four branches of a node."""
    total = 0
    for u in range(len(offset) - 1):
        if offset[u + 1] - offset[u] < 4:
            continue
        one = n - (bound[offset[u + 1] - 1] - bound[offset[u]])
        two, three, four = 0, 0, 0
        for j in range(offset[u], offset[u + 1] - 1):
            size = bound[j + 1] - bound[j]
            four += three * size
            three += two * size
            two += one * size
            one += size
        total += four
    return total


@njit(cache=True)
def _binary_pairs(cuts_1, cuts_2, place, weight):  # type: ignore[no-untyped-def]
    """The counts over pairs of nodes with two children: 3 x 3 tables, from prefix sums along the second's leaves."""
    n = len(place)
    begin, middle, end = cuts_2[0], cuts_2[1], cuts_2[2]
    total, total_q = 0, 0
    of_all = np.zeros((n + 1, 2), dtype=np.int32)
    for p in range(n):
        total += weight[p]
        total_q += weight[p] * weight[p]
        of_all[p + 1, 0] = total
        of_all[p + 1, 1] = total_q
    mark = np.zeros(n, dtype=np.int8)
    # For the leaves before each position: weights and squared weights of those in the first and in the second child.
    before = np.zeros((n + 1, 4), dtype=np.int32)
    same, different = 0, 0
    for u in range(cuts_1.shape[1]):
        first, cut, last = cuts_1[0, u], cuts_1[1, u], cuts_1[2, u]
        if last - first == n:
            continue
        for p in range(first, last):
            mark[place[p]] = 1 if p < cut else 2
        a, b, a_q, b_q = 0, 0, 0, 0
        for p in range(n):
            if mark[p] == 1:
                a += weight[p]
                a_q += weight[p] * weight[p]
            elif mark[p] == 2:
                b += weight[p]
                b_q += weight[p] * weight[p]
            mark[p] = 0
            before[p + 1, 0], before[p + 1, 1], before[p + 1, 2], before[p + 1, 3] = a, b, a_q, b_q
        for i in range(len(begin)):
            s, c, e = begin[i], middle[i], end[i]
            # Squared weights are a positive measure: they tell an empty cell from one whose weights cancel.
            q_a = before[e, 2] - before[s, 2]
            q_b = before[e, 3] - before[s, 3]
            if q_a + q_b == 0:
                continue
            q00 = np.int64(before[c, 2] - before[s, 2])
            q10 = np.int64(before[c, 3] - before[s, 3])
            q01, q11 = q_a - q00, q_b - q10
            whole = q_a + q_b == a_q + b_q
            if whole and (q00 + q10 == 0 or q01 + q11 == 0):
                break  # all of u's leaves below one child of v: nothing here, nor at any later node
            q20 = np.int64(of_all[c, 1] - of_all[s, 1]) - q00 - q10
            q21 = np.int64(of_all[e, 1] - of_all[c, 1]) - q01 - q11
            x00 = np.int64(before[c, 0] - before[s, 0])
            x01 = np.int64(before[e, 0] - before[c, 0])
            x10 = np.int64(before[c, 1] - before[s, 1])
            x11 = np.int64(before[e, 1] - before[c, 1])
            x20 = np.int64(of_all[c, 0] - of_all[s, 0]) - x00 - x10
            x21 = np.int64(of_all[e, 0] - of_all[c, 0]) - x01 - x11
            x02, x12 = a - x00 - x01, b - x10 - x11
            q02, q12 = a_q - q_a, b_q - q_b
            x22 = total - a - b - x20 - x21
            q22 = total_q - a_q - b_q - q20 - q21
            same, different = _corner(same, different, x00, q00, x11, x12, x21, x22)
            same, different = _corner(same, different, x01, q01, x10, x12, x20, x22)
            same, different = _corner(same, different, x02, q02, x10, x11, x20, x21)
            same, different = _corner(same, different, x10, q10, x01, x02, x21, x22)
            same, different = _corner(same, different, x11, q11, x00, x02, x20, x22)
            same, different = _corner(same, different, x12, q12, x00, x01, x20, x21)
            same, different = _corner(same, different, x20, q20, x01, x02, x11, x12)
            same, different = _corner(same, different, x21, q21, x00, x02, x10, x12)
            same, different = _corner(same, different, x22, q22, x00, x01, x10, x11)
            if whole:
                break
    return same, different


@njit(cache=True)
def _corner(same, different, x, q, a, b, c, d):  # type: ignore[no-untyped-def]
    """Four times both counts with what one cell of a 3 x 3 table and its minor (a, b; c, d) add."""
    ad, bc = a * d, b * c
    return same + (x * x - q) * (ad + bc), different + x * (ad * (b + c) + bc * (a + d))
