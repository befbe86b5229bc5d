"""Scales of features: as they are, compressed, with a logarithm undone, or standardised."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["SCALES", "Scale", "look_logged", "rescale", "suitable_scales"]

Values = NDArray[np.float64]

_MOST_LOGGED = 20.0  # exp(20) is half a billion: more than is counted of anything in a cell


class Scale(NamedTuple):
    """One way to scale features.

    Parameters
    ----------
    apply
        Scales float[n, g], each value on its own.
    standardizes
        Whether features are then divided by their standard deviation over the leaves fitted on.
    suits
        Whether it makes sense for these features.
    """

    apply: Callable[[Values], Values]
    standardizes: bool
    suits: Callable[[Values], bool]


def look_logged(values: Values) -> bool:
    """Whether features look like logarithms of counts: none below 0, none above 20, and not whole numbers.

    Examples
    --------
    >>> look_logged(np.log1p([[0.0, 3.0], [1.0, 7.0]])), look_logged(np.array([[0.0, 3.0], [1.0, 7.0]]))
    (True, False)
    """
    return bool(values.min() >= 0 and values.max() <= _MOST_LOGGED and (values != np.round(values)).any())


def _always(values: Values) -> bool:
    return True


def _unlogged(values: Values) -> bool:
    return bool(values.min() >= 0) and not look_logged(values)


def _as_given(values: Values) -> Values:
    return values


def _undo_log2(values: Values) -> Values:
    return np.asarray(np.expm1(np.log(2) * values))


SCALES: Mapping[str, Scale] = MappingProxyType(
    {
        "given": Scale(_as_given, False, _always),
        "standardized": Scale(_as_given, True, _always),
        "log1p": Scale(np.log1p, False, _unlogged),
        "standardized log1p": Scale(np.log1p, True, _unlogged),
        "sqrt": Scale(np.sqrt, False, _unlogged),
        "undo log2": Scale(_undo_log2, False, look_logged),
        "undo ln": Scale(np.expm1, False, look_logged),
    }
)


def suitable_scales(values: Values) -> tuple[str, ...]:
    """The names of the scales that make sense for these features.

    Examples
    --------
    >>> suitable_scales(np.array([[-1.0, 2.0], [0.5, 3.0]]))
    ('given', 'standardized')
    """
    return tuple(name for name, scale in SCALES.items() if scale.suits(values))


def rescale(name: str, values: Values, fitted: Values) -> Values:
    """float[m, g], features on a scale; mean and standard deviation are those of the features fitted on, float[n, g].

    Examples
    --------
    >>> rescale("standardized", np.array([[2.0, 1.0]]), np.array([[0.0, 1.0], [2.0, 1.0]]))
    array([[1., 0.]])
    """
    scale = SCALES[name]
    scaled = scale.apply(values)
    if not scale.standardizes:
        return scaled
    reference = scale.apply(fitted)
    deviation = reference.std(axis=0)
    varied = (np.ptp(reference, axis=0) > 0) & (deviation > 0)  # the deviation of tiny values can be lost to underflow
    return np.asarray((scaled - reference.mean(axis=0)) * (varied / np.where(varied, deviation, 1.0)))
