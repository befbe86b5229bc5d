"""The signal test: what it compares with what, its laws, and what it says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, kstest

from celltreeqm.reconstruct import signal_test
from celltreeqm.reconstruct._signal import short_number
from celltreeqm.simulate import Scenario, Simulation, random_tree, simulate_brownian, simulate_scenario
from celltreeqm.trees import Tree, prior_at_level, prior_from_clades, read_newick


@pytest.fixture(scope="module")
def weak() -> Simulation:
    return simulate_scenario("weak", leaves=32, seed=0)


def shuffled(tree: Tree, seed: int) -> Tree:
    """The tree with its leaves' names permuted."""
    names = np.random.default_rng([seed, 90]).permutation(list(tree.leaves)).tolist()
    return tree.rename(dict(zip(tree.leaves, names, strict=True)))


def test_signal_is_found_where_it_is_and_not_where_labels_are_permuted(weak):
    prior = weak.truth.restrict(weak.leaves[::2])
    found = signal_test(weak.features, weak.leaves, prior=prior, seed=0)
    assert (found.kind, found.p, found.leaves, found.permutations) == ("labels", 0.005, 16, 199)
    assert found.significant
    assert found.z > 2.5
    assert "there is lineage signal" in found.message
    nothing = signal_test(weak.features, weak.leaves, prior=shuffled(prior, 0), seed=0)
    assert nothing.p > 0.05
    assert abs(nothing.z) < 3
    assert "No lineage signal was found" in nothing.message


def test_clades_alone_are_tested_by_predicting_those_of_left_out_leaves(weak):
    prior = prior_at_level(weak.truth, 2)
    found = signal_test(weak.features, weak.leaves, prior=prior, seed=0)
    assert (found.kind, found.p, found.leaves) == ("clades", 0.005, 32)
    assert found.statistic == "held-out clade membership"
    assert "Nothing is tested of the lineage inside" in found.message
    nothing = signal_test(weak.features, weak.leaves, prior=shuffled(prior, 1), seed=0)
    assert nothing.p > 0.05
    assert "no better" in nothing.message


def test_with_nothing_known_structure_is_found_and_not_called_lineage():
    simulation = simulate_scenario("A3", leaves=32, seed=1)
    found = signal_test(simulation.features, simulation.leaves, seed=0, permutations=39)
    assert (found.kind, found.p, found.leaves) == ("genes", 0.025, 32)
    assert "This is not evidence of lineage" in found.message
    noise = np.random.default_rng(0).normal(size=(32, 60)) @ np.random.default_rng(1).normal(size=(60, 60))
    nothing = signal_test(noise, simulation.leaves, seed=0, permutations=39)
    assert nothing.p > 0.05
    assert "no structure was found" in nothing.message


def test_few_features_with_structure_are_found_among_many_without():
    simulation = simulate_scenario("weak", leaves=32, seed=2)
    assert signal_test(simulation.features, simulation.leaves, seed=0, permutations=39).p == 0.025


def test_batches_alone_are_structure_between_genes_and_never_lineage():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(30, 50)) + rng.normal(size=(3, 50))[np.arange(30) % 3] * 2
    found = signal_test(features, [f"c{i}" for i in range(30)], seed=0, permutations=39)
    assert found.p == 0.025
    assert "lineage signal" not in found.message
    assert "not evidence of lineage" in found.message


def test_a_prior_that_resolves_nothing_is_like_none(weak):
    star = prior_from_clades({name: name for name in weak.leaves})
    assert signal_test(weak.features, weak.leaves, prior=star, seed=0, permutations=19).kind == "genes"


def test_a_few_labelled_leaves_are_tested_as_clades(weak):
    prior = shuffled(weak.truth.restrict(weak.leaves[:7]), 0)
    found = signal_test(weak.features, weak.leaves, prior=prior, seed=0, permutations=19)
    assert found.kind == "clades"
    assert found.message.endswith("So few leaves could hardly have shown any.")


def test_several_labelled_trees_count_together_and_leaves_in_two_count_once(weak):
    first, second = weak.truth.restrict(weak.leaves[:16]), weak.truth.restrict(weak.leaves[16:28])
    both = signal_test(weak.features, weak.leaves, prior=[second, first], seed=0)
    assert both.leaves == 28
    assert both.z > signal_test(weak.features, weak.leaves, prior=second, seed=0).z
    overlapping = weak.truth.restrict(weak.leaves[12:20])
    again = signal_test(weak.features, weak.leaves, prior=[first, second, overlapping], seed=0)
    assert (again.leaves, again.z) == (28, both.z)


def test_labels_go_before_clades(weak):
    prior = [prior_at_level(weak.truth, 1), weak.truth.restrict(weak.leaves[:10])]
    found = signal_test(weak.features, weak.leaves, prior=prior, seed=0, permutations=19)
    assert (found.kind, found.leaves) == ("labels", 10)


@pytest.mark.parametrize("known", ["labels", "clades", "genes"])
def test_neither_the_order_of_leaves_nor_the_unit_of_features_matters(weak, known):
    priors = {"labels": weak.truth.restrict(weak.leaves[::2]), "clades": prior_at_level(weak.truth, 2), "genes": None}
    prior = priors[known]
    features = np.log1p(np.exp(weak.features))
    order = np.random.default_rng(0).permutation(32)
    leaves = [weak.leaves[i] for i in order]
    turned = None if prior is None else prior.reorder(sorted(prior.leaves, reverse=True))
    one = signal_test(features, weak.leaves, prior=prior, seed=0, permutations=49)
    other = signal_test(features[order] * 1e-7, leaves, prior=turned, seed=0, permutations=49)
    assert (one.p, one.representation, one.statistic) == (other.p, other.representation, other.statistic)
    assert one.z == pytest.approx(other.z, rel=1e-6)


def test_the_seed_is_recorded_and_repeats_the_test(weak):
    prior = weak.truth.restrict(weak.leaves[::2])
    first = signal_test(weak.features, weak.leaves, prior=prior, permutations=19)
    assert first == signal_test(weak.features, weak.leaves, prior=prior, permutations=19, seed=first.seed)


def test_constant_features_are_passed_over(weak):
    prior = weak.truth.restrict(weak.leaves[::2])
    padded = np.hstack([weak.features, np.full((32, 3), 5.0)])
    one = signal_test(weak.features, weak.leaves, prior=prior, permutations=19, seed=0)
    other = signal_test(padded, weak.leaves, prior=prior, permutations=19, seed=0)
    assert one.p == other.p


def test_of_very_many_leaves_some_are_drawn(monkeypatch, weak):
    monkeypatch.setattr("celltreeqm.reconstruct._signal._MOST_LABELLED", 12)
    monkeypatch.setattr("celltreeqm.reconstruct._signal._MOST_UNLABELLED", 10)
    found = signal_test(weak.features, weak.leaves, prior=weak.truth, permutations=19, seed=0)
    assert (found.leaves, found.p) == (12, 0.05)
    assert signal_test(weak.features, weak.leaves, permutations=19, seed=0).leaves == 10


class TestBadInput:
    def test_fewer_than_four_labelled_leaves(self, weak):
        with pytest.raises(ValueError, match="largest tree of the prior has 3 leaves; .* needs at least 4"):
            signal_test(weak.features, weak.leaves, prior=weak.truth.restrict(weak.leaves[:3]))

    def test_fewer_than_four_leaves(self):
        with pytest.raises(ValueError, match="3 leaves came; a signal test needs at least 4"):
            signal_test(np.eye(3), ["a", "b", "c"])

    def test_constant_features(self, weak):
        with pytest.raises(ValueError, match="All 2 features are the same in all of the 32 leaves"):
            signal_test(np.ones((32, 2)), weak.leaves, prior=weak.truth)

    def test_features_that_are_constant_where_something_is_known(self, weak):
        features = np.r_[np.ones(16), np.arange(16)][:, None]
        with pytest.raises(ValueError, match="are the same in all of the known 16 leaves"):
            signal_test(features, weak.leaves, prior=weak.truth.restrict(weak.leaves[:16]))

    def test_one_feature_and_nothing_known(self, weak):
        with pytest.raises(ValueError, match="Only one feature varies; .* at least 2 were needed"):
            signal_test(weak.features[:, :1], weak.leaves)

    def test_nan(self, weak):
        features = pd.DataFrame(weak.features.copy(), index=list(weak.leaves))
        features.iloc[3, 4] = np.nan
        with pytest.raises(ValueError, match=f"The value of leaf '{weak.leaves[3]}' .* is nan"):
            signal_test(features, prior=weak.truth)

    def test_prior_leaves_without_rows(self, weak):
        with pytest.raises(ValueError, match=r"16 leaves of the prior have no row in the data"):
            signal_test(weak.features[:16], weak.leaves[:16], prior=weak.truth)

    @pytest.mark.parametrize("permutations", [18, 0, -1, 99.0, True])
    def test_too_few_permutations(self, weak, permutations):
        with pytest.raises(ValueError, match="permutations=.* a whole number of 19 or more is needed"):
            signal_test(weak.features, weak.leaves, prior=weak.truth, permutations=permutations)


@pytest.mark.parametrize(
    "value, text",
    [(0.005, ".005"), (0.0312, ".031"), (1.0, "1"), (4.23, "4.2"), (-0.31, "-.31"), (16.7, "17"), (0.0, "0")],
)
def test_numbers_are_short(value, text):
    assert short_number(value) == text


@pytest.mark.slow
@pytest.mark.parametrize("known", ["labels", "clades", "genes"])
def test_permuted_labels_give_uniform_p_values(known):
    sets = {"labels": 400, "clades": 400, "genes": 60}[known]
    ps = []
    for seed in range(sets):
        tree = random_tree(24, shape="yule", seed=seed)
        rng = np.random.default_rng([seed, 1])
        if known == "genes":
            features = rng.normal(size=(24, 30)) @ rng.normal(size=(30, 40))
        else:
            features = np.log1p(rng.poisson(np.exp(simulate_brownian(tree, 40, seed=rng) / 2)))
        truth = {"labels": tree, "clades": prior_at_level(tree, 2), "genes": None}[known]
        prior = None if truth is None else shuffled(truth, seed)
        ps.append(signal_test(features, tree.leaves, prior=prior, permutations=39, seed=seed).p)
    alarms = sum(p <= 0.05 for p in ps)
    assert binomtest(alarms, sets, 0.05).pvalue > 0.01
    jittered = np.array(ps) - np.random.default_rng(0).random(sets) / 40  # p comes in steps of 1/40
    if known != "genes":  # overlaps of small trees are often equal, which makes p conservative
        assert kstest(jittered, "uniform").pvalue > 0.01


@pytest.mark.slow
def test_real_signal_is_found_at_every_known_fraction(shared_data):
    truth = read_newick(shared_data / "epic190/tree.nwk", rooted=True)
    features = pd.read_csv(shared_data / "epic190/expression.csv.gz", index_col=0).loc[list(truth.leaves)]
    for kappa in (0.3, 0.5, 0.8):
        for seed in range(4):
            kept = np.random.default_rng([seed, 2]).permutation(190)[: int(kappa * 190)]
            prior = truth.restrict([truth.leaves[i] for i in kept])
            assert signal_test(features, prior=prior, seed=seed).p == 0.005


@pytest.mark.slow
@pytest.mark.parametrize("taxa, features", [(300, 2000), (512, 13_000)])
def test_large_inputs(taxa, features):
    scenario = Scenario(leaves=taxa, shape="yule", signal=features // 10, noise=features - features // 10)
    simulation = simulate_scenario(scenario, seed=0)
    assert signal_test(simulation.features, simulation.leaves, prior=simulation.truth, seed=0).p == 0.005
