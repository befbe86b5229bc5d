"""Features in folds: trees from all folds but one, which then say how heritable the features of that one are."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ...trees import Tree
from ._likelihood import LAMBDAS, heritability_likelihoods

__all__ = ["Build", "Folds", "fold_features", "weighted_distances"]

Build = Callable[[NDArray[np.float64]], Tree]


class Folds:
    """Standardised features, cut into folds in several ways.

    Parameters
    ----------
    features
        float[n, g], standardised.
    folds
        For each way to cut, int[g], the fold of each feature.
    """

    def __init__(self, features: NDArray[np.float64], folds: Sequence[NDArray[np.int64]]) -> None:
        self.n_features = features.shape[1]
        self.ways: list[list[tuple[NDArray[np.int64], NDArray[np.float64]]]] = []
        for of_feature in folds:
            members = [np.flatnonzero(of_feature == fold) for fold in range(int(of_feature.max()) + 1)]
            self.ways.append([(where, np.ascontiguousarray(features[:, where])) for where in members])

    def cross_fit(self, weights: NDArray[np.float64], build: Build) -> tuple[NDArray[np.float64], tuple[Tree, ...]]:
        """float[g, l], the likelihoods of each feature on trees of the other folds' features; and these trees.

        The likelihoods are the means over the ways to cut.
        """
        out = np.zeros((self.n_features, len(LAMBDAS)))
        trees = []
        for way in self.ways:
            products = [(block * weights[where]) @ block.T for where, block in way]
            total = np.sum(products, axis=0)
            for (where, block), own in zip(way, products, strict=True):
                trees.append(build(distances_of_products(total - own)))
                out[where] += heritability_likelihoods(block, trees[-1])
        return out / len(self.ways), tuple(trees)


def fold_features(
    features: NDArray[np.float64], n_folds: int, n_ways: int, generator: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Random folds of about equal size; features that are copies of each other are in the same fold.

    Were copies in different folds, as they are when features are resampled, they would vouch for each other.
    """
    columns = np.ascontiguousarray(features.T)
    rows = columns.view(np.dtype((np.void, columns.strides[0]))).ravel()
    _, first, copies = np.unique(rows, return_index=True, return_inverse=True)
    n_groups = len(first)
    group = np.argsort(np.argsort(first))[copies]  # by first appearance, whatever the order of the leaves
    n_folds = min(n_folds, n_groups)
    return [generator.permutation(np.arange(n_groups) % n_folds)[group] for _ in range(n_ways)]


def weighted_distances(features: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """float[n, n], Euclidean distances of features times the square roots of their weights, by one matrix product."""
    return distances_of_products((features * weights) @ features.T)


def distances_of_products(products: NDArray[np.float64]) -> NDArray[np.float64]:
    """float[n, n], Euclidean distances of points with these inner products."""
    size = np.diagonal(products)
    squared = size[:, None] + size - (products + products.T)
    np.fill_diagonal(squared, 0.0)
    return np.asarray(np.sqrt(np.maximum(squared, 0.0)))
