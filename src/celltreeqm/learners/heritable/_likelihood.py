"""Brownian likelihood of features on a tree, without a root, with Pagel's lambda."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...trees import Tree

__all__ = ["LAMBDAS", "Edges", "heritability_likelihoods", "tree_spectrum"]

Edges = Literal["unit", "length"]

# Denser near 1, where the likelihood of a well-inherited feature changes fastest; at 1 itself it has no bound if two
# leaves are no distance apart in the tree.
LAMBDAS: NDArray[np.float64] = np.array([0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99])
LAMBDAS.flags.writeable = False


def heritability_likelihoods(
    features: NDArray[np.float64],
    tree: Tree,
    *,
    edges: Edges = "unit",
    lambdas: NDArray[np.float64] = LAMBDAS,
) -> NDArray[np.float64]:
    r"""The log-likelihood of each feature at each heritability, given the tree, above that at heritability 0.

    In the n - 1 dimensions orthogonal to the mean over leaves, a feature is Gaussian with covariance

    .. math:: \sigma^2 (\lambda C + (1 - \lambda) I), \qquad C \propto -\tfrac12 J T J,

    with T the path lengths between leaves, J = I - 11'/n, and C scaled to mean eigenvalue 1. As only differences
    between leaves count, the root does not. :math:`\sigma^2` takes its most likely value. With U the eigenvectors of C
    and :math:`\gamma` its eigenvalues, r = U'x and :math:`d_k = \lambda \gamma_k + 1 - \lambda`,

    .. math:: \log L(\lambda) = -\frac{n - 1}{2} \log \sum_k \frac{r_k^2}{d_k} - \frac12 \sum_k \log d_k
              + \mathrm{const},

    so that one eigendecomposition and one rotation serve all features and heritabilities.

    Parameters
    ----------
    features
        float[n, g], rows in the order of ``tree.leaves``. Neither shifts nor scales of columns matter.
    tree
        Any tree on three leaves or more; a polytomy is a polytomy.
    edges
        Whether every edge counts as 1, or as its length.
    lambdas
        float[l], heritabilities of at least 0 and below 1.

    Returns
    -------
    float[g, l]
        0 in the row of a feature that is the same in all leaves.

    Examples
    --------
    >>> from celltreeqm.trees import parse_newick
    >>> tree = parse_newick("(((a,b),(c,d)),((e,f),(g,h)));")
    >>> inherited, not_inherited = [1, 1, 2, 2, 5, 5, 6, 6], [1, 5, 2, 6, 1, 5, 2, 6]
    >>> x = np.array([inherited, not_inherited], dtype=float).T
    >>> heritability_likelihoods(x, tree, lambdas=np.array([0, 0.9]))[:, 1].round(1)
    array([ 3.2, -1.6])
    """
    basis, spectrum = tree_spectrum(tree, edges)
    squared = (basis.T @ features).T ** 2
    scale = np.ptp(features, axis=0)
    varied = scale > 0
    squared /= np.where(varied, scale, 1.0)[:, None] ** 2
    shape = np.multiply.outer(lambdas, spectrum) + (1 - lambdas)[:, None]
    total = np.maximum(squared @ (1 / shape).T, np.finfo(float).tiny)
    total[~varied] = 1.0
    out = -0.5 * len(spectrum) * (np.log(total) - np.log(np.maximum(squared.sum(axis=1, keepdims=True), 1e-300)))
    out -= 0.5 * np.log(shape).sum(axis=1)
    out[~varied] = 0.0
    return np.asarray(out)


def tree_spectrum(tree: Tree, edges: Edges = "unit") -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Eigenvectors, float[n, n - 1], and eigenvalues of C: of covariance along the tree, orthogonal to the mean."""
    paths = tree.unroot().distances(by="topology" if edges == "unit" else "length")
    n = len(paths)
    centred = paths - paths.mean(axis=0) - paths.mean(axis=1)[:, None] + paths.mean()
    centred *= -0.5
    size = np.trace(centred) or 1.0
    # Lifted above all others, the mean has an eigenvector of its own: the last.
    values, vectors = np.linalg.eigh(centred / size + 2.0 / n)
    spectrum = np.maximum(values[:-1], 0.0)
    return vectors[:, :-1], spectrum * ((n - 1) / (spectrum.sum() or 1.0))
