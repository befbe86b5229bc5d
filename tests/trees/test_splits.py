"""Splits, their hashes, and the sameness of trees that stands on them."""

from __future__ import annotations

import itertools
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from celltreeqm.trees import Tree
from celltreeqm.trees._splits import (
    clade_set,
    edge_lengths_by_split,
    informative,
    leaf_hashes,
    leaf_intervals,
    split_hashes,
    split_set,
)
from tests import oracles
from tests.oracles import from_nested
from tests.strategies import relabellings, rerootings, trees


def as_frozensets(tree: Tree) -> list[frozenset[frozenset[str]]]:
    """The rows of ``tree.splits()``, each as a pair of sets of names."""
    names = np.array(tree.leaves)
    return [frozenset([frozenset(names[row].tolist()), frozenset(names[~row].tolist())]) for row in tree.splits()]


def rooted_at(tree: Tree, node: int) -> Tree:
    """The same unrooted tree with its lengths, hung up by another internal node."""
    parent, lengths = tree.parent.tolist(), tree.lengths.tolist()
    before, length = -1, 0.0
    while node >= 0:
        above, along = parent[node], lengths[node]
        parent[node], lengths[node] = before, length
        before, node, length = node, above, along
    return Tree(parent, tree.leaves, lengths)


# Splits


@given(trees(1, 10, unary=True))
def test_the_rows_are_the_splits_each_once_and_false_at_leaf_0(tree):
    rows = tree.splits()
    assert rows.dtype == bool
    assert rows.shape[1] == tree.n_leaves
    assert not rows[:, 0].any()
    found = as_frozensets(tree)
    assert len(found) == len(set(found))
    assert set(found) == oracles.splits(tree)


@given(trees(1, 10, unary=True))
def test_the_rows_stand_in_the_order_of_their_nodes(tree):
    below, everything = oracles.leaves_below_each(tree), frozenset(tree.leaves)
    nodes = informative(tree)
    assert (np.diff(nodes) > 0).all()
    assert as_frozensets(tree) == [frozenset([below[node], everything - below[node]]) for node in nodes]


@given(trees(1, 10, unary=True))
def test_the_leaves_below_a_node_are_an_interval(tree):
    order, start, stop = leaf_intervals(tree)
    assert sorted(order.tolist()) == list(range(tree.n_leaves))
    for node, below in enumerate(oracles.leaves_below_each(tree)):
        assert {tree.leaves[i] for i in order[start[node] : stop[node]]} == below


# Hashes


@given(st.data(), st.booleans())
def test_hashes_are_equal_if_and_only_if_splits_or_clades_are(data, clades):
    first, second = data.draw(trees(5, 5, unary=True)), data.draw(trees(5, 5, unary=True))
    everything = frozenset(first.leaves)
    hashed = [
        (side if clades else frozenset([side, everything - side]), tuple(row))
        for tree in (first, second)
        for side, row in zip(oracles.leaves_below_each(tree), split_hashes(tree, clades=clades).tolist(), strict=True)
    ]
    for (one, hash_one), (two, hash_two) in itertools.combinations(hashed, 2):
        assert (one == two) == (hash_one == hash_two)


def test_hashes_depend_on_the_set_of_names_only():
    names = ("x", "é", "B", "b", "10", "9")
    hashes = dict(zip(names, leaf_hashes(names).tolist(), strict=True))
    for order in ((5, 4, 3, 2, 1, 0), (2, 0, 1, 5, 4, 3)):
        again = tuple(names[i] for i in order)
        assert dict(zip(again, leaf_hashes(again).tolist(), strict=True)) == hashes


def test_hashes_are_the_same_in_another_process():
    script = "from celltreeqm.trees._splits import leaf_hashes; print(leaf_hashes(('a', 'b', 'c')).tolist())"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert found.strip() == str(leaf_hashes(("a", "b", "c")).tolist())


def test_a_hundred_thousand_leaves_and_their_prefixes_have_different_hashes():
    hashes = leaf_hashes(tuple(f"leaf{i}" for i in range(100_000)))
    prefixes = np.bitwise_xor.accumulate(hashes, axis=0)
    for half in (0, 1):  # each half alone is enough
        assert len(np.unique(np.concatenate([hashes[:, half], prefixes[1:, half]]))) == 199_999


@given(st.data())
def test_the_sets_of_hashes_differ_in_as_many_as_the_sets_of_splits(data):
    first, second = data.draw(trees(4, 8, names="abcdefg", unary=True)), data.draw(trees(4, 8, names="gfedcba"))
    assert len(split_set(first) ^ split_set(second)) == oracles.robinson_foulds(first, second, normalized=False)
    assert len(clade_set(first) ^ clade_set(second)) == len(oracles.clades(first) ^ oracles.clades(second))


@given(trees(2, 9, rooted=False, unary=True, lengths="positive"))
def test_edges_that_make_the_same_split_are_added_up(tree):
    found, wanted = edge_lengths_by_split(tree), oracles.split_lengths(tree)
    assert len(found) == len(wanted)
    assert sorted(found.values()) == pytest.approx(sorted(wanted.values()))


# Sameness


@given(st.data(), st.booleans())
def test_trees_are_equal_if_and_only_if_their_clades_or_splits_are(data, rooted):
    first = data.draw(trees(names="abcde", rooted=rooted, unary=True))
    second = data.draw(trees(names="badec", rooted=rooted, unary=True))
    pick = oracles.clades if rooted else oracles.splits
    assert (first == second) == first.same_topology(second) == (pick(first) == pick(second))
    if first == second:
        assert hash(first) == hash(second)


@given(st.data())
def test_an_unrooted_tree_is_the_same_wherever_its_root_is(data):
    tree = data.draw(trees(1, 9, rooted=False, unary=True))
    other = data.draw(rerootings(tree))
    assert other == tree
    assert hash(other) == hash(tree)


@given(st.data())
def test_lengths_do_not_depend_on_where_an_unrooted_tree_is_hung_up(data):
    tree = data.draw(trees(2, 9, rooted=False, unary=True, lengths="positive"))
    assume(tree.degree[-1] > 1)  # a root of one child would become a leaf
    other = rooted_at(tree, data.draw(st.integers(tree.n_leaves, tree.root)))
    assert other == tree
    assert other.unroot() == tree
    assert hash(other) == hash(tree)


@given(st.data())
def test_a_tree_with_another_length_is_another_tree(data):
    tree = data.draw(trees(3, 9, lengths="positive", unary=True))
    edge = data.draw(st.integers(0, tree.n_leaves - 1))
    other, close = tree.lengths.copy(), tree.lengths.copy()
    other[edge] += 0.001
    close[edge] *= 1 + 1e-13
    other, close = (Tree(tree.parent, tree.leaves, along, rooted=tree.rooted) for along in (other, close))
    assert other != tree
    assert other.same_topology(tree)
    assert hash(other) == hash(tree)
    assert close == tree


def test_rotation_does_not_count_but_the_root_and_the_names_do():
    rooted = from_nested((("a", "b"), ("c", "d")), rooted=True)
    assert rooted == from_nested((("d", "c"), ("b", "a")), rooted=True)
    assert rooted != from_nested((("a", "b"), "c", "d"), "abcd", rooted=True)
    assert rooted != rooted.unroot()
    assert rooted.unroot() == from_nested((("a", "b"), "c", "d"), "abcd")
    assert from_nested((("a", "b"), ("c", "d"))) == rooted.unroot()
    assert rooted != rooted.rename({"a": "x"})
    assert not rooted.same_topology(rooted.rename({"a": "x"}))
    assert not rooted.same_topology(rooted.rename({"d": "x"}))  # the same ranks among the sorted names
    assert from_nested(("a", "b", "c"), rooted=True) != from_nested(("a", "b", "c"))
    assert rooted != from_nested((("a", "b"), ("c", ("d", "e"))), rooted=True)
    assert rooted != rooted.with_unit_lengths()
    assert rooted != "tree"
    assert len({rooted, rooted.reorder(["d", "a", "c", "b"]), rooted.unroot()}) == 2


@given(st.data())
def test_renaming_is_undone_by_renaming_back(data):
    tree = data.draw(trees(1, 8, lengths="positive"))
    names = data.draw(relabellings(tree.leaves))
    other = tree.rename(names)
    np.testing.assert_array_equal(other.splits(), tree.splits())
    assert other.rename({new: old for old, new in names.items()}) == tree
    mapped = {frozenset(frozenset(names[x] for x in side) for side in split) for split in oracles.splits(tree)}
    assert set(as_frozensets(other)) == mapped
