"""Known leaves held out: which, and which step they choose."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celltreeqm.learners.quartet._held_out import chosen_step, without_some
from celltreeqm.quartets import KnownQuartets
from celltreeqm.simulate import random_tree
from celltreeqm.trees import parse_newick

# The step


@pytest.mark.parametrize(
    "wrong, expected",
    [
        # No look is within a standard error of the best but the best.
        ([[0.9, 0.8, 0.9], [0.5, 0.5, 0.6], [0.1, 0.1, 0.1], [0.4, 0.4, 0.5]], 40),
        # The second is worse by .01 +- .0058; the first by far more.
        ([[0.9, 0.9, 0.9], [0.12, 0.11, 0.10], [0.1, 0.1, 0.1]], 40),
        # Worse by .01 on average, +- .0208: an earlier look that cannot be told from the best is taken.
        ([[0.9, 0.9, 0.9], [0.15, 0.08, 0.10], [0.1, 0.1, 0.1]], 20),
        # Later ones that are as good do not matter.
        ([[0.3, 0.3, 0.3], [0.1, 0.1, 0.1], [0.1, 0.1, 0.1], [0.15, 0.08, 0.10]], 20),
        # What is hard for a leaf at all steps does not blur the differences: each leaf is worse by .1.
        ([[0.1, 0.9, 0.5], [0.0, 0.8, 0.4]], 20),
        # Untrained is best.
        ([[0.1, 0.1], [0.2, 0.2]], 0),
        # All alike.
        ([[0.2, 0.4], [0.2, 0.4], [0.4, 0.2]], 0),
        # One leaf has no standard error: the earliest of the best.
        ([[0.3], [0.1], [0.2], [0.1]], 20),
        # One look.
        ([[0.3, 0.2]], 0),
    ],
)
def test_the_earliest_step_within_a_standard_error_of_the_best(wrong, expected):
    assert chosen_step([20 * look for look in range(len(wrong))], np.array(wrong)) == expected


@given(
    st.integers(1, 6).flatmap(
        lambda leaves: st.lists(
            st.lists(st.integers(0, 10).map(lambda tenths: tenths / 8), min_size=leaves, max_size=leaves),
            min_size=1,
            max_size=8,
        )
    )
)
def test_the_rule_in_plain_python(wrong):
    means = [sum(look) / len(look) for look in wrong]
    best = wrong[means.index(min(means))]
    chosen = chosen_step(range(len(wrong)), np.array(wrong))
    allowed = []
    for look in wrong:
        excess = [one - other for one, other in zip(look, best, strict=True)]
        mean = sum(excess) / len(excess)
        spread = sum((value - mean) ** 2 for value in excess) / max(1, len(excess) - 1)
        allowed.append((mean, (spread / len(excess)) ** 0.5))
    # Eighths leave room for the rounding of the root alone.
    assert allowed[chosen][0] <= allowed[chosen][1] + 1e-12
    assert all(mean >= error - 1e-12 for mean, error in allowed[:chosen])
    assert chosen <= means.index(min(means))


# The leaves

TREE = random_tree(40, shape="yule", seed=0)


def test_a_fifth_of_the_known_leaves_is_held_out_and_the_rest_is_as_known():
    fewer, out = without_some((TREE,), [0, 1])
    assert len(out) == 8
    assert len(fewer) == 1
    assert set(fewer[0].leaves) == set(TREE.leaves) - out
    assert fewer[0].same_topology(TREE.restrict(fewer[0].leaves))


def test_the_seed_decides_which():
    assert without_some((TREE,), [0, 1])[1] == without_some((TREE,), [0, 1])[1]
    assert without_some((TREE,), [0, 1])[1] != without_some((TREE,), [1, 1])[1]
    held = [without_some((TREE,), [seed, 1])[1] for seed in range(60)]
    counts = np.array([sum(leaf in out for out in held) for leaf in TREE.leaves])
    assert counts.min() > 0  # each leaf may be: 12 of 60 on average
    assert counts.max() < 28


@pytest.mark.parametrize("leaves, number", [(14, 0), (15, 3), (16, 3), (18, 4)])
def test_none_can_be_spared_of_few(leaves, number):
    tree = random_tree(leaves, shape="yule", seed=0)
    fewer, out = without_some((tree,), [0, 1])
    assert len(out) == number
    if not number:
        assert fewer == (tree,)
        assert fewer[0] is tree


def test_leaves_of_several_trees_are_held_out_of_all_and_a_tree_that_loses_all_is_left_out():
    groups = parse_newick("((a,b,c,d,e,f,g,h),(i,j,k,l,m,n,o,p));")
    inner, pair = parse_newick("((a,b),(c,d));"), parse_newick("(q,r);")
    lost = 0
    for seed in range(40):
        fewer, out = without_some((groups, inner, pair), [seed, 1])
        assert len(out) == 4  # a fifth of 18, rounded
        assert all(out.isdisjoint(tree.leaves) for tree in fewer)
        left = [set(tree.leaves) - out for tree in (groups, inner, pair)]
        assert [set(tree.leaves) for tree in fewer] == [names for names in left if names]
        lost += len(fewer) == 2
    assert lost > 0


def test_nothing_is_held_out_if_what_is_left_resolves_nothing():
    """One edge, ab against the rest: without a or b there is no quartet to learn from."""
    tree = parse_newick("((a,b),c,d,e,f,g,h,i,j,k,l,m,n,o,p);")
    held = set()
    for seed in range(30):
        fewer, out = without_some((tree,), [seed, 1])
        assert out.isdisjoint("ab")
        assert KnownQuartets(fewer).count
        assert (fewer == (tree,)) == (not out)
        held.add(len(out))
    assert held == {0, 3}


def test_without_a_prior_no_leaf_is_known():
    assert without_some((), [0, 1]) == ((), frozenset())
