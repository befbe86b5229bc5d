"""Empirical Bayes over heritabilities: how much each feature is to count."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._likelihood import LAMBDAS

__all__ = ["FeatureWeights", "distrust_contradicted", "weigh_features"]

_NULL_COUNT = 10


class FeatureWeights(NamedTuple):
    """How heritable each feature is.

    Parameters
    ----------
    weights
        float[g], the posterior mean of Pagel's lambda.
    gates
        float[g], the posterior probability that lambda is not 0.
    evidence
        float[g], the log-likelihood of each feature, above that at lambda = 0.
    posterior
        float[g, l], the posterior probability of each lambda.
    """

    weights: NDArray[np.float64]
    gates: NDArray[np.float64]
    evidence: NDArray[np.float64]
    posterior: NDArray[np.float64]


def weigh_features(
    likelihoods: NDArray[np.float64],
    lambdas: NDArray[np.float64] = LAMBDAS,
    *,
    max_iterations: int = 200,
    tolerance: float = 1e-4,
) -> FeatureWeights:
    r"""Posterior heritabilities, with the share of features at each heritability learned from all features.

    A feature has heritability :math:`\lambda_j` with probability :math:`\pi_j`, which EM estimates from all features. A
    pseudo-count of one feature, spread over the grid, keeps every :math:`\pi_j` above 0; ten more at 0 decide for no
    heritability where features cannot tell, as little of it looks much like none.

    Parameters
    ----------
    likelihoods
        float[g, l], log-likelihoods, up to a constant for each feature.
    lambdas
        float[l], the first of which is 0.
    max_iterations, tolerance
        EM ends after so many steps, or when no share changes by as much as the tolerance.

    Examples
    --------
    >>> told = weigh_features(np.array([[0, 9], [0, 8], [0, -5], [0, -6]]), np.array([0, 0.9]))
    >>> told.weights.round(2), (told.gates > 0.5).tolist()
    (array([0.9, 0.9, 0. , 0. ]), [True, True, False, False])
    """
    peak = likelihoods.max(axis=1, keepdims=True)
    relative = np.exp(likelihoods - peak)
    g, size = relative.shape
    shares = np.full(size, 1 / size)
    pseudo = 1 / size + _NULL_COUNT * (lambdas == 0)
    for _ in range(max_iterations):
        before = shares
        shares = (_normalized(relative * shares).sum(axis=0) + pseudo) / (g + pseudo.sum())
        if np.abs(shares - before).max() < tolerance:
            break
    posterior = _normalized(relative * shares)
    return FeatureWeights(
        weights=posterior @ lambdas,
        gates=np.minimum(posterior[:, 1:].sum(axis=1), 1.0),
        evidence=(np.log(relative @ shares) + (peak - likelihoods[:, :1])[:, 0]),
        posterior=posterior,
    )


def distrust_contradicted(
    learned: FeatureWeights, known: NDArray[np.float64], *, max_iterations: int = 200, tolerance: float = 1e-4
) -> FeatureWeights:
    r"""What was learned on trees of other features, less where the known part of the tree contradicts it.

    Features that agree with each other need not follow the lineage: batches and cell programs make trees too. With
    :math:`b_f` the likelihood of feature f on the known tree at the heritability learned elsewhere, over that at
    heritability 0, and :math:`\rho` the share of true lineage among all that looks heritable, feature f follows the
    lineage with probability

    .. math:: t_f = \frac{\rho b_f}{\rho b_f + 1 - \rho},

    where :math:`\rho` is estimated by EM. Weights, gates and evidence are multiplied by min(1, 2 t): what is more
    likely true than not is trusted, since little is often known.

    Parameters
    ----------
    learned
        Of g features.
    known
        float[g, l], their log-likelihoods on the known tree.
    max_iterations, tolerance
        EM ends after so many steps, or when :math:`\rho` changes by less than the tolerance.

    Examples
    --------
    >>> lambdas = np.array([0, 0.9])
    >>> learned = weigh_features(np.array([[0, 9], [0, 9], [0, 9], [0, -6]]), lambdas)
    >>> distrust_contradicted(learned, np.array([[0, 3], [0, 2], [0, -6], [0, 0]])).weights.round(1)
    array([0.9, 0.9, 0. , 0. ])
    """
    relative = np.exp(known - known.max(axis=1, keepdims=True))
    heritable = _normalized(np.maximum(learned.posterior[:, 1:], np.finfo(float).tiny))
    follows, not_at_all = (heritable * relative[:, 1:]).sum(axis=1), relative[:, 0]
    share = 0.5
    for _ in range(max_iterations):
        trust = share * follows / (share * follows + (1 - share) * not_at_all)
        before, share = share, float(((learned.gates * trust).sum() + 1) / (learned.gates.sum() + 2))
        if abs(share - before) < tolerance:
            break
    factor = np.minimum(1.0, 2 * trust)
    return learned._replace(
        weights=learned.weights * factor, gates=learned.gates * factor, evidence=learned.evidence * factor
    )


def _normalized(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))
