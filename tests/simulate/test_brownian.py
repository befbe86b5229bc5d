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


@pytest.mark.parametrize(("increments", "power"), [("variance", 1), ("sd", 2)])
@pytest.mark.parametrize("shape", ["balanced", "caterpillar"])
def test_squared_distances_are_additive_in_expectation(shape, increments, power):
    """The paper's lemma: E|x_i - x_j|^2 = g d_T(i, j), each edge with the variance of its increment."""
    tree = random_tree(8, shape=shape, max_length=3, seed=1)
    g = 100_000
    features = simulate_brownian(tree, g, increments=increments, seed=0)
    squared = ((features[:, None] - features[None]) ** 2).mean(axis=2)
    expected = Tree(tree.parent, tree.leaves, tree.lengths**power, rooted=True).distances()
    pairs = np.triu_indices(8, 1)
    # A mean of g squared normals of variance v has sd v sqrt(2 / g); 28 pairs, p = 1e-4 each
    assert (np.abs(squared / np.where(expected > 0, expected, 1) - 1)[pairs] < 3.9 * np.sqrt(2 / g)).all()


@pytest.mark.parametrize(("increments", "power"), [("variance", 1), ("sd", 2)])
def test_heritability_shrinks_covariances_and_keeps_variances(increments, power):
    """Pagel's lambda, feature by feature, on a tree whose leaves are not equally deep."""
    tree = random_tree(6, shape="caterpillar", max_length=2, seed=3)
    each = 100_000
    heritability = np.repeat([0.0, 0.3, 1.0], each)
    features = simulate_brownian(tree, 3 * each, increments=increments, heritability=heritability, seed=0)
    shared = shared_paths(tree, tree.lengths**power)
    for part, share in zip(np.split(features, 3, axis=1), (0.0, 0.3, 1.0), strict=True):
        expected = share * shared + (1 - share) * np.diag(shared.diagonal())
        spread = np.sqrt((expected**2 + np.outer(expected.diagonal(), expected.diagonal())) / each)
        assert (np.abs(part @ part.T / each - expected) < 4.5 * spread).all()


def test_full_heritability_is_plain_brownian_motion():
    tree = random_tree(8, seed=0)
    plain = simulate_brownian(tree, 5, seed=1)
    assert (simulate_brownian(tree, 5, heritability=np.ones(5), seed=1) == plain).all()
    mixed = simulate_brownian(tree, 5, heritability=[1, 1, 0.5, 1, 1], seed=1)
    assert ((mixed == plain).all(axis=0) == [True, True, False, True, True]).all()


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
    with pytest.raises(ValueError, match="A heritability of 1.5 was given; it lies between 0 and 1"):
        simulate_brownian(tree, 2, heritability=[1.0, 1.5])
    with pytest.raises(ValueError, match="A heritability of nan was given"):
        simulate_brownian(tree, 2, heritability=np.nan)
    with pytest.raises(
        ValueError, match=r"heritability has shape \(3,\); one number, or one for each of the 2 features"
    ):
        simulate_brownian(tree, 2, heritability=[1, 1, 1])
    with pytest.raises(ValueError, match="no branch lengths"):
        simulate_brownian(Tree([2, 2, -1], ["a", "b"]), 1)
    with pytest.raises(ValueError, match="The edge above node 1 has length -1"):
        simulate_brownian(Tree([2, 2, -1], ["a", "b"], [1, -1, 0]), 1)


def test_what_is_no_tree_and_no_number_is_told_in_a_sentence():
    with pytest.raises(TypeError, match="a Tree was needed"):
        simulate_brownian("tree.nwk", 3)
    with pytest.raises(TypeError, match="n_features=2.5 was given; a whole number was needed"):
        simulate_brownian(random_tree(4, seed=1), 2.5)
