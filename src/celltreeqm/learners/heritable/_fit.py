"""``HeritableFit``: features weighted by how heritable they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._features import FeatureMatrix
from .._fit import Fit

__all__ = ["HeritableFit", "standardized"]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class HeritableFit(Fit):
    """How heritable each feature is, and distances in which it counts accordingly.

    Parameters
    ----------
    features
        float[n, g], the features of the leaves.
    weights
        float[g], the posterior mean of each feature's heritability, Pagel's lambda; 0 for constant features.
    gates
        float[g], the posterior probability that it is not 0.
    starts
        What the alternation came to from each start, best first: ``start``, ``iterations``, ``converged``, ``evidence``
        and ``robinson_foulds``, the distance of its tree from that of the best. Empty where the prior resolves
        everything.
    builders
        The evidence for each builder, where the learner was to choose one.
    """

    features: NDArray[np.float64]
    weights: NDArray[np.float64]
    gates: NDArray[np.float64]
    starts: Sequence[Mapping[str, Any]]
    builders: Mapping[str, float]

    @property
    def feature_scores(self) -> NDArray[np.float64]:
        """float[g], the weights."""
        return self.weights

    @property
    def selected(self) -> NDArray[np.bool_]:
        """bool[g], the features that are more likely heritable than not."""
        return np.asarray(self.gates > 0.5)

    @property
    def starts_agree(self) -> bool:
        """Whether all starts ended in the same tree; if not, the features tell of more than one."""
        return all(start["robinson_foulds"] == 0 for start in self.starts)

    def distances(self, X: FeatureMatrix | None = None) -> NDArray[np.float64]:
        """float[n, n], Euclidean distances of the embedding."""
        from scipy.spatial.distance import pdist, squareform

        return np.asarray(squareform(pdist(self.embed(X))))

    def embed(self, X: FeatureMatrix | None = None) -> NDArray[np.float64]:
        """float[n, g], the features, standardised over the rows given, times the square roots of their weights."""
        return standardized(self.features if X is None else self.new_features(X)) * np.sqrt(self.weights)

    def refit(self, X: FeatureMatrix, seed: int | np.random.Generator | None = None) -> Self:
        """The fit repeated on other features of the same leaves, with the same prior, settings and builder."""
        from ._learner import HeritableLearner

        again = HeritableLearner(**{**self.provenance.settings, "builder": self.builder})
        return again.fit(X, self.leaves, prior=self.prior, seed=seed)  # type: ignore[return-value]


def standardized(features: NDArray[np.float64]) -> NDArray[np.float64]:
    """float[n, g], columns with mean 0 and sd 1; constant columns are 0."""
    spread = np.ptp(features, axis=0)
    shifted = (features - features[:1]) / np.where(spread > 0, spread, 1.0)
    shifted -= shifted.mean(axis=0)
    shifted[:, spread == 0] = 0.0
    return np.asarray(shifted / np.where(spread > 0, shifted.std(axis=0), 1.0))
