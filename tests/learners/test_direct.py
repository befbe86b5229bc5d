"""The baseline learner: distances of the features as they are."""

from __future__ import annotations

import dataclasses
import itertools
import pickle

import numpy as np
import pandas as pd
import pytest

from celltreeqm.learners import DirectFit, DirectLearner, Fit, learner_by_name, learner_names, register_learner
from celltreeqm.simulate import random_tree, simulate_brownian
from celltreeqm.trees import neighbor_joining, prior_at_level, quartet_agreement, robinson_foulds, upgma, ward

TRUTH = random_tree(16, seed=0)
X = simulate_brownian(TRUTH, 12, seed=1)


def euclidean(x, y):
    return sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) ** 0.5


def one_minus_correlation(x, y):
    dx, dy = x - sum(x) / len(x), y - sum(y) / len(y)
    return 1 - sum(dx * dy) / (sum(dx**2) * sum(dy**2)) ** 0.5


@pytest.mark.parametrize(
    ("metric", "slow"),
    [
        ("euclidean", euclidean),
        ("squared", lambda x, y: euclidean(x, y) ** 2),
        ("correlation", one_minus_correlation),
    ],
)
def test_distances_are_those_of_the_formula(metric, slow):
    d = DirectLearner(metric=metric).fit(X, TRUTH.leaves).distances()
    assert d.shape == (16, 16)
    assert (np.diag(d) == 0).all()
    for i, j in itertools.combinations(range(16), 2):
        assert d[i, j] == d[j, i] == pytest.approx(slow(X[i], X[j]))


@pytest.mark.parametrize("builder", [neighbor_joining, upgma, ward])
def test_trees_are_those_of_the_builder_with_and_without_the_prior(builder):
    prior = prior_at_level(TRUTH, 2)
    fit = DirectLearner(builder=builder.__name__).fit(X, TRUTH.leaves, prior=prior)
    assert fit.tree(honor_prior=False) == builder(fit.distances(), TRUTH.leaves)
    assert fit.tree() == builder(fit.distances(), TRUTH.leaves, prior=prior)
    seen = quartet_agreement(fit.tree(), prior)
    assert seen.different == seen.only_second == 0
    assert fit.tree() != fit.tree(honor_prior=False)


def test_a_new_matrix_gives_the_tree_of_its_own_rows():
    new = simulate_brownian(TRUTH, 12, seed=2)
    prior = TRUTH.restrict(TRUTH.leaves[:8])
    fit = DirectLearner().fit(X, TRUTH.leaves, prior=prior)
    other = DirectLearner().fit(new, TRUTH.leaves, prior=prior)
    assert fit.tree(new) == other.tree() != fit.tree()
    assert (fit.distances(new) == other.distances()).all()
    shuffled = pd.DataFrame(new, index=TRUTH.leaves).sample(frac=1, random_state=0)
    assert robinson_foulds(fit.tree(shuffled), other.tree()) == 0


def test_the_prior_is_honoured_as_far_as_it_speaks_of_the_new_rows():
    some = TRUTH.leaves[4:14]
    prior = TRUTH.restrict(TRUTH.leaves[:8])
    fit = DirectLearner().fit(X[:, :1], TRUTH.leaves, prior=[prior, TRUTH.restrict(TRUTH.leaves[:3])])
    tree = fit.tree(X[4:14, :1], leaves=some)
    assert tree.leaves == some
    assert robinson_foulds(tree.restrict(prior.leaves), prior.restrict(some)) == 0
    plain = fit.tree(X[4:14, :1], leaves=some, honor_prior=False)
    assert robinson_foulds(plain.restrict(prior.leaves), prior.restrict(some)) > 0


def test_new_rows_that_are_not_those_of_the_fit_need_names():
    fit = DirectLearner().fit(X, TRUTH.leaves)
    with pytest.raises(ValueError, match="16 leaf names came with a 4 x 12 feature matrix"):
        fit.tree(X[:4])
    with pytest.raises(ValueError, match="leaves came without a new matrix X"):
        fit.tree(leaves=TRUTH.leaves)
    with pytest.raises(ValueError, match="has 3 features and the fit was made with 12"):
        fit.distances(X[:, :3])


def test_the_features_are_the_embedding_and_count_the_same():
    fit = DirectLearner().fit(X, TRUTH.leaves)
    assert (fit.embed() == X).all()
    assert (fit.embed(X[:3] + 1) == X[:3] + 1).all()
    assert fit.feature_scores.tolist() == [1.0] * 12


def test_a_refit_keeps_every_choice():
    prior = prior_at_level(TRUTH, 1)
    fit = DirectLearner(metric="squared", builder="upgma").fit(X, TRUTH.leaves, prior=prior, seed=3)
    resampled = X[:, np.random.default_rng(0).integers(12, size=20)]
    again = fit.refit(resampled, seed=4)
    assert (
        again.tree()
        == DirectLearner(metric="squared", builder="upgma").fit(resampled, TRUTH.leaves, prior=prior).tree()
    )
    assert again.provenance.seed == 4
    assert again.provenance.settings == fit.provenance.settings
    assert again.provenance.data_hash != fit.provenance.data_hash


def test_a_fit_says_with_what_it_was_made():
    fit = DirectLearner(metric="squared").fit(X, TRUTH.leaves, seed=7)
    assert fit.provenance.learner == "direct"
    assert fit.provenance.settings == {"metric": "squared", "builder": "neighbor_joining"}
    assert fit.provenance.seed == 7
    assert fit.provenance.versions.keys() == {"python", "celltreeqm", "numpy", "scipy", "numba"}
    assert repr(fit) == "DirectFit(16 leaves, 12 features, neighbor_joining, seed 7)"


def test_the_hash_tells_data_apart_and_nothing_else():
    def hash_of(features, leaves):
        return DirectLearner().fit(features, leaves).provenance.data_hash

    whole = hash_of(X, TRUTH.leaves)
    assert whole == hash_of(np.asfortranarray(X), TRUTH.leaves) == hash_of(X.tolist(), list(TRUTH.leaves))
    changed = X.copy()
    changed[3, 4] = np.nextafter(changed[3, 4], 9)
    assert whole != hash_of(changed, TRUTH.leaves)
    assert whole != hash_of(X, TRUTH.leaves[::-1])
    assert whole != hash_of(pd.DataFrame(X, index=TRUTH.leaves), None)


def test_an_omitted_seed_is_drawn_and_recorded():
    def seed_of(seed):
        return DirectLearner().fit(X, TRUTH.leaves, seed=seed).provenance.seed

    assert seed_of(None) != seed_of(None)
    assert seed_of(np.random.default_rng(1)) == seed_of(np.random.default_rng(1)) >= 0
    assert seed_of(np.int64(5)) == 5
    with pytest.raises(ValueError, match="seed=-1 was given"):
        seed_of(-1)
    with pytest.raises(TypeError, match=r"seed=0.5 \(float\) was given; a whole number"):
        seed_of(0.5)


def test_a_fit_is_immutable_and_so_is_its_copy():
    mine = X.copy()
    fit = DirectLearner().fit(mine, TRUTH.leaves)
    before = fit.distances()
    mine[:] = 0
    assert (fit.distances() == before).all()
    for one in (fit, pickle.loads(pickle.dumps(fit))):
        with pytest.raises(dataclasses.FrozenInstanceError):
            one.metric = "squared"
        with pytest.raises(ValueError, match="read-only"):
            one.features[0, 0] = 1
        with pytest.raises(TypeError, match="does not support item assignment"):
            one.provenance.settings["metric"] = "squared"
        assert (one.distances() == before).all()


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_few_leaves_have_their_only_tree(n):
    fit = DirectLearner().fit(X[:n], TRUTH.leaves[:n])
    assert fit.tree().leaves == TRUTH.leaves[:n]
    assert fit.distances().shape == (n, n)


def test_correlation_with_a_constant_leaf_is_refused():
    flat = X.copy()
    flat[5] = 0.1
    with pytest.raises(ValueError, match=rf"Leaf '{TRUTH.leaves[5]}' \(row 5\) has the same value in all 12 features"):
        DirectLearner(metric="correlation").fit(flat, TRUTH.leaves)
    fit = DirectLearner(metric="correlation").fit(X, TRUTH.leaves)
    with pytest.raises(ValueError, match=r"Row 5 has the same value"):
        fit.distances(flat)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"metric": "cosine"}, "metric='cosine' was given; it is 'euclidean', 'squared' or 'correlation'"),
        ({"builder": "nj"}, "builder='nj' was given; it is 'neighbor_joining', 'upgma' or 'ward'"),
    ],
)
def test_settings_that_do_not_exist_are_refused(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        DirectLearner(**settings)


def test_a_prior_of_other_leaves_is_refused():
    with pytest.raises(ValueError, match="of the prior have no row in the data"):
        DirectLearner().fit(X[:4], TRUTH.leaves[:4], prior=TRUTH)


def test_learners_are_found_by_name():
    assert learner_by_name("direct", metric="squared") == DirectLearner(metric="squared")
    assert "direct" in learner_names()
    with pytest.raises(ValueError, match="There is no learner called 'nonsense'; there are .*'direct'"):
        learner_by_name("nonsense")


def test_a_name_is_registered_once():
    class Impostor:
        name = "direct"
        fit_type = Fit

    with pytest.raises(ValueError, match="'direct' is registered already: celltreeqm.learners.direct.DirectLearner"):
        register_learner(Impostor)
    assert register_learner(DirectLearner) is DirectLearner
    assert isinstance(learner_by_name("direct").fit(X, TRUTH.leaves), DirectFit)
