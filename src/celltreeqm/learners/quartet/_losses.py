"""The losses: pure functions of tensors, each the paper's formula and nothing else."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import torch
from torch import Tensor

__all__ = [
    "Additivity",
    "QuartetMode",
    "additivity_loss",
    "close_loss",
    "deviation_loss",
    "identity_penalty",
    "pairwise_distances",
    "quadruplet_loss",
    "quartet_sums",
    "sparsity_penalty",
    "triplet_loss",
]

QuartetMode: TypeAlias = Literal["mismatched", "matched", "all"]

_TINY = 1e-12  # below it a squared distance counts as none: the root has no slope at 0


def pairwise_distances(points: Tensor, *, squared: bool = False) -> Tensor:
    """Euclidean distances, float[n, n], between the rows of float[n, d]; the slope at distance 0 is 0."""
    centred = points - points.mean(dim=0)
    norms = (centred * centred).sum(dim=1)
    squares = (norms[:, None] + norms - 2 * (centred @ centred.T)).clamp(min=0.0)
    apart = squares > _TINY
    squares = torch.where(apart, squares, torch.zeros_like(squares))
    squares = squares * (1 - torch.eye(len(points), dtype=points.dtype, device=points.device))
    if squared:
        return squares
    return torch.where(squares > 0, squares, torch.ones_like(squares)).sqrt() * (squares > 0)


def quartet_sums(distances: Tensor, quartets: Tensor) -> Tensor:
    r"""The three sums of a quartet's distances, float[3, q]: of ``ab|cd``, ``ac|bd`` and ``ad|bc``.

    The paper's :math:`S`, in the order of the topologies of :class:`~celltreeqm.quartets.Quartets`.

    Parameters
    ----------
    distances
        float[n, n]; entries are gathered from it where it is, nothing of it is copied.
    quartets
        int64[q, 4], row numbers.
    """
    a, b, c, d = quartets.unbind(dim=1)
    n = distances.shape[0]
    entries = torch.stack([a * n + b, c * n + d, a * n + c, b * n + d, a * n + d, b * n + c])
    gathered = distances.reshape(-1).index_select(0, entries.reshape(-1)).reshape(6, -1)
    return gathered[0::2] + gathered[1::2]


class Additivity(NamedTuple):
    """The additivity loss and its parts.

    Parameters
    ----------
    loss
        ``close_weight * close + push_weight * push``.
    close, push
        Means over the quartets that count.
    mismatched
        The share of all quartets whose smallest sum is not that of their topology.
    """

    loss: Tensor
    close: Tensor
    push: Tensor
    mismatched: Tensor


def additivity_loss(
    distances: Tensor,
    quartets: Tensor,
    *,
    margin: float = 0.5,
    close_weight: float = 1.0,
    push_weight: float = 1.0,
    mode: QuartetMode = "mismatched",
) -> Additivity:
    r"""How far known quartets are from the four-point condition (the paper's Eq. quartet_loss).

    With :math:`S_3` the sum of the known topology and :math:`S_1, S_2` the other two,

    .. math:: \mathcal{L}_{\mathrm{close}} = |S_1 - S_2|, \qquad
              \mathcal{L}_{\mathrm{push}} = \Bigl[S_3 - \frac{S_1 + S_2}{2} + m_0\Bigr]_+,

    each averaged over the quartets that count: those whose smallest sum is not the known one ("mismatched", the
    baseline of the paper's loss study), those whose smallest sum is ("matched"), or "all". Where none counts, both
    are 0.

    Parameters
    ----------
    distances
        float[n, n].
    quartets
        int64[q, 4], all of topology ``ab|cd``.
    margin, close_weight, push_weight
        :math:`m_0` and the weights of the two parts.
    mode
        Which quartets count.
    """
    with torch.no_grad():
        sums = quartet_sums(distances.detach(), quartets)
        mismatched = sums.argmin(dim=0) != 0
        if mode == "mismatched":
            quartets = quartets[mismatched]
        elif mode == "matched":
            quartets = quartets[~mismatched]
    share = mismatched.to(distances.dtype).mean() if len(mismatched) else distances.new_zeros(())
    if not len(quartets):
        nothing = distances.sum() * 0.0
        return Additivity(nothing, nothing, nothing, share)
    smallest, first, second = quartet_sums(distances, quartets)
    close = (first - second).abs().mean()
    push = (smallest - (first + second) / 2 + margin).clamp(min=0.0).mean()
    return Additivity(close_weight * close + push_weight * push, close, push, share)


def close_loss(distances: Tensor, quartets: Tensor) -> Tensor:
    r"""The unsupervised loss: the mean gap between the two largest sums, as they are in the embedding.

    .. math:: \mathcal{L}_{\mathrm{close}} = |S_{(1)} - S_{(2)}|

    with the sums sorted by size (the paper's appendix "Unsupervised Setting").
    """
    ordered = quartet_sums(distances, quartets).sort(dim=0, descending=True).values
    return (ordered[0] - ordered[1]).mean()


def deviation_loss(embedded: Tensor, original: Tensor, *, scale: tuple[float, float] = (1.0, 1.0)) -> Tensor:
    r"""How far distances in the embedding are from those of the features (the paper's deviation loss).

    .. math:: \Omega(f, X) = \frac1N \lVert \mathcal{D}(f(X)) - \mathcal{D}(X) \rVert_F^2

    Parameters
    ----------
    embedded, original
        float[n, n], both distance matrices.
    scale
        What each is divided by first: the square roots of both dimensions make it independent of them.
    """
    gap = embedded / scale[0] - original / scale[1]
    return (gap * gap).sum() / len(embedded)


def sparsity_penalty(gates: Tensor) -> Tensor:
    r"""The share of features that are on, :math:`\sum_i g_i / g` (the paper's sparsity penalty without its weight)."""
    return gates.mean()


def triplet_loss(squares: Tensor, triplets: Tensor, *, margin: float = 0.5) -> Tensor:
    r"""The triplet loss (the paper's Eq. triplet_loss), averaged over triplets instead of summed.

    .. math:: \bigl[ \lVert f(A) - f(P) \rVert^2 - \lVert f(A) - f(N) \rVert^2 + m_0 \bigr]_+

    Parameters
    ----------
    squares
        float[n, n], squared distances.
    triplets
        int64[q, 3], anchor, positive and negative.
    margin
        :math:`m_0`.
    """
    anchor, positive, negative = triplets.unbind(dim=1)
    return (squares[anchor, positive] - squares[anchor, negative] + margin).clamp(min=0.0).mean()


def quadruplet_loss(squares: Tensor, quadruplets: Tensor, *, margins: tuple[float, float] = (0.5, 0.25)) -> Tensor:
    r"""The quadruplet loss (the paper's Eq. quadruplet_loss), averaged over quadruplets instead of summed.

    .. math:: \bigl[ \lVert f(A) - f(P) \rVert^2 - \lVert f(A) - f(N) \rVert^2 + \alpha \bigr]_+
              + \bigl[ \lVert f(A) - f(P) \rVert^2 - \lVert f(N') - f(N) \rVert^2 + \beta \bigr]_+

    Parameters
    ----------
    squares
        float[n, n], squared distances.
    quadruplets
        int64[q, 4], anchor, positive, negative and second negative.
    margins
        :math:`\alpha` and :math:`\beta`.
    """
    anchor, positive, negative, second = quadruplets.unbind(dim=1)
    together = squares[anchor, positive]
    first = (together - squares[anchor, negative] + margins[0]).clamp(min=0.0)
    return (first + (together - squares[second, negative] + margins[1]).clamp(min=0.0)).mean()


def identity_penalty(matrix: Tensor) -> Tensor:
    r"""The paper's penalty of the unsupervised gate, :math:`\lVert G - I \rVert_1`, the sum over entries."""
    return (matrix - torch.eye(len(matrix), dtype=matrix.dtype, device=matrix.device)).abs().sum()
