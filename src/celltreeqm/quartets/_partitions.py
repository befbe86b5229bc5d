"""How the leaves of a quartet fall into clades: the paper's five partition types."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celltreeqm.trees._priors import is_missing
from celltreeqm.trees._tree_checks import is_whole

from ._quartets import checked_quartets

__all__ = ["PARTITION_TYPES", "partition_counts", "partition_proportions", "partition_types"]

Partition = tuple[int, int, int, int]

PARTITION_TYPES: tuple[Partition, ...] = ((4, 0, 0, 0), (3, 1, 0, 0), (2, 2, 0, 0), (2, 1, 1, 0), (1, 1, 1, 1))
"""The five ways four leaves fall into clades. (2, 2, 0, 0) and (2, 1, 1, 0) are resolved by the clades alone."""


def partition_counts(sizes: Iterable[int]) -> dict[Partition, int]:
    """Number of quartets of each partition type among clades of given sizes, exact.

    With n leaves in clades of s_i leaves, and e2 the second elementary symmetric polynomial,

        (4, 0, 0, 0): sum_i C(s_i, 4)
        (3, 1, 0, 0): sum_i C(s_i, 3) (n - s_i)
        (2, 2, 0, 0): e2(C(s_1, 2), C(s_2, 2), ...)
        (2, 1, 1, 0): sum_i C(s_i, 2) e2(sizes of the others)

    and (1, 1, 1, 1) are the rest of C(n, 4). The third and fourth are the known quartets of a high-level partition.

    Parameters
    ----------
    sizes
        Number of leaves of each clade; a leaf outside every clade is a clade of one.

    Returns
    -------
    dict
        A Python int for each of ``PARTITION_TYPES``.

    Examples
    --------
    >>> counts = partition_counts([54, 10, 25, 13])
    >>> counts[2, 2, 0, 0] + counts[2, 1, 1, 0], sum(counts.values())
    (2340063, 4249575)
    """
    if not isinstance(sizes, Iterable):
        raise TypeError(f"sizes is of type {type(sizes).__name__}; a number of leaves for each clade was needed.")
    given = list(sizes)
    for size in given:
        if not is_whole(size) or size < 0:
            raise ValueError(f"A clade of {size!r} leaves was given; whole numbers of 0 or more were needed.")
    given = [int(size) for size in given]
    n = sum(given)
    squares = sum(size**2 for size in given)
    pairs = [comb(size, 2) for size in given]
    in_one = sum(comb(size, 4) for size in given)
    three = sum(comb(size, 3) * (n - size) for size in given)
    two_two = (sum(pairs) ** 2 - sum(pair**2 for pair in pairs)) // 2
    two_one_one = sum(
        pair * ((n - size) ** 2 - (squares - size**2)) // 2 for size, pair in zip(given, pairs, strict=True)
    )
    apart = comb(n, 4) - in_one - three - two_two - two_one_one
    return dict(zip(PARTITION_TYPES, (in_one, three, two_two, two_one_one, apart), strict=True))


def partition_proportions(k: int) -> dict[Partition, float]:
    """Expected share of each partition type where every leaf is equally likely to be in any of k clades.

    The paper's "Theoretical Proportions" (appendix "High-level Partitioning Setting"), the limit of many leaves:

        (4, 0, 0, 0): 1 / k^3
        (3, 1, 0, 0): 4 (k - 1) / k^3
        (2, 2, 0, 0): 3 (k - 1) / k^3
        (2, 1, 1, 0): 6 (k - 1) (k - 2) / k^3
        (1, 1, 1, 1): (k - 1) (k - 2) (k - 3) / k^3

    They sum to 1, and the resolvable share, that of (2, 2, 0, 0) and (2, 1, 1, 0), is largest at k = 4.

    Parameters
    ----------
    k
        Number of clades, at least 1.

    Returns
    -------
    dict
        A share for each of ``PARTITION_TYPES``.

    Examples
    --------
    >>> shares = partition_proportions(4)
    >>> shares[2, 2, 0, 0] + shares[2, 1, 1, 0]
    0.703125
    """
    if not is_whole(k) or k < 1:
        raise ValueError(f"k={k} was given; a whole number of clades, at least 1, was needed.")
    ways = (1, 4 * (k - 1), 3 * (k - 1), 6 * (k - 1) * (k - 2), (k - 1) * (k - 2) * (k - 3))
    return {kind: way / k**3 for kind, way in zip(PARTITION_TYPES, ways, strict=True)}


def partition_types(labels: ArrayLike, quartets: ArrayLike) -> NDArray[np.int8]:
    """The partition type of given quartets as a position in ``PARTITION_TYPES``.

    Parameters
    ----------
    labels
        [n], the clade of each leaf: numbers or strings. A missing label (None or NaN) is refused.
    quartets
        int[q, 4], four different leaf numbers a quartet.

    Returns
    -------
    int8[q]
        0 to 4.

    Examples
    --------
    >>> partition_types(["x", "x", "y", "y", "z"], [[0, 1, 2, 3], [0, 1, 2, 4]])
    array([2, 3], dtype=int8)
    """
    given = np.array(labels, dtype=object)  # as objects: beside strings numpy would make a NaN the string "nan"
    if given.ndim != 1:
        raise ValueError(f"The labels have shape {given.shape}; one label a leaf was needed: [n].")
    missing = np.array([is_missing(label) for label in given.tolist()], dtype=bool)
    if missing.any():
        raise ValueError(
            f"Leaf {int(np.flatnonzero(missing)[0])} has no label; every leaf needs one. Give leaves outside every "
            "clade a label of their own."
        )
    number: dict[Any, int] = {}
    codes = np.array([number.setdefault(label, len(number)) for label in given.tolist()], dtype=np.int64)
    four = codes[checked_quartets(quartets, len(given))]
    together = np.zeros(len(four), dtype=np.int8)
    for i, j in combinations(range(4), 2):
        together += four[:, i] == four[:, j]
    # Of its six pairs 6, 3, 2, 1 or 0 are in the same clade.
    kind: NDArray[np.int8] = np.array([4, 3, 2, 1, -1, -1, 0], dtype=np.int8)[together]
    return kind
