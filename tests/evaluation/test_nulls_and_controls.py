"""Nulls destroy the lineage and nothing else; controls show what a score is worth."""

from __future__ import annotations

from dataclasses import astuple
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from celltreeqm.evaluation import (
    copy_nearest_leaf,
    evaluate,
    hold_out_leaves,
    permute_cells,
    permute_genes,
    permute_leaves,
)
from celltreeqm.learners import DirectLearner
from celltreeqm.simulate import random_tree, simulate_brownian, simulate_scenario
from celltreeqm.trees import parse_newick, quartet_agreement, read_newick, robinson_foulds, shape_statistics
from tests.strategies import priors_of, trees

TRUTH = random_tree(64, seed=5)
X = simulate_brownian(TRUTH, 50, seed=6)


@given(trees(1, 10, lengths="any", node_names=True, support=True), st.integers(0, 99), st.data())
def test_permuted_leaves_keep_the_shape_and_the_rows(tree, seed, data):
    prior = data.draw(priors_of(tree))
    permuted, moved = permute_leaves([tree, prior], seed)
    assert permuted.leaves == tree.leaves
    assert sorted(permuted.n_below.tolist()) == sorted(tree.n_below.tolist())
    assert permute_leaves(tree, seed) == permuted
    seen = quartet_agreement(permuted.restrict(moved.leaves), moved)
    assert seen.different == seen.only_second == 0, "one renaming for both"
    assert moved.n_leaves == prior.n_leaves
    assert set(moved.leaves) <= set(tree.leaves)


def test_a_permuted_prior_is_what_the_permuted_truth_displays():
    for seed in range(10):
        some = TRUTH.restrict(TRUTH.leaves[::3])
        permuted, prior = permute_leaves([TRUTH, some], seed)
        assert robinson_foulds(permuted.restrict(prior.leaves), prior) == 0
        assert robinson_foulds(permuted, TRUTH) > 0.9
        assert astuple(shape_statistics(permuted)) == pytest.approx(astuple(shape_statistics(TRUTH)))


def test_every_permutation_of_three_leaves_is_as_likely():
    tree = parse_newick("((a,b),c);")
    rng = np.random.default_rng(0)
    permuted = [permute_leaves(tree, rng) for _ in range(600)]
    odd = [name for one in permuted for name in one.leaves if one.level[one.index[name]] == 1]
    assert len(odd) == 600
    assert all(150 < odd.count(name) < 250 for name in "abc"), "200 each, sd 11.5"


def test_permuted_cells_keep_every_feature_and_lose_how_they_vary_together():
    permuted = permute_cells(X, 1)
    assert (np.sort(permuted, axis=0) == np.sort(X, axis=0)).all()
    assert not (np.sort(permuted, axis=1) == np.sort(X, axis=1)).any(axis=1).all()
    assert robinson_foulds(DirectLearner().fit(permuted, TRUTH.leaves).tree(), TRUTH) > 0.9
    order = np.argsort(permuted, axis=0)
    assert len({tuple(column) for column in (order - np.argsort(X, axis=0)).T.tolist()}) == 50


def test_permuted_genes_keep_every_cell():
    permuted = permute_genes(X, 1)
    assert (np.sort(permuted, axis=1) == np.sort(X, axis=1)).all()
    assert robinson_foulds(DirectLearner().fit(permuted, TRUTH.leaves).tree(), TRUTH) > 0.8


@pytest.mark.parametrize("null", [permute_cells, permute_genes])
def test_nulls_of_features_are_reproducible_and_leave_the_original(null):
    mine = X.copy()
    assert (null(mine, 3) == null(mine, 3)).all()
    assert (null(mine, 3) != null(mine, 4)).any()
    assert (mine == X).all()
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        null([1.0, 2.0, 3.0])


def test_trees_that_cannot_be_permuted_together_are_refused():
    with pytest.raises(ValueError, match="1 leaves of tree 2 are not in the first: 'x'"):
        permute_leaves([parse_newick("((a,b),c);"), parse_newick("((a,b),x);")])
    with pytest.raises(ValueError, match="No trees were given"):
        permute_leaves([])
    with pytest.raises(TypeError, match="a Tree was needed"):
        permute_leaves(["((a,b),c);"])


# The null that matters: with labels permuted a prior improves the whole tree, and nothing that it does not mention


def test_without_signal_a_prior_improves_the_whole_tree_but_not_the_unlabelled_leaves(shared_data: Path):
    folder = shared_data / "epic190"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there.")
    table, truth = pd.read_csv(folder / "expression.csv.gz", index_col=0), read_newick(folder / "tree.nwk")
    gains = []
    for seed in range(8):
        permuted = permute_leaves(truth, seed)
        labelled = np.random.default_rng([8, seed]).permutation(truth.leaves)[:152]  # kappa .8
        prior = permuted.restrict(labelled.tolist())
        tree = DirectLearner().fit(table, prior=prior).tree()
        evaluation = evaluate(tree, permuted, prior=prior, features=table)
        bases, values = evaluation.values("direct"), evaluation.values()
        gains.append({metric: bases[metric] - values[metric] for metric in values})
        for line in ("RF", "P-QD"):
            assert "unlabelled-leaf RF" in evaluation.text([line])
        assert evaluation.values("delta_under_prior")["RF"] == 0, "nothing was learned, and nothing is credited"
    gain = pd.DataFrame(gains).mean()
    assert gain["RF"] > 0.15
    assert gain["QD"] > 0.25
    assert gain["P-QD"] > 0.1
    assert abs(gain["unlabelled-leaf RF"]) < 0.02
    assert abs(gain["U-QD"]) < 0.03


# Nearest-leaf copying


def test_copying_wins_the_supervised_task_without_learning():
    copied, direct = [], []
    for seed in range(5):
        truth = random_tree(64, seed=seed)
        signal = simulate_brownian(truth, 50, seed=seed)
        rng = np.random.default_rng(seed)
        sd = signal.std(axis=0).mean()
        train, test = (
            np.hstack([signal + rng.normal(scale=scale * sd, size=signal.shape), rng.normal(scale=sd, size=(64, 100))])
            for scale in (0, 0.1)
        )
        copied.append(robinson_foulds(copy_nearest_leaf(train, test, truth), truth))
        direct.append(robinson_foulds(DirectLearner().fit(test, truth.leaves).tree(), truth))
    assert np.mean(copied) <= 0.001
    assert np.mean(direct) > 0.3


@pytest.mark.parametrize("scenario", [f"{letter}{number}" for letter in "ABCD" for number in (1, 2, 3)])
def test_copying_wins_the_papers_simulations(scenario):
    simulation = simulate_scenario(scenario, seed=1)
    features = simulation.replicate(seed=2).features
    copied = copy_nearest_leaf(simulation.features, features, simulation.truth)
    assert robinson_foulds(copied, simulation.truth) <= 0.001
    assert robinson_foulds(DirectLearner().fit(features, simulation.leaves).tree(), simulation.truth) > 0.1


def test_features_that_do_not_vary_are_of_no_account():
    flat = np.ones((64, 3))
    rng = np.random.default_rng(0)
    train, test = np.hstack([X, flat]), np.hstack([X + rng.normal(scale=0.1, size=X.shape), 5 * flat])
    assert robinson_foulds(copy_nearest_leaf(train, test, TRUTH), TRUTH) == 0
    assert copy_nearest_leaf(train, train, TRUTH) == TRUTH
    assert copy_nearest_leaf(flat, flat, TRUTH) == TRUTH


def test_copying_gets_nothing_right_on_a_fresh_realisation():
    fresh = simulate_brownian(TRUTH, 50, seed=99)
    assert robinson_foulds(copy_nearest_leaf(X, fresh, TRUTH), TRUTH) > 0.9
    assert robinson_foulds(DirectLearner().fit(fresh, TRUTH.leaves).tree(), TRUTH) < 0.3


def test_a_copy_puts_each_test_leaf_where_its_match_is():
    tree = parse_newick("((a:1,b:2):3,(c:4,d:5):6);")
    copy = copy_nearest_leaf([[0], [1], [5], [6]], [[5], [0], [6], [1]], tree)
    assert copy == parse_newick("((b:1,d:2):3,(a:4,c:5):6);")
    assert copy.leaves == tree.leaves
    # The best matching as a whole: both tests are nearest to b, and a is the lesser loss for the first
    copy = copy_nearest_leaf([[0], [1], [5], [6]], [[0.9], [1.1], [5], [6]], tree)
    assert copy == tree


def test_the_order_of_rows_does_not_matter_where_they_have_names():
    rng = np.random.default_rng(0)
    train = pd.DataFrame(X, index=TRUTH.leaves)
    test = train + rng.normal(scale=0.8, size=X.shape)
    copy = copy_nearest_leaf(train, test, TRUTH)
    assert copy == copy_nearest_leaf(X, test.to_numpy(), TRUTH)
    assert copy == copy_nearest_leaf(train.sample(frac=1, random_state=1), test.sample(frac=1, random_state=2), TRUTH)
    assert copy == copy_nearest_leaf(X[::-1], test.to_numpy()[::-1], TRUTH, leaves=TRUTH.leaves[::-1])
    assert robinson_foulds(copy, TRUTH) < 1


def test_rows_and_features_that_do_not_match_are_refused():
    with pytest.raises(ValueError, match="64 leaf names came with a 3 x 50"):
        copy_nearest_leaf(X, X[:3], TRUTH)
    with pytest.raises(ValueError, match="3 to train on, 3 to test.* are not the 64 leaves of the tree"):
        copy_nearest_leaf(X[:3], X[:3], TRUTH, leaves=TRUTH.leaves[:3])
    with pytest.raises(ValueError, match="50 features to train on and 49 to test"):
        copy_nearest_leaf(X, X[:, 1:], TRUTH)


# Held-out leaves


@given(st.integers(8, 60), st.floats(0.01, 0.99), st.integers(0, 9))
def test_held_out_leaves_are_a_split_in_order(n, fraction, seed):
    leaves = [f"t{i}" for i in range(n)]
    expected = int(fraction * n + 1e-9)
    if min(expected, n - expected) < 4:
        with pytest.raises(ValueError, match="either side needs 4 or more"):
            hold_out_leaves(leaves, fraction, seed=seed)
        return
    kept, held_out = hold_out_leaves(leaves, fraction, seed=seed)
    assert len(held_out) == expected
    assert sorted(kept + held_out) == sorted(leaves)
    assert list(kept) == [name for name in leaves if name in kept]
    assert list(held_out) == [name for name in leaves if name in held_out]
    assert hold_out_leaves(leaves, fraction, seed=seed) == (kept, held_out)


@pytest.mark.parametrize("fraction", [0, 1, -0.5, float("nan"), "0.2", None])
def test_a_share_outside_0_and_1_is_refused(fraction):
    with pytest.raises(ValueError, match="a share between 0 and 1"):
        hold_out_leaves(list("abcdefghij"), fraction)


def test_a_fit_to_the_kept_leaves_builds_the_tree_of_the_held_out_ones():
    kept, held_out = hold_out_leaves(TRUTH.leaves, 0.25, seed=1)
    table = pd.DataFrame(X, index=TRUTH.leaves)
    fit = DirectLearner().fit(table.loc[list(kept)], prior=TRUTH.restrict(kept))
    tree = fit.tree(table.loc[list(held_out)], honor_prior=False)
    assert evaluate(tree, TRUTH.restrict(held_out))["RF"] < 0.5


def test_bad_seeds_are_told_in_a_sentence():
    for call in (
        lambda seed: permute_leaves(TRUTH, seed),
        lambda seed: permute_cells(X, seed),
        lambda seed: permute_genes(X, seed),
        lambda seed: hold_out_leaves(TRUTH.leaves, seed=seed),
    ):
        with pytest.raises(ValueError, match="seed=-1 was given; a seed is a whole number of 0 or more"):
            call(-1)
        with pytest.raises(TypeError, match=r"seed='1' \(str\) was given; a whole number"):
            call("1")


def test_names_that_are_no_leaves_are_not_held_out():
    with pytest.raises(ValueError, match="Leaf names must be unique"):
        hold_out_leaves(["a"] * 20, 0.5)


@pytest.mark.parametrize("permute", [permute_cells, permute_genes])
def test_sparse_features_are_permuted_like_dense_ones(permute):
    dense = np.eye(5)
    assert np.array_equal(permute(sparse.csr_array(dense), 1), permute(dense, 1))
    with pytest.raises(ValueError, match="cannot be read as numbers"):
        permute([["x"]], 1)
