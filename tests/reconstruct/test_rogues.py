"""Rogue leaves are found where they were planted, and not where there are none."""

from __future__ import annotations

import numpy as np

from celltreeqm.learners import DirectLearner
from celltreeqm.reconstruct import bootstrap_trees, leaf_stability
from celltreeqm.simulate import random_tree, simulate_scenario
from celltreeqm.simulate._scenarios import Scenario
from celltreeqm.trees import Tree


def without_rogue(leaves: int, seed: int) -> Tree:
    return random_tree(leaves, shape="yule", seed=seed)


def test_a_leaf_that_jumps_is_the_rogue() -> None:
    base = without_rogue(20, 0)
    rest = [name for name in base.leaves if name != "t5"] if "t5" in base.leaves else list(base.leaves[:-1])
    rogue = next(name for name in base.leaves if name not in rest)
    backbone = base.restrict(rest)
    trees = []
    for seed in range(30):
        sibling = rest[int(np.random.default_rng(seed).integers(len(rest)))]
        trees.append(_beside(backbone, rogue, sibling).reorder(base.leaves))
    found = leaf_stability(trees[0], trees)
    assert found.rogues == (rogue,)
    assert found.leaves[int(found.instability.argmax())] == rogue
    where = found.leaves.index(rogue)
    assert found.gain[where] == np.nanmax(found.gain) > 0.1


def test_the_same_trees_have_no_rogues() -> None:
    tree = without_rogue(12, 1)
    found = leaf_stability(tree, [tree] * 3)
    assert found.rogues == ()
    assert (found.instability == 0).all()


def test_a_leaf_of_noise_is_the_most_unstable_in_a_bootstrap() -> None:
    simulation = simulate_scenario(Scenario(leaves=24, shape="yule", signal=80, noise=0), seed=3)
    X = simulation.features.copy()
    X[7] = np.random.default_rng(0).normal(X.mean(axis=0), X.std(axis=0))
    fit = DirectLearner().fit(X, simulation.leaves, seed=0)
    found = leaf_stability(fit.tree(), bootstrap_trees(fit, X, n=40, seed=0).trees)
    worst = np.argsort(-found.instability)[:3]
    assert 7 in worst
    assert found.gain[7] > 0


def _beside(tree: Tree, leaf: str, sibling: str) -> Tree:
    """A tree with a leaf more, beside another."""
    m, n = tree.n_nodes, tree.n_leaves
    where = tree.index[sibling]
    parent = [int(up) + 1 if up >= n else int(up) for up in tree.parent]
    parent = [*parent[:n], m + 1, *parent[n:], parent[where]]
    parent[where] = m + 1
    return Tree(parent, [*tree.leaves, leaf])
