import time
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform
from scipy.stats import chisquare

from celltreeqm.quartets import (
    KnownQuartets,
    count_known_quartets,
    quartet_topology_in,
    rank_quartets,
    sample_known_quartets,
)
from celltreeqm.trees import Tree, common_refinement, prior_at_level, prior_from_clades, upgma
from tests import oracles
from tests.strategies import partition_and_backbones, priors_of, trees

SEVERAL = trees(4, 9).flatmap(lambda tree: st.tuples(st.just(tree), st.lists(priors_of(tree), min_size=1, max_size=4)))
NESTED = trees(5, 9).flatmap(lambda tree: st.tuples(st.just(tree), partition_and_backbones(tree)))


def names(n):
    return [f"cell{i}" for i in range(n)]


def caterpillar(n, leaves=None):
    nodes = list(range(n, 2 * n - 1))
    return Tree([n, *nodes, *nodes[1:], -1], leaves or names(n), rooted=True)


def orders(four, topology):
    """The eight orders of four names that make a topology read ab|cd."""
    first, second = (sorted(pair) for pair in topology)
    assert set(first) | set(second) == four
    for x, y in ((first, second), (second, first)):
        for a, b in (x, x[::-1]):
            for c, d in (y, y[::-1]):
                yield a, b, c, d


def every_draw(known):
    """Each draw that can come out, once for every number that makes it come out."""
    numbers = np.arange(known._claims.total)
    rows = known._claims.look_up(numbers)
    return rows[known._is_first(numbers, rows)]


@given(trees(4, 9, unary=True).map(lambda tree: (tree, [tree])) | SEVERAL | NESTED)
def test_every_known_quartet_comes_in_each_of_its_eight_orders_from_exactly_one_number(case):
    """The proof of exact uniformity: uniform numbers are mapped onto known quartets with equal multiplicity."""
    tree, priors = case
    known = KnownQuartets(priors, tree.leaves)
    drawn = Counter(tuple(tree.leaves[i] for i in row) for row in every_draw(known).tolist())
    expected = oracles.known_quartets(tree.leaves, priors)
    assert drawn == Counter(order for four, topology in expected.items() for order in orders(four, topology))
    assert known.count == len(expected)


@given(st.data())
def test_trees_of_the_same_leaves_are_drawn_from_as_one(data):
    source = data.draw(trees(5, 9))
    parts = data.draw(st.lists(st.sets(st.integers(source.n_leaves, source.n_nodes - 1)), min_size=1, max_size=4))
    priors = [source, *(source.collapse(sorted(part)) for part in parts)]
    if not count_known_quartets(source):
        return
    for several in (priors, priors[::-1]):
        drawn = KnownQuartets(several, source.leaves).sample(30, seed=0)
        assert (
            drawn.leaves == KnownQuartets(common_refinement(several), source.leaves).sample(30, seed=0).leaves
        ).all()


SPARSE = prior_from_clades([0, 0, *range(1, 29)], names(30))
CATERPILLAR = caterpillar(12)
POLYTOMIES = Tree([9, 9, 9, 10, 10, 10, 11, 11, 12, 10, 12, 12, -1], names(9), rooted=True)
OVERLAPPING = [
    caterpillar(9).restrict(names(6)),
    caterpillar(9).restrict(names(9)[2:]),
    caterpillar(9).collapse([11, 12, 14]),
]


@pytest.mark.parametrize(
    "prior",
    [SPARSE, CATERPILLAR, POLYTOMIES, OVERLAPPING],
    ids=["sparse", "caterpillar", "polytomies", "overlapping"],
)
def test_draws_are_uniform_over_quartets_and_over_their_orders(prior):
    known = KnownQuartets(prior)
    quartets = known.sample(400_000, seed=7)
    _, ranks = np.unique(rank_quartets(quartets.leaves), return_counts=True)
    assert len(ranks) == known.count
    assert chisquare(ranks).pvalue > 1e-4
    a, b, c, d = quartets.leaves.T
    for fair in (a < b, c < d, np.minimum(a, b) < np.minimum(c, d)):
        assert abs(fair.mean() - 0.5) < 5 * 0.5 / np.sqrt(len(fair))
    assert (quartets.topology == 0).all()


@pytest.mark.slow
def test_a_million_take_less_than_50_milliseconds_however_few_the_prior_knows():
    embryo = upgma(squareform(pdist(np.random.default_rng(0).normal(size=(295, 5)))), names(295))
    least = []
    for prior in (prior_at_level(embryo, 2), prior_from_clades([0, 0, *range(1, 299)], names(300))):
        known, times = KnownQuartets(prior), []
        for seed in range(6):
            start = time.process_time()
            known.sample(1_000_000, seed=seed)
            times.append(time.process_time() - start)
        least.append(min(times))
    common, rare = least
    assert common < 0.05  # twice what it takes
    assert rare < 1.5 * common


@settings(max_examples=50)
@given(trees(6, 60, unary=True), st.integers(0, 2**32))
def test_known_quartets_never_contradict_the_tree(tree, seed):
    if KnownQuartets(tree).count:
        quartets = sample_known_quartets(tree, 200, seed=seed)
        assert (quartet_topology_in(tree, quartets.leaves) == quartets.topology).all()


def test_rows_are_those_of_the_data():
    prior = caterpillar(8)
    data = ["x", *reversed(prior.leaves), "y"]
    quartets = sample_known_quartets(prior, 5000, leaves=data, seed=0)
    assert set(np.unique(quartets.leaves).tolist()) == set(range(1, 9))
    assert (quartet_topology_in(prior, quartets.leaves, leaves=data) == 0).all()


def test_rows_of_several_trees_are_in_the_order_of_first_mention():
    known = KnownQuartets([caterpillar(4), caterpillar(5, ["z", "cell2", "cell0", "y", "x"])])
    assert known.leaves == ("cell0", "cell1", "cell2", "cell3", "z", "y", "x")
    assert repr(known) == "KnownQuartets(6 of 35 quartets of 7 leaves)"


def test_the_same_seed_draws_the_same_and_another_draws_others():
    known = KnownQuartets(OVERLAPPING)
    first = known.sample(1000, seed=3).leaves
    assert (first == known.sample(1000, seed=3).leaves).all()
    assert (first == sample_known_quartets(OVERLAPPING, 1000, seed=np.random.default_rng(3)).leaves).all()
    assert (first != known.sample(1000, seed=4).leaves).any()
    generator = np.random.default_rng(3)
    assert (known.sample(1000, seed=generator).leaves != known.sample(1000, seed=generator).leaves).any()


def test_a_large_tree_is_drawn_from_without_overflow():
    n = 10_000
    tree = caterpillar(n)
    quartets = sample_known_quartets(tree, 20_000, seed=1)
    assert (quartet_topology_in(tree, quartets.leaves) == 0).all()
    # Of ordered quartets of a caterpillar, all four places are uniform: each leaf is equally often drawn.
    counts, _ = np.histogram(quartets.leaves, bins=20, range=(0, n))
    assert chisquare(counts).pvalue > 1e-4


def test_the_largest_tree_that_can_be_numbered_is_drawn_from_without_overflow():
    tree = caterpillar(72_529)
    known = KnownQuartets(tree)
    assert 2**63 - known._claims.total < 2**42
    last = known._claims.look_up(np.array([0, known._claims.total - 1]))
    assert (quartet_topology_in(tree, last) == 0).all()
    assert (quartet_topology_in(tree, known.sample(20_000, seed=1).leaves) == 0).all()


def test_large_clades_are_drawn_from_without_overflow():
    sizes = [9000, 600, 300, 90, 9, 1]
    label = np.repeat(np.arange(6), sizes)
    quartets = sample_known_quartets(prior_from_clades(label.tolist(), names(10_000)), 20_000, seed=1)
    a, b, c, d = label[quartets.leaves].T
    assert ((a == b) | (c == d)).all()
    assert not ((a == c) | (a == d) | (b == c) | (b == d)).any()


def test_no_draws_are_no_quartets():
    assert len(sample_known_quartets(CATERPILLAR, 0, seed=0)) == 0


def test_a_pair_of_draws_can_be_the_same_quartet_because_draws_are_with_replacement():
    assert len(set(map(frozenset, sample_known_quartets(caterpillar(4), 10, seed=0).leaves.tolist()))) == 1


@pytest.mark.parametrize(
    "prior",
    [
        prior_from_clades([0] * 9, names(9)),
        caterpillar(3),
        Tree([-1], ["a"]),
        [prior_from_clades([0, 0, 0], names(3)), Tree([4] * 4 + [-1], names(4))],
    ],
)
def test_a_prior_that_knows_nothing_says_so(prior):
    known = KnownQuartets(prior)
    assert known.count == 0
    assert len(known.sample(0)) == 0
    with pytest.raises(ValueError, match="knows none of the quartets of its . leaves"):
        known.sample(1)


def test_bad_input_gets_a_sentence():
    with pytest.raises(ValueError, match=r"3 leaves of the prior have no row in the data: 'cell5', 'cell6', 'cell7'"):
        KnownQuartets(caterpillar(8), names(5))
    with pytest.raises(ValueError, match="-1 quartets were asked for"):
        KnownQuartets(CATERPILLAR).sample(-1)
    with pytest.raises(ValueError, match="prior is None; without a tree no quartet is known"):
        KnownQuartets(None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="contradict each other"):
        KnownQuartets([Tree([4, 4, 5, 5, 5, -1], list("abcd")), Tree([4, 5, 4, 5, 5, -1], list("abcd"))])
    with pytest.raises(ValueError, match=r"resolve 1.71e\+18 quartets; more than 1.15e\+18.*64 bits"):
        KnownQuartets(caterpillar(80_000))
