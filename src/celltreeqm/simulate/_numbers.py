"""Settings that must be numbers, and the sentences that say where they are not."""

from __future__ import annotations

import numbers

__all__ = ["check_number", "check_whole"]


def check_whole(value: object, name: str) -> None:
    """Refuse what is no whole number by its type: 2.0, "2" and True are none."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name}={value!r} was given; a whole number was needed.")


def check_number(value: object, name: str) -> None:
    """Refuse what is no real number by its type."""
    if not isinstance(value, numbers.Real):
        raise TypeError(f"{name}={value!r} was given; a number was needed.")
