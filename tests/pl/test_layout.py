"""Where nodes are put: to length, without crossings, and near to the order of the leaves' numbers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from celltreeqm import Tree, random_tree
from celltreeqm.pl._layout import node_positions


@given(n=st.integers(2, 40), seed=st.integers(0, 10_000), shuffled=st.booleans())
def test_no_two_branches_cross(n, seed, shuffled):
    rng = np.random.default_rng(seed)
    tree = random_tree(n, shape="yule", seed=rng)
    if shuffled:
        tree = tree.reorder(rng.permutation(tree.leaves).tolist())
    place = node_positions(tree)[:, 1]
    assert sorted(place[:n].tolist()) == list(range(n))
    for node in range(n, tree.n_nodes):
        below = sorted(place[tree.index[name]] for name in tree.leaves_below(node))
        assert below[-1] - below[0] == len(below) - 1, "the leaves of a clade stand together"
        assert below[0] < place[node] < below[-1]


def test_leaves_stand_in_the_order_of_their_numbers_where_the_tree_allows():
    tree = random_tree(16, seed=0)
    assert node_positions(tree)[:16, 1].tolist() == list(range(16))
    other = Tree([4, 5, 4, 5, 6, 6, -1], ["a", "b", "c", "d"])
    assert node_positions(other)[:4, 1].tolist() == [0, 2, 1, 3]


def test_depth_is_path_length_and_leaves_are_level_without_lengths():
    tree = random_tree(20, shape="yule", seed=1)
    np.testing.assert_allclose(node_positions(tree)[:, 0], tree.depths())
    bare = Tree(tree.parent, tree.leaves, rooted=True)
    depth = node_positions(bare)[:, 0]
    assert len(set(depth[:20])) == 1
    assert (depth[:-1] > depth[tree.parent[:-1]]).all()
    negative = Tree([2, 2, -1], ["a", "b"], [-1, 1, 0])
    assert node_positions(negative)[:, 0].tolist() == [0, 1, 0]


def test_a_caterpillar_of_many_leaves_needs_no_recursion():
    n = 5000
    parent = [n, *range(n, 2 * n - 1), *range(n + 1, 2 * n - 1), -1]
    tree = Tree(parent, [f"c{i}" for i in range(n)], rooted=True)
    assert node_positions(tree)[0].tolist() == [n - 1, 0]
