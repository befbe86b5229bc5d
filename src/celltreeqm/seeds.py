"""Seeds that can be written down: an omitted one is drawn and recorded."""

from __future__ import annotations

import operator
from typing import TypeAlias

import numpy as np

__all__ = ["Seed", "recorded_seed", "seeded_generator"]

Seed: TypeAlias = int | np.random.Generator | None


def recorded_seed(seed: Seed) -> int:
    """The seed as a number: the one given, or one below 2^32 drawn from the generator given or from nowhere.

    Examples
    --------
    >>> recorded_seed(3)
    3
    >>> recorded_seed(np.random.default_rng(0)) == recorded_seed(np.random.default_rng(0))
    True
    """
    if seed is None or isinstance(seed, np.random.Generator):
        return int(np.random.default_rng(seed).integers(2**32))
    try:
        number = operator.index(seed)
    except TypeError:
        raise TypeError(
            f"seed={seed!r} ({type(seed).__name__}) was given; a whole number, a numpy Generator or None was needed."
        ) from None
    if number < 0:
        raise ValueError(f"seed={number} was given; a seed is a whole number of 0 or more.")
    return number


def seeded_generator(seed: Seed) -> np.random.Generator:
    """The generator given, or a new one for a number, or for None from nowhere.

    Examples
    --------
    >>> bool(seeded_generator(3).random() == np.random.default_rng(3).random())
    True
    """
    return seed if isinstance(seed, np.random.Generator) else np.random.default_rng(recorded_seed(seed))
