"""The network: gate, encoder and metric dropout; its parameters as one vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ._encoders import make_encoder
from ._gates import FeatureGate, GumbelGate, SigmoidGate, make_gate
from ._layers import SeededDropout, draw_parameters
from ._settings import Settings

__all__ = ["Embedded", "FlatParameters", "Network"]


class Embedded(NamedTuple):
    """What the network makes of a set of leaves.

    Parameters
    ----------
    points
        float[n, d].
    gated
        float[n, g], the features behind the gate.
    penalty
        The gate's penalty without its weight.
    """

    points: Tensor
    gated: Tensor
    penalty: Tensor


class Network(nn.Module):
    """Features through a gate and an encoder (the paper's figure of the architecture).

    In the unsupervised set-up the gate acts on what the embedding is compared with, not on what the encoder sees; so it
    is for the linear gate.

    Parameters
    ----------
    features
        Columns of the input, g.
    settings
        Kinds and sizes.
    generator
        Of what is drawn in training, on the device that the network will be on.
    """

    gate: FeatureGate
    skip: Tensor | None

    def __init__(self, features: int, settings: Settings, generator: torch.Generator) -> None:
        super().__init__()
        self.outputs = features if settings.encoder == "diagonal" else settings.dimensions
        self.gates_input = settings.gate != "linear"
        self.gate = make_gate(settings.gate, features, generator=generator)
        self.encoder = make_encoder(
            settings.encoder,
            features,
            self.outputs,
            layers=settings.layers,
            heads=settings.heads,
            width=settings.width,
            dropout=settings.data_dropout,
            norm=settings.norm,
            generator=generator,
        )
        self.metric_dropout = SeededDropout(settings.metric_dropout, generator)
        self.register_buffer("skip", torch.zeros(features, self.outputs) if settings.skip else None)

    def forward(self, values: Tensor) -> Embedded:
        """Embed a set of leaves, float[n, g]: with attention each point depends on the whole set."""
        gated = self.gate(values)
        seen = gated.features if self.gates_input else values
        points = self.encoder(seen)
        if self.skip is not None:
            points = points + seen @ self.skip
        return Embedded(self.metric_dropout(points), gated.features, gated.penalty)

    def draw(self, seed: int, start: Sequence[float] | None = None) -> None:
        """First parameters; ``start``, float[g], is the probability with which each feature is on at the start."""
        draw_parameters(self, torch.Generator().manual_seed(seed % 2**63))
        if start is not None and isinstance(self.gate, GumbelGate | SigmoidGate):
            first = torch.logit(torch.tensor(start, dtype=torch.float32).clamp(0.02, 0.98))
            self.gate.offset.zero_()
            self.gate.offset = first - torch.logit(self.gate.scores().detach())  # whatever its own layers say

    def start_with_components(self, inputs: NDArray[np.float32], unit: float) -> None:
        """Let the first embedding be the inputs' principal components, so that training starts with their distances.

        What the encoder adds starts with nothing: the last of its layers with 0.

        Parameters
        ----------
        inputs
            float[n, g]; with n - 1 outputs or more distances are those of the inputs exactly.
        unit
            Factor from the inputs' distances to the embedding's.
        """
        if self.skip is None:
            raise ValueError("The network was made without skip=True; there is nothing to start with.")
        last = [layer for layer in self.encoder.modules() if isinstance(layer, nn.Linear)][-1]
        for parameter in last.parameters():
            parameter.data.zero_()
        right = np.linalg.svd(inputs.astype(np.float64), full_matrices=False)[2][: self.outputs]
        self.skip[:, : len(right)] = torch.from_numpy((right.T * unit).astype(np.float32))


@dataclass(frozen=True)
class FlatParameters:
    """All parameters of a network in two vectors, of which its own are views: the gate's, and the encoder's.

    The optimiser then has two tensors to step, and clipping, averaging and writing them to disk are one line each.

    Parameters
    ----------
    gate, encoder
        float32[p], with gradients of which the network's own are views as well.
    buffers
        Tensors of the network that no gradient changes but training may: the running statistics of batch norm.
    """

    gate: nn.Parameter
    encoder: nn.Parameter
    buffers: tuple[Tensor, ...]

    @classmethod
    def of(cls, network: Network) -> FlatParameters:
        """Lay the network's parameters out, in the order in which it names them."""
        gate, encoder = (_laid_out(list(part.parameters())) for part in (network.gate, network.encoder))
        return cls(gate, encoder, tuple(network.buffers()))

    @property
    def gradients(self) -> tuple[Tensor, Tensor]:
        """Of the gate and of the encoder."""
        gate, encoder = self.gate.grad, self.encoder.grad
        assert gate is not None
        assert encoder is not None
        return gate, encoder

    def copy(self) -> tuple[Tensor, ...]:
        """The values as they are now."""
        return tuple(value.detach().clone() for value in (self.gate, self.encoder, *self.buffers))

    def set(self, values: Sequence[Tensor]) -> None:
        """Put values back that :meth:`copy` gave."""
        with torch.no_grad():
            for mine, value in zip((self.gate, self.encoder, *self.buffers), values, strict=True):
                mine.copy_(value)


def _laid_out(parameters: list[nn.Parameter]) -> nn.Parameter:
    device = parameters[0].device if parameters else None
    flat = nn.Parameter(torch.zeros(sum(part.numel() for part in parameters), device=device))
    flat.grad = torch.zeros_like(flat)
    begin = 0
    for part in parameters:
        end = begin + part.numel()
        flat.data[begin:end] = part.data.reshape(-1)
        part.data = flat.data[begin:end].view(part.shape)
        part.grad = flat.grad[begin:end].view(part.shape)
        begin = end
    return flat
