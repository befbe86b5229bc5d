"""Settings of learners that are counts, and the sentence that says where they are not."""

from __future__ import annotations

from numbers import Integral

__all__ = ["check_count"]


def check_count(value: object, name: str, least: int) -> None:
    """Refuse what is no whole number, or less than the least that makes sense."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name}={value!r} was given; a whole number of {least} or more is needed.")
