"""Modules of genes that vary together: they are one observation of the lineage, not many."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..learners._features import FeatureMatrix, feature_values

__all__ = ["gene_modules"]

_MOST = 10_000  # features: their correlations are a matrix


def gene_modules(X: FeatureMatrix, *, correlation: float = 0.5) -> NDArray[np.int64]:
    """Cluster features by how they correlate across taxa, the sign left aside.

    Average linkage of 1 - abs(r), cut where the mean correlation between two modules falls below ``correlation``.
    Features that are the same in all taxa are modules of their own.

    Parameters
    ----------
    X
        float[n, g], one row a taxon; at most 10,000 features.
    correlation
        Between 0, which makes one module of all, and 1, which joins only copies.

    Returns
    -------
    ndarray
        int[g], the module of each feature, numbered by their first features.

    Examples
    --------
    >>> gene_modules([[0, 7, 1], [1, 5, 0], [2, 3, 0], [3, 1, 1]])
    array([0, 0, 1])
    """
    from scipy.cluster.hierarchy import fcluster, linkage

    values, _ = feature_values(X)
    g = values.shape[1]
    if isinstance(correlation, bool) or not 0 <= correlation <= 1:
        raise ValueError(f"correlation={correlation!r} was given; a number from 0 to 1 was needed.")
    if not np.isfinite(values).all():
        raise ValueError("The features have values that are not finite. Drop such features or taxa, or fill them in.")
    if g > _MOST:
        raise ValueError(
            f"{g} features came; modules are made of {_MOST} at most, as all their correlations are held in memory. "
            "Keep the most variable ones, or bootstrap single features."
        )
    if g == 1:
        return np.zeros(1, dtype=np.int64)
    spread = np.ptp(values, axis=0)
    unit = (values - values[:1]) / np.where(spread > 0, spread, 1.0)
    unit -= unit.mean(axis=0)
    length = np.sqrt((unit * unit).sum(axis=0))
    unit /= np.where((spread > 0) & (length > 0), length, 1.0)
    unit[:, spread == 0] = 0.0
    apart = 1 - np.abs(unit.T @ unit)
    pairs = np.maximum(apart[np.triu_indices(g, 1)], 0.0)
    found = fcluster(linkage(pairs, "average"), 1 - correlation + 1e-9, "distance")
    _, first, module = np.unique(found, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[module], dtype=np.int64)
