"""Ridge regression from features to positions in the known tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._kernels import Matrix, _unit_scale

__all__ = ["PENALTIES", "ridge_kernel"]

# Shares of the kernel's mean eigenvalue; which one is used is decided by leave-one-out.
PENALTIES = (1e-3, 1e-2, 0.03, 0.1, 0.3, 1.0, 3.0)


def ridge_kernel(kernel: Matrix, known: NDArray[np.int64], paths: Matrix) -> Matrix:
    r"""float[n, n], inner products of the positions in a known tree that features predict for all leaves.

    A leaf's position in the known tree is its row Y of the tree's covariance :math:`C = -\frac12 J T J = Y Y'`, with T
    the path lengths between the m known leaves. Kernel ridge regression predicts it,

    .. math:: P = K_{\cdot k} (K_{kk} + a I)^{-1} Y,

    with kernels centred on the known leaves. The penalty a is the one whose predictions of each known leaf from the
    others have the least squared error, in closed form.

    Parameters
    ----------
    kernel
        float[n, n], of all leaves.
    known
        int[m], the known leaves among them.
    paths
        float[m, m], path lengths between them in the known tree.
    """
    m = len(known)
    targets = _positions(paths)
    to_known = kernel[:, known]
    among = to_known[known]
    mean = among.mean(axis=0)
    to_known = to_known - mean - to_known.mean(axis=1)[:, None] + mean.mean()
    values, vectors = np.linalg.eigh(among - mean - mean[:, None] + mean.mean())
    values = np.maximum(values, 0.0)
    rotated = vectors.T @ targets
    best, penalty = np.inf, 1.0
    for candidate in PENALTIES:
        share = values / (values + max(candidate * values.mean(), np.finfo(float).tiny))
        leverage = np.minimum((vectors**2) @ share + 1 / m, 1 - 1e-6)
        left_out = (targets - vectors @ (share[:, None] * rotated)) / (1 - leverage)[:, None]
        error = float((left_out**2).sum())
        if error < best:
            best, penalty = error, candidate
    weights = rotated / (values + max(penalty * values.mean(), np.finfo(float).tiny))[:, None]
    predicted = to_known @ (vectors @ weights)
    return _unit_scale(predicted @ predicted.T)


def _positions(paths: Matrix) -> Matrix:
    """float[m, r], Y with Y Y' = C."""
    mean = paths.mean(axis=0)
    values, vectors = np.linalg.eigh(-0.5 * (paths - mean - mean[:, None] + mean.mean()))
    kept = values > 1e-9 * values.max(initial=0.0)
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))
