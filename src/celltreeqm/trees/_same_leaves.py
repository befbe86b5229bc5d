"""The check that two trees, or a tree and something else, are on the same leaves."""

from __future__ import annotations

from collections.abc import Sequence

from ._tree import Tree
from ._tree_checks import check_tree, some_names

__all__ = ["check_same_leaves", "leaves_apart"]


def check_same_leaves(tree: Tree, other: Tree) -> None:
    """Raise a ``ValueError`` that names leaves missing on either side, if there are any."""
    check_tree(tree, "the first tree")
    check_tree(other, "the second tree")
    apart = leaves_apart(tree.leaves, other.leaves, "the first", "the second")
    if apart:
        raise ValueError(
            f"The trees have {tree.n_leaves} and {other.n_leaves} leaves, and they are not the same: {apart}. "
            "Compare them on the leaves they share: tree.restrict(other.leaves) and other.restrict(tree.leaves)."
        )


def leaves_apart(leaves: Sequence[str], others: Sequence[str], where: str, elsewhere: str) -> str:
    """Which leaves are only in one of two places, in words; nothing if there are none."""
    return "; ".join(
        f"{len(names)} {'is' if len(names) == 1 else 'are'} only in {which}: {some_names(names)}"
        for names, which in ((_without(leaves, others), where), (_without(others, leaves), elsewhere))
        if names
    )


def _without(leaves: Sequence[str], others: Sequence[str]) -> list[str]:
    there = set(others)
    return [name for name in leaves if name not in there]
