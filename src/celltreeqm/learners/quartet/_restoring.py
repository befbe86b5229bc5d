"""From numbers to a network and back: what a fit keeps of it, and what it is asked for afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ._looks import embedded_points
from ._network import FlatParameters, Network
from ._settings import Settings

__all__ = ["embedded_set", "gate_values", "kept_parameters", "restored_network", "torch_threads"]


def kept_parameters(parameters: FlatParameters) -> NDArray[np.float32]:
    """float32[p], gate, encoder and buffers one after the other."""
    return np.concatenate([value.cpu().numpy().astype(np.float32).reshape(-1) for value in parameters.copy()])


def restored_network(columns: int, settings: Settings, values: NDArray[np.float32]) -> Network:
    """The network of :func:`kept_parameters`, on the CPU, not in training."""
    network = Network(columns, settings, torch.Generator())
    parameters = FlatParameters.of(network)
    parts, begin = [], 0
    for part in (parameters.gate, parameters.encoder, *parameters.buffers):
        end = begin + part.numel()
        parts.append(torch.from_numpy(values[begin:end].copy()).view(part.shape).to(part.dtype))
        begin = end
    parameters.set(parts)
    return network.eval()


def embedded_set(network: Network, inputs: NDArray[np.float32]) -> NDArray[np.float64]:
    """float64[n, d], a set of leaves as points."""
    with torch_threads(1):
        return embedded_points(network, torch.from_numpy(inputs)).numpy().astype(np.float64)


def gate_values(network: Network, what: str) -> NDArray[Any]:
    """[g], what a gate says: "scores" or "selected"."""
    with torch.no_grad():
        found: NDArray[Any] = getattr(network.gate, what)().numpy()
    return found


@contextmanager
def torch_threads(threads: int) -> Iterator[None]:
    """As many threads for torch; sums in another order are other bytes."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
