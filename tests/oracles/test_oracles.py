"""The oracles against cases worked by hand, and against facts that are known about all trees of a size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celltreeqm.trees import Tree
from tests import oracles
from tests.oracles import from_nested
from tests.strategies import (
    additive_distances,
    distance_matrices,
    partition_and_backbones,
    priors_of,
    rerootings,
    trees,
)


def pairs(text: str) -> frozenset[frozenset[str]]:
    """A split of one-letter names: "ab|cde"."""
    return frozenset(frozenset(side) for side in text.split("|"))


TWO_CHERRIES = from_nested((("a", "b"), "e", ("c", "d")), "abcde")
OTHER = from_nested((("a", "c"), "e", ("b", "d")), "abcde")
ONE_CHERRY = from_nested((("a", "b"), "c", "d", "e"), "abcde")
STAR = from_nested(("a", "b", "c", "d", "e"))


# Nested tuples


def test_a_nested_tuple_survives_being_a_tree():
    nested = ((("a", "b"), "c"), ("d", "e", "f"))
    tree = from_nested(nested, "fedcba", rooted=True)
    assert tree.leaves == tuple("fedcba")
    assert set(oracles.clades_of(oracles.to_nested(tree))) == {
        frozenset(clade) for clade in ("ab", "abc", "def", "abcdef")
    }


def test_restricting_a_nested_tuple_leaves_no_single_child():
    nested = ((("a", "b"), "c"), ("d", ("e",), "f"))
    assert oracles.restrict_nested(nested, "ace") == (("a", "c"), "e")
    assert oracles.restrict_nested(nested, "ab") == ("a", "b")
    assert oracles.restrict_nested(nested, "e") == "e"
    assert oracles.restrict_nested(nested, "x") is None


# Splits


def test_splits_of_a_small_tree():
    assert oracles.splits(TWO_CHERRIES) == {pairs("ab|cde"), pairs("cd|abe")}
    assert oracles.splits(STAR) == set()
    rooted = from_nested((("a", "b"), (("c", "d"), "e")), rooted=True)
    assert oracles.splits(rooted) == oracles.splits(TWO_CHERRIES)
    assert oracles.clades(rooted) == {frozenset(clade) for clade in ("ab", "cd", "cde", "abcde")}


def test_restricted_splits_drop_the_trivial_ones():
    assert oracles.restrict_splits(oracles.splits(TWO_CHERRIES), "abcd") == {pairs("ab|cd")}
    assert oracles.restrict_splits(oracles.splits(TWO_CHERRIES), "abe") == set()


def test_the_two_edges_at_an_unrooted_root_of_two_are_one_split():
    tree = Tree([3, 3, 4, 4, -1], list("abc"), [1.0, 2.0, 3.0, 4.0, 0.0])
    assert oracles.split_lengths(tree) == {pairs("a|bc"): 1.0, pairs("b|ac"): 2.0, pairs("c|ab"): 7.0}


@pytest.mark.parametrize(
    ("first", "second", "raw", "normalized"),
    [
        (TWO_CHERRIES, TWO_CHERRIES, 0, 0.0),
        (TWO_CHERRIES, OTHER, 4, 1.0),
        (TWO_CHERRIES, ONE_CHERRY, 1, 1 / 3),
        (TWO_CHERRIES, STAR, 2, 1.0),
        (STAR, STAR, 0, 0.0),
    ],
)
def test_robinson_foulds_by_hand(first, second, raw, normalized):
    assert oracles.robinson_foulds(first, second, normalized=False) == raw
    assert oracles.robinson_foulds(first, second) == pytest.approx(normalized)


# Quartets


def test_quartets_by_hand():
    assert oracles.quartet_topologies(TWO_CHERRIES) == {
        frozenset("abcd"): pairs("ab|cd"),
        frozenset("abce"): pairs("ab|ce"),
        frozenset("abde"): pairs("ab|de"),
        frozenset("acde"): pairs("ae|cd"),
        frozenset("bcde"): pairs("be|cd"),
    }
    assert oracles.quartet_topology(ONE_CHERRY, "abce") == pairs("ab|ce")
    assert oracles.quartet_topology(ONE_CHERRY, "acde") is None


def test_agreement_by_hand():
    assert oracles.quartet_agreement(TWO_CHERRIES, TWO_CHERRIES) == (5, 0, 0, 0, 0)
    # ac|e|bd: abcd is ac|bd, abce is ac|be, abde is ae|bd, acde is ac|de, bcde is bd|ce: none as in the other
    assert oracles.quartet_agreement(TWO_CHERRIES, OTHER) == (0, 5, 0, 0, 0)
    assert oracles.quartet_agreement(TWO_CHERRIES, ONE_CHERRY) == (3, 0, 2, 0, 0)
    assert oracles.quartet_agreement(STAR, ONE_CHERRY) == (0, 0, 0, 3, 2)
    assert oracles.quartet_agreement(TWO_CHERRIES, ONE_CHERRY, [frozenset("acde")]) == (0, 0, 1, 0, 0)
    assert oracles.quartet_distance(TWO_CHERRIES, ONE_CHERRY) == pytest.approx(0.4)
    assert np.isnan(oracles.quartet_distance(TWO_CHERRIES, ONE_CHERRY, []))


def test_a_partition_knows_quartets_two_two_and_two_one_one():
    clades = from_nested((("a", "b", "c"), ("d", "e"), "f"))
    known = oracles.known_quartets("abcdef", clades)
    assert known[frozenset("abde")] == pairs("ab|de")
    assert known[frozenset("abdf")] == pairs("ab|df")
    assert known[frozenset("adef")] == pairs("af|de")
    assert frozenset("abcd") not in known
    # 3 pairs in {a, b, c} with 3 pairs outside; pair {d, e} with 6 pairs of the others; the shared 3 counted once
    assert len(known) == 3 * 3 + 6 - 3


def test_classes_by_hand():
    clades, backbone = from_nested((("a", "b"), ("c", "d"))), from_nested((("a", "e"), ("c", "f")))
    classes = oracles.quartet_classes("abcdefgh", [clades, backbone])
    assert classes["known"] == {frozenset("abcd"), frozenset("acef")}
    assert len(classes["unknown_inside"]) == 15 - 2
    assert len(classes["unknown_outside"]) == 0
    assert len(classes["partial"]) == 70 - 15
    assert oracles.quartet_classes("abcdefgh", clades)["unknown_outside"] == {frozenset("efgh")}
    assert len(oracles.quartet_classes("abcdefgh", None)["unknown_outside"]) == 70


def test_priors_that_contradict_each_other_are_not_hidden():
    with pytest.raises(AssertionError, match="contradict"):
        oracles.known_quartets("abcde", [TWO_CHERRIES, OTHER])


# Paths


def test_distances_by_hand():
    #  root: (a:1, (b:2)x:4, ((c:8, d:16)y:32)z:64), z and x having a single child
    tree = Tree([7, 4, 5, 5, 7, 6, 7, -1], list("abcd"), [1.0, 2.0, 8.0, 16.0, 4.0, 32.0, 64.0, 0.0])
    assert oracles.path_distances(tree)[0].tolist() == [0.0, 7.0, 105.0, 113.0]
    assert oracles.path_distances(tree)[1].tolist() == [7.0, 0.0, 110.0, 118.0]
    assert oracles.path_distances(tree, "topology")[0].tolist() == [0.0, 2.0, 3.0, 3.0]
    assert oracles.path_distances(tree, "topology")[2].tolist() == [3.0, 3.0, 0.0, 2.0]


def test_only_a_meant_root_counts_as_a_node_of_the_way():
    nested = (("a", "b"), ("c", "d"))
    assert oracles.path_distances(from_nested(nested, rooted=True), "topology")[0].tolist() == [0, 2, 4, 4]
    assert oracles.path_distances(from_nested(nested), "topology")[0].tolist() == [0, 2, 3, 3]


# Builders


def test_neighbour_joining_of_a_textbook_example():
    """The five-taxon example of the Wikipedia article "Neighbor joining": a 2, b 3, c 4, d 2, e 1; 3 and 2 inside."""
    d = [[0, 5, 9, 9, 8], [5, 0, 10, 10, 9], [9, 10, 0, 8, 7], [9, 10, 8, 0, 3], [8, 9, 7, 3, 0]]
    tree = oracles.neighbor_joining(d, "abcde")
    lengths = oracles.split_lengths(tree)
    assert {"".join(sorted(min(split, key=len))): length for split, length in lengths.items()} == pytest.approx(
        {"a": 2, "b": 3, "c": 4, "d": 2, "e": 1, "ab": 3, "de": 2}
    )
    assert not tree.rooted
    np.testing.assert_allclose(oracles.path_distances(tree), d)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_neighbour_joining_of_few_leaves_keeps_their_distances(n):
    d = np.array([[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]])[:n, :n]
    np.testing.assert_allclose(oracles.path_distances(oracles.neighbor_joining(d, "abc"[:n])), d)


@given(st.data())
def test_neighbour_joining_recovers_every_additive_tree(data):
    tree, d = data.draw(additive_distances(data.draw(trees(1, 8, unary=True))))
    found = oracles.neighbor_joining(d, tree.leaves)
    np.testing.assert_allclose(oracles.path_distances(found), d, atol=1e-9)
    assert oracles.splits(tree) <= oracles.splits(found)


def test_upgma_of_a_textbook_example():
    """The five bacteria of the Wikipedia article "UPGMA": heights 8.5, 11, 14 and 16.5."""
    d = [[0, 17, 21, 31, 23], [17, 0, 30, 34, 21], [21, 30, 0, 28, 39], [31, 34, 28, 0, 43], [23, 21, 39, 43, 0]]
    tree = oracles.upgma(d, "abcde")
    assert oracles.clades(tree) == {frozenset(clade) for clade in ("ab", "abe", "cd", "abcde")}
    assert tree.rooted
    ways = oracles.path_distances(tree)
    assert ways[0].tolist() == pytest.approx([0, 17, 33, 33, 22])
    assert ways[2, 3] == pytest.approx(28)


# Enumeration


@pytest.mark.parametrize(("n", "count"), [(1, 1), (2, 1), (3, 1), (4, 3), (5, 15), (6, 105), (7, 945)])
def test_there_are_as_many_unrooted_binary_trees_as_known(n, count):
    found = list(oracles.unrooted_binary_trees("abcdefg"[:n]))
    assert len(found) == len({frozenset(oracles.splits(tree)) for tree in found}) == count
    assert all(tree.is_binary and not tree.rooted and len(oracles.splits(tree)) == max(n - 3, 0) for tree in found)


@pytest.mark.parametrize(("n", "count"), [(1, 1), (2, 1), (3, 3), (4, 15), (5, 105), (6, 945)])
def test_there_are_as_many_rooted_binary_trees_as_known(n, count):
    found = list(oracles.rooted_binary_trees("abcdef"[:n]))
    assert len(found) == len({frozenset(oracles.clades(tree)) for tree in found}) == count


def test_a_tree_displays_what_it_resolves_alike():
    assert oracles.displays(TWO_CHERRIES, ONE_CHERRY)
    assert oracles.displays(TWO_CHERRIES, STAR)
    assert oracles.displays(TWO_CHERRIES, from_nested((("a", "b"), ("c", "e"))))
    assert not oracles.displays(ONE_CHERRY, TWO_CHERRIES)
    assert not oracles.displays(TWO_CHERRIES, OTHER)


def test_a_prior_of_k_free_leaves_is_displayed_by_as_many_trees_as_there_are_edges():
    quartet = from_nested((("a", "b"), ("c", "d")))
    assert len(list(oracles.trees_displaying([quartet]))) == 1
    assert len(list(oracles.trees_displaying([quartet], "e"))) == 5
    assert len(list(oracles.trees_displaying([quartet], "ef"))) == 5 * 7
    # clades {a, b, c} and {d, e, f}: 3 ways to resolve each
    assert len(list(oracles.trees_displaying([from_nested((("a", "b", "c"), ("d", "e", "f")))]))) == 9


def test_trees_that_agree_two_by_two_may_still_contradict_each_other():
    quartets = [from_nested(((x[0], x[1]), (x[2], x[3]))) for x in ("abcd", "abef", "cdef")]
    assert oracles.exists_tree_displaying(quartets)
    # ab|ce and ab|de and ... : each pair shares at most three leaves, but ab|cd, bc|de, and ad|be cannot all hold
    circle = [from_nested(((x[0], x[1]), (x[2], x[3]))) for x in ("abcd", "bcde", "adbe")]
    assert all(oracles.compatible(x, y) for x in circle for y in circle)
    assert not oracles.exists_tree_displaying(circle)


def test_conflicting_quartets_by_hand():
    assert oracles.conflicting_quartets(TWO_CHERRIES, OTHER) == oracles.all_quartets("abcde")
    assert oracles.conflicting_quartets(TWO_CHERRIES, ONE_CHERRY) == set()
    assert oracles.conflicting_quartets(from_nested((("a", "c"), ("b", "d"))), TWO_CHERRIES) == {frozenset("abcd")}


@given(st.data())
def test_two_trees_without_a_conflicting_quartet_are_displayed_by_a_tree(data):
    first = data.draw(trees(3, 5, names=data.draw(st.sampled_from(["abcde", "abcd", "abce", "abc"]))))
    second = data.draw(trees(3, 5, names=data.draw(st.sampled_from(["bcdef", "abcd", "acdf", "cef"]))))
    assert oracles.compatible(first, second) == oracles.exists_tree_displaying([first, second])


# Strategies


@given(st.data())
def test_priors_drawn_from_a_tree_are_displayed_by_it(data):
    tree = data.draw(trees(1, 8, binary=True))
    assert tree.is_binary
    for prior in [data.draw(priors_of(tree)), *data.draw(partition_and_backbones(tree))]:
        assert oracles.displays(tree, prior)
        assert prior.rooted == tree.rooted
        if prior.rooted:
            kept = {clade & set(prior.leaves) for clade in oracles.clades(tree)}
            assert oracles.clades(prior) <= kept


@given(st.data())
def test_a_rerooted_tree_has_the_same_splits(data):
    tree = data.draw(trees(1, 8, unary=True))
    assert oracles.splits(data.draw(rerootings(tree))) == oracles.splits(tree)


@given(distance_matrices(st.integers(1, 6)))
def test_distance_matrices_are_symmetric_finite_and_not_negative(distances):
    np.testing.assert_array_equal(distances, distances.T)
    assert not distances.diagonal().any()
    assert (distances >= 0).all()
    assert np.isfinite(distances).all()


# Losses


def test_losses_of_four_points_on_a_line():
    points = [[0.0], [1.0], [3.0], [7.0]]
    distances = oracles.euclidean(points)
    assert oracles.squared_euclidean(points)[1][3] == 36
    assert oracles.three_sums(distances, (0, 1, 2, 3)) == (5, 9, 9)
    right = oracles.quartet_loss(distances, [(0, 1, 2, 3)], margin=5.0, push_weight=10.0, mode="matched")
    assert right == (10, 0, 1, 0)  # 5 - 9 + 5
    wrong = oracles.quartet_loss(distances, [(0, 2, 1, 3), (0, 1, 2, 3)], margin=0.5, push_weight=10.0)
    assert wrong == (29, 4, 2.5, 0.5)  # |5 - 9|, 9 - 7 + .5
    assert oracles.observed_close([[0, 1, 5, 7], [1, 0, 8, 6], [5, 8, 0, 2], [7, 6, 2, 0]], [(2, 0, 1, 3)]) == 4
    assert oracles.deviation([[0, 2], [2, 0]], [[0, 1], [1, 0]], (1.0, 0.5)) == 0
    assert oracles.deviation([[0, 2], [2, 0]], [[0, 1], [1, 0]]) == 1
    assert oracles.triplet(points, [(0, 1, 2), (2, 3, 1)], margin=0.5) == (0 + 12.5) / 2
    assert oracles.quadruplet(points, [(1, 2, 0, 3)], 0.5, 50.0) == 3.5 + 5
    assert oracles.sparsity([1, 0, 1, 1]) == 0.75
    assert oracles.distance_to_identity([[1, -2], [0.5, 3]]) == 4.5
    assert oracles.rows_by_topology([(0, 1, 2, 3)], distances) == [(0, 1, 3, 2), (2, 3, 0, 1)]
    assert oracles.closest_pair((0, 2, 3), distances) == 3
