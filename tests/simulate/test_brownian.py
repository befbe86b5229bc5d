"""Brownian motion on a tree: its moments are the tree's path lengths."""

import numpy as np
import pytest

from celltreeqm.simulate import random_tree, simulate_brownian
from celltreeqm.trees import Tree


def shared_paths(tree, lengths):
    """float[n, n], by walking up: the length of the path from the root that two leaves share."""
    up = []
    for leaf in range(tree.n_leaves):
        path, node = set(), leaf
        while node != tree.root:
            path.add(node)
            node = tree.parent[node]
        up.append(path)
    return np.array([[sum(lengths[node] for node in a & b) for b in up] for a in up])


@pytest.mark.parametrize(("increments", "power"), [("variance", 1), ("sd", 2)])
def test_covariance_of_leaves_is_their_shared_path(increments, power):
    tree = random_tree(6, shape="yule", max_length=4, seed=3)
    features = simulate_brownian(tree, 200_000, increments=increments, seed=0)
    assert features.shape == (6, 200_000)
    expected = shared_paths(tree, tree.lengths**power)
    spread = np.sqrt((expected**2 + np.outer(expected.diagonal(), expected.diagonal())) / 200_000)
    assert np.abs(features @ features.T / 200_000 - expected).max() < 4.5 * spread.max()
    assert np.abs(features.mean(axis=1)).max() < 4.5 * np.sqrt(expected.max() / 200_000)


def test_squared_distances_are_additive_in_expectation():
    """The paper's lemma: E|x_i - x_j|^2 = g d_T(i, j)."""
    tree = random_tree(8, max_length=3, seed=1)
    features = simulate_brownian(tree, 100_000, seed=0)
    squared = ((features[:, None] - features[None]) ** 2).mean(axis=2)
    np.testing.assert_allclose(squared, tree.distances(), rtol=0.03)


def test_features_are_independent():
    features = simulate_brownian(random_tree(2, max_length=1, seed=0), 2000, seed=0)
    other = simulate_brownian(random_tree(2, max_length=1, seed=0), 2000, seed=1)
    assert abs(np.corrcoef(features[0], other[0])[0, 1]) < 0.1
    assert abs(np.corrcoef(features[0, :-1], features[0, 1:])[0, 1]) < 0.1


def test_no_length_no_change_and_the_root_is_zero():
    tree = Tree([2, 2, -1], ["a", "b"], [0.0, 1.0, 7.0], rooted=True)
    features = simulate_brownian(tree, 4, seed=0)
    assert features[0].tolist() == [0.0] * 4
    assert (features[1] != 0).all()


def test_the_seed_decides():
    tree = random_tree(8, seed=0)
    assert (simulate_brownian(tree, 5, seed=1) == simulate_brownian(tree, 5, seed=1)).all()
    assert (simulate_brownian(tree, 5, seed=1) != simulate_brownian(tree, 5, seed=2)).all()


def test_bad_input_is_told_in_a_sentence():
    tree = random_tree(4, seed=0)
    with pytest.raises(ValueError, match="n_features=0 was given; at least 1 is needed"):
        simulate_brownian(tree, 0)
    with pytest.raises(ValueError, match="it is 'variance' or 'sd'"):
        simulate_brownian(tree, 1, increments="std")
    with pytest.raises(ValueError, match="no branch lengths"):
        simulate_brownian(Tree([2, 2, -1], ["a", "b"]), 1)
    with pytest.raises(ValueError, match="The edge above node 1 has length -1"):
        simulate_brownian(Tree([2, 2, -1], ["a", "b"], [1, -1, 0]), 1)
