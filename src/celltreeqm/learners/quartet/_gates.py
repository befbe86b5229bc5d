"""Gates: which features the encoder is shown."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal, NamedTuple, TypeAlias

import torch
from torch import Tensor, nn

from ._layers import linear
from ._losses import identity_penalty, sparsity_penalty

__all__ = ["FeatureGate", "Gate", "Gated", "make_gate"]

Gate: TypeAlias = Literal["none", "gumbel", "sigmoid", "linear"]

_LEAST_ON = 4  # features that stay on whatever the penalty: with none on, nothing is left to learn from
_EMBEDDING, _HIDDEN = 16, 32


class Gated(NamedTuple):
    """Features behind a gate, float[n, g], and the gate's penalty without its weight."""

    features: Tensor
    penalty: Tensor


class FeatureGate(nn.Module, ABC):
    """What takes float[n, g] and returns :class:`Gated`."""

    @abstractmethod
    def forward(self, values: Tensor) -> Gated:
        """The features behind the gate, and the penalty."""

    @abstractmethod
    def selected(self) -> Tensor:
        """bool[g], the features that it keeps."""

    @abstractmethod
    def scores(self) -> Tensor:
        """float[g], by how much it keeps each."""


def make_gate(kind: Gate, features: int, *, generator: torch.Generator) -> FeatureGate:
    """A gate of a kind.

    Parameters
    ----------
    kind
        "none": all features, as they are. "gumbel": on or off, drawn anew at each step in training and the more likely
        of both at evaluation (the paper's feature gating; :class:`GumbelGate`). "sigmoid": a factor between 0 and 1.
        "linear": a matrix, starting with the identity (the paper's unsupervised set-up).
    features
        Their number, g.
    generator
        Of what is drawn in training, on the device that the gate will be on.
    """
    if kind == "gumbel":
        return GumbelGate(features, generator)
    if kind == "sigmoid":
        return SigmoidGate(features)
    if kind == "linear":
        return LinearGate(features)
    return OpenGate(features)


class OpenGate(FeatureGate):
    """No gate."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.features = features

    def forward(self, values: Tensor) -> Gated:
        """The features as they are, for nothing."""
        return Gated(values, values.new_zeros(()))

    def selected(self) -> Tensor:
        """bool[g], all of them."""
        return torch.ones(self.features, dtype=torch.bool)

    def scores(self) -> Tensor:
        """float[g], all 1."""
        return torch.ones(self.features)


class GumbelGate(FeatureGate):
    r"""A feature is on or off (the paper's "Feature Gating").

    .. math:: \bm g = \mathrm{GumbelSoftmax}\bigl(\mathrm{MLP}(\bm E), \tau, \mathrm{hard}=\mathrm{True}\bigr)

    Each feature has an embedding, from which a network with one hidden layer makes the two logits "off" and "on". In
    training the gate is drawn, and its slope is that of the softmax at temperature :math:`\tau`; at evaluation the more
    likely of both is taken. ``offset``, float[g], is added to the log-odds: where the features' first probabilities
    come from. However large the penalty, the four features with the largest odds stay on.
    """

    temperature = 1.0
    offset: Tensor

    def __init__(self, features: int, generator: torch.Generator) -> None:
        super().__init__()
        self.generator = generator
        self.embedding = nn.Embedding(features, _EMBEDDING, _weight=torch.zeros(features, _EMBEDDING))
        self.hidden = linear(_EMBEDDING, _HIDDEN)
        self.logits = linear(_HIDDEN, 2)
        self.register_buffer("offset", torch.zeros(features))

    def log_odds(self) -> Tensor:
        """float[g], on against off."""
        off, on = self.logits(self.hidden(self.embedding.weight).relu()).unbind(dim=1)
        return on - off + self.offset  # type: ignore[no-any-return]

    def forward(self, values: Tensor) -> Gated:
        """The features that are on, and the share of those that are."""
        odds = self.log_odds()
        if self.training:
            drawn = torch.rand(2, len(odds), generator=self.generator, device=odds.device).clamp(1e-10, 1 - 1e-7)
            first, second = -torch.log(-torch.log(drawn))
            odds = odds + first - second
        gate = _on(odds)
        if self.training:
            soft = torch.sigmoid(odds / self.temperature)
            gate = gate - soft.detach() + soft
        return Gated(values * gate, sparsity_penalty(gate))

    def selected(self) -> Tensor:
        """bool[g], the features that are more likely on than off."""
        return _on(self.log_odds()) > 0

    def scores(self) -> Tensor:
        """float[g], the probability that a feature is on."""
        return torch.sigmoid(self.log_odds())


class SigmoidGate(FeatureGate):
    """A factor between 0 and 1 for each feature; those above a half are selected, and four in any case."""

    offset: Tensor

    def __init__(self, features: int) -> None:
        super().__init__()
        self.log_odds = nn.Parameter(torch.zeros(features))
        self.register_buffer("offset", torch.zeros(features))

    def forward(self, values: Tensor) -> Gated:
        """The features times their factors, and the factors' mean."""
        factors = self.scores()
        return Gated(values * factors, sparsity_penalty(factors))

    def selected(self) -> Tensor:
        """bool[g], the features whose factor is above a half; at least four."""
        return _on(self.log_odds + self.offset) > 0

    def scores(self) -> Tensor:
        """float[g], the factors."""
        return torch.sigmoid(self.log_odds + self.offset)


class LinearGate(FeatureGate):
    r"""A matrix G, with the penalty :math:`\lVert G - I \rVert_1` (the paper's appendix "Unsupervised Setting").

    A feature's score is the length of its column in G, which is what is left of it in GX; the features that keep at
    least half of their length, 1 at the start, are selected. That is ours: the paper does not say how it counts them.
    """

    def __init__(self, features: int) -> None:
        super().__init__()
        self.matrix = nn.Parameter(torch.eye(features))

    def forward(self, values: Tensor) -> Gated:
        """The features times G, and how far G is from doing nothing."""
        return Gated(values @ self.matrix.T, identity_penalty(self.matrix))

    def selected(self) -> Tensor:
        """bool[g], the features that keep half of their length."""
        return self.scores() >= 0.5

    def scores(self) -> Tensor:
        """float[g], the lengths of the columns."""
        lengths: Tensor = torch.linalg.vector_norm(self.matrix, dim=0)
        return lengths


def _on(odds: Tensor) -> Tensor:
    """float[g], 1 where the odds are for it, and for the four largest in any case."""
    on = odds > 0
    largest = odds.topk(min(_LEAST_ON, len(odds))).indices
    return on.index_fill(0, largest, True).to(odds.dtype)
