"""The Brownian likelihood against dense matrices, and what must not matter to it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celltreeqm.learners.heritable import heritability_likelihoods
from celltreeqm.learners.heritable._likelihood import LAMBDAS, tree_spectrum
from celltreeqm.simulate import random_tree, simulate_brownian
from celltreeqm.trees import parse_newick, prior_at_level, root_at_midpoint

from ... import strategies as own

RNG = np.random.default_rng(0)


def dense(x, paths, lambdas):
    """The same by a dense covariance matrix in n - 1 contrasts to the last leaf, for one feature."""
    n = len(x)
    contrasts = np.column_stack([np.eye(n - 1), -np.ones(n - 1)])
    basis = np.linalg.qr(contrasts.T)[0].T
    center = np.eye(n) - np.ones((n, n)) / n
    c = basis @ (-0.5 * center @ paths @ center) @ basis.T
    c *= (n - 1) / np.trace(c)
    y = basis @ x
    out = []
    for value in lambdas:
        shape = value * c + (1 - value) * np.eye(n - 1)
        scale = y @ np.linalg.inv(shape) @ y / (n - 1)
        covariance = scale * shape
        constant = (n - 1) * math.log(2 * math.pi)
        out.append(-0.5 * (constant + np.linalg.slogdet(covariance)[1] + y @ np.linalg.inv(covariance) @ y))
    return np.array(out) - out[0]


@given(st.integers(4, 12).flatmap(lambda n: own.trees(names=[f"t{i}" for i in range(n)])), st.integers(0, 2**32 - 1))
def test_likelihoods_are_those_of_dense_matrices(tree, seed):
    x = np.random.default_rng(seed).normal(size=(tree.n_leaves, 3))
    paths = tree.unroot().distances(by="topology")
    ours = heritability_likelihoods(x, tree)
    for feature, row in zip(x.T, ours, strict=True):
        np.testing.assert_allclose(row, dense(feature, paths, LAMBDAS), atol=1e-8)


def test_edges_count_as_their_lengths_if_asked():
    tree = random_tree(10, shape="yule", max_length=5, seed=2)
    x = RNG.normal(size=(10, 4))
    ours = heritability_likelihoods(x, tree, edges="length")
    for feature, row in zip(x.T, ours, strict=True):
        np.testing.assert_allclose(row, dense(feature, tree.distances(), LAMBDAS), atol=1e-8)
    assert np.abs(ours - heritability_likelihoods(x, tree)).max() > 0.1


def test_the_root_does_not_matter():
    tree = random_tree(12, shape="yule", max_length=4, seed=0)
    x = RNG.normal(size=(12, 5))
    for edges in ("unit", "length"):
        here, there = (heritability_likelihoods(x, one, edges=edges) for one in (tree, root_at_midpoint(tree)))
        np.testing.assert_allclose(here, there, atol=1e-9)


def test_neither_shift_nor_scale_of_a_feature_matters():
    tree = random_tree(12, shape="yule", seed=0)
    x = RNG.normal(size=(12, 5))
    changed = x * [1e-100, 3, -1, 1e9, 1e100] + [0, -7, 3, 1e9, 0]
    np.testing.assert_allclose(heritability_likelihoods(changed, tree), heritability_likelihoods(x, tree), atol=1e-6)


def test_a_tree_without_structure_says_nothing():
    star = parse_newick("(a,b,c,d,e,f);")
    np.testing.assert_allclose(heritability_likelihoods(RNG.normal(size=(6, 4)), star), 0, atol=1e-10)
    constant = heritability_likelihoods(np.ones((12, 1)), random_tree(12, shape="yule", seed=0))
    assert (constant == 0).all()


@pytest.mark.parametrize("truth", [0.0, 0.5, 0.99])
def test_the_likeliest_heritability_is_the_true_one(truth):
    tree = random_tree(64, max_length=1, seed=0)
    basis, spectrum = tree_spectrum(tree)
    assert spectrum.mean() == pytest.approx(1)
    np.testing.assert_allclose(basis.T @ basis, np.eye(63), atol=1e-10)
    np.testing.assert_allclose(basis.sum(axis=0), 0, atol=1e-10)
    drawn = RNG.normal(size=(63, 200)) * np.sqrt(truth * spectrum + 1 - truth)[:, None]
    total = heritability_likelihoods(basis @ drawn, tree).sum(axis=0)
    assert LAMBDAS[total.argmax()] == truth


def test_features_of_the_tree_are_told_from_others_on_its_clades_too():
    tree = random_tree(64, seed=1)
    clades = prior_at_level(tree, 3)
    x = np.hstack([simulate_brownian(tree, 20, seed=2), RNG.normal(size=(64, 20))])
    best = heritability_likelihoods(x, clades).max(axis=1)
    assert np.median(best[:20]) > 5 > 2 > np.median(best[20:])
