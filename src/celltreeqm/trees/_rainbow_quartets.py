"""Quartets of two trees that a third leaves unresolved, counted by colouring the leaves at its polytomies."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._quartet_distance import Numbered, QuartetAgreement
from ._quartet_kernels import count_quartets, leaf_layout

__all__ = ["unresolved_in_third"]

MOST_LEAVES = 40_000  # with leaves of weight 2 the counts must still fit into 63 bits


def unresolved_in_third(
    first: Numbered,
    second: Numbered,
    third: Numbered,
    among: NDArray[np.bool_],
    first_and_third: QuartetAgreement,
    second_and_third: QuartetAgreement,
) -> QuartetAgreement:
    r"""The agreement of two trees on the quartets of some leaves that a third tree leaves unresolved, whatever it says.

    Such a quartet has its leaves in four branches of one polytomy of the third tree: coloured by branch it is a
    rainbow. Let :math:`h_j(c)` count the quartets that two trees resolve alike (or differently) and that have j leaves
    of colour c, and :math:`h_{22}(c, d)` those with two of c and two of d. A quartet is a rainbow or repeats a colour:

    .. math:: \mathrm{rainbow} = \mathrm{all} - \sum_c \bigl(h_2(c) + h_3(c) + h_4(c)\bigr) + \sum_{c < d} h_{22}(c, d).

    The :math:`h_j(c)` are the coefficients of a polynomial in z: the number of quartets, each counted as the product of
    its leaves' weights, when leaves of colour c weigh z and all others 1. It is known from z = -1, 0, 1, 2 and from c
    alone. This takes two or three counts of two trees, of O(n^2) time each, for each branch of two leaves or more at
    each polytomy of the third tree, and two counts on c and d alone for each pair of them.

    Parameters
    ----------
    first, second, third
        The trees, with common leaf numbers.
    among
        bool[n], the leaves that count; all three trees have them.
    first_and_third, second_and_third
        Agreement of the first and of the second tree with the third on these leaves.

    Returns
    -------
    QuartetAgreement
        The counts for the first and second tree.
    """
    if among.sum() > MOST_LEAVES:
        raise ValueError(
            f"The prior has {among.sum()} leaves and neither the tree nor the truth displays it; quartets are then "
            f"counted by class for up to {MOST_LEAVES} leaves. Restrict it to some of them: prior.restrict(leaves)."
        )
    same, different = 0, 0
    total = _counts(first, second, among)
    for color in _colorings(third, among):
        alike, apart = _rainbows(first, second, color, total)
        same, different = same + alike, different + apart
    only_first = first_and_third.only_first - same - different
    only_second = second_and_third.only_first - same - different
    return QuartetAgreement(same, different, only_first, only_second, first_and_third.neither - only_second)


def _colorings(tree: Numbered, among: NDArray[np.bool_]) -> Iterator[NDArray[np.int64]]:
    """For each node with four or more branches the branch that each leaf is in, -1 for leaves that do not count."""
    order, offset, bound = leaf_layout(*tree, among.astype(np.int64))
    for i in range(len(offset) - 1):
        cuts = bound[offset[i] : offset[i + 1]]
        above = len(order) - (cuts[-1] - cuts[0])
        if len(cuts) - 1 + (above > 0) < 4:
            continue
        color = np.full(len(among), -1)
        color[order] = len(cuts) - 1
        color[order[cuts[0] : cuts[-1]]] = np.repeat(np.arange(len(cuts) - 1), np.diff(cuts))
        yield color


def _rainbows(first: Numbered, second: Numbered, color: NDArray[np.int64], total: NDArray[Any]) -> NDArray[Any]:
    """The quartets of four colours that two trees resolve alike and differently, given all such quartets."""
    inside = color >= 0
    sizes = np.bincount(color[inside])
    colors = np.flatnonzero(sizes > 1).tolist()
    alone = {c: _counts(first, second, color == c) for c in colors}
    rainbows = total
    for c in colors:
        none = _counts(first, second, inside & (color != c))
        minus = _counts(first, second, np.where(color == c, -1, inside))
        two = (total + minus) // 2 - none - alone[c]
        three = 0
        if sizes[c] > 2:
            double = _counts(first, second, np.where(color == c, 2, inside))
            one_and_four_threes = (double - none - 4 * two - 16 * alone[c]) // 2
            three = (one_and_four_threes - (total - minus) // 2) // 3
        rainbows = rainbows - two - three - alone[c]
    for c, d in combinations(colors, 2):
        both = (color == c) | (color == d)
        minus = _counts(first, second, np.where(color == d, -1, both))
        rainbows = rainbows + (_counts(first, second, both) + minus) // 2 - alone[c] - alone[d]
    return rainbows


def _counts(first: Numbered, second: Numbered, weights: NDArray[Any]) -> NDArray[Any]:
    """The quartets resolved alike and those resolved differently, each as the product of its leaves' weights."""
    four_same, four_different, _, _ = count_quartets(*first, *second, weights.astype(np.int64))
    return np.array([int(four_same) // 4, int(four_different) // 4], dtype=object)
