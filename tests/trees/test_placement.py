"""Placement: the best point of a fixed backbone, found exactly, and the backbone left as it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

from celltreeqm.trees import Tree
from celltreeqm.trees._branch_lengths import fit_branch_lengths
from celltreeqm.trees._placement import find_placements, place_leaves
from tests.oracles import adjacency, from_nested, leaves_below_each, path_distances, split_lengths, splits
from tests.strategies import distance_matrices, trees

SOME = settings(max_examples=60, deadline=None)
WEIGHTS = st.sampled_from(["uniform", "inverse_square"])


def distances_from(tree: Tree, start: int) -> np.ndarray:
    graph, found, stack = adjacency(tree), {start: 0.0}, [start]
    while stack:
        here = stack.pop()
        for near, length in graph[here].items():
            if near not in found:
                found[near] = found[here] + length
                stack.append(near)
    return np.array([found[leaf] for leaf in range(tree.n_leaves)])


def best_on_edge(tree: Tree, node: int, delta: np.ndarray, weights: np.ndarray) -> float:
    """The least weighted sum of squares on an edge, by a bounded dense least-squares fit."""
    low = np.isin(tree.leaves, list(leaves_below_each(tree)[node]))
    if low.all():
        return np.inf
    length = tree.lengths[node]
    design = np.column_stack([np.where(low, 1.0, -1.0), np.ones(tree.n_leaves)])
    beyond = distances_from(tree, tree.parent[node]) + length
    aim = delta - np.where(low, distances_from(tree, node), beyond)
    bounds = ([min(0.0, length) - 1e-13, 0.0], [max(0.0, length) + 1e-13, np.inf])
    root = np.sqrt(weights)
    return 2 * lsq_linear(root[:, None] * design, root * aim, bounds, method="bvls", tol=1e-15).cost


def predicted(tree: Tree, node: int, position: float, pendant: float) -> np.ndarray:
    low = np.isin(tree.leaves, list(leaves_below_each(tree)[node]))
    up = distances_from(tree, tree.parent[node]) + tree.lengths[node] - position
    return np.where(low, distances_from(tree, node) + position, up) + pendant


def weights_of(delta: np.ndarray, kind: str) -> np.ndarray:
    if kind == "uniform" or not delta.any():
        return np.ones_like(delta)
    return 1 / np.maximum(delta, 1e-6 * delta.mean()) ** 2


def one_tree(n: int, seed: int) -> Tree:
    rng = np.random.default_rng(seed)
    parent, open_nodes = np.full(2 * n - 1, -1), list(range(n))
    for node in range(n, 2 * n - 1):
        for _ in range(2):
            parent[open_nodes.pop(rng.integers(len(open_nodes)))] = node
        open_nodes.append(node)
    return Tree(parent, [f"t{i}" for i in range(n)], rng.exponential(size=2 * n - 1) + 0.01)


@given(st.data())
@SOME
def test_every_edge_has_the_least_residual_of_a_dense_fit(data):
    tree = data.draw(trees(2, 7, lengths="positive", unary=True))
    if data.draw(st.booleans()):  # as neighbour joining leaves them
        tree = replace(tree, lengths=tree.lengths - data.draw(st.integers(0, 3)))
    delta = data.draw(distance_matrices(tree.n_leaves + 1))[-1, :-1]
    assume(not delta.any() or delta[delta > 0].min() > 1e-3 * delta.max())  # beyond that the oracle is not exact
    kind = data.draw(WEIGHTS)
    found = find_placements(tree, [delta], ["new"], weights=kind)
    weights = weights_of(delta, kind)
    oracle = np.array([best_on_edge(tree, node, delta, weights) for node in range(tree.root)])
    scale = (weights * delta**2).sum() + (weights * np.abs(tree.lengths).sum() ** 2).sum()
    np.testing.assert_allclose(found.residuals[0], oracle, rtol=1e-7, atol=1e-11 * scale)
    node, position, pendant = found.edge[0], found.position[0], found.pendant[0]
    assert found.residual[0] == found.residuals[0].min() == found.residuals[0, node]
    assert min(0, tree.lengths[node]) <= position <= max(0, tree.lengths[node])
    assert pendant >= 0
    reached = (weights * (delta - predicted(tree, node, position, pendant)) ** 2).sum()
    assert np.isclose(reached, found.residual[0], rtol=1e-7, atol=1e-11 * scale)


@given(st.data())
@SOME
def test_a_leaf_removed_from_an_additive_tree_is_put_back_where_it_was(data):
    tree = data.draw(trees(3, 10, lengths="positive"))
    gone = data.draw(st.sampled_from(tree.leaves))
    rest = tree.restrict([name for name in tree.leaves if name != gone])
    distances = path_distances(tree)
    placed = place_leaves(rest, distances, tree.leaves, weights=data.draw(WEIGHTS))
    assert placed.unroot().same_topology(tree.unroot())
    np.testing.assert_allclose(path_distances(placed.reorder(tree.leaves)), distances, atol=1e-8)
    expected = split_lengths(tree.unroot())
    for split, length in split_lengths(placed.unroot()).items():
        assert np.isclose(length, expected[split], atol=1e-8)


@given(st.data())
@SOME
def test_the_backbone_stays_as_it_is(data):
    tree = data.draw(trees(2, 8, lengths="positive", support=True, node_names=True))
    q = data.draw(st.integers(0, 5))
    between = data.draw(distance_matrices(tree.n_leaves + q))
    names = [f"new{i}" for i in range(q)]
    placed = find_placements(tree, between[tree.n_leaves :, : tree.n_leaves], names).tree()
    assert placed.leaves == (*tree.leaves, *names)
    assert placed.rooted == tree.rooted
    back = placed.restrict(tree.leaves)
    assert back == tree
    if tree.rooted and tree.support is not None:
        whole = tree.restrict(tree.leaves)
        held = dict(zip(leaves_below_each(whole), whole.support.tolist(), strict=True))
        for below, support in zip(leaves_below_each(back), back.support.tolist(), strict=True):
            assert support == held[below] or np.isnan([support, held[below]]).all()


@given(st.data())
@SOME
def test_the_order_of_the_new_leaves_does_not_matter(data):
    tree = data.draw(trees(2, 6, lengths="positive"))
    between = data.draw(distance_matrices(tree.n_leaves + 4))[tree.n_leaves :, : tree.n_leaves]
    names = ["p", "q", "r", "s"]
    order = data.draw(st.permutations(range(4)))
    placed = find_placements(tree, between, names).tree()
    shuffled = find_placements(tree, between[order], [names[i] for i in order]).tree()
    assert placed == shuffled


def test_new_leaves_on_one_edge_are_ordered_along_it():
    backbone = Tree([4, 4, 5, 5, 5, -1], ["a", "b", "c", "d"], [1, 1, 1, 2, 4, 0])
    full = from_nested((((((("a", "b"), "x"), "y"), "z"), "c"), "d"))
    along = dict.fromkeys(full.leaves, 1.0)
    full = Tree(full.parent, full.leaves, [*along.values(), *np.ones(full.n_nodes - 7)])
    order = ["z", "a", "d", "x", "b", "c", "y"]
    placed = place_leaves(backbone, full.reorder(order).distances(), order)
    assert placed.leaves == ("a", "b", "c", "d", "z", "x", "y")
    assert placed.same_topology(full)
    np.testing.assert_allclose(placed.distances(), full.reorder(placed.leaves).distances(), atol=1e-9)


def test_new_leaves_at_one_place_make_a_polytomy():
    backbone = Tree([3, 3, 3, -1], ["a", "b", "c"], [2, 2, 2, 0])
    placed = find_placements(backbone, [[2, 4, 4], [3, 5, 5], [3, 3, 3], [0, 4, 4]], ["p", "q", "r", "s"]).tree()
    np.testing.assert_allclose(placed.distances()[:3, 3:].T, [[2, 4, 4], [3, 5, 5], [3, 3, 3], [0, 4, 4]], atol=1e-9)
    assert placed.n_nodes == 7 + 3  # the node at r was there; p and q share one, s has one at the leaf a
    assert sorted(placed.degree[placed.degree > 0]) == [2, 3, 4]


def test_equal_leaves_are_placed_at_zero_distance_from_their_twin():
    tree = one_tree(20, 4)
    distances = path_distances(tree)
    for weights in ("uniform", "inverse_square"):
        placed = find_placements(tree, distances, [f"twin of {name}" for name in tree.leaves], weights=weights).tree()
        twins = placed.distances()[np.arange(20), np.arange(20, 40)]
        np.testing.assert_allclose(twins, 0, atol=1e-9)


def test_a_backbone_without_lengths_gets_those_of_least_squares():
    tree = one_tree(12, 5)
    names, rng = tree.leaves, np.random.default_rng(0)
    noise = np.triu(rng.uniform(0.9, 1.1, (12, 12)), 1)
    distances = tree.distances() * (noise + noise.T)
    backbone = Tree(tree.parent, names).restrict(names[:9])
    fitted = fit_branch_lengths(backbone, distances[:9, :9])
    expected = find_placements(fitted, distances[9:, :9], names[9:]).tree()
    assert place_leaves(backbone, distances, names) == expected
    assert place_leaves(backbone, pd.DataFrame(distances, names, names)) == expected


def test_inverse_squares_find_the_place_more_often_from_brownian_features():
    tree, rng = one_tree(100, 6).unroot(), np.random.default_rng(1)
    steps = rng.normal(size=(tree.n_nodes, 50)) * np.sqrt(tree.lengths)[:, None]
    features = np.zeros_like(steps)
    for node in range(tree.root - 1, -1, -1):
        features[node] = features[tree.parent[node]] + steps[node]
    distances = ((features[:100, None] - features[:100]) ** 2).mean(axis=2)
    wrong = {"uniform": 0, "inverse_square": 0}
    for leaf, name in enumerate(tree.leaves):
        rest, others = tree.restrict([other for other in tree.leaves if other != name]), np.delete(np.arange(100), leaf)
        for weights in wrong:
            placed = find_placements(rest, distances[[leaf]][:, others], [name], weights=weights).tree()
            wrong[weights] += len(splits(placed) ^ splits(tree))
    assert 0 < wrong["inverse_square"] < 0.75 * wrong["uniform"], wrong


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda tree: find_placements(tree, [[1, 2]], ["x"]), r"shape \(1, 2\); a row for each of the 1 new leaves"),
        (lambda tree: find_placements(tree, [[1, 2, -1]], ["x"]), "between 'x' and 'c' is -1.0"),
        (lambda tree: find_placements(tree, [[1, np.nan, 1]], ["x"]), "between 'x' and 'b' is nan"),
        (lambda tree: find_placements(tree, [[1, 1, 1]], ["a"]), "is a leaf of the backbone already: 'a'"),
        (lambda tree: find_placements(tree, np.ones((2, 3)), ["x", "x"]), "must be unique"),
        (lambda tree: find_placements(tree, [[1, 1, 1]], ["x"], weights="linear"), "weights='linear'"),
        (lambda tree: find_placements(tree.restrict(["a"]), [[1]], ["x"]), "at least two leaves"),
        (lambda tree: find_placements(Tree(tree.parent, tree.leaves), [[1, 1, 1]], ["x"]), "no branch lengths"),
        (lambda tree: place_leaves(tree, np.zeros((2, 2)), ["a", "x"]), "no row in the distances: 'b', 'c'"),
    ],
)
def test_errors_say_what_is_wrong(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(from_nested(("a", "b", "c")).with_unit_lengths())


def test_one_name_alone_is_no_list_of_names():
    with pytest.raises(TypeError, match="single string 'new'"):
        find_placements(from_nested(("a", "b", "c")).with_unit_lengths(), [[1, 1, 1]], "new")
