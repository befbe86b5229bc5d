"""What the network is shown: features standardised, some left out, scaled, and rotated where that saves work."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..heritable._fit import standardized

__all__ = ["Preparation", "prepare"]


@dataclass(frozen=True, eq=False)
class Preparation:
    """How features become the network's inputs.

    Parameters
    ----------
    kept
        int64[k], the features that the network sees.
    scale
        float64[k], what each is multiplied by once it is standardised.
    rotation
        float64[k, r], the directions in which the leaves of the fit differ; k x 0 where features are not rotated.
    """

    kept: NDArray[np.int64]
    scale: NDArray[np.float64]
    rotation: NDArray[np.float64]

    @property
    def columns(self) -> int:
        """Number of the network's inputs."""
        return self.rotation.shape[1] or len(self.kept)

    @property
    def unit(self) -> float:
        """What inputs are divided by to have mean square 1 on the leaves of the fit; distances are those before it."""
        return float(np.sqrt((self.scale**2).sum() / self.columns)) or 1.0

    def __call__(self, features: NDArray[np.float64]) -> NDArray[np.float32]:
        """float32[n, r], features of any rows, standardised over these."""
        values = standardized(features[:, self.kept]) * self.scale
        if self.rotation.shape[1]:
            values = values @ self.rotation
        return np.asarray(values / self.unit, dtype=np.float32)


def prepare(
    features: NDArray[np.float64], kept: NDArray[np.int64], scale: NDArray[np.float64], *, rotate: bool
) -> Preparation:
    """Choose the inputs of the leaves of a fit.

    Parameters
    ----------
    features
        float[n, g].
    kept, scale
        As in :class:`Preparation`.
    rotate
        Whether inputs may be rotated into the span of the leaves: n - 1 columns or fewer hold all their distances,
        where there are more features than that.
    """
    rotation = np.empty((len(kept), 0))
    if rotate and len(kept) >= len(features):
        values = standardized(features[:, kept]) * scale
        left, singular, _ = np.linalg.svd(values @ values.T)
        rank = max(1, int((singular > singular[0] * 1e-12 * len(singular)).sum()))
        rotation = values.T @ (left[:, :rank] / np.sqrt(singular[:rank]))
    return Preparation(kept, scale, rotation)
