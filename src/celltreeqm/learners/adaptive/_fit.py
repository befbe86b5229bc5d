"""``AdaptiveFit``: what was chosen, and the bag of trees that it makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ...trees import Tree
from .._features import FeatureMatrix
from .._fit import Fit
from ._bag import Bag, bag_trees, mean_paths
from ._candidates import Candidate
from ._choice import Member
from ._measure import Heritability

__all__ = ["AdaptiveFit", "varied_features"]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class AdaptiveFit(Fit):
    """The candidates chosen, and distances that are mean path lengths over a bag of their trees.

    Parameters
    ----------
    features
        float[n, g], the features of the leaves.
    paths
        float[n, n], mean path lengths over the bag, under the prior.
    weights
        float[g], how heritable each feature is on the scale of the best candidate; 0 for constant features.
    gates
        float[g], the posterior probability that it is heritable at all.
    weighted_scales
        The scales on which chosen candidates weigh features by heritability.
    scale_weights
        float[s, g], the weights on these.
    chosen
        The candidates in the bag, best first: ``scale``, ``weighting``, ``metric``, ``ridge`` and ``builder``.
    criterion
        By what they were chosen: "held-out leaves", "split halves" or "nothing to choose by"; "kept" in a refit.
    candidates
        All candidates with each builder and their errors; see :class:`Choice`.
    """

    features: NDArray[np.float64]
    paths: NDArray[np.float64]
    weights: NDArray[np.float64]
    gates: NDArray[np.float64]
    weighted_scales: Sequence[str]
    scale_weights: NDArray[np.float64]
    chosen: Sequence[Mapping[str, Any]]
    criterion: str
    candidates: Sequence[Mapping[str, Any]]

    @property
    def feature_scores(self) -> NDArray[np.float64]:
        """float[g], the weights."""
        return self.weights

    @property
    def selected(self) -> NDArray[np.bool_]:
        """bool[g], the features that are more likely heritable than not."""
        return np.asarray(self.gates > 0.5)

    @property
    def members(self) -> tuple[Member, ...]:
        """The candidates in the bag with their builders, best first."""
        fields = [dict(row) for row in self.chosen]
        return tuple(Member(builder=row.pop("builder"), candidate=Candidate(**row)) for row in fields)

    def distances(self, X: FeatureMatrix | None = None) -> NDArray[np.float64]:
        """float[n, n], mean path lengths over the bag: under the prior, or of the rows of a new matrix without it."""
        if X is None:
            return self.paths
        new = self.new_features(X)
        return mean_paths(self.bag(new, [f"new {i}" for i in range(len(new))], prior=()))

    def bag(
        self,
        X: FeatureMatrix | None = None,
        leaves: Sequence[str] | None = None,
        *,
        prior: Sequence[Tree] | None = None,
        workers: int | None = 1,
    ) -> list[Tree]:
        """The trees whose path lengths are averaged.

        Parameters
        ----------
        X, leaves
            A new matrix of the same features and the names of its rows; default the leaves of the fit.
        prior
            What the trees display; default the prior of the fit, where no new matrix came.
        workers
            Processes; the trees are the same for any number.
        """
        new = None if X is None else self.new_features(X)[:, self._varied]
        honored = prior if prior is not None else (self.prior if X is None else ())
        return bag_trees(self._bag, honored, new=new, new_leaves=tuple(leaves or ()), workers=workers)

    def embed(self, X: FeatureMatrix | None = None) -> NDArray[np.float64]:
        """float[n, d], classical scaling of the distances: coordinates whose squared distances come close to them."""
        paths = self.distances(X)
        mean = paths.mean(axis=0)
        values, vectors = np.linalg.eigh(-0.5 * (paths - mean - mean[:, None] + mean.mean()))
        kept = np.flatnonzero(values > 1e-9 * max(values[-1], 0.0))[::-1]
        axes = vectors[:, kept]
        signs = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(len(kept))])
        return np.asarray(axes * signs * np.sqrt(values[kept]))

    def refit(self, X: FeatureMatrix, seed: int | np.random.Generator | None = None) -> Self:
        """The fit repeated on other features of the same leaves: same candidates, builder, prior and settings."""
        from ._learner import AdaptiveLearner

        learner = AdaptiveLearner(**self.provenance.settings)
        return learner.fit_as(self, X, seed=seed)  # type: ignore[return-value]

    def _distances_for(
        self, X: FeatureMatrix | None, names: tuple[str, ...], prior: Sequence[Tree]
    ) -> NDArray[np.float64]:
        if X is None and len(prior) == len(self.prior):
            return self.paths
        return mean_paths(self.bag(X, names, prior=prior))

    @property
    def _varied(self) -> NDArray[np.bool_]:
        return varied_features(self.features)

    @property
    def _bag(self) -> Bag:
        varied = self._varied
        heritability = {
            scale: Heritability(weights[varied], weights[varied])
            for scale, weights in zip(self.weighted_scales, self.scale_weights, strict=True)
        }
        settings = self.provenance.settings
        return Bag(
            fitted=self.features[:, varied],
            leaves=self.leaves,
            known=self.prior,
            members=self.members,
            heritability=heritability,
            size=int(settings["bag"]),
            seed=self.provenance.seed,
        )


def varied_features(features: NDArray[np.float64]) -> NDArray[np.bool_]:
    """bool[g], the features that are not the same in all leaves; all of them if none is."""
    varied = np.ptp(features, axis=0) > 0
    return np.asarray(varied if varied.any() else ~varied)
