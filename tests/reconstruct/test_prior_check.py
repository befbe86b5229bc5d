"""Priors that are wrong: laws of the check, what it finds, what it leaves alone, and what it refuses."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from celltreeqm.learners import DirectLearner
from celltreeqm.reconstruct import check_prior
from celltreeqm.reconstruct._prior_check import adjusted
from celltreeqm.reconstruct._prior_places import Places, leave_one_out_paths, place_margins
from celltreeqm.simulate import Scenario, simulate_scenario
from celltreeqm.trees import (
    Tree,
    parse_newick,
    prior_at_level,
    prior_from_clades,
    quartet_agreement,
    read_newick,
)

SMALL = simulate_scenario(Scenario(leaves=32, signal=60, noise=30), seed=1)
X, LEAVES, TRUTH = SMALL.features, SMALL.leaves, SMALL.truth
WRONG = {LEAVES[2]: LEAVES[29], LEAVES[29]: LEAVES[12], LEAVES[12]: LEAVES[2]}
QUICK = {"permutations": 20, "seed": 0}


def exchanged(tree, share, seed):
    rng = np.random.default_rng(seed)
    who = rng.choice(tree.n_leaves, max(2, round(share * tree.n_leaves)), replace=False)
    names = {tree.leaves[a]: tree.leaves[b] for a, b in zip(who, np.roll(who, 1), strict=True)}
    return tree.rename(names), set(names)


# Laws


def test_order_of_leaves_and_scale_of_features_do_not_matter():
    rng = np.random.default_rng(0)
    order = rng.permutation(32)
    prior = TRUTH.rename(WRONG)
    one = check_prior(X, LEAVES, prior, **QUICK)
    changed = X * rng.choice([-7.0, 0.1, 3.0], size=X.shape[1]) + 5
    other = check_prior(changed[order], [LEAVES[i] for i in order], prior.reorder([LEAVES[i] for i in order]), **QUICK)
    assert other.leaves == one.leaves
    np.testing.assert_allclose(other.margin, one.margin, atol=1e-7)
    np.testing.assert_allclose(other.p, one.p, atol=0.01)
    assert set(other.flagged) == set(one.flagged) == set(WRONG)


def test_the_same_seed_gives_the_same_bytes():
    one, same, other = (check_prior(X, LEAVES, TRUTH, permutations=10, seed=seed) for seed in (1, 1, 2))
    assert one.p.tobytes() == same.p.tobytes() != other.p.tobytes()
    assert one.seed == 1


def test_leaves_that_the_prior_lacks_do_not_matter():
    prior = TRUTH.rename(WRONG).restrict(LEAVES[:20])
    rows = [LEAVES.index(name) for name in prior.leaves]
    one = check_prior(X, LEAVES, prior, **QUICK)
    alone = check_prior(X[rows], prior.leaves, prior, **QUICK)
    np.testing.assert_allclose(alone.p, one.p)


def test_left_out_predictions_are_those_of_a_regression_without_the_leaf():
    rng = np.random.default_rng(0)
    points, paths = rng.normal(size=(12, 5)), TRUTH.restrict(LEAVES[:12]).distances(by="topology")
    told = leave_one_out_paths(points @ points.T, paths)
    centred = points - points.mean(axis=0)
    spread = np.linalg.eigvalsh(centred @ centred.T).mean()

    def without(i, penalty):
        rest = np.delete(np.arange(12), i)
        mean = centred[rest].mean(axis=0)
        gram = (centred[rest] - mean).T @ (centred[rest] - mean) + penalty * spread * np.eye(5)
        slope = np.linalg.solve(gram, (centred[rest] - mean).T @ (paths[rest] - paths[rest].mean(axis=0)))
        return paths[rest].mean(axis=0) + (centred[i] - mean) @ slope

    def distance(penalty):
        return max(np.abs(np.delete(told[i] - without(i, penalty), i)).max() for i in range(12))

    assert min(distance(penalty) for penalty in (1e-3, 1e-2, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)) < 1e-8


def test_places_count_edges():
    tree = parse_newick("((a,b),(c,(d,e)),f);").unroot()
    places = Places(tree)
    np.testing.assert_array_equal(places.paths, tree.distances(by="topology"))
    own = {i: {int(e) for e in np.flatnonzero(row)} for i, row in enumerate(places.own)}
    assert own[0] == {0, 1, int(tree.parent[0])}
    assert len(own[5]) == 3


def test_true_paths_put_every_leaf_where_it_is():
    tree = TRUTH.unroot()
    places = Places(tree)
    told = place_margins(places.paths, places)
    assert (told.margin < 0).all()
    assert np.nanmin(told.if_wrong) > 0


def test_adjusted_values_are_those_of_scipy():
    from scipy.stats import false_discovery_control

    p = np.random.default_rng(0).uniform(size=30) ** 2
    np.testing.assert_allclose(adjusted(p), false_discovery_control(p))


# What it finds


def test_exchanged_labels_are_named_with_where_they_belong():
    found = check_prior(X, LEAVES, TRUTH.rename(WRONG), **QUICK)
    assert set(found.flagged) == set(WRONG)
    assert found.message.startswith("3 of 32 labelled leaves sit elsewhere in the features")
    assert "the tree honours them all the same" in found.message
    for name, (a, b, c, d) in found.quartets.items():
        assert a == name in WRONG
        seen = quartet_agreement(TRUTH.rename(WRONG).restrict([a, b, c, d]), parse_newick(f"(({a},{b}),({c},{d}));"))
        assert seen.different == seen.only_second == 0
    clade = dict(zip(LEAVES, TRUTH.clade_labels(3), strict=True))  # of four leaves
    for name, there in zip(found.leaves, found.elsewhere, strict=True):
        assert name not in WRONG or any(clade[other] == clade[name] for other in there)


def test_right_labels_are_left_alone():
    found = check_prior(X, LEAVES, [TRUTH, prior_at_level(TRUTH, 2)], **QUICK)
    assert found.flagged == found.flagged_clades == ()
    assert found.message.startswith("None of 32 labelled leaves")
    assert set(found.tree_number) == {0, 1}
    assert len(found.leaves) == 64


def test_features_without_lineage_say_that_wrong_labels_would_not_be_found():
    noise = np.random.default_rng(0).normal(size=X.shape)
    found = check_prior(noise, LEAVES, TRUTH.rename(WRONG), **QUICK)
    assert found.flagged == ()
    assert found.power < 0.1
    assert check_prior(X, LEAVES, TRUTH, **QUICK).power > 0.4


def test_two_clades_under_one_name_are_found():
    simulation = simulate_scenario("heritability", leaves=64, seed=3)
    labels = simulation.truth.clade_labels(3)
    labels[labels == 6] = 1
    found = check_prior(
        simulation.features, simulation.leaves, prior_from_clades(labels.tolist(), simulation.leaves), **QUICK
    )
    assert [clade.name for clade in found.flagged_clades] == ["'1'"]
    assert "is not one clade in the features" in found.message


def test_the_table_has_a_row_for_each_leaf_and_clade():
    table = check_prior(pd.DataFrame(X, index=list(LEAVES)), prior=prior_at_level(TRUTH, 2), **QUICK).table
    assert list(table.columns) == ["kind", "name", "statistic", "p", "q", "flagged", "features"]
    assert table["kind"].value_counts().to_dict() == {"leaf": 32, "clade": 4}
    assert table["p"].between(0, 1).all()
    assert (table["q"] >= table["p"] - 1e-12).all()


def test_the_prior_is_honoured_all_the_same():
    prior = TRUTH.rename(WRONG)
    check_prior(X, LEAVES, prior, **QUICK)
    fit = DirectLearner().fit(X, LEAVES, prior=prior, seed=0)
    assert quartet_agreement(fit.tree(), prior).different == 0
    assert quartet_agreement(fit.tree(honor_prior=False), prior).different > 0


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.05, 0.2])
def test_claim_that_wrong_labels_are_found_in_a_real_lineage(shared_data, share):
    table = pd.read_csv(shared_data / "epic190/expression.csv.gz", index_col=0)
    truth = read_newick(shared_data / "epic190/tree.nwk", rooted=True)
    flagged = right = wrong = 0
    for seed in range(5):
        prior, who = exchanged(truth, share, seed)
        found = set(check_prior(table.loc[list(truth.leaves)].to_numpy(), truth.leaves, prior, seed=seed).flagged)
        flagged, right, wrong = flagged + len(found), right + len(found & who), wrong + len(who)
    assert right / wrong > 0.5
    assert right / flagged > {0.05: 0.4, 0.2: 0.7}[share]  # chance: the share; some cells do look like others' kin


@pytest.mark.slow
def test_claim_that_right_labels_are_rarely_flagged():
    any_flag = 0
    for seed in range(40):
        simulation = simulate_scenario("weak", leaves=32, seed=200 + seed)
        any_flag += bool(check_prior(simulation.features, simulation.leaves, simulation.truth, seed=seed).flagged)
    assert any_flag <= 5  # of 40 at .05: more has a chance of .01


# What it refuses, and what cannot be checked


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"prior": None}, "No prior was given, so there is nothing to check"),
        ({"level": 1.5}, "level=1.5 was given; a false discovery rate between 0 and 1"),
        ({"permutations": 3}, "permutations=3 was given; a whole number of 10 or more"),
        ({"prior": parse_newick("((x,y),(z,w));")}, "4 leaves of the prior have no row in the data"),
    ],
)
def test_wrong_arguments_are_refused(arguments, said):
    with pytest.raises(ValueError, match=said):
        check_prior(X, LEAVES, **({"prior": TRUTH} | arguments))


@pytest.mark.parametrize(
    ("features", "prior"),
    [
        (X, TRUTH.restrict(LEAVES[:6])),
        (X, Tree([32] * 32 + [-1], LEAVES)),
        (np.ones_like(X), TRUTH),
    ],
)
def test_what_cannot_be_checked_is_said(features, prior):
    found = check_prior(features, LEAVES, prior, **QUICK)
    assert found.message.startswith("The prior could not be checked")
    assert found.flagged == ()
    assert np.isnan(found.power)
    assert found.table.empty
