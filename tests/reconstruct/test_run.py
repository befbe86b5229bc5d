"""The whole run: laws, which way it goes and what it says, and wrong input."""

import logging

import numpy as np
import pandas as pd
import pytest

import celltreeqm as ctq
from celltreeqm.learners import DirectFit, DirectLearner, HeritableFit
from celltreeqm.reconstruct import reconstruct_lineage
from celltreeqm.simulate import simulate_scenario
from celltreeqm.trees import prior_at_level, quartet_agreement, robinson_foulds

SIMULATION = simulate_scenario("weak", leaves=64, seed=0)
X, LEAVES, TRUTH = SIMULATION.features[:, ::3], SIMULATION.leaves, SIMULATION.truth
HALF = TRUTH.restrict(LEAVES[::2])
NOISE = np.random.default_rng(0).normal(size=(64, 50))
QUICK = {"learner": "heritable", "support": 8, "calibrate": False, "check": False, "seed": 0}


@pytest.fixture(scope="module")
def run():
    return reconstruct_lineage(X, LEAVES, prior=HALF, **QUICK)


def displays(tree, prior):
    seen = quartet_agreement(tree.restrict(prior.leaves), prior)
    return seen.different == seen.only_second == 0


def test_what_is_learned_is_used_where_there_is_evidence(run):
    assert (run.verdict.use, run.verdict.evidence) == ("learned", "strong")
    assert isinstance(run.fit, HeritableFit)
    assert run.messages[0].startswith("Strong evidence of lineage signal in these features (p = .005, z = ")
    assert displays(run.tree, HALF)
    assert robinson_foulds(run.tree, TRUTH) < robinson_foulds(DirectLearner().fit(X, LEAVES, prior=HALF).tree(), TRUTH)
    assert run.tree.rooted


def test_direct_reconstruction_is_used_where_there_is_none_and_the_log_says_so(caplog):
    with caplog.at_level(logging.INFO, "celltreeqm"):
        found = reconstruct_lineage(NOISE, LEAVES, prior=HALF, **QUICK)
    assert (found.verdict.use, found.verdict.evidence) == ("direct", "none")
    assert isinstance(found.fit, DirectFit)
    assert found.fit.tree().same_topology(DirectLearner().fit(NOISE, LEAVES, prior=HALF).tree())
    assert displays(found.tree, HALF)
    (record,) = (record for record in caplog.records if "lineage signal" in record.message)
    assert record.levelno == logging.WARNING
    assert "not to be trusted" in record.message
    assert "not to be trusted" in str(found)


def test_the_learner_is_used_all_the_same_where_that_is_asked():
    found = reconstruct_lineage(NOISE, LEAVES, prior=HALF, **QUICK | {"fallback": False, "support": 0})
    assert isinstance(found.fit, HeritableFit)
    assert (found.verdict.use, found.verdict.evidence) == ("learned", "none")
    assert "as was asked" in found.messages[0]
    assert "direct reconstruction" not in found.messages[0]


def test_support_is_the_share_of_bootstrap_trees_and_edges_of_the_prior_are_marked(run):
    edges = run.edges
    assert (edges["support"] == edges["raw_support"]).all()
    assert set(np.round(edges["raw_support"] * 8) / 8) == set(edges["raw_support"])
    assert edges["given"].isin(["no", "partly"]).all()  # of the other half of the leaves the prior says nothing
    assert (edges["given"] == "partly").sum() >= HALF.n_leaves - 3
    full = reconstruct_lineage(X, LEAVES, prior=TRUTH, **QUICK)
    assert (full.edges["given"] == "yes").all()
    assert (full.edges["raw_support"] == 1).all()
    assert robinson_foulds(full.tree, TRUTH) == 0
    assert "The prior gives every branch" in str(full)


def test_calibration_and_checks_are_there_when_asked_for():
    known = TRUTH.restrict(LEAVES[:32]).restrict(LEAVES[:20])
    found = reconstruct_lineage(X[:32, ::4], LEAVES[:32], prior=known, learner="direct", support=8, seed=0)
    assert found.calibration is not None
    assert found.prior_check is not None
    assert found.competing is not None
    assert {found.calibration.message, found.prior_check.message, found.competing.message} <= set(found.messages)
    inside = found.edges["support"].between(0, 1)
    assert inside.all()


def test_features_of_another_tree_are_left_out_where_the_prior_tells_which_it_is():
    simulation = simulate_scenario("batch", leaves=64, seed=0)
    known = simulation.truth.restrict(simulation.leaves[::3])
    table = pd.DataFrame(simulation.features, index=simulation.leaves, columns=simulation.feature_names)
    settings = QUICK | {"support": 2}
    found = reconstruct_lineage(table, prior=known, **settings | {"check": True})
    assert found.competing.competing
    assert found.used[simulation.signal].all()
    assert not found.used[[kind == "batch" for kind in simulation.kinds]].any()
    assert found.fit.feature_names == tuple(table.columns[found.used])
    assert "features that follow no tree but the one that your prior agrees with" in str(found)
    unchecked = reconstruct_lineage(table, prior=known, **settings)
    assert unchecked.used.all()
    assert robinson_foulds(found.tree, simulation.truth) <= robinson_foulds(unchecked.tree, simulation.truth)


def drawn_cells(generator):
    return X + generator.normal(scale=0.01, size=X.shape)


def test_cells_are_resampled_where_they_are_given():
    found = reconstruct_lineage(X, LEAVES, prior=HALF, cells=drawn_cells, **QUICK | {"support": 2})
    assert found.bootstrap.resampled == "features and cells"
    generator = np.random.default_rng(0)
    listed = [drawn_cells(generator) for _ in range(2)]
    found = reconstruct_lineage(X, LEAVES, prior=HALF, cells=listed, **QUICK | {"support": 2})
    assert found.bootstrap.resampled == "features and cells"


def test_new_leaves_are_placed_on_the_finished_tree():
    out, rest = LEAVES[3], [name for name in LEAVES if name != LEAVES[3]]
    row = LEAVES.index(out)
    inside = np.arange(64) != row
    found = reconstruct_lineage(
        X[inside], rest, prior=TRUTH.restrict(rest), place=(X[[row]], ["new"]), **QUICK | {"support": 0}
    )
    assert found.placed.names == ("new",)
    assert found.tree.leaves == tuple(rest)
    assert found.placed.tree().n_leaves == 64
    assert "1 new leaf has been placed" in str(found) or "1 of 1 new leaf" in str(found)
    with pytest.raises(ValueError, match=f"'{out}' came to be placed and stand in the data too"):
        reconstruct_lineage(X, LEAVES, place=(X[[row]], [out]), **QUICK)
    with pytest.raises(ValueError, match="feature"):
        reconstruct_lineage(X, LEAVES, place=(X[[row], :5], ["new"]), **QUICK)


def test_without_support_there_is_none():
    found = reconstruct_lineage(X, LEAVES, prior=HALF, **QUICK | {"support": 0})
    assert found.bootstrap is found.calibration is found.stability is None
    assert np.isnan(found.raw_support).all()
    assert found.edges["support"].isna().all()


def test_the_prior_may_be_learned_from_and_not_honoured():
    wrong = HALF.rename(
        dict(zip(HALF.leaves[:2], HALF.leaves[:-3:-1], strict=True))
        | dict(zip(HALF.leaves[:-3:-1], HALF.leaves[:2], strict=True))
    )
    found = reconstruct_lineage(X, LEAVES, prior=wrong, honor_prior=False, **QUICK)
    assert not displays(found.tree, wrong)
    assert not all(displays(tree, wrong) for tree in found.bootstrap.trees)
    assert set(found.given) == {"no"}
    assert displays(reconstruct_lineage(X, LEAVES, prior=wrong, **QUICK).tree, wrong)


@pytest.mark.parametrize("prior", [None, prior_at_level(TRUTH, 2), [prior_at_level(TRUTH, 1), HALF]])
def test_any_prior_is_displayed_and_the_root_is_explained(prior):
    found = reconstruct_lineage(X, LEAVES, prior=prior, **QUICK | {"support": 0})
    for known in [] if prior is None else prior if isinstance(prior, list) else [prior]:
        assert displays(found.tree, known)
    assert found.rooted_by == (
        "midpoint"
        if prior is None
        else "prior and midpoint"
        if prior is not None and not isinstance(prior, list)
        else "prior"
    )
    assert found.signal.kind == ("genes" if prior is None else "clades" if not isinstance(prior, list) else "labels")
    if prior is None:
        assert "nothing is known" in str(found).lower()


def test_the_same_seed_gives_the_same_run_for_any_number_of_workers(run):
    other = reconstruct_lineage(X, LEAVES, prior=HALF, workers=2, **QUICK)
    assert other.tree == run.tree
    assert other.raw_support.tobytes() == run.raw_support.tobytes()
    assert other.signal == run.signal
    assert other.seed == run.seed == 0
    assert other.settings == run.settings


def test_an_omitted_seed_is_drawn_and_repeats_the_run():
    settings = QUICK | {"support": 4, "seed": None}
    first = reconstruct_lineage(X, LEAVES, prior=HALF, **settings)
    again = reconstruct_lineage(X, LEAVES, prior=HALF, **settings | {"seed": first.seed})
    assert again.tree == first.tree
    assert again.raw_support.tobytes() == first.raw_support.tobytes()


def test_a_table_with_names_and_a_learner_of_ones_own_will_do():
    table = pd.DataFrame(X, index=LEAVES)
    found = reconstruct_lineage(table, prior=HALF, **QUICK | {"learner": DirectLearner(metric="correlation")})
    assert found.tree.leaves == LEAVES
    assert found.settings["learner"] == "direct"
    assert found.fit.metric == "correlation"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"support": -1}, "support=-1 was given; a whole number of resamples was needed, 0 for none"),
        ({"support": 2.5}, "support=2.5 was given"),
        ({"learner": "magic"}, "There is no learner called 'magic'"),
        ({"workers": 0}, "workers=0"),
        ({"modules": [0, 1]}, "one module a feature was needed"),
        ({"prior": TRUTH.rename({LEAVES[0]: "nobody"})}, "'nobody'"),
    ],
)
def test_wrong_input_is_told_before_any_work(monkeypatch, changed, message):
    monkeypatch.setattr("celltreeqm.reconstruct._run.signal_test", lambda *a, **k: pytest.fail("work was begun"))
    with pytest.raises(ValueError, match=message):
        reconstruct_lineage(X, LEAVES, **QUICK | changed)


def test_what_is_no_learner_and_too_few_leaves_are_refused():
    with pytest.raises(TypeError, match="learner is a int; a learner or the name of one was needed"):
        reconstruct_lineage(X, LEAVES, learner=3)
    with pytest.raises(ValueError, match=r"3 leaves came; a tree of fewer than 4 has one shape only\. Bring 4 or more"):
        reconstruct_lineage(X[:3], LEAVES[:3])


def test_the_run_is_part_of_the_public_face():
    assert ctq.reconstruct_lineage is reconstruct_lineage
