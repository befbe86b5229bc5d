"""Branch lengths: the least-squares optimum of appendix A.2, whatever the tree looks like."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from celltreeqm.trees import Tree
from celltreeqm.trees._branch_lengths import fit_branch_lengths
from tests.oracles import adjacency, path_distances, split_lengths
from tests.oracles.paths import path
from tests.strategies import distance_matrices, trees

SOME = settings(max_examples=60, deadline=None)


def path_matrix(tree: Tree) -> np.ndarray:
    """The paper's P_T: a row for each pair of leaves, a column for the edge above each node but the root."""
    graph = adjacency(tree)
    rows = np.zeros((tree.n_leaves * (tree.n_leaves - 1) // 2, tree.n_nodes - 1))
    for row, (i, j) in enumerate(combinations(range(tree.n_leaves), 2)):
        way = path(graph, i, j)
        for a, b in pairwise(way):
            rows[row, min(a, b)] = 1  # nodes come before their parents
    return rows


def vector(distances: np.ndarray) -> np.ndarray:
    return distances[np.triu_indices(len(distances), 1)]


def random_tree(n: int, seed: int) -> tuple[Tree, np.random.Generator]:
    rng = np.random.default_rng(seed)
    parent, open_nodes = np.full(2 * n - 1, -1), list(range(n))
    for node in range(n, 2 * n - 1):
        for _ in range(2):
            parent[open_nodes.pop(rng.integers(len(open_nodes)))] = node
        open_nodes.append(node)
    return Tree(parent, [f"t{i}" for i in range(n)], rng.exponential(size=2 * n - 1)), rng


@given(st.data())
@SOME
def test_the_fit_is_that_of_the_dense_problem(data):
    tree = data.draw(trees(2, 8, unary=True))
    distances = data.draw(distance_matrices(tree.n_leaves))
    fitted = fit_branch_lengths(tree, distances)
    paths = path_matrix(tree)
    best, smallest = nnls(paths, vector(distances))
    assert (fitted.lengths >= 0).all()
    assert np.isclose(np.linalg.norm(paths @ fitted.lengths[:-1] - vector(distances)), smallest, atol=1e-8)
    np.testing.assert_allclose(path_distances(fitted), path_distances(replace(tree, lengths=[*best, 0])), atol=1e-7)


@given(st.data())
@SOME
def test_without_the_bound_it_is_ordinary_least_squares(data):
    tree = data.draw(trees(2, 8, unary=True))
    distances = data.draw(distance_matrices(tree.n_leaves))
    fitted = fit_branch_lengths(tree, distances, nonnegative=False)
    paths = path_matrix(tree)
    best = np.linalg.lstsq(paths, vector(distances), rcond=None)[0]
    np.testing.assert_allclose(paths @ fitted.lengths[:-1], paths @ best, atol=1e-7)


@given(trees(1, 12, lengths="positive", unary=True, support=True, node_names=True))
@SOME
def test_additive_distances_are_recovered(tree):
    fitted = fit_branch_lengths(tree, path_distances(tree))
    np.testing.assert_allclose(path_distances(fitted), path_distances(tree), atol=1e-9)
    expected = split_lengths(tree.unroot())
    for split, length in split_lengths(fitted.unroot()).items():
        assert np.isclose(length, expected[split], atol=1e-9)
    assert (fitted.node_names, fitted.rooted) == (tree.node_names, tree.rooted)
    assert fitted.support is tree.support or np.array_equal(fitted.support, tree.support, equal_nan=True)


def test_edges_of_one_split_share_its_length_evenly():
    tree = Tree([3, 5, 4, 6, 5, 6, 7, -1], ["a", "b", "c"], rooted=True)  # a and c on chains, and a chain at the root
    fitted = fit_branch_lengths(tree, [[0, 3, 6], [3, 0, 5], [6, 5, 0]])
    np.testing.assert_allclose(fitted.lengths, [2 / 3, 1, 2, 2 / 3, 2, 2 / 3, 0, 0])


@pytest.mark.parametrize("kind", ["noise on the tree", "another tree", "no tree"])
def test_the_optimality_conditions_hold_at_300_leaves(kind):
    tree, rng = random_tree(300, 1)
    pairs = 300 * 299 // 2
    distances = np.zeros((300, 300))
    if kind == "noise on the tree":
        distances[np.triu_indices(300, 1)] = np.abs(vector(tree.distances()) + rng.normal(size=pairs))
    elif kind == "another tree":
        distances[np.triu_indices(300, 1)] = vector(random_tree(300, 2)[0].distances())
    else:
        distances[np.triu_indices(300, 1)] = rng.random(pairs)
    distances += distances.T
    fitted = fit_branch_lengths(tree, distances)
    excess = fitted.distances() - distances
    inside = np.array([np.isin(tree.leaves, tree.leaves_below(node)) for node in range(tree.root)], dtype=float)
    slope = np.einsum("ei,ij,ej->e", inside, excess, 1 - inside, optimize=True)
    tolerance = 1e-8 * np.einsum("ei,ij,ej->e", inside, distances, 1 - inside, optimize=True)
    free = fitted.lengths[:-1] > 0
    assert 0 < free.sum() < len(free)
    assert (np.abs(slope[free]) <= tolerance[free]).all()
    assert (slope[~free] >= -tolerance[~free]).all()


def test_a_thousand_leaves_are_fitted_without_the_path_matrix():
    n = 1000
    tree, rng = random_tree(n, 4)
    distances = tree.distances() * np.exp(rng.normal(scale=0.2, size=(n, n)))
    distances = distances + distances.T
    fit_branch_lengths(tree.restrict(tree.leaves[:8]), distances, tree.leaves)
    tracemalloc.start()
    fitted = fit_branch_lengths(tree, distances)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < n * (n - 1) / 2 * (2 * n - 3) / 4  # a quarter of the path matrix in bytes
    assert np.linalg.norm(fitted.distances() - distances) < np.linalg.norm(2 * tree.distances() - distances)
    assert fitted.lengths.min() == 0


def test_rows_may_come_in_any_order_with_others_among_them_and_as_a_table():
    tree, _ = random_tree(6, 3)
    names = ["t4", "x", "t0", "t5", "t2", "t1", "t3"]
    distances = np.full((7, 7), 5.0) - 5 * np.eye(7)
    own = [i for i, name in enumerate(names) if name != "x"]
    distances[np.ix_(own, own)] = tree.reorder([names[i] for i in own]).distances()
    expected = path_distances(tree)
    np.testing.assert_allclose(fit_branch_lengths(tree, distances, names).distances(), expected)
    np.testing.assert_allclose(fit_branch_lengths(tree, pd.DataFrame(distances, names, names)).distances(), expected)


def test_a_caterpillar_is_fitted_without_recursion():
    n = 400
    parent = np.concatenate([[n], np.arange(n, 2 * n - 1), np.arange(n + 1, 2 * n - 1), [-1]])
    tree = Tree(parent, [f"t{i}" for i in range(n)], np.ones(2 * n - 1), rooted=True)
    np.testing.assert_allclose(fit_branch_lengths(tree, tree.distances()).lengths[:-1], 1.0, atol=1e-9)


def test_leaves_without_a_row_are_named():
    tree, _ = random_tree(4, 0)
    with pytest.raises(ValueError, match=r"2 leaves of the tree have no row in the distances: 't2', 't3'"):
        fit_branch_lengths(tree, np.zeros((2, 2)), ["t0", "t1"])


def test_distances_are_checked():
    tree, _ = random_tree(3, 0)
    with pytest.raises(ValueError, match="must not be negative"):
        fit_branch_lengths(tree, [[0, -1, 1], [-1, 0, 1], [1, 1, 0]])
