"""Path distances between leaves and from the root, by length and by topology."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celltreeqm.trees import Tree
from tests import oracles
from tests.oracles import from_nested
from tests.strategies import relabellings, rerootings, trees

QUARTET = Tree([4, 4, 5, 5, 6, 6, -1], list("abcd"), [1, 2, 4, 8, 16, 32, 0])


@given(trees(1, 12, unary=True, lengths="positive"))
def test_distances_by_length_are_the_lengths_of_the_ways(tree):
    found = tree.distances()
    np.testing.assert_allclose(found, oracles.path_distances(tree), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(found, found.T)
    assert not found.diagonal().any()


@given(trees(2, 8, unary=True, lengths="any"))
def test_negative_lengths_and_zeros_are_added_like_others(tree):
    tree = tree if tree.lengths is not None else tree.with_unit_lengths()
    scale = 1 + np.abs(tree.lengths).sum()
    np.testing.assert_allclose(tree.distances(), oracles.path_distances(tree), atol=1e-13 * scale)


@given(trees(1, 12, unary=True))
def test_distances_by_topology_count_branchings(tree):
    found = tree.distances("topology")
    np.testing.assert_array_equal(found, oracles.path_distances(tree, "topology"))
    np.testing.assert_array_equal(found, tree.collapse_unary().distances(by="topology"))


@given(st.data())
def test_distances_by_topology_do_not_depend_on_the_root_of_an_unrooted_tree(data):
    tree = data.draw(trees(1, 10, rooted=False))
    wanted = tree.distances("topology")
    np.testing.assert_array_equal(data.draw(rerootings(tree)).distances("topology"), wanted)
    np.testing.assert_array_equal(tree.unroot().distances("topology"), wanted)


def test_distances_by_hand():
    assert QUARTET.distances()[0].tolist() == [0, 3, 53, 57]
    assert QUARTET.distances("topology")[0].tolist() == [0, 2, 3, 3]
    chains = from_nested((((("a", "b"),),), (("c", "d"),)))
    assert chains.distances("topology")[0].tolist() == [0, 2, 3, 3]
    rooted = from_nested((("a", "b"), ("c", "d")), rooted=True)
    assert rooted.distances("topology")[0].tolist() == [0, 2, 4, 4]
    assert rooted.unroot().distances("topology")[0].tolist() == [0, 2, 3, 3]


@pytest.mark.parametrize(("rooted", "way"), [(True, 2.0), (False, 1.0)])
def test_two_leaves_are_two_edges_apart_only_if_the_root_between_them_is_meant(rooted, way):
    tree = Tree([2, 2, -1], ["a", "b"], [3.0, 4.0, 0.0], rooted=rooted)
    assert tree.distances("topology").tolist() == [[0.0, way], [way, 0.0]]
    assert tree.distances().tolist() == [[0.0, 7.0], [7.0, 0.0]]


@given(st.data())
def test_renaming_changes_no_distance(data):
    tree = data.draw(trees(1, 8, lengths="positive"))
    other = tree.rename(data.draw(relabellings(tree.leaves)))
    np.testing.assert_array_equal(other.distances(), tree.distances())


def test_a_long_caterpillar_has_the_distances_of_its_formula():
    n = 1500
    inner = np.arange(n, 2 * n - 1)
    tree = Tree(np.concatenate([inner[:1], inner, inner[1:], [-1]]), [f"leaf{i}" for i in range(n)], rooted=True)
    i = np.maximum(np.arange(n), 1)  # leaves 0 and 1 hang from the same node
    wanted = np.abs(i[:, None] - i) + 2.0
    np.fill_diagonal(wanted, 0.0)
    np.testing.assert_array_equal(tree.distances("topology"), wanted)
    np.testing.assert_array_equal(tree.with_unit_lengths().distances(), wanted)


@given(trees(1, 10, unary=True, lengths="positive"))
def test_depths_are_the_ways_from_the_root(tree):
    graph = oracles.adjacency(tree)
    ways = [oracles.path(graph, tree.root, node) for node in range(tree.n_nodes)]
    wanted = [sum(graph[a][b] for a, b in pairwise(way)) for way in ways]
    np.testing.assert_allclose(tree.depths(), wanted)
    if tree.rooted:
        steps = [sum(len(tree.children[node]) > 1 for node in way[:-1]) for way in ways]
        np.testing.assert_array_equal(tree.depths("topology"), steps)


def test_unit_lengths_are_one_for_every_edge():
    assert QUARTET.with_unit_lengths().lengths.tolist() == [1, 1, 1, 1, 1, 1, 0]
    assert QUARTET.with_unit_lengths().distances()[0].tolist() == [0, 2, 4, 4]
    assert QUARTET.lengths[1] == 2


def test_distances_by_something_else_are_refused():
    with pytest.raises(ValueError, match="by='steps' was given; it is 'length' or 'topology'"):
        QUARTET.distances("steps")
    with pytest.raises(ValueError, match="by='steps' was given; it is 'length' or 'topology'"):
        QUARTET.depths("steps")


def test_distances_that_do_not_fit_into_memory_are_said(monkeypatch):
    tree, zeros = from_nested((("a", "b"), ("c", "d"))), np.zeros

    def without_room_for_matrices(shape, *args, **kwargs):
        if isinstance(shape, tuple):
            raise MemoryError
        return zeros(shape, *args, **kwargs)

    monkeypatch.setattr(np, "zeros", without_room_for_matrices)
    with pytest.raises(MemoryError, match=r"between 4 leaves take 1\.28e-07 GB, more than there is\. Restrict"):
        tree.distances(by="topology")


def test_distances_by_length_need_lengths():
    tree = from_nested((("a", "b"), ("c", "d")))
    for ask in (tree.distances, tree.depths, tree.known_lengths):
        with pytest.raises(
            ValueError, match="This tree has no branch lengths. Use by='topology', give it unit lengths"
        ):
            ask()
    assert QUARTET.known_lengths() is QUARTET.lengths
