"""The quartet distance, exact for trees of any degree: how many sets of four leaves two trees relate differently."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._quartet_kernels import count_quartets
from ._same_leaves import check_same_leaves
from ._tree import Tree

__all__ = ["QuartetAgreement", "Unresolved", "quartet_agreement", "quartet_distance"]

Unresolved = Literal["different", "half", "same", "ignore"]

MOST_LEAVES = 100_000  # four times C(n, 4) must fit into 64 bits


@dataclass(frozen=True)
class QuartetAgreement:
    """What two trees say about a class of quartets (sets of four leaves), as exact counts.

    Counts of disjoint classes can be added, and those of a part subtracted from those of the whole.

    Parameters
    ----------
    same
        Quartets that both trees resolve, in the same way.
    different
        Quartets that both trees resolve, in different ways.
    only_first, only_second
        Quartets that only the first, or only the second tree resolves.
    neither
        Quartets that neither tree resolves.

    Examples
    --------
    >>> agreement = QuartetAgreement(same=5, different=2, only_first=0, only_second=2, neither=1)
    >>> agreement.total, agreement.distance(), agreement.distance("ignore")
    (10, 0.4, 0.2857142857142857)
    """

    same: int = 0
    different: int = 0
    only_first: int = 0
    only_second: int = 0
    neither: int = 0

    @property
    def total(self) -> int:
        """The number of quartets in the class."""
        return self.same + self.different + self.only_first + self.only_second + self.neither

    def distance(self, unresolved: Unresolved = "different", *, normalized: bool = True) -> float:
        """The quartet distance within the class, NaN where the class is empty; see :func:`quartet_distance`."""
        if unresolved not in list(_WEIGHT):
            raise ValueError(
                f"unresolved={unresolved!r} was given; it is 'different', 'half', 'same' or 'ignore': what a quartet "
                "counts as that only one of the trees resolves."
            )
        apart = self.different + _WEIGHT[unresolved] * (self.only_first + self.only_second)
        if not normalized:
            return float(apart)
        among = self.same + self.different if unresolved == "ignore" else self.total
        return apart / among if among else float("nan")

    def __add__(self, other: QuartetAgreement) -> QuartetAgreement:
        """The counts of two disjoint classes together."""
        if not isinstance(other, QuartetAgreement):
            return NotImplemented
        return QuartetAgreement(*(a + b for a, b in zip(_counts(self), _counts(other), strict=True)))

    def __sub__(self, other: QuartetAgreement) -> QuartetAgreement:
        """The counts of the quartets that are not in a part of the class."""
        if not isinstance(other, QuartetAgreement):
            return NotImplemented
        return QuartetAgreement(*(a - b for a, b in zip(_counts(self), _counts(other), strict=True)))


_WEIGHT: dict[str, float] = {"different": 1, "half": 0.5, "same": 0, "ignore": 0}


def quartet_agreement(tree: Tree, other: Tree) -> QuartetAgreement:
    """Count the quartets that two trees on the same leaves resolve alike, differently, or not both.

    A tree resolves the quartet a, b, c, d as ab|cd if the path from a to b does not meet that from c to d; it leaves it
    unresolved if all four part at one polytomy. The counts are exact and nothing is sampled. Both the quartets resolved
    alike and those resolved differently are sums, over pairs of a node of either tree, of a polynomial in how many
    leaves their branches share. This takes O(n^2) time for any degrees, up to a logarithm, and O(n) memory.

    Parameters
    ----------
    tree, other
        The trees, of any degree, at most 100,000 leaves; roots and branch lengths do not matter.

    Returns
    -------
    QuartetAgreement
        Five exact counts that add up to C(n, 4).

    Raises
    ------
    ValueError
        If the trees do not have the same leaves.

    Examples
    --------
    >>> from celltreeqm.trees._tree import Tree
    >>> resolved = Tree([5, 5, 6, 7, 7, 6, 7, -1], ["a", "b", "c", "d", "e"])  # (((a, b), c), d, e)
    >>> star = Tree([5, 5, 5, 5, 5, -1], ["a", "b", "c", "d", "e"])
    >>> quartet_agreement(resolved, star)
    QuartetAgreement(same=0, different=0, only_first=5, only_second=0, neither=0)
    """
    check_same_leaves(tree, other)
    first, second = numbered(tree, other)
    return agreement(first, second)


def quartet_distance(
    tree: Tree, other: Tree, *, unresolved: Unresolved = "different", normalized: bool = True
) -> float:
    """The quartet distance of two trees on the same leaves: the share of quartets that they do not relate alike.

    What a quartet counts as that one tree resolves and the other does not is a convention, and conventions differ:

    ============== ======================================================================================
    ``unresolved`` distance
    ============== ======================================================================================
    "different"    (different + only_first + only_second) / total; the metric that tqDist computes
    "half"         (different + (only_first + only_second) / 2) / total
    "same"         different / total: only contradictions count
    "ignore"       different / (same + different): among the quartets that both trees resolve
    ============== ======================================================================================

    Here total = C(n, 4) includes the quartets that neither tree resolves, on which the trees agree. For two binary
    trees all four are the same number. The counts themselves are given by :func:`quartet_agreement`.

    Parameters
    ----------
    tree, other
        The trees, of any degree; roots and branch lengths do not matter.
    unresolved
        What a quartet counts as that only one of the trees resolves.
    normalized
        Whether to divide; if not, the numerator is returned.

    Returns
    -------
    float
        Between 0 and 1; NaN where there is nothing to divide by (fewer than four leaves).

    Raises
    ------
    ValueError
        If the trees do not have the same leaves.

    Examples
    --------
    >>> from celltreeqm.trees._tree import Tree
    >>> first = Tree([5, 5, 6, 7, 7, 6, 7, -1], ["a", "b", "c", "d", "e"])  # (((a, b), c), d, e)
    >>> second = Tree([5, 6, 5, 7, 7, 6, 7, -1], ["a", "b", "c", "d", "e"])  # (((a, c), b), d, e)
    >>> quartet_distance(first, second), quartet_distance(first, second, normalized=False)
    (0.4, 2.0)
    """
    return quartet_agreement(tree, other).distance(unresolved, normalized=normalized)


class Numbered(NamedTuple):
    """A tree whose leaves bear the numbers of the leaves of a larger set, which other trees use as well."""

    parent: NDArray[np.int64]
    numbers: NDArray[np.int64]


def numbered(first: Tree, *others: Tree) -> tuple[Numbered, ...]:
    """Trees with the numbers that the first tree's leaves have; the others' leaves must be among them."""
    return tuple(
        Numbered(tree.parent, np.array([first.index[name] for name in tree.leaves], dtype=np.int64))
        for tree in (first, *others)
    )


def agreement(first: Numbered, second: Numbered, among: NDArray[np.bool_] | None = None) -> QuartetAgreement:
    """The agreement of two trees on the leaves that ``among`` is true for; both must have them all."""
    inside = np.ones(len(first.numbers), dtype=np.int64) if among is None else among.astype(np.int64)
    n = int(inside.sum())
    if n > MOST_LEAVES:
        raise ValueError(
            f"The trees have {n} leaves; quartets are counted exactly for up to {MOST_LEAVES}. Restrict both to a "
            "subset of their leaves: tree.restrict(leaves)."
        )
    four_same, four_different, open_first, open_second = count_quartets(*first, *second, inside)
    same, different = (int(four_same) % 2**64) // 4, (int(four_different) % 2**64) // 4
    only_first = comb(n, 4) - int(open_first) - same - different
    only_second = comb(n, 4) - int(open_second) - same - different
    return QuartetAgreement(same, different, only_first, only_second, int(open_first) - only_second)


def _counts(agreement: QuartetAgreement) -> tuple[int, int, int, int, int]:
    return agreement.same, agreement.different, agreement.only_first, agreement.only_second, agreement.neither
