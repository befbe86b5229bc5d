"""Distance matrices at the door: what every builder accepts, and the sentence it says when it cannot."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from ._tree_checks import as_numbers, checked_leaves

__all__ = ["check_distances"]

_ASYMMETRY = 1e-6  # relative to the largest entry: what float32 arithmetic leaves behind


def check_distances(distances: ArrayLike, leaves: Sequence[str] | None) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """A fresh, exactly symmetric float[n, n] copy of the distances, and the leaf names.

    Parameters
    ----------
    distances
        float[n, n]: finite, not negative, symmetric up to rounding, with a zero diagonal; nothing masked.
    leaves
        The n names of the rows; None takes them from the index where ``distances`` is a DataFrame.

    Raises
    ------
    ValueError
        With a sentence that names the first entry at fault.
    """
    if leaves is None:
        leaves = getattr(distances, "index", None) if hasattr(distances, "columns") else None
        if leaves is None:
            raise ValueError(
                "The distances came without leaf names. Pass leaves, one name a row, "
                "or a DataFrame that has them as its index."
            )
    names = checked_leaves(leaves)
    columns = getattr(distances, "columns", None)
    if columns is not None:
        _check_frame_names(names, tuple(getattr(distances, "index", ())), tuple(columns))
    work = as_numbers(distances, "The distances")
    if work.ndim != 2 or work.shape[0] != work.shape[1]:
        raise ValueError(
            f"The distances have shape {work.shape}; a square matrix [n, n] was needed. "
            "A condensed vector becomes one with scipy.spatial.distance.squareform."
        )
    if len(names) != len(work):
        raise ValueError(
            f"{len(names)} leaf names came with a {len(work)} x {len(work)} matrix; one name a row was needed."
        )
    fault, i, j = _symmetrize(work, _ASYMMETRY)
    if fault:
        given = as_numbers(distances, "The distances")  # as it came: the copy is symmetrised in part
        where = f"between {names[i]!r} (row {i}) and {names[j]!r} (row {j})"
        value, back = given[i, j].item(), given[j, i].item()
        if fault == 1:
            raise ValueError(
                f"The distance {where} is {value}; distances must be finite. Drop such leaves or fill them in."
            )
        if fault == 5:
            raise ValueError(
                f"The distance {where} is {value:g}, too large to calculate with. Scale the distances down."
            )
        if fault == 2:
            raise ValueError(f"The distance {where} is {value}; distances must not be negative.")
        if fault == 3:
            raise ValueError(f"The distance of {names[i]!r} (row {i}) to itself is {value}; the diagonal must be zero.")
        raise ValueError(
            f"The distances are not symmetric: {where} it is {value} one way and {back} the other. "
            "Symmetrise them first, for instance with (D + D.T) / 2."
        )
    return work, names


def _check_frame_names(names: tuple[str, ...], rows: tuple[object, ...], columns: tuple[object, ...]) -> None:
    """Refuse a table whose rows bear other names than those given, or than its columns."""
    if rows != columns and set(rows) == set(columns):
        raise ValueError(
            "The columns of the DataFrame are in another order than its rows. Put them in one: table[table.index]."
        )
    if names != rows and any(isinstance(name, str) for name in rows):
        how = "in another order" if set(names) == set(rows) else "with other leaf names"
        raise ValueError(
            f"The leaf names came {how} than the rows of the DataFrame. Leave them out: its index names the rows."
        )


@njit(cache=True)
def _symmetrize(d, tolerance):  # type: ignore[no-untyped-def]
    n = d.shape[0]
    largest = 0.0
    for i in range(n):
        for j in range(n):
            value = d[i, j]
            if not np.isfinite(value):
                return 1, i, j
            if i != j and value < 0.0:
                return 2, i, j
            if value > 1e150:  # its square must stay finite
                return 5, i, j
            largest = max(largest, value)
    block = 64  # pairs of tiles, so that the transposed half is read from the cache
    for top in range(0, n, block):
        for left in range(0, top + 1, block):
            for i in range(top, min(n, top + block)):
                for j in range(left, min(i, left + block)):
                    if abs(d[i, j] - d[j, i]) > tolerance * largest:
                        return 4, i, j
                    mean = 0.5 * (d[i, j] + d[j, i])
                    d[i, j] = mean
                    d[j, i] = mean
    for i in range(n):
        if abs(d[i, i]) > tolerance * largest:
            return 3, i, i
        d[i, i] = 0.0
    return 0, 0, 0
