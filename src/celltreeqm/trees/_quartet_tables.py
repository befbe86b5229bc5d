"""Counting quartets at pairs of nodes of any degree: tables of shared leaves without their zeros, compiled.

See :mod:`celltreeqm.trees._quartet_kernels` for what is counted.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["polytomy_pairs"]

SMALL = 8  # tables with no more rows form all products of rows in one small square


@njit(cache=True)
def polytomy_pairs(offset_1, bound_1, offset_2, bound_2, place, weight, binary_only):  # type: ignore[no-untyped-def]
    """The counts over pairs of a node of three or more children in the first tree and any (or any of two) in the other.

    For each such node the leaves are labelled by its children, and the second tree's nodes are visited in post-order
    with a stack of label counts, one run for each subtree: the runs of a node's children are its table, zeros left out.
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
