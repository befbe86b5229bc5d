"""The common refinement of trees on the same leaves: the tree that has the splits of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ._same_leaves import check_same_leaves
from ._tree import Tree

__all__ = ["common_refinement", "merged_alike"]


def common_refinement(trees: Sequence[Tree]) -> Tree:
    """The unrooted tree whose splits are those of all the given trees together, on the leaves of the first.

    It resolves exactly the quartets that any of the trees resolves, and displays each of them. The trees are hung up by
    the same leaf, so that a split is the clade of the leaves below an edge. Clades are taken from small to large; each
    joins the subtrees that its own children have grown into so far, and contradicts an earlier one if these hold a leaf
    that the clade does not. Time and memory are linear in the number of nodes, but for the sorting.

    Parameters
    ----------
    trees
        One or more trees on the same leaves; roots do not matter.

    Returns
    -------
    Tree
        Unrooted, without lengths, support or names of internal nodes.

    Raises
    ------
    ValueError
        If the trees contradict each other (a quartet that shows it is named) or do not have the same leaves.

    Examples
    --------
    >>> from celltreeqm.trees._tree import Tree
    >>> first = Tree([5, 5, 6, 6, 6, 6, -1], ["a", "b", "c", "d", "e"])  # ((a, b), c, d, e)
    >>> second = Tree([6, 6, 6, 5, 5, 6, -1], ["a", "b", "c", "d", "e"])  # (a, b, c, (d, e))
    >>> common_refinement([first, second])
    Tree(5 leaves, 3 internal nodes, unrooted, binary, no lengths)
    """
    if not isinstance(trees, Sequence):
        raise TypeError(f"A {type(trees).__name__} was given; a sequence of trees was needed. Make a list of them.")
    if not trees:
        raise ValueError("No trees were given; a common refinement needs at least one.")
    first = trees[0]
    for tree in trees[1:]:
        check_same_leaves(first, tree)
    n = first.n_leaves
    hung = [_hang(tree, first) for tree in trees]
    clades = sorted(
        (size, t, node) for t, (sizes, _, _) in enumerate(hung) for node, size in sizes.items() if size < n - 1
    )

    parent = [-1] * n
    below = [1] * n
    shortcut = list(range(n))  # towards the subtree that a node is in now
    for size, t, node in clades:
        tops = set()
        for leaf in hung[t][1][node]:
            top = leaf
            while shortcut[top] != top:
                shortcut[top] = shortcut[shortcut[top]]
                top = shortcut[top]
            tops.add(top)
        if len(tops) == 1:
            continue  # the clade is there already
        if sum(below[top] for top in tops) != size:
            clade = {trees[t].leaves[leaf] for leaf in _leaves_below(hung[t][2], node, n)}
            for top in tops:
                grown = {first.leaves[leaf] for leaf in _leaves_below(parent, top, n)}
                if grown - clade:
                    a, b, c, d = min(grown & clade), min(clade - grown), min(grown - clade), first.leaves[0]
                    raise ValueError(
                        f"The trees contradict each other: one says {a!r}, {b!r} | {c!r}, {d!r}, another "
                        f"{a!r}, {c!r} | {b!r}, {d!r}. Correct one of them or leave it out."
                    )
        for top in tops:
            parent[top] = shortcut[top] = len(parent)
        shortcut.append(len(parent))
        parent.append(-1)
        below.append(size)
    if n > 1:
        parent = [up if up >= 0 else len(parent) for up in parent] + [-1]
    return Tree(parent, first.leaves)


def merged_alike(trees: Sequence[Tree]) -> list[Tree]:
    """The same trees, but those on the same leaves as one, their common refinement."""
    alike: dict[frozenset[str], list[Tree]] = {}
    for tree in trees:
        alike.setdefault(frozenset(tree.leaves), []).append(tree)
    return [group[0] if len(group) == 1 else common_refinement(group) for group in alike.values()]


def _hang(tree: Tree, first: Tree) -> tuple[dict[int, int], dict[int, list[int]], list[int]]:
    """A tree hung up by the first tree's first leaf: ``(sizes, members, parent)``.

    For each internal node the number of leaves below it, and one leaf (by the first tree's number) below each child.
    """
    n, hook = tree.n_leaves, tree.index[first.leaves[0]]
    parent = tree.parent.tolist()
    path = [hook]
    while parent[path[-1]] >= 0:
        path.append(parent[path[-1]])
    for node, above in pairwise(path):
        parent[above] = node
    parent[hook] = -1
    turned = set(path)
    sizes: dict[int, int] = {}
    members: dict[int, list[int]] = {}
    for node in [node for node in range(tree.n_nodes) if node not in turned] + path[:0:-1]:
        if node >= n and node not in sizes:
            continue  # a root of one child, now without any
        size, leaf = (1, first.index[tree.leaves[node]]) if node < n else (sizes[node], members[node][0])
        if parent[node] != hook:
            sizes[parent[node]] = sizes.get(parent[node], 0) + size
            members.setdefault(parent[node], []).append(leaf)
    return sizes, members, parent


def _leaves_below(parent: list[int], top: int, n: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for node, above in enumerate(parent):
        children.setdefault(above, []).append(node)
    found, stack = [], [top]
    while stack:
        node = stack.pop()
        if node < n:
            found.append(node)
        stack.extend(children.get(node, ()))
    return found
