"""The objective of one step: the losses of the settings, weighed and added up."""

from __future__ import annotations

import math
from typing import NamedTuple

from torch import Tensor

from ._losses import additivity_loss, close_loss, deviation_loss, pairwise_distances, quadruplet_loss, triplet_loss
from ._network import Embedded
from ._settings import Settings
from ._triplets import quadruplets_of

__all__ = ["Objective", "Parts"]

_LEAST_FEATURES = 16


class Parts(NamedTuple):
    """The loss and what it is made of, each before its weight.

    Parameters
    ----------
    loss
        The weighted sum.
    quartets
        The loss on quartets (or triplets, quadruplets).
    close, push
        Its parts; 0 for triplets and quadruplets.
    deviation, gate
        The deviation loss and the gate's penalty.
    mismatched
        The share of the quartets drawn whose smallest sum is not the known one.
    """

    loss: Tensor
    quartets: Tensor
    close: Tensor
    push: Tensor
    deviation: Tensor
    gate: Tensor
    mismatched: Tensor


class Objective:
    r"""What is minimised (the paper's integrated objective).

    .. math:: \mathcal{L}_{\mathrm{additivity}}(f \circ g, X) + \lambda\,\Omega(f \circ g, X) + \Omega_{\mathrm{gates}}

    Parameters
    ----------
    settings
        Losses and weights.
    original
        float[n, n], the distances of the features that embedded distances are compared with. With the linear gate they
        are those of GX instead, at each step.
    unit
        Factor from distances of the network's inputs to those of the features.
    features
        How many features, for ``deviation_by="dimension"``.
    lengths
        float[n, n], path lengths on the known tree, for triplets and quadruplets; None if only topologies are known.
    """

    def __init__(
        self, settings: Settings, original: Tensor, *, unit: float, features: int, lengths: Tensor | None = None
    ) -> None:
        self.settings = settings
        self.original = original
        self.unit = unit
        self.features = features
        self.lengths = lengths

    def __call__(self, embedded: Embedded, quartets: Tensor, original: Tensor | None = None) -> Parts:
        """The loss of an embedded set of leaves on quartets of it, int64[q, 4], all ``ab|cd``.

        ``original``, float[n, n], takes the place of the features' distances for inputs that are no features of the
        data.
        """
        settings = self.settings
        squares = pairwise_distances(embedded.points, squared=True)
        distances = pairwise_distances(embedded.points)
        nothing = squares.new_zeros(())
        close, push, mismatched = nothing, nothing, nothing
        if settings.loss == "additivity":
            found = additivity_loss(
                squares if settings.distance == "squared" else distances,
                quartets,
                margin=settings.margin,
                close_weight=settings.close,
                push_weight=settings.push,
                mode=settings.quartets,
            )
            of_quartets, close, push, mismatched = found
        elif settings.loss == "close":
            of_quartets = close = close_loss(squares if settings.distance == "squared" else distances, quartets)
        else:
            rows = quadruplets_of(quartets, distances.detach(), self.lengths)
            if settings.loss == "triplet":
                of_quartets = triplet_loss(squares, rows[:, :3], margin=settings.margin)
            else:
                margins = (settings.margin, settings.second_margin)
                of_quartets = quadruplet_loss(squares, rows, margins=margins)
        deviation = nothing
        if settings.deviation:
            original = self.original if original is None else original
            if settings.gate == "linear" or settings.deviation_from == "gated":
                original = pairwise_distances(embedded.gated) * self.unit
            if settings.deviation_from == "gated" and settings.gate in ("gumbel", "sigmoid"):
                original = self._enlarged(original)
            scale = (1.0, 1.0)
            if settings.deviation_by == "dimension":
                scale = (math.sqrt(embedded.points.shape[1]), math.sqrt(self.features))
            deviation = deviation_loss(distances, original, scale=scale)
        loss = (
            settings.additivity * of_quartets + settings.deviation * deviation + settings.gate_weight * embedded.penalty
        )
        return Parts(loss, of_quartets, close, push, deviation, embedded.penalty, mismatched)

    def _enlarged(self, original: Tensor) -> Tensor:
        """Distances behind a gate, enlarged to the size of those of a few features where less is left.

        Otherwise closing the gate shrinks what the embedding is held to, and with it all losses: points then fall
        together and nothing pulls them apart again.
        """
        features = (original * original).mean() / 2  # so many standardised ones have this mean squared distance
        least = min(_LEAST_FEATURES, self.features)
        return original * (least / features.clamp(min=1e-6)).clamp(min=1.0).sqrt()
