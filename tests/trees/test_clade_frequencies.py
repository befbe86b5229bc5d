"""Clade frequencies and support are what counting sets of names gives."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celltreeqm.trees import Tree
from celltreeqm.trees._clade_frequencies import clade_frequencies, majority_consensus, with_support
from tests.oracles import clades, from_nested, leaves_below_each, splits
from tests.strategies import trees

SOME = settings(max_examples=60, deadline=None)


@st.composite
def several_trees(draw, rooted: bool, min_leaves: int = 1) -> list[Tree]:
    """One to six trees of the same leaves, numbered in different orders, some of them the same."""
    names = list("abcdefg")[: draw(st.integers(min_leaves, 7))]
    distinct = [draw(trees(names=draw(st.permutations(names)), rooted=rooted, unary=True)) for _ in range(3)]
    return draw(st.lists(st.sampled_from(distinct), min_size=1, max_size=6))


def parts(tree: Tree) -> set[frozenset]:
    """Clades of 2 to n - 1 leaves, or non-trivial splits, as sets of names."""
    if not tree.rooted:
        return {frozenset(split) for split in splits(tree)}
    return {clade for clade in clades(tree) if 1 < len(clade) < tree.n_leaves}


def as_part(inside: np.ndarray, leaves: tuple[str, ...], rooted: bool) -> frozenset:
    clade = frozenset(name for name, here in zip(leaves, inside, strict=True) if here)
    return clade if rooted else frozenset([clade, frozenset(leaves) - clade])


@given(st.data())
@SOME
def test_frequencies_are_those_of_sets_of_names(data):
    rooted = data.draw(st.booleans())
    many = data.draw(several_trees(rooted))
    weights = data.draw(st.none() | st.lists(st.integers(1, 5), min_size=len(many), max_size=len(many)))
    counts = weights or [1] * len(many)
    expected: Counter[frozenset] = Counter()
    for tree, weight in zip(many, counts, strict=True):
        expected.update(dict.fromkeys(parts(tree), weight))
    found = clade_frequencies(many, weights=weights)
    assert (found.leaves, found.rooted) == (many[0].leaves, rooted)
    assert found.members.shape == (len(expected), len(found.leaves))
    for inside, frequency in zip(found.members, found.frequency, strict=True):
        assert np.isclose(frequency, expected.pop(as_part(inside, found.leaves, rooted)) / sum(counts))
        assert rooted or not inside[0]
    assert not expected
    assert (np.diff(found.frequency) <= 0).all()


@given(st.data())
@SOME
def test_the_order_of_the_trees_does_not_matter(data):
    many = data.draw(several_trees(data.draw(st.booleans())))
    order = data.draw(st.permutations(range(1, len(many))))
    found, again = clade_frequencies(many), clade_frequencies([many[0], *(many[i] for i in order)])
    np.testing.assert_array_equal(found.members, again.members)
    np.testing.assert_array_equal(found.frequency, again.frequency)


@given(st.data())
@SOME
def test_support_is_the_share_of_trees_with_the_clade(data):
    rooted = data.draw(st.booleans())
    many = data.draw(several_trees(rooted))
    tree = data.draw(trees(names=many[0].leaves, unary=True))
    held = with_support(tree, many)
    as_clades = rooted and tree.rooted
    having = [parts(other if as_clades else Tree(other.parent, other.leaves)) for other in many]
    everyone = frozenset(tree.leaves)
    for node, below in enumerate(leaves_below_each(tree)):
        trivial = len(below) in ((1, len(everyone)) if as_clades else (1, len(everyone) - 1, len(everyone)))
        if node < tree.n_leaves or trivial:
            assert np.isnan(held.support[node])
        else:
            part = below if as_clades else frozenset([below, everyone - below])
            assert held.support[node] == sum(part in here for here in having) / len(many)
    assert held == tree


@given(trees(1, 9, unary=True), st.integers(1, 100))
@SOME
def test_a_tree_that_always_comes_out_is_supported_throughout(tree, times):
    held = with_support(tree, [tree] * times).support
    assert (held[~np.isnan(held)] == 1).all()
    assert (clade_frequencies([tree] * times).frequency == 1).all()
    assert (clade_frequencies([tree] * times, weights=[0.1] * times).frequency == 1).all()


def test_a_rooted_tree_gets_the_support_of_splits_from_unrooted_trees():
    tree = from_nested(((("a", "b"), "c"), ("d", "e")), rooted=True)
    replicate = from_nested((("a", "b"), "c", ("d", "e")))
    held = with_support(tree, [replicate, from_nested(("a", "b", "c", ("d", "e")))])
    support = {frozenset(held.leaves_below(node)): held.support[node] for node in range(5, held.root)}
    assert support == {frozenset("ab"): 0.5, frozenset("abc"): 1.0, frozenset("de"): 1.0}


@given(st.data())
@SOME
def test_the_consensus_has_exactly_what_the_majority_has(data):
    rooted = data.draw(st.booleans())
    many = data.draw(several_trees(rooted))
    threshold = data.draw(st.sampled_from([0.5, 0.6, 0.8]))
    consensus = majority_consensus(many, threshold=threshold)
    count = Counter(part for tree in many for part in parts(tree))
    assert parts(consensus) == {part for part in count if count[part] / len(many) > threshold}
    assert (consensus.rooted, consensus.leaves) == (rooted, many[0].leaves)
    expected = with_support(consensus, many).support
    if consensus.n_leaves > 1:
        np.testing.assert_array_equal(consensus.support, expected)


def test_clades_of_no_weight_are_left_out():
    first, second = from_nested((("a", "b"), "c", "d")), from_nested((("a", "c"), "b", "d"))
    found = clade_frequencies([first, second], weights=[2, 0])
    np.testing.assert_array_equal(found.members, [[False, False, True, True]])
    assert found.frequency == [1.0]


STAR = from_nested(("a", "b", "c"))


@pytest.mark.parametrize(
    "call, error, sentence",
    [
        (lambda: clade_frequencies([]), ValueError, "No trees were given"),
        (lambda: clade_frequencies(STAR), TypeError, "One tree was given"),
        (lambda: clade_frequencies([STAR, from_nested(("a", "b", "x"))]), ValueError, "only one of them: 'c', 'x'"),
        (
            lambda: clade_frequencies([STAR, from_nested(("a", "b", "c"), rooted=True)]),
            ValueError,
            "1 of the 2 trees are rooted and 1 are not",
        ),
        (lambda: clade_frequencies([STAR], weights=[1, 2]), ValueError, "for 1 trees; one finite number a tree"),
        (lambda: clade_frequencies([STAR], weights=[-1]), ValueError, "not negative"),
        (lambda: with_support(STAR, [from_nested(("a", "b"))]), ValueError, "than the tree that gets the support"),
        (lambda: majority_consensus([STAR], threshold=0.4), ValueError, "at least 0.5"),
    ],
)
def test_errors_say_what_is_wrong(call, error, sentence):
    with pytest.raises(error, match=sentence):
        call()
