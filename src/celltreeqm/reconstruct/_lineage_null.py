"""Data sets in which all labels are right: features that evolve on a known tree and vary together as the real ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..learners.heritable import heritability_likelihoods, tree_spectrum, weigh_features
from ..learners.heritable._fit import standardized
from ..trees import Tree

__all__ = ["LineageNull", "heritable_weights"]


class LineageNull:
    r"""Features rotated in the coordinates in which, if the tree is right, all directions are alike.

    With U and :math:`\gamma` the eigenvectors and eigenvalues of covariance along the tree and
    :math:`\lambda_f` the heritability of feature f, :math:`w_{kf} = (U'x_f)_k / \sqrt{\lambda_f \gamma_k + 1 -
    \lambda_f}` has rows that are exchangeable under Brownian motion with Pagel's lambda. A random rotation of them, the
    same for all features, is a new data set on the tree in which features covary exactly as they did.

    Parameters
    ----------
    features
        float[n, g], standardised, rows in the order of the tree's leaves.
    tree
        The known tree.
    heritability
        float[g], of each feature.
    """

    def __init__(self, features: NDArray[np.float64], tree: Tree, heritability: NDArray[np.float64]) -> None:
        self._basis, self._spectrum = tree_spectrum(tree)
        self._rotated = self._basis.T @ features
        self._heritability = heritability

    def draw(self, generator: np.random.Generator, *, share: float = 1.0) -> NDArray[np.float64]:
        """float[n, g], standardised; heritabilities are ``share`` of what they are."""
        heritability = self._heritability * share
        scale = np.sqrt(self._spectrum[:, None] * heritability + 1 - heritability)
        k = len(self._spectrum)
        turn, upper = np.linalg.qr(generator.normal(size=(k, k)))
        turn = turn * np.sign(np.diagonal(upper))  # uniform among rotations
        return standardized(self._basis @ ((turn @ (self._rotated / scale)) * scale))


def heritable_weights(features: NDArray[np.float64], tree: Tree) -> NDArray[np.float64]:
    """float[g], the posterior mean of each feature's heritability on the tree."""
    return weigh_features(heritability_likelihoods(features, tree), max_iterations=50, tolerance=1e-3).weights
