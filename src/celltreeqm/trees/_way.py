"""A way to the end of joining: a tree that displays every prior tree, kept up while clusters join."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ._rooting import root_at
from ._supertree import rooted_supertree
from ._tree import Tree

__all__ = ["Way", "way_by_roots"]


class Way:
    """A tree on the present clusters that displays every prior tree, so that joining along it comes to an end.

    Parameters
    ----------
    parent
        The parent of each node, -1 for the root and for slots without a place. Nodes ``0 ... slots - 1`` are the slots.
    slots
        How many slots there are for clusters.
    """

    def __init__(self, parent: Sequence[int], slots: int) -> None:
        self._slots = slots
        self._up = list(parent)
        self._below: list[set[int]] = [set() for _ in parent]
        for node, above in enumerate(parent):
            if above >= 0:
                self._below[above].add(node)

    @classmethod
    def of_joins(cls, slots: int, joins: Sequence[tuple[int, int]]) -> Way:
        """The way that joins slots in the order given, each pair into the first of the two."""
        parent, top = [-1] * slots, list(range(slots))
        for a, b in joins:
            parent[top[a]] = parent[top[b]] = len(parent)
            top[a] = len(parent)
            parent.append(-1)
        return cls(parent, slots)

    def has_beside(self, a: int, b: int) -> bool:
        """Whether two slots hang from the same node."""
        return self._up[a] >= 0 and self._up[a] == self._up[b]

    def groups(self) -> list[list[int]]:
        """The slots that hang from the same node, two or more at a time."""
        groups = [[node for node in below if node < self._slots] for below in self._below]
        return [group for group in groups if len(group) > 1]

    def join(self, a: int, b: int, moved: int) -> None:
        """Let slot a hold the union of both, in the place of the one that is not moved."""
        above = self._up[moved]
        if above >= 0:
            self._below[above].remove(moved)
            if len(self._below[above]) == 1:
                (only,) = self._below[above]
                self._below[above].clear()
                self._replace(above, only)
        self._up[moved] = -1
        if moved == a:
            self._replace(b, a)

    def _replace(self, old: int, new: int) -> None:
        above = self._up[old]
        if above >= 0:
            self._below[above].remove(old)
            self._below[above].add(new)
        self._up[new], self._up[old] = above, -1


def way_by_roots(priors: Sequence[Tree], row: Mapping[str, int]) -> Way | None:
    """A way that displays the priors as rooted trees: hung up by a leaf that all have, or else by their own roots.

    By a shared leaf one is found if there is any way at all. By their roots one is found if the priors are parts of one
    rooted lineage; None where a tree is unrooted.
    """
    priors = [tree.collapse_unary() for tree in priors]
    shared = min(set.intersection(*(set(tree.leaves) for tree in priors)), default=None)
    if shared is not None:
        priors = [root_at(tree, tree.index[shared]) for tree in priors]
    tree = rooted_supertree(priors) if all(tree.rooted for tree in priors) else None
    if tree is None:
        return None
    slots, inner = len(row), tree.n_nodes - tree.n_leaves
    number = [row[name] for name in tree.leaves] + list(range(slots, slots + inner))
    parent = [-1] * (slots + inner)
    for node, above in enumerate(tree.parent[:-1].tolist()):
        parent[number[node]] = number[above]
    return Way(parent, slots)
