"""Synthetic draws: features that evolve along a tree, shown to the network in turn with the real ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ...trees import Tree
from ..heritable import tree_spectrum

__all__ = ["BrownianDraws", "brownian_draws"]


@dataclass(frozen=True, eq=False)
class BrownianDraws:
    r"""Features of a set of leaves by Brownian motion along a tree with Pagel's :math:`\lambda`.

    A column is :math:`U (\lambda \gamma + 1 - \lambda)^{1/2} \epsilon`, with U and :math:`\gamma` the eigenvectors and
    eigenvalues of the covariance along the tree (as in :func:`heritability_likelihoods`) and :math:`\epsilon` standard
    normal; it is standardised and scaled as the real features are. A network that remembers which leaf is which from
    the real features alone learns from these what a tree looks like.

    Parameters
    ----------
    basis, spectrum
        float32[n, n - 1] and float32[n - 1], U and :math:`\gamma`.
    heritability
        float32[r], :math:`\lambda` of each column.
    scale
        float32[r], the sd of each.
    """

    basis: Tensor
    spectrum: Tensor
    heritability: Tensor
    scale: Tensor

    def __call__(self, generator: torch.Generator) -> Tensor:
        """float32[n, r], one draw of all features."""
        size = (len(self.spectrum), len(self.heritability))
        drawn = torch.randn(size, generator=generator, device=self.basis.device)
        spread = self.spectrum[:, None] * self.heritability + (1 - self.heritability)
        columns = self.basis @ (drawn * spread.sqrt())
        return columns / columns.std(dim=0, correction=0).clamp(min=1e-12) * self.scale


def brownian_draws(
    tree: Tree,
    names: Sequence[str],
    heritability: NDArray[np.float64],
    scale: NDArray[np.float64],
    device: torch.device,
) -> BrownianDraws:
    """Draws along a tree on exactly these leaves, rows in their order; every edge counts as 1."""
    basis, spectrum = tree_spectrum(tree)
    basis = basis[[tree.index[name] for name in names]]
    parts = (np.ascontiguousarray(part, dtype=np.float32) for part in (basis, spectrum, heritability, scale))
    return BrownianDraws(*(torch.from_numpy(part).to(device) for part in parts))
