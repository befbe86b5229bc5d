"""Rooting: where on a tree its root goes, by a point, by the midpoint, by an outgroup or by a prior."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from numbers import Real
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ._priors import listed_priors
from ._splits import split_hashes
from ._tree import Tree
from ._tree_checks import check_tree, count_of, is_whole, some_names

__all__ = ["RootedBy", "root_at", "root_at_midpoint", "root_by_outgroup", "root_by_prior"]

RootedBy = Literal["prior", "prior and midpoint", "midpoint", "midpoint, the prior's root was not found"]


def root_at(tree: Tree, node: int, *, distance_above: float | None = None) -> Tree:
    """Put the root on the edge above a node.

    Distances between leaves do not change. Support belongs to splits and goes with them; both new root edges have that
    of the edge they halve. A root of two children is dissolved first, so the edge above either of them is the whole
    edge between the two.

    Parameters
    ----------
    tree
        Any tree of two or more leaves.
    node
        The number of the node below the edge.
    distance_above
        How far above the node, from 0 to the length of the edge; None means the middle.

    Returns
    -------
    Tree
        A rooted tree whose root has two children.

    Examples
    --------
    >>> tree = Tree([4, 4, 5, 5, 5, -1], ["a", "b", "c", "d"], [1, 1, 1, 2, 1, 0])
    >>> root_at(tree, 3, distance_above=0.5).lengths[3]
    np.float64(0.5)
    >>> root_at(tree, 3).clades(1)
    (('a', 'b', 'c'), ('d',))
    """
    check_tree(tree)
    n, m = tree.n_leaves, tree.n_nodes
    if not is_whole(node) or not 0 <= node < m:
        raise ValueError(f"Node {node!r} was given; this tree has nodes 0 to {m - 1}. Give the number of one.")
    if tree.n_below[node] == n:
        raise ValueError(
            f"All leaves are below node {node}, so a root above it would separate none. Give a node further down."
        )
    top = int(np.flatnonzero(tree.n_below == n)[0])  # what is above the last common ancestor of all leaves goes
    parent, below = tree.parent.copy(), np.flatnonzero(tree.parent == top)
    parent[top] = -1
    along = np.zeros(m) if tree.lengths is None else tree.lengths.copy()
    held = np.full(m, np.nan) if tree.support is None else tree.support.copy()
    gone = tree.n_below == n
    if len(below) == 2:  # one edge in truth: it belongs to the side of the new root, the other side hangs from there
        here = node
        while parent[here] != top:
            here = int(parent[here])
        other = int(below[below != here][0])
        along[here] += along[other]
        held[here] = _held_together(held, here, other, n)
        parent[here], parent[other] = other, -1
    else:
        gone[top] = False

    given: object = distance_above
    if given is not None and not isinstance(given, Real):
        raise ValueError(f"distance_above={given!r} was given; a number was needed, or None for the middle.")
    length = float(along[node])
    distance = length / 2 if distance_above is None else float(distance_above)
    if distance_above is not None and tree.lengths is None:
        raise ValueError("distance_above was given, but the tree has no branch lengths. Leave it out.")
    if not min(length, 0.0) <= distance <= max(length, 0.0):
        raise ValueError(
            f"distance_above is {distance:g}, but the edge above node {node} has length {length:g}. "
            "Give a distance within the edge, or None for its middle."
        )
    path = [node]
    while parent[path[-1]] >= 0:
        path.append(int(parent[path[-1]]))
    along[path[2:]], held[path[2:]] = along[path[1:-1]], held[path[1:-1]]
    along[[node, path[1]]] = distance, length - distance
    held[path[1]] = held[node]
    parent[path[2:]] = path[1:-1]
    parent[[node, path[1]]] = m

    stays = np.append(np.flatnonzero(~gone), m)
    number = np.full(m + 1, -1)
    number[stays] = np.arange(len(stays))
    return Tree(
        np.append(number[parent[stays[:-1]]], -1),
        tree.leaves,
        None if tree.lengths is None else np.append(along[stays[:-1]], 0.0),
        None if tree.node_names is None else [tree.node_names[i - n] for i in stays[n:-1].tolist()] + [None],
        None if tree.support is None else np.append(held[stays[:-1]], np.nan),
        rooted=True,
    )


def root_at_midpoint(tree: Tree) -> Tree:
    """Root where the largest distance to a leaf is smallest: halfway between the two leaves furthest apart.

    Negative lengths count as 0 in the search and are kept in the result; a tree without lengths is measured in edges.
    Of equally good edges the one that divides the leaves most evenly is taken, then the one with the lower split hash,
    so that neither the old root nor the order of the leaves matters. Single-child nodes are dissolved. O(n).

    Parameters
    ----------
    tree
        Any tree.

    Returns
    -------
    Tree
        A rooted tree; its root has two children if there are two leaves or more.

    Examples
    --------
    >>> tree = Tree([4, 4, 5, 5, 5, -1], ["a", "b", "c", "d"], [1, 1, 1, 5, 1, 0])
    >>> root_at_midpoint(tree).clades(1)
    (('a', 'b', 'c'), ('d',))
    """
    plain = _plain(tree)
    return _root_among(plain, np.ones(plain.n_nodes, dtype=bool))


def root_by_outgroup(tree: Tree, outgroup: str | Iterable[str]) -> Tree:
    """Root in the middle of the edge that separates an outgroup from all other leaves.

    Parameters
    ----------
    tree
        Any tree of two or more leaves. Single-child nodes are dissolved.
    outgroup
        A leaf or several, which must be one side of a split.

    Returns
    -------
    Tree
        A rooted tree; the outgroup is one of the two clades at its root.

    Raises
    ------
    ValueError
        If other leaves stand between those of the outgroup.

    Examples
    --------
    >>> tree = Tree([4, 4, 5, 5, 5, -1], ["a", "b", "c", "d"])
    >>> root_by_outgroup(tree, ["c", "d"]).clades(1)
    (('a', 'b'), ('c', 'd'))
    """
    check_tree(tree)
    if not isinstance(outgroup, Iterable):
        raise TypeError(f"outgroup is of type {type(outgroup).__name__}; a name or several were needed.")
    names = {outgroup} if isinstance(outgroup, str) else set(outgroup)
    unknown = sorted(names - set(tree.leaves))
    if unknown:
        raise ValueError(
            f"{count_of(len(unknown), 'name of the outgroup is no leaf', 'names of the outgroup are no leaves')} of "
            f"the tree: {some_names(unknown)}. Correct the outgroup."
        )
    if not 0 < len(names) < tree.n_leaves:
        raise ValueError(
            f"The outgroup has {len(names)} of the tree's {tree.n_leaves} leaves; it needs at least one and not all."
        )
    plain = _plain(tree)
    inside = np.array([name in names for name in plain.leaves])
    count = _sums(plain, inside.astype(np.int64))
    # how many other leaves share the outgroup's side of each edge, where it is on one side
    as_clade = np.where(count == len(names), plain.n_below - len(names), plain.n_leaves)
    as_rest = np.where(count == 0, plain.n_leaves - plain.n_below - len(names), plain.n_leaves)
    intruders = np.minimum(as_clade, as_rest)[:-1]
    node = int(np.argmin(intruders))
    if intruders[node]:
        side = np.isin(plain.leaves, plain.leaves_below(node)) == (as_clade[node] <= as_rest[node])
        between = [name for name, a, b in zip(plain.leaves, side, inside, strict=True) if a and not b]
        raise ValueError(
            f"The outgroup of {len(names)} leaves is not one side of a split: the smallest side that holds it "
            f"also holds {some_names(between)}. Add them to the outgroup, or leave out the leaves that are among them."
        )
    return root_at(plain, node)


def root_by_prior(tree: Tree, prior: Tree | Iterable[Tree] | None) -> tuple[Tree, RootedBy]:
    """Root where the prior locates the root, else at the midpoint of what it leaves open.

    A rooted prior whose root has two child clades asks for an edge that separates them. One whose root is a polytomy
    asks that each of its child clades, among the prior's leaves, stays together. If that leaves several edges, the root
    is put where the largest distance to a leaf is smallest (see :func:`root_at_midpoint`). Several rooted priors are
    respected together. If one of them has its root inside a clade of another, it cannot locate the root; if two locate
    it in different places, their clades are kept together and the midpoint decides. Unrooted priors say nothing, nor
    does a prior that the tree does not display at its root.

    Parameters
    ----------
    tree
        Any tree; its own root does not matter. Single-child nodes are dissolved.
    prior
        One tree, several, or None. Leaves that ``tree`` does not have are left out of account.

    Returns
    -------
    tuple[Tree, str]
        The rooted tree, and what decided: ``"prior"``, ``"prior and midpoint"``, ``"midpoint"`` or
        ``"midpoint, the prior's root was not found"``.

    Examples
    --------
    >>> tree = Tree([4, 4, 5, 5, 5, -1], ["a", "b", "c", "d"])
    >>> rooted, how = root_by_prior(tree, Tree([3, 3, 4, 4, -1], ["a", "b", "d"], rooted=True))
    >>> how, rooted.clades(1)
    ('prior', (('a', 'b'), ('c', 'd')))
    """
    priors = listed_priors(prior)
    plain = _plain(tree)
    allowed = np.ones(plain.n_nodes, dtype=bool)
    separating = []
    lost = False
    for known in priors:
        if not known.rooted or len(set(known.leaves) & set(plain.leaves)) < 2:
            continue
        keeps, separates = _edges_that_respect(plain, known)
        if not (allowed & keeps)[:-1].any():
            lost = True
            continue
        allowed &= keeps
        if separates is not None:
            separating.append(separates)

    located = [edges for edges in separating if (edges & allowed).any()]
    common = np.logical_and.reduce([*located, allowed])
    how: RootedBy
    if located and common.any():
        allowed, how = common, "prior"
    elif not allowed.all():
        how = "prior and midpoint"
    else:
        how = "midpoint, the prior's root was not found" if lost else "midpoint"
    return _root_among(plain, allowed), how


def _plain(tree: Tree) -> Tree:
    """Unrooted, without single-child nodes."""
    check_tree(tree)
    return (tree.collapse_unary() if (tree.degree == 1).any() else tree).unroot()


def _held_together(held: NDArray[np.float64], here: int, other: int, n: int) -> float:
    """Support of the one edge that two root edges make; that of a leaf's edge is the leaf's."""
    for side in (here, other):
        if side < n:
            return float(held[side])
    return float(np.fmax(held[here], held[other]))


def _sums(tree: Tree, at_leaves: NDArray[np.int64]) -> NDArray[np.int64]:
    """int[m], the sum of the leaves' values below each node."""
    total = at_leaves.tolist() + [0] * (tree.n_nodes - tree.n_leaves)
    for node, up in enumerate(tree.parent[:-1].tolist()):
        total[up] += total[node]
    return np.array(total, dtype=np.int64)


def _root_among(plain: Tree, allowed: NDArray[np.bool_]) -> Tree:
    """Root at the point of the allowed edges from which the furthest leaf is nearest."""
    n = plain.n_leaves
    if n == 1:
        return replace(plain, rooted=True)
    if n == 2:
        return root_at(plain, 0)
    along = np.maximum(np.ones(plain.n_nodes) if plain.lengths is None else plain.lengths, 0.0)
    below, beyond = _furthest_leaves(plain.parent.tolist(), along.tolist(), n)
    point = np.clip((beyond + along - below) / 2, 0.0, along)
    furthest = np.maximum(below + point, beyond + along - point)
    edges = np.flatnonzero(allowed[:-1])
    edges = edges[furthest[edges] <= furthest[edges].min() * (1 + 1e-9)]
    if len(edges) > 1:
        evenness = np.minimum(plain.n_below, n - plain.n_below)[edges]
        edges = edges[evenness == evenness.max()]
    if len(edges) > 1:
        edges = edges[[min(range(len(edges)), key=split_hashes(plain)[edges].tolist().__getitem__)]]
    node = int(edges[0])
    measured = plain.lengths is not None and along[node] > 0
    return root_at(plain, node, distance_above=float(point[node]) if measured else None)


def _furthest_leaves(parent: list[int], along: list[float], n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For each edge the distance from its lower end to the furthest leaf below, and from its upper end to any other."""
    m = len(parent)
    first, second = [0.0] * m, [0.0] * m
    for node in range(m - 1):
        up, reach = parent[node], first[node] + along[node]
        if reach > first[up]:
            first[up], second[up] = reach, first[up]
        elif reach > second[up]:
            second[up] = reach
    beyond = [0.0] * m
    for node in range(m - 2, -1, -1):
        up = parent[node]
        beside = second[up] if first[node] + along[node] == first[up] else first[up]
        above = beyond[up] + along[up] if up < m - 1 else 0.0
        beyond[node] = max(beside, above)
    return np.array(first), np.array(beyond)


def _edges_that_respect(plain: Tree, prior: Tree) -> tuple[NDArray[np.bool_], NDArray[np.bool_] | None]:
    """Masks over the nodes: whose edges keep the prior's child clades together, and whose separate them (if two).

    A clade stays together as long as the root is not strictly inside its side of the split that cuts it off.
    """
    known = prior.restrict(plain.leaves)
    label_of = dict(zip(known.leaves, known.clade_labels(1).tolist(), strict=True))
    size = np.bincount(list(label_of.values())).tolist()
    n, m, parent = plain.n_leaves, plain.n_nodes, plain.parent.tolist()
    none, mixed = -1, -2
    label = [label_of.get(name, none) for name in plain.leaves] + [none] * (m - n)
    count = [int(x != none) for x in label]
    for node in range(m - 1):
        up = parent[node]
        count[up] += count[node]
        if label[node] != none and label[up] != label[node]:
            label[up] = label[node] if label[up] == none else mixed

    whole = [label[node] >= 0 and count[node] == size[label[node]] for node in range(m)]
    ancestor = [-1] * len(size)
    for node in range(m - 1, -1, -1):
        if whole[node]:
            ancestor[label[node]] = node
    separates = np.array(whole) if len(size) == 2 else None
    around = [i for i, node in enumerate(ancestor) if node < 0]  # a clade that the present root is strictly inside of
    allowed_from = m - 1  # the highest node whose edge may do
    if around:
        others = _sums(plain, np.array([int(x not in (none, around[0])) for x in label[:n]]))
        rest = np.flatnonzero((np.array(count) == others) & (others == len(label_of) - size[around[0]]))
        if len(around) > 1 or not len(rest):
            return np.zeros(m, dtype=bool), separates
        allowed_from = int(rest[-1])
    keeps = [False] * m
    keeps[allowed_from] = True
    tops = set(ancestor)
    for node in range(allowed_from - 1, -1, -1):
        keeps[node] = keeps[parent[node]] and parent[node] not in tops
    return np.array(keeps), separates
