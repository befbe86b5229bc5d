"""One form for each prior: what is drawn depends on what it says, not on how it is written down."""

from __future__ import annotations

import numpy as np

from ...trees import Tree, root_at

__all__ = ["in_one_form"]


def in_one_form(tree: Tree) -> Tree:
    """The same unrooted tree, leaves in the order of their names, nodes in that of their leaves, rooted at the first.

    Quartets are drawn by number, and a tree rooted elsewhere numbers them otherwise.
    """
    if tree.n_leaves < 4:
        return tree
    names = sorted(tree.leaves)
    tree = tree.unroot().restrict(names).reorder(names)
    tree = root_at(tree, 0)
    n = tree.n_leaves
    first = np.concatenate([np.arange(n), np.full(tree.n_nodes - n, n)])
    size = np.concatenate([np.ones(n, dtype=int), np.zeros(tree.n_nodes - n, dtype=int)])
    for leaf in range(n):
        node = int(tree.parent[leaf])
        while node >= 0:
            first[node] = min(first[node], leaf)
            size[node] += 1
            node = int(tree.parent[node])
    order = np.concatenate([np.arange(n), n + np.lexsort((size[n:], first[n:]))])
    place = np.argsort(order)
    parent = [-1 if above < 0 else int(place[above]) for above in tree.parent[order].tolist()]
    lengths = None if tree.lengths is None else tree.lengths[order]
    return Tree(parent, names, lengths, rooted=False)
