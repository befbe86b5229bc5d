"""The adaptive learner: laws, input that teaches nothing, and how good its trees are."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from celltreeqm.learners import learner_by_name, load_fit
from celltreeqm.learners.adaptive import AdaptiveLearner
from celltreeqm.learners.adaptive._bag import mean_paths
from celltreeqm.simulate import SCENARIOS, simulate_scenario
from celltreeqm.trees import (
    parse_newick,
    prior_at_level,
    quartet_agreement,
    quartet_distance,
    read_newick,
    robinson_foulds,
    root_at,
    upgma,
)

SIMULATION = simulate_scenario("weak", leaves=32, seed=0)
X, LEAVES, TRUTH = SIMULATION.features[:, ::4], SIMULATION.leaves, SIMULATION.truth
QUICK = AdaptiveLearner(bag=8, folds=3, repeats=1)


def known_tree(truth, share, seed):
    """The tree of a random share of the leaves, rounded down."""
    drawn = np.random.default_rng(seed).permutation(truth.n_leaves)[: math.floor(share * truth.n_leaves)]
    return truth.restrict([truth.leaves[i] for i in sorted(drawn)])


HALF = known_tree(TRUTH, 0.5, 0)


@pytest.fixture(scope="module")
def fit():
    return QUICK.fit(X, LEAVES, prior=HALF, seed=0)


# Laws


@pytest.mark.parametrize(
    "prior", [None, HALF, prior_at_level(TRUTH, 2), [prior_at_level(TRUTH, 1), known_tree(TRUTH, 0.4, 3)], TRUTH]
)
def test_the_prior_is_displayed_by_every_tree_of_the_bag(prior):
    fit = QUICK.fit(X, LEAVES, prior=prior, seed=0)
    trees = [*fit.bag(), fit.tree()]
    assert len(trees) == 9
    for known in fit.prior:
        for tree in trees:
            seen = quartet_agreement(tree.restrict(known.leaves), known)
            assert seen.different == seen.only_second == 0


def test_the_same_seed_gives_the_same_bytes_for_any_number_of_workers(fit):
    same = AdaptiveLearner(bag=8, folds=3, repeats=1, workers=2).fit(X, LEAVES, prior=HALF, seed=0)
    assert same.paths.tobytes() == fit.paths.tobytes()
    assert same.weights.tobytes() == fit.weights.tobytes()
    assert same.candidates == fit.candidates
    assert same.provenance.settings == fit.provenance.settings
    assert same.tree() == fit.tree()
    assert QUICK.fit(X, LEAVES, prior=HALF, seed=1).paths.tobytes() != fit.paths.tobytes()


@pytest.mark.parametrize("prior", [HALF, prior_at_level(TRUTH, 2)])
def test_the_order_of_leaves_does_not_matter(prior):
    order = np.random.default_rng(0).permutation(32)
    one = QUICK.fit(X, LEAVES, prior=prior, seed=0)
    other = QUICK.fit(X[order], [LEAVES[i] for i in order], prior=prior, seed=0)
    assert other.chosen == one.chosen
    np.testing.assert_allclose(other.paths, one.paths[np.ix_(order, order)], atol=1e-9)
    assert robinson_foulds(other.tree(), one.tree()) == 0


@pytest.mark.parametrize("prior", [HALF, prior_at_level(TRUTH, 2)])
def test_rerooting_a_prior_changes_nothing(prior):
    one = QUICK.fit(X, LEAVES, prior=prior, seed=0)
    other = QUICK.fit(X, LEAVES, prior=root_at(prior, int(prior.parent[0])), seed=0)
    assert other.chosen == one.chosen
    assert robinson_foulds(other.tree(), one.tree()) == 0


def test_distances_are_mean_path_lengths_and_the_tree_is_built_from_them(fit):
    paths = [tree.unroot().distances(by="topology") for tree in fit.bag()]
    np.testing.assert_allclose(fit.distances(), np.mean([p / p.mean() for p in paths], axis=0))
    assert (fit.distances() == fit.paths).all()
    by_hand = learner_by_name("direct", builder=fit.builder).fit(np.zeros((32, 1)), LEAVES, prior=HALF, seed=0)
    assert fit.builder == by_hand.builder == fit.chosen[0]["builder"]
    assert robinson_foulds(fit.tree(), fit.tree(honor_prior=True)) == 0


def test_mean_paths_of_one_tree_are_its_paths():
    tree = parse_newick("((a,b),(c,(d,e)));")
    assert robinson_foulds(upgma(mean_paths([tree]), tree.leaves).unroot(), tree) == 0


def test_without_the_prior_trees_are_built_anew(fit):
    free = fit.tree(honor_prior=False)
    agreement = quartet_agreement(free.restrict(HALF.leaves), HALF)
    assert agreement.different > 0 or robinson_foulds(free, fit.tree()) > 0
    np.testing.assert_allclose(mean_paths(fit.bag(prior=())), mean_paths(fit.bag(prior=())))


def test_the_embedding_comes_close_to_the_distances(fit):
    points = fit.embed()
    squared = ((points[:, None] - points) ** 2).sum(axis=2)
    off = ~np.eye(32, dtype=bool)
    assert np.corrcoef(squared[off], fit.distances()[off])[0, 1] > 0.99
    spread = points.var(axis=0)
    assert (np.diff(spread) <= 1e-9).all()


# The fit


def test_new_rows_are_placed_among_themselves_by_what_was_learned():
    fit = QUICK.fit(SIMULATION.features, LEAVES, prior=HALF, seed=0)
    replicate = SIMULATION.replicate(1).features
    tree = fit.tree(replicate, honor_prior=False)
    assert tree.leaves == LEAVES
    assert robinson_foulds(tree, TRUTH) < 0.2
    some = fit.tree(replicate[:10], leaves=LEAVES[:10])
    known = HALF.restrict([name for name in LEAVES[:10] if name in HALF.index])
    assert quartet_agreement(some.restrict(known.leaves), known).different == 0
    table = pd.DataFrame(replicate[:3], index=["x", "y", "z"])
    assert fit.tree(table).leaves == ("x", "y", "z")
    assert fit.distances(replicate[:4]).shape == (4, 4)


def test_a_refit_keeps_what_was_chosen(fit):
    drawn = np.random.default_rng(0).integers(X.shape[1], size=X.shape[1])
    again = fit.refit(X[:, drawn], seed=3)
    assert again.chosen == fit.chosen
    assert again.builder == fit.builder
    assert again.criterion == "kept"
    assert again.prior == fit.prior
    assert again.provenance.settings == fit.provenance.settings
    assert again.paths.tobytes() != fit.paths.tobytes()


def test_a_fit_comes_back_from_disk(fit, tmp_path):
    fit.save(tmp_path / "fit")
    back = load_fit(tmp_path / "fit")
    assert back.paths.tobytes() == fit.paths.tobytes()
    assert back.members == fit.members
    assert [dict(row) for row in back.candidates] == [dict(row) for row in fit.candidates]
    assert back.tree() == fit.tree()
    assert back.bag()[0] == fit.bag()[0]


def test_signal_features_score_highest(fit):
    signal = SIMULATION.signal[::4]
    assert fit.feature_scores[signal].mean() > 5 * fit.feature_scores[~signal].mean()
    assert fit.selected.shape == signal.shape


# Input that teaches little or nothing


def test_constant_features_are_passed_over(caplog):
    flat = np.column_stack([X, np.full((32, 3), 0.1)])
    with caplog.at_level("WARNING", logger="celltreeqm"):
        fit = QUICK.fit(flat, LEAVES, prior=HALF, seed=0)
    assert f"3 of {flat.shape[1]} features are the same in all leaves" in caplog.text
    assert fit.feature_scores[-3:].tolist() == [0, 0, 0]
    np.testing.assert_array_equal(fit.paths, QUICK.fit(X, LEAVES, prior=HALF, seed=0).paths)


def test_features_that_say_nothing_leave_the_prior():
    fit = QUICK.fit(np.ones((32, 5)), LEAVES, prior=TRUTH, seed=0)
    assert robinson_foulds(fit.tree(), TRUTH) == 0


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_few_leaves_have_one_tree(n):
    fit = QUICK.fit(X[:n], LEAVES[:n], seed=0)
    assert fit.criterion == "nothing to choose by"
    assert fit.tree().leaves == LEAVES[:n]


@pytest.mark.parametrize("g", [1, 3, 4])
def test_a_few_features_make_a_tree(g):
    fit = QUICK.fit(X[:, :g], LEAVES, seed=0)
    assert fit.tree().n_leaves == 32
    assert np.isfinite(fit.distances()).all()


def test_copies_of_leaves_and_more_folds_than_labels_are_no_trouble():
    twice, names = np.vstack([X, X[3]]), [*LEAVES, "copy"]
    fit = AdaptiveLearner(folds=50, repeats=1, bag=4).fit(twice, names, prior=known_tree(TRUTH, 0.3, 0), seed=0)
    assert fit.tree().n_leaves == 33
    assert fit.criterion == "held-out leaves"


def test_wrong_input_is_refused_before_any_work():
    bad = X.copy()
    bad[2, 3] = np.nan
    with pytest.raises(ValueError, match=rf"The value of leaf '{LEAVES[2]}' \(row 2\) in feature column 3 is nan"):
        QUICK.fit(bad, LEAVES)
    with pytest.raises(ValueError, match="of the prior have no row in the data"):
        QUICK.fit(X[:5], LEAVES[:5], prior=TRUTH)


def test_values_whose_squares_are_lost_are_refused(fit):
    for factor in (1e200, 1e-200):
        with pytest.raises(
            ValueError, match=r"The largest of the features is .* in size, .* Multiply all features by a"
        ):
            QUICK.fit(X * factor, LEAVES)
    with pytest.raises(ValueError, match="Multiply all features by a factor"):
        fit.refit(X * 1e200)


@pytest.mark.parametrize(
    ("name", "value"),
    [("best", 0), ("bag", 0), ("folds", 1), ("repeats", 0), ("bag", 2.5), ("folds", "5"), ("best", True)],
)
def test_settings_that_make_no_sense_are_refused(name, value):
    with pytest.raises(ValueError, match=f"{name}={value!r} was given; a whole number of"):
        AdaptiveLearner(**{name: value})


def test_workers_that_make_no_sense_are_refused_before_any_work():
    with pytest.raises(ValueError, match="workers=0 was given; at least 1"):
        AdaptiveLearner(workers=0)


# How good the trees are: fast versions, then the claims


def test_weak_signal_is_found_under_a_prior():
    simulation = simulate_scenario("weak", leaves=64, seed=1)
    fit = QUICK.fit(simulation.features, simulation.leaves, prior=prior_at_level(simulation.truth, 2), seed=0)
    assert fit.chosen[0]["weighting"] == "heritable"
    assert robinson_foulds(fit.tree(), simulation.truth) <= 0.1


def test_the_builder_follows_the_shape_of_the_tree():
    """Ward's even trees do well on even lineages alone."""
    from dataclasses import replace

    chosen = {}
    for shape in ("balanced", "uniform"):
        scenario = replace(SCENARIOS["unsupervised"], shape=shape, max_length=1)
        simulation = simulate_scenario(scenario, leaves=64, seed=0)
        chosen[shape] = QUICK.fit(simulation.features, simulation.leaves, seed=0).builder
    assert chosen["balanced"] != "neighbor_joining"
    assert chosen["uniform"] == "neighbor_joining"


def epic190(folder, seed, share=1.0):
    """The data with its leaves in random order, or a random share of them."""
    table = pd.read_csv(folder / "epic190/expression.csv.gz", index_col=0)
    truth = read_newick(folder / "epic190/tree.nwk", rooted=True)
    drawn = np.random.default_rng([seed, 1]).permutation(truth.n_leaves)[: int(share * truth.n_leaves)]
    names = [truth.leaves[i] for i in drawn]
    return table.loc[names].to_numpy(), truth.restrict(names).reorder(names)


def errors_on_epic190(folder, kappa, seed, learner):
    """RF of all leaves; RF and quartet distance of those without labels."""
    features, truth = epic190(folder, seed)
    prior = known_tree(truth, kappa, seed)
    tree = learner.fit(features, truth.leaves, prior=prior, seed=seed).tree()
    unlabelled = [name for name in truth.leaves if name not in prior.index]
    alone, wanted = tree.restrict(unlabelled), truth.restrict(unlabelled)
    return robinson_foulds(tree, truth), robinson_foulds(alone, wanted), quartet_distance(alone, wanted)


def test_a_real_lineage_is_found_with_half_of_it_known(shared_data):
    """Direct reconstruction under the prior: .39."""
    assert errors_on_epic190(shared_data, 0.5, 0, QUICK)[0] <= 0.15


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kappa", "targets"), [(0.3, (0.135, 0.136, 0.016)), (0.5, (0.069, 0.060, 0.001)), (0.8, (0.026, 0.005, 0.002))]
)
def test_epic190_claim_with_labels(shared_data, kappa, targets):
    """Within a standard deviation of the figures to reach, or better."""
    errors = np.array([errors_on_epic190(shared_data, kappa, seed, AdaptiveLearner()) for seed in range(5)])
    assert (errors.mean(axis=0) <= np.array(targets) + errors.std(axis=0, ddof=1)).all()


@pytest.mark.slow
@pytest.mark.parametrize(("level", "target"), [(0, 0.315), (1, 0.311), (2, 0.303), (3, 0.199)])
def test_epic190_claim_with_clades_or_nothing(shared_data, level, target):
    errors = []
    for seed in range(5):
        features, truth = epic190(shared_data, seed, share=0.85)
        prior = prior_at_level(truth, level) if level else None
        errors.append(
            robinson_foulds(AdaptiveLearner().fit(features, truth.leaves, prior=prior, seed=seed).tree(), truth)
        )
    assert np.mean(errors) <= target + np.std(errors, ddof=1)
