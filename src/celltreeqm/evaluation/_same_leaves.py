"""The check that a tree is on the leaves of the truth, which says which of the two has what."""

from __future__ import annotations

from collections.abc import Sequence

from ..trees import Tree
from ..trees._same_leaves import leaves_apart

__all__ = ["check_leaves_of_truth"]


def check_leaves_of_truth(leaves: Sequence[str], truth: Tree, what: str, remedy: str) -> None:
    """Raise a ``ValueError`` that names the leaves that only ``what`` or only the truth has, if there are any."""
    apart = leaves_apart(leaves, truth.leaves, what, "the truth")
    if apart:
        raise ValueError(
            f"{what[0].upper()}{what[1:]} has {len(leaves)} leaves and the truth {truth.n_leaves}, and they are not "
            f"the same: {apart}. {remedy}"
        )
