"""Trees as networkx graphs, scipy linkages and TreeData, and back."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._tree import Tree
from ._tree_checks import as_numbers, check_tree, checked_leaves, count_of, some_names

if TYPE_CHECKING:
    import anndata
    import networkx as nx
    import treedata

__all__ = ["from_linkage", "from_networkx", "from_obst", "to_linkage", "to_networkx", "to_treedata"]


def to_networkx(tree: Tree) -> nx.DiGraph[str]:
    """A directed graph from the root to the leaves, as TreeData and pycea want it.

    Nodes are strings: the leaf names, the names of internal nodes where they are unique and no leaf's, else ``node12``.
    Their attributes are

    - ``depth``: int, branching steps from the root; single-child nodes are no branchings. The root of an unrooted tree
      is the node that its arrays have as root;
    - ``time``: float, path length from the root, with edges of length 1 where the tree has no lengths;
    - ``support``: float, support of the edge above, on the nodes that have one.

    Edges have ``length`` and ``weight``, which are equal; neither where the tree has no lengths.

    Parameters
    ----------
    tree
        Any tree.

    Returns
    -------
    networkx.DiGraph
        The leaves come first among the nodes, in the order of the tree.

    Examples
    --------
    >>> graph = to_networkx(Tree([3, 3, 4, 4, -1], ["a", "b", "c"], [1, 1, 2, 1, 0], ["x", None], rooted=True))
    >>> graph.nodes["a"], graph.edges["node4", "x"]
    ({'depth': 2, 'time': 2.0}, {'length': 1.0, 'weight': 1.0})
    """
    import networkx as nx

    check_tree(tree)
    names = _unique_names(tree)
    steps = replace(tree, rooted=True).level.tolist()
    times = (tree.with_unit_lengths() if tree.lengths is None else tree).depths().tolist()
    graph: nx.DiGraph[str] = nx.DiGraph()
    for name, depth, time in zip(names, steps, times, strict=True):
        graph.add_node(name, depth=depth, time=time)
    if tree.support is not None:
        for name, value in zip(names, tree.support.tolist(), strict=True):
            if not math.isnan(value):
                graph.nodes[name]["support"] = value
    lengths = None if tree.lengths is None else tree.lengths.tolist()
    for node in range(tree.n_nodes - 1, tree.n_leaves - 1, -1):
        for child in tree.children[node]:
            graph.add_edge(names[node], names[child])
            if lengths is not None:
                graph.edges[names[node], names[child]].update(length=lengths[child], weight=lengths[child])
    return graph


def from_networkx(graph: nx.DiGraph[Any], *, rooted: bool = True) -> Tree:
    """The tree of a directed graph whose edges lead from the root to the leaves: the way back of :func:`to_networkx`.

    Lengths are the edges' ``length``, or else their ``weight``; support is the nodes' ``support``. Internal nodes keep
    their names if these are strings and not like ``node12``, which stands for no name.

    Parameters
    ----------
    graph
        A tree as a ``networkx.DiGraph``. Nodes without outgoing edges are the leaves, in the order of ``graph.nodes``.
    rooted
        Whether the root means something.

    Examples
    --------
    >>> import networkx as nx
    >>> from_networkx(nx.DiGraph([("root", "a"), ("root", "x"), ("x", "b"), ("x", "c")]))
    Tree(3 leaves, 2 internal nodes, rooted, binary, no lengths)
    """
    import networkx as nx

    if not isinstance(graph, nx.DiGraph):
        raise TypeError(
            f"A {type(graph).__name__} came; a networkx.DiGraph was needed, with edges from the root to the leaves. "
            "networkx.bfs_tree(graph, root) makes one of an undirected tree."
        )
    if graph.is_multigraph():
        raise TypeError(
            "A multigraph came; between two nodes of a tree there is one edge. networkx.DiGraph(graph) makes one."
        )
    several = [node for node, count in graph.in_degree() if count > 1]
    if several:
        raise ValueError(
            f"{count_of(len(several), 'node of the graph has', 'nodes of the graph have')} more than one parent, "
            f"{several[0]!r} for one; the edges of a tree lead from the root to the leaves, one to each node."
        )
    roots = [node for node, count in graph.in_degree() if count == 0]
    if len(roots) != 1:
        shown = f" ({', '.join(map(repr, roots[:3]))}{', ...' if len(roots) > 3 else ''})" if roots else ""
        raise ValueError(f"{len(roots)} nodes of the graph have no parent{shown}; a tree has exactly one root.")
    leaves = [node for node, count in graph.out_degree() if count == 0]
    inner = [node for node, count in graph.out_degree() if count > 0]
    number = {node: i for i, node in enumerate([*leaves, *inner])}
    parent = [-1] * len(number)
    for up, node in graph.edges:
        parent[number[node]] = number[up]
    support = [math.nan] * len(number)
    for node, attributes in graph.nodes(data=True):
        support[number[node]] = _number(attributes.get("support", math.nan), "support", node)
    return Tree(
        parent,
        [str(leaf) for leaf in leaves],
        _edge_lengths(graph, number),
        [node if isinstance(node, str) and not _GENERATED.fullmatch(node) else None for node in inner],
        None if all(map(math.isnan, support)) else support,
        rooted=rooted,
    )


def to_linkage(tree: Tree, leaves: Sequence[str] | None = None) -> NDArray[np.float64]:
    r"""A scipy linkage matrix of a rooted tree, for dendrograms, flat clusters and clustered heat maps.

    A linkage knows ultrametric trees only, so a node stands as high as the longest path down from it,
    :math:`h_v = \max_c \,(h_c + \ell_c)` over its children :math:`c`, and the two sides join at the distance
    :math:`2 h_v`. If all leaves are equally far from the root the linkage loses nothing: its cophenetic distances are
    the tree's path distances, and :func:`from_linkage` gives the tree back. Negative lengths count as 0, so that the
    heights never decrease towards the root.

    Parameters
    ----------
    tree
        A rooted tree of two or more leaves. Edges count 1 where it has no lengths. A node of more than two children
        becomes joins at the same height, as a linkage has only joins of two.
    leaves
        The order of the observations; the tree's own by default. Every leaf exactly once.

    Returns
    -------
    float[n - 1, 4]
        The two clusters joined, their distance, and the number of leaves.

    Examples
    --------
    >>> to_linkage(Tree([3, 3, 4, 4, -1], ["a", "b", "c"], [1, 1, 2, 1, 0], rooted=True))
    array([[0., 1., 2., 2.],
           [2., 3., 4., 3.]])
    """
    check_tree(tree)
    if not tree.rooted:
        raise ValueError("This tree is unrooted; a linkage needs a root to measure heights from. Root it first.")
    if tree.n_leaves < 2:
        raise ValueError("This tree has a single leaf; a linkage needs at least two.")
    small = tree.collapse_unary() if leaves is None else tree.reorder(leaves).collapse_unary()
    n, m = small.n_leaves, small.n_nodes
    steps = [1.0] * m if small.lengths is None else np.maximum(small.lengths, 0.0).tolist()
    up = small.parent.tolist()
    height = [0.0] * m
    for node in range(m - 1):
        height[up[node]] = max(height[up[node]], height[node] + steps[node])
    cluster = list(range(m))
    rows: list[tuple[float, float, float, float]] = []
    for node in sorted(range(n, m), key=height.__getitem__):  # a stable sort: at equal heights children stay first
        first, *others = small.children[node]
        joined, size = cluster[first], int(small.n_below[first])
        for child in others:
            size += int(small.n_below[child])
            low, high = sorted((joined, cluster[child]))
            joined = n + len(rows)
            rows.append((low, high, 2 * height[node], size))
        cluster[node] = joined
    return np.array(rows, dtype=np.float64)


def from_linkage(linkage: ArrayLike, leaves: Sequence[str]) -> Tree:
    """The rooted tree of a scipy linkage matrix.

    Two clusters that join at distance d meet at height d / 2, and a branch is as long as the heights of its ends
    differ; the tree's path distances are the linkage's cophenetic distances. Where a cluster joins lower than its
    parts did (centroid and median linkage do that), the length is negative, as those heights say.

    Parameters
    ----------
    linkage
        float[n - 1, 4], as ``scipy.cluster.hierarchy.linkage`` returns it.
    leaves
        The n names of the observations.

    Examples
    --------
    >>> tree = from_linkage([[0, 1, 2, 2], [2, 3, 4, 3]], ["a", "b", "c"])
    >>> tree.distances()
    array([[0., 2., 4.],
           [2., 0., 4.],
           [4., 4., 0.]])
    """
    names = checked_leaves(leaves)
    joins, n = as_numbers(linkage, "The linkage"), len(names)
    if joins.shape != (n - 1, 4):
        raise ValueError(f"The linkage has shape {joins.shape}; for {n} leaves ({n - 1}, 4) was needed.")
    if not np.isfinite(joins).all() or (joins[:, 2] < 0).any():
        raise ValueError("The linkage holds negative distances or values that are not finite; finite ones were needed.")
    pairs = joins[:, :2].astype(np.int64)
    if not np.array_equal(np.sort(joins[:, :2], axis=None), np.arange(2 * n - 2)):
        raise ValueError(f"The linkage does not join each of the clusters 0 to {2 * n - 3} exactly once.")
    early = np.flatnonzero(pairs.max(axis=1) >= n + np.arange(n - 1))
    if len(early):
        raise ValueError(f"Row {early[0]} of the linkage joins cluster {pairs[early[0]].max()}, which is formed later.")
    parent = np.full(2 * n - 1, -1)
    parent[pairs] = np.arange(n, 2 * n - 1)[:, None]
    height = np.concatenate([np.zeros(n), joins[:, 2] / 2])
    return Tree(parent, names, height[parent] - height, rooted=True)


def to_treedata(tree: Tree, adata: anndata.AnnData | None = None, *, key: str = "celltreeqm") -> treedata.TreeData:
    """A new TreeData that holds the tree as ``obst[key]``, for pycea and scanpy.

    Parameters
    ----------
    tree
        The tree. Its graph is that of :func:`to_networkx`.
    adata
        The data, with a row for each leaf (and perhaps more); it is copied. Without it the leaves are the rows. Other
        trees of a TreeData are kept.
    key
        The name of the tree.

    Returns
    -------
    treedata.TreeData
        Sets ``.obst[key]``: a ``networkx.DiGraph`` with ``depth``, ``time`` and ``support`` on nodes, and ``length``
        and ``weight`` on edges.

    Examples
    --------
    >>> tdata = to_treedata(Tree([3, 3, 4, 4, -1], ["a", "b", "c"], rooted=True))
    >>> list(tdata.obs_names), list(tdata.obst)
    (['a', 'b', 'c'], ['celltreeqm'])
    """
    import pandas as pd
    import treedata

    check_tree(tree)
    if not isinstance(key, str):
        raise TypeError(f"key={key!r} was given; the name of the tree, a string, was needed.")
    if adata is None:
        new = treedata.TreeData(obs=pd.DataFrame(index=list(tree.leaves)), label=None, alignment="leaves")
    elif not hasattr(adata, "obs_names"):
        raise TypeError(
            f"A {type(adata).__name__} came as the data; an AnnData was needed, or None for the leaves alone."
        )
    else:
        if not adata.obs_names.is_unique:
            twice = adata.obs_names[adata.obs_names.duplicated()].unique().tolist()
            raise ValueError(
                f"Row names must be unique; {count_of(len(twice), 'occurs', 'occur')} more than once: "
                f"{some_names(twice)}."
            )
        rows = set(adata.obs_names)
        missing = [leaf for leaf in tree.leaves if leaf not in rows]
        if missing:
            raise ValueError(
                f"{count_of(len(missing), 'leaf of the tree has', 'leaves of the tree have')} no row in the data: "
                f"{some_names(missing)}. Restrict the tree: tree.restrict(adata.obs_names)."
            )
        held = adata.to_memory() if adata.isbacked else adata.copy()
        # label=None: no column of obs is written over
        new = held if isinstance(held, treedata.TreeData) else treedata.TreeData(held, label=None, alignment="leaves")
    new.obst[key] = to_networkx(tree)
    return new


def from_obst(tdata: treedata.TreeData, key: str = "celltreeqm", *, rooted: bool = True) -> Tree:
    """The tree ``tdata.obst[key]`` (see :func:`from_networkx`).

    Of a subset of the rows it is the tree as TreeData cuts it: nodes that lost children may have a single child.

    Parameters
    ----------
    tdata
        A TreeData.
    key
        The name of the tree.
    rooted
        Whether the root means something.

    Examples
    --------
    >>> from_obst(to_treedata(Tree([3, 3, 4, 4, -1], ["a", "b", "c"], rooted=True)))
    Tree(3 leaves, 2 internal nodes, rooted, binary, no lengths)
    """
    import treedata

    if not isinstance(tdata, treedata.TreeData):
        raise TypeError(f"A {type(tdata).__name__} came; a treedata.TreeData was needed, which is what can hold trees.")
    if key not in tdata.obst:
        there = some_names(list(tdata.obst)) if len(tdata.obst) else "no trees at all"
        raise KeyError(f"There is no tree {key!r} in obst; there is {there}.")
    return from_networkx(tdata.obst[key], rooted=rooted)


_GENERATED = re.compile(r"node\d+_*")


def _unique_names(tree: Tree) -> list[str]:
    """A string for each node, no two the same."""
    n = tree.n_leaves
    given = [tree.name(node) for node in range(tree.n_nodes)]
    count = Counter(given)
    taken = {name for name in given if name}
    names: list[str] = []
    for node, name in enumerate(given):
        if name is None or (count[name] > 1 and node >= n):
            name = f"node{node}"
            while name in taken:
                name += "_"
            taken.add(name)
        names.append(name)
    return names


def _edge_lengths(graph: nx.DiGraph[Any], number: dict[Any, int]) -> list[float] | None:
    for key in ("length", "weight"):
        without = [node for _, node, attributes in graph.edges(data=True) if key not in attributes]
        if len(without) == graph.number_of_edges():
            continue
        if without:
            raise ValueError(
                f"{count_of(len(without), 'edge of the graph has', 'edges of the graph have')} no {key!r}, "
                f"that to {without[0]!r} for one, while others have one. Give every edge a length, or none."
            )
        lengths = [0.0] * len(number)
        for _, node, attributes in graph.edges(data=True):
            lengths[number[node]] = _number(attributes[key], key, node)
        return lengths
    return None


def _number(value: Any, what: str, node: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"The {what} at node {node!r} of the graph is {value!r}; a number was needed.") from None
