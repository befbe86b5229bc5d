"""The ``Tree``: the one value that everything known, built or compared in celltreeqm is made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._tree_checks import (
    bottom_up_rank,
    check_nodes,
    check_tree,
    checked_leaves,
    checked_node_names,
    checked_parent,
    checked_values,
    frozen_array,
    is_whole,
)

__all__ = ["Tree"]


@dataclass(frozen=True, eq=False, repr=False)
class Tree:
    """A tree on named leaves: immutable arrays, rooted or not, of any degree.

    Nodes are numbered: first the ``n`` leaves in the order given, then the internal nodes, every node before its
    parent and the root last. One ascending pass is therefore a bottom-up pass and one descending pass a top-down pass.
    Internal nodes may be given in any order; they are renumbered. Polytomies and single-child nodes are legal.

    Parameters
    ----------
    parent
        int[m], the parent of each node; -1 for the root. Nodes ``0 ... n - 1`` are the leaves.
    leaves
        The ``n`` leaf names, unique and not empty.
    lengths
        float[m], the length of the edge above each node, or None where lengths are not known. The root's is set to 0.
    node_names
        Names of the ``m - n`` internal nodes (None or "" where a node has none).
    support
        float[m], the support of the edge above each node (NaN where it has none, as the root always).
    rooted
        Whether the root means something. Levels, clades and depth need a rooted tree; splits and quartets do not.

    Examples
    --------
    >>> tree = Tree([4, 4, 5, 5, 6, 6, -1], ["a", "b", "c", "d"], rooted=True)
    >>> tree
    Tree(4 leaves, 3 internal nodes, rooted, binary, no lengths)
    >>> tree.clades(1)
    (('a', 'b'), ('c', 'd'))
    >>> tree.restrict(["a", "c", "d"]).distances(by="topology")
    array([[0., 3., 3.],
           [3., 0., 2.],
           [3., 2., 0.]])
    """

    parent: NDArray[np.int64]
    leaves: tuple[str, ...]
    lengths: NDArray[np.float64] | None = None
    node_names: tuple[str | None, ...] | None = None
    support: NDArray[np.float64] | None = None
    rooted: bool = field(default=False, kw_only=True)

    def __init__(
        self,
        parent: ArrayLike,
        leaves: Iterable[str],
        lengths: ArrayLike | None = None,
        node_names: Sequence[str | None] | None = None,
        support: ArrayLike | None = None,
        *,
        rooted: bool = False,
    ) -> None:
        if not isinstance(rooted, bool | np.bool_):
            raise TypeError(f"rooted={rooted!r} was given; True or False was needed.")
        names = checked_leaves(leaves)
        up = checked_parent(parent, len(names))
        m, n = len(up), len(names)
        along = checked_values(lengths, m, "lengths")
        if along is not None:
            along[up < 0] = 0.0
            if not np.isfinite(along).all():
                bad = int(np.flatnonzero(~np.isfinite(along))[0])
                raise ValueError(
                    f"The length of the edge above node {bad} is {along[bad]}; lengths must be finite. "
                    "Pass lengths=None if they are not known."
                )
        held = checked_values(support, m, "support")
        if held is not None:
            held[up < 0] = np.nan
            if np.isinf(held).any():
                bad = int(np.flatnonzero(np.isinf(held))[0])
                raise ValueError(
                    f"The support of the edge above node {bad} is {held[bad]}; support must be finite, or NaN where an "
                    "edge has none."
                )
        inner = checked_node_names(node_names, n, m - n)

        rank = bottom_up_rank(up, n)
        if rank is not None:
            order = np.argsort(rank)
            up = np.where(up[order] < 0, -1, rank[up[order]])
            along = None if along is None else along[order]
            held = None if held is None else held[order]
            inner = None if inner is None else tuple(inner[i - n] for i in order[n:].tolist())
        for array in (up, along, held):
            if array is not None:
                array.flags.writeable = False
        for name, value in (
            ("parent", up),
            ("leaves", names),
            ("lengths", along),
            ("node_names", inner),
            ("support", held),
            ("rooted", bool(rooted)),
        ):
            object.__setattr__(self, name, value)

    # What it is

    @property
    def n_leaves(self) -> int:
        """Number of leaves, n."""
        return len(self.leaves)

    @property
    def n_nodes(self) -> int:
        """Number of nodes, m, leaves included."""
        return len(self.parent)

    @property
    def root(self) -> int:
        """The root's number: always the last node."""
        return self.n_nodes - 1

    @cached_property
    def degree(self) -> NDArray[np.int64]:
        """int[m], the number of children of each node."""
        return frozen_array(np.bincount(self.parent[:-1], minlength=self.n_nodes))

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The children of each node, in ascending order of the first leaf below them."""
        below: list[list[int]] = [[] for _ in range(self.n_nodes)]
        for node in np.argsort(self.first_leaf[:-1], kind="stable").tolist():
            below[self.parent[node]].append(node)
        return tuple(tuple(nodes) for nodes in below)

    @cached_property
    def first_leaf(self) -> NDArray[np.int64]:
        """int[m], the lowest leaf number below each node (a leaf's own number)."""
        first = np.full(self.n_nodes, self.n_leaves, dtype=np.int64)
        first[: self.n_leaves] = np.arange(self.n_leaves)
        for node, up in enumerate(self.parent[:-1].tolist()):
            if first[node] < first[up]:
                first[up] = first[node]
        return frozen_array(first)

    @cached_property
    def n_below(self) -> NDArray[np.int64]:
        """int[m], the number of leaves below each node (1 for a leaf)."""
        count = [1] * self.n_leaves + [0] * (self.n_nodes - self.n_leaves)
        for node, up in enumerate(self.parent[:-1].tolist()):
            count[up] += count[node]
        return frozen_array(np.array(count, dtype=np.int64))

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Leaf name to leaf number."""
        return {name: i for i, name in enumerate(self.leaves)}

    @property
    def is_binary(self) -> bool:
        """Whether every branching is in two (an unrooted tree's root may have three children)."""
        degree = self.degree[self.n_leaves :]
        degree = degree[degree != 1]
        if not len(degree):
            return True
        return bool((degree[:-1] == 2).all() and degree[-1] <= (2 if self.rooted else 3))

    def name(self, node: int) -> str | None:
        """The name of a node, None if it has none."""
        check_nodes(node, self.n_nodes)
        if node < self.n_leaves:
            return self.leaves[node]
        return None if self.node_names is None else self.node_names[node - self.n_leaves]

    def __repr__(self) -> str:
        kind = "binary" if self.is_binary else "with polytomies"
        parts = [
            f"{self.n_leaves} {'leaf' if self.n_leaves == 1 else 'leaves'}",
            f"{self.n_nodes - self.n_leaves} internal node{'' if self.n_nodes - self.n_leaves == 1 else 's'}",
            "rooted" if self.rooted else "unrooted",
            kind,
            "no lengths" if self.lengths is None else f"total length {self.lengths.sum():.4g}",
        ]
        if self.support is not None:
            parts.append("with support")
        return f"Tree({', '.join(parts)})"

    def __str__(self) -> str:
        from ._drawing import draw

        return draw(self)

    def __reduce__(self) -> tuple[object, ...]:
        # Made anew by its constructor, so that a copy's arrays are read-only too and nothing cached travels along
        make = partial(Tree, rooted=self.rooted)
        return make, (self.parent, self.leaves, self.lengths, self.node_names, self.support)

    # Sameness

    def __eq__(self, other: object) -> bool:
        """Same leaves, same clades (or splits, where unrooted) and same lengths, whatever the order of anything."""
        if not isinstance(other, Tree):
            return NotImplemented
        if not self.same_topology(other) or (self.lengths is None) != (other.lengths is None):
            return False
        if self.lengths is None:
            return True
        from ._splits import edge_lengths_by_split

        mine, theirs = edge_lengths_by_split(self), edge_lengths_by_split(other)
        scale = max((abs(x) for x in mine.values()), default=0.0)
        return all(
            abs(mine.get(key, 0.0) - theirs.get(key, 0.0)) <= 1e-9 * scale for key in mine.keys() | theirs.keys()
        )

    def __hash__(self) -> int:
        from ._splits import topology_key

        return hash((self.rooted, frozenset(self.leaves), topology_key(self)))

    def same_topology(self, other: Tree) -> bool:
        """Whether both trees have the same leaves and clades (splits, if they are unrooted); lengths are not looked at.

        A rooted and an unrooted tree are never the same; compare ``tree.unroot()`` where the root should not count.
        """
        from ._splits import topology_key

        check_tree(other, "the other tree")
        return (
            self.rooted == other.rooted
            and self.n_leaves == other.n_leaves
            and set(self.leaves) == set(other.leaves)
            and topology_key(self) == topology_key(other)
        )

    # Trees made of this one

    def restrict(self, leaves: Iterable[str]) -> Tree:
        """The tree that this one displays on those of ``leaves`` that it has.

        Edges that follow each other without branching become one, their lengths added and the lower support and name
        kept; what lies above the last common ancestor is dropped. Names that the tree does not have are ignored, so
        ``prior.restrict(data_leaves)`` drops the prior's leaves that have no data. The order of the leaves stays.
        """
        from ._derived_trees import restricted

        return restricted(self, leaves)

    def collapse_unary(self) -> Tree:
        """The same tree without single-child nodes; lengths are added up."""
        return self.restrict(self.leaves)

    def collapse(self, nodes: ArrayLike) -> Tree:
        """Contract the edges above the given internal nodes, so that their children hang from their parents.

        Parameters
        ----------
        nodes
            Node numbers, or a bool[m] mask: ``tree.collapse(tree.support < 0.5)`` makes polytomies of weak branchings.
            Leaves and the root in it are left as they are. The contracted edges' lengths are dropped.
        """
        from ._derived_trees import collapsed

        return collapsed(self, nodes)

    def unroot(self) -> Tree:
        """The same tree without a meaningful root: a root of two children is dissolved into one edge."""
        from ._derived_trees import unrooted

        return unrooted(self)

    def reorder(self, leaves: Sequence[str]) -> Tree:
        """The same tree with its leaves numbered in the order given, which must hold each leaf exactly once."""
        from ._derived_trees import reordered

        return reordered(self, leaves)

    def rename(self, names: Mapping[str, str]) -> Tree:
        """The same tree with leaves renamed by a mapping from old names to new ones.

        Leaves that the mapping does not have keep their names; names in it that are no leaf's do not matter.
        """
        if not isinstance(names, Mapping):
            raise TypeError(f"names is of type {type(names).__name__}; a mapping from old to new was needed.")
        return replace(self, leaves=tuple(names.get(name, name) for name in self.leaves))

    # Levels, clades, splits

    @cached_property
    def level(self) -> NDArray[np.int64]:
        """int[m], branching steps from the root to each node; single-child nodes are not branching steps."""
        if not self.rooted:
            raise ValueError(
                "This tree is unrooted, so its nodes have no level. Root it first (root_at_midpoint, root_by_outgroup, "
                "root_by_prior), or read it with rooted=True if its root is meant."
            )
        level = np.zeros(self.n_nodes, dtype=np.int64)
        for node in range(self.n_nodes - 2, -1, -1):
            up = self.parent[node]
            level[node] = level[up] + (self.degree[up] > 1)
        return frozen_array(level)

    def clade_labels(self, level: int) -> NDArray[np.int64]:
        """int[n], for each leaf the number of its clade at a level, counted from 0 in the order of the leaves.

        The clades at level ``l`` are the subtrees ``l`` branching steps below the root; a leaf that is less deep is a
        clade of its own (the paper's high-level partition setting).
        """
        if not is_whole(level) or level < 0:
            raise ValueError(f"Level {level!r} was asked for; levels start at 0 (the whole tree), in whole steps.")
        steps, top = self.level, np.arange(self.n_nodes)
        for node in range(self.n_nodes - 2, -1, -1):
            up = self.parent[node]
            if steps[node] > level:
                top[node] = top[up]
        _, first, label = np.unique(top[: self.n_leaves], return_index=True, return_inverse=True)
        return np.argsort(np.argsort(first))[label].astype(np.int64)

    def clades(self, level: int) -> tuple[tuple[str, ...], ...]:
        """The leaf names of each clade at a level (see :meth:`clade_labels`)."""
        groups: dict[int, list[str]] = {}
        for name, label in zip(self.leaves, self.clade_labels(level).tolist(), strict=True):
            groups.setdefault(label, []).append(name)
        return tuple(tuple(group) for group in groups.values())

    def leaves_below(self, node: int) -> tuple[str, ...]:
        """The names of the leaves below a node."""
        check_nodes(node, self.n_nodes)
        found, stack = [], [node]
        while stack:
            here = stack.pop()
            if here < self.n_leaves:
                found.append(here)
            stack.extend(self.children[here])
        return tuple(self.leaves[i] for i in sorted(found))

    def splits(self) -> NDArray[np.bool_]:
        """bool[s, n], the non-trivial splits, each once; row i is True for the leaves on the side without leaf 0.

        The order of the rows is that of the nodes whose edges make them.
        """
        from ._splits import split_matrix

        return split_matrix(self)

    # Distances

    def distances(self, by: Literal["length", "topology"] = "length") -> NDArray[np.float64]:
        """float[n, n], path distances between leaves: sums of branch lengths, or numbers of edges.

        By topology single-child nodes do not count, nor does an unrooted tree's root of two children.
        """
        from ._paths import leaf_distances

        return leaf_distances(self, by)

    def depths(self, by: Literal["length", "topology"] = "length") -> NDArray[np.float64]:
        """float[m], the path distance of every node from the root, by branch lengths or by branching steps."""
        if by == "topology":
            return self.level.astype(float)
        if by != "length":
            raise ValueError(f"by={by!r} was given; it is 'length' or 'topology'.")
        along = self.known_lengths()
        depth = np.zeros(self.n_nodes)
        for node in range(self.n_nodes - 2, -1, -1):
            depth[node] = depth[self.parent[node]] + along[node]
        return depth

    def known_lengths(self) -> NDArray[np.float64]:
        """The branch lengths, or an error that says there are none."""
        if self.lengths is None:
            raise ValueError(
                "This tree has no branch lengths. Use by='topology', give it unit lengths (tree.with_unit_lengths()) "
                "or fit them to distances (fit_branch_lengths)."
            )
        return self.lengths

    def with_unit_lengths(self) -> Tree:
        """The same tree with every edge of length 1."""
        return replace(self, lengths=np.ones(self.n_nodes))
