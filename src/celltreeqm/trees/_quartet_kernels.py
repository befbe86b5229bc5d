"""Counting the quartets that two trees resolve alike and differently: the compiled loops.

For a quartet ab|cd a tree has two nodes with its leaves in three branches: at one a and b are in the same branch, at the
other c and d. (A node's branches are its children and what lies above.) For a node u of the first tree and a node v of
the second let ``x[k, l]`` be the number of leaves in branch k of u and branch l of v. Then

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

__all__ = ["count_quartets", "leaf_layout"]

SMALL = 8  # tables with no more rows form all products of rows in one small square


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
    below = _polytomy_pairs(offset_1, bound_1, offset_2, bound_2, place, weights[order_2], False)
    across = _polytomy_pairs(offset_2, bound_2, offset_1, bound_1, back, weights[order_1], True)
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
    """The counts over pairs of nodes with two children: 3 x 3 tables, from prefix sums along the second tree's leaves."""
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


@njit(cache=True)
def _polytomy_pairs(offset_1, bound_1, offset_2, bound_2, place, weight, binary_only):  # type: ignore[no-untyped-def]
    """The counts over pairs of a node of three or more children in the first tree and any, or any of two, in the second.

    For each such node the leaves are labelled by its children, and the second tree's nodes are visited in post-order
    with a stack of label counts, one run for each subtree: the runs of a node's children are its table without the zeros.
    """
    n = len(place)
    sizes_1, sizes_2 = np.diff(offset_1) - 1, np.diff(offset_2) - 1
    same, different = 0, 0
    if not (sizes_1 > 2).any():
        return same, different
    most_1, most_2 = sizes_1.max() + 1, sizes_2.max() + 1
    label = np.full(n, -1, dtype=np.int64)
    before = np.zeros((n + 1, 2), dtype=np.int64)
    for p in range(n):
        before[p + 1, 0] = before[p, 0] + weight[p]
        before[p + 1, 1] = before[p, 1] + weight[p] * weight[p]
    stack = np.empty((n, 3), dtype=np.int64)  # label, weight, squared weight
    run = np.zeros(n + 1, dtype=np.int64)  # where on the stack the subtree that starts at a position begins
    spot = np.full(most_1, -1, dtype=np.int64)
    rows = np.empty((most_1, 6), dtype=np.int64)
    columns = np.empty((most_2, 6), dtype=np.int64)
    cells = np.empty((n + most_1 + most_2, 4), dtype=np.int64)  # row, column, weight, squared weight
    by_line = np.empty((2, n + most_1 + most_2), dtype=np.int64)
    line_start = np.empty((2, max(most_1, most_2) + 1), dtype=np.int64)
    gram = np.zeros(max(min(most_1, most_2), SMALL * SMALL), dtype=np.int64)
    for u in range(len(sizes_1)):
        if sizes_1[u] < 3:
            continue
        branch = bound_1[offset_1[u] : offset_1[u + 1]]
        d = len(branch) - 1
        mass = 0
        for i in range(d):
            rows[i, 0], rows[i, 1] = 0, 0
            for p in range(branch[i], branch[i + 1]):
                label[place[p]] = i
                rows[i, 0] += weight[place[p]]
                rows[i, 1] += weight[place[p]] ** 2
            mass += rows[i, 1]
        top, reached = 0, 0
        for v in range(len(sizes_2)):
            child = bound_2[offset_2[v] : offset_2[v + 1]]
            while reached < child[-1]:
                run[reached] = top
                if label[reached] >= 0:
                    stack[top, 0] = label[reached]
                    stack[top, 1] = weight[reached]
                    stack[top, 2] = weight[reached] ** 2
                    top += 1
                reached += 1
            run[reached] = top
            base = run[child[0]]
            if top == base:
                continue
            filled = 0
            for j in range(len(child) - 1):
                filled += run[child[j + 1]] > run[child[j]]
            here = 0
            for t in range(base, top):
                here += stack[t, 2]
            if here == mass and filled == 1:
                break  # all of u's leaves below one child of v: nothing here, nor at any later node
            if sizes_2[v] == 2 or not binary_only:
                count = _fill_table(stack, run, child, d, before, rows, columns, cells)
                k, r = _table_counts(cells[:count], rows[: d + 1], columns[: len(child)], by_line, line_start, gram)
                same += k
                different += r
            if here == mass:
                break
            if filled > 1:
                top = _merge(stack, base, top, spot)
        for p in range(branch[0], branch[d]):
            label[place[p]] = -1
    return same, different


@njit(cache=True)
def _merge(stack, base, top, spot):  # type: ignore[no-untyped-def]
    """Add up the entries of one label in ``stack[base:top]``; returns the new top."""
    end = base
    for t in range(base, top):
        name = stack[t, 0]
        if spot[name] < 0:
            spot[name] = end
            stack[end] = stack[t]
            end += 1
        else:
            stack[spot[name], 1] += stack[t, 1]
            stack[spot[name], 2] += stack[t, 2]
    for t in range(base, end):
        spot[stack[t, 0]] = -1
    return end


@njit(cache=True)
def _fill_table(stack, run, child, d, before, rows, columns, cells):  # type: ignore[no-untyped-def]
    """List the cells of the table of a node pair that hold leaves, and set its row and column sums.

    ``rows[:d, :2]`` holds the weights and squared weights of the rows already; the last row and column lie above.
    """
    e = len(child) - 1
    for i in range(d):
        rows[i, 2] = rows[i, 0]
        rows[i, 3] = rows[i, 1]
    rows[d, 0], rows[d, 1] = before[-1, 0], before[-1, 1]
    for i in range(d):
        rows[d, 0] -= rows[i, 0]
        rows[d, 1] -= rows[i, 1]
    count = 0
    left, left_q = rows[d, 0], rows[d, 1]
    for j in range(e):
        x = before[child[j + 1], 0] - before[child[j], 0]
        q = before[child[j + 1], 1] - before[child[j], 1]
        columns[j, 0], columns[j, 1] = x, q
        for t in range(run[child[j]], run[child[j + 1]]):
            i = stack[t, 0]
            cells[count, 0], cells[count, 1], cells[count, 2], cells[count, 3] = i, j, stack[t, 1], stack[t, 2]
            count += 1
            rows[i, 2] -= stack[t, 1]
            rows[i, 3] -= stack[t, 2]
            x -= stack[t, 1]
            q -= stack[t, 2]
        if q:
            cells[count, 0], cells[count, 1], cells[count, 2], cells[count, 3] = d, j, x, q
            count += 1
            left -= x
            left_q -= q
    columns[e, 0] = before[-1, 0] - before[child[-1], 0] + before[child[0], 0]
    columns[e, 1] = before[-1, 1] - before[child[-1], 1] + before[child[0], 1]
    rows[d, 2], rows[d, 3] = left, left_q
    for i in range(d + 1):
        if rows[i, 3]:
            cells[count, 0], cells[count, 1], cells[count, 2], cells[count, 3] = i, e, rows[i, 2], rows[i, 3]
            count += 1
    return count


@njit(cache=True)
def _table_counts(cells, rows, columns, by_line, line_start, gram):  # type: ignore[no-untyped-def]
    """Four times both counts for one node pair, in time proportional to the cells (but for the four-cycles).

    Entry 0 of ``rows`` and ``columns`` is the line's sum; entries 4 and 5 become the sum of its cells, each times the
    sum of the line across, and the sum of its squared cells. Four-cycles are what is left of the products that make up
    the second count: two rows and two columns with leaves at all four crossings.
    """
    rows[:, 4:] = 0
    columns[:, 4:] = 0
    total, squares, row_squares, column_squares, cycles = 0, 0, 0, 0, 0
    for t in range(len(cells)):
        i, j, x = cells[t, 0], cells[t, 1], cells[t, 2]
        rows[i, 4] += x * columns[j, 0]
        rows[i, 5] += x * x
        columns[j, 4] += x * rows[i, 0]
        columns[j, 5] += x * x
        squares += x * x
        cycles += x**4
    for i in range(len(rows)):
        total += rows[i, 0]
        row_squares += rows[i, 0] ** 2
        cycles -= rows[i, 5] ** 2
    for j in range(len(columns)):
        column_squares += columns[j, 0] ** 2
        cycles -= columns[j, 5] ** 2
    same, different = 0, 0
    for t in range(len(cells)):
        i, j, x, q = cells[t, 0], cells[t, 1], cells[t, 2], cells[t, 3]
        a, b = rows[i, 0] - x, columns[j, 0] - x
        rest = total - rows[i, 0] - columns[j, 0] + x
        if x * x != q:
            apart = (  # twice the pairs of leaves outside row i and column j, in different rows and columns
                rest * rest
                - (row_squares - 2 * columns[j, 4] + columns[j, 5] - a * a)
                - (column_squares - 2 * rows[i, 4] + rows[i, 5] - b * b)
                + (squares - rows[i, 5] - columns[j, 5] + x * x)
            )
            same += (x * x - q) * (apart // 2)
        different += x * (
            a * b * rest
            - a * (columns[j, 4] - x * rows[i, 0] - columns[j, 5] + x * x)
            - b * (rows[i, 4] - x * columns[j, 0] - rows[i, 5] + x * x)
        )
    return same, different + cycles + _gram_squares(cells, len(rows), len(columns), by_line, line_start, gram)


@njit(cache=True)
def _gram_squares(cells, n_rows, n_columns, by_line, line_start, gram):  # type: ignore[no-untyped-def]
    """The squared Frobenius norm of table times its transpose, formed on the side that has fewer lines."""
    norm = 0
    if n_rows <= SMALL:  # the cells come column by column
        begin = 0
        for t in range(len(cells)):
            if cells[t, 1] != cells[begin, 1]:
                begin = t
            i, x = cells[t, 0], cells[t, 2]
            for s in range(begin, t):
                gram[i * SMALL + cells[s, 0]] += x * cells[s, 2]
            gram[i * SMALL + i] += x * x
        for i in range(n_rows):
            for j in range(i):
                norm += 2 * (gram[i * SMALL + j] + gram[j * SMALL + i]) ** 2
                gram[i * SMALL + j] = 0
                gram[j * SMALL + i] = 0
            norm += gram[i * SMALL + i] ** 2
            gram[i * SMALL + i] = 0
        return norm
    few = 0 if n_rows <= n_columns else 1
    for side in range(2):
        start = line_start[side]
        n_lines = n_rows if side == 0 else n_columns
        start[: n_lines + 1] = 0
        for t in range(len(cells)):
            start[cells[t, side] + 1] += 1
        for i in range(n_lines):
            start[i + 1] += start[i]
        for t in range(len(cells)):
            by_line[side, start[cells[t, side]]] = t
            start[cells[t, side]] += 1
        for i in range(n_lines, 0, -1):
            start[i] = start[i - 1]
        start[0] = 0
    many = 1 - few
    n_few = min(n_rows, n_columns)
    for i in range(n_few):
        for s in range(line_start[few, i], line_start[few, i + 1]):
            t = by_line[few, s]
            across = cells[t, many]
            for r in range(line_start[many, across], line_start[many, across + 1]):
                other = by_line[many, r]
                gram[cells[other, few]] += cells[t, 2] * cells[other, 2]
        for j in range(n_few):
            norm += gram[j] ** 2
            gram[j] = 0
    return norm
