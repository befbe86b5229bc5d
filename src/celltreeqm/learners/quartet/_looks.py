"""Looks: how good the network is now, on leaves and features that it is not trained on, or on those that it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ...quartets import quartet_topology
from ...trees import Tree, robinson_foulds
from .._fit import BUILDERS, Builder
from ._losses import pairwise_distances
from ._network import Network

__all__ = ["Watch", "better", "check_finite", "embedded_points", "point_distances"]


@dataclass(frozen=True, eq=False)
class Watch:
    """A table that is looked at in training.

    Parameters
    ----------
    name
        Of its columns in the history.
    inputs
        float32[n, r], the set of leaves, on the network's device.
    leaves
        Their names.
    builder
        What builds the tree, without any prior.
    truth
        The tree to compare with, on some of the leaves, or None.
    quartets
        int32[q, 4], known quartets of the set, all ``ab|cd``, or None.
    of
        int[q], for which of some leaves each quartet is counted, or None.
    """

    name: str
    inputs: Tensor
    leaves: tuple[str, ...]
    builder: Builder
    truth: Tree | None = None
    quartets: NDArray[np.int32] | None = None
    of: NDArray[np.int64] | None = None

    @property
    def counts(self) -> bool:
        """Whether there is anything to compare with."""
        return self.truth is not None or (self.quartets is not None and len(self.quartets) > 0)

    def look(self, network: Network) -> tuple[dict[str, float], NDArray[np.float64] | None]:
        """``"<name> RF"`` to the truth, ``"<name> wrong"``, the share of known quartets that distances get wrong.

        And this share leaf by leaf, where quartets are counted for leaves.
        """
        points = embedded_points(network, self.inputs)
        check_finite(points)
        distances = point_distances(points)
        found: dict[str, float] = {}
        if self.truth is not None:
            tree = BUILDERS[self.builder](distances, self.leaves)
            if self.truth.n_leaves < tree.n_leaves:
                tree = tree.restrict(self.truth.leaves)
            found[f"{self.name} RF"] = robinson_foulds(tree, self.truth)
        by_leaf = None
        if self.quartets is not None and len(self.quartets):
            wrong = quartet_topology(distances, self.quartets) != 0
            found[f"{self.name} wrong"] = float(wrong.mean())
            if self.of is not None:
                by_leaf = np.bincount(self.of, wrong) / np.bincount(self.of)
        return found, by_leaf


def embedded_points(network: Network, inputs: Tensor) -> Tensor:
    """float32[n, d], a set of leaves as the network places them when it is not in training."""
    was_training = network.training
    network.eval()
    try:
        with torch.no_grad():
            points: Tensor = network(inputs).points
            return points
    finally:
        network.train(was_training)


def point_distances(points: Tensor) -> NDArray[np.float64]:
    """float64[n, n], Euclidean distances of points, on the CPU."""
    return np.asarray(pairwise_distances(points.detach().to("cpu", torch.float64)).numpy())


def check_finite(points: Tensor) -> None:
    """End a look that cannot go on: distances of such points would seem to be 0."""
    if not bool(torch.isfinite(points).all()):
        raise FloatingPointError("points in the embedding are not finite")


def better(found: Sequence[float], best: Sequence[float] | None) -> bool:
    """Whether a criterion, smaller is better and the first number counts most, improves on the best so far."""
    return best is None or tuple(found) < tuple(best)
