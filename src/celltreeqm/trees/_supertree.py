"""One rooted tree for several rooted trees on overlapping leaves (Aho, Sagiv, Szymanski and Ullman's BUILD)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ._splits import leaf_intervals
from ._tree import Tree

__all__ = ["rooted_supertree"]


def rooted_supertree(trees: Sequence[Tree]) -> Tree | None:
    """A rooted tree that displays all the given ones, roots and all, or None if there is none.

    Below the root, leaves that any of the trees has in one of its branches must stay together; if that makes them all
    one group, no tree displays them all. Otherwise each group is a branch, and the same is asked again of what the
    trees say inside it (Aho et al., SIAM J. Comput. 10, 1981). This takes the time of all the trees' leaves for each
    level of the result.

    Parameters
    ----------
    trees
        Rooted trees on any leaves.

    Returns
    -------
    Tree or None
        On all leaves of the trees, in the order of first mention; no more resolved than they make it.

    Examples
    --------
    >>> from celltreeqm.trees._tree import Tree
    >>> first = Tree([3, 3, 4, 4, -1], ["a", "b", "c"], rooted=True)  # ((a, b), c)
    >>> second = Tree([3, 3, 4, 4, -1], ["b", "d", "a"], rooted=True)  # ((b, d), a)
    >>> print(rooted_supertree([first, second]))
    ┬─┬─a
    │ └─┬─b
    │   └─d
    └─c
    """
    leaves = list(dict.fromkeys(name for tree in trees for name in tree.leaves))
    row = {name: i for i, name in enumerate(leaves)}
    rows, spans = [], []  # a node's leaves are rows[start:stop]
    for tree in trees:
        order, start, stop = leaf_intervals(tree)
        rows.append(np.array([row[name] for name in tree.leaves], dtype=np.int64)[order])
        spans.append((start, stop))

    parent = [-1] * len(leaves)
    place = np.zeros(len(leaves), dtype=np.int64)
    tops: list[tuple[int, tuple[int, ...]]] = [(t, (tree.root,)) for t, tree in enumerate(trees)]
    waiting = [(np.arange(len(leaves)), tops, -1)]
    while waiting:
        members, said, above = waiting.pop()
        if len(members) == 1:
            parent[members[0]] = above
            continue
        branches = []
        for t, nodes in said:
            while len(nodes) == 1 and nodes[0] >= trees[t].n_leaves:
                nodes = trees[t].children[nodes[0]]
            branches += [(t, node, rows[t][spans[t][0][node] : spans[t][1][node]]) for node in nodes]
        place[members] = np.arange(len(members))
        one = np.concatenate([np.repeat(place[held[0]], len(held)) for _, _, held in branches])
        other = np.concatenate([place[held] for _, _, held in branches])
        together = coo_array((np.ones(len(one), dtype=np.int8), (one, other)), shape=(len(members), len(members)))
        count, group = connected_components(together, directed=False)
        if count == 1:
            return None
        inside: list[dict[int, tuple[int, ...]]] = [{} for _ in range(count)]
        for t, node, held in branches:
            of_group = inside[group[place[held[0]]]]
            of_group[t] = (*of_group.get(t, ()), node)
        waiting += [(members[group == g], list(inside[g].items()), len(parent)) for g in range(count)]
        parent.append(above)
    return Tree(parent, leaves, rooted=True)
