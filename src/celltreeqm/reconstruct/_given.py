"""Which edges of a tree the prior gave: all of their split, part of it, or none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..trees import Tree, check_priors
from ..trees._splits import informative, leaf_intervals, split_hashes
from ..trees._tree_checks import check_tree

__all__ = ["Given", "edge_sides", "given_edges"]

Given: TypeAlias = Literal["yes", "partly", "no"]


def given_edges(tree: Tree, prior: Tree | Iterable[Tree] | None) -> tuple[Given, ...]:
    """For the edge above each node whether the prior gave its split.

    "yes": every tree that displays the prior has the split, because it is one of a prior tree's and all other leaves
    have their sides from the other prior trees. "partly": among the leaves of some prior tree it is one of that tree's
    splits, with at least two leaves on either side, but where other leaves belong was left to the features. "no":
    neither; so too the edges of leaves and whatever else makes no split.

    Two partial splits of the prior say more together than either: if A | B and C | D hold, A and C, C and B, B and D
    have leaves in common and A and D have none, then A | B + D holds. By this rule sides are decided. It never says
    "yes" of a split that another tree under the prior lacks. Of three or more prior trees that overlap it may call a
    split partly given that takes all of them together to be implied.

    Parameters
    ----------
    tree
        Any tree, rooted or not: where the roots of tree and prior are does not matter.
    prior
        What is known, on leaves of the tree.

    Returns
    -------
    tuple of str
        "yes", "partly" or "no" for each node.

    Examples
    --------
    >>> from celltreeqm.trees import parse_newick
    >>> tree = parse_newick("(((a,b),c),(d,e));")
    >>> given = given_edges(tree, parse_newick("((a,b),(c,d));"))
    >>> [(tree.leaves_below(node), given[node]) for node in range(5, 8)]
    [(('d', 'e'), 'no'), (('a', 'b'), 'partly'), (('a', 'b', 'c'), 'no')]
    """
    check_tree(tree)
    priors = [one.restrict(one.leaves) for one in check_priors(prior, tree.leaves) if one.n_leaves > 3]
    given: list[Given] = ["no"] * tree.n_nodes
    nodes = informative(tree)
    if not priors or not len(nodes):
        return tuple(given)
    sides = edge_sides(tree, nodes)
    parts = [_partial_splits(one, tree) for one in priors]
    every = np.concatenate(parts)
    every = np.concatenate([every, every[:, ::-1]])  # C | D and D | C
    answer: dict[int, Given] = {}
    for one, partial in zip(priors, parts, strict=True):
        inside = np.array([name in one.index for name in tree.leaves])
        known = {row.tobytes() for row in np.concatenate([partial[:, 0], partial[:, 1]])}
        for row, node in enumerate(nodes.tolist()):
            if answer.get(node) == "yes" or (sides[row] & inside).tobytes() not in known:
                continue
            decided = inside.all() or (len(priors) > 1 and _decides_all(sides[row], inside, every))
            answer[node] = "yes" if decided else "partly"
    by_split = {key: answer.get(node, "no") for key, node in _keys(tree, nodes)}
    trivial = (tree.n_below < 2) | (tree.n_below > tree.n_leaves - 2)
    for node, key in enumerate(map(tuple, split_hashes(tree).tolist())):
        if not trivial[node]:
            given[node] = by_split[key]
    return tuple(given)


def edge_sides(tree: Tree, nodes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """bool[e, n], the leaves below some nodes."""
    order, start, stop = leaf_intervals(tree)
    sides = np.zeros((len(nodes), tree.n_leaves), dtype=bool)
    for row, node in enumerate(nodes.tolist()):
        sides[row, order[start[node] : stop[node]]] = True
    return sides


def _keys(tree: Tree, nodes: NDArray[np.int64]) -> list[tuple[tuple[int, int], int]]:
    return [((a, b), node) for (a, b), node in zip(split_hashes(tree)[nodes].tolist(), nodes.tolist(), strict=True)]


def _partial_splits(prior: Tree, tree: Tree) -> NDArray[np.bool_]:
    """bool[s, 2, n], both sides of each split of a prior tree among the leaves of a larger tree."""
    splits = prior.splits()
    columns = [tree.index[name] for name in prior.leaves]
    sides = np.zeros((len(splits), 2, tree.n_leaves), dtype=bool)
    sides[:, 0, columns], sides[:, 1, columns] = splits, ~splits
    return sides


def _decides_all(side: NDArray[np.bool_], inside: NDArray[np.bool_], partial: NDArray[np.bool_]) -> bool:
    """Whether a split that holds among some leaves, with the partial splits, holds among all, as in ``side``."""
    halves = [side & inside, ~side & inside]
    other, another = partial[:, 0], partial[:, 1]  # C | D
    grown = True
    while grown:
        grown = False
        for own, opposite in ((0, 1), (1, 0)):
            a, b = halves[own], halves[opposite]
            meets = other[:, a].any(axis=1) & other[:, b].any(axis=1) & another[:, b].any(axis=1)
            told = another[meets & ~another[:, a].any(axis=1)].any(axis=0) & ~b
            if told.any():
                halves[opposite] = b | told
                grown = True
    return bool((halves[0] | halves[1]).all() and ((halves[0] == side).all() or (halves[1] == side).all()))
