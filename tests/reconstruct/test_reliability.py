"""Reliability tables and what is judged in them."""

from __future__ import annotations

import numpy as np
import pytest

from celltreeqm.reconstruct import judge_support, reliability_table
from celltreeqm.reconstruct._edge_table import describe_edges, judge_edges
from celltreeqm.simulate import random_tree
from celltreeqm.trees import parse_newick, with_support
from celltreeqm.trees._splits import informative


def test_bins_are_counted_as_by_hand() -> None:
    support = np.array([0.0, 0.1, 0.3, 0.31, 0.899, 0.9, 1.0])
    true = np.array([0, 0, 1, 0, 1, 1, 0])
    found = reliability_table(support, true, bins=[0, 0.3, 0.9, 1])
    assert found.count == (2, 3, 2)
    assert found.fraction_true == (0.0, 2 / 3, 0.5)
    assert np.allclose(found.mean_support, (0.05, (0.3 + 0.31 + 0.899) / 3, 0.95))
    assert found.expected_calibration_error == pytest.approx((0.1 + abs(1.509 - 2) + 0.9) / 7)


def test_shares_of_trees_fall_into_the_bin_that_they_open() -> None:
    support = np.arange(11) * 0.1  # 0.30000000000000004 and 0.6000000000000001 among them
    assert reliability_table(support, support > 0.5).count == (1,) * 9 + (2,)
    assert reliability_table([0.7 - 1e-16 * 2], [True]).count[7] == 1


def test_support_that_is_right_has_little_error_and_wrong_support_much() -> None:
    generator = np.random.default_rng(0)
    support = generator.random(20_000)
    true = generator.random(20_000) < support
    assert reliability_table(support, true).expected_calibration_error < 0.02
    assert reliability_table(np.sqrt(support), true).expected_calibration_error > 0.1
    assert np.isnan(reliability_table([], []).expected_calibration_error)


def test_given_edges_are_not_judged() -> None:
    truth = random_tree(20, shape="yule", seed=0)
    tree = with_support(truth, [truth])
    assert len(judge_support(tree, truth).support) == 17
    assert len(judge_support(tree, truth, truth).support) == 0
    prior = truth.restrict(truth.leaves[::2])
    assert len(judge_support(tree, truth, prior).support) == 17  # all only partly given
    assert judge_support(tree.reorder(truth.leaves[::-1]), truth).true.all()


def test_what_a_polytomy_leaves_open_is_not_judged() -> None:
    tree = parse_newick("((a,b),(c,d),(e,f));")
    nodes = informative(tree)
    told = judge_edges(tree, nodes, parse_newick("((a,b),c,(d,e,f));"))
    names = {tree.leaves_below(int(node)): value for node, value in zip(nodes, told, strict=True)}
    assert names["a", "b"] == 1
    assert names["c", "d"] == 0
    assert np.isnan(names["e", "f"])


def test_edges_are_described_as_they_are() -> None:
    tree = parse_newick("(((a:1,b:1):2,c:1):4,(d:1,e:1):0,(f:1,g:1):1);")
    prior = parse_newick("((a,b),(c,d),((e,f),g));")  # seven leaves: too few to count as labelled
    edges = describe_edges(tree, [tree], [[tree]] * 3, [prior.restrict(list("abcd"))])
    rows = {tree.leaves_below(int(node)): row for node, row in zip(edges.nodes, edges.description, strict=True)}
    assert np.allclose(rows["a", "b"][0], np.log(3))
    assert np.allclose(rows["a", "b"][4], np.log(2))
    assert np.allclose(rows["a", "b"][7], 0)
    assert np.allclose(rows["a", "b", "c"][7], np.log(2))
    assert np.allclose(rows["d", "e"][7], np.log(0.05))
    assert rows["a", "b"][8] == 1
    assert rows["f", "g"][8] == 0
    assert (edges.raw == 1).all()


def test_wrong_input_is_refused() -> None:
    tree = parse_newick("((a,b),(c,d));")
    with pytest.raises(ValueError, match="The tree has no support"):
        judge_support(tree, tree)
    with pytest.raises(ValueError, match="only in the second: 'z'"):
        judge_support(tree, parse_newick("((a,b),(c,z));"))
    with pytest.raises(ValueError, match=r"support has shape \(1,\) and true has \(2,\)"):
        reliability_table([0.1], [True, False])
    with pytest.raises(ValueError, match="not between 0 and 1"):
        reliability_table([1.1], [True])
    with pytest.raises(ValueError, match="ascending ends from 0 to 1"):
        reliability_table([1.0], [True], bins=[0, 0.5])
