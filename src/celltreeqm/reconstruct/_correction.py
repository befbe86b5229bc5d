"""A correction of support: a small logistic model that starts from raw support and moves away where labels say so."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["PENALTIES", "Correction", "cross_validated_loss", "learn_correction", "log_loss"]

PENALTIES = (1.0, 3.0, 10.0, 30.0, 100.0)
_FREE = 0.03  # the intercept's penalty: hardly any, so that a share of true clades far from raw support is reached


@dataclass(frozen=True)
class Correction:
    r"""Turns the description of clades into the probability that each is true.

    With r the raw support as log odds and x the description, standardised, a clade is true with log odds

    .. math:: r + b_0 + \sum_k b_k x_k.

    Parameters
    ----------
    intercept
        :math:`b_0`.
    coefficients
        float[k].
    means, scales
        float[k], by which the description is standardised.
    """

    intercept: float
    coefficients: tuple[float, ...]
    means: tuple[float, ...]
    scales: tuple[float, ...]

    def __call__(self, description: NDArray[np.float64]) -> NDArray[np.float64]:
        """float[e], the probability that each of the clades described is true; the first column is r."""
        standard = (description - np.array(self.means)) / np.array(self.scales)
        return _logistic(description[:, 0] + self.intercept + standard @ np.array(self.coefficients))


def learn_correction(
    description: NDArray[np.float64],
    true: NDArray[np.float64],
    penalty: float,
    *,
    weights: NDArray[np.float64] | None = None,
) -> Correction:
    """The correction that clades of known truth speak for, held to no correction by a ridge penalty.

    Parameters
    ----------
    description
        float[e, k].
    true
        float[e], 0 or 1.
    penalty
        Of the squared coefficients, in clades.
    weights
        float[e], how much each clade counts; default 1.
    """
    counts = np.ones(len(true)) if weights is None else weights
    means, scales = description.mean(axis=0), description.std(axis=0)
    scales = np.where(scales > 1e-9, scales, 1.0)
    design = np.column_stack([np.ones(len(true)), (description - means) / scales])
    held = np.full(design.shape[1], penalty)
    held[0] = _FREE
    b = np.zeros(design.shape[1])
    loss = _penalized(design @ b + description[:, 0], true, counts, held, b)
    for _ in range(100):
        p = _logistic(description[:, 0] + design @ b)
        slope = design.T @ (counts * (p - true)) + held * b
        curve = (design * (counts * p * (1 - p))[:, None]).T @ design + np.diag(held)
        step = np.linalg.solve(curve, slope)
        size = 1.0
        while size > 1e-6:
            tried = b - size * step
            lower = _penalized(design @ tried + description[:, 0], true, counts, held, tried)
            if lower <= loss:
                break
            size /= 2
        else:
            break
        done = loss - lower < 1e-10 * (1 + abs(loss))
        b, loss = tried, lower
        if done:
            break
    return Correction(float(b[0]), tuple(b[1:].tolist()), tuple(means.tolist()), tuple(scales.tolist()))


def cross_validated_loss(
    description: NDArray[np.float64], true: NDArray[np.float64], group: NDArray[np.int64], penalty: float
) -> NDArray[np.float64]:
    """float[e], the log loss of each clade by the correction learned from the other groups."""
    out = np.zeros(len(true))
    for one in np.unique(group):
        inside = group == one
        learned = learn_correction(description[~inside], true[~inside], penalty)
        out[inside] = log_loss(learned(description[inside]), true[inside])
    return out


def log_loss(probability: NDArray[np.float64], true: NDArray[np.float64]) -> NDArray[np.float64]:
    """float[e], minus the logarithm of the probability given to what is so."""
    told = np.where(true > 0.5, probability, 1 - probability)
    return np.asarray(-np.log(np.maximum(told, 1e-12)))


def _logistic(z: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(0.5 * (1 + np.tanh(0.5 * z)))


def _penalized(
    z: NDArray[np.float64],
    true: NDArray[np.float64],
    counts: NDArray[np.float64],
    held: NDArray[np.float64],
    b: NDArray[np.float64],
) -> float:
    return float((counts * (np.logaddexp(0.0, z) - true * z)).sum() + 0.5 * (held * b * b).sum())
