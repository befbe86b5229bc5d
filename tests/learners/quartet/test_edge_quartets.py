"""Quartets around edges: the tree resolves each by one edge alone, and each edge is drawn as often."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from celltreeqm.learners.quartet._edge_quartets import edge_quartets
from celltreeqm.simulate import random_tree
from celltreeqm.trees import parse_newick
from tests import oracles
from tests.strategies import trees

CATERPILLAR = random_tree(16, shape="caterpillar", seed=0)
YULE = random_tree(20, shape="yule", seed=1)


def edges_of(tree, names, quartets):
    """For each quartet the splits of the tree that part it as ab|cd."""
    splits = oracles.splits(tree)
    found = []
    for a, b, c, d in ((names[row] for row in four) for four in quartets.tolist()):
        parting = []
        for split in splits:
            one, other = split
            if ({a, b} <= one and {c, d} <= other) or ({a, b} <= other and {c, d} <= one):
                parting.append(split)
        found.append(parting)
    return found


@given(data=st.data())
def test_each_quartet_is_ab_cd_by_one_edge_of_the_tree_alone(data):
    tree = data.draw(trees(1, 9, unary=True))
    names = data.draw(st.permutations([*tree.leaves, "no leaf of the tree"]))
    quartets = edge_quartets([tree], names, 30, among=frozenset(names), seed=data.draw(st.integers(0, 9)))
    splits = [split for split in oracles.splits(tree) if min(map(len, split)) > 1]
    assert quartets.dtype == np.int32
    assert quartets.shape == (30 if splits else 0, 4)
    for four, parting in zip(quartets.tolist(), edges_of(tree, names, quartets), strict=True):
        assert len(set(four)) == 4
        assert len(parting) == 1


@pytest.mark.parametrize("tree", [CATERPILLAR, YULE, YULE.unroot()], ids=["caterpillar", "Yule", "unrooted"])
def test_each_internal_edge_is_drawn_as_often(tree):
    quartets = edge_quartets([tree], tree.leaves, 1500, among=frozenset(tree.leaves), seed=2)
    counts = dict.fromkeys((split for split in oracles.splits(tree) if min(map(len, split)) > 1), 0)
    for (edge,) in edges_of(tree, tree.leaves, quartets):
        counts[edge] += 1
    assert len(counts) == tree.n_leaves - 3
    assert chisquare(list(counts.values())).pvalue > 0.01


def test_quartets_drawn_uniformly_would_fail_the_test_above():
    """So that it can: of a caterpillar's quartets few lie around its first edge, and around most edges at once many."""
    rng = np.random.default_rng(0)
    quartets = []
    for _ in range(300):
        a, b, c, d = sorted(rng.permutation(16)[:4].tolist(), key=lambda row: int(CATERPILLAR.parent[row]))
        quartets.append([a, b, c, d])
    assert sum(len(parting) > 1 for parting in edges_of(CATERPILLAR, CATERPILLAR.leaves, np.array(quartets))) > 100


def test_leaves_of_a_branch_are_drawn_alike():
    """Around the one deep edge all leaves, a third of the branch, come as often."""
    tree = parse_newick("((a,b,c),(d,e,f),(g,h,i),(j,k,l));").unroot()
    names = tree.leaves
    quartets = edge_quartets([tree], names, 4000, among=frozenset(names), seed=3)
    assert chisquare(np.bincount(quartets.ravel(), minlength=12)).pvalue > 0.01


def test_edges_of_several_trees_count_alike():
    small, large = parse_newick("((a,b),(c,d));"), parse_newick("((e,f),((g,h),(i,j)));")
    names = tuple("abcdefghij")
    quartets = edge_quartets([small, large], names, 2000, among=frozenset(names), seed=4)
    of_small = int((quartets < 4).all(axis=1).sum())
    assert of_small + int((quartets >= 4).all(axis=1).sum()) == 2000
    assert chisquare([of_small, 2000 - of_small], [500, 1500]).pvalue > 0.01  # one edge against three


def test_only_quartets_with_a_leaf_of_those_asked_for_are_left():
    names, among = YULE.leaves, frozenset(YULE.leaves[:3])
    everything = edge_quartets([YULE], names, 500, among=frozenset(names), seed=5)
    found = edge_quartets([YULE], names, 500, among=among, seed=5)
    with_one = [four for four in everything.tolist() if not among.isdisjoint(names[row] for row in four)]
    assert 0 < len(with_one) < 500
    assert found.tolist() == with_one
    assert edge_quartets([YULE], names, 50, among=frozenset(), seed=5).shape == (0, 4)


def test_trees_without_an_internal_edge_have_none():
    for text in ("(a,b,c,d,e);", "((a,b),c);", "(a,b);"):
        tree = parse_newick(text)
        assert edge_quartets([tree], tree.leaves, 20, among=frozenset(tree.leaves), seed=0).shape == (0, 4)
    assert edge_quartets([], "abcd", 20, among=frozenset("abcd"), seed=0).shape == (0, 4)


def test_the_seed_decides():
    def drawn(seed):
        return edge_quartets([YULE], YULE.leaves, 40, among=frozenset(YULE.leaves), seed=seed).tolist()

    assert drawn(0) == drawn(0)
    assert drawn(0) != drawn(1)
