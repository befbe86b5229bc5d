"""Quartet agreement by what a prior knows: within known, partial, unknown-inside and unknown-outside quartets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ._priors import listed_priors
from ._quartet_distance import Numbered, QuartetAgreement, agreement, numbered
from ._rainbow_quartets import unresolved_in_third
from ._refinement import common_refinement, merged_alike
from ._same_leaves import check_same_leaves
from ._tree import Tree
from ._tree_checks import some_names

__all__ = ["QuartetClasses", "quartet_agreement_by_class"]


@dataclass(frozen=True)
class QuartetClasses:
    """How a tree and the truth agree on each class of quartets that a prior makes; together they are all quartets.

    Parameters
    ----------
    known
        Quartets that a tree of the prior resolves.
    partial
        Quartets with one to three leaves in the prior.
    unknown_inside
        Quartets with all four leaves in the prior that none of its trees resolves.
    unknown_outside
        Quartets without a leaf in the prior.
    """

    known: QuartetAgreement
    partial: QuartetAgreement
    unknown_inside: QuartetAgreement
    unknown_outside: QuartetAgreement

    @property
    def unknown(self) -> QuartetAgreement:
        """What U-QD is about: unknown inside where the prior has all leaves, else unknown outside."""
        covers = self.partial.total == 0 and self.unknown_outside.total == 0
        return self.unknown_inside if covers else self.unknown_outside

    @property
    def all(self) -> QuartetAgreement:
        """The agreement on all quartets: the four classes together."""
        return self.known + self.partial + self.unknown_inside + self.unknown_outside


def quartet_agreement_by_class(tree: Tree, truth: Tree, prior: Tree | Sequence[Tree] | None) -> QuartetClasses:
    r"""The quartet agreement of a tree with the truth, separately by what a prior knows of the quartets.

    A leaf is in the prior if any of its trees has it. A quartet is known (K) if any of the trees resolves it, partial
    (P) if one to three of its leaves are in the prior, unknown inside (U-in) if all four are and it is not known, and
    unknown outside (U-out) if none is. Counts are exact for trees and priors of any degree.

    With :math:`L` the leaves of the prior, U-out is the agreement on the leaves outside :math:`L`, K and U-in together
    are that on :math:`L`, and P is the rest. Where the truth or the tree displays a prior tree, the known quartets'
    counts are those of its agreement with the other one. Where neither does (a wrong or permuted prior), three trees
    have to be counted: at each polytomy of the prior this takes two or three counts of O(n^2) time for each branch of
    two leaves or more. Prior trees whose leaves overlap are combined by inclusion and exclusion over their common
    refinements on the leaves they share; t trees that all share four leaves need 3^t steps.

    Parameters
    ----------
    tree, truth
        Trees on the same leaves.
    prior
        A tree, several that do not contradict each other, or None; its leaves must be among those of the trees. It does
        not have to be true.

    Returns
    -------
    QuartetClasses
        The agreement within each class; ``.known.distance()`` and so on are quartet distances, NaN for empty classes.

    Raises
    ------
    ValueError
        If the leaves do not match or trees of the prior contradict each other.

    Examples
    --------
    >>> from celltreeqm.trees._tree import Tree
    >>> truth = Tree([6, 6, 7, 7, 8, 8, 9, 9, 9, -1], list("abcdef"))  # ((a, b), (c, d), (e, f))
    >>> tree = Tree([6, 6, 7, 8, 7, 8, 9, 9, 9, -1], list("abcdef"))  # ((a, b), (c, e), (d, f))
    >>> prior = Tree([4, 4, 5, 5, 5, -1], list("abcd"))  # ((a, b), c, d)
    >>> classes = quartet_agreement_by_class(tree, truth, prior)
    >>> classes.known
    QuartetAgreement(same=1, different=0, only_first=0, only_second=0, neither=0)
    >>> classes.partial.distance(), classes.unknown.distance()
    (0.6428571428571429, nan)
    """
    check_same_leaves(tree, truth)
    priors = listed_priors(prior)
    for i, given in enumerate(priors, start=1):
        foreign = [name for name in given.leaves if name not in tree.index]
        if foreign:
            few = len(foreign) == 1
            whose = "the prior" if len(priors) == 1 else f"prior tree {i}"
            raise ValueError(
                f"{len(foreign)} {'leaf' if few else 'leaves'} of {whose} "
                f"{'is' if few else 'are'} not in the trees that are compared: {some_names(foreign)}. "
                f"Drop {'it' if few else 'them'} with prior.restrict(tree.leaves)."
            )
    first, second = numbered(tree, truth)
    inside = _mask(tree, (name for given in priors for name in given.leaves))
    everything = agreement(first, second)
    within = everything if inside.all() else agreement(first, second, inside)
    outside = agreement(first, second, ~inside)
    known = QuartetAgreement()
    for sign, refined in _overlaps(priors):
        part = _known(first, second, numbered(tree, refined)[1], _mask(tree, refined.leaves))
        known = known + part if sign > 0 else known - part
    return QuartetClasses(
        known=known,
        partial=everything - within - outside,
        unknown_inside=within - known,
        unknown_outside=outside,
    )


def _mask(tree: Tree, names: Iterable[str]) -> NDArray[np.bool_]:
    mask = np.zeros(tree.n_leaves, dtype=bool)
    mask[[tree.index[name] for name in names]] = True
    return mask


def _overlaps(priors: Sequence[Tree]) -> Iterator[tuple[int, Tree]]:
    """Trees with signs: those that resolve a quartet add up to 1 if any prior tree resolves it, and to 0 otherwise.

    Let J be the set of prior trees that have all four leaves of a quartet: one of them resolves it if and only if their
    common refinement does. The trees given are the refinements of the trees in A on the leaves that those in D share,
    for all sets A within D, with the sign of (-1)^(|D| - |A|). A quartet is in them for every D within J, and the signs
    of all D between A and J cancel but for A = J.
    """
    trees = merged_alike(priors)
    shared: list[tuple[tuple[int, ...], frozenset[str]]] = [
        ((i,), frozenset(tree.leaves)) for i, tree in enumerate(trees) if tree.n_leaves >= 4
    ]
    while shared:
        held, leaves = shared.pop()
        cut = [trees[i].restrict(leaves) for i in held]
        for size in range(1, len(cut) + 1):
            for some in combinations(cut, size):
                yield (-1) ** (len(cut) - size), some[0] if size == 1 else common_refinement(some)
        for i in range(held[-1] + 1, len(trees)):
            common = leaves & frozenset(trees[i].leaves)
            if len(common) >= 4:
                shared.append(((*held, i), common))


def _known(first: Numbered, second: Numbered, prior: Numbered, among: NDArray[np.bool_]) -> QuartetAgreement:
    """The agreement of two trees on the quartets that a third, whose leaves are ``among`` theirs, resolves."""
    truth_and_prior = agreement(second, prior, among)
    tree_and_prior = agreement(first, prior, among)
    if truth_and_prior.different == truth_and_prior.only_second == 0:  # on known quartets the prior is the truth
        return replace(tree_and_prior, only_first=0, neither=0)
    if tree_and_prior.different == tree_and_prior.only_second == 0:  # on known quartets the prior is the tree
        seen = truth_and_prior
        return QuartetAgreement(same=seen.same, different=seen.different, only_first=seen.only_second)
    unresolved = unresolved_in_third(first, second, prior, among, tree_and_prior, truth_and_prior)
    return agreement(first, second, among) - unresolved
