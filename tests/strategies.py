"""Hypothesis strategies for trees, priors that a tree displays, and distances.

They draw few and small choices, and every choice shrinks towards the plainest: fewer leaves, stars and caterpillars
in the order of the names, no single-child nodes, lengths of 0.01. Nothing here uses the library but the ``Tree`` value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from celltreeqm.trees import Tree
from tests.oracles import adjacency, from_nested, leaves_of, path_distances, restrict_nested, to_nested
from tests.oracles.nested import Nested

Draw = Any

POSITIVE = st.integers(1, 1000).map(lambda hundredths: hundredths / 100)
ANY_LENGTH = st.sampled_from([0.0, 1.0, -0.5]) | st.floats(-1e3, 1e3, allow_nan=False, allow_subnormal=False)
ANY_NAME = st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), min_size=1, max_size=5) | st.sampled_from(
    ["it's", "a b", "(a,b)", "a:1", "[x]", "a;", "_", "a_b", "''", '"', " ", "1.5", "é", "a,b"]
)


def leaf_names(n: int, kind: Literal["plain", "any"] = "plain") -> st.SearchStrategy[list[str]]:
    """n different names: a, b, ..., z, n26, ...; or any text, with all that needs quoting in Newick."""
    if kind == "plain":
        return st.just([chr(97 + i) if i < 26 else f"n{i}" for i in range(n)])
    return st.lists(ANY_NAME, min_size=n, max_size=n, unique=True)


@st.composite
def trees(
    draw: Draw,
    min_leaves: int = 1,
    max_leaves: int = 10,
    *,
    rooted: bool | None = None,
    binary: bool = False,
    unary: bool = False,
    lengths: Literal["positive", "any"] | None = None,
    names: Literal["plain", "any"] | Sequence[str] = "plain",
    node_names: bool = False,
    support: bool = False,
) -> Tree:
    """A tree of any shape: stars, caterpillars, balanced trees and all between; leaves numbered in the names' order.

    Parameters
    ----------
    min_leaves, max_leaves
        Least and largest number of leaves (both are ignored if ``names`` holds the names themselves).
    rooted
        Whether the root means something; None draws it. An unrooted tree's root may have two children all the same.
    binary
        Always binary (the root of an unrooted one has two or three children); otherwise polytomies may occur.
    unary
        Whether there may be single-child nodes, above leaves and as the root too.
    lengths
        None; "positive": 0.01 ... 10; "any": none at all, or any finite numbers, negative and 0 among them.
    names
        "plain", "any" (see ``leaf_names``), or the names themselves.
    node_names, support
        Whether some internal nodes have names, and some internal edges a support between 0 and 1 (NaN elsewhere).
    """
    if names in ("plain", "any"):
        leaves = draw(leaf_names(draw(st.integers(min_leaves, max_leaves)), names))
    else:
        leaves = list(names)
    meant = draw(st.booleans()) if rooted is None else rooted
    nested = _shape(draw, draw(st.permutations(leaves)), binary=binary, three_at_root=not meant and draw(st.booleans()))
    if unary:
        nested = _with_single_child_nodes(draw, nested)
    bare = from_nested(nested, leaves, rooted=meant)
    n, m = bare.n_leaves, bare.n_nodes
    along = held = inner = None
    if lengths == "positive" or (lengths == "any" and draw(st.booleans())):
        one = POSITIVE if lengths == "positive" else ANY_LENGTH
        along = draw(st.lists(one, min_size=m, max_size=m))
    if node_names:
        inner = draw(st.lists(st.none() | st.sampled_from(["x", "inner node", "it's"]), min_size=m - n, max_size=m - n))
    if support and m > n:
        one = st.none() | st.integers(0, 100)
        drawn = draw(st.lists(one, min_size=m - n - 1, max_size=m - n - 1))
        held = [np.nan] * n + [np.nan if x is None else x / 100 for x in drawn] + [np.nan]
    return Tree(bare.parent, leaves, along, inner, held, rooted=meant)


@st.composite
def priors_of(draw: Draw, tree: Tree) -> Tree:
    """A tree that ``tree`` displays, in one of the forms that a prior takes.

    Clades as polytomies (with singletons, and with leaves outside); a resolved backbone on a subset; a restriction with
    some of its edges contracted; the whole tree; the whole tree with some of its edges contracted. Leaves stand in any
    order, and where the root of ``tree`` means nothing the prior may be rooted anywhere.
    """
    nested = to_nested(tree)
    form = draw(st.sampled_from(["clades", "backbone", "collapsed backbone", "full", "collapsed"]))
    if form == "clades":
        return _prior(draw, _partition(draw, nested, outside=True), tree.rooted)
    if "backbone" in form:
        nested = _backbone(draw, nested, leaves_of(nested))
    if "collapsed" in form:
        nested = _with_edges_contracted(draw, nested)
    return _prior(draw, restrict_nested(nested, leaves_of(nested)), tree.rooted)


@st.composite
def partition_and_backbones(draw: Draw, tree: Tree) -> list[Tree]:
    """A partition into clades of ``tree`` and one to three resolved backbones, within a clade or across all of them."""
    nested = to_nested(tree)
    partition = _partition(draw, nested, outside=draw(st.booleans()))
    found = [_prior(draw, partition, tree.rooted)]
    groups = [leaves_of(nested)] + [leaves_of(part) for part in partition if len(leaves_of(part)) > 2]
    for _ in range(draw(st.integers(1, 3))):
        found.append(_prior(draw, _backbone(draw, nested, draw(st.sampled_from(groups))), tree.rooted))
    return found


@st.composite
def rerootings(draw: Draw, tree: Tree, *, rooted: bool = False) -> Tree:
    """The same unrooted topology with its root at another internal node or on another edge (no lengths)."""
    return from_nested(_rerooted(draw, to_nested(tree)), tree.leaves, rooted=rooted)


@st.composite
def additive_distances(draw: Draw, tree: Tree) -> tuple[Tree, NDArray[np.float64]]:
    """The tree with lengths (its own, or positive ones drawn here) and float[n, n], its path lengths."""
    if tree.lengths is None:
        lengths = draw(st.lists(POSITIVE, min_size=tree.n_nodes, max_size=tree.n_nodes))
        tree = Tree(tree.parent, tree.leaves, lengths, tree.node_names, tree.support, rooted=tree.rooted)
    return tree, path_distances(tree)


@st.composite
def distance_matrices(draw: Draw, n: int | st.SearchStrategy[int]) -> NDArray[np.float64]:
    """float[n, n], symmetric, not negative, 0 on the diagonal; ties, zeros and duplicate rows occur."""
    size = n if isinstance(n, int) else draw(n)
    form = draw(st.sampled_from(["whole numbers", "points", "duplicates", "floats"]))
    if form in ("points", "duplicates"):
        coordinate = st.integers(0, 9) if form == "points" else st.integers(0, 1)
        points = np.array(draw(st.lists(coordinate, min_size=2 * size, max_size=2 * size)), dtype=float)
        x, y = points.reshape(2, size)
        return np.hypot(x[:, None] - x, y[:, None] - y)
    number = st.integers(0, 5) if form == "whole numbers" else st.floats(0, 100, allow_subnormal=False)
    pairs = size * (size - 1) // 2
    out = np.zeros((size, size))
    out[np.triu_indices(size, 1)] = draw(st.lists(number, min_size=pairs, max_size=pairs))
    return out + out.T


def relabellings(leaves: Sequence[str]) -> st.SearchStrategy[dict[str, str]]:
    """A mapping from each name to a name: the same names permuted, or all new ones in another order."""
    same = st.permutations(list(leaves))
    new = st.permutations([f"new{i}" for i in range(len(leaves))])
    return (same | new).map(lambda names: dict(zip(leaves, names, strict=True)))


# Shapes


def _shape(draw: Draw, leaves: Sequence[str], *, binary: bool, three_at_root: bool) -> Nested:
    items: list[Nested] = list(leaves)
    most = 3 if three_at_root else 2  # a binary tree is ready to close when so many subtrees are left
    form = draw(st.sampled_from(["caterpillar", "balanced", "random"] if binary else ["star", "caterpillar", "random"]))
    if form == "star":
        return tuple(items) if len(items) > 1 else items[0]
    while len(items) > most:
        if form == "caterpillar":
            items = [(items[0], items[1]), *items[2:]]
        elif form == "balanced":
            items = [*items[2:], (items[0], items[1])]
        else:
            size = 2 if binary else draw(st.integers(2, min(len(items), 5)))
            picked = [items.pop(draw(st.integers(0, len(items) - 1))) for _ in range(size)]
            items.insert(0, tuple(picked))
    return tuple(items) if len(items) > 1 else items[0]


def _with_single_child_nodes(draw: Draw, nested: Nested) -> Nested:
    if not isinstance(nested, str):
        nested = tuple(_with_single_child_nodes(draw, child) for child in nested)
    for _ in range(draw(st.sampled_from([0, 0, 0, 0, 0, 1, 2]))):
        nested = (nested,)
    return nested


# Priors


def _prior(draw: Draw, nested: Nested, rooted: bool) -> Tree:
    if not rooted:
        nested = _rerooted(draw, nested)
    return from_nested(nested, draw(st.permutations(leaves_of(nested))), rooted=rooted)


def _partition(draw: Draw, nested: Nested, *, outside: bool) -> Nested:
    """A root with a polytomy for each part; with ``outside`` some parts are left out, and some leaves of others."""

    def parts_of(node: Nested, top: bool = False) -> list[Nested]:
        if isinstance(node, str) or (not top and not draw(st.booleans())):
            return [node]
        return [part for child in node for part in parts_of(child, top and len(node) == 1)]

    groups = [leaves_of(part) for part in parts_of(nested, top=True)]
    if outside:
        kept = [[name for name in group if draw(st.integers(0, 4)) != 4] for group in groups]
        groups = [group for group in kept if group] or groups
    parts: list[Nested] = [tuple(group) if len(group) > 1 else group[0] for group in groups]
    return tuple(parts) if len(parts) > 1 else parts[0]


def _backbone(draw: Draw, nested: Nested, group: Sequence[str]) -> Nested:
    chosen = draw(st.lists(st.sampled_from(sorted(group)), min_size=min(4, len(group)), unique=True))
    small = restrict_nested(nested, chosen)
    assert small is not None
    return small


def _with_edges_contracted(draw: Draw, nested: Nested) -> Nested:
    if isinstance(nested, str):
        return nested
    out: list[Nested] = []
    for child in nested:
        small = _with_edges_contracted(draw, child)
        if isinstance(small, str) or draw(st.integers(0, 2)) != 2:
            out.append(small)
        else:
            out.extend(small)
    return tuple(out)


def _rerooted(draw: Draw, nested: Nested) -> Nested:
    """Seen from an internal node or from an edge; without single-child nodes and without a root left in the middle."""
    if len(leaves_of(nested)) < 3:
        return nested
    plain = restrict_nested(nested, leaves_of(nested))
    assert plain is not None
    tree = from_nested(plain)
    graph = adjacency(tree)

    def seen(node: int, coming_from: int) -> Nested:
        ahead = [seen(near, node) for near in graph[node] if near != coming_from]
        if not ahead:
            return tree.leaves[node]
        return ahead[0] if len(ahead) == 1 else tuple(ahead)

    node = draw(st.integers(0, tree.n_nodes - 1))
    near = sorted(graph[node])
    if node >= tree.n_leaves and len(near) > 2 and draw(st.booleans()):
        return tuple(seen(other, node) for other in near)
    other = draw(st.sampled_from(near))
    return (seen(node, other), seen(other, node))
