"""Candidates at work: from features to kernels and distances."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...trees import Tree
from ..heritable import HeritableLearner
from ._candidates import CANDIDATES, Candidate, Ridge
from ._kernels import Matrix, centred_products, correlations, kernel_distances, partly_whitened
from ._ridge import ridge_kernel
from ._scales import rescale

__all__ = [
    "Heritability",
    "base_kernel",
    "candidate_distances",
    "heritability_on_scale",
    "labelled_trees",
    "resolved_leaves",
    "rows_for",
    "with_ridge",
]

_FEWEST_LABELLED = 8


class Heritability(NamedTuple):
    """Heritable weights of features on a scale, float[g], and the posterior probability that they are not 0."""

    weights: NDArray[np.float64]
    gates: NDArray[np.float64]


def rows_for(scales: Sequence[str], *, labelled: bool) -> tuple[Candidate, ...]:
    """The candidates on these scales; with ridge regression only where some leaves are labelled."""
    return tuple(row for row in CANDIDATES if row.scale in scales and (labelled or row.ridge == "none"))


def labelled_trees(prior: Iterable[Tree]) -> tuple[Tree, ...]:
    """The trees of a prior that resolve at least half of what they could, on eight leaves or more."""
    return tuple(
        tree for tree in prior if tree.n_leaves >= _FEWEST_LABELLED and len(tree.splits()) >= (tree.n_leaves - 3) / 2
    )


def resolved_leaves(labelled: Sequence[Tree]) -> tuple[str, ...]:
    """The leaves of labelled trees, each once, in order of appearance."""
    return tuple(dict.fromkeys(name for tree in labelled for name in tree.leaves))


def heritability_on_scale(
    scaled: Matrix, leaves: Sequence[str], prior: Sequence[Tree], seed: int, *, quick: bool = False
) -> Heritability:
    """Heritable weights of features on a scale; ``quick`` settles for less where many have to be compared."""
    learner = HeritableLearner(builder="neighbor_joining")
    if quick:
        learner = HeritableLearner(
            builder="neighbor_joining", repeats=1, max_iterations=3, max_starts=1 if prior else 2
        )
    fit = learner.fit(scaled, leaves, prior=prior or None, seed=seed)
    return Heritability(fit.weights, fit.gates)


def base_kernel(
    row: Candidate, scaled: Matrix, fitted: Matrix, heritability: Heritability | None, counts: Matrix | None = None
) -> Matrix:
    """float[n, n], the kernel of a candidate before any ridge regression.

    Parameters
    ----------
    row
        The candidate.
    scaled
        float[n, g], all rows on its scale.
    fitted
        float[m, g], the rows fitted on: they give the standard deviations where features are weighted by heritability.
    heritability
        For candidates that weigh by it.
    counts
        float[g], how often each feature was drawn in a bag; default once each.
    """
    weights = np.ones(scaled.shape[1]) if counts is None else counts
    if row.weighting == "heritable":
        assert heritability is not None
        variance = fitted.var(axis=0)
        weights = weights * heritability.weights / np.where(variance > 0, variance, 1.0)
    if row.metric == "correlation":
        return correlations(scaled, weights)
    kernel = centred_products(scaled, weights)
    return partly_whitened(kernel) if row.metric == "whitened" else kernel


def with_ridge(kernel: Matrix, ridge: Ridge, labelled: Sequence[Tree], index: dict[str, int]) -> Matrix:
    """float[n, n], the kernel with what ridge regression on each labelled tree makes of it."""
    if ridge == "none" or not labelled:
        return kernel
    predicted = np.mean(
        [
            # Without the root, which would make the edge that it is on count twice.
            ridge_kernel(
                kernel, np.array([index[name] for name in tree.leaves]), tree.unroot().distances(by="topology")
            )
            for tree in labelled
        ],
        axis=0,
    )
    return np.asarray(predicted if ridge == "alone" else kernel + predicted)


def candidate_distances(row: Candidate, kernel: Matrix) -> Matrix:
    """float[n, n], the distances of a candidate by its kernel, ridge regression included."""
    return kernel_distances(kernel, squared=row.metric == "squared")


def scaled_rows(scale: str, fitted: Matrix, new: Matrix | None) -> Matrix:
    """float[n + m, g], the rows fitted on and new ones below them, on a scale."""
    both = fitted if new is None else np.vstack([fitted, new])
    return rescale(scale, both, fitted)
