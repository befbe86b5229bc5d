"""Recall and precision of the features that a learner selected."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["FeatureRecovery", "feature_recovery"]


class FeatureRecovery(NamedTuple):
    """How well the selected features are the signal features.

    Parameters
    ----------
    recall
        The share of the signal features that were selected, NaN if there is no signal feature.
    precision
        The share of the selected features that are signal, NaN if nothing was selected.
    """

    recall: float
    precision: float


def feature_recovery(selected: ArrayLike, signal: ArrayLike) -> FeatureRecovery:
    """Recall and precision of selected features (the paper's table of simulations, "G-Gate Performance").

    Parameters
    ----------
    selected, signal
        bool[g], the features that were selected and those that carry the signal.

    Examples
    --------
    >>> feature_recovery([True, True, False, False], [True, False, False, False])
    FeatureRecovery(recall=1.0, precision=0.5)
    """
    chosen, true = np.asarray(selected), np.asarray(signal)
    for name, mask in (("selected", chosen), ("signal", true)):
        if mask.ndim != 1 or mask.dtype != bool:
            raise ValueError(
                f"{name} has shape {mask.shape} and type {mask.dtype}; a mask of booleans was needed, one a feature. "
                "Scores become one by a threshold: scores > 0."
            )
    if len(chosen) != len(true):
        raise ValueError(f"selected has {len(chosen)} features and signal {len(true)}; they must be the same features.")
    both = int((chosen & true).sum())
    return FeatureRecovery(
        recall=both / int(true.sum()) if true.any() else float("nan"),
        precision=both / int(chosen.sum()) if chosen.any() else float("nan"),
    )
