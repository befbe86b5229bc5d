"""Weights from trees and trees from weights in turn, from several starts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...trees import Tree
from ._folds import Build, Folds
from ._likelihood import LAMBDAS, Edges, heritability_likelihoods
from ._weights import FeatureWeights, distrust_contradicted, weigh_features

__all__ = ["Ending", "alternate", "known_likelihoods", "spectral_weights", "weigh_on_folds"]


class Ending(NamedTuple):
    """Where the alternation ended from one start: what it learned, after how many iterations, and if it converged."""

    start: str
    learned: FeatureWeights
    iterations: int
    converged: bool


def alternate(
    folds: Folds,
    starts: Mapping[str, NDArray[np.float64]],
    build: Build,
    *,
    known: NDArray[np.float64] | None = None,
    max_iterations: int = 20,
    tolerance: float = 0.01,
) -> list[Ending]:
    """Alternate between trees and weights from each start; the ending with the most evidence comes first.

    One iteration builds trees from all features but one fold, weighted as they are so far, and weighs the features of
    that fold by their likelihood on that tree, fold after fold. A feature so never vouches for itself. The evidence of
    an ending is the likelihood of all features, each on trees that it had no part in.

    Parameters
    ----------
    folds
        The features.
    starts
        Weights to start from, float[g], by name.
    build
        Makes the tree of distances; under the prior, if there is one.
    known
        float[g, l], log-likelihoods of the features on the known part of the tree, which has a say as well
        (see :func:`distrust_contradicted`).
    max_iterations, tolerance
        It ends when the trees stay the same, when the weights change by no more than this share of their sum, or after
        so many iterations.
    """
    endings = []
    for name, start in starts.items():
        weights, converged, iteration = start, False, 0
        before: tuple[Tree, ...] = ()
        while not converged and iteration < max_iterations:
            iteration += 1
            learned, trees = weigh_on_folds(folds, weights, build, known)
            change = np.abs(learned.weights - weights).sum()
            converged = bool(change <= tolerance * weights.sum()) or _same(trees, before)
            weights, before = learned.weights, trees
        endings.append(Ending(name, learned, iteration, converged))
    return sorted(endings, key=lambda ending: -ending.learned.evidence.sum())


def weigh_on_folds(
    folds: Folds, weights: NDArray[np.float64], build: Build, known: NDArray[np.float64] | None = None
) -> tuple[FeatureWeights, tuple[Tree, ...]]:
    """One iteration of :func:`alternate`: what is learned of each feature on trees of the others; and these trees."""
    likelihoods, trees = folds.cross_fit(weights, build)
    learned = weigh_features(likelihoods)
    return (learned if known is None else distrust_contradicted(learned, known)), trees


def known_likelihoods(
    features: NDArray[np.float64], leaves: Sequence[str], prior: Iterable[Tree], edges: Edges = "unit"
) -> NDArray[np.float64]:
    """float[g, l], the likelihoods of features on the prior's trees, each on its own leaves, summed over trees."""
    row = {name: i for i, name in enumerate(leaves)}
    out = np.zeros((features.shape[1], len(LAMBDAS)))
    for tree in prior:
        if tree.n_leaves > 3:
            out += heritability_likelihoods(features[[row[name] for name in tree.leaves]], tree, edges=edges)
    return out


def spectral_weights(
    features: NDArray[np.float64], *, max_iterations: int = 50, tolerance: float = 1e-3
) -> NDArray[np.float64]:
    r"""float[g], weights of features by how much their distance patterns agree with those of other features.

    The leading eigenvector, with no value below 0, of the matrix of agreements

    .. math:: A_{fg} = (z_f \cdot z_g)^2 - \frac{n^2}{n - 1} \quad (f \ne g), \qquad A_{ff} = 0,

    of standardised features z: the squared correlation of two features, above what is expected of independent ones, is
    the agreement of their matrices of products over pairs of leaves. Power iteration needs no g x g matrix, as
    :math:`\sum_g v_g (z_f \cdot z_g)^2 = z_f' (\sum_g v_g z_g z_g') z_f`.

    Parameters
    ----------
    features
        float[n, g], standardised; constant features are 0.
    max_iterations, tolerance
        It ends after so many iterations, or when no weight changes by more than the tolerance. The largest is 1.
    """
    n = len(features)
    varied = features.any(axis=0)
    weights = np.asarray(varied, dtype=np.float64)
    for _ in range(max_iterations):
        previous = weights
        agreement = np.einsum("ng,ng->g", (features * weights) @ features.T @ features, features)
        agreement -= n**2 * (weights + (weights.sum() - weights) / (n - 1))
        weights = np.maximum(agreement, 0.0) * varied
        if not weights.any():
            return np.asarray(varied, dtype=np.float64)
        weights /= weights.max()
        if np.abs(weights - previous).max() < tolerance:
            break
    return weights


def _same(trees: tuple[Tree, ...], others: tuple[Tree, ...]) -> bool:
    return len(trees) == len(others) and all(
        tree.same_topology(other) for tree, other in zip(trees, others, strict=True)
    )
