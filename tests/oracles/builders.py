"""Textbook neighbour joining and UPGMA, in cubic time and plain Python."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from numpy.typing import ArrayLike

from celltreeqm.trees import Tree


def neighbor_joining(distances: ArrayLike, leaves: Sequence[str]) -> Tree:
    """Saitou and Nei's method with Studier and Keppler's criterion; unrooted, negative lengths are kept.

    The pair with the lowest ``(r - 2) d(i, j) - sum_k d(i, k) - sum_k d(j, k)`` of the r nodes that are left is joined;
    of equal pairs the one with the lowest numbers, where joined nodes are numbered on from the leaves. Two leaves meet
    at a root half-way; of three or more the last three meet at the root.
    """
    d, n = _as_dict(distances, len(leaves))
    parent, lengths, left = [-1] * n, [0.0] * n, list(range(n))

    def join(children: dict[int, float]) -> int:
        new = len(parent)
        parent.append(-1)
        lengths.append(0.0)
        for child, length in children.items():
            parent[child], lengths[child] = new, length
            left.remove(child)
        left.append(new)
        return new

    while len(left) > 3:
        r = len(left)
        total = {i: sum(d[i, k] for k in left) for i in left}
        i, j = min(combinations(left, 2), key=lambda pair: ((r - 2) * d[pair] - total[pair[0]] - total[pair[1]], pair))
        length = d[i, j] / 2 + (total[i] - total[j]) / (2 * (r - 2))
        new = join({i: length, j: d[i, j] - length})
        for k in left:
            d[new, k] = d[k, new] = (d[i, k] + d[j, k] - d[i, j]) / 2 if k != new else 0.0
    if len(left) == 3:
        a, b, c = left
        join(
            {
                a: (d[a, b] + d[a, c] - d[b, c]) / 2,
                b: (d[a, b] + d[b, c] - d[a, c]) / 2,
                c: (d[a, c] + d[b, c] - d[a, b]) / 2,
            }
        )
    elif len(left) == 2:
        join({0: d[0, 1] / 2, 1: d[0, 1] / 2})
    return Tree(parent, list(leaves), lengths)


def upgma(distances: ArrayLike, leaves: Sequence[str]) -> Tree:
    """Average linkage: the closest pair of clusters is joined at half its mean distance; rooted, ultrametric.

    Of equal pairs the one with the lowest numbers is joined, where joined clusters are numbered on from the leaves.
    """
    d, n = _as_dict(distances, len(leaves))
    parent, lengths, height = [-1] * n, [0.0] * n, [0.0] * n
    members = {i: [i] for i in range(n)}

    def mean(pair: tuple[int, int]) -> float:
        one, two = members[pair[0]], members[pair[1]]
        return sum(d[a, b] for a in one for b in two) / (len(one) * len(two))

    while len(members) > 1:
        i, j = min(combinations(sorted(members), 2), key=lambda pair: (mean(pair), pair))
        new, high = len(parent), mean((i, j)) / 2
        parent.append(-1)
        lengths.append(0.0)
        height.append(high)
        for child in (i, j):
            parent[child], lengths[child] = new, high - height[child]
        members[new] = members.pop(i) + members.pop(j)
    return Tree(parent, list(leaves), lengths, rooted=True)


def _as_dict(distances: ArrayLike, n: int) -> tuple[dict[tuple[int, int], float], int]:
    rows = [list(map(float, row)) for row in distances]  # type: ignore[union-attr]
    assert len(rows) == n
    return {(i, j): rows[i][j] for i in range(n) for j in range(n)}, n
