"""Where the leaves of a prior's trees stand: names to row numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from celltreeqm.trees import Tree
from celltreeqm.trees._tree_checks import check_ordered

__all__ = ["leaves_of", "rows_of"]


def leaves_of(trees: Iterable[Tree], leaves: Sequence[str] | None) -> tuple[str, ...]:
    """The row names: ``leaves``, each once, or without them the trees' leaves in the order of their first mention."""
    if leaves is None:
        return tuple(dict.fromkeys(name for tree in trees for name in tree.leaves))
    check_ordered(leaves)
    names = tuple(leaves)
    if len(set(names)) < len(names):
        seen: set[str] = set()
        twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"leaves names {twice!r} twice; every row needs a name of its own.")
    return names


def rows_of(tree: Tree, leaves: Sequence[str]) -> NDArray[np.int32]:
    """int32[n], the row of each of the tree's leaves, -1 where it has none."""
    index = {name: row for row, name in enumerate(leaves)}
    return np.array([index.get(name, -1) for name in tree.leaves], dtype=np.int32)
