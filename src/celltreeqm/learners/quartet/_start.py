"""The start: what is held of the features, and of the tree, before the network is trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...trees import Tree
from .._features import CheckedFeatures
from .._fit import Builder

if TYPE_CHECKING:
    from ._learner import QuartetLearner

__all__ = ["Start", "start_of"]


@dataclass(frozen=True, eq=False)
class Start:
    """What is held before training.

    Parameters
    ----------
    weights
        float[g], how much each feature counts.
    probability
        float[g], the probability that it is heritable.
    tree
        The tree that features with these weights make under the prior; None where weights were simply given.
    builder
        What built it.
    """

    weights: NDArray[np.float64]
    probability: NDArray[np.float64]
    tree: Tree | None = None
    builder: Builder | None = None


def start_of(learner: QuartetLearner, checked: CheckedFeatures, trees: tuple[Tree, ...], seed: int) -> Start | None:
    """The start that the learner's settings ask for, made of these leaves and this prior alone; None for none."""
    asked = learner.start()
    if asked == "none":
        return None
    if asked == "heritable":
        from ..heritable import HeritableLearner

        fit = HeritableLearner().fit(checked.values, checked.leaves, prior=trees, seed=seed)
        return Start(fit.weights, fit.gates, fit.tree(), fit.builder)
    g = checked.values.shape[1]
    if len(asked) != g:
        raise ValueError(f"gate_start holds {len(asked)} weights for {g} features; one a feature was needed.")
    given = np.array(asked, dtype=float)
    return Start(given, given)
