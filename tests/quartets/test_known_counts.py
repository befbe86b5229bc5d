from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celltreeqm.quartets import (
    QuartetClassCounts,
    count_known_quartets,
    partition_counts,
    quartet_class_counts,
)
from celltreeqm.trees import Tree, neighbor_joining, prior_at_level, prior_from_clades
from tests import oracles
from tests.strategies import partition_and_backbones, priors_of, rerootings, trees

SEVERAL = trees(4, 9).flatmap(lambda tree: st.tuples(st.just(tree), st.lists(priors_of(tree), min_size=1, max_size=4)))
NESTED = trees(5, 9).flatmap(lambda tree: st.tuples(st.just(tree), partition_and_backbones(tree)))


def names(n):
    return [f"cell{i}" for i in range(n)]


def balanced(levels):
    """A balanced binary tree of 2 ** levels leaves."""
    n = 2**levels
    return Tree([n + i // 2 for i in range(2 * n - 2)] + [-1], names(n), rooted=True)


def clades(*sizes):
    return prior_from_clades(np.repeat(np.arange(len(sizes)), sizes).tolist(), names(sum(sizes)))


@given(trees(1, 9, unary=True))
def test_one_tree_knows_what_it_resolves(tree):
    assert count_known_quartets(tree) == len(oracles.known_quartets(tree.leaves, tree))


@given(SEVERAL | NESTED)
def test_several_trees_know_the_union(case):
    tree, priors = case
    assert count_known_quartets(priors) == len(oracles.known_quartets(tree.leaves, priors))


@given(trees(4, 9, rooted=False).flatmap(lambda tree: st.tuples(st.just(tree), rerootings(tree))))
def test_rerooting_changes_nothing(case):
    tree, rerooted = case
    assert count_known_quartets(tree) == count_known_quartets(rerooted)


@given(SEVERAL | NESTED)
def test_classes_are_those_of_enumeration_and_sum_to_all(case):
    tree, priors = case
    counts = quartet_class_counts(priors, tree.leaves)
    expected = oracles.quartet_classes(tree.leaves, priors)
    assert counts == QuartetClassCounts(**{kind: len(found) for kind, found in expected.items()})
    assert counts.total == comb(tree.n_leaves, 4)


def test_without_a_prior_nothing_is_known():
    assert count_known_quartets(None) == 0
    assert quartet_class_counts(None, names(10)) == QuartetClassCounts(0, 0, 0, 210)


@given(st.lists(st.integers(1, 50), min_size=1, max_size=12))
def test_a_partition_knows_its_two_resolvable_types(sizes):
    counts = partition_counts(sizes)
    assert count_known_quartets(clades(*sizes)) == counts[2, 2, 0, 0] + counts[2, 1, 1, 0]


@pytest.mark.parametrize(("level", "known"), [(1, 246_016), (2, 455_040), (3, 323_008), (4, 165_600), (5, 635_376)])
def test_the_papers_balanced_tree_of_64_leaves(level, known):
    if level < 5:
        assert count_known_quartets(prior_at_level(balanced(6), level)) == known
    else:
        assert count_known_quartets(balanced(6)) == known


@pytest.mark.parametrize(("sizes", "known"), [((64, 38), 1_417_248), ((54, 10, 25, 13), 2_340_063)])
def test_the_papers_clades_of_the_small_embryo(sizes, known):
    assert count_known_quartets(clades(*sizes)) == known
    assert quartet_class_counts(clades(*sizes), names(102)).total == 4_249_575


# tbl:partial_labeled_known_fraction_stats: floor(kappa n) labelled leaves. The paper gives 44,224,635 as the total of
# "Mid", which is C(182, 4); its counts and proportions are those of 183 leaves, with 45,212,895 quartets.
PARTIAL_TABLE = [
    (102, 8, 1_663_740, 2_579_850, 5_985),
    (102, 5, 249_900, 3_749_775, 249_900),
    (102, 3, 27_405, 3_193_380, 1_028_790),
    (183, 8, 18_163_860, 26_982_990, 66_045),
    (183, 5, 2_672_670, 39_746_070, 2_794_155),
    (183, 3, 316_251, 33_887_268, 11_009_376),
]


@pytest.mark.parametrize(("n", "tenths", "known", "partial", "unknown"), PARTIAL_TABLE)
def test_the_papers_partially_labelled_embryos(n, tenths, known, partial, unknown):
    distances = np.random.default_rng(n).random((n, n))
    backbone = neighbor_joining(distances + distances.T - np.diag(2 * np.diag(distances)), names(n))
    counts = quartet_class_counts(backbone.restrict(names(n)[: tenths * n // 10]), names(n))
    assert counts == QuartetClassCounts(known, partial, 0, unknown)


def test_the_papers_total_for_mid_is_of_one_leaf_fewer_than_its_counts():
    assert comb(182, 4) == 44_224_635
    assert {known + partial + unknown for n, _, known, partial, unknown in PARTIAL_TABLE if n == 183} == {comb(183, 4)}


def test_counts_beyond_64_bits_are_exact():
    half = 100_000
    assert count_known_quartets(clades(half, half)) == comb(half, 2) ** 2


def test_disjoint_trees_and_many_trees_that_share_few_leaves_just_add_up():
    disjoint = [balanced(3).rename({name: f"{name} of {i}" for name in names(8)}) for i in range(20)]
    everything = prior_from_clades({name: i for i, tree in enumerate(disjoint) for name in tree.leaves})
    counts = partition_counts([8] * 20)
    expected = counts[2, 2, 0, 0] + counts[2, 1, 1, 0] + 20 * comb(8, 4)
    assert count_known_quartets(disjoint) == 20 * comb(8, 4)
    assert count_known_quartets([everything, *disjoint]) == expected


def test_a_tree_that_is_given_again_and_again_counts_once():
    assert count_known_quartets([balanced(4)] * 12) == comb(16, 4)


def test_trees_that_contradict_each_other_are_refused():
    one, two = Tree([4, 4, 5, 5, 5, -1], list("abcd")), Tree([4, 5, 4, 5, 5, -1], list("abcd"))
    with pytest.raises(ValueError, match="contradict each other"):
        count_known_quartets([one, two])


def test_prior_leaves_without_a_row_are_named():
    with pytest.raises(ValueError, match=r"2 leaves of the prior have no row in the data: 'cell2', 'cell3'"):
        quartet_class_counts(clades(2, 2), ["cell0", "cell1", "other"])


def test_a_row_that_is_named_twice_is_refused():
    with pytest.raises(ValueError, match="leaves names 'a' twice"):
        quartet_class_counts(None, ["a", "b", "a"])
