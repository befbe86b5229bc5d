"""Anchors, positives and negatives: out of topologies by the embedding, out of path lengths as the paper says."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from celltreeqm.learners.quartet import pairwise_distances, quadruplets_of, triplet_loss
from tests import oracles
from tests.strategies import trees

N = 9


def any_quartets(n=N, count=100, seed=0):
    rng = np.random.default_rng(seed)
    return torch.from_numpy(np.stack([rng.permutation(n)[:4] for _ in range(count)]))


def embedded(seed=0, n=N):
    return pairwise_distances(torch.from_numpy(np.random.default_rng(seed).normal(size=(n, 3))))


@pytest.mark.parametrize("ties", [False, True])
def test_of_a_topology_both_pairs_are_anchor_and_positive_and_the_farther_of_the_others_is_negative(ties):
    distances = embedded().round() if ties else embedded()
    quartets = any_quartets()
    found = quadruplets_of(quartets, distances)
    assert found.dtype == torch.int64
    expected = oracles.rows_by_topology(quartets.tolist(), distances.tolist())
    assert sorted(map(tuple, found.tolist())) == sorted(expected)


def test_the_negative_follows_the_embedding():
    quartet = torch.tensor([[0, 1, 2, 3]])
    on_a_line = pairwise_distances(torch.tensor([[0.0], [1.0], [5.0], [9.0]]))
    assert quadruplets_of(quartet, on_a_line).tolist() == [[0, 1, 3, 2], [2, 3, 0, 1]]
    # Leaf 0 now stands between the others: 2 is farther from it than 3, and 1 is farther from 2 than 0.
    moved = pairwise_distances(torch.tensor([[7.0], [1.0], [4.0], [9.0]]))
    assert quadruplets_of(quartet, moved).tolist() == [[0, 1, 2, 3], [2, 3, 0, 1]]
    assert quadruplets_of(quartet, pairwise_distances(torch.tensor([[6.0], [1.0], [4.5], [9.0]]))).tolist() == [
        [0, 1, 3, 2],
        [2, 3, 1, 0],
    ]


def check_rows(quartets, found, lengths):
    """One row a quartet: its closest pair, then the leaf of the others that is farthest from the anchor."""
    assert len(found) == len(quartets)
    for four, (anchor, positive, negative, second) in zip(quartets, found, strict=True):
        assert {anchor, positive, negative, second} == set(four)
        assert lengths[anchor][positive] == oracles.closest_pair(four, lengths)
        assert lengths[anchor][negative] >= lengths[anchor][second]
        assert lengths[anchor][negative] == max(lengths[anchor][leaf] for leaf in four)


@given(data=st.data())
def test_with_path_lengths_the_closest_are_anchor_and_positive_and_the_farthest_is_negative(data):
    tree = data.draw(trees(4, 8, binary=True, lengths=data.draw(st.sampled_from(["positive", None]))))
    lengths = oracles.path_distances(tree).round(6)  # sums of the same edges in another order differ by a rounding
    quartets = any_quartets(tree.n_leaves, 20)
    misleading = embedded(1, tree.n_leaves)  # does not matter where lengths are known
    found = quadruplets_of(quartets, misleading, torch.from_numpy(lengths))
    check_rows(quartets.tolist(), found.tolist(), lengths.tolist())


def test_with_path_lengths_the_closest_pair_need_not_be_one_of_the_topology():
    """ab|cd with long edges to b and d, and an inner edge of 1: a and c are the closest."""
    lengths = torch.tensor([[0.0, 8, 3, 9], [8, 0, 9, 15], [3, 9, 0, 8], [9, 15, 8, 0]])
    assert quadruplets_of(torch.tensor([[0, 1, 2, 3]]), lengths, lengths).tolist() == [[0, 2, 3, 1]]


def test_the_first_three_columns_are_triplets_of_the_paper():
    """A quartet whose cherries the embedding has right by far costs nothing, one whose cherries it has wrong does."""
    points = torch.tensor([[0.0], [1.0], [10.0], [11.0]])
    squares, distances = pairwise_distances(points, squared=True), pairwise_distances(points)
    right = quadruplets_of(torch.tensor([[0, 1, 2, 3]]), distances)[:, :3]
    wrong = quadruplets_of(torch.tensor([[0, 2, 1, 3]]), distances)[:, :3]
    assert float(triplet_loss(squares, right, margin=0.5)) == 0
    # From 0 the positive is at 10 and the farther of the others at 11; from 1 they are at 10 and at 9.
    assert float(triplet_loss(squares, wrong, margin=0.5)) == pytest.approx((0 + 100 - 81 + 0.5) / 2)


@pytest.mark.parametrize("lengths", [None, embedded()])
def test_no_quartets_make_no_rows(lengths):
    assert quadruplets_of(torch.empty(0, 4, dtype=torch.int64), embedded(), lengths).shape == (0, 4)
