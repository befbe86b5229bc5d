"""New leaves on a finished tree: laws, weights that mean what they say, and what is refused."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from celltreeqm.learners import AdaptiveLearner, DirectLearner, HeritableLearner
from celltreeqm.reconstruct import place_new_leaves, prepare_placement
from celltreeqm.reconstruct._place_new import _own_edges
from celltreeqm.simulate import random_tree, simulate_scenario
from celltreeqm.trees import Tree, find_conflict, find_placements, read_newick

SIMULATION = simulate_scenario("weak", leaves=64, seed=0)
HELD = np.random.default_rng(0).permutation(64)[:6]
KEPT = np.setdiff1d(np.arange(64), HELD)
NAMES, NEW = ([SIMULATION.leaves[i] for i in rows] for rows in (KEPT, HELD))
BACKBONE = SIMULATION.truth.restrict(NAMES)
FIT = HeritableLearner(builder="neighbor_joining").fit(SIMULATION.features[KEPT], NAMES, prior=BACKBONE, seed=0)
PLACER = prepare_placement(BACKBONE, FIT)
FOUND = PLACER.place(SIMULATION.features[HELD], NEW)


def belongs(found, name: str, truth: Tree) -> np.ndarray:
    """bool[m - 1], whether attaching the leaf to each edge gives the truth."""
    backbone = found.placements.backbone
    whole = truth.restrict([*backbone.leaves, name]).unroot()
    leaf = whole.index[name]
    at = whole.parent[leaf]
    sides = [set(whole.leaves_below(e)) for e in range(whole.n_nodes - 1) if whole.parent[e] == at and e != leaf]
    rest = set(backbone.leaves)
    sides.append(rest - set().union(*sides))
    below = [set(backbone.leaves_below(e)) for e in range(backbone.n_nodes - 1)]
    return np.array([side in sides or rest - side in sides for side in below])


def test_most_held_out_leaves_go_where_they_belong():
    right = [belongs(FOUND, name, SIMULATION.truth)[FOUND.placements.edge[i]] for i, name in enumerate(NEW)]
    assert np.mean(right) >= 4 / 6
    assert FOUND.tree().restrict(NAMES).same_topology(BACKBONE)
    assert set(FOUND.tree().leaves) == set(SIMULATION.leaves)


@pytest.mark.parametrize("seed", range(3))
def test_own_edges_of_leaves_left_out_are_those_that_give_the_tree_back(seed):
    tree = random_tree(20, shape="yule", seed=seed)
    tree = tree.collapse([int(tree.parent[3])]) if seed else tree.unroot()
    held = np.random.default_rng(seed).permutation(20)[:5]
    rest = tree.restrict([name for i, name in enumerate(tree.leaves) if i not in held])
    own = _own_edges(tree, rest, held)
    backbone = rest.with_unit_lengths()
    for k, leaf in enumerate(held):
        found = find_placements(backbone, np.ones((1, 15)), [tree.leaves[leaf]])
        for edge in range(rest.n_nodes - 1):
            there = replace(found, edge=np.array([edge]), position=np.array([0.5]), pendant=np.array([1.0])).tree()
            wanted = tree.restrict(there.leaves)
            assert own[k, edge] == (find_conflict(there, wanted) is None)


def test_weights_are_probabilities_and_the_best_fit_has_the_most():
    np.testing.assert_allclose(FOUND.weights.sum(axis=1), 1)
    assert (FOUND.weights.argmax(axis=1) == FOUND.placements.edge).all()
    assert (FOUND.nearby >= FOUND.weight - 1e-12).all()
    table = FOUND.candidates(NEW[0])
    assert table["weight"].is_monotonic_decreasing
    assert 0.95 <= table["weight"].sum() <= 1 + 1e-9
    assert table["below"][0] == FOUND.placements.backbone.leaves_below(int(FOUND.placements.edge[0]))
    assert list(FOUND.table.index) == NEW


def test_each_leaf_is_placed_on_its_own():
    for i, name in enumerate(NEW):
        alone = PLACER.place(SIMULATION.features[HELD[i : i + 1]], [name])
        np.testing.assert_allclose(alone.weights[0], FOUND.weights[i], rtol=1e-6, atol=1e-12)


def test_order_of_leaves_and_scale_of_features_do_not_matter():
    rng = np.random.default_rng(0)
    order = rng.permutation(len(KEPT))
    scale = rng.choice([-3.0, 0.2, 50.0], size=SIMULATION.features.shape[1])
    shuffled = [NAMES[i] for i in order]
    learner = HeritableLearner(builder="neighbor_joining")
    fit = learner.fit(SIMULATION.features[KEPT][order] * scale + 1, shuffled, prior=BACKBONE, seed=0)
    other = place_new_leaves(BACKBONE.reorder(shuffled), fit, SIMULATION.features[HELD] * scale + 1, NEW)
    np.testing.assert_allclose(other.weight, FOUND.weight, rtol=1e-4)
    assert other.tree().same_topology(FOUND.tree())


def test_features_without_lineage_make_weights_flat_and_leaves_unstable():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(64, 100))
    fit = DirectLearner().fit(noise[KEPT], NAMES, seed=0)
    found = place_new_leaves(BACKBONE, fit, noise[HELD], NEW)
    assert found.weight.max() < 0.3
    assert set(found.unstable) == set(NEW)
    assert "may as well be elsewhere" in found.message


def test_a_leaf_like_nothing_on_the_tree_is_listed():
    strange = SIMULATION.features[HELD] + 30 * np.random.default_rng(1).normal(size=(6, SIMULATION.features.shape[1]))
    found = PLACER.place(strange, NEW)
    assert set(found.unstable) == set(NEW)
    assert (found.misfit == 0).all()
    assert FOUND.misfit.mean() > 0.2


@pytest.mark.parametrize("learner", [DirectLearner(), AdaptiveLearner(best=1, bag=2, repeats=1, folds=2)])
def test_other_learners_work(learner):
    fit = learner.fit(SIMULATION.features[KEPT], NAMES, prior=BACKBONE, seed=0)
    found = place_new_leaves(BACKBONE, fit, pd.DataFrame(SIMULATION.features[HELD], index=NEW))
    assert found.names == tuple(NEW)
    np.testing.assert_allclose(found.weights.sum(axis=1), 1)


def test_distances_do_as_well():
    truth = SIMULATION.truth.distances()
    found = place_new_leaves(BACKBONE, truth[np.ix_(KEPT, KEPT)], truth[np.ix_(HELD, KEPT)], NEW)
    assert all(belongs(found, name, SIMULATION.truth)[found.placements.edge[i]] for i, name in enumerate(NEW))
    assert found.nearby.min() > 0.9
    assert found.unstable == ()
    assert found.message == "6 new leaves have been placed, none unstably."


def test_single_leaves_take_milliseconds():
    PLACER.place(SIMULATION.features[HELD[:1]], NEW[:1])
    times = []
    for _ in range(20):
        start = time.process_time()
        PLACER.place(SIMULATION.features[HELD[:1]], NEW[:1])
        times.append(time.process_time() - start)
    assert np.median(times) < 0.01


@pytest.mark.slow
def test_claim_that_weights_are_calibrated_on_simulations():
    """Of about 400 held-out leaves; the mean weight of best edges and the share that is right differ by .1 at most."""
    weight, right = [], []
    for seed in range(30):
        simulation = simulate_scenario("heritability", leaves=128, seed=400 + seed)
        held = np.random.default_rng(seed).permutation(128)[:13]
        kept = np.setdiff1d(np.arange(128), held)
        names = [simulation.leaves[i] for i in kept]
        backbone = simulation.truth.restrict(names)
        fit = HeritableLearner().fit(simulation.features[kept], names, prior=backbone, seed=0)
        found = place_new_leaves(backbone, fit, simulation.features[held], [simulation.leaves[i] for i in held])
        weight += found.weight.tolist()
        edges = zip(found.names, found.placements.edge, strict=True)
        right += [bool(belongs(found, name, simulation.truth)[edge]) for name, edge in edges]
    assert abs(np.mean(weight) - np.mean(right)) < 0.1
    sure = np.array(weight) > 0.8
    assert np.mean(np.array(right)[sure]) > np.mean(np.array(right)[~sure])


@pytest.mark.slow
def test_claim_that_cells_find_their_place_in_a_real_lineage(shared_data):
    table = pd.read_csv(shared_data / "epic190/expression.csv.gz", index_col=0)
    truth = read_newick(shared_data / "epic190/tree.nwk", rooted=True)
    right = []
    for seed in range(4):
        held = np.random.default_rng(seed).permutation(190)[:19]
        new = [truth.leaves[i] for i in held]
        backbone = truth.restrict([name for name in truth.leaves if name not in new])
        fit = HeritableLearner().fit(table.loc[list(backbone.leaves)], prior=backbone, seed=0)
        found = place_new_leaves(backbone, fit, table.loc[new])
        edges = zip(found.names, found.placements.edge, strict=True)
        right += [bool(belongs(found, name, truth)[edge]) for name, edge in edges]
    assert np.mean(right) > 0.45  # of 340 edges


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"names": None}, "The new leaves came without names"),
        ({"names": [NAMES[0], *NEW[1:]]}, "1 of the new names is a leaf of the backbone already"),
        ({"X_new": SIMULATION.features[HELD][:, :5]}, "The new matrix has 5 features and the fit was made with 600"),
        ({"tree": BACKBONE.restrict(NAMES[:5])}, "The tree has 5 leaves; 8 or more are needed"),
        ({"tree": SIMULATION.truth}, "6 leaves of the tree are not among those of the fit"),
        ({"source": np.zeros((3, 3))}, "58 .*3"),
    ],
)
def test_wrong_arguments_are_refused(arguments, said):
    given = {"tree": BACKBONE, "source": FIT, "X_new": SIMULATION.features[HELD], "names": NEW} | arguments
    with pytest.raises(ValueError, match=said):
        place_new_leaves(**given)


def test_an_unknown_name_has_no_candidates():
    with pytest.raises(ValueError, match="'x' is none of the new leaves; they are"):
        FOUND.candidates("x")
