"""Rooting never changes the unrooted tree, and puts the root where midpoint, outgroup and prior say."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from celltreeqm.trees import Tree
from celltreeqm.trees._rooting import root_at, root_at_midpoint, root_by_outgroup, root_by_prior
from tests.oracles import from_nested, leaves_below_each, path_distances
from tests.strategies import partition_and_backbones, priors_of, trees

SOME = settings(max_examples=60, deadline=None)


def clades(tree: Tree) -> set[frozenset[str]]:
    return {below for below in leaves_below_each(tree) if len(below) > 1}


def displays_rooted(tree: Tree, prior: Tree) -> bool:
    """Whether every clade of the prior is a clade of the tree among the prior's leaves."""
    inside = set(prior.leaves)
    return {clade & inside for clade in clades(tree)} >= clades(prior)


def support_of_splits(tree: Tree) -> dict[frozenset[frozenset[str]], set[float]]:
    """The support that the edges of each non-trivial split have, NaN left out."""
    found: dict[frozenset[frozenset[str]], set[float]] = {}
    for below, held in zip(leaves_below_each(tree)[:-1], tree.support[:-1].tolist(), strict=True):
        if 1 < len(below) < tree.n_leaves - 1 and not np.isnan(held):
            found.setdefault(frozenset([below, frozenset(tree.leaves) - below]), set()).add(held)
    return found


def is_well_rooted(tree: Tree) -> bool:
    return tree.rooted and (tree.degree[-1] == 2 or tree.n_leaves == 1)


@given(st.data())
@SOME
def test_rooting_anywhere_leaves_distances_and_splits_as_they_are(data):
    tree = data.draw(trees(2, 10, lengths="positive", unary=True, node_names=True))
    edges = np.flatnonzero(tree.n_below < tree.n_leaves).tolist()
    node, share = data.draw(st.sampled_from(edges)), data.draw(st.sampled_from([None, 0.0, 0.3, 1.0]))
    rooted = root_at(tree, node, distance_above=None if share is None else share * tree.lengths[node])
    assert is_well_rooted(rooted)
    assert rooted.leaves == tree.leaves
    np.testing.assert_allclose(path_distances(rooted), path_distances(tree), atol=1e-12)
    assert rooted.unroot() == Tree(tree.parent, tree.leaves, tree.lengths).unroot()
    assert frozenset(tree.leaves_below(node)) in leaves_below_each(rooted)[: rooted.root]
    below, other = rooted.children[rooted.root]
    at_root = {frozenset(rooted.leaves_below(below)), frozenset(rooted.leaves_below(other))}
    assert frozenset(tree.leaves_below(node)) in at_root


def test_the_root_is_as_far_above_the_node_as_asked():
    tree = from_nested((("a", "b"), "c", "d"))
    tree = Tree(tree.parent, tree.leaves, [1.0, 2.0, 3.0, 4.0, 5.0, 0.0])
    rooted = root_at(tree, 4, distance_above=2.0)
    np.testing.assert_allclose(rooted.depths()[:4], [3.0, 4.0, 6.0, 7.0])


def test_an_old_root_of_two_makes_one_edge():
    tree = from_nested((("a", "b"), ("c", "d")), rooted=True)
    tree = Tree(tree.parent, tree.leaves, [1.0, 1.0, 1.0, 1.0, 2.0, 4.0, 0.0], rooted=True)
    assert set(root_at(tree, 4).lengths[4:6]) == {3.0}
    assert set(root_at(tree, 4, distance_above=5.0).lengths[4:6]) == {5.0, 1.0}
    assert root_at(tree, 0).n_nodes == 7


@given(st.data())
@SOME
def test_support_goes_with_the_split(data):
    tree = data.draw(trees(4, 10, support=True))
    assume(tree.support is not None)
    held = tree.support.copy()
    if not np.isnan(held).all() and tree.degree[-1] == 2:  # two edges that make one split hold one support
        held[np.flatnonzero(tree.parent == tree.root)] = np.nan
        tree = Tree(tree.parent, tree.leaves, None, None, held, rooted=tree.rooted)
    node = data.draw(st.sampled_from(np.flatnonzero(tree.n_below < tree.n_leaves).tolist()))
    rooted = root_at(tree, node)
    assert support_of_splits(rooted) == support_of_splits(tree)


def test_node_names_stay_with_their_nodes():
    tree = from_nested(((("a", "b"), "c"), "d", "e"))
    tree = Tree(tree.parent, tree.leaves, None, ["ab", "abc", "all"])
    rooted = root_at(tree, 0)
    names = {rooted.name(node): set(rooted.leaves_below(node)) for node in range(5, rooted.n_nodes)}
    assert names == {None: set("abcde"), "ab": set("bcde"), "abc": set("cde"), "all": set("de")}


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda tree: root_at(tree, 7), "this tree has nodes 0 to 5"),
        (lambda tree: root_at(tree, 5), "All leaves are below node 5"),
        (lambda tree: root_at(tree, 0, distance_above=1.5), "edge above node 0 has length 1"),
        (lambda tree: root_at(Tree(tree.parent, tree.leaves), 0, distance_above=0.1), "no branch lengths"),
        (lambda tree: root_by_outgroup(tree, ["a", "x"]), "no leaf of the tree: 'x'"),
        (lambda tree: root_by_outgroup(tree, []), "has 0 of the tree's 4"),
        (lambda tree: root_by_outgroup(tree, list("abcd")), "has 4 of the tree's 4"),
        (lambda tree: root_by_outgroup(tree, ["a", "c"]), "also holds 'd'"),
        (lambda tree: root_at(Tree([-1], ["a"]), 0), "All leaves are below"),
    ],
)
def test_errors_say_what_is_wrong(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(from_nested((("a", "b"), "c", "d")).with_unit_lengths())


# Midpoint


@given(trees(1, 10, lengths="positive", unary=True))
@SOME
def test_the_midpoint_is_half_the_diameter_from_the_furthest_leaves(tree):
    rooted = root_at_midpoint(tree)
    before = path_distances(tree)
    assert is_well_rooted(rooted)
    np.testing.assert_allclose(path_distances(rooted), before, atol=1e-12)
    depths = rooted.depths()[: tree.n_leaves]
    assert np.isclose(depths.max(), before.max() / 2)
    assert sum(np.isclose(depths, depths.max())) >= min(2, tree.n_leaves)


@given(trees(1, 10, lengths="any", unary=True, names="any"))
@SOME
def test_the_midpoint_of_a_midpoint_is_itself(tree):
    rooted = root_at_midpoint(tree)
    assert root_at_midpoint(rooted) == rooted


@given(st.data())
@SOME
def test_neither_the_old_root_nor_the_order_of_leaves_moves_the_midpoint(data):
    tree = data.draw(trees(3, 9, lengths=data.draw(st.sampled_from([None, "positive"]))))
    node = data.draw(st.sampled_from(np.flatnonzero(tree.n_below < tree.n_leaves).tolist()))
    other = root_at(tree, node).reorder(data.draw(st.permutations(tree.leaves)))
    assert root_at_midpoint(other) == root_at_midpoint(tree)


@pytest.mark.parametrize("seed", range(6))
def test_the_midpoint_is_scikit_bios(seed):
    skbio = pytest.importorskip("skbio")
    rng = np.random.default_rng(seed)
    names = [f"t{i}" for i in range(40)]
    nested = list(names)
    while len(nested) > 3:
        picked = [nested.pop(rng.integers(len(nested))) for _ in range(2)]
        nested.append(tuple(picked))
    tree = from_nested(tuple(nested), names)
    tree = Tree(tree.parent, names, rng.exponential(size=tree.n_nodes) + 0.01)
    text = names + [""] * (tree.n_nodes - tree.n_leaves)
    for node in range(tree.n_leaves, tree.n_nodes):
        text[node] = "(" + ",".join(f"{text[x]}:{float(tree.lengths[x])!r}" for x in tree.children[node]) + ")"
    theirs = skbio.TreeNode.read(io.StringIO(text[-1] + ";")).root_at_midpoint()
    expected = {frozenset(tip.name for tip in node.tips()) for node in theirs.non_tips()} | {frozenset(names)}
    assert clades(root_at_midpoint(tree)) == expected


def test_negative_lengths_count_as_zero_and_are_kept():
    tree = Tree([4, 4, 5, 5, 5, -1], ["a", "b", "c", "d"], [-9, 1, 1, 4, -1, 0])
    rooted = root_at_midpoint(tree)
    assert rooted.clades(1) == (("a", "b", "c"), ("d",))
    np.testing.assert_allclose(path_distances(rooted), path_distances(tree))
    assert rooted.lengths[3] == 2.5


def test_a_tree_without_lengths_is_measured_in_edges():
    caterpillar = from_nested((((((("a", "b"), "c"), "d"), "e"), "f"), "g", "h"))
    rooted = root_at_midpoint(caterpillar)
    assert rooted.lengths is None
    assert clades(rooted) >= {frozenset("abcd"), frozenset("efgh")}


def test_a_caterpillar_of_many_leaves_is_rooted():
    n = 20_000
    parent = np.concatenate([[n], np.arange(n, 2 * n - 1), np.arange(n + 1, 2 * n - 1), [-1]])
    tree = Tree(parent, [f"t{i}" for i in range(n)], np.ones(2 * n - 1), rooted=True)
    assert abs(root_at_midpoint(tree).n_below[:-1].max() - n / 2) <= 1


# Outgroup


@given(st.data())
@SOME
def test_the_outgroup_is_a_clade_at_the_root(data):
    tree = data.draw(trees(2, 10, lengths=data.draw(st.sampled_from([None, "positive"])), unary=True))
    node = data.draw(st.sampled_from(np.flatnonzero(tree.n_below < tree.n_leaves).tolist()))
    inside = set(tree.leaves_below(node))
    outgroup = inside if data.draw(st.booleans()) else set(tree.leaves) - inside
    rooted = root_by_outgroup(tree, outgroup)
    assert is_well_rooted(rooted)
    assert set(map(frozenset, rooted.clades(1))) == {frozenset(outgroup), frozenset(tree.leaves) - outgroup}
    if tree.lengths is not None:
        first, second = rooted.children[rooted.root]
        assert np.isclose(rooted.lengths[first], rooted.lengths[second])
        np.testing.assert_allclose(path_distances(rooted), path_distances(tree), atol=1e-12)


def test_one_leaf_may_be_given_as_a_string():
    assert root_by_outgroup(from_nested((("aa", "b"), "c", "d")), "aa").clades(1) == (("aa",), ("b", "c", "d"))


# Prior


@given(st.data())
@SOME
def test_a_tree_is_rooted_so_that_it_displays_a_rooted_prior(data):
    truth = data.draw(trees(2, 10, rooted=True, lengths="positive"))
    prior = data.draw(priors_of(truth))
    node = data.draw(st.sampled_from(np.flatnonzero(truth.n_below < truth.n_leaves).tolist()))
    tree = root_at(truth, node).unroot()
    rooted, how = root_by_prior(tree, prior)
    assert is_well_rooted(rooted)
    assert displays_rooted(rooted, prior)
    np.testing.assert_allclose(path_distances(rooted), path_distances(truth), atol=1e-12)
    if prior.n_leaves > 1 and len(set(prior.clade_labels(1))) == 2:
        assert how == "prior"
        first, second = ({*group} for group in rooted.restrict(prior.leaves).clades(1))
        sides = [set(group) & set(prior.leaves) for group in rooted.clades(1)]
        assert first in sides
        assert second in sides
    assert rooted == root_by_prior(truth, prior)[0]


@given(st.data())
@SOME
def test_several_rooted_priors_are_all_displayed(data):
    truth = data.draw(trees(3, 12, rooted=True, lengths="positive"))
    priors = data.draw(partition_and_backbones(truth))
    rooted, _ = root_by_prior(truth.unroot(), priors)
    assert all(displays_rooted(rooted, prior) for prior in priors)
    assert rooted == root_by_prior(truth.unroot(), priors[::-1])[0]


@given(st.data())
@SOME
def test_among_the_edges_that_display_a_polytomy_the_most_central_is_taken(data):
    tree = data.draw(trees(4, 9, rooted=True, lengths="positive"))
    groups = data.draw(priors_of(tree))
    assume(groups.n_leaves > 2 and len(set(groups.clade_labels(1))) > 2)
    rooted, how = root_by_prior(tree.unroot(), groups)
    assert how in ("prior and midpoint", "midpoint")
    best = min(
        smallest_reach(tree, node)
        for node in np.flatnonzero(tree.n_below < tree.n_leaves)
        if displays_rooted(root_at(tree, node), groups)
    )
    reach = rooted.depths()[: tree.n_leaves].max()
    assert reach <= best + 1e-9
    assert reach >= best - tree.lengths.max() / 50


def smallest_reach(tree: Tree, node: int) -> float:
    """The largest depth of a leaf from the best point on the edge above a node."""
    low = root_at(tree, node, distance_above=0.0)
    side = np.isin(tree.leaves, tree.leaves_below(node))
    depths, length = low.depths()[: tree.n_leaves], low.lengths[list(low.children[low.root])].sum()
    shift = np.linspace(0, length, 101)[:, None]
    return np.where(side, depths + shift, depths - shift).max(axis=1).min()


def test_free_leaves_leave_a_path_and_the_midpoint_chooses_on_it():
    tree = from_nested(((("a", "b"), "x"), "y", ("c", "d")))
    along = np.ones(tree.n_nodes)
    prior = from_nested((("a", "b"), ("c", "d")), rooted=True)
    for far, expected in (("x", {"a", "b", "x"}), ("c", {"c", "d"}), ("a", {"a", "b"})):
        long = along.copy()
        long[tree.index[far]] = 9.0
        rooted, how = root_by_prior(Tree(tree.parent, tree.leaves, long), prior)
        assert how == "prior"
        assert expected in [set(group) for group in rooted.clades(1)]


def test_a_backbone_inside_a_clade_does_not_move_the_root_into_it():
    tree = from_nested(((("a", "b"), ("c", "d")), ("e", "f"), "g"))
    partition = from_nested((("a", "b", "c", "d"), ("e", "f", "g")), rooted=True)
    backbone = from_nested((("a", "b"), "c"), rooted=True)
    for priors in ([backbone, partition], [partition, backbone]):
        rooted, how = root_by_prior(tree, priors)
        assert (how, rooted.clades(1)) == ("prior", (("a", "b", "c", "d"), ("e", "f", "g")))


def test_two_clones_of_unknown_relation_both_keep_their_roots():
    tree = from_nested(((("a", "b"), ("c", "d")), ("e", "f"), ("g", "h")))
    clones = [from_nested((("a", "b"), ("c", "d")), rooted=True), from_nested((("e", "f"), ("g", "h")), rooted=True)]
    rooted, how = root_by_prior(tree, clones)
    assert how == "prior and midpoint"
    assert rooted.clades(1) == (("a", "b", "c", "d"), ("e", "f", "g", "h"))


@pytest.mark.parametrize(
    "prior, how",
    [
        (None, "midpoint"),
        ([], "midpoint"),
        (from_nested((("a", "b"), "c", "d")), "midpoint"),
        (from_nested(("a", "b", "c", "d"), rooted=True), "midpoint"),
        (from_nested((("x", "y"), "a"), rooted=True), "midpoint"),
        (from_nested((("a", "c"), ("b", "d")), rooted=True), "midpoint, the prior's root was not found"),
        (from_nested((("a", "c"), "b", "d"), rooted=True), "midpoint, the prior's root was not found"),
        (from_nested((("a", "c"), "b"), rooted=True), "prior"),
        (from_nested(("a", "b"), rooted=True), "prior"),
        (from_nested((("a", "b"), "c", "d"), rooted=True), "prior and midpoint"),
    ],
)
def test_how_says_what_decided(prior, how):
    tree = from_nested((("a", "b"), "c", "d", "e"))
    rooted, said = root_by_prior(tree, prior)
    assert said == how
    if how.startswith("midpoint"):
        assert rooted == root_at_midpoint(tree)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_smallest_trees_are_rooted(n):
    names = ["a", "b", "c"][:n]
    tree = from_nested(tuple(names) if n > 1 else "a")
    prior = from_nested((("a", "b"), "c") if n == 3 else tuple(names) if n == 2 else "a", rooted=True)
    for rooted in (root_at_midpoint(tree), root_by_prior(tree, prior)[0]):
        assert is_well_rooted(rooted)
        assert rooted.leaves == tuple(names)
    assert n < 3 or root_by_prior(tree, prior)[0].clades(1) == (("a", "b"), ("c",))
