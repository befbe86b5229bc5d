"""Anchors, positives and negatives out of quartets: what the triplet and quadruplet losses are fed."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["quadruplets_of"]

_PAIRS = torch.tensor([[0, 1], [2, 3], [0, 2], [1, 3], [0, 3], [1, 2]])


def quadruplets_of(quartets: Tensor, distances: Tensor, lengths: Tensor | None = None) -> Tensor:
    """Anchor, positive, negative and second negative, int64[q', 4]; without the last column these are triplets.

    With known path lengths, as the paper says: the closest two leaves of a quartet are anchor and positive, the leaf
    farthest from the anchor is the negative, and the fourth is the second negative. Of a quartet of which only the
    topology ``ab|cd`` is known both pairs are anchor and positive, and the negative is the one of the other pair that
    is farthest from the anchor in the embedding as it is now: two rows a quartet.

    Parameters
    ----------
    quartets
        int64[q, 4], all of topology ``ab|cd``.
    distances
        float[n, n], in the embedding; used where there are no lengths.
    lengths
        float[n, n], path lengths on the known tree.
    """
    if lengths is None:
        quartets = torch.cat([quartets, quartets[:, [2, 3, 0, 1]]])
        lengths = distances
    else:
        pairs = _PAIRS.to(quartets.device)
        apart = lengths[quartets[:, pairs[:, 0]], quartets[:, pairs[:, 1]]]
        closest = pairs[apart.argmin(dim=1)]
        others = torch.ones_like(quartets, dtype=torch.bool).scatter_(1, closest, False)
        rest = torch.arange(4, device=quartets.device).expand_as(quartets)[others].view(-1, 2)
        quartets = torch.cat([quartets.gather(1, closest), quartets.gather(1, rest)], dim=1)
    anchor, positive, first, second = quartets.unbind(dim=1)
    farther = lengths[anchor, first] >= lengths[anchor, second]
    negative, other = torch.where(farther, first, second), torch.where(farther, second, first)
    return torch.stack([anchor, positive, negative, other], dim=1)
