"""CellTreeQM: metric learning on quartets with the four-point condition. PyTorch is loaded when it is first needed."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._fit import QuartetFit as QuartetFit
from ._learner import QuartetLearner as QuartetLearner
from ._settings import PRESETS as PRESETS
from ._settings import Settings as Settings

if TYPE_CHECKING:
    from ._losses import Additivity as Additivity
    from ._losses import additivity_loss as additivity_loss
    from ._losses import close_loss as close_loss
    from ._losses import deviation_loss as deviation_loss
    from ._losses import identity_penalty as identity_penalty
    from ._losses import pairwise_distances as pairwise_distances
    from ._losses import quadruplet_loss as quadruplet_loss
    from ._losses import quartet_sums as quartet_sums
    from ._losses import sparsity_penalty as sparsity_penalty
    from ._losses import triplet_loss as triplet_loss
    from ._triplets import quadruplets_of as quadruplets_of

_LOSSES = (
    "Additivity",
    "additivity_loss",
    "close_loss",
    "deviation_loss",
    "identity_penalty",
    "pairwise_distances",
    "quadruplet_loss",
    "quartet_sums",
    "sparsity_penalty",
    "triplet_loss",
)


def __getattr__(name: str) -> Any:
    if name in _LOSSES:
        return getattr(importlib.import_module("._losses", __name__), name)
    if name == "quadruplets_of":
        return getattr(importlib.import_module("._triplets", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
