"""Trees as nested tuples of names, the plain form that the other oracles and the strategies work on.

A leaf is its name; an internal node is the tuple of its children: ``(("a", "b"), "c", "d")``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from celltreeqm.trees import Tree

Nested = str | tuple["Nested", ...]


def from_nested(nested: Nested, leaves: Sequence[str] | None = None, *, rooted: bool = False) -> Tree:
    """The Tree of a nested tuple; its leaves in the order given, or from left to right.

    >>> from_nested((("a", "b"), "c", "d")).parent.tolist()
    [4, 4, 5, 5, 5, -1]
    """
    names = list(leaves_of(nested) if leaves is None else leaves)
    parent = [-1] * len(names)

    def number(node: Nested) -> int:
        if isinstance(node, str):
            return names.index(node)
        below = [number(child) for child in node]
        parent.append(-1)
        for child in below:
            parent[child] = len(parent) - 1
        return len(parent) - 1

    number(nested)
    return Tree(parent, names, rooted=rooted)


def to_nested(tree: Tree) -> Nested:
    """The nested tuple of a Tree, from its parent array alone.

    >>> to_nested(Tree([4, 4, 5, 5, 5, -1], list("abcd")))
    ('c', 'd', ('a', 'b'))
    """
    below: dict[int, list[int]] = {}
    root = -1
    for node, up in enumerate(tree.parent.tolist()):
        if up < 0:
            root = node
        else:
            below.setdefault(up, []).append(node)

    def nest(node: int) -> Nested:
        return tuple(nest(child) for child in below[node]) if node in below else tree.leaves[node]

    return nest(root)


def leaves_of(nested: Nested) -> list[str]:
    """The names in a nested tuple, from left to right."""
    if isinstance(nested, str):
        return [nested]
    return [name for child in nested for name in leaves_of(child)]


def restrict_nested(nested: Nested, leaves: Iterable[str]) -> Nested | None:
    """The nested tuple on some of its leaves, without single-child nodes; None if none is left.

    >>> restrict_nested(((("a", "b"), "c"), "d"), ["a", "c"])
    ('a', 'c')
    """
    wanted = set(leaves)
    if isinstance(nested, str):
        return nested if nested in wanted else None
    kept = [small for small in (restrict_nested(child, wanted) for child in nested) if small is not None]
    if not kept:
        return None
    return kept[0] if len(kept) == 1 else tuple(kept)


def clades_of(nested: Nested) -> list[frozenset[str]]:
    """The leaf set below every internal node, the root's last; single-child nodes repeat their child's."""
    if isinstance(nested, str):
        return []
    return [clade for child in nested for clade in clades_of(child)] + [frozenset(leaves_of(nested))]
