"""Kernels: inner products between leaves, from which every distance of a candidate comes."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Metric", "centred_products", "correlations", "kernel_distances", "partly_whitened"]

Metric: TypeAlias = Literal["euclidean", "squared", "correlation", "whitened"]
Matrix: TypeAlias = NDArray[np.float64]


def centred_products(features: Matrix, weights: Matrix) -> Matrix:
    r"""float[n, n], :math:`\sum_f w_f (x_{if} - \bar x_f)(x_{jf} - \bar x_f)`, scaled to mean squared distance 1.

    Parameters
    ----------
    features
        float[n, g].
    weights
        float[g], not negative.
    """
    centred = features - features.mean(axis=0)
    return _unit_scale((centred * weights) @ centred.T)


def correlations(features: Matrix, weights: Matrix) -> Matrix:
    r"""float[n, n], the weighted correlations of leaves over features, scaled to mean squared distance 1.

    With :math:`m_i = \sum_f w_f x_{if} / \sum_f w_f`, row i becomes :math:`\sqrt{w_f} (x_{if} - m_i)` at length 1.
    A leaf with the same value in all features correlates with none.
    """
    total = max(float(weights.sum()), np.finfo(float).tiny)
    rows = features - ((features @ weights) / total)[:, None]
    rows *= np.sqrt(weights)
    length = np.sqrt((rows * rows).sum(axis=1))
    flat = length <= 1e-12 * length.max(initial=0.0)
    rows *= (~flat / np.where(flat, 1.0, length))[:, None]
    return _unit_scale(rows @ rows.T)


def partly_whitened(kernel: Matrix) -> Matrix:
    """float[n, n], the kernel's square root: axes of much variation count less, as if each were shrunk by its root."""
    values, vectors = np.linalg.eigh(_centred(kernel))
    values[values < 1e-12 * max(values[-1], 0.0)] = 0.0  # the root would make rounding errors large
    return _unit_scale((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


def kernel_distances(kernel: Matrix, *, squared: bool = False) -> Matrix:
    """float[n, n], the distances between points with these inner products."""
    size = np.diagonal(kernel)
    apart = size[:, None] + size - (kernel + kernel.T)
    np.fill_diagonal(apart, 0.0)
    apart = np.maximum(apart, 0.0)
    return apart if squared else np.asarray(np.sqrt(apart))


def _centred(kernel: Matrix) -> Matrix:
    mean = kernel.mean(axis=0)
    return np.asarray(kernel - mean - mean[:, None] + mean.mean())


def _unit_scale(kernel: Matrix) -> Matrix:
    """The kernel, centred, and scaled so that the mean squared distance of two points is 1; or 0, as it came."""
    centred = _centred(kernel)
    n = len(centred)
    spread = 2 * np.trace(centred) / max(n - 1, 1)
    return np.asarray(centred / spread) if spread > 0 else np.zeros_like(centred)
