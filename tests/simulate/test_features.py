"""What obscures the signal: groups and trees of alternative features, and programs that cells share."""

import numpy as np
import pytest

from celltreeqm.simulate import simulate_alternatives
from celltreeqm.simulate._features import mean_sd, simulate_batch, simulate_cycle, simulate_noise

LEAVES = tuple(f"leaf{i}" for i in range(16))


@pytest.mark.parametrize("n_trees", [1, 2, 4, 8])
def test_the_leaves_are_split_into_groups_of_equal_size_with_a_tree_each(n_trees):
    features, trees = simulate_alternatives(LEAVES, 3, n_trees=n_trees, max_length=3, seed=0)
    assert len(trees) == n_trees
    assert {tree.n_leaves for tree in trees} == {16 // n_trees}
    assert sorted(leaf for tree in trees for leaf in tree.leaves) == sorted(LEAVES), "each leaf in exactly one tree"
    assert features.shape == (16, 3)
    assert (features != 0).all(), "every column has a value for every leaf"
    for tree in trees:
        assert set(tree.level[: tree.n_leaves].tolist()) == {tree.n_leaves.bit_length() - 1}, "a full binary tree"
        assert (tree.lengths[:-1] >= 1).all()
        assert (tree.lengths[:-1] <= 3).all()


@pytest.mark.parametrize(("increments", "power"), [("variance", 1), ("sd", 2)])
def test_every_column_evolves_on_the_tree_of_the_leafs_own_group(increments, power):
    """Squared distances are path lengths within a group, and sums of depths between groups, for all columns alike."""
    g = 40_000
    features, trees = simulate_alternatives(LEAVES, g, n_trees=2, max_length=3, increments=increments, seed=3)
    variance = np.zeros((16, 16))
    row = {leaf: i for i, leaf in enumerate(LEAVES)}
    for tree in trees:
        rows = [row[leaf] for leaf in tree.leaves]
        powered = type(tree)(tree.parent, tree.leaves, tree.lengths**power, rooted=True)
        depth = powered.depths()[: tree.n_leaves]
        variance[np.ix_(rows, rows)] = (depth[:, None] + depth - powered.distances()) / 2
    for half in np.split(features, 2, axis=1):
        covariance = half @ half.T / (g // 2)
        spread = np.sqrt((variance**2 + np.outer(variance.diagonal(), variance.diagonal())) / (g // 2))
        assert (np.abs(covariance - variance) < 4.5 * spread).all()


def test_the_trees_are_independent_and_their_leaves_shuffled():
    _, trees = simulate_alternatives(LEAVES, 1, n_trees=2, seed=1)
    assert trees[0].lengths.tolist() != trees[1].lengths.tolist()
    rng, repeats, together, cherry = np.random.default_rng(2), 1500, 0, 0
    for _ in range(repeats):
        _, trees = simulate_alternatives(LEAVES[:8], 1, n_trees=2, seed=rng)
        tree = next(tree for tree in trees if "leaf0" in tree.index)
        if "leaf1" in tree.index:
            together += 1
            cherry += tree.parent[tree.index["leaf0"]] == tree.parent[tree.index["leaf1"]]
    for count, chance in ((together, 3 / 7), (cherry, 1 / 7)):
        assert abs(count / repeats - chance) < 4 * np.sqrt(chance * (1 - chance) / repeats)


def test_groups_that_are_no_power_of_two_have_trees_of_other_shapes():
    features, trees = simulate_alternatives(LEAVES[:12], 2, n_trees=2, shape="yule", seed=0)
    assert features.shape == (12, 2)
    assert [tree.n_leaves for tree in trees] == [6, 6]


def test_the_seed_decides():
    first, first_trees = simulate_alternatives(LEAVES, 4, seed=5)
    again, again_trees = simulate_alternatives(LEAVES, 4, seed=5)
    assert (first == again).all()
    assert first_trees == again_trees
    assert (simulate_alternatives(LEAVES, 4, seed=6)[0] != first).all()


def test_mean_sd_is_the_mean_over_features_of_their_sd():
    assert mean_sd(np.array([[0.0, 10.0], [2.0, 10.0]])) == 0.5


def test_noise_has_the_mean_and_sd_asked_for():
    noise = simulate_noise(100, 1000, sd=3.0, mean=-2.0, seed=0)
    assert noise.mean() == pytest.approx(-2, abs=0.04)
    assert noise.std() == pytest.approx(3, rel=0.02)


def test_batches_are_even_and_are_all_that_their_features_tell():
    features, batch = simulate_batch(20, 2000, n_batches=3, sd=2.0, seed=0)
    assert sorted(np.bincount(batch).tolist()) == [6, 7, 7]
    assert batch.tolist() != (np.arange(20) % 3).tolist(), "dealt out at random"
    assert len(np.unique(features, axis=0)) == 3
    for number in range(3):
        assert (features[batch == number] == features[batch == number][0]).all()
    assert features.std() == pytest.approx(2, rel=0.05)


def test_the_cell_cycle_is_a_circle():
    features, phase = simulate_cycle(200, 3000, sd=2.0, seed=0)
    assert np.linalg.matrix_rank(features) == 2
    assert features.std(axis=0).mean() == pytest.approx(2, rel=0.05)
    assert phase.min() >= 0
    assert phase.max() <= 2 * np.pi
    distances = np.linalg.norm(features[0] - features, axis=1)
    chords = np.abs(2 * np.sin((phase[0] - phase) / 2))
    assert np.corrcoef(distances, chords)[0, 1] > 0.999


def test_bad_input_is_told_in_a_sentence():
    with pytest.raises(ValueError, match="17 alternative trees were asked for and there are 16 leaves; .* at most 8"):
        simulate_alternatives(LEAVES, 1, n_trees=17)
    with pytest.raises(ValueError, match="16 leaves cannot be split into 3 groups of equal size"):
        simulate_alternatives(LEAVES, 1, n_trees=3)
    with pytest.raises(ValueError, match="16 leaves cannot be split into 16 groups of equal size, two or more leaves"):
        simulate_alternatives(LEAVES, 1, n_trees=16)
    with pytest.raises(ValueError, match="12 leaves in 2 groups are 6 leaves a group; .* power of two"):
        simulate_alternatives(LEAVES[:12], 1, n_trees=2)
    with pytest.raises(ValueError, match="0 alternative trees were asked for"):
        simulate_alternatives(LEAVES, 1, n_trees=0)
    with pytest.raises(ValueError, match="max_length=0.9 was given"):
        simulate_alternatives(LEAVES, 1, max_length=0.9)
    with pytest.raises(ValueError, match="n_features=0 was given"):
        simulate_alternatives(LEAVES, 0)


def test_leaves_of_alternative_trees_have_names_of_their_own():
    with pytest.raises(ValueError, match="Leaf names must be unique"):
        simulate_alternatives(["a", "a", "b", "b"], 3, n_trees=2)
