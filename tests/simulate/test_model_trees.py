"""Model trees: their shape, their lengths and their names."""

import math

import numpy as np
import pytest

from celltreeqm.simulate import random_tree, simulate_alternatives, simulate_brownian


@pytest.mark.parametrize("n", [2, 4, 32])
def test_balanced_trees_have_all_leaves_at_one_level(n):
    tree = random_tree(n, seed=0)
    assert tree.rooted
    assert tree.is_binary
    assert set(tree.level[:n].tolist()) == {n.bit_length() - 1}
    assert [len(clade) for clade in tree.clades(1)] == [n // 2, n // 2]


@pytest.mark.parametrize("shape", ["yule", "uniform", "caterpillar"])
@pytest.mark.parametrize("n", [2, 3, 7, 100])
def test_other_trees_are_binary_and_named_from_left_to_right(n, shape):
    tree = random_tree(n, shape=shape, seed=n)
    assert tree.rooted
    assert tree.is_binary
    assert tree.n_nodes == 2 * n - 1
    assert list(tree.leaves) == sorted(tree.leaves)
    for node in range(n, tree.n_nodes):
        below = [tree.index[name] for name in tree.leaves_below(node)]
        assert below == list(range(below[0], below[-1] + 1)), "every clade is a run of leaves"


def test_yule_splits_the_leaves_uniformly():
    """The size of the left clade at the root of a Yule tree is uniform on 1, ..., n - 1."""
    rng, n, repeats = np.random.default_rng(5), 5, 2000
    sizes = [len(random_tree(n, shape="yule", seed=rng).clades(1)[0]) for _ in range(repeats)]
    counts = np.bincount(sizes, minlength=n)[1:]
    assert ((counts - repeats / 4) ** 2 / (repeats / 4)).sum() < 16.3, "chi-square with 3 degrees of freedom, p = 0.001"


def test_uniform_splits_the_leaves_as_labelled_trees_do():
    """With (2k - 3)!! rooted trees on k labelled leaves, the left clade of n has size k in proportion to C(n, k) times
    the numbers of trees on both sides."""
    rng, n, repeats = np.random.default_rng(6), 6, 4000

    def number(k):
        return math.prod(range(1, 2 * k - 2, 2))

    expected = np.array([math.comb(n, k) * number(k) * number(n - k) for k in range(1, n)]) / (2 * number(n))
    assert expected.sum() == 1
    sizes = [len(random_tree(n, shape="uniform", seed=rng).clades(1)[0]) for _ in range(repeats)]
    counts = np.bincount(sizes, minlength=n)[1:]
    chi_square = ((counts - repeats * expected) ** 2 / (repeats * expected)).sum()
    assert chi_square < 18.5, "4 degrees of freedom, p = 0.001"


def test_uniform_reaches_every_shape_below_the_first_split():
    """Of the trees on four labelled leaves 3 of 15 are balanced; a Yule tree is in 1 of 3 cases."""
    rng, repeats = np.random.default_rng(7), 3000
    balanced = sum(len(random_tree(4, shape="uniform", seed=rng).clades(1)[0]) == 2 for _ in range(repeats))
    assert abs(balanced / repeats - 0.2) < 4 * np.sqrt(0.2 * 0.8 / repeats)


def test_caterpillars_lose_one_leaf_at_every_branching():
    tree = random_tree(6, shape="caterpillar", max_length=1, seed=0)
    assert tree.level[:6].tolist() == [5, 5, 4, 3, 2, 1]
    assert tree.depths()[:6].tolist() == [5, 5, 4, 3, 2, 1]


@pytest.mark.parametrize("shape", ["uniform", "caterpillar"])
def test_large_trees_need_no_recursion(shape):
    assert random_tree(20_000, shape=shape, seed=0).n_leaves == 20_000


def test_lengths_are_uniform_between_one_and_the_maximum():
    tree = random_tree(1024, max_length=5, seed=0)
    lengths = tree.lengths[:-1]
    assert lengths.min() >= 1
    assert lengths.max() <= 5
    assert lengths.mean() == pytest.approx(3, abs=0.1)
    assert np.quantile(lengths, [0.25, 0.75]) == pytest.approx([2, 4], abs=0.15)
    assert random_tree(8, max_length=1, seed=0).lengths[:-1].tolist() == [1.0] * 14


def test_the_seed_decides():
    assert random_tree(16, shape="yule", seed=1) == random_tree(16, shape="yule", seed=1)
    assert random_tree(16, shape="yule", seed=1) != random_tree(16, shape="yule", seed=2)


@pytest.mark.parametrize(
    ("seed", "kind", "sentence"),
    [
        ("1", TypeError, r"seed='1' \(str\) was given; a whole number, a numpy Generator or None was needed"),
        (1.5, TypeError, r"seed=1.5 \(float\) was given; a whole number"),
        (-1, ValueError, "seed=-1 was given; a seed is a whole number of 0 or more"),
    ],
)
def test_bad_seeds_are_told_in_a_sentence(seed, kind, sentence):
    tree = random_tree(4, seed=0)
    for call in (
        lambda: random_tree(4, seed=seed),
        lambda: simulate_brownian(tree, 2, seed=seed),
        lambda: simulate_alternatives(tree.leaves, 2, seed=seed),
    ):
        with pytest.raises(kind, match=sentence):
            call()


def test_true_is_no_number_of_leaves():
    with pytest.raises(TypeError, match="n_leaves=True was given; a whole number was needed"):
        random_tree(True)


def test_bad_input_is_told_in_a_sentence():
    with pytest.raises(ValueError, match="a balanced tree has a power of two. Ask for 64 or 128"):
        random_tree(100)
    with pytest.raises(ValueError, match="needs at least 2 leaves"):
        random_tree(1)
    with pytest.raises(ValueError, match="max_length=0.5 was given"):
        random_tree(4, max_length=0.5)
    with pytest.raises(ValueError, match="max_length=nan was given"):
        random_tree(4, max_length=float("nan"))
    with pytest.raises(
        ValueError, match="shape='comb' was given; it is 'balanced', 'yule', 'uniform' or 'caterpillar'"
    ):
        random_tree(4, shape="comb")
