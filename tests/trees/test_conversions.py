"""networkx, scipy and TreeData: nothing is lost on the way there and back, and they accept what they get."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.cluster.hierarchy as sch
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform

from celltreeqm.trees import Tree
from celltreeqm.trees._conversions import (
    from_linkage,
    from_networkx,
    from_obst,
    to_linkage,
    to_networkx,
    to_treedata,
)
from celltreeqm.trees._newick import format_newick, parse_newick
from tests.strategies import trees

anndata = pytest.importorskip("anndata")
treedata = pytest.importorskip("treedata")

TREE = parse_newick("((a:1,b:2)x[&support=0.5]:0.5,(c:1,d:1):3);")


def text(tree: Tree) -> str:
    """All that a tree says, but which of its node numbers belongs to whom."""
    return format_newick(tree)


# networkx


@given(trees(2, unary=True, lengths="any", names="any", rooted=True, support=True))
def test_a_graph_brings_the_tree_back(tree):
    again = from_networkx(to_networkx(tree))
    assert again.leaves == tree.leaves
    assert text(again) == text(tree)


@given(trees(2, rooted=False, lengths="positive"))
def test_rooted_says_whether_the_root_of_a_graph_is_meant(tree):
    assert from_networkx(to_networkx(tree), rooted=False) == tree
    assert from_networkx(to_networkx(tree)).rooted


@given(trees(unary=True, lengths="any", node_names=True, support=True))
def test_attributes_are_those_of_the_tree(tree):
    graph = to_networkx(tree)
    rooted = replace(tree, rooted=True)
    path = (tree.with_unit_lengths() if tree.lengths is None else tree).depths()
    assert nx.is_arborescence(graph)
    assert all(isinstance(node, str) for node in graph)
    for node, name in enumerate(graph):  # in the order of the tree's nodes
        attributes = graph.nodes[name]
        assert type(attributes["depth"]) is int
        assert attributes["depth"] == rooted.level[node]
        assert attributes["time"] == path[node]
        assert ("support" in attributes) == (tree.support is not None and not np.isnan(tree.support[node]))
        for up in graph.predecessors(name):
            edge = graph.edges[up, name]
            assert edge == ({} if tree.lengths is None else dict.fromkeys(["length", "weight"], tree.lengths[node]))
            assert attributes["time"] - graph.nodes[up]["time"] == pytest.approx(edge.get("length", 1.0), abs=1e-9)


def test_children_hang_in_the_order_of_their_first_leaf():
    graph = to_networkx(parse_newick("(a,((b,c)x,d)y)top;"))
    assert [list(graph.successors(node)) for node in ("top", "y", "x")] == [["a", "y"], ["x", "d"], ["b", "c"]]


def test_names_that_are_not_unique_or_a_leafs_are_replaced():
    tree = Tree([4, 4, 5, 6, 5, 6, -1], ["a", "node5", "c", "d"], node_names=["x", "a", "x"])
    assert list(to_networkx(tree)) == ["a", "node5", "c", "d", "node4", "node5_", "node6"]
    assert from_networkx(to_networkx(tree)).node_names is None


def test_lengths_come_from_length_or_else_from_weight():
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([("root", "a", 1), ("root", "b", 2)])
    assert from_networkx(graph).lengths.tolist() == [1, 2, 0]
    nx.set_edge_attributes(graph, 5.0, "length")
    assert from_networkx(graph).lengths.tolist() == [5, 5, 0]


def test_a_graph_of_numbers_has_no_node_names():
    tree = from_networkx(nx.DiGraph([(0, 1), (0, 2), (2, 3), (2, 4)]))
    assert (tree.leaves, tree.node_names) == (("1", "3", "4"), None)


def test_a_long_chain_and_a_deep_caterpillar_need_no_recursion():
    n = 20_000
    tree = Tree([n, *range(n, 2 * n - 1), *range(n + 1, 2 * n - 1), -1], [f"x{i}" for i in range(n)], rooted=True)
    assert from_networkx(to_networkx(tree)).same_topology(tree)
    assert sch.is_valid_linkage(to_linkage(tree))


@pytest.mark.parametrize(
    "edges, message",
    [
        ([("a", "c"), ("b", "c")], r"1 node of the graph has more than one parent, 'c' for one"),
        ([("a", "b"), ("c", "d")], r"2 nodes of the graph have no parent \('a', 'c'\); a tree has exactly one root"),
        ([("a", "b"), ("b", "a")], r"0 nodes of the graph have no parent"),
        ([("r", "x"), ("a", "b"), ("b", "a")], r"run in a circle"),
        ([], r"0 nodes of the graph have no parent"),
    ],
)
def test_graphs_that_are_no_trees_are_refused(edges, message):
    with pytest.raises(ValueError, match=message):
        from_networkx(nx.DiGraph(edges))


def test_undirected_graphs_and_half_given_lengths_are_refused():
    with pytest.raises(TypeError, match=r"A Graph came; a networkx.DiGraph was needed"):
        from_networkx(nx.Graph([("a", "b")]))
    graph = nx.DiGraph([("r", "a"), ("r", "b")])
    graph.edges["r", "a"]["length"] = 1.0
    with pytest.raises(ValueError, match=r"1 edge of the graph has no 'length', that to 'b' for one"):
        from_networkx(graph)


def test_a_single_leaf_is_a_graph_of_one_node():
    assert text(from_networkx(to_networkx(Tree([-1], ["a"], rooted=True)))) == "[&R] a;"
    assert text(from_obst(to_treedata(Tree([-1], ["a"], rooted=True)))) == "[&R] a;"


# scipy


@given(st.sampled_from(["single", "complete", "average", "ward", "centroid", "median"]), st.integers(2, 12), st.data())
def test_path_distances_of_a_linkages_tree_are_its_cophenetic_distances(method, n, data):
    points = np.array(data.draw(st.lists(st.integers(0, 9), min_size=2 * n, max_size=2 * n)), float).reshape(n, 2)
    linkage = sch.linkage(pdist(points), method)
    tree = from_linkage(linkage, [f"x{i}" for i in range(n)])
    assert tree.rooted
    np.testing.assert_allclose(tree.distances(), squareform(sch.cophenet(linkage)), atol=1e-9)
    if sch.is_monotonic(linkage):
        np.testing.assert_allclose(sch.cophenet(to_linkage(tree)), sch.cophenet(linkage), atol=1e-9)
        assert (tree.lengths >= 0).all()


@given(trees(min_leaves=2, rooted=True, unary=True, lengths="any"))
def test_every_rooted_tree_has_a_valid_monotonic_linkage_of_its_clades(tree):
    linkage = to_linkage(tree)
    assert sch.is_valid_linkage(linkage)
    assert sch.is_monotonic(linkage)
    assert linkage[-1, 3] == tree.n_leaves
    clades = {frozenset(tree.leaves_below(node)) for node in range(tree.n_nodes)}
    drawn = from_linkage(linkage, tree.leaves)
    assert clades <= {frozenset(drawn.leaves_below(node)) for node in range(drawn.n_nodes)}


@given(trees(min_leaves=2, rooted=True, unary=True, lengths="positive"))
def test_a_join_stands_as_high_as_the_longest_way_down(tree):
    depth = tree.depths()
    cophenetic = squareform(sch.cophenet(to_linkage(tree)))
    for i, first in enumerate(tree.leaves):
        for j, second in enumerate(tree.leaves[:i]):
            above = [x for x in range(tree.n_nodes) if {first, second} <= set(tree.leaves_below(x))]
            top = above[0]
            longest = max(depth[tree.index[name]] for name in tree.leaves_below(top)) - max(depth[x] for x in above)
            assert cophenetic[i, j] == pytest.approx(2 * longest)


def test_the_order_of_the_observations_can_be_chosen():
    linkage = to_linkage(TREE, ["d", "b", "c", "a"])
    again = from_linkage(linkage, ["d", "b", "c", "a"])
    assert again.same_topology(TREE)
    assert linkage.tolist() == [[0, 2, 2, 2], [1, 3, 4, 2], [4, 5, 8, 4]]


def test_a_polytomy_becomes_joins_at_one_height():
    linkage = to_linkage(parse_newick("(a:2,b:2,c:2,d:2);", rooted=True))
    assert linkage.tolist() == [[0, 1, 4, 2], [2, 4, 4, 3], [3, 5, 4, 4]]


def test_scipy_draws_it():
    drawn = sch.dendrogram(to_linkage(TREE), labels=list(TREE.leaves), no_plot=True)
    assert set(drawn["ivl"][:2]) in ({"a", "b"}, {"c", "d"})


def test_two_leaves_and_one():
    assert to_linkage(parse_newick("(a:1,b:3);")).tolist() == [[0, 1, 6, 2]]
    assert from_linkage(np.zeros((0, 4)), ["a"]).leaves == ("a",)
    with pytest.raises(ValueError, match="This tree has a single leaf; a linkage needs at least two"):
        to_linkage(parse_newick("a;", rooted=True))


def test_trees_and_matrices_without_a_linkage_are_refused():
    with pytest.raises(ValueError, match="This tree is unrooted; a linkage needs a root"):
        to_linkage(parse_newick("(a,b,c);"))
    with pytest.raises(ValueError, match="missing: 'd'"):
        to_linkage(TREE, ["a", "b", "c"])


@pytest.mark.parametrize(
    "rows, message",
    [
        ([[0, 1, 1, 2]], r"The linkage has shape \(1, 4\); for 3 leaves \(2, 4\) was needed"),
        ([[0, 1, -1, 2], [2, 3, 1, 3]], r"negative distances or values that are not finite"),
        ([[0, 1, np.nan, 2], [2, 3, 1, 3]], r"negative distances or values that are not finite"),
        ([[0, 1, 1, 2], [1, 3, 1, 3]], r"does not join each of the clusters 0 to 3 exactly once"),
        ([[0, 1.5, 1, 2], [2, 3, 1, 3]], r"does not join each of the clusters 0 to 3 exactly once"),
        ([[0, 3, 1, 2], [1, 2, 1, 3]], r"Row 0 of the linkage joins cluster 3, which is formed later"),
    ],
)
def test_matrices_that_are_no_linkages_are_refused(rows, message):
    with pytest.raises(ValueError, match=message):
        from_linkage(rows, ["a", "b", "c"])


# TreeData


def data(names):
    return anndata.AnnData(
        np.arange(2.0 * len(names)).reshape(-1, 2), obs=pd.DataFrame({"tree": "mine"}, index=list(names))
    )


@given(trees(2, unary=True, lengths="any", rooted=True, support=True))
def test_a_treedata_brings_the_tree_back(tree):
    assert text(from_obst(to_treedata(tree))) == text(tree)


def test_the_data_are_copied_and_kept_as_they_are():
    adata = data(["d", "c", "other", "b", "a"])
    tdata = to_treedata(TREE, adata, key="mine")
    assert tdata.alignment == "leaves"
    assert list(tdata.obst) == ["mine"]
    pd.testing.assert_frame_equal(tdata.obs, adata.obs)
    np.testing.assert_array_equal(tdata.X, adata.X)
    tdata.X[0, 0] = -1
    assert adata.X[0, 0] == 0


def test_other_trees_of_a_treedata_are_kept():
    first = to_treedata(TREE, data("abcd"))
    both = to_treedata(TREE.restrict(["a", "b", "c"]), first, key="second")
    assert sorted(both.obst) == ["celltreeqm", "second"]
    assert list(first.obst) == ["celltreeqm"]
    assert from_obst(both, "second") == TREE.restrict(["a", "b", "c"])


def test_a_view_of_the_data_is_taken_as_it_is():
    assert to_treedata(TREE, data(["z", "a", "b", "c", "d"])[1:]).n_obs == 4


def test_a_subset_holds_the_restricted_tree():
    tdata = to_treedata(TREE, data("abcd"))
    assert from_obst(tdata[["a", "c", "d"]]).collapse_unary() == TREE.restrict(["a", "c", "d"])


def test_a_file_brings_the_tree_back(tmp_path):
    tdata = to_treedata(TREE, data("abcd"))
    tdata.write_h5td(tmp_path / "tree.h5td")
    again = treedata.read_h5td(tmp_path / "tree.h5td")
    assert text(from_obst(again)) == text(TREE)
    assert again.obst["celltreeqm"].nodes["a"] == {"depth": 2, "time": 1.5}
    np.testing.assert_array_equal(again.X, tdata.X)


def test_a_backed_file_is_read_into_memory(tmp_path):
    data("abcd").write_h5ad(tmp_path / "cells.h5ad")
    tdata = to_treedata(TREE, anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r"))
    assert not tdata.isbacked
    assert tdata.X[3, 1] == 7


def test_missing_rows_double_rows_and_missing_trees_are_said():
    with pytest.raises(ValueError, match=r"2 leaves of the tree have no row in the data: 'c', 'd'. Restrict the tree"):
        to_treedata(TREE, data("ab"))
    twice = data("abcd")
    twice.obs_names = list("aacd")
    with pytest.raises(ValueError, match=r"Row names must be unique; 1 occurs more than once: 'a'"):
        to_treedata(TREE, twice)
    with pytest.raises(KeyError, match=r"There is no tree 'other' in obst; there is 'celltreeqm'"):
        from_obst(to_treedata(TREE), "other")
    with pytest.raises(TypeError, match=r"A AnnData came; a treedata.TreeData was needed"):
        from_obst(data("ab"))


@pytest.mark.filterwarnings("ignore")  # what pycea and matplotlib deprecate is theirs
@pytest.mark.parametrize("depth_key", ["depth", "time"])
def test_pycea_draws_it(depth_key):
    matplotlib = pytest.importorskip("matplotlib")
    pycea = pytest.importorskip("pycea")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    pycea.pl.tree(to_treedata(TREE), depth_key=depth_key, nodes="all", node_color="time", ax=axes)
    figure.canvas.draw()
    drawn = [path for collection in axes.collections for path in collection.get_paths()]
    assert len(drawn) >= TREE.n_nodes - 1
    plt.close(figure)


def test_nothing_heavy_is_imported_before_it_is_used():
    code = "import sys, celltreeqm.trees._conversions; print({'networkx', 'treedata', 'anndata'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
