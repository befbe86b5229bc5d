"""The ``Quartets`` value: which four leaves, and which two pairs of them are together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

__all__ = ["Quartets", "checked_quartets"]


@dataclass(frozen=True, eq=False, repr=False)
class Quartets:
    """Resolved quartets as two read-only arrays.

    A quartet ``a, b, c, d`` has one of three topologies, the paper's three ways to sum its distances:
    0 is ``ab|cd``, 1 is ``ac|bd`` and 2 is ``ad|bc``.

    Parameters
    ----------
    leaves
        int[q, 4], four different row numbers a quartet. What row they number is for the maker to say: the leaf order of
        :class:`KnownQuartets`, the rows of a matrix. They are kept as int32.
    topology
        int8[q], 0, 1 or 2.

    Examples
    --------
    >>> quartets = Quartets([[0, 1, 2, 3], [0, 4, 1, 2]], [0, 2])
    >>> quartets
    Quartets(2: 1 ab|cd, 0 ac|bd, 1 ad|bc)
    >>> len(quartets)
    2
    """

    leaves: NDArray[np.int32]
    topology: NDArray[np.int8]

    def __init__(self, leaves: ArrayLike, topology: ArrayLike) -> None:
        numbers = checked_quartets(leaves)
        given = np.asarray(topology)
        if given.shape != (len(numbers),):
            raise ValueError(
                f"topology has shape {given.shape} for {len(numbers)} quartets; one value a quartet was needed: "
                f"({len(numbers)},)."
            )
        if given.size and not (np.issubdtype(given.dtype, np.integer) and 0 <= given.min() and given.max() <= 2):
            raise ValueError(
                "topology holds values other than 0 (ab|cd), 1 (ac|bd) and 2 (ad|bc). Drop unresolved quartets first."
            )
        object.__setattr__(self, "leaves", _frozen(numbers, leaves))
        object.__setattr__(self, "topology", _frozen(given.astype(np.int8, copy=False), topology))

    def __len__(self) -> int:
        return len(self.topology)

    def __repr__(self) -> str:
        ab, ac, ad = np.bincount(self.topology, minlength=3).tolist()
        return f"Quartets({len(self):,}: {ab:,} ab|cd, {ac:,} ac|bd, {ad:,} ad|bc)"


def checked_quartets(quartets: ArrayLike, n: int | None = None) -> NDArray[np.int32]:
    """int32[q, 4] of four different numbers from 0 to ``n - 1`` a row; a ValueError says what is wrong instead."""
    try:
        given = np.asarray(quartets)
    except ValueError as problem:
        raise ValueError(f"The quartets cannot be read as rows of four leaf numbers: {problem}.") from None
    if given.shape in ((0,), (0, 4)):
        given = np.empty((0, 4), dtype=np.int32)
    if given.ndim != 2 or given.shape[1] != 4 or not np.issubdtype(given.dtype, np.integer):
        raise ValueError(
            f"The quartets have shape {given.shape} and dtype {given.dtype}; an array of ints [q, 4] was needed, "
            "four leaf numbers a row."
        )
    most = np.iinfo(np.int32).max if n is None else n - 1
    row = _first_bad_row(given, most)
    if row >= 0:
        shown = given[row].tolist()
        if len(set(shown)) < 4:
            raise ValueError(f"Quartet {row} is {shown}; its four leaves must differ.")
        raise ValueError(f"Quartet {row} is {shown}; leaf numbers from 0 to {most} were needed.")
    return given.astype(np.int32, copy=False)


def _frozen(array: NDArray, given: ArrayLike) -> NDArray:  # type: ignore[type-arg]
    """The array itself, read-only, or a copy of it where somebody else could still write to it."""
    shared = isinstance(given, np.ndarray) and np.may_share_memory(array, given)
    if shared and (array.flags.writeable or isinstance(array.base, np.ndarray)):
        array = array.copy()
    array.flags.writeable = False
    return array


@njit(cache=True)
def _first_bad_row(quartets, most):  # type: ignore[no-untyped-def]
    for row in range(len(quartets)):
        a, b, c, d = quartets[row, 0], quartets[row, 1], quartets[row, 2], quartets[row, 3]
        if min(a, b, c, d) < 0 or max(a, b, c, d) > most:
            return row
        if a in (b, c, d) or b in (c, d) or c == d:
            return row
    return -1
