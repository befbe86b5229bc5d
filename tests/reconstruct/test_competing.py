"""Competing signals: laws, what is reported and what is not, and that a prior rescues the right tree."""

from __future__ import annotations

import numpy as np
import pytest

from celltreeqm.learners import HeritableLearner
from celltreeqm.reconstruct import competing_signals
from celltreeqm.simulate import Scenario, simulate_scenario
from celltreeqm.trees import Tree, robinson_foulds

TWO = simulate_scenario("competing", leaves=32, seed=1)
KNOWN = TWO.truth.restrict(TWO.leaves[1::3])


def known(truth: Tree, share: float, seed: int) -> Tree:
    order = np.random.default_rng([seed, 2]).permutation(truth.n_leaves)[: int(share * truth.n_leaves)]
    return truth.restrict([truth.leaves[i] for i in order])


def test_two_trees_with_as_many_features_each_are_both_reported():
    found = competing_signals(TWO.features, TWO.leaves, prior=KNOWN, seed=0)
    assert found.competing
    assert len(found.alternatives) == 2
    lineage = found.alternatives[found.agrees]
    (other,) = (one for one in found.alternatives if one is not lineage)
    kinds = np.array(TWO.kinds)
    assert lineage.features[kinds == "signal"].mean() > 0.7
    assert other.features[kinds == "alternative"].mean() > 0.7
    assert not (lineage.features | other.features)[kinds == "noise"].any()
    assert robinson_foulds(lineage.tree, TWO.truth) < 0.25
    assert robinson_foulds(other.tree, TWO.alternatives[0]) < 0.25
    assert lineage.share + other.share == pytest.approx(1)
    assert 0.4 < lineage.share < 0.6
    assert lineage.dimensions > 5
    assert "2 trees that contradict each other" in found.message
    assert f"The prior agrees with number {found.agrees + 1}" in found.message
    np.testing.assert_allclose(found.membership.sum(axis=1), 1)
    assert found.table["agrees"].sum() == 1


@pytest.mark.parametrize("kind", ["batch", "cycle"])
def test_programs_of_the_cell_are_reported(kind):
    simulation = simulate_scenario(kind, leaves=32, seed=2)
    found = competing_signals(simulation.features, simulation.leaves, seed=0)
    assert found.competing
    kinds = np.array(simulation.kinds)
    program = max(found.alternatives, key=lambda one: one.features[kinds == kind].mean())
    assert program.features[kinds == kind].mean() > 0.9
    assert not program.features[kinds == "signal"].any()
    assert program.dimensions < 3
    assert found.agrees is None
    assert "Without a prior nothing says which of them is the lineage" in found.message


@pytest.mark.parametrize("seed", range(3))
def test_one_tree_is_one_tree(seed):
    simulation = simulate_scenario(Scenario(leaves=32, signal=40, noise=40, shape="yule"), seed=seed)
    found = competing_signals(simulation.features, simulation.leaves, seed=0)
    assert len(found.alternatives) == 1
    assert found.message.endswith("no competing tree was found.")
    assert found.gain == 0


def test_noise_tells_of_no_tree():
    noise = np.random.default_rng(0).normal(size=(32, 60))
    found = competing_signals(noise, TWO.leaves, seed=0)
    assert found.alternatives == ()
    assert found.message == "The features tell of no tree."
    assert (found.membership[:, 0] == 1).all()
    assert competing_signals(np.ones((32, 60)), TWO.leaves, seed=0).alternatives == ()


def test_order_of_leaves_and_scale_of_features_do_not_matter():
    rng = np.random.default_rng(0)
    order = rng.permutation(32)
    changed = TWO.features * rng.choice([-100, 0.1, 3], size=TWO.features.shape[1]) + 2
    one = competing_signals(TWO.features, TWO.leaves, seed=0)
    other = competing_signals(changed[order], [TWO.leaves[i] for i in order], seed=0)
    np.testing.assert_allclose(other.membership, one.membership, atol=1e-6)
    for mine, theirs in zip(one.alternatives, other.alternatives, strict=True):
        assert robinson_foulds(mine.tree, theirs.tree) == 0
        assert theirs.tree.leaves == tuple(TWO.leaves[i] for i in order)


def test_the_same_seed_gives_the_same_bytes():
    one, same = (competing_signals(TWO.features, TWO.leaves, seed=3) for _ in range(2))
    assert one.membership.tobytes() == same.membership.tobytes()
    assert one.seed == 3


def test_a_prior_rescues_the_right_tree():
    """Without it either tree may come out."""
    simulation = simulate_scenario("competing", leaves=64, seed=2)
    learner = HeritableLearner(builder="neighbor_joining")
    errors = [
        robinson_foulds(
            learner.fit(simulation.features, simulation.leaves, prior=prior, seed=0).tree(), simulation.truth
        )
        for prior in (None, known(simulation.truth, 0.3, 2))
    ]
    assert errors[0] > 0.6
    assert errors[1] < 0.25


def test_without_contested_features_the_learner_is_not_led_astray():
    """Batches are worse than another tree: the learner alone does not always part them from the lineage."""
    simulation = simulate_scenario("batch", leaves=32, seed=103)
    prior = known(simulation.truth, 0.5, 103)
    found = competing_signals(simulation.features, simulation.leaves, prior=prior, seed=103)
    assert found.agrees is not None
    kinds = np.array(simulation.kinds)
    assert not found.uncontested[kinds == "batch"].any()
    assert found.uncontested[kinds == "signal"].mean() > 0.9
    learner = HeritableLearner(builder="neighbor_joining")
    fit = learner.fit(simulation.features[:, found.uncontested], simulation.leaves, prior=prior, seed=0)
    assert robinson_foulds(fit.tree(), simulation.truth) < 0.2


@pytest.mark.slow
def test_claim_that_one_tree_is_not_taken_for_two():
    reported = 0
    for seed in range(60):
        scenario = Scenario(leaves=64, signal=50, noise=50, shape=("balanced", "yule")[seed % 2])
        simulation = simulate_scenario(scenario, seed=300 + seed)
        reported += competing_signals(simulation.features, simulation.leaves, seed=seed).competing
    assert reported <= 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["competing", "batch", "cycle", "weak"])
def test_claim_that_competing_trees_are_reported_and_the_prior_picks(kind):
    right = 0
    for seed in range(10):
        simulation = simulate_scenario(kind, leaves=64, seed=300 + seed)
        prior = known(simulation.truth, 0.3, seed)
        found = competing_signals(simulation.features, simulation.leaves, prior=prior, seed=seed)
        right += found.agrees is not None and bool(
            found.competing and found.alternatives[found.agrees].features[simulation.signal].mean() > 0.8
        )
    assert right >= 9


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"most": 0}, "most=0 was given; a whole number of 1 or more"),
        ({"X": TWO.features[:5], "leaves": TWO.leaves[:5]}, "5 leaves came; trees that contradict each other"),
        ({"prior": Tree([4, 4, 5, 5, 6, 6, -1], ["a", "b", "c", "d"])}, "4 leaves of the prior have no row"),
    ],
)
def test_wrong_arguments_are_refused(arguments, said):
    with pytest.raises(ValueError, match=said):
        competing_signals(**({"X": TWO.features, "leaves": TWO.leaves} | arguments))
