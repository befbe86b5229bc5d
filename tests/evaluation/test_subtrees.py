"""Local subtree errors, and the recovery of features."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celltreeqm.evaluation import feature_recovery, local_subtree_errors, relative_improvement
from celltreeqm.trees import parse_newick
from tests import oracles
from tests.strategies import trees


def slow_error(tree, truth, level):
    """From the definition: clades by walking up from the leaves, splits restricted as sets."""
    up = truth.collapse_unary().parent.tolist()
    found = {}
    for leaf, name in enumerate(truth.leaves):
        chain = [leaf]
        while up[chain[-1]] >= 0:
            chain.append(up[chain[-1]])
        found.setdefault(chain[max(0, len(chain) - 1 - level)], set()).add(name)
    errors = []
    for clade in found.values():
        if len(clade) >= 4:
            one, two = (oracles.restrict_splits(oracles.splits(t), clade) for t in (tree, truth))
            errors.append(len(one ^ two) / (len(one) + len(two)) if one or two else 0.0)
    return sum(errors) / len(errors) if errors else math.nan


@given(st.data())
def test_errors_are_those_of_the_definition(data):
    truth = data.draw(trees(2, 12, rooted=True, unary=True))
    tree = data.draw(trees(names=truth.leaves))
    expected = {level: slow_error(tree, truth, level) for level in range(4)}
    assert local_subtree_errors(tree, truth, range(4)) == pytest.approx(expected, nan_ok=True)
    usual = {level: error for level, error in expected.items() if level and not math.isnan(error)}
    assert local_subtree_errors(tree, truth) == pytest.approx(usual)


def test_a_clade_that_the_tree_breaks_up_may_have_no_error_inside():
    truth = parse_newick("((((a,b),c),d),(((e,f),g),h));")
    tree = parse_newick("(((((((a,b),e),f),c),g),d),h);")
    assert local_subtree_errors(tree, truth, [1]) == {1: 0.0}


def test_small_clades_do_not_count():
    truth = parse_newick("((((a,b),c),(d,e)),((f,g),h));")
    wrong = parse_newick("((((a,c),b),(d,e)),((f,h),g));")
    assert local_subtree_errors(wrong, truth, [1]) == {1: 0.5}, "abcde has 1 of 2 splits; fgh has three leaves"


def test_trees_on_different_leaves_are_refused():
    tree = parse_newick("((a,b),(c,d));")
    with pytest.raises(ValueError, match="1 is only in the truth: 'd'"):
        local_subtree_errors(tree.restrict(["a", "b", "c"]), tree)


def test_recall_and_precision_by_hand():
    assert feature_recovery([True, False, True, False], [True, True, False, False]) == (0.5, 0.5)
    assert feature_recovery(np.ones(4, dtype=bool), [True, False, False, False]) == (1.0, 0.25)


def test_recall_and_precision_of_nothing_are_nan():
    nothing = np.zeros(3, dtype=bool)
    found = feature_recovery(nothing, ~nothing)
    assert found.recall == 0
    assert math.isnan(found.precision)
    found = feature_recovery(~nothing, nothing)
    assert math.isnan(found.recall)
    assert found.precision == 0


def test_masks_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"selected has shape \(2,\) and type float64; a mask of booleans"):
        feature_recovery([0.5, 1.0], [True, False])
    with pytest.raises(ValueError, match="selected has 1 features and signal 2"):
        feature_recovery([True], [True, False])


def test_the_improvement_is_the_papers():
    assert relative_improvement(0.8, 0.2) == pytest.approx(0.75)
    assert relative_improvement(0.4, 0.6) == pytest.approx(-0.5)
    assert relative_improvement(0.4, 0.0) == 1
    for base, value in ((0.0, 0.0), (0.0, 0.5), (math.nan, 0.5), (0.5, math.nan)):
        assert math.isnan(relative_improvement(base, value))
