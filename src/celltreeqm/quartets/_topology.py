"""The topology of given quartets: by distances, from the four-point sums, or in a tree, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from celltreeqm.trees import Tree
from celltreeqm.trees._splits import leaf_intervals
from celltreeqm.trees._tree_checks import as_numbers, check_tree

from ._prior_rows import leaves_of, rows_of
from ._quartets import checked_quartets

__all__ = ["TopologyLookup", "quartet_topology", "quartet_topology_in"]

_ASYMMETRY = 1e-3  # of the largest sum: far more than arithmetic in float32 leaves behind


def quartet_topology(distances: ArrayLike, quartets: ArrayLike, *, tolerance: float = 1e-9) -> NDArray[np.int8]:
    """The topology of quartets by the four-point condition.

    Of the three sums of a quartet a, b, c, d

        D_ab + D_cd,    D_ac + D_bd,    D_ad + D_bc

    the smallest names the topology: 0 (ab|cd), 1 (ac|bd), 2 (ad|bc). In an additive matrix the two others are equal and
    larger by twice the length of the path between the pairs; where a tree does not resolve the quartet all are equal.

    Parameters
    ----------
    distances
        float[n, n], symmetric.
    quartets
        int[q, 4], four different row numbers a quartet.
    tolerance
        The smallest sum must be below the second by more than this fraction of the largest for the quartet to count as
        resolved. The default is above the rounding of float64 and below any branch worth the name; for float32
        distances take 1e-5, and 0 to call only exact ties unresolved.

    Returns
    -------
    int8[q]
        0, 1 or 2; -1 where the quartet is unresolved.

    Raises
    ------
    ValueError
        If the matrix is not square, a quartet names a leaf twice or one that is not there, or a distance in one of the
        quartets is not finite, or not the same both ways.

    Examples
    --------
    >>> from celltreeqm.trees import Tree
    >>> tree = Tree([4, 5, 4, 5, 6, 6, -1], ["a", "b", "c", "d"])
    >>> quartet_topology(tree.distances(by="topology"), [[0, 1, 2, 3]])
    array([1], dtype=int8)
    """
    floats = getattr(distances, "dtype", None) in (np.float64, np.float32)
    if floats and isinstance(distances, np.ndarray) and not isinstance(distances, np.ma.MaskedArray):
        matrix = np.asarray(distances)  # no copy
    else:
        matrix = as_numbers(distances, "The distances")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"The distances have shape {matrix.shape}; a square matrix, leaves by leaves, was needed.")
    if not (isinstance(tolerance, Real) and tolerance >= 0):
        raise ValueError(f"tolerance={tolerance!r} was given; a fraction of the largest sum, 0 or more, was needed.")
    numbers = checked_quartets(quartets, len(matrix))
    topology, bad = _four_point(matrix, numbers, float(tolerance))
    if bad >= 0:
        ways = matrix[np.ix_(numbers[bad], numbers[bad])]
        if np.isfinite(ways).all():
            raise ValueError(
                f"Quartet {bad}, {numbers[bad].tolist()}, holds distances that are not the same both ways. Symmetrise "
                "them first, for instance with (D + D.T) / 2."
            )
        raise ValueError(
            f"Quartet {bad}, {numbers[bad].tolist()}, holds a distance that is not finite. Fill or drop such leaves."
        )
    return topology


def quartet_topology_in(tree: Tree, quartets: ArrayLike, *, leaves: Sequence[str] | None = None) -> NDArray[np.int8]:
    """The topology that a tree gives to quartets, exactly, whatever its branch lengths.

    Two pairs are together where their last common ancestors are deepest: the largest of the three sums of depths, in
    whole steps, names the topology. O(n log n) to prepare, then O(1) a quartet.

    Parameters
    ----------
    tree
        Rooted or not; the root does not matter.
    quartets
        int[q, 4], four different leaf numbers of the tree, or, where ``leaves`` is given, row numbers in it.
    leaves
        The names of the rows that the quartets number. A tree need not have all of them.

    Returns
    -------
    int8[q]
        0 (ab|cd), 1 (ac|bd), 2 (ad|bc); -1 where the tree does not resolve the quartet or lacks one of its leaves.

    Examples
    --------
    >>> tree = Tree([4, 5, 4, 5, 6, 6, -1], ["a", "b", "c", "d"])
    >>> quartet_topology_in(tree, [[0, 1, 2, 3]])
    array([1], dtype=int8)
    >>> quartet_topology_in(tree, [[4, 3, 1, 0], [0, 1, 2, 3]], leaves=["a", "b", "x", "c", "d"])
    array([ 1, -1], dtype=int8)
    """
    check_tree(tree)
    names = leaves_of([tree], leaves)
    return TopologyLookup(tree, names).topology(checked_quartets(quartets, len(names)))


class TopologyLookup:
    """A tree prepared for :func:`quartet_topology_in`: quartets number the rows that ``leaves`` names."""

    def __init__(self, tree: Tree, leaves: Sequence[str]) -> None:
        order, start, _ = leaf_intervals(tree)
        parent = tree.parent.tolist()
        depth = [0] * tree.n_nodes
        for node in range(tree.n_nodes - 2, -1, -1):
            depth[node] = depth[parent[node]] + 1
        # The last common ancestor of neighbours in the order is where a node that is no first child begins.
        later = np.flatnonzero(start[:-1] != start[tree.parent[:-1]])
        step = np.zeros(max(1, tree.n_leaves - 1), dtype=np.int32)
        step[start[later] - 1] = np.array(depth, dtype=np.int32)[tree.parent[later]]
        levels = [step]
        while (width := 1 << (len(levels) - 1)) * 2 <= len(step):
            last = levels[-1]
            levels.append(np.append(np.minimum(last[:-width], last[width:]), last[-width:]))
        self._shallowest = np.stack(levels)
        self._place = np.full(len(leaves), -1, dtype=np.int64)
        here = rows_of(tree, leaves)[order]
        self._place[here[here >= 0]] = np.flatnonzero(here >= 0)
        self._log = np.array([max(0, x.bit_length() - 1) for x in range(len(step) + 1)], dtype=np.int64)

    def topology(self, quartets: NDArray[np.int32]) -> NDArray[np.int8]:
        """int8[q], see :func:`quartet_topology_in`; the quartets are trusted."""
        out: NDArray[np.int8] = _topology_by_depth(quartets, self._place, self._shallowest, self._log)
        return out


@njit(cache=True)
def _four_point(distances, quartets, tolerance):  # type: ignore[no-untyped-def]
    out = np.empty(len(quartets), dtype=np.int8)
    for x in range(len(quartets)):
        a, b, c, d = quartets[x, 0], quartets[x, 1], quartets[x, 2], quartets[x, 3]
        first = distances[a, b] + distances[c, d]
        second = distances[a, c] + distances[b, d]
        third = distances[a, d] + distances[b, c]
        back = distances[b, a] + distances[d, c], distances[c, a] + distances[d, b], distances[d, a] + distances[c, b]
        apart = max(abs(first - back[0]), abs(second - back[1]), abs(third - back[2]))
        finite = np.isfinite(first + second + third + back[0] + back[1] + back[2])
        if not finite or apart > _ASYMMETRY * max(abs(first), abs(second), abs(third)):
            return out, x
        least = min(first, second, third)
        most = max(first, second, third)
        middle = max(min(first, second), min(max(first, second), third))
        if not middle - least > tolerance * most:
            out[x] = -1
        elif least == first:
            out[x] = 0
        elif least == second:
            out[x] = 1
        else:
            out[x] = 2
    return out, -1


@njit(cache=True)
def _topology_by_depth(quartets, place, shallowest, log):  # type: ignore[no-untyped-def]
    out = np.empty(len(quartets), dtype=np.int8)
    at = np.empty(4, dtype=np.int64)
    slot = np.empty(4, dtype=np.int64)
    gap = np.empty(3, dtype=np.int64)
    for x in range(len(quartets)):
        out[x] = -1
        complete = True
        for i in range(4):  # insertion sort by place
            here = place[quartets[x, i]]
            complete = complete and here >= 0
            j = i
            while j > 0 and at[j - 1] > here:
                at[j], slot[j] = at[j - 1], slot[j - 1]
                j -= 1
            at[j], slot[j] = here, i
        if not complete:
            continue
        for i in range(3):  # depth of the last common ancestor of each two neighbours
            level = log[at[i + 1] - at[i]]
            gap[i] = min(shallowest[level, at[i]], shallowest[level, at[i + 1] - (1 << level)])
        outer = gap[0] + gap[2]  # first with second, third with fourth
        inner = gap[1] + min(gap[0], gap[1], gap[2])  # second with third; first with third is never together alone
        # Slots 0 to 3 stand for a to d; both pairs of a topology have the same exclusive or, 1, 2 or 3.
        if outer > inner:
            out[x] = (slot[0] ^ slot[1]) - 1
        elif inner > outer:
            out[x] = (slot[1] ^ slot[2]) - 1
    return out
