"""The check that a tree is on the leaves of the truth, which says which of the two has what."""

from __future__ import annotations

from collections.abc import Collection

from ..trees import Tree
from ..trees._tree_checks import some_names

__all__ = ["check_leaves_of_truth"]


def check_leaves_of_truth(leaves: Collection[str], truth: Tree, what: str, remedy: str) -> None:
    """Raise a ``ValueError`` that names the leaves that only ``what`` or only the truth has, if there are any."""
    here = set(leaves)
    only_here = [name for name in leaves if name not in truth.index]
    only_truth = [name for name in truth.leaves if name not in here]
    if not only_here and not only_truth:
        return
    parts = [
        f"{len(names)} {'is' if len(names) == 1 else 'are'} only in {which}: {some_names(names)}"
        for names, which in ((only_here, what), (only_truth, "the truth"))
        if names
    ]
    raise ValueError(
        f"{what[0].upper()}{what[1:]} has {len(here)} leaves and the truth {truth.n_leaves}, and they are not the "
        f"same: {'; '.join(parts)}. {remedy}"
    )
