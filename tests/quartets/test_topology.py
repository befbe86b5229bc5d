from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celltreeqm.quartets import all_quartets, quartet_topology, quartet_topology_in
from celltreeqm.trees import Tree
from tests import oracles
from tests.strategies import additive_distances, rerootings, trees


def by_oracle(tree, names, quartets):
    """Topology codes by the tree's splits, -1 where the tree lacks a leaf or does not resolve the quartet."""
    topologies = oracles.quartet_topologies(tree)
    codes = []
    for row in np.asarray(quartets).tolist():
        a, b, c, d = (names[i] for i in row)
        pairs = topologies.get(frozenset((a, b, c, d)))
        partners = [x for x in (b, c, d) if pairs and frozenset((a, x)) in pairs]
        codes.append((b, c, d).index(partners[0]) if partners else -1)
    return codes


def every_order(n):
    return np.array([order for four in combinations(range(n), 4) for order in permutations(four)]).reshape(-1, 4)


@given(trees(1, 8, unary=True))
def test_in_a_tree_every_quartet_in_every_order_is_as_its_splits_say(tree):
    quartets = every_order(tree.n_leaves)
    assert quartet_topology_in(tree, quartets).tolist() == by_oracle(tree, tree.leaves, quartets)


@given(trees(1, 7), st.data())
def test_rows_that_the_tree_lacks_are_unresolved_and_the_row_order_is_followed(tree, data):
    names = data.draw(st.permutations([*tree.leaves, "lacking", "too"]))
    small = tree.restrict(data.draw(st.lists(st.sampled_from(tree.leaves), min_size=1)))
    quartets = np.concatenate([*all_quartets(len(names)), np.empty((0, 4), dtype=np.int32)])
    assert quartet_topology_in(small, quartets, leaves=names).tolist() == by_oracle(small, names, quartets)


@given(trees(4, 9, rooted=False).flatmap(lambda tree: st.tuples(st.just(tree), rerootings(tree))))
def test_the_root_does_not_matter(case):
    tree, rerooted = case
    quartets = np.concatenate(list(all_quartets(tree.n_leaves)))
    found = quartet_topology_in(rerooted, quartets, leaves=tree.leaves)
    assert (found == quartet_topology_in(tree, quartets)).all()


@given(trees(4, 9).flatmap(additive_distances))
def test_four_point_sums_of_additive_distances_give_the_trees_topology(case):
    tree, distances = case
    quartets = np.concatenate(list(all_quartets(tree.n_leaves)))
    assert (quartet_topology(distances, quartets) == quartet_topology_in(tree, quartets)).all()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 9.0])
def test_one_bad_distance_among_the_six_is_found_wherever_it_is(value):
    for i, j in permutations(range(4), 2):
        distances = 1.0 - np.eye(4)
        distances[i, j] = value
        with pytest.raises(ValueError, match=r"Quartet 0, \[0, 1, 2, 3\], holds"):
            quartet_topology(distances, [[0, 1, 2, 3]])
        distances[j, i] = value
        if not np.isfinite(value):
            with pytest.raises(ValueError, match=r"Quartet 0, .* is not finite"):
                quartet_topology(distances, [[0, 1, 2, 3]])


def test_the_smallest_sum_wins_and_a_tie_for_it_is_unresolved():
    def with_sums(first, second, third):
        distances = np.zeros((4, 4))
        for (i, j), value in zip([(0, 1), (0, 2), (0, 3)], (first, second, third), strict=True):
            distances[i, j] = distances[j, i] = value
        return distances

    quartet = [[0, 1, 2, 3]]
    for sums in permutations([1.0, 2.0, 3.0]):
        assert quartet_topology(with_sums(*sums), quartet).tolist() == [sums.index(1.0)]
    for sums in permutations([1.0, 1.0, 3.0]):
        assert quartet_topology(with_sums(*sums), quartet).tolist() == [-1]
    assert quartet_topology(with_sums(1, 1.05, 2), quartet, tolerance=0.03).tolist() == [-1]
    assert quartet_topology(with_sums(1, 1.05, 2), quartet, tolerance=0.02).tolist() == [0]
    assert quartet_topology(with_sums(1, 1 + 1e-15, 2), quartet).tolist() == [-1]
    assert quartet_topology(with_sums(1, 1 + 1e-15, 2), quartet, tolerance=0).tolist() == [0]
    assert quartet_topology(with_sums(0, 0, 0), quartet, tolerance=0).tolist() == [-1]


def test_whole_numbers_and_float32_will_do():
    distances = Tree([4, 5, 5, 4, 6, 6, -1], list("abcd")).distances(by="topology")
    for dtype in (np.int64, np.float32):
        assert quartet_topology(distances.astype(dtype), [[0, 1, 2, 3]]).tolist() == [2]


def test_a_long_caterpillar_is_exact():
    n = 100_000
    nodes = np.arange(n, 2 * n - 1)
    tree = Tree([n, *nodes.tolist(), *nodes[1:].tolist(), -1], [str(i) for i in range(n)])
    quartets = np.sort(np.random.default_rng(0).permutation(n).reshape(-1, 4), axis=1)
    assert (quartet_topology_in(tree, quartets) == 0).all()
    assert (quartet_topology_in(tree, quartets[:, [2, 0, 3, 1]]) == 1).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: quartet_topology(np.zeros((3, 4)), [[0, 1, 2, 3]]), r"shape \(3, 4\); a square matrix"),
        (lambda: quartet_topology(np.zeros((4, 4)), [[0, 1, 2, 4]]), "leaf numbers from 0 to 3"),
        (lambda: quartet_topology(np.full((4, 4), np.nan), [[0, 1, 2, 3]]), "Quartet 0, .*not finite"),
        (lambda: quartet_topology(np.full((4, 4), np.inf), [[0, 1, 2, 3]]), "not finite"),
        (lambda: quartet_topology(np.ma.masked_equal(np.zeros((4, 4)), 0), [[0, 1, 2, 3]]), "Quartet 0, .*not finite"),
        (lambda: quartet_topology(np.zeros((4, 4)), [[0, 1, 2, 3]], tolerance=-1), "tolerance=-1"),
        (lambda: quartet_topology_in(Tree([1, -1], ["a"]), [[0, 1, 2, 3]]), "leaf numbers from 0 to 0"),
        (lambda: quartet_topology_in(Tree([1, -1], ["a"]), [[0, 1, 2, 3]], leaves=list("abca")), "names 'a' twice"),
    ],
)
def test_bad_input_gets_a_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()
