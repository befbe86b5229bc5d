"""Encoders: what turns a set of leaves into points."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

import torch
from torch import Tensor, nn

from ._layers import SeededDropout, linear

__all__ = ["Encoder", "Norm", "make_encoder"]

Encoder: TypeAlias = Literal["transformer", "fc", "linear", "diagonal"]
Norm: TypeAlias = Literal["none", "batch", "layer"]


def make_encoder(
    kind: Encoder,
    inputs: int,
    outputs: int,
    *,
    layers: int,
    heads: int,
    width: int,
    dropout: float,
    norm: Norm,
    generator: torch.Generator,
) -> nn.Module:
    """An encoder from float[n, inputs] to float[n, outputs]; its parameters are for :func:`draw_parameters` to draw.

    Parameters
    ----------
    kind
        "transformer": a linear projection, encoder blocks over the set of leaves, a linear projection (the paper's
        figure of the architecture; no positional encoding, as leaves have no order). "fc": fully connected layers with
        ReLU between them, the paper's CellTreeQM-FC. "linear": one matrix. "diagonal": one factor a column, and as many
        outputs as inputs.
    inputs, outputs, layers, heads, width
        Sizes; ``layers`` are encoder blocks, or hidden layers of "fc".
    dropout
        The paper's data dropout, inside the blocks or after the hidden layers.
    norm
        What is normalised after each hidden layer of "fc"; encoder blocks always use layer norm.
    generator
        Of the dropout, on the device that the encoder will be on.
    """
    if kind == "transformer":
        return _SetEncoder(inputs, outputs, layers, heads, width, dropout, generator)
    if kind == "fc":
        return _FullyConnected(inputs, outputs, layers, width, dropout, norm, generator)
    if kind == "linear":
        return linear(inputs, outputs, bias=False)
    return _Diagonal(inputs)


class _SetEncoder(nn.Module):
    """Each leaf sees all others of the set it is given, so that its point depends on the set."""

    def __init__(
        self, inputs: int, outputs: int, layers: int, heads: int, width: int, dropout: float, rng: torch.Generator
    ) -> None:
        super().__init__()
        self.before = linear(inputs, width)
        self.blocks = nn.ModuleList(_Block(width, heads, dropout, rng) for _ in range(layers))
        self.after = linear(width, outputs)

    def forward(self, leaves: Tensor) -> Tensor:
        hidden = self.before(leaves)
        for block in self.blocks:
            hidden = block(hidden)
        return self.after(hidden)  # type: ignore[no-any-return]


class _Block(nn.Module):
    """Attention among leaves and a two-layer network for each, both with a residual and a layer norm after it."""

    def __init__(self, width: int, heads: int, dropout: float, rng: torch.Generator) -> None:
        super().__init__()
        self.heads = heads
        self.query_key_value = linear(width, 3 * width)
        self.mix = linear(width, width)
        self.rise = linear(width, width)
        self.fall = linear(width, width)
        self.first_norm = nn.LayerNorm(width)
        self.second_norm = nn.LayerNorm(width)
        self.dropout = SeededDropout(dropout, rng)

    def forward(self, leaves: Tensor) -> Tensor:
        n, width = leaves.shape
        query, key, value = self.query_key_value(leaves).view(n, 3, self.heads, width // self.heads).permute(1, 2, 0, 3)
        attention = (query @ key.transpose(-2, -1) / math.sqrt(width // self.heads)).softmax(dim=-1)
        seen = (self.dropout(attention) @ value).transpose(0, 1).reshape(n, width)
        leaves = self.first_norm(leaves + self.dropout(self.mix(seen)))
        hidden = self.fall(self.dropout(self.rise(leaves).relu()))
        return self.second_norm(leaves + self.dropout(hidden))  # type: ignore[no-any-return]


class _FullyConnected(nn.Module):
    """Every leaf for itself."""

    def __init__(
        self, inputs: int, outputs: int, layers: int, width: int, dropout: float, norm: Norm, rng: torch.Generator
    ) -> None:
        super().__init__()
        parts: list[nn.Module] = []
        for layer in range(layers):
            parts.append(linear(inputs if layer == 0 else width, width))
            if norm == "batch":
                parts.append(nn.BatchNorm1d(width))
            elif norm == "layer":
                parts.append(nn.LayerNorm(width))
            parts += [nn.ReLU(), SeededDropout(dropout, rng)]
        parts.append(linear(width if layers else inputs, outputs))
        self.layers = nn.Sequential(*parts)

    def forward(self, leaves: Tensor) -> Tensor:
        return self.layers(leaves)  # type: ignore[no-any-return]


class _Diagonal(nn.Module):
    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.factors = nn.Parameter(torch.ones(inputs))

    def forward(self, leaves: Tensor) -> Tensor:
        return leaves * self.factors
