"""``QuartetFit``: what is asked of a fit, what it says of itself, and how it comes back from disk."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform

from celltreeqm.learners import QuartetFit, load_fit
from celltreeqm.trees import neighbor_joining, robinson_foulds

from .small import HALF, LEAVES, REPLICATE, TEST, TRUTH, X, at_step, fitted, written

MONITOR = {"validation": (REPLICATE, TRUTH), "test": (TEST, None)}
GATED = {"gate": "gumbel", "monitor": MONITOR}
KINDS = [{}, GATED, {"encoder": "fc", "norm": "batch"}, {"encoder": "diagonal", "gate": "sigmoid"}, {"prior": None}]
WIDE = np.random.default_rng(0).normal(size=(16, 40))
HEAVY = [1.0] * 5 + [0.0] * 5 + [0.6] * 5


# Distances, points and trees


@pytest.mark.parametrize("changes", KINDS)
def test_distances_are_those_of_the_points_and_trees_are_built_from_them(changes):
    fit = fitted(**changes)
    for values in (None, REPLICATE):
        points = fit.embed(values)
        assert points.dtype == np.float64
        assert points.shape == (16, 15 if fit.settings.encoder == "diagonal" else 16)
        np.testing.assert_allclose(fit.distances(values), squareform(pdist(points)))
        assert fit.tree(values, honor_prior=False) == neighbor_joining(fit.distances(values), LEAVES)
    assert fit.embed(X).tobytes() == fit.embed().tobytes()


@pytest.mark.parametrize("changes", KINDS)
def test_the_order_of_new_rows_does_not_matter(changes):
    fit = fitted(**changes)
    order = np.random.default_rng(0).permutation(16)
    np.testing.assert_allclose(fit.embed(REPLICATE[order]), fit.embed(REPLICATE)[order], rtol=1e-4, atol=1e-5)
    leaves = [LEAVES[i] for i in order]
    for honored in (True, False):
        one, other = (
            fit.tree(values, leaves=names, honor_prior=honored)
            for values, names in ((REPLICATE, LEAVES), (REPLICATE[order], leaves))
        )
        assert robinson_foulds(one, other) == 0


@pytest.mark.parametrize("encoder, alone", [("fc", True), ("linear", True), ("transformer", False)])
def test_points_depend_on_the_set_with_attention_only(encoder, alone):
    fit = fitted(encoder=encoder, select="last")
    rng = np.random.default_rng(0)
    half = X - X.mean(axis=0)
    other = np.vstack([half[:1], rng.permuted(half[1:], axis=0)])  # the same mean and spread in each column
    one, same, elsewhere = (
        fit.embed(np.vstack([rows, -rows])[order])[0]
        for rows, order in (
            (half, np.arange(32)),
            (half, np.concatenate([[0], 1 + rng.permutation(31)])),
            (other, np.arange(32)),
        )
    )
    np.testing.assert_allclose(same, one, rtol=1e-4, atol=1e-5)
    assert np.allclose(elsewhere, one, rtol=1e-4, atol=1e-5) == alone


def test_rotated_features_have_the_same_distances_as_their_inputs():
    fit = fitted(WIDE, encoder="linear", gate="none")
    assert fit.rotation.shape == (40, 15)
    standard = (WIDE - WIDE.mean(axis=0)) / WIDE.std(axis=0)
    inputs = fit.preparation(WIDE) * fit.preparation.unit
    np.testing.assert_allclose(pdist(inputs), pdist(standard), rtol=1e-5)
    assert fit.feature_scores.tolist() == [1.0] * 40
    assert fit.selected.all()
    assert fit.embed(WIDE[:6]).shape == (6, 16)


def test_other_leaves_have_trees_under_what_is_known_of_them():
    fit = fitted(prior=HALF)
    frame = pd.DataFrame(REPLICATE[4:12], index=LEAVES[4:12])
    tree = fit.tree(frame)
    assert set(tree.leaves) == set(LEAVES[4:12])
    known = HALF.restrict(LEAVES[4:8])
    assert robinson_foulds(tree.restrict(known.leaves), known) == 0
    assert fit.distances(X[:1]).tolist() == [[0.0]]


@pytest.mark.parametrize(
    "values, sentence",
    [
        (X[:, :-1], "The new matrix has 14 features and the fit was made with 15"),
        (X * np.nan, "is nan; features must be finite"),
    ],
)
def test_matrices_of_other_features_are_refused(values, sentence):
    fit = fitted(steps=0)
    for ask in (fit.embed, fit.distances, fit.tree, fit.refit):
        with pytest.raises(ValueError, match=sentence):
            ask(values)


# Features


@pytest.mark.parametrize("gate", ["none", "gumbel", "sigmoid"])
def test_features_that_are_not_shown_have_no_score(gate):
    fit = fitted(gate=gate, gate_start=HEAVY, gate_learning_rate=0.1)
    assert fit.feature_scores.shape == fit.selected.shape == (15,)
    assert fit.selected.dtype == bool
    assert fit.start.tolist() == HEAVY
    assert fit.kept.tolist() == [*range(5), *range(10, 15)]
    hidden = slice(5, 10)
    assert (fit.feature_scores[hidden] == 0).all()
    assert not fit.selected[hidden].any()
    assert ((fit.feature_scores >= 0) & (fit.feature_scores <= fit.start)).all()
    if gate == "none":
        assert fit.feature_scores.tolist() == HEAVY
        assert fit.selected.tolist() == [weight > 0 for weight in HEAVY]
    elsewhere = REPLICATE.copy()
    elsewhere[:, hidden] = 9.0
    assert fit.embed(elsewhere).tobytes() == fit.embed(REPLICATE).tobytes()


def test_a_gate_starts_where_it_is_told():
    weights = np.where(np.arange(15) < 7, 0.9, 0.6)
    fit = fitted(gate="sigmoid", gate_start=weights, steps=0)
    np.testing.assert_allclose(fit.feature_scores, weights * weights, rtol=1e-6)


def test_what_a_gate_shuts_out_does_not_matter():
    fit = fitted(gate="gumbel", gate_learning_rate=0.3, gate_weight=20.0, steps=60, select="last")
    shut = ~fit.selected
    assert 4 <= fit.selected.sum() < 15
    elsewhere = REPLICATE.copy()
    elsewhere[:, shut] = np.random.default_rng(0).normal(size=(16, shut.sum()))
    assert fit.embed(elsewhere).tobytes() == fit.embed(REPLICATE).tobytes()
    assert (fit.feature_scores[fit.selected].min() > 0.5) or fit.selected.sum() == 4


def test_the_linear_gate_scores_features_without_a_prior():
    fit = fitted(prior=None)
    assert fit.settings.gate == "linear"
    assert fit.feature_scores.shape == (15,)
    assert (fit.selected == (fit.feature_scores >= 0.5)).all()


@pytest.mark.parametrize(
    "changes, last", [([9, 9, 9, 9, 1, 4], [1, 4]), ([5, 5, 5, 5, 0, 2, 7], [2, 7]), ([8, 1], [8, 1]), ([3], [3])]
)
def test_gate_change_is_the_sd_of_changes_over_the_last_third(changes, last):
    fit = dataclasses.replace(fitted(steps=0), gate_changes=np.array(changes))
    mean = sum(last) / len(last)
    assert fit.gate_change_sd == pytest.approx((sum((x - mean) ** 2 for x in last) / len(last)) ** 0.5)
    assert dataclasses.replace(fit, gate_changes=np.array([], dtype=int)).gate_change_sd == 0


def test_gate_changes_are_counted_at_each_step(monkeypatch):
    from celltreeqm.learners.quartet import _trainer

    on, begin, step = [], _trainer._Loop.__init__, _trainer._Loop._step

    def begun(loop, training):
        begin(loop, training)
        on.append(loop.network.gate.selected().numpy())

    def stepped(loop):
        step(loop)
        on.append(loop.network.gate.selected().numpy())

    monkeypatch.setattr(_trainer._Loop, "__init__", begun)
    monkeypatch.setattr(_trainer._Loop, "_step", stepped)
    fit = fitted(gate="gumbel", gate_learning_rate=0.3, gate_weight=8.0, select="last", warm_up=0)
    expected = [int((now != before).sum()) for before, now in itertools.pairwise(on)]
    assert fit.gate_changes.tolist() == expected
    assert sum(expected) > 0
    assert fit.gate_change_sd == pytest.approx(np.std(expected[-10:]))
    assert not fitted(gate="none").gate_changes.any()


# History


def test_history_has_a_row_for_each_look():
    history = fitted(**GATED).history
    assert list(history) == [
        *("step", "loss", "quartets", "close", "push", "deviation", "gate", "mismatched", "selected"),
        *("train RF", "train wrong", "validation RF", "validation wrong", "test wrong"),
    ]
    assert history["step"].tolist() == [0, 5, 10, 15, 20, 25, 30]
    assert history.dtypes.unique() == [np.dtype(float)]
    before = history.loc[0, "loss":"mismatched"]
    assert before.isna().all()  # nothing was trained yet
    assert np.isfinite(history.drop(index=0)).all().all()
    assert history["mismatched"].dropna().between(0, 1).all()
    assert (history.loc[1:, "push":"deviation"] >= 0).all().all()
    found = history.filter(regex="RF|wrong")
    assert ((found >= 0) & (found <= 1)).all().all()


def test_the_loss_is_the_weighted_sum_of_its_parts():
    fit = fitted(gate="gumbel", deviation=0.1, push=3.0, close=0.5)
    parts, s = fit.history.iloc[1:], fit.settings
    of_quartets = s.close * parts["close"] + s.push * parts["push"]
    np.testing.assert_allclose(parts["quartets"], of_quartets, rtol=1e-4)
    weighted = s.additivity * of_quartets + s.deviation * parts["deviation"] + s.gate_weight * parts["gate"]
    np.testing.assert_allclose(parts["loss"], weighted, rtol=1e-4)


def test_what_history_says_of_the_kept_step_is_true():
    fit = fitted(**GATED)
    row = fit.history.set_index("step").loc[fit.step]
    assert row["validation RF"] == robinson_foulds(fit.tree(REPLICATE, honor_prior=False), TRUTH)
    assert row["train RF"] == robinson_foulds(fit.tree(honor_prior=False), TRUTH)
    assert row["selected"] == fit.selected.sum()


# Bootstrap, copies, disk


def test_a_refit_draws_columns_of_the_embedding():
    fit = fitted(gate="gumbel")
    one, same, other = (fit.refit(X, seed=seed) for seed in (1, 1, 2))
    assert one.embed().tobytes() == same.embed().tobytes() != other.embed().tobytes()
    assert one.embed().tobytes() == np.ascontiguousarray(fit.embed()[:, one.columns]).tobytes()
    assert len(one.columns) == 16
    assert len(set(one.columns.tolist())) < 16
    assert one.parameters.tobytes() == fit.parameters.tobytes()
    assert one.prior == fit.prior
    assert robinson_foulds(one.tree(), TRUTH) == 0  # the prior is honoured


@pytest.mark.parametrize("changes", [*KINDS, {"gate_start": "heritable", "prior": [HALF, TRUTH.unroot()]}])
def test_a_fit_comes_back_from_disk(changes, tmp_path):
    fit = fitted(**changes)
    fit.save(tmp_path / "fit")
    loaded = load_fit(tmp_path / "fit")
    assert isinstance(loaded, QuartetFit)
    for ask in (lambda f: f.distances(), lambda f: f.distances(TEST), lambda f: f.feature_scores, lambda f: f.selected):
        assert ask(loaded).tobytes() == ask(fit).tobytes()
    pd.testing.assert_frame_equal(loaded.history, fit.history)
    assert loaded.settings == fit.settings
    assert loaded.prior == fit.prior
    assert loaded.tree() == fit.tree()
    for name in ("selection", "step", "ended", "builder", "leaves", "gate_change_sd"):
        assert getattr(loaded, name) == getattr(fit, name)
    assert loaded.provenance.seed == 0
    assert loaded.provenance.versions["torch"]
    assert loaded.refit(X, seed=3).embed().tobytes() == fit.refit(X, seed=3).embed().tobytes()
    assert written(loaded, tmp_path / "again") == written(fit, tmp_path / "once more")


def test_copies_are_fits_and_arrays_are_read_only():
    fit = fitted(gate="gumbel")
    expected = fit.distances().tobytes()  # the network is made and must not hinder a copy
    for other in (copy.deepcopy(fit), pickle.loads(pickle.dumps(fit)), dataclasses.replace(fit)):
        assert other.distances().tobytes() == expected
        with pytest.raises(ValueError, match="read-only"):
            other.parameters[0] = 1.0


def test_it_describes_itself():
    assert repr(fitted(steps=0)) == "QuartetFit(16 leaves, 15 features, 1 prior tree, neighbor_joining, seed 0)"


def test_an_interrupted_fit_can_be_saved(monkeypatch, tmp_path):
    def interrupt():
        raise KeyboardInterrupt

    at_step(monkeypatch, 12, interrupt)
    fit = fitted(**GATED)
    fit.save(tmp_path / "fit")
    assert load_fit(tmp_path / "fit").ended == "interrupted"
