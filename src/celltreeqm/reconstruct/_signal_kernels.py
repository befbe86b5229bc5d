"""Representations of features for the signal test, each as a kernel of the leaves."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ..learners.adaptive._kernels import centred_products, correlations

__all__ = ["representation_kernels", "standardized_columns"]

Matrix = NDArray[np.float64]

_LOG_RANGE = 7.0  # exp(7) is about a thousand: what logarithms of counts usually span


def representation_kernels(features: Matrix, *, not_negative: bool) -> Mapping[str, Matrix]:
    """The kernels of the leaves, float[m, m], by representation; each centred and of mean squared distance 1.

    None depends on the unit of the features, that is on a factor common to all of them: logarithms are undone as if
    the largest value were exp(7) counts, whatever their base.

    Parameters
    ----------
    features
        float[m, g], none of them constant.
    not_negative
        Whether they may be logarithms of counts, which are then undone as one representation more.
    """
    largest = np.abs(features).max()
    given = features / largest if largest > 0 else features
    alike = np.ones(features.shape[1])
    kernels = {
        "as given": centred_products(given, alike),
        "standardised": centred_products(standardized_columns(given), alike),
        "signed square root": centred_products(np.sign(given) * np.sqrt(np.abs(given)), alike),
        "centred unit rows": correlations(given, alike),
    }
    if not_negative:
        kernels["re-linearised"] = centred_products(np.expm1(_LOG_RANGE * given), alike)
    return kernels


def standardized_columns(features: Matrix) -> Matrix:
    """float[m, g], columns of mean 0 and standard deviation 1; 0 where the deviation is lost to underflow."""
    centred = features - features.mean(axis=0)
    deviation = centred.std(axis=0)
    return np.asarray(centred * ((deviation > 0) / np.where(deviation > 0, deviation, 1.0)))
