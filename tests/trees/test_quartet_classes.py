"""Quartet agreement by class: against all quartets one by one, for priors true and false, one and several."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celltreeqm.quartets import KnownQuartets
from celltreeqm.trees import (
    QuartetAgreement,
    QuartetClasses,
    Tree,
    prior_from_clades,
    quartet_agreement,
    quartet_agreement_by_class,
)
from tests import oracles
from tests.strategies import partition_and_backbones, priors_of, relabellings, rerootings, trees

NAMES = list("abcdefghi")
ANY = trees(names=NAMES, unary=True)


def counted(tree: Tree, truth: Tree, prior: Tree | Sequence[Tree] | None) -> QuartetClasses:
    classes = oracles.quartet_classes(tree.leaves, prior)
    return QuartetClasses(
        **{
            name: QuartetAgreement(**oracles.quartet_agreement(tree, truth, quartets)._asdict())
            for name, quartets in classes.items()
        }
    )


def random_tree(names: Sequence[str], seed: int, collapse: float = 0.0) -> Tree:
    rng, n = np.random.default_rng(seed), len(names)
    parent, alive = [-1] * (2 * n - 1), list(range(n))
    for node in range(n, 2 * n - 1):
        for _ in range(2):
            parent[alive.pop(rng.integers(len(alive)))] = node
        alive.append(node)
    tree = Tree(parent, [names[i] for i in rng.permutation(n)])
    return tree.collapse(np.flatnonzero(rng.random(tree.n_nodes) < collapse))


@given(st.data())
def test_equals_all_quartets_one_by_one_with_a_true_prior(data: st.DataObject) -> None:
    tree, truth = data.draw(ANY), data.draw(ANY)
    prior = data.draw(priors_of(truth))
    assert quartet_agreement_by_class(tree, truth, prior) == counted(tree, truth, prior)


@given(st.data())
def test_equals_all_quartets_one_by_one_with_a_prior_that_the_tree_honours(data: st.DataObject) -> None:
    tree, truth = data.draw(ANY), data.draw(ANY)
    prior = data.draw(priors_of(tree))
    assert quartet_agreement_by_class(tree, truth, prior) == counted(tree, truth, prior)


@given(st.data())
def test_equals_all_quartets_one_by_one_with_a_false_prior(data: st.DataObject) -> None:
    tree, truth = data.draw(ANY), data.draw(ANY)
    prior = data.draw(priors_of(data.draw(trees(names=data.draw(st.permutations(NAMES))))))
    assert quartet_agreement_by_class(tree, truth, prior) == counted(tree, truth, prior)


@given(st.data())
def test_equals_all_quartets_one_by_one_with_a_permuted_prior(data: st.DataObject) -> None:
    tree, truth = data.draw(ANY), data.draw(ANY)
    names = dict(zip(NAMES, data.draw(st.permutations(NAMES)), strict=True))
    prior = data.draw(priors_of(truth)).rename(names)
    assert quartet_agreement_by_class(tree, truth, prior) == counted(tree, truth, prior)


@given(st.data())
def test_equals_all_quartets_one_by_one_with_several_priors(data: st.DataObject) -> None:
    tree, truth = data.draw(ANY), data.draw(ANY)
    source = data.draw(st.sampled_from([tree, truth]) | ANY)
    priors = data.draw(partition_and_backbones(source) | st.lists(priors_of(source), max_size=4))
    assert quartet_agreement_by_class(tree, truth, priors) == counted(tree, truth, priors)


@pytest.mark.parametrize("prior", ["four clades", "three clades", "cherries", "star", "random", "collapsed", "subset"])
@pytest.mark.parametrize("collapse", [0.0, 0.5])
def test_equals_all_quartets_one_by_one_where_colours_are_many_and_large(prior: str, collapse: float) -> None:
    names = [f"t{i:02}" for i in range(16)]
    tree, truth = random_tree(names, 1, collapse), random_tree(names, 2, collapse)
    wrong = {
        "four clades": prior_from_clades(np.repeat([0, 1, 2, 3], 4), names),
        "three clades": prior_from_clades(np.repeat([0, 1, 2], [8, 6, 2]), names),
        "cherries": prior_from_clades(np.arange(16) // 2, names),
        "star": Tree([16] * 16 + [-1], names),
        "random": random_tree(names, 3),
        "collapsed": random_tree(names, 4, 0.6),
        "subset": random_tree(names, 5, 0.5).restrict(names[::2]),
    }[prior]
    got = quartet_agreement_by_class(tree, truth, wrong)
    assert got == counted(tree, truth, wrong)
    if prior != "star":  # and not by one of the short cuts for a prior that the tree or the truth displays
        for other in (tree, truth):
            with_prior = quartet_agreement(other.restrict(wrong.leaves), wrong)
            assert with_prior.different + with_prior.only_second > 0


@given(st.data())
def test_the_classes_make_up_all_quartets(data: st.DataObject) -> None:
    tree, truth = data.draw(ANY), data.draw(ANY)
    prior = data.draw(st.none() | priors_of(truth) | partition_and_backbones(tree))
    assert quartet_agreement_by_class(tree, truth, prior).all == quartet_agreement(tree, truth)


@given(st.data())
def test_rerooting_and_relabelling_change_nothing(data: st.DataObject) -> None:
    tree, truth = data.draw(trees(names=NAMES)), data.draw(trees(names=NAMES))
    prior = data.draw(priors_of(truth))
    names = data.draw(relabellings(NAMES))
    expected = quartet_agreement_by_class(tree, truth, prior)
    assert quartet_agreement_by_class(tree, truth, data.draw(rerootings(prior))) == expected
    assert quartet_agreement_by_class(tree.rename(names), truth.rename(names), prior.rename(names)) == expected


@given(st.data())
def test_the_known_quartets_of_a_true_prior_are_right_in_a_tree_that_honours_it(data: st.DataObject) -> None:
    truth = data.draw(ANY)
    known = quartet_agreement_by_class(truth, truth, data.draw(priors_of(truth))).known
    assert known == QuartetAgreement(same=known.same)


@pytest.mark.parametrize("seed", range(3))
def test_the_known_quartets_are_as_many_as_are_sampled_from(seed: int) -> None:
    names = [f"t{i:02}" for i in range(60)]
    source = random_tree(names, seed)
    rng = np.random.default_rng(seed)
    backbones = [source.restrict(rng.choice(names, size, replace=False)) for size in (30, 25, 20)]
    priors = [source.collapse(np.flatnonzero(rng.random(source.n_nodes) < 0.8)), *backbones]
    by_class = quartet_agreement_by_class(random_tree(names, 8), random_tree(names, 9), priors)
    assert by_class.known.total == KnownQuartets(priors).count
    assert by_class.all == quartet_agreement(random_tree(names, 8), random_tree(names, 9))


def test_without_a_prior_everything_is_unknown_outside() -> None:
    tree, truth = random_tree(NAMES, 0), random_tree(NAMES, 1)
    for prior in (None, []):
        by_class = quartet_agreement_by_class(tree, truth, prior)
        assert by_class.unknown_outside == quartet_agreement(tree, truth)
        assert by_class.unknown == by_class.unknown_outside
        assert math.isnan(by_class.known.distance())


def test_unknown_is_inside_where_the_prior_has_all_leaves_and_outside_elsewhere() -> None:
    tree, truth = random_tree(NAMES, 0), random_tree(NAMES, 1)
    whole = quartet_agreement_by_class(tree, truth, prior_from_clades(list("xxxyyyzzz"), NAMES))
    assert whole.unknown == whole.unknown_inside
    assert whole.unknown.total > 0
    some = quartet_agreement_by_class(tree, truth, prior_from_clades(list("xxyyz"), NAMES[:5]))
    assert some.unknown == some.unknown_outside
    assert some.unknown.total == 1
    most = quartet_agreement_by_class(tree, truth, prior_from_clades(list("xxyyzzww"), NAMES[:8]))
    assert most.unknown == most.unknown_outside == QuartetAgreement()
    assert math.isnan(most.unknown.distance())


def test_leaves_of_the_prior_that_the_trees_lack_are_refused_by_name() -> None:
    tree = random_tree(NAMES, 0)
    prior = Tree([4, 4, 4, 4, -1], ["a", "b", "x", "y"])
    with pytest.raises(ValueError, match=r"2 leaves of the prior are not in the trees .*: 'x', 'y'.*prior.restrict"):
        quartet_agreement_by_class(tree, tree, prior)
    with pytest.raises(ValueError, match=r"2 leaves of prior tree 2 are not in the trees"):
        quartet_agreement_by_class(tree, tree, [tree, prior])


def test_trees_on_different_leaves_are_refused() -> None:
    tree = random_tree(NAMES, 0)
    with pytest.raises(ValueError, match=r"1 is only in the first: 'i'"):
        quartet_agreement_by_class(tree, tree.restrict(NAMES[:8]), None)


def test_prior_trees_that_contradict_each_other_on_the_same_leaves_are_refused() -> None:
    tree = random_tree(NAMES, 0)
    first, second = Tree([4, 4, 5, 5, 5, -1], list("abcd")), Tree([4, 5, 4, 5, 5, -1], list("abcd"))
    with pytest.raises(ValueError, match="contradict each other: one says .*'b'.* another"):
        quartet_agreement_by_class(tree, tree, [first, second])
