"""Structure where nothing is known: do halves of the features make the same tree?"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from ..learners.adaptive._kernels import kernel_distances
from ..learners.heritable._alternation import spectral_weights
from ..trees import neighbor_joining, quartet_distance, robinson_foulds
from ._signal_kernels import standardized_columns
from ._signal_labelled import Matrix, Statistics

__all__ = ["gene_statistics"]

_HALVINGS = 2
_WHAT = ("splits", "quartets")


def gene_statistics(features: Matrix, rotations: int, generator: np.random.Generator) -> Statistics:
    """float[1 + rotations, s], the overlap of trees from disjoint halves of the features, as they are and rotated.

    A rotation turns the leaves' coordinates at random about their mean. It keeps means and covariances of all features
    exactly, so that correlated features make halves agree in rotated data too, and takes away what is left of the
    leaves' relations. Features are normal scores: of leaves drawn alike from one normal distribution, whatever its
    covariance, all rows have the same distribution. They count alike, or by how much they agree with other features
    (:func:`spectral_weights`), which depends on their covariances alone, so that rotated data have the same weights.

    Parameters
    ----------
    features
        float[n, g], no column constant, at least two of them.
    rotations
        How many.
    generator
        Of halves and rotations.
    """
    n, g = features.shape
    scores = standardized_columns(ndtri((rankdata(features, axis=0) - 0.5) / n))
    alike, agreeing = np.ones(g), spectral_weights(scores)
    leaves = [f"{i}" for i in range(n)]
    pairs = []  # of kernels from the two halves: for each weighting, for each halving
    orders = [generator.permutation(g) for _ in range(_HALVINGS)]
    for weights in (alike, agreeing):
        for order in orders:
            halves = (order[: g // 2], order[g // 2 :])
            pairs.append([(scores[:, half] * weights[half]) @ scores[:, half].T for half in halves])
    fixed = _random_basis(n, generator)
    coordinates = [[fixed.T @ kernel @ fixed for kernel in pair] for pair in pairs]
    values = np.empty((1 + rotations, 2 * len(_WHAT)))
    for row in range(1 + rotations):
        turned = pairs
        if row:
            basis = _random_basis(n, generator)
            turned = [[basis @ kernel @ basis.T for kernel in pair] for pair in coordinates]
        overlap = np.array([_overlap(first, second, leaves) for first, second in turned])
        values[row] = overlap.reshape(2, _HALVINGS, -1).mean(axis=1).ravel()
    return values, [
        (representation, f"{what} that trees from halves of the features share")
        for representation in ("normal scores", "normal scores weighted by agreement")
        for what in _WHAT
    ]


def _overlap(first: Matrix, second: Matrix, leaves: list[str]) -> tuple[float, float]:
    """The shares of splits, most of which are among few leaves, and of quartets, most of which are among clades."""
    trees = [neighbor_joining(kernel_distances(kernel), leaves) for kernel in (first, second)]
    return 1 - robinson_foulds(*trees), 1 - quartet_distance(*trees)


def _random_basis(n: int, generator: np.random.Generator) -> Matrix:
    """float[n, n - 1], orthonormal columns of sum 0, uniform among all such."""
    plane = generator.normal(size=(n, n - 1))
    axes, upper = np.linalg.qr(plane - plane.mean(axis=0))
    return np.asarray(axes * np.sign(np.diagonal(upper)))
