"""Which edges the prior gives: against all trees that display it."""

from __future__ import annotations

import numpy as np
import pytest

from celltreeqm.reconstruct import given_edges
from celltreeqm.simulate import random_tree
from celltreeqm.trees import Tree, neighbor_joining, parse_newick, prior_at_level, prior_from_clades, root_at
from celltreeqm.trees._splits import split_hashes
from tests.oracles.enumeration import trees_displaying
from tests.oracles.splits import Split, leaves_below_each, restrict_splits, splits

NAMES = list("abcdefg")


def by_split(tree: Tree, prior: Tree | list[Tree]) -> dict[Split, str]:
    """What is said of each non-trivial split; raises if two edges with the same split are told apart."""
    everything = frozenset(tree.leaves)
    said: dict[Split, str] = {}
    for side, given in zip(leaves_below_each(tree), given_edges(tree, prior), strict=True):
        if len(side) > 1 and len(everything - side) > 1:
            assert said.setdefault(frozenset([side, everything - side]), given) == given
        else:
            assert given == "no"
    return said


def implied(prior: list[Tree], leaves: tuple[str, ...]) -> set[Split]:
    """The splits of all trees that display the prior: the prior implies them."""
    return set.intersection(*(splits(tree) for tree in trees_displaying(prior, leaves)))


def some_tree(leaves: list[str], seed: int) -> Tree:
    tree = random_tree(len(leaves), shape="yule", seed=seed)
    order = np.random.default_rng(seed).permutation(leaves).tolist()
    return tree.rename(dict(zip(tree.leaves, order, strict=True)))


def priors_of(truth: Tree, seed: int) -> list[Tree]:
    """One or two prior trees that a tree displays: subsets of it, some of them with edges collapsed, or its clades."""
    generator = np.random.default_rng(seed)
    found = []
    for _ in range(1 + seed % 2):
        kept = sorted(generator.permutation(NAMES)[: int(generator.integers(4, 8))].tolist())
        tree = truth.restrict(kept)
        inner = np.arange(tree.n_leaves, tree.n_nodes - 1)
        found.append(tree.collapse(inner[generator.random(len(inner)) < 0.3]))
    if seed % 3 == 0:
        found[0] = prior_at_level(truth, 1)
    return found


@pytest.mark.parametrize("seed", range(12))
def test_given_edges_agree_with_all_trees_that_display_the_prior(seed: int) -> None:
    truth = some_tree(NAMES, seed)
    prior = priors_of(truth, seed)
    said = by_split(truth, prior)
    wanted = implied(prior, truth.leaves)
    assert {split for split, given in said.items() if given == "yes"} == wanted & set(said)
    for split, given in said.items():
        within = any(restrict_splits([split], tree.leaves) & splits(tree) for tree in prior)
        assert (given != "no") == (within or split in wanted)


def test_something_of_each_kind_was_looked_at() -> None:
    said = [
        given
        for seed in range(12)
        for given in by_split(some_tree(NAMES, seed), priors_of(some_tree(NAMES, seed), seed)).values()
    ]
    assert min(said.count("yes"), said.count("partly"), said.count("no")) >= 5


def test_a_partition_and_a_backbone_together_decide_leaves_that_neither_does_alone() -> None:
    tree = parse_newick("(((a,b),(c,d)),(e,f),g);")
    clades = prior_from_clades(["x"] * 4 + ["y"] * 3, list("abcdefg"))
    backbone = parse_newick("((a,b),(c,e));")  # a, b | c, e; that d is with c is for the features to say
    said = by_split(tree, [clades, backbone])
    assert said[frozenset([frozenset("abcd"), frozenset("efg")])] == "yes"
    assert said[frozenset([frozenset("ab"), frozenset("cdefg")])] == "partly"
    whole = parse_newick("((a,b),c,(d,e));")
    said = by_split(tree, [clades, whole])
    assert said[frozenset([frozenset("ab"), frozenset("cdefg")])] == "yes"
    assert said[frozenset([frozenset("ef"), frozenset("abcdg")])] == "no"


@pytest.mark.parametrize("seed", range(4))
def test_rerooting_changes_nothing(seed: int) -> None:
    truth = some_tree(NAMES, seed)
    prior = priors_of(truth, seed)
    said = by_split(truth, prior)
    for node in range(truth.n_nodes - 1):
        assert by_split(root_at(truth, node), prior) == said
    turned = [root_at(tree, 0) for tree in prior]
    assert by_split(truth, turned) == said


def test_a_whole_prior_gives_everything_and_none_gives_nothing() -> None:
    truth = random_tree(30, shape="yule", seed=1)
    inner = split_hashes(truth)[truth.n_leaves : -1]
    assert len(inner)
    assert set(by_split(truth, truth).values()) == {"yes"}
    assert set(given_edges(truth, None)) == {"no"}


def test_a_tree_that_does_not_display_the_prior_has_nothing_given_where_it_differs() -> None:
    tree = parse_newick("((a,b),(c,d),e);")
    said = by_split(tree, parse_newick("((a,c),(b,d),e);"))
    assert set(said.values()) == {"no"}


def test_labelled_leaves_give_parts_of_a_larger_tree() -> None:
    truth = random_tree(40, shape="yule", seed=2)
    prior = truth.restrict(truth.leaves[::2])
    rows = np.random.default_rng(0).random((40, 5))
    tree = neighbor_joining(np.abs(rows[:, None] - rows[None]).sum(axis=2), truth.leaves, prior=prior)
    said = by_split(tree, prior)
    assert "yes" not in said.values()
    assert sum(given == "partly" for given in said.values()) >= prior.n_leaves - 3


def test_leaves_of_the_prior_that_the_tree_lacks_are_named() -> None:
    with pytest.raises(ValueError, match=r"1 leaf of the prior has no row in the data: 'z'"):
        given_edges(parse_newick("((a,b),(c,d));"), parse_newick("((a,b),(c,z));"))
