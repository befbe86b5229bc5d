"""Neighbour joining, UPGMA and Ward, with and without a prior."""

from __future__ import annotations

import time
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist, squareform

from celltreeqm.trees import (
    Tree,
    neighbor_joining,
    prior_at_level,
    prior_from_clades,
    robinson_foulds,
    upgma,
    ward,
)
from celltreeqm.trees import _agglomeration as agglomeration
from celltreeqm.trees._builders import _ultrametric
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

BUILDERS = [neighbor_joining, upgma, ward]
builders = pytest.mark.parametrize("build", BUILDERS)


def names(n: int) -> list[str]:
    return [f"x{i}" for i in range(n)]


def random_distances(n: int, seed: int = 0, dimensions: int = 5) -> np.ndarray:
    return squareform(pdist(np.random.default_rng(seed).normal(size=(n, dimensions))))


def random_tree(n: int, seed: int = 0) -> Tree:
    rng = np.random.default_rng(seed)
    pool: list = names(n)
    while len(pool) > 1:
        i, j = sorted(rng.choice(len(pool), 2, replace=False))
        b, a = pool.pop(j), pool.pop(i)
        pool.append((a, b))
    return from_nested(pool[0], names(n), rooted=True)


# Without a prior


@given(st.data())
def test_neighbour_joining_recovers_every_additive_tree(data):
    tree, d = data.draw(additive_distances(data.draw(trees(2, 12, rooted=False, binary=True, unary=False))))
    built = neighbor_joining(d, tree.leaves)
    np.testing.assert_allclose(built.distances(), d, atol=1e-9 * d.max())
    assert oracles.robinson_foulds(built, tree) == 0


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [4, 5, 17, 60])
def test_neighbour_joining_is_the_textbook_s_on_tie_free_input(n, seed):
    d = random_distances(n, seed)
    built, expected = neighbor_joining(d, names(n)), oracles.neighbor_joining(d, names(n))
    assert oracles.splits(built) == oracles.splits(expected)
    np.testing.assert_allclose(built.distances(), expected.distances(), atol=1e-9)


@pytest.mark.parametrize("kind", ["points", "noise", "heavy", "tree"])
def test_neighbour_joining_is_scikit_bio_s_where_lists_run_out(kind, monkeypatch):
    skbio = pytest.importorskip("skbio")
    rng, n = np.random.default_rng(1), 150
    x = rng.normal(size=(n, 5 if kind == "points" else 300))
    if kind == "heavy":
        x *= np.exp(rng.normal(size=(n, 1)))
    if kind == "tree":
        x = x.cumsum(axis=0)
    d = squareform(pdist(x))
    theirs = skbio.tree.nj(skbio.DistanceMatrix(d, names(n)))
    sides = [frozenset(tip.name for tip in node.tips()) for node in theirs.non_tips()]
    expected = {frozenset([side, frozenset(names(n)) - side]) for side in sides if 1 < len(side) < n - 1}
    for most in (1, 3, agglomeration._NEAREST):
        monkeypatch.setattr(agglomeration, "_NEAREST", most)
        assert oracles.splits(neighbor_joining(d, names(n))) == expected


@given(st.integers(2, 9).flatmap(distance_matrices))
def test_upgma_is_the_textbook_s_where_nothing_ties(d):
    n = len(d)
    d = d + np.abs(np.subtract.outer(np.arange(n), np.arange(n))) * 1e-3 * (
        1 + np.add.outer(np.arange(n), np.arange(n)) ** 2
    )
    built, expected = upgma(d, names(n)), oracles.upgma(d, names(n))
    assert oracles.clades(built) == oracles.clades(expected)
    np.testing.assert_allclose(built.distances(), expected.distances(), atol=1e-9 * d.max())


@pytest.mark.parametrize(("rule", "method"), [("average", "average"), ("ward", "ward")])
def test_the_engine_without_a_prior_is_scipy_s_linkage(rule, method):
    n = 80
    d = random_distances(n)
    joins = agglomeration.join_clusters(d.copy(), names(n), (), rule)
    table = linkage(squareform(d, checks=False), method=method)
    np.testing.assert_allclose(joins.distance, table[:, 2])
    assert _ultrametric(joins.pairs, joins.distance, names(n)).same_topology(
        upgma(d, names(n)) if rule == "average" else ward(d, names(n))
    )


@builders
@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_leaves_make_the_only_tree_there_is(build, n):
    d = np.array([[0, 2, 4], [2, 0, 4], [4, 4, 0]], dtype=float)[:n, :n]
    tree = build(d, names(n))
    assert tree.leaves == tuple(names(n))
    assert tree.rooted is (build is not neighbor_joining)
    if build is not ward or n < 3:
        np.testing.assert_allclose(tree.distances(), d)


@builders
@given(st.integers(2, 8).flatmap(distance_matrices))
def test_ties_and_duplicate_rows_are_decided_the_same_way_every_time(build, d):
    first, again = build(d, names(len(d))), build(d.copy(order="F"), names(len(d)))
    np.testing.assert_array_equal(first.parent, again.parent)
    np.testing.assert_array_equal(first.lengths, again.lengths)


@builders
def test_relabelling_leaves_relabels_the_tree(build):
    d, order = random_distances(30), np.random.default_rng(3).permutation(30)
    tree = build(d, names(30))
    assert build(d[np.ix_(order, order)], [names(30)[i] for i in order]).same_topology(tree)


def test_the_given_matrix_is_left_alone_and_may_be_a_data_frame():
    d = random_distances(12)
    frame = pd.DataFrame(d, index=names(12))
    assert neighbor_joining(frame) == neighbor_joining(d, names(12))
    np.testing.assert_array_equal(d, random_distances(12))


def test_all_distances_zero_make_some_tree():
    for build in BUILDERS:
        assert build(np.zeros((6, 6)), names(6)).n_leaves == 6


def test_a_later_join_is_never_lower_than_an_earlier_one_under_a_prior():
    d = random_distances(20)
    for build in (upgma, ward):
        tree = build(d, names(20), prior=prior_at_level(random_tree(20), 2))
        assert (tree.lengths >= 0).all()
        assert np.ptp(tree.depths()[:20]) < 1e-9


# Under a prior


def displays(tree: Tree, prior: Tree) -> bool:
    return oracles.splits(prior) <= oracles.restrict_splits(oracles.splits(tree), prior.leaves)


@builders
@given(st.data())
def test_the_prior_is_always_displayed(build, data):
    truth = data.draw(trees(2, 12, binary=True, unary=False))
    prior = data.draw(priors_of(truth))
    d = data.draw(distance_matrices(truth.n_leaves))
    tree = build(d, truth.leaves, prior=prior)
    assert displays(tree, prior)
    assert tree.is_binary
    assert tree.leaves == truth.leaves


@builders
@given(st.data())
def test_a_partition_with_backbones_never_dead_ends(build, data):
    truth = data.draw(trees(4, 14, binary=True, unary=False))
    priors = data.draw(partition_and_backbones(truth))
    tree = build(data.draw(distance_matrices(truth.n_leaves)), truth.leaves, prior=priors)
    assert all(displays(tree, prior) for prior in priors)


@pytest.mark.parametrize("seed", range(30))
def test_many_traced_clones_and_partial_clades_never_dead_end(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 30))
    truth = random_tree(n, seed)
    labels = [label if rng.random() > 0.3 else None for label in truth.clade_labels(int(rng.integers(1, 4))).tolist()]
    labels[0] = 0
    parts = np.array_split(rng.permutation(n), int(rng.integers(2, 5)))
    priors = [truth.restrict([truth.leaves[i] for i in part]) for part in parts]
    priors.append(prior_from_clades(labels, truth.leaves))
    tree = neighbor_joining(random_distances(n, seed), names(n), prior=priors)
    assert all(displays(tree, prior) for prior in priors)


def clades_and_clones_of(n: int, clones: int, overlapping: bool, seed: int) -> tuple[Tree, list[Tree]]:
    rng = np.random.default_rng(seed)
    truth = random_tree(n, seed)
    if overlapping:
        parts = [rng.choice(n, int(rng.integers(4, n // 2)), replace=False) for _ in range(clones)]
    else:
        parts = np.array_split(rng.permutation(n), clones + 1)[:clones]
    clones_apart = [truth.restrict([truth.leaves[i] for i in part]) for part in parts]
    return truth, [prior_at_level(truth, int(rng.integers(1, 5))), *clones_apart]


SEARCH_FAILS = [(26, 6, True, 22), (40, 4, False, 6), (66, 6, True, 18)]


@pytest.mark.parametrize(("n", "clones", "overlapping", "seed"), SEARCH_FAILS)
def test_clades_and_clones_of_one_lineage_never_dead_end_where_the_search_does(n, clones, overlapping, seed):
    """Second thoughts find no way at the start (the first two) or later on (the third); roots or the kept way do."""
    truth, priors = clades_and_clones_of(n, clones, overlapping, seed)
    tree = neighbor_joining(random_distances(n, seed), truth.leaves, prior=priors)
    assert all(displays(tree, prior) for prior in priors)


@pytest.mark.slow
@pytest.mark.parametrize("overlapping", [False, True])
def test_clades_and_clones_of_large_lineages_never_dead_end(overlapping):
    for seed in range(40):
        n = 60 + seed
        truth, priors = clades_and_clones_of(n, 2 + seed % 5, overlapping, seed)
        tree = BUILDERS[seed % 3](random_distances(n, seed), truth.leaves, prior=priors)
        assert all(displays(tree, prior) for prior in priors)


@builders
@given(st.data())
def test_rerooting_a_prior_changes_nothing(build, data):
    truth = data.draw(trees(4, 10, binary=True, unary=False))
    prior = data.draw(priors_of(truth))
    d = data.draw(distance_matrices(truth.n_leaves))
    other = data.draw(rerootings(prior))
    assert build(d, truth.leaves, prior=other) == build(d, truth.leaves, prior=prior)


@builders
def test_a_fully_resolved_prior_is_returned(build):
    truth = random_tree(40)
    assert build(random_distances(40), names(40), prior=truth).unroot().same_topology(truth.unroot())


@builders
def test_a_prior_that_says_nothing_changes_nothing(build):
    d, star = random_distances(25), Tree([25] * 25 + [-1], names(25))
    plain = build(d, names(25))
    assert build(d, names(25), prior=star) == plain
    assert build(d, names(25), prior=[]) == plain
    assert build(d, names(25), prior=plain.restrict(names(3))) == plain


@builders
def test_the_order_of_several_priors_does_not_matter(build):
    truth = random_tree(30)
    priors = [prior_at_level(truth, 2), truth.restrict(names(12)), truth.restrict(names(30)[10:20])]
    d = random_distances(30)
    assert build(d, names(30), prior=priors) == build(d, names(30), prior=priors[::-1])


def test_two_priors_allow_exactly_what_enumeration_allows():
    """With two overlapping trees the builder finds the tree that the distances call for if it displays both."""
    leaves = names(6)
    rng = np.random.default_rng(5)
    for seed in range(40):
        truth = random_tree(6, seed)
        some, others = rng.choice(6, 4, replace=False), rng.choice(6, 5, replace=False)
        priors = [truth.restrict([leaves[i] for i in rows]) for rows in (some, others)]
        options = list(oracles.trees_displaying(priors, leaves))
        target = options[int(rng.integers(len(options)))]
        d = oracles.path_distances(target, "topology")
        order = [target.leaves.index(name) for name in leaves]
        built = neighbor_joining(d[np.ix_(order, order)], leaves, prior=priors)
        assert oracles.splits(built) == oracles.splits(target)


def test_the_prior_helps_where_it_knows():
    truth = random_tree(60)
    d = random_distances(60)
    plain, helped = (
        robinson_foulds(neighbor_joining(d, names(60), prior=p), truth) for p in (None, prior_at_level(truth, 2))
    )
    assert helped < plain


@builders
def test_priors_that_contradict_each_other_are_refused_with_a_quartet(build):
    ab, ac = from_nested((("a", "b"), ("c", "d"))), from_nested((("a", "c"), ("b", "d")))
    with pytest.raises(
        ValueError, match=r"trees 1 and 2 contradict .* 'a', 'b' \| 'c', 'd' and .* 'a', 'c' \| 'b', 'd'"
    ):
        build(random_distances(4), list("abcd"), prior=[ab, ac])


def test_priors_that_contradict_each_other_only_with_a_third_are_refused():
    clades = from_nested((("a", "p"), ("b", "q"), ("c", "r"), ("d", "s")))
    one, two = from_nested((("a", "b"), ("c", "d"))), from_nested((("p", "r"), ("q", "s")))
    neighbor_joining(random_distances(8), list("abcdpqrs"), prior=[one, two])
    with pytest.raises(ValueError, match="Three prior trees contradict each other taken together"):
        neighbor_joining(random_distances(8), list("abcdpqrs"), prior=[one, clades, two])


def test_overlapping_trees_that_no_tree_displays_are_refused_with_a_sentence():
    """Any two of these quartets agree, the four do not (checked by enumeration)."""
    quartets = [(("a", "b"), ("c", "e")), (("b", "c"), ("d", "e")), (("c", "d"), ("a", "e")), (("a", "d"), ("b", "e"))]
    for i in range(len(quartets)):
        for j in range(i):
            assert oracles.compatible(from_nested(quartets[i]), from_nested(quartets[j]))
    priors = [from_nested(quartet) for quartet in quartets]
    assert not oracles.exists_tree_displaying(priors)
    with pytest.raises(ValueError, match="No way was found to satisfy the 4 prior trees together"):
        neighbor_joining(random_distances(5), list("abcde"), prior=priors)


@builders
def test_leaves_of_the_prior_without_data_are_named(build):
    with pytest.raises(ValueError, match=r"2 leaves of the prior have no row in the data: 'x4', 'x5'\. Drop them with"):
        build(random_distances(4), names(4), prior=random_tree(6))


def test_something_that_is_no_prior_is_refused():
    with pytest.raises(TypeError, match="A prior of type str was given"):
        neighbor_joining(random_distances(4), names(4), prior=["(a,b);"])


# Speed and size


@pytest.mark.slow
def test_ten_thousand_leaves_take_seconds_and_a_copy_of_the_matrix():
    d = squareform(pdist(np.random.default_rng(0).normal(size=(10_000, 20)).astype(np.float32)))
    neighbor_joining(d[:8, :8], names(8))
    start = time.process_time()
    tree = neighbor_joining(d, names(10_000))
    assert tree.n_leaves == 10_000
    assert time.process_time() - start < 25  # five times what it takes


@pytest.mark.parametrize("kind", ["noise", "heavy"])
def test_data_without_structure_do_not_make_it_slow(kind):
    """Rows whose lists run out would cost a pass each; structure must not matter much."""
    rng = np.random.default_rng(0)
    n = 800
    structured = rng.normal(size=(n, 50)).cumsum(axis=0)
    loose = rng.normal(size=(n, 300)) * (np.exp(rng.normal(size=(n, 1))) if kind == "heavy" else 1)
    times = []
    for x in (structured, loose):
        d = squareform(pdist(x))
        neighbor_joining(d[:8, :8], names(8))
        start = time.process_time()
        neighbor_joining(d, names(n))
        times.append(time.process_time() - start)
    assert times[1] < 20 * times[0] + 0.1


def test_memory_is_one_copy_of_the_matrix():
    d = random_distances(1500)
    neighbor_joining(d[:8, :8], names(8))
    tracemalloc.start()
    neighbor_joining(d, names(1500))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.4 * d.nbytes


@settings(max_examples=25)
@given(st.data())
def test_every_builder_gives_leaves_in_the_order_given(data):
    n = data.draw(st.integers(2, 9))
    order = data.draw(st.permutations(names(n)))
    d = data.draw(distance_matrices(n))
    for build in BUILDERS:
        assert build(d, order).leaves == tuple(order)
