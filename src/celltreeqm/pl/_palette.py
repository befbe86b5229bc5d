"""Colours that colour-blind readers can tell apart."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from ..trees._priors import is_missing

__all__ = ["GREY", "WRONG", "group_colors", "leaf_colors"]

OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
GREY = "#8a8a8a"
WRONG = "#C8102E"


def leaf_colors(color: Mapping[str, Any]) -> tuple[dict[str, Any], dict[Hashable, Any]]:
    """``(colour of each leaf, colour of each group)``; no groups where the values are colours themselves."""
    given = {leaf: value for leaf, value in color.items() if not is_missing(value)}
    if all(_is_color(value) for value in given.values()):
        return given, {}
    for leaf, value in given.items():
        if not isinstance(value, Hashable):
            raise TypeError(f"The group of {leaf!r} is {value!r}; a string or a number was needed.")
    groups = group_colors(list(dict.fromkeys(given.values())))
    return {leaf: groups[value] for leaf, value in given.items()}, groups


def group_colors(groups: list[Hashable]) -> dict[Hashable, Any]:
    """Okabe and Ito's eight colours, or steps of viridis where there are more groups."""
    if len(groups) <= len(OKABE_ITO):
        return dict(zip(groups, OKABE_ITO, strict=False))
    from matplotlib import colormaps

    return {group: colormaps["viridis"](0.93 * i / (len(groups) - 1)) for i, group in enumerate(groups)}


def _is_color(value: object) -> bool:
    """Only ``"#rrggbb"`` and RGB(A) tuples are: names such as "C" or "k" are as likely to be groups."""
    return (isinstance(value, str) and value.startswith("#")) or (isinstance(value, tuple) and len(value) in (3, 4))
