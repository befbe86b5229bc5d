"""The choice: errors by brute force, and that it is made by nothing but the prior and the features."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from celltreeqm.learners.adaptive import CANDIDATES
from celltreeqm.learners.adaptive._choice import _hardly_worse, choose
from celltreeqm.learners.adaptive._measure import labelled_trees, resolved_leaves, rows_for
from celltreeqm.learners.adaptive._scales import SCALES
from celltreeqm.learners.adaptive._trials import (
    TRIED_BUILDERS,
    Trial,
    _held_out_error,
    _trees,
    cut_into_folds,
    cut_into_halves,
    run_trials,
)
from celltreeqm.simulate import random_tree, simulate_scenario
from celltreeqm.trees import neighbor_joining, prior_at_level, robinson_foulds

from ...oracles.quartets import quartet_topology as slow_topology

SIMULATION = simulate_scenario("weak", leaves=32, seed=0)
X, LEAVES, TRUTH = SIMULATION.features[:, ::5], SIMULATION.leaves, SIMULATION.truth


def test_the_table_is_short_plain_and_begins_with_direct_reconstruction():
    assert len(CANDIDATES) <= 40
    assert len(set(CANDIDATES)) == len(CANDIDATES)
    assert {row.scale for row in CANDIDATES} == set(SCALES)
    first = CANDIDATES[0]
    assert (first.scale, first.weighting, first.metric, first.ridge) == ("given", "plain", "euclidean", "none")
    assert all(row.ridge == "none" for row in rows_for(list(SCALES), labelled=False))


def test_held_out_errors_are_those_of_enumeration():
    truth, other = random_tree(10, shape="yule", seed=0), random_tree(10, shape="yule", seed=1)
    found = other.rename(dict(zip(other.leaves, truth.leaves, strict=True)))
    held_out = frozenset(truth.leaves[:3])
    involved = [four for four in combinations(truth.leaves, 4) if held_out & set(four)]
    wrong = [slow_topology(found, four) != slow_topology(truth, four) for four in involved]
    splits, quartets = _held_out_error(found, truth, held_out)
    # Quartets of kept leaves are given in use; here they differ, and count on top.
    kept = [four for four in combinations(truth.leaves, 4) if not held_out & set(four)]
    wrong_kept = sum(slow_topology(found, four) != slow_topology(truth, four) for four in kept)
    assert quartets == pytest.approx((sum(wrong) + wrong_kept) / len(involved))
    assert splits == robinson_foulds(found, truth)
    assert _held_out_error(truth, truth, held_out) == (0, 0)


def test_every_labelled_leaf_is_held_out_once_a_repeat():
    trials = cut_into_folds(LEAVES, 5, 3, np.random.default_rng(0))
    assert len(trials) == 15
    for repeat in range(3):
        held_out = [name for trial in trials[5 * repeat : 5 * repeat + 5] for name in trial.held_out]
        assert sorted(held_out) == sorted(LEAVES)
        assert max(len(t.held_out) for t in trials) - min(len(t.held_out) for t in trials) <= 1


def test_halves_share_no_feature():
    for trial in cut_into_halves(11, 4, np.random.default_rng(0)):
        assert sorted([*trial.halves[0], *trial.halves[1]]) == list(range(11))
        assert [len(half) for half in trial.halves] == [5, 6]


def test_held_out_trials_are_scored_by_trees_that_know_nothing_of_the_held_out_leaves():
    """By brute force, for every candidate: trees made of what is left of the prior, against all of it."""
    prior = TRUTH.restrict(LEAVES[::3])
    held_out = frozenset(prior.leaves[:3])
    rows = rows_for(["given", "standardized"], labelled=True)
    found = run_trials([Trial(held_out, None, 1)], X, LEAVES, [prior, prior_at_level(TRUTH, 1)], rows)[0]
    left = (prior.restrict([name for name in prior.leaves if name not in held_out]), prior_at_level(TRUTH, 1))
    involved = [four for four in combinations(prior.leaves, 4) if held_out & set(four)]
    wanted = {four: slow_topology(prior, four) for four in involved}
    for r, trees in enumerate(_trees(X, LEAVES, left, rows, 1, ridge=True)):
        for b, tree in enumerate(trees):
            alone = tree.restrict(prior.leaves)
            wrong = sum(slow_topology(alone, four) != topology for four, topology in wanted.items())
            assert found[r, b] == pytest.approx([robinson_foulds(alone, prior), wrong / len(involved)])
    direct = neighbor_joining(squareform(pdist(X)), LEAVES, prior=left).restrict(prior.leaves)
    assert found[0, 0, 0] == robinson_foulds(direct, prior)


def test_halves_are_scored_by_the_trees_that_they_make():
    trial = cut_into_halves(X.shape[1], 1, np.random.default_rng(3))[0]
    rows = rows_for(["given"], labelled=False)
    errors = run_trials([trial], X, LEAVES, [], rows)[0]
    assert errors.shape == (len(rows), len(TRIED_BUILDERS), 2)
    one, other = (
        neighbor_joining(np.linalg.norm(X[:, None, half] - X[:, half], axis=2), LEAVES) for half in trial.halves
    )
    assert errors[0, 0, 0] == robinson_foulds(one, other)


def test_only_what_is_hardly_worse_joins_the_best():
    scores = np.array([[2.0, 1.0, 1.1, 9.0], [2.0, 1.0, 1.0, 3.0], [2.0, 1.0, 0.95, 2.0]])
    assert _hardly_worse(scores, 4) == [1, 2]
    assert _hardly_worse(scores, 1) == [1]
    assert _hardly_worse(np.ones((3, 4)), 3) == [0]
    assert _hardly_worse(np.array([[2.0, 1.0]]), 2) == [1]


def test_labelled_trees_are_resolved_and_not_too_small():
    assert labelled_trees([TRUTH, prior_at_level(TRUTH, 2), TRUTH.restrict(LEAVES[:7])]) == (TRUTH,)
    assert resolved_leaves([TRUTH.restrict(LEAVES[:8]), TRUTH.restrict(LEAVES[4:12])]) == LEAVES[:12]


@pytest.mark.parametrize(
    ("prior", "criterion"),
    [
        ([], "split halves"),
        ([prior_at_level(TRUTH, 2)], "split halves"),
        ([TRUTH.restrict(LEAVES[:7])], "split halves"),
        ([TRUTH.restrict(LEAVES[::2])], "held-out leaves"),
        ([prior_at_level(TRUTH, 2), TRUTH.restrict(LEAVES[::2])], "held-out leaves"),
        ([TRUTH], "held-out leaves"),
    ],
)
def test_the_criterion_follows_from_what_is_known(prior, criterion):
    choice = choose(X, LEAVES, prior, n_best=3, folds=3, repeats=1, generator=np.random.default_rng(0))
    assert choice.criterion == criterion
    assert 1 <= len(choice.members) <= 3
    best = min(choice.table, key=lambda row: row["score"])
    assert choice.members[0].builder == best["builder"]
    assert all(best[name] == value for name, value in vars(choice.members[0].candidate).items())
    assert sum(row["chosen"] for row in choice.table) == len(choice.members)
    assert {row["splits"] is None for row in choice.table} == {criterion == "split halves"}


def test_the_number_of_workers_does_not_matter():
    def chosen(workers):
        generator = np.random.default_rng(0)
        return choose(X, LEAVES, [], n_best=3, folds=3, repeats=1, generator=generator, workers=workers)

    assert chosen(1) == chosen(2)
