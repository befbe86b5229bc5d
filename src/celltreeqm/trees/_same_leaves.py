"""The check that two trees are on the same leaves, which every comparison starts with."""

from __future__ import annotations

from ._tree import Tree
from ._tree_checks import check_tree, some_names

__all__ = ["check_same_leaves"]


def check_same_leaves(tree: Tree, other: Tree) -> None:
    """Raise a ``ValueError`` that names leaves missing on either side, if there are any."""
    check_tree(tree, "the first tree")
    check_tree(other, "the second tree")
    only_first = [name for name in tree.leaves if name not in other.index]
    only_second = [name for name in other.leaves if name not in tree.index]
    if not only_first and not only_second:
        return
    parts = [
        f"{len(names)} {'is' if len(names) == 1 else 'are'} only in the {which}: {some_names(names)}"
        for names, which in ((only_first, "first"), (only_second, "second"))
        if names
    ]
    raise ValueError(
        f"The trees have {tree.n_leaves} and {other.n_leaves} leaves, and they are not the same: {'; '.join(parts)}. "
        "Compare them on the leaves they share: tree.restrict(other.leaves) and other.restrict(tree.leaves)."
    )
