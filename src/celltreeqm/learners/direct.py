"""The baseline: distances of the features as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar, Literal, Self, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from ..trees import Tree, check_priors
from ._features import FeatureMatrix, check_features
from ._fit import BUILDERS, Builder, Fit
from ._learner import Monitor, register_learner
from ._provenance import provenance_of

__all__ = ["DirectFit", "DirectLearner", "Metric"]

Metric: TypeAlias = Literal["euclidean", "squared", "correlation"]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class DirectFit(Fit):
    """The features as they are, and the metric to measure them by.

    Parameters
    ----------
    features
        float[n, g], the features of the leaves.
    metric
        "euclidean", "squared" or "correlation".
    """

    features: NDArray[np.float64]
    metric: Metric

    @property
    def feature_scores(self) -> NDArray[np.float64]:
        """float[g], all 1: every feature counts as it is."""
        return np.ones(self.features.shape[1])

    def distances(self, X: FeatureMatrix | None = None) -> NDArray[np.float64]:
        """float[n, n], the distances between rows by the metric."""
        from scipy.spatial.distance import pdist, squareform

        points = self.embed(X)
        if self.metric == "correlation":
            _check_variation(points, self.leaves if X is None else None)
        name = "sqeuclidean" if self.metric == "squared" else self.metric
        return np.asarray(squareform(np.maximum(pdist(points, name), 0.0)))

    def embed(self, X: FeatureMatrix | None = None) -> NDArray[np.float64]:
        """float[n, g], the features themselves."""
        return self.features if X is None else self.new_features(X)

    def refit(self, X: FeatureMatrix, seed: int | np.random.Generator | None = None) -> Self:
        """A fit to other features of the same leaves, with the same metric, builder and prior."""
        again = DirectLearner(metric=self.metric, builder=self.builder)
        return again.fit(X, self.leaves, prior=self.prior, seed=seed)  # type: ignore[return-value]


@register_learner
@dataclass(frozen=True)
class DirectLearner:
    r"""Direct reconstruction: distances of the features as they are, from which a tree is built.

    With the features :math:`x_i` of leaf i, the distance of two leaves is :math:`\lVert x_i - x_j \rVert` (the paper's
    direct reconstruction, with neighbour joining), its square, whose expectation is additive on the tree if the
    features evolve by Brownian motion, or 1 - the Pearson correlation of the two leaves' features.

    Parameters
    ----------
    metric
        "euclidean", "squared" or "correlation".
    builder
        "neighbor_joining", "upgma" or "ward".

    Examples
    --------
    >>> fit = DirectLearner().fit([[0.0], [1.0], [5.0], [7.0]], ["a", "b", "c", "d"], seed=0)
    >>> fit
    DirectFit(4 leaves, 1 features, neighbor_joining, seed 0)
    >>> fit.tree().splits()
    array([[False, False,  True,  True]])
    """

    name: ClassVar[str] = "direct"
    fit_type: ClassVar[type[Fit]] = DirectFit

    metric: Metric = "euclidean"
    builder: Builder = "neighbor_joining"

    def __post_init__(self) -> None:
        for what, value, choices in (
            ("metric", self.metric, get_args(Metric)),
            ("builder", self.builder, tuple(BUILDERS)),
        ):
            if value not in choices:
                raise ValueError(
                    f"{what}={value!r} was given; it is {', '.join(map(repr, choices[:-1]))} or {choices[-1]!r}."
                )

    def fit(
        self,
        X: FeatureMatrix,
        leaves: Sequence[str] | None = None,
        *,
        prior: Tree | Sequence[Tree] | None = None,
        seed: int | np.random.Generator | None = None,
        monitor: Monitor | None = None,
    ) -> DirectFit:
        """Keep the features; nothing is learned, so neither the seed nor ``monitor`` changes anything.

        Parameters
        ----------
        X
            float[n, g], one row a taxon: an array, a sparse matrix or a DataFrame, all values finite.
        leaves
            The n names of the rows; a DataFrame brings them as its index.
        prior
            What is known; trees of the fit display it unless ``honor_prior=False``.
        seed
            Recorded, and drawn if omitted.
        monitor
            Not used.
        """
        checked = check_features(X, leaves)
        if self.metric == "correlation":
            _check_variation(checked.values, checked.leaves)
        return DirectFit(
            leaves=checked.leaves,
            feature_names=checked.names,
            prior=check_priors(prior, checked.leaves),
            builder=self.builder,
            provenance=provenance_of(self.name, asdict(self), seed=seed, features=checked),
            features=checked.values,
            metric=self.metric,
        )


def _check_variation(values: NDArray[np.float64], leaves: Sequence[str] | None) -> None:
    flat = np.flatnonzero(np.ptp(values, axis=1) == 0)
    if len(flat):
        row = int(flat[0])
        which = f"Row {row}" if leaves is None else f"Leaf {leaves[row]!r} (row {row})"
        raise ValueError(
            f"{which} has the same value in all {values.shape[1]} features, so that its correlation with others is not "
            "defined. Drop the leaf, or use metric='euclidean'."
        )
