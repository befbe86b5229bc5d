"""Known quartets drawn exactly uniformly, as fast from a prior that knows few of them as from one that knows all."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import comb

import numpy as np
from numpy.typing import NDArray

from celltreeqm.seeds import seeded_generator
from celltreeqm.trees import Tree, check_priors
from celltreeqm.trees._refinement import merged_alike
from celltreeqm.trees._tree_checks import is_whole

from ._claims import ORDERS, Claims
from ._known_counts import count_known_quartets
from ._prior_rows import leaves_of, rows_of
from ._quartets import Quartets
from ._topology import TopologyLookup

__all__ = ["KnownQuartets", "sample_known_quartets"]


def sample_known_quartets(
    prior: Tree | Sequence[Tree],
    count: int,
    *,
    leaves: Sequence[str] | None = None,
    seed: int | np.random.Generator | None = None,
) -> Quartets:
    """Draw known quartets with replacement, each exactly equally likely.

    See :meth:`KnownQuartets.sample`; who draws from one prior again and again saves preparing it by keeping that.

    Examples
    --------
    >>> prior = Tree([4, 4, 5, 5, 6, 6, -1], ["a", "b", "c", "d"])
    >>> quartets = sample_known_quartets(prior, 3, seed=0)
    >>> quartets
    Quartets(3: 3 ab|cd, 0 ac|bd, 0 ad|bc)
    >>> [sorted(map(sorted, (row[:2], row[2:]))) for row in quartets.leaves.tolist()]
    [[[0, 1], [2, 3]], [[0, 1], [2, 3]], [[0, 1], [2, 3]]]
    """
    return KnownQuartets(prior, leaves).sample(count, seed=seed)


class KnownQuartets:
    """The quartets that a prior knows: those that any of its trees resolves. None of them is stored.

    Parameters
    ----------
    prior
        One tree, or several that do not contradict each other.
    leaves
        The row names of the data, which the sampled quartets number; all leaves of the prior must be among them.
        Without them the rows are the tree's leaves (of several trees, in the order of their first mention).

    Examples
    --------
    >>> from celltreeqm.trees import prior_from_clades
    >>> known = KnownQuartets(prior_from_clades([1, 1, None, 2, 2, 2], list("abcdef")), list("abcdef"))
    >>> known
    KnownQuartets(3 of 15 quartets of 6 leaves)
    >>> bool((known.sample(100, seed=1).leaves == 2).any())
    False
    """

    def __init__(self, prior: Tree | Sequence[Tree], leaves: Sequence[str] | None = None) -> None:
        names = None if leaves is None else leaves_of((), leaves)
        self.trees = check_priors(prior, names)
        if not self.trees:
            raise ValueError(f"The prior is {prior}; without a tree no quartet is known. Give one Tree or several.")
        self.leaves = leaves_of(self.trees, names)
        apart = merged_alike(self.trees)
        self._claims = Claims.of(apart, [rows_of(tree, self.leaves) for tree in apart])
        self._earlier = _earlier_overlaps(apart)
        self._lookups = {i: TopologyLookup(apart[i], self.leaves) for i in set().union(*self._earlier)}

    @cached_property
    def count(self) -> int:
        """Number of known quartets, exact."""
        return count_known_quartets(self.trees) if self._lookups else self._claims.total // ORDERS

    def __repr__(self) -> str:
        n = len(self.leaves)
        return f"KnownQuartets({self.count:,} of {comb(n, 4):,} quartets of {n:,} leaves)"

    def sample(self, count: int, *, seed: int | np.random.Generator | None = None) -> Quartets:
        """Draw known quartets with replacement, each exactly equally likely.

        The quartets that a tree resolves are numbered, and a uniform number is turned into its quartet: nothing is
        rejected, however few the prior knows. Trees of the same leaves are refined into one. Only where two trees of
        different leaves share four or more could both offer the same quartet; there a draw counts if it comes from the
        first tree that resolves it, and the others are drawn again, of k trees at most (k - 1) / k.

        Parameters
        ----------
        count
            Number of draws, q.
        seed
            The same seed gives the same quartets.

        Returns
        -------
        Quartets
            ``leaves`` holds row numbers (see ``KnownQuartets.leaves``). The topology is 0 (``ab|cd``) throughout, and
            of the eight orders of a quartet's leaves that leave it ``ab|cd`` each is equally likely.

        Raises
        ------
        ValueError
            If the prior knows no quartet.
        """
        if not is_whole(count) or count < 0:
            raise ValueError(f"{count!r} quartets were asked for; a whole number, 0 or more, can be drawn.")
        if count and not self._claims.total:
            raise ValueError(
                f"The prior knows none of the quartets of its {len(self.leaves)} leaves, so none can be drawn. "
                "It needs a tree with an edge that has two or more leaves on either side."
            )
        generator = seeded_generator(seed)
        # Numbers of 48 bits, then cut: as uniform, and numpy draws them several times faster than some smaller ones.
        spare = max(0, 48 - self._claims.total.bit_length())
        pieces, missing = [np.empty((0, 4), dtype=np.int32)], count
        while missing:
            numbers = generator.integers(self._claims.total << spare, size=missing) >> spare
            rows = self._claims.look_up(numbers)
            pieces.append(rows[self._is_first(numbers, rows)] if self._lookups else rows)
            missing -= len(pieces[-1])
        drawn = pieces[-1] if len(pieces[-1]) == count else np.concatenate(pieces)
        drawn.flags.writeable = False
        return Quartets(drawn, np.broadcast_to(np.int8(0), count))

    def _is_first(self, numbers: NDArray[np.int64], rows: NDArray[np.int32]) -> NDArray[np.bool_]:
        """bool[q], whether no tree before the one that a claim belongs to resolves its quartet."""
        owner = np.searchsorted(self._claims.ends, numbers, side="right")
        first = np.ones(len(numbers), dtype=bool)
        for tree, earlier in enumerate(self._earlier):
            for other in earlier:
                mine = np.flatnonzero((owner == tree) & first)
                first[mine] = self._lookups[other].topology(rows[mine]) < 0
        return first


def _earlier_overlaps(trees: Sequence[Tree]) -> list[set[int]]:
    """For each tree the earlier ones with which it shares four leaves or more."""
    held = [set(tree.leaves) for tree in trees]
    return [{i for i in range(j) if len(held[i] & held[j]) >= 4} for j in range(len(trees))]
