"""An evaluation's numbers, against counting by hand and brute force; what may be left out of it and what not."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celltreeqm.evaluation import Evaluation, evaluate, with_companions
from celltreeqm.learners import DirectLearner
from celltreeqm.simulate import random_tree, simulate_brownian
from celltreeqm.trees import Tree, neighbor_joining, parse_newick, prior_at_level
from tests import oracles
from tests.strategies import partition_and_backbones, priors_of, trees

NAN = float("nan")
DELTAS = {"direct": "delta_direct", "direct_under_prior": "delta_under_prior"}


def row(evaluation: Evaluation, metric: str) -> pd.Series:
    return evaluation.table.set_index("metric").loc[metric]


def slow_rf(tree: Tree, truth: Tree, leaves) -> float:
    """RF on some leaves, from restricted sets of splits."""
    leaves = set(leaves)
    if len(leaves) < 4:
        return NAN
    one, two = (oracles.restrict_splits(oracles.splits(t), leaves) for t in (tree, truth))
    return len(one ^ two) / (len(one) + len(two)) if one or two else 0.0


def slow_metrics(tree: Tree, truth: Tree, prior: list[Tree]) -> dict[str, float]:
    inside = {name for one in prior for name in one.leaves}
    classes = oracles.quartet_classes(truth.leaves, prior)
    covers = not classes["partial"] and not classes["unknown_outside"]
    quartets = {
        "QD": oracles.all_quartets(truth.leaves),
        "K-QD": classes["known"],
        "P-QD": classes["partial"],
        "U-QD": classes["unknown_inside" if covers else "unknown_outside"],
    }
    return {
        "RF": slow_rf(tree, truth, truth.leaves),
        "unlabelled-leaf RF": slow_rf(tree, truth, set(truth.leaves) - inside),
        "train RF": slow_rf(tree, truth, inside),
    } | {name: oracles.quartet_distance(tree, truth, some) for name, some in quartets.items()}


@st.composite
def cases(draw):
    truth = draw(trees(4, 9, rooted=True))
    tree = draw(trees(names=truth.leaves))
    kind = draw(st.sampled_from(["none", "one", "several"]))
    if kind == "none":
        return tree, truth, []
    return tree, truth, [draw(priors_of(truth))] if kind == "one" else draw(partition_and_backbones(truth))


@given(cases())
def test_every_distance_is_that_of_brute_force(case):
    tree, truth, prior = case
    values = evaluate(tree, truth, prior=prior, levels=()).values()
    assert values == pytest.approx(slow_metrics(tree, truth, prior), nan_ok=True)


@given(cases(), st.data())
def test_baselines_are_measured_like_the_tree(case, data):
    tree, truth, prior = case
    base, other = (data.draw(trees(names=truth.leaves)) for _ in range(2))
    evaluation = evaluate(tree, truth, prior=prior, direct=base, direct_under_prior=other, honor_prior=False)
    for column, own in (("direct", base), ("direct_under_prior", other)):
        measured = evaluate(own, truth, prior=prior, honor_prior=False).values()
        assert evaluation.values(column) == pytest.approx(measured, nan_ok=True)
        for metric, value in evaluation.values().items():
            delta = row(evaluation, metric)[DELTAS[column]]
            if not measured[metric] or math.isnan(measured[metric]):
                assert math.isnan(delta)
            else:
                assert delta == pytest.approx((measured[metric] - value) / measured[metric], nan_ok=True)


# By hand: the tree is the truth with b and e exchanged

TRUTH = parse_newick("(((a,b),(c,d)),((e,f),(g,h)));")
TREE = parse_newick("(((a,e),(c,d)),((b,f),(g,h)));")
STAR = parse_newick("(a,b,c,d,e,f,g,h);")


def test_a_case_by_hand():
    evaluation = evaluate(TREE, TRUTH, prior=parse_newick("((a,c),(g,h));"), direct=STAR)
    # truth: ab cd ef gh abcd; tree: ae cd bf gh aecd: 2 of 5 in common
    assert evaluation["RF"] == pytest.approx(6 / 10)
    assert row(evaluation, "RF")["direct"] == 1.0
    assert row(evaluation, "RF")["delta_direct"] == pytest.approx(0.4)
    # b, d, e, f are unlabelled: bd|ef in the truth, de|bf in the tree
    assert evaluation["unlabelled-leaf RF"] == evaluation["U-QD"] == 1.0
    assert evaluation["train RF"] == evaluation["K-QD"] == 0.0
    assert row(evaluation, "P-QD")["count"] == math.comb(8, 4) - 2
    assert row(evaluation, "U-QD")["count"] == row(evaluation, "K-QD")["count"] == 1
    # inside the true clades abcd and efgh both trees say ab|cd and ef|gh
    assert evaluation["subtree RF 1"] == 0.0
    assert "subtree RF 2" not in evaluation.values()


def test_without_a_prior_all_leaves_are_unlabelled_and_all_quartets_unknown():
    evaluation = evaluate(TREE, TRUTH, direct=STAR)
    assert evaluation["unlabelled-leaf RF"] == evaluation["RF"]
    assert evaluation["U-QD"] == evaluation["QD"]
    assert all(math.isnan(evaluation[metric]) for metric in ("K-QD", "P-QD", "train RF"))
    assert math.isnan(row(evaluation, "RF")["direct_under_prior"])
    assert str(evaluation).startswith("8 leaves, no prior\n")


def test_clades_of_all_leaves_label_them_all_and_leave_quartets_inside_unknown():
    evaluation = evaluate(TREE, TRUTH, prior=prior_at_level(TRUTH, 1))
    assert math.isnan(evaluation["unlabelled-leaf RF"])
    assert math.isnan(evaluation["P-QD"])
    assert row(evaluation, "U-QD")["count"] == 2 + 2 * 4 * 4  # abcd, efgh; three of one clade and one of the other
    assert evaluation["train RF"] == evaluation["RF"]


def test_direct_reconstruction_is_neighbour_joining_on_euclidean_distances():
    truth = random_tree(32, seed=1)
    X = simulate_brownian(truth, 10, seed=2)
    prior = truth.restrict(truth.leaves[::2])
    d = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    built = evaluate(truth, truth, prior=prior, features=X, leaves=truth.leaves)
    passed = evaluate(
        truth,
        truth,
        prior=prior,
        direct=neighbor_joining(d, truth.leaves),
        direct_under_prior=neighbor_joining(d, truth.leaves, prior=prior),
    )
    pd.testing.assert_frame_equal(built.table, passed.table)
    order = np.random.default_rng(0).permutation(32)
    shuffled = pd.DataFrame(X[order], index=[truth.leaves[i] for i in order])
    pd.testing.assert_frame_equal(evaluate(truth, truth, prior=prior, features=shuffled).table, built.table)
    assert row(built, "RF")["direct"] > row(built, "RF")["direct_under_prior"] > 0


def test_what_an_honoured_prior_settles_is_printed_as_given_and_is_no_improvement():
    truth = random_tree(16, seed=1)
    X = simulate_brownian(truth, 4, seed=2)
    for prior, settled in (
        (truth.restrict(truth.leaves[::2]), {"K-QD", "train RF"}),
        (prior_at_level(truth, 2), {"K-QD"}),
    ):
        fit = DirectLearner(builder="upgma").fit(X, truth.leaves, prior=prior)
        honored = evaluate(fit.tree(), truth, prior=prior, features=X, leaves=truth.leaves)
        assert set(honored.table["metric"][honored.table["given"]]) == settled
        for metric in settled:
            assert math.isnan(row(honored, metric)["delta_direct"])
            line = next(line for line in str(honored).splitlines() if line.startswith(metric))
            assert line.split().count("given") == 2, "of the tree, and of direct reconstruction under the prior"
        assert "which the tree honours" in str(honored)

        plain = evaluate(fit.tree(), truth, prior=prior, features=X, leaves=truth.leaves, honor_prior=False)
        assert not plain.table["given"].any()
        assert plain["K-QD"] == 0
        assert row(plain, "K-QD")["delta_direct"] == 1
        assert "which is not honoured" in str(plain)


def test_a_tree_that_does_not_display_the_prior_cannot_be_said_to_honour_it():
    prior = parse_newick("((a,b),(e,f));")
    assert evaluate(TREE, TRUTH, prior=prior).table["given"].sum() == 0
    with pytest.raises(ValueError, match="said to honour the prior .* lacks splits of the prior"):
        evaluate(TREE, TRUTH, prior=prior, honor_prior=True)


def test_in_the_supervised_setting_nothing_is_given_and_there_is_no_baseline_under_the_prior():
    truth = random_tree(16, seed=1)
    X = simulate_brownian(truth, 3, seed=2)
    fit = DirectLearner().fit(X, truth.leaves, prior=truth)
    tree = fit.tree(X + 0.1, honor_prior=False)
    evaluation = evaluate(
        tree, truth, prior=truth, features=X, leaves=truth.leaves, honor_prior=False, train_tree=truth
    )
    assert evaluation.table["direct_under_prior"].isna().all()
    assert not evaluation.table["given"].any()
    assert evaluation["train RF"] == 0 < evaluation["RF"] == evaluation.values("direct")["RF"]
    assert evaluation.values("direct")["train RF"] == evaluation.values("direct")["RF"]
    honored = evaluate(fit.tree(), truth, prior=truth)
    assert set(honored.table["metric"][~honored.table["given"]]) == {"unlabelled-leaf RF", "P-QD", "U-QD"}


def test_a_tree_of_the_labelled_leaves_alone_is_compared_with_direct_reconstruction_of_them_alone():
    truth = random_tree(32, seed=3)
    X = pd.DataFrame(simulate_brownian(truth, 6, seed=2), index=truth.leaves)
    labelled = list(truth.leaves[::2])
    prior = truth.restrict(labelled)
    alone = DirectLearner().fit(X.loc[labelled]).tree()
    tree = DirectLearner().fit(X, prior=prior).tree()
    evaluation = evaluate(tree, truth, prior=prior, features=X, train_tree=alone)
    assert evaluation["train RF"] == evaluation.values("direct")["train RF"] == slow_rf(alone, truth, labelled) > 0
    assert evaluation.values("direct_under_prior")["train RF"] == 0
    assert not row(evaluation, "train RF")["given"]
    assert row(evaluation, "train RF")["count"] == 16
    assert evaluate(tree, truth, prior=prior, features=X)["train RF"] == 0


@given(cases())
def test_what_a_prior_flatters_is_never_printed_alone(case):
    tree, truth, prior = case
    evaluation = evaluate(tree, truth, prior=prior, direct=tree)
    for metrics in (None, ["RF"], ["P-QD"], ["QD", "K-QD"]):
        text = evaluation.text(metrics)
        assert "U-QD" in text
        assert "unlabelled-leaf RF" in text
    assert "U-QD" in str(evaluation)
    assert "U-QD" in repr(evaluation)


def test_companions_are_added_once_and_only_where_needed():
    assert with_companions(["U-QD", "P-QD"]) == ("U-QD", "P-QD", "unlabelled-leaf RF")
    assert with_companions(["subtree RF 2"]) == ("subtree RF 2", "unlabelled-leaf RF", "U-QD")
    assert with_companions(["K-QD", "recall", "train RF"]) == ("K-QD", "recall", "train RF")


def test_the_print_holds_the_numbers_of_the_table():
    evaluation = evaluate(TREE, TRUTH, prior=parse_newick("((a,c),(g,h));"), direct=STAR, levels=())
    assert evaluation.text(["RF", "K-QD"]).splitlines() == [
        "8 leaves, 4 of them in the prior, which the tree honours",
        "                    value  direct  Delta%",
        "RF                  0.600   1.000    40.0",
        "unlabelled-leaf RF  1.000   1.000     0.0",
        "K-QD                given   1.000       -",
        "U-QD                1.000   1.000     0.0",
    ]
    with pytest.raises(KeyError, match="no metric 'R'"):
        evaluation["R"]
    with pytest.raises(KeyError, match="no metric 'precision'"):
        evaluation.text(["precision"])


def test_without_baselines_only_the_values_are_printed():
    assert "Delta%" not in str(evaluate(TREE, TRUTH))
    assert evaluate(TREE, TRUTH).table["delta_direct"].isna().all()


def test_selected_features_come_with_recall_and_precision():
    evaluation = evaluate(TREE, TRUTH, selected=[True, True, True, False], signal=[True, False, True, False])
    assert evaluation["recall"] == 1.0
    assert evaluation["precision"] == pytest.approx(2 / 3)
    assert row(evaluation, "precision")["count"] == 3
    with pytest.raises(ValueError, match="selected came without signal"):
        evaluate(TREE, TRUTH, selected=[True])


def test_levels_can_be_chosen_and_need_a_rooted_truth():
    assert [m for m in evaluate(TREE, TRUTH, levels=[0, 2]).values() if "subtree" in m] == [
        "subtree RF 0",
        "subtree RF 2",
    ]
    assert not [m for m in evaluate(TREE, TRUTH.unroot()).values() if "subtree" in m]
    with pytest.raises(ValueError, match="This tree is unrooted"):
        evaluate(TREE, TRUTH.unroot(), levels=[1])


def test_leaves_that_do_not_match_are_named_with_where_they_are():
    short = TRUTH.restrict(list("abcdefg"))
    with pytest.raises(ValueError, match="The tree has 7 leaves and the truth 8, .* 1 is only in the truth: 'h'"):
        evaluate(short, TRUTH)
    with pytest.raises(ValueError, match="1 is only in the tree: 'h'"):
        evaluate(TREE, short)
    with pytest.raises(ValueError, match="The tree given as direct_under_prior has 7 leaves"):
        evaluate(TREE, TRUTH, direct_under_prior=short)
    with pytest.raises(ValueError, match="The feature matrix has 7 leaves .* 1 is only in the truth: 'h'"):
        evaluate(TREE, TRUTH, features=np.ones((7, 2)), leaves=short.leaves)
    with pytest.raises(ValueError, match="1 leaf of train_tree is not in the truth: 'h'"):
        evaluate(short, short, train_tree=TREE)
    with pytest.raises(ValueError, match="1 leaf of the prior has no row in the data: 'h'"):
        evaluate(short, short, prior=TRUTH)
    with pytest.raises(ValueError, match="The features came without leaf names"):
        evaluate(TREE, TRUTH, features=np.ones((8, 2)))


@pytest.mark.parametrize("wrong", ["tree.nwk", 5])
def test_what_is_no_tree_is_refused(wrong):
    for call in (
        lambda: evaluate(wrong, TRUTH),
        lambda: evaluate(TREE, wrong),
        lambda: evaluate(TREE, TRUTH, prior=wrong),
        lambda: evaluate(TREE, TRUTH, direct=wrong),
        lambda: evaluate(TREE, TRUTH, train_tree=wrong),
    ):
        with pytest.raises(TypeError, match="a Tree"):
            call()


def test_numpys_false_is_false():
    assert not evaluate(TREE, TRUTH, prior=TREE, honor_prior=np.bool_(False)).table["given"].any()
    assert evaluate(TREE, TRUTH, prior=TREE, honor_prior=np.bool_(True)).table["given"].any()


def test_a_word_is_neither_true_nor_false():
    with pytest.raises(TypeError, match="honor_prior='no' was given; True, False or None was needed"):
        evaluate(TREE, TRUTH, prior=TREE, honor_prior="no")


def test_one_level_instead_of_a_list_is_told_and_one_metric_is_shown():
    with pytest.raises(TypeError, match=r"levels=2 was given; a sequence of levels was needed: \[2\]"):
        evaluate(TREE, TRUTH, levels=2)
    evaluation = evaluate(TREE, TRUTH)
    assert evaluation.text("RF") == evaluation.text(["RF"])
