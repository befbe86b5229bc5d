"""Joining clusters two by two until a tree stands: the one engine behind every builder, with or without a prior.

A builder is a rule for which two clusters to join next and for the distances to the union. Neighbour joining takes the
pair with the least d(s, x) - u_s - u_x. The engine finds it exactly without looking at every pair: each cluster s keeps
the ``_NEAREST`` partners x that had the least d(s, x) - u_x when its list was made. Since then no u has grown by more
than the largest growths of all steps added up, the *drift*; so a partner further down the list, or not on it, cannot be
better than its value then less the drift. Most clusters are passed over by one comparison; where a list runs out, the
row is looked through once and the list is made anew. For the other rules u is zero: the lists hold the nearest. Ties
go to the pair with the lowest leaves, so the tree is a function of the distances and the leaf order alone.

Pairs that a prior forbids are left out of the lists. That a pair is allowed is settled when the younger of its clusters
comes into being and never changes for the better, so every pair is listed once, with the younger.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ._constraints import Constraints, contract
from ._tree import Tree

__all__ = ["Joins", "join_clusters"]

Rule = Literal["neighbor joining", "average", "ward"]
_RULES: dict[Rule, int] = {"neighbor joining": 0, "average": 1, "ward": 2}
_NEAREST = 32


@dataclass(frozen=True)
class Joins:
    """What was joined, in order: clusters are numbered as scipy's linkage numbers them, leaves first.

    Attributes
    ----------
    pairs
        int64[t, 2], the two clusters of each join.
    distance
        float[t], the distance between them at that moment.
    lengths
        float[t, 2], neighbour joining's lengths of the two new edges (zeros for the other rules).
    left
        The clusters that remain: three for neighbour joining (with their lengths), one for the others.
    left_lengths
        float, the lengths of the edges above those that remain.
    """

    pairs: NDArray[np.int64]
    distance: NDArray[np.float64]
    lengths: NDArray[np.float64]
    left: tuple[int, ...]
    left_lengths: NDArray[np.float64]


def join_clusters(distances: NDArray[np.float64], leaves: Sequence[str], priors: Sequence[Tree], rule: Rule) -> Joins:
    """Join clusters by a rule until three remain (neighbour joining) or one, displaying every prior tree.

    Overwrites ``distances``. Raises ValueError where no way is found to display three or more overlapping priors.
    """
    n = len(distances)
    kind = _RULES[rule]
    if kind == 2:
        np.square(distances, out=distances)
    constraints = Constraints(priors, leaves)
    careful = constraints.needs_care
    stop = 3 if kind == 0 else 1
    steps = max(n - stop, 0)
    active = np.arange(n)
    clusters = (
        kind,
        distances,
        constraints.attached,
        np.zeros((n, n) if careful else (1, 1), dtype=np.bool_),  # forbidden pairs
        careful,
        np.arange(n),  # the number of the cluster in each slot
        np.append(np.arange(n), np.full(n, -1)),  # and the slot of each cluster
        np.ones(n),  # its size
        np.arange(n),  # its lowest leaf
        distances.sum(axis=1) if kind == 0 else np.zeros(n),  # the sum of its distances
        np.zeros(n),  # its mean, u
    )
    lists = (
        np.empty((n, _NEAREST), dtype=np.int64),  # the nearest partners of each slot, by number
        np.empty((n, _NEAREST)),  # their d - u when they were listed
        np.zeros(n, dtype=np.int64),  # how many are listed
        np.zeros(n, dtype=np.int64),  # the first that may be alive
        np.zeros(n, dtype=np.bool_),  # whether all are listed
        np.zeros(n),  # the drift when they were listed
        np.zeros(2),  # the drift now; how much rounding may hide
    )
    pairs = np.zeros((steps, 2), dtype=np.int64)
    height, lengths = np.zeros(steps), np.zeros((steps, 2))
    _list_all(active, clusters, lists)
    if not careful:
        done = _join_all(active, constraints.counts, pairs, height, lengths, clusters, lists)
        assert done == steps, "a single prior tree always leaves a pair to join"
        active = active[: n - steps]
    else:
        forbidden = clusters[3]
        for t in range(steps):
            while True:
                a, b = _best_pair(active, clusters, lists)
                if a < 0:
                    if not constraints.allow_the_way(forbidden):
                        raise AssertionError("priors that were let in always leave a pair to join")
                    for s in active:
                        _list_nearest(s, active, clusters, lists)
                elif constraints.may_join(a, b):
                    break
                else:
                    forbidden[a, b] = forbidden[b, a] = True
            constraints.join(a, b)
            active = active[active != b]
            _join(a, b, t, active, pairs, height, lengths, clusters, lists)
    left = tuple(clusters[5][active].tolist())
    last = np.zeros(len(left))
    if len(left) == 3:
        x, y, z = active
        xy, xz, yz = distances[x, y], distances[x, z], distances[y, z]
        last = np.array([xy + xz - yz, xy + yz - xz, xz + yz - xy]) / 2
    elif len(left) == 2:
        last = np.full(2, distances[active[0], active[1]] / 2)
    return Joins(pairs, np.sqrt(np.maximum(height, 0.0)) if kind == 2 else height, lengths, left, last)


@njit(cache=True)
def _join_all(active, counts, pairs, height, lengths, clusters, lists):  # type: ignore[no-untyped-def]
    r = len(active)
    for t in range(len(pairs)):
        a, b = _best_pair(active[:r], clusters, lists)
        if a < 0:
            return t
        contract(clusters[2], counts, a, b)
        place = np.searchsorted(active[:r], b)
        for k in range(place, r - 1):
            active[k] = active[k + 1]
        r -= 1
        _join(a, b, t, active[:r], pairs, height, lengths, clusters, lists)
    return len(pairs)


@njit(cache=True)
def _allowed(s, x, attached, forbidden, careful):  # type: ignore[no-untyped-def]
    for p in range(attached.shape[0]):
        if attached[p, s] >= 0 and attached[p, x] >= 0 and attached[p, s] != attached[p, x]:
            return False
    return not (careful and forbidden[s, x])


@njit(cache=True)
def _list_all(active, clusters, lists):  # type: ignore[no-untyped-def]
    distances = clusters[1]
    largest = 0.0
    for s in active:
        for x in active:
            largest = max(largest, distances[s, x])
    lists[6][1] = 1e-12 * largest
    _update_means(active, clusters, lists)
    for s in active:
        _list_nearest(s, active, clusters, lists)


@njit(cache=True)
def _update_means(active, clusters, lists):  # type: ignore[no-untyped-def]
    """Neighbour joining's u for the clusters that are left, and the drift."""
    kind, total, u = clusters[0], clusters[9], clusters[10]
    rest = len(active) - 2
    if kind == 0 and rest > 0:
        growth = 0.0
        for s in active:
            now = total[s] / rest
            growth = max(growth, now - u[s])
            u[s] = now
        lists[6][0] += growth


@njit(cache=True)
def _list_nearest(s, active, clusters, lists):  # type: ignore[no-untyped-def]
    """List the older partners of slot s with the least d - u."""
    _, distances, attached, forbidden, careful, number, _, _, _, _, u = clusters
    near, value, count, first, complete, since, drift = lists
    most = near.shape[1]
    row, keys, names = distances[s], value[s], near[s]
    k = 0
    seen = 0
    for x in active:
        if number[x] < number[s] and _allowed(s, x, attached, forbidden, careful):
            seen += 1
            key = row[x] - u[x]
            if k == most:
                if key >= keys[k - 1]:
                    continue
                k -= 1
            place = k
            while place > 0 and keys[place - 1] > key:
                keys[place], names[place] = keys[place - 1], names[place - 1]
                place -= 1
            keys[place], names[place] = key, number[x]
            k += 1
    count[s] = k
    first[s] = 0
    complete[s] = seen == k
    since[s] = drift[0]


@njit(cache=True)
def _better(q, s, x, best, a, b, lowest):  # type: ignore[no-untyped-def]
    if q != best or a < 0:
        return q < best
    low, high = min(lowest[s], lowest[x]), max(lowest[s], lowest[x])
    best_low, best_high = min(lowest[a], lowest[b]), max(lowest[a], lowest[b])
    return low < best_low or (low == best_low and high < best_high)


@njit(cache=True)
def _best_pair(active, clusters, lists):  # type: ignore[no-untyped-def]
    """The pair with the least d - (u_a + u_b); -1s if no pair is allowed."""
    _, distances, attached, forbidden, careful, number, slot, _, lowest, _, u = clusters
    near, value, count, first, complete, since, drift = lists
    best = np.inf
    a = b = -1
    for s in active:
        lost = u[s] + (drift[0] - since[s]) + drift[1]
        k = first[s]
        if k < count[s] and value[s, k] - lost > best:
            continue
        beaten = False
        while k < count[s]:
            x = slot[near[s, k]]
            if x < 0 or (careful and forbidden[s, x]):
                if k == first[s]:
                    first[s] = k + 1
                k += 1
                continue
            if value[s, k] - lost > best:
                beaten = True
                break
            q = distances[s, x] - (u[s] + u[x])
            if _better(q, s, x, best, a, b, lowest):
                best, a, b = q, s, x
            k += 1
        if beaten or complete[s] or value[s, count[s] - 1] - lost > best:
            continue
        for x in active:
            if number[x] < number[s] and _allowed(s, x, attached, forbidden, careful):
                q = distances[s, x] - (u[s] + u[x])
                if _better(q, s, x, best, a, b, lowest):
                    best, a, b = q, s, x
        _list_nearest(s, active, clusters, lists)
    return a, b


@njit(cache=True)
def _join(a, b, t, active, pairs, height, lengths, clusters, lists):  # type: ignore[no-untyped-def]
    """Let slot a hold the union, with its distances to all others, and list its nearest partners."""
    kind, distances, _, forbidden, careful, number, slot, size, lowest, total, u = clusters
    d = distances[a, b]
    pairs[t, 0], pairs[t, 1] = number[a], number[b]
    height[t] = d
    if kind == 0:
        lengths[t, 0], lengths[t, 1] = 0.5 * (d + u[a] - u[b]), 0.5 * (d - u[a] + u[b])
    sum_a = 0.0
    for x in active:
        if x == a:
            continue
        ax, bx = distances[a, x], distances[b, x]
        if kind == 0:
            new = 0.5 * (ax + bx - d)
            total[x] += new - ax - bx
            sum_a += new
        elif kind == 1:
            new = (size[a] * ax + size[b] * bx) / (size[a] + size[b])
        else:
            new = ((size[a] + size[x]) * ax + (size[b] + size[x]) * bx - size[x] * d) / (size[a] + size[b] + size[x])
        distances[a, x] = new
        distances[x, a] = new
        if careful:
            forbidden[a, x] = False
            forbidden[x, a] = False
    total[a] = sum_a
    size[a] += size[b]
    lowest[a] = min(lowest[a], lowest[b])
    slot[number[a]] = -1
    slot[number[b]] = -1
    number[a] = len(number) + t
    slot[number[a]] = a
    if kind == 0:
        u[a] = np.inf  # that the union's mean is not what cluster a's was is no growth
    _update_means(active, clusters, lists)
    _list_nearest(a, active, clusters, lists)
