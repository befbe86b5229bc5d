"""Layers that never touch torch's global generator: neither their first values nor their dropout."""

from __future__ import annotations

import math
from typing import cast

import torch
from torch import Tensor, nn

__all__ = ["SeededDropout", "draw_parameters", "linear"]


class SeededDropout(nn.Module):
    """Dropout that draws from a generator of its own: torch's global one is never used or seeded."""

    def __init__(self, share: float, generator: torch.Generator) -> None:
        super().__init__()
        self.share = share
        self.generator = generator

    def forward(self, values: Tensor) -> Tensor:
        """The values, some of them 0 in training, the others raised to keep the mean."""
        if not self.training or self.share == 0:
            return values
        drawn = torch.rand(values.shape, generator=self.generator, device=values.device)
        return values * (drawn >= self.share).to(values.dtype) / (1 - self.share)


def draw_parameters(module: nn.Module, generator: torch.Generator) -> None:
    """Linear layers between -1 and 1 over the square root of the fan-in, embeddings normal: torch's own first values.

    Drawn on the CPU, so that they are the same on every device and torch's global generator is left alone.
    """
    for layer in module.modules():
        if isinstance(layer, nn.Linear):
            bound = 1 / math.sqrt(max(1, layer.in_features))
            for parameter in layer.parameters(recurse=False):
                parameter.data = (torch.rand(parameter.shape, generator=generator) * 2 - 1) * bound
        elif isinstance(layer, nn.Embedding):
            layer.weight.data = torch.randn(layer.weight.shape, generator=generator)


def linear(inputs: int, outputs: int, *, bias: bool = True) -> nn.Linear:
    """A layer whose values are still to be drawn, by :func:`draw_parameters`."""
    return cast(nn.Linear, nn.utils.skip_init(nn.Linear, inputs, outputs, bias=bias))  # type: ignore[no-untyped-call]
