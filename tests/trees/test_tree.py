"""The Tree value: what it accepts and refuses, what it says of itself, and the smaller trees that are made of it."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from dataclasses import FrozenInstanceError, replace
from multiprocessing import get_context

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celltreeqm.trees import Tree
from tests import oracles
from tests.oracles import from_nested
from tests.strategies import rerootings, trees

QUARTET = [4, 4, 5, 5, 6, 6, -1]  # ((a, b), (c, d))
ANY_TREE = trees(1, 9, unary=True, lengths="positive", node_names=True, support=True)


def caterpillar(n: int, *, rooted: bool) -> Tree:
    """(((a, b), c), d) and so on: node n + i joins leaf i + 1 to all before it."""
    inner = np.arange(n, 2 * n - 1)
    parent = np.concatenate([inner[:1], inner, inner[1:], [-1]])
    return Tree(parent, [f"leaf{i}" for i in range(n)], np.ones(2 * n - 1), rooted=rooted)


def some_leaves(tree: Tree) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(tree.leaves), min_size=1, unique=True)


# What a tree accepts and refuses


@pytest.mark.parametrize(
    ("parent", "leaves", "message"),
    [
        ([], [], "needs at least one leaf; no leaf names were given"),
        ([2, 2, -1], ["a", "a"], "must be unique; 1 occurs more than once: 'a'"),
        ([2, -1], ["a", "b", "c"], "parent holds 2 nodes for 3 leaf names"),
        ([2, 2, 2], ["a", "b"], "0 nodes have parent -1"),
        ([-1, -1], ["a", "b"], "2 nodes have parent -1"),
        ([2, 3, -1], ["a", "b"], "Node 1 has parent 3; parents are internal nodes, numbered 2 to 2"),
        ([2, 0, -1], ["a", "b"], "Node 1 has parent 0; parents are internal nodes"),
        ([2, 2, -1, 2], ["a", "b"], "Internal node 3 has no children; only nodes 0 to 1 are leaves"),
        ([2, -1, 2], ["a", "b"], "Leaf 1 has no parent; only the root has none"),
        ([2, 2, -1, 4, 3], ["a", "b"], "The parents of 2 internal nodes run in a circle"),
        ([2, 2, 3, 2], ["a", "b"], "0 nodes have parent -1"),
    ],
)
def test_parents_that_make_no_tree_are_refused(parent, leaves, message):
    with pytest.raises(ValueError, match=message):
        Tree(np.array(parent, dtype=int), leaves)


@pytest.mark.parametrize(
    ("parent", "leaves", "message"),
    [
        ([2, 2, -1], "ab", "leaves is the single string 'ab'; a sequence of names was needed"),
        ([2, 2, -1], ["a", ""], "The name of leaf 1 is '' .str.; leaf names are non-empty strings"),
        ([2, 2, -1], ["a", 7], "The name of leaf 1 is 7 .int.; leaf names are non-empty strings"),
        ([2.0, 2.0, -1.0], ["a", "b"], "parent has shape .3,. and type float64; a one-dimensional array of ints"),
        ([[2, 2, -1]], ["a", "b"], "parent has shape .1, 3. and type int64; a one-dimensional array of ints"),
    ],
)
def test_things_of_the_wrong_kind_are_refused(parent, leaves, message):
    with pytest.raises(TypeError, match=message):
        Tree(parent, leaves)


@pytest.mark.parametrize(
    ("given_values", "message"),
    [
        ({"lengths": [1, 2]}, r"lengths has shape \(2,\); one value a node was needed: \(7,\)"),
        ({"lengths": [1, 2, np.nan, 4, 5, 6, 7]}, "length of the edge above node 2 is nan; lengths must be finite"),
        ({"lengths": [1, 2, 3, 4, -np.inf, 6, 7]}, "length of the edge above node 4 is -inf; lengths must be finite"),
        ({"support": np.ones((7, 1))}, r"support has shape \(7, 1\); one value a node was needed: \(7,\)"),
        ({"node_names": ["x"]}, "1 node names were given for 3 internal nodes; give one .or None. for each"),
    ],
)
def test_values_that_do_not_fit_the_nodes_are_refused(given_values, message):
    with pytest.raises(ValueError, match=message):
        Tree(QUARTET, list("abcd"), **given_values)


def test_the_root_has_neither_length_nor_support():
    tree = Tree([2, 2, -1], ["a", "b"], [1.0, 2.0, np.nan], support=[np.nan, np.nan, 0.5])
    assert tree.lengths.tolist() == [1.0, 2.0, 0.0]
    assert np.isnan(tree.support[-1])


def test_numpy_names_and_lists_become_plain_tuples_of_str():
    tree = Tree(np.array(QUARTET, dtype=np.int32), np.array(list("abcd")), node_names=["", None, "top"])
    assert tree.leaves == ("a", "b", "c", "d")
    assert {type(name) for name in tree.leaves} == {str}
    assert tree.parent.dtype == np.int64
    assert tree.node_names == (None, None, "top")
    assert Tree(QUARTET, list("abcd"), node_names=["", None, ""]).node_names is None


def test_changing_what_a_tree_was_made_of_does_not_change_it():
    parent, lengths = np.array(QUARTET), np.arange(7.0)
    tree = Tree(parent, list("abcd"), lengths)
    parent[0], lengths[0] = 5, 99.0
    assert tree.parent[0] == 4
    assert tree.lengths[0] == 0.0


@given(ANY_TREE)
def test_nothing_of_a_tree_can_be_changed(tree):
    arrays = [tree.parent, tree.lengths, tree.degree, tree.first_leaf, tree.n_below]
    arrays += [tree.support] if tree.support is not None else []
    arrays += [tree.level] if tree.rooted else []
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(FrozenInstanceError, match="cannot assign to field"):
        tree.parent = np.array([-1])


@given(ANY_TREE, st.data())
def test_internal_nodes_may_be_given_in_any_order(tree, data):
    n, m = tree.n_leaves, tree.n_nodes
    new = np.concatenate([np.arange(n), n + np.array(data.draw(st.permutations(range(m - n))), dtype=int)])
    parent, lengths, support, names = np.empty(m, dtype=int), np.empty(m), np.empty(m), [""] * (m - n)
    for node in range(m):
        parent[new[node]] = -1 if node == tree.root else new[tree.parent[node]]
        lengths[new[node]], support[new[node]] = tree.lengths[node], node / 100
        if node >= n:
            names[new[node] - n] = f"node {node}"
    shuffled = Tree(parent, tree.leaves, lengths, names, support, rooted=tree.rooted)
    assert (shuffled.parent[:-1] > np.arange(m - 1)).all()
    assert shuffled.parent[-1] == -1
    assert shuffled == tree
    below = oracles.leaves_below_each(tree)
    for node, found in enumerate(oracles.leaves_below_each(shuffled)):
        if node >= n:
            old = int(shuffled.name(node).removeprefix("node "))
            assert below[old] == found
            assert shuffled.lengths[node] == tree.lengths[old]
            assert node == shuffled.root or shuffled.support[node] == old / 100


# What a tree says of itself


@given(ANY_TREE)
def test_counts_and_children_are_those_of_the_parent_array(tree):
    below = oracles.leaves_below_each(tree)
    assert tree.n_leaves == len(tree.leaves)
    assert tree.n_nodes == len(tree.parent)
    assert tree.parent[tree.root] == -1
    for node in range(tree.n_nodes):
        children = [child for child in range(tree.n_nodes) if tree.parent[child] == node]
        assert tree.degree[node] == len(children)
        assert set(tree.children[node]) == set(children)
        assert [tree.first_leaf[c] for c in tree.children[node]] == sorted(tree.first_leaf[c] for c in children)
        assert tree.n_below[node] == len(below[node])
        assert tree.first_leaf[node] == min(tree.index[name] for name in below[node])
        assert tree.leaves_below(node) == tuple(name for name in tree.leaves if name in below[node])
    assert [tree.leaves[i] for i in tree.index.values()] == list(tree.index) == list(tree.leaves)


def test_nodes_have_names():
    tree = Tree(QUARTET, list("abcd"), node_names=["x", None, "top"])
    assert [tree.name(node) for node in range(7)] == ["a", "b", "c", "d", "x", None, "top"]
    assert Tree(QUARTET, list("abcd")).name(4) is None


@pytest.mark.parametrize("node", [-1, 7])
def test_nodes_that_the_tree_does_not_have_are_refused(node):
    tree = Tree(QUARTET, list("abcd"))
    with pytest.raises(ValueError, match=f"Node {node} was asked for; this tree's nodes are 0 to 6"):
        tree.leaves_below(node)
    with pytest.raises(ValueError, match=f"Node {node} was asked for; this tree's nodes are 0 to 6"):
        tree.name(node)
    with pytest.raises(ValueError, match=f"Node {node} was asked for; this tree's nodes are 0 to 6"):
        tree.collapse([4, node])


@given(trees(1, 8, unary=True) | trees(1, 8, unary=True, binary=True))
def test_a_tree_is_binary_if_it_has_as_many_splits_or_clades_as_can_be(tree):
    if tree.rooted:
        assert tree.is_binary == (len(oracles.clades(tree)) == tree.n_leaves - 1)
    else:
        assert tree.is_binary == (len(oracles.splits(tree)) == max(tree.n_leaves - 3, 0))


def test_a_root_of_three_children_is_binary_only_where_it_is_not_meant():
    assert from_nested(("a", "b", ("c", "d"))).is_binary
    assert not from_nested(("a", "b", ("c", "d")), rooted=True).is_binary


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (Tree([-1], ["a"]), "Tree(1 leaf, 0 internal nodes, unrooted, binary, no lengths)"),
        (Tree([2, 2, -1], ["a", "b"], rooted=True), "Tree(2 leaves, 1 internal node, rooted, binary, no lengths)"),
        (
            Tree([4, 4, 4, 4, -1], list("abcd"), [0.5, 1, 1, 1, 9], support=[0.5] * 5),
            "Tree(4 leaves, 1 internal node, unrooted, with polytomies, total length 3.5, with support)",
        ),
    ],
)
def test_repr_says_what_the_tree_is(tree, text):
    assert repr(tree) == text


@given(trees(1, 6, unary=True, lengths="any", names="any", node_names=True, support=True))
def test_pickling_and_copying_give_an_equal_and_frozen_tree(tree):
    for other in (pickle.loads(pickle.dumps(tree)), copy.copy(tree), copy.deepcopy(tree)):
        assert other == tree
        assert hash(other) == hash(tree)
        assert (other.leaves, other.node_names, other.rooted) == (tree.leaves, tree.node_names, tree.rooted)
        np.testing.assert_array_equal(other.parent, tree.parent)
        assert (other.lengths is None) == (tree.lengths is None)
        if tree.support is not None:
            np.testing.assert_array_equal(other.support, tree.support)
        with pytest.raises(ValueError, match="read-only"):
            other.parent[0] = 0


def test_a_tree_goes_through_another_process():
    tree = Tree(QUARTET, list("abcd"), np.arange(7.0), ["x", None, "top"], np.full(7, 0.5), rooted=True)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        back, unrooted = pool.submit(copy.copy, tree).result(), pool.submit(Tree.unroot, tree).result()
    assert back == tree
    assert hash(back) == hash(tree)
    assert unrooted == tree.unroot()


# Smaller trees


@given(ANY_TREE, st.data())
def test_restricting_keeps_splits_clades_and_distances(tree, data):
    chosen = data.draw(some_leaves(tree))
    small = tree.restrict(chosen)
    assert small.leaves == tuple(name for name in tree.leaves if name in chosen)
    assert small.rooted == tree.rooted
    assert small.rooted or small.n_leaves < 3 or small.degree[-1] > 2
    assert oracles.splits(small) == oracles.restrict_splits(oracles.splits(tree), chosen)
    if tree.rooted:
        kept = {clade & set(chosen) for clade in oracles.clades(tree)}
        assert oracles.clades(small) == {clade for clade in kept if len(clade) > 1}
    rows = [tree.index[name] for name in small.leaves]
    ways = oracles.path_distances(tree)
    np.testing.assert_allclose(oracles.path_distances(small), ways[np.ix_(rows, rows)], atol=1e-12)
    assert 1 not in small.degree[small.n_leaves :]


@given(ANY_TREE, st.data())
def test_restricting_twice_is_restricting_once(tree, data):
    first = data.draw(some_leaves(tree))
    second = data.draw(some_leaves(tree.restrict(first)))
    assert tree.restrict(first).restrict(second) == tree.restrict(second)


def test_restricting_keeps_the_lower_name_and_support_and_drops_what_is_above():
    tree = Tree(
        [5, 5, 6, 7, 8, 6, 7, 8, -1],
        list("abcde"),
        [1, 2, 4, 8, 16, 32, 64, 128, 0],
        ["ab", "abc", "abcd", "all"],
        [np.nan] * 5 + [0.5, 0.25, 0.75, np.nan],
        rooted=True,
    )
    small = tree.restrict(["d", "b", "a", "nobody"])
    assert small.leaves == ("a", "b", "d")
    assert small.parent.tolist() == [3, 3, 4, 4, -1]
    assert small.lengths.tolist() == [1, 2, 8, 32 + 64, 0]
    assert small.node_names == ("ab", "abcd")
    np.testing.assert_array_equal(small.support, [np.nan, np.nan, np.nan, 0.5, np.nan])
    assert tree.restrict("c").leaves == ("c",)
    assert tree.restrict(iter("ae")).distances().tolist() == [[0, 241], [241, 0]]


def test_restricting_to_no_leaf_is_refused():
    with pytest.raises(
        ValueError, match="None of the 2 names asked for is a leaf of this tree; its leaves are 'a', 'b'"
    ):
        Tree([2, 2, -1], ["a", "b"]).restrict(["x", "y"])
    with pytest.raises(ValueError, match="None of the 0 names asked for .* 'a', 'b', 'c' and 1 more"):
        Tree(QUARTET, list("abcd")).restrict([])


@given(ANY_TREE)
def test_collapsing_single_child_nodes_keeps_everything_else(tree):
    plain = tree.collapse_unary()
    assert 1 not in plain.degree[plain.n_leaves :]
    assert plain.leaves == tree.leaves
    assert plain.same_topology(tree)
    np.testing.assert_allclose(oracles.path_distances(plain), oracles.path_distances(tree), atol=1e-12)
    assert plain.collapse_unary() == plain


@given(ANY_TREE, st.data())
def test_collapsing_edges_takes_away_what_they_made(tree, data):
    gone = np.array(data.draw(st.lists(st.booleans(), min_size=tree.n_nodes, max_size=tree.n_nodes)))
    small = tree.collapse(gone)
    stays = ~gone | (np.arange(tree.n_nodes) < tree.n_leaves) | (np.arange(tree.n_nodes) == tree.root)
    edges = zip(oracles.leaves_below_each(tree), tree.lengths.tolist(), stays.tolist(), strict=True)
    assert sorted((sorted(below), length) for below, length, stay in edges if stay) == sorted(
        (sorted(below), length)
        for below, length in zip(oracles.leaves_below_each(small), small.lengths.tolist(), strict=True)
    )
    assert small.leaves == tree.leaves
    assert small.rooted == tree.rooted
    np.testing.assert_array_equal(tree.collapse(np.flatnonzero(gone)).parent, small.parent)


def test_collapsing_weak_branchings_keeps_names_and_support_of_the_others():
    tree = Tree([5, 5, 6, 6, 8, 7, 7, 8, -1], list("abcde"), None, list("xyzt"), [np.nan] * 5 + [0.9, 0.4, 0.3, np.nan])
    small = tree.collapse(tree.support < 0.5)
    assert small.parent.tolist() == [5, 5, 6, 6, 6, 6, -1]
    assert small.node_names == ("x", "t")
    assert small.support[5] == 0.9
    assert tree.collapse([]) == tree


def test_a_mask_or_a_list_that_is_none_of_nodes_is_refused():
    tree = Tree(QUARTET, list("abcd"))
    with pytest.raises(ValueError, match=r"The mask has shape \(3,\); one value a node was needed: \(7,\)"):
        tree.collapse([True, False, True])
    with pytest.raises(TypeError, match="nodes has type float64; node numbers or a mask of booleans were needed"):
        tree.collapse([0.5])


@given(ANY_TREE)
def test_unrooting_keeps_splits_lengths_and_distances(tree):
    free = tree.unroot()
    assert not free.rooted
    assert free.leaves == tree.leaves
    assert oracles.splits(free) == oracles.splits(tree)
    assert free == replace(tree, rooted=False)
    np.testing.assert_allclose(oracles.path_distances(free), oracles.path_distances(tree), atol=1e-12)
    if tree.n_leaves > 2:
        assert free.degree[-1] > 2
    again = free.unroot()
    np.testing.assert_array_equal(again.parent, free.parent)


@pytest.mark.parametrize("held", [(0.5, np.nan), (np.nan, 0.5), (0.5, 0.25), (0.25, 0.5)])
def test_unrooting_makes_one_edge_of_the_two_at_the_root(held):
    support = [np.nan] * 4 + [*held, np.nan]
    tree = Tree(QUARTET, list("abcd"), [1, 2, 4, 8, 16, 32, 0], ["x", "y", "top"], support, rooted=True)
    free = tree.unroot()
    assert free.n_nodes == 6
    inner = int(np.flatnonzero(free.lengths == 48)[0])
    assert free.support[inner] == 0.5
    assert np.isnan(np.delete(free.support, inner)).all()
    assert sorted(free.node_names) == ["x", "y"]
    cherry = Tree([3, 3, 4, 4, -1], list("abc"), [1, 2, 4, 8, 0], rooted=True).unroot()
    assert cherry.lengths.tolist() == [1, 2, 12, 0]


@given(ANY_TREE, st.data())
def test_reordering_renumbers_the_leaves_and_nothing_else(tree, data):
    order = data.draw(st.permutations(tree.leaves))
    other = tree.reorder(order)
    assert other.leaves == tuple(order)
    assert other == tree
    rows = [tree.index[name] for name in order]
    np.testing.assert_allclose(other.distances(), tree.distances()[np.ix_(rows, rows)], atol=1e-12)
    np.testing.assert_array_equal(other.lengths[: tree.n_leaves], tree.lengths[rows])
    np.testing.assert_array_equal(other.parent[tree.n_leaves :], tree.parent[tree.n_leaves :])
    assert other.node_names == tree.node_names


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ("abc", "The order holds 3 names for the tree's 4 leaves; missing: 'd'. Give every leaf exactly once"),
        ("abcx", "The order holds 4 names for the tree's 4 leaves; missing: 'd'; not in the tree: 'x'"),
        ("abcdd", "The order holds 5 names for the tree's 4 leaves. Give every leaf exactly once"),
        ("abcc", "missing: 'd'"),
    ],
)
def test_an_order_that_is_none_of_the_leaves_is_refused(order, message):
    with pytest.raises(ValueError, match=message):
        Tree(QUARTET, list("abcd")).reorder(list(order))


def test_renaming_keeps_what_the_mapping_does_not_have():
    tree = Tree(QUARTET, list("abcd"), np.arange(7.0), rooted=True).rename({"a": "b", "b": "a", "c": "new", "z": "y"})
    assert tree.leaves == ("b", "a", "new", "d")
    assert tree.clades(1) == (("b", "a"), ("new", "d"))
    with pytest.raises(ValueError, match="must be unique; 1 occurs more than once: 'b'"):
        tree.rename({"a": "b"})


# Levels and clades


@given(trees(1, 9, rooted=True, unary=True))
def test_levels_count_the_branchings_above(tree):
    for node in range(tree.n_nodes):
        above, branchings = int(tree.parent[node]), 0
        while above >= 0:
            branchings += len(tree.children[above]) > 1
            above = int(tree.parent[above])
        assert tree.level[node] == branchings


@given(trees(1, 9, rooted=True, unary=True), st.integers(0, 9))
def test_the_clades_at_a_level_are_the_subtrees_there_and_the_shallower_leaves(tree, level):
    below = oracles.leaves_below_each(tree)
    at_level = {below[node] for node in range(tree.n_nodes) if tree.level[node] == level}
    shallow = {frozenset([name]) for leaf, name in enumerate(tree.leaves) if tree.level[leaf] < level}
    clades, labels = tree.clades(level), tree.clade_labels(level)
    assert {frozenset(clade) for clade in clades} == at_level | shallow
    assert sorted(name for clade in clades for name in clade) == sorted(tree.leaves)
    for name, label in zip(tree.leaves, labels.tolist(), strict=True):
        assert name in clades[label]
    assert list(dict.fromkeys(labels.tolist())) == list(range(len(clades)))
    assert all(tuple(name for name in tree.leaves if name in clade) == clade for clade in clades)


@given(trees(1, 9, rooted=True, unary=True))
def test_level_0_is_the_whole_tree_and_a_deep_level_every_leaf(tree):
    assert tree.clades(0) == (tree.leaves,)
    assert tree.clades(tree.n_nodes) == tuple((name,) for name in tree.leaves)


def test_single_child_nodes_are_no_step_down():
    tree = from_nested((((("a", "b"),), "c"), (("d",),)), "abcd", rooted=True)
    assert tree.clades(1) == (("a", "b", "c"), ("d",))
    assert tree.clades(2) == (("a", "b"), ("c",), ("d",))
    assert tree.clades(3) == (("a",), ("b",), ("c",), ("d",))


@pytest.mark.parametrize("level", [1, 2, 3, 4])
def test_a_balanced_tree_of_64_has_equal_clades(level):
    parent = [64 + i // 2 for i in range(126)] + [-1]
    tree = Tree(parent, [f"leaf{i}" for i in range(64)], rooted=True)
    assert [len(clade) for clade in tree.clades(level)] == [64 // 2**level] * 2**level


def test_an_unrooted_tree_has_no_levels():
    tree = Tree(QUARTET, list("abcd"))
    for ask in (
        lambda: tree.level,
        lambda: tree.clades(1),
        lambda: tree.clade_labels(1),
        lambda: tree.depths("topology"),
    ):
        with pytest.raises(ValueError, match="This tree is unrooted, so its nodes have no level. Root it first"):
            ask()


def test_a_negative_level_is_refused():
    with pytest.raises(ValueError, match="Level -1 was asked for; levels start at 0"):
        Tree(QUARTET, list("abcd"), rooted=True).clades(-1)


# Sizes


@given(trees(1, 3, unary=True, lengths="positive"), st.data())
def test_trees_of_one_to_three_leaves_do_everything(tree, data):
    assert tree.splits().shape == (0, tree.n_leaves)
    assert tree.unroot().same_topology(data.draw(rerootings(tree)))
    assert tree.restrict(tree.leaves[:1]).n_nodes == 1
    assert tree.restrict(tree.leaves[:1]).distances().tolist() == [[0.0]]
    assert tree.collapse_unary().n_nodes <= tree.n_nodes
    assert tree.distances("topology").shape == (tree.n_leaves, tree.n_leaves)


def test_a_caterpillar_of_100000_leaves_needs_no_recursion():
    tree = caterpillar(100_000, rooted=True)
    assert tree.level.max() == 99_999
    free = tree.unroot()
    assert free.n_nodes == tree.n_nodes - 1
    assert free.is_binary
    small = tree.restrict(tree.leaves[::2])
    assert small.n_leaves == 50_000
    assert small.lengths.sum() == 2 * 99_999 - 50_000 - 1  # half the leaf edges and one inner edge of length 1 are gone
    assert hash(tree) == hash(tree.reorder(tree.leaves[::-1]))
    assert tree == tree.reorder(tree.leaves[::-1])
    assert free != caterpillar(100_000, rooted=False).rename({"leaf0": "leaf7", "leaf7": "leaf0"})
    assert tree.leaves_below(tree.root) == tree.leaves
    assert tree.collapse(np.arange(tree.n_nodes)).degree[-1] == 100_000
    assert len(set(tree.clade_labels(50_000).tolist())) == 50_001
    assert tree.depths().max() == 99_999
    assert pickle.loads(pickle.dumps(tree)).n_leaves == 100_000
