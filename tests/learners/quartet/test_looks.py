"""Looks: what they find against what a slow loop finds, and that they leave no trace."""

from __future__ import annotations

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from celltreeqm.learners.quartet._looks import Watch, better, embedded_points, point_distances
from celltreeqm.trees import neighbor_joining, robinson_foulds, upgma

from .small import LEAVES, TEST, TRUTH, X, fitted

INPUTS = torch.from_numpy(X.astype(np.float32))
DISTANCES = np.linalg.norm(X[:, None] - X[None], axis=2)


class AsItIs(torch.nn.Module):
    """Points are the inputs; in training it would say otherwise."""

    def forward(self, values):
        assert not self.training
        assert not torch.is_grad_enabled()
        return SimpleNamespace(points=values)


def smallest_sum_is_first(a, b, c, d):
    first = DISTANCES[a, b] + DISTANCES[c, d]
    return first < min(DISTANCES[a, c] + DISTANCES[b, d], DISTANCES[a, d] + DISTANCES[b, c])


@pytest.mark.parametrize("builder, build", [("neighbor_joining", neighbor_joining), ("upgma", upgma)])
def test_a_look_finds_the_distance_to_the_truth_and_the_share_of_wrong_quartets(builder, build):
    quartets = np.array(list(combinations(range(16), 4)), dtype=np.int32)
    numbers, by_leaf = Watch("test", INPUTS, LEAVES, builder, TRUTH, quartets).look(AsItIs())
    assert numbers["test RF"] == robinson_foulds(build(DISTANCES, LEAVES), TRUTH)
    wrong = np.mean([not smallest_sum_is_first(*quartet) for quartet in quartets])
    assert numbers["test wrong"] == pytest.approx(wrong)
    assert list(numbers) == ["test RF", "test wrong"]
    assert by_leaf is None


def test_a_truth_on_some_leaves_is_compared_on_these():
    part = TRUTH.restrict(LEAVES[3:12])
    numbers, _ = Watch("test", INPUTS, LEAVES, "neighbor_joining", part).look(AsItIs())
    expected = robinson_foulds(neighbor_joining(DISTANCES, LEAVES).restrict(part.leaves), part)
    assert numbers == {"test RF": expected}


def test_shares_are_counted_leaf_by_leaf():
    quartets = np.random.default_rng(0).permuted(np.tile(np.arange(16, dtype=np.int32), (300, 1)), axis=1)[:, :4]
    of = np.random.default_rng(1).integers(3, size=300)
    watch = Watch("held-out", INPUTS, LEAVES, "neighbor_joining", None, quartets, of)
    numbers, by_leaf = watch.look(AsItIs())
    wrong = np.array([not smallest_sum_is_first(*quartet) for quartet in quartets])
    np.testing.assert_allclose(by_leaf, [wrong[of == leaf].mean() for leaf in range(3)])
    assert numbers == {"held-out wrong": pytest.approx(wrong.mean())}


def test_a_watch_with_nothing_to_compare_with_finds_nothing():
    empty = Watch("test", INPUTS, LEAVES, "upgma", None, np.empty((0, 4), dtype=np.int32))
    assert empty.look(AsItIs()) == ({}, None)
    assert not empty.counts
    assert not Watch("test", INPUTS, LEAVES, "upgma").counts
    assert Watch("test", INPUTS, LEAVES, "upgma", TRUTH).counts
    assert Watch("test", INPUTS, LEAVES, "upgma", None, np.zeros((1, 4), dtype=np.int32)).counts


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_points_that_are_not_finite_are_a_floating_point_error(bad):
    inputs = INPUTS.clone()
    inputs[3, 2] = bad
    with pytest.raises(FloatingPointError, match="points in the embedding are not finite"):
        Watch("test", inputs, LEAVES, "neighbor_joining", TRUTH).look(AsItIs())


@pytest.mark.parametrize("mode", [True, False])
def test_a_network_is_in_the_mode_that_it_was_in(mode):
    network = AsItIs().train(mode)
    assert embedded_points(network, INPUTS) is INPUTS
    assert network.training == mode


def test_distances_are_euclidean_in_double_precision():
    found = point_distances(INPUTS)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, np.linalg.norm(INPUTS.double()[:, None] - INPUTS.double()[None], axis=2))


def test_the_first_number_counts_most():
    assert better([0.5], None)
    assert better([0.1, 0.9], [0.2, 0.0])
    assert better([0.1, 0.1], [0.1, 0.2])
    assert not better([0.1, 0.2], [0.1, 0.2])
    assert not better([0.2, 0.0], [0.1, 0.9])


@pytest.mark.parametrize("changes", [{}, {"encoder": "fc", "norm": "batch"}, {"gate": "gumbel", "data_dropout": 0.3}])
def test_how_often_it_is_looked_does_not_matter_to_what_is_learned(changes):
    monitor = {"test": (TEST, TRUTH)}
    often = fitted(select="last", look_every=1, monitor=monitor, **changes)
    once = fitted(select="last", look_every=1000, **changes)
    assert often.parameters.tobytes() == once.parameters.tobytes()
    assert len(often.history) == 31
    assert len(once.history) == 2
