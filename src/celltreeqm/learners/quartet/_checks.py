"""What can be refused before anything is trained: settings that are not of their kind, too few leaves, no PyTorch."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ...quartets import count_known_quartets
from ...trees import Tree
from .._features import CheckedFeatures
from .._fit import BUILDERS
from ._settings import PRESETS, Settings

if TYPE_CHECKING:
    from ._learner import QuartetLearner

__all__ = ["check_choices", "check_enough", "check_together", "check_torch"]

_CHOICES: dict[str, tuple[str, ...]] = {
    "preset": tuple(PRESETS),
    "encoder": ("transformer", "fc", "linear", "diagonal"),
    "norm": ("none", "batch", "layer"),
    "gate": ("none", "gumbel", "sigmoid", "linear"),
    "loss": ("additivity", "triplet", "quadruplet", "close"),
    "quartets": ("mismatched", "matched", "all"),
    "deviation_by": ("paper", "dimension"),
    "deviation_from": ("features", "gated"),
    "distance": ("euclidean", "squared"),
    "context": ("all", "known"),
    "select": ("validation", "train", "last", "test"),
    "builder": tuple(BUILDERS),
}
_LEAST = {  # whole numbers, and the least of each
    "layers": 0,
    "heads": 1,
    "width": 1,
    "dimensions": 1,
    "steps": 0,
    "batch": 1,
    "warm_up": 0,
    "look_every": 1,
    "patience": 1,
    "threads": 1,
}
_SHARES = {"data_dropout": 1.0, "metric_dropout": 1.0, "weight_average": 1.0, "draws": 1.0}  # below which they are
_WEIGHTS = (
    *("gate_weight", "additivity", "close", "push", "margin", "second_margin", "deviation"),
    *("learning_rate", "gate_learning_rate", "weight_decay", "clip", "noise"),
)


def check_choices(learner: QuartetLearner) -> None:
    """Refuse settings that are not of their kind."""
    for name, choices in _CHOICES.items():
        value = getattr(learner, name)
        if value is not None and value not in choices:
            raise ValueError(f"{name}={value!r} was given; it is one of {', '.join(map(repr, choices))}.")
    for name, least in _LEAST.items():
        value = getattr(learner, name)
        whole = isinstance(value, int) and not isinstance(value, bool)
        if value is not None and not (whole and value >= least):
            raise ValueError(f"{name}={value!r} was given; a whole number of {least} or more is needed.")
    for name in (*_SHARES, *_WEIGHTS):
        value = getattr(learner, name)
        if value is None:
            continue
        if not _is_number(value) or not 0 <= value < _SHARES.get(name, math.inf):
            limit = "from 0 to below 1" if name in _SHARES else "of 0 or more"
            raise ValueError(f"{name}={value!r} was given; a number {limit} is needed.")
    pair: object = learner.temperature
    two = isinstance(pair, tuple) and len(pair) == 2 and all(_is_number(t) and 0 < t < math.inf for t in pair)
    if pair is not None and not two:
        raise ValueError(
            f"temperature={pair!r} was given; two numbers above 0 are needed, of the first and the last step."
        )
    start = learner.gate_start
    weights = isinstance(start, tuple) and all(_is_number(weight) for weight in start)
    if not (start is None or weights or start in ("none", "heritable")):
        raise ValueError(f"gate_start={start!r} was given; it is 'none', 'heritable' or a weight for each feature.")
    if isinstance(start, tuple) and not all(0 <= weight <= 1 for weight in start):
        raise ValueError(
            "gate_start holds weights outside 0 to 1; each is a probability that its feature is heritable."
        )
    device: object = learner.device
    if not isinstance(device, str):
        raise ValueError(f"device={device!r} was given; 'auto' or the name of a device is needed.")
    if learner.skip and learner.encoder == "diagonal":
        raise ValueError("skip=True came with encoder='diagonal', which has no layer of its own to add. Leave one out.")


def check_together(settings: Settings, *, prior: bool) -> None:
    """Refuse settings that do not go together, the preset's among them."""
    if settings.encoder == "transformer" and settings.width % settings.heads:
        raise ValueError(
            f"width={settings.width} and heads={settings.heads} came together; the width must be a multiple of the "
            "heads."
        )
    if settings.gate == "linear" and settings.loss != "close":
        raise ValueError(
            "gate='linear' acts on the deviation loss of the unsupervised setting alone; with a prior use 'gumbel' or "
            "'sigmoid'."
        )
    if settings.loss != "close" and not prior:
        raise ValueError(
            f"loss={settings.loss!r} came without a prior, and learns from known quartets alone. Pass what is known, "
            "or use preset='unsupervised'."
        )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def check_enough(checked: CheckedFeatures, trees: tuple[Tree, ...]) -> None:
    n = len(checked.leaves)
    if n < 4:
        raise ValueError(f"{n} leaves came; quartets need 4 or more. DirectLearner takes fewer.")
    if not (np.ptp(checked.values, axis=0) > 0).any():
        raise ValueError(
            f"All {checked.values.shape[1]} features are the same in all {n} leaves; at least one that differs was "
            "needed."
        )
    if trees and not count_known_quartets(trees):
        known = len({name for tree in trees for name in tree.leaves})
        raise ValueError(
            f"The prior resolves none of the {math.comb(n, 4):,} quartets of {n} leaves (it has {known} of them), and "
            "nothing can be learned from it. It needs an edge with two or more leaves on either side; or pass no prior."
        )


def check_torch() -> None:
    """Say how to get PyTorch where it is missing."""
    try:
        import torch  # noqa: F401
    except ModuleNotFoundError as problem:
        raise ModuleNotFoundError(
            "The quartet learner needs PyTorch, which is not installed: pip install 'celltreeqm[torch]'. All other "
            "learners work without it."
        ) from problem
