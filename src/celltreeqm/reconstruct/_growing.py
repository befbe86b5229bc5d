"""How a fit makes trees of other features, with every choice kept: what bootstrap and calibration run again and again.

Beside the fit's own tree, each set of features is read in three plain ways (as they are, standardised, by correlation).
What these say of a clade is part of what its support is worth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..learners import AdaptiveFit, DirectFit, DirectLearner, Fit, HeritableFit, HeritableLearner, learner_by_name
from ..learners._fit import BUILDERS
from ..learners.adaptive._bag import mean_paths
from ..learners.adaptive._fit import varied_features
from ..learners.adaptive._kernels import centred_products, correlations, kernel_distances
from ..learners.adaptive._measure import (
    Heritability,
    base_kernel,
    candidate_distances,
    heritability_on_scale,
    labelled_trees,
    with_ridge,
)
from ..learners.adaptive._scales import rescale
from ..trees import Tree, neighbor_joining

__all__ = ["READINGS", "Grower", "Grown", "grower_of"]

READINGS = ("direct", "standardized", "correlation")


class Grown(NamedTuple):
    """The unrooted trees of one set of features.

    Parameters
    ----------
    own
        That of the fit.
    readings
        Neighbour joining's by plain readings of the features, one for each of :data:`READINGS`.
    members
        For an adaptive fit those whose path lengths ``own`` was made from.
    """

    own: Tree
    readings: tuple[Tree, ...]
    members: tuple[Tree, ...]


@dataclass(frozen=True)
class Grower:
    """A fit's way from features to trees, on leaves and under a prior that may be fewer than the fit's.

    Parameters
    ----------
    fit
        What was chosen.
    leaves
        The rows of the features.
    prior
        What weights are learned from and the trees display; on these leaves.
    honors
        Whether the trees display it.
    """

    fit: Fit
    leaves: tuple[str, ...]
    prior: tuple[Tree, ...]
    honors: bool = True

    @property
    def _displayed(self) -> list[Tree] | None:
        """What builders are given."""
        return list(self.prior) if self.honors and self.prior else None

    def on(self, X: NDArray[np.float64], leaves: Sequence[str], prior: Sequence[Tree], seed: int) -> Grower:
        """The same way for some of the leaves, with less of the prior.

        Direct, heritable and adaptive fits learn all but their choices anew with each set of features; other kinds of
        fit are made again here, once.
        """
        if isinstance(self.fit, AdaptiveFit | DirectFit | HeritableFit):
            return replace(self, leaves=tuple(leaves), prior=tuple(prior))
        made = self.fit.provenance
        learner = learner_by_name(made.learner, **made.settings)
        made_again = learner.fit(X, leaves, prior=list(prior) or None, seed=seed)
        return replace(self, fit=made_again, leaves=tuple(leaves), prior=tuple(prior))

    def grow(self, X: NDArray[np.float64], seed: int) -> Grown:
        """The trees of a set of features, float[n, g']."""
        prior = list(self.prior) or None
        members: tuple[Tree, ...] = ()
        fit = self.fit
        if isinstance(fit, AdaptiveFit):
            members = self._members(fit, X)
            own = BUILDERS[fit.builder](mean_paths(members), self.leaves, prior=self._displayed)
        elif isinstance(fit, DirectFit):
            direct = DirectLearner(metric=fit.metric, builder=fit.builder)
            own = direct.fit(X, self.leaves, prior=prior, seed=seed).tree(honor_prior=self.honors)
        elif isinstance(fit, HeritableFit):
            kept = {**fit.provenance.settings, "builder": fit.builder}
            # One start and few iterations: a set of features among a hundred.
            kept |= {"repeats": 1, "max_iterations": 3, "max_starts": 1 if prior else 2}
            learner = HeritableLearner(**kept)
            again = learner.fit(X, self.leaves, prior=prior, seed=fit.provenance.seed)
            own = again.tree(honor_prior=self.honors)
        else:
            own = fit.refit(X, seed=seed).tree(honor_prior=self.honors)
        return Grown(own.unroot(), self._readings(X), members)

    def average(self, grown: Sequence[Grown], X: NDArray[np.float64], seed: int) -> Tree:
        """The unrooted tree that a whole run has in the end: an adaptive fit's is the average over its bag."""
        if isinstance(self.fit, AdaptiveFit):
            trees = [tree for one in grown for tree in one.members]
            return BUILDERS[self.fit.builder](mean_paths(trees), self.leaves, prior=self._displayed).unroot()
        if isinstance(self.fit, DirectFit | HeritableFit):
            return self.grow(X, seed).own
        return self.fit.tree(honor_prior=self.honors).unroot()

    def _members(self, fit: AdaptiveFit, X: NDArray[np.float64]) -> tuple[Tree, ...]:
        values = X[:, varied_features(X)]
        index = {name: i for i, name in enumerate(self.leaves)}
        labelled = labelled_trees(self.prior)
        learned: dict[str, Heritability] = {}
        trees = []
        for row, builder in fit.members:
            scaled = rescale(row.scale, values, values)
            if row.weighting == "heritable" and row.scale not in learned:
                learned[row.scale] = heritability_on_scale(
                    scaled, self.leaves, self.prior, fit.provenance.seed, quick=True
                )
            kernel = base_kernel(row, scaled, scaled, learned.get(row.scale))
            distances = candidate_distances(row, with_ridge(kernel, row.ridge, labelled, index))
            trees.append(BUILDERS[builder](distances, self.leaves, prior=self._displayed).unroot())
        return tuple(trees)

    def _readings(self, X: NDArray[np.float64]) -> tuple[Tree, ...]:
        every = np.ones(X.shape[1])
        kernels = (
            centred_products(X, every),
            centred_products(rescale("standardized", X, X), every),
            correlations(X, every),
        )
        return tuple(
            neighbor_joining(kernel_distances(kernel), self.leaves, prior=self._displayed) for kernel in kernels
        )


def grower_of(fit: Fit, *, honors: bool = True) -> Grower:
    """The way from features to trees of a fit, on its own leaves and with its own prior."""
    return Grower(fit, fit.leaves, fit.prior, honors)
