"""Trees made of a tree: of some of its leaves or edges, without its root, or with its leaves in another order."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._tree import Tree
from ._tree_checks import check_nodes, check_ordered, some_names

__all__ = ["collapsed", "reordered", "restricted", "unrooted"]


def restricted(tree: Tree, leaves: Iterable[str]) -> Tree:
    """See :meth:`Tree.restrict`."""
    if not isinstance(leaves, Iterable):
        raise TypeError(f"leaves is of type {type(leaves).__name__}; names were needed, for instance tree.leaves.")
    asked = [leaves] if isinstance(leaves, str) else list(leaves)
    for name in asked:
        if not isinstance(name, Hashable):
            raise TypeError(f"leaves holds {name!r}, which is no name; names were needed.")
    wanted = set(asked)
    keep = [i for i, name in enumerate(tree.leaves) if name in wanted]
    if not keep:
        raise ValueError(
            f"None of the {len(wanted)} names asked for is a leaf of this tree; its leaves are "
            f"{some_names(tree.leaves)}. Give at least one of them."
        )
    n, m = tree.n_leaves, tree.n_nodes
    parent = tree.parent.tolist()
    count = [0] * m
    for leaf in keep:
        count[leaf] = 1
    branches = [0] * m
    for node in range(m - 1):
        if count[node]:
            count[parent[node]] += count[node]
            branches[parent[node]] += 1
    top = next(node for node in range(m) if count[node] == len(keep))
    stays = [(node < n and count[node] == 1) or branches[node] > 1 for node in range(m)]
    number = {node: i for i, node in enumerate(node for node in range(m) if stays[node])}
    up: list[int] = []
    along: list[float] = []
    for node in number:
        length = 0.0 if tree.lengths is None else float(tree.lengths[node])
        above = parent[node]
        while node != top and not stays[above]:
            if tree.lengths is not None:
                length += float(tree.lengths[above])
            above = parent[above]
        up.append(-1 if node == top else number[above])
        along.append(length)
    kept = list(number)
    small = Tree(
        up,
        [tree.leaves[i] for i in keep],
        None if tree.lengths is None else along,
        None if tree.node_names is None else [tree.node_names[i - n] for i in kept[len(keep) :]],
        None if tree.support is None else tree.support[kept],
        rooted=tree.rooted,
    )
    return small if tree.rooted else small.unroot()


def collapsed(tree: Tree, nodes: ArrayLike) -> Tree:
    """See :meth:`Tree.collapse`."""
    gone = np.zeros(tree.n_nodes, dtype=bool)
    picked = np.asarray(nodes)
    if picked.dtype == bool and picked.shape != gone.shape:
        raise ValueError(f"The mask has shape {picked.shape}; one value a node was needed: ({tree.n_nodes},).")
    if picked.dtype != bool:
        check_nodes(picked, tree.n_nodes)
    if picked.size:
        gone[picked] = True
    gone[: tree.n_leaves] = False
    gone[-1] = False
    above = tree.parent.tolist()
    for node in range(tree.n_nodes - 2, -1, -1):
        if gone[above[node]]:
            above[node] = above[above[node]]
    stays = np.flatnonzero(~gone)
    number = np.full(tree.n_nodes, -1)
    number[stays] = np.arange(len(stays))
    up = [-1 if above[node] < 0 else int(number[above[node]]) for node in stays.tolist()]
    return _take(tree, stays, up)


def unrooted(tree: Tree) -> Tree:
    """See :meth:`Tree.unroot`."""
    n = tree.n_leaves
    top = np.append(np.flatnonzero(tree.parent == tree.root), tree.root)
    bare = n == 1 or tree.degree[-1] > 2 or not (tree.degree[top] == 1).any()
    plain = tree if bare else tree.collapse_unary()  # the edges that meet at the root must end at branchings
    if plain.degree[-1] != 2 or n < 3:
        return plain if not plain.rooted else replace(plain, rooted=False)
    other, new_root = np.flatnonzero(plain.parent == plain.root).tolist()  # the later one cannot be a leaf
    up = plain.parent[:-1].copy()
    up[new_root], up[other] = -1, new_root
    along = None if plain.lengths is None else plain.lengths[:-1].copy()
    if along is not None:
        along[other] += along[new_root]
    held = None if plain.support is None else plain.support[:-1].copy()
    if held is not None:
        held[other] = np.fmax(held[other], held[new_root]) if other >= n else held[other]
    inner = None if plain.node_names is None else plain.node_names[:-1]
    return Tree(up, plain.leaves, along, inner, held, rooted=False)


def reordered(tree: Tree, leaves: Sequence[str]) -> Tree:
    """See :meth:`Tree.reorder`."""
    check_ordered(leaves)
    leaves = list(leaves)
    given = set(leaves)
    if len(leaves) != tree.n_leaves or given != set(tree.leaves):
        missing = [name for name in tree.leaves if name not in given]
        extra = [name for name in leaves if name not in tree.index]
        raise ValueError(
            f"The order holds {len(leaves)} names for the tree's {tree.n_leaves} leaves"
            + (f"; missing: {some_names(missing)}" if missing else "")
            + (f"; not in the tree: {some_names(extra)}" if extra else "")
            + ". Give every leaf exactly once."
        )
    old = np.array([tree.index[name] for name in leaves], dtype=np.int64)
    order = np.concatenate([old, np.arange(tree.n_leaves, tree.n_nodes)])
    return _take(tree, order, tree.parent[order].tolist())


def _take(tree: Tree, nodes: NDArray[np.int64], parent: Sequence[int]) -> Tree:
    """The tree of some nodes, leaves first, with their parents in the new numbers."""
    n = tree.n_leaves
    return Tree(
        parent,
        [tree.leaves[i] for i in nodes[:n].tolist()],
        None if tree.lengths is None else tree.lengths[nodes],
        None if tree.node_names is None else [tree.node_names[i - n] for i in nodes[n:].tolist()],
        None if tree.support is None else tree.support[nodes],
        rooted=tree.rooted,
    )
