"""All that is measured of one tree against the truth."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ..trees import QuartetClasses, Tree, quartet_agreement, quartet_agreement_by_class, robinson_foulds
from ._subtrees import mean_error, wide_clades

__all__ = [
    "QUARTET_METRICS",
    "TREE_METRICS",
    "Scores",
    "Yardstick",
    "displays",
    "relative_improvement",
    "subtree_metric",
]

TREE_METRICS = ("RF", "unlabelled-leaf RF", "train RF")
QUARTET_METRICS = ("QD", "K-QD", "P-QD", "U-QD")

_LEAST = 4  # leaves: trees of fewer do not differ


def relative_improvement(base: float, value: float) -> float:
    r"""The paper's Delta% of a distance (Eq. delta_percentage), as a fraction of the base.

    .. math:: \Delta\% = \frac{\text{base} - \text{value}}{\text{base}}

    It is 1 where nothing is left of the base's error, and negative where the value is worse. NaN where the base is 0 or
    either is NaN.

    Examples
    --------
    >>> relative_improvement(0.5, 0.2), relative_improvement(0.0, 0.0)
    (0.6, nan)
    """
    return (base - value) / base if base else float("nan")


def subtree_metric(level: int) -> str:
    """The name of the local subtree error at a level."""
    return f"subtree RF {level}"


def displays(tree: Tree, priors: Sequence[Tree]) -> bool:
    """Whether the tree, restricted to each prior tree's leaves, has all its splits."""
    agreements = [quartet_agreement(tree.restrict(prior.leaves), prior) for prior in priors if prior.n_leaves >= _LEAST]
    return all(found.different == found.only_second == 0 for found in agreements)


@dataclass(frozen=True)
class Yardstick:
    """What trees are measured against: the truth, and what of it was known.

    Parameters
    ----------
    truth
        The true tree.
    priors
        The prior's trees.
    levels
        Levels of the local subtree errors.
    """

    truth: Tree
    priors: tuple[Tree, ...]
    levels: tuple[int, ...]

    @cached_property
    def labelled(self) -> tuple[str, ...]:
        """Leaves that are in a tree of the prior."""
        inside = {name for prior in self.priors for name in prior.leaves}
        return tuple(name for name in self.truth.leaves if name in inside)

    @cached_property
    def unlabelled(self) -> tuple[str, ...]:
        """Leaves that are in no tree of the prior."""
        inside = set(self.labelled)
        return tuple(name for name in self.truth.leaves if name not in inside)

    @cached_property
    def clades(self) -> Mapping[int, tuple[Tree, ...]]:
        """The true subtrees at each level, of four leaves or more."""
        return {level: wide_clades(self.truth, level) for level in self.levels}

    def score(self, tree: Tree, train_tree: Tree | None = None) -> Scores:
        """Measure a tree; the train RF is that of ``train_tree``, or of the tree restricted to the labelled leaves."""
        classes = quartet_agreement_by_class(tree, self.truth, self.priors)
        quartets = dict(
            zip(QUARTET_METRICS, (classes.all, classes.known, classes.partial, classes.unknown), strict=True)
        )
        train_leaves = self.labelled if train_tree is None else train_tree.leaves
        values = {
            "RF": robinson_foulds(tree, self.truth),
            "unlabelled-leaf RF": self._part(tree, self.unlabelled),
            "train RF": self._part(tree if train_tree is None else train_tree, train_leaves),
            **{name: agreement.distance() for name, agreement in quartets.items()},
            **{subtree_metric(level): mean_error(tree, clades) for level, clades in self.clades.items()},
        }
        counts = {
            "RF": tree.n_leaves,
            "unlabelled-leaf RF": len(self.unlabelled),
            "train RF": len(train_leaves),
            **{name: agreement.total for name, agreement in quartets.items()},
            **{subtree_metric(level): len(clades) for level, clades in self.clades.items()},
        }
        return Scores(values, counts, classes)

    def _part(self, tree: Tree, leaves: Sequence[str]) -> float:
        if len(leaves) < _LEAST:
            return math.nan
        return robinson_foulds(tree.restrict(leaves), self.truth.restrict(leaves))


@dataclass(frozen=True)
class Scores:
    """The measures of one tree.

    Parameters
    ----------
    values
        Each metric's value.
    counts
        Over how many leaves (RF), quartets (QD) or clades (subtree RF) it is.
    classes
        The agreement by classes of quartets.
    """

    values: Mapping[str, float]
    counts: Mapping[str, int]
    classes: QuartetClasses

    @property
    def all_is_known(self) -> bool:
        """Whether the prior resolves all quartets."""
        return self.classes.known.total == self.classes.all.total > 0

    @property
    def decided(self) -> frozenset[str]:
        """The metrics that are settled for any tree that honours the prior."""
        known = self.classes.known.total
        if self.all_is_known:
            return frozenset(self.values) - {"P-QD", "U-QD", "unlabelled-leaf RF"}
        if known and not self.classes.unknown_inside.total:
            return frozenset({"K-QD", "train RF"})
        return frozenset({"K-QD"}) if known else frozenset()
