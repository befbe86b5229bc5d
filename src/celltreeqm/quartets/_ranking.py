"""Every quartet has a number: ranks of quartets, and all quartets in pieces."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from celltreeqm.trees._tree_checks import is_whole

from ._quartets import checked_quartets

__all__ = ["all_quartets", "rank_quartets", "unrank_quartets"]

MOST_LEAVES = 121_976  # C(n, 4) of more does not fit into int64


def unrank_quartets(ranks: ArrayLike, n: int) -> NDArray[np.int32]:
    """The quartets of n leaves with the given ranks, exact in whole numbers.

    The order is colexicographic: by the largest leaf first, then the second largest and so on, so that the rank of
    a < b < c < d is

        C(a, 1) + C(b, 2) + C(c, 3) + C(d, 4)

    and does not depend on n.

    Parameters
    ----------
    ranks
        int[q], from 0 to C(n, 4) - 1.
    n
        Number of leaves, at most 121,976.

    Returns
    -------
    int32[q, 4]
        Ascending leaf numbers.

    Examples
    --------
    >>> unrank_quartets([0, 1, 4, 14], 6)
    array([[0, 1, 2, 3],
           [0, 1, 2, 4],
           [1, 2, 3, 4],
           [2, 3, 4, 5]], dtype=int32)
    """
    size = _checked_size(n)
    given = np.asarray(ranks)
    if given.size == 0:
        given = given.astype(np.int64)
    if given.ndim != 1 or not np.issubdtype(given.dtype, np.integer):
        raise ValueError(f"The ranks have shape {given.shape} and dtype {given.dtype}; ints [q] were needed.")
    if given.size and not (0 <= int(given.min()) and int(given.max()) < comb(size, 4)):
        raise ValueError(
            f"The ranks go from {given.min()} to {given.max()}; {size} leaves have {comb(size, 4):,} quartets, "
            "numbered from 0."
        )
    out: NDArray[np.int32] = _unrank(given.astype(np.int64), _binomials(size))
    return out


def rank_quartets(quartets: ArrayLike) -> NDArray[np.int64]:
    """The ranks of quartets, the inverse of :func:`unrank_quartets`; the order within a quartet does not matter.

    Parameters
    ----------
    quartets
        int[q, 4], four different leaf numbers a quartet.

    Returns
    -------
    int64[q]

    Examples
    --------
    >>> rank_quartets([[0, 1, 2, 3], [5, 2, 4, 3]])
    array([ 0, 14])
    """
    ordered = np.sort(checked_quartets(quartets, MOST_LEAVES), axis=1)
    binomials = _binomials(int(ordered.max()) + 1 if len(ordered) else 0)
    ranks: NDArray[np.int64] = binomials[np.arange(1, 5), ordered].sum(axis=1)
    return ranks


def all_quartets(n: int, *, chunk: int = 1_000_000) -> Iterator[NDArray[np.int32]]:
    """All C(n, 4) quartets of n leaves in rank order, in arrays of at most ``chunk``.

    Parameters
    ----------
    n
        Number of leaves, at most 121,976.
    chunk
        The most quartets in one array.

    Yields
    ------
    int32[q, 4]
        Ascending leaf numbers.

    Examples
    --------
    >>> [len(piece) for piece in all_quartets(8, chunk=30)]
    [30, 30, 10]
    """
    if not is_whole(chunk) or chunk < 1:
        raise ValueError(f"chunk={chunk!r} was given; pieces of at least one quartet were needed.")
    binomials, total = _binomials(_checked_size(n)), comb(n, 4)
    return (_unrank(np.arange(at, min(at + chunk, total)), binomials) for at in range(0, total, chunk))


def _checked_size(n: int) -> int:
    if not is_whole(n) or not 0 <= n <= MOST_LEAVES:
        raise ValueError(f"n={n!r} was given; a number of leaves from 0 to {MOST_LEAVES:,} was needed.")
    return int(n)


def _binomials(n: int) -> NDArray[np.int64]:
    """int64[5, n + 1], C(x, k) in row k and column x."""
    table = np.ones((5, n + 1), dtype=np.int64)
    for k in range(1, 5):
        table[k, 0] = 0
        np.cumsum(table[k - 1, :-1], out=table[k, 1:])
    return table


@njit(cache=True)
def _unrank(ranks, binomials):  # type: ignore[no-untyped-def]
    out = np.empty((len(ranks), 4), dtype=np.int32)
    for x in range(len(ranks)):
        rank = ranks[x]
        for k in range(4, 0, -1):
            # A guess by the k-th root, put right in whole numbers: the largest leaf with C(leaf, k) <= rank.
            if k == 4:
                guess = np.sqrt(np.sqrt(24.0 * rank)) + 1.5
            elif k == 3:
                guess = np.cbrt(6.0 * rank) + 1.0
            elif k == 2:
                guess = np.sqrt(2.0 * rank) + 0.5
            else:
                guess = float(rank)
            leaf = min(max(np.int64(guess), k - 1), binomials.shape[1] - 1)
            while binomials[k, leaf] > rank:
                leaf -= 1
            while leaf + 1 < binomials.shape[1] and binomials[k, leaf + 1] <= rank:
                leaf += 1
            rank -= binomials[k, leaf]
            out[x, k - 1] = leaf
    return out
