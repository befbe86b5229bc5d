"""The networks as methods: what they are told, what they tell, and what they must not see."""

from dataclasses import replace

import numpy as np
import pytest

from celltreeqm.benchmark import _method_quartet, method_by_name, paper_number, task_by_name
from celltreeqm.benchmark._method_quartet import fit_to, outcome_of
from celltreeqm.benchmark._task_simulations import ABLATION
from celltreeqm.learners.quartet import PRESETS, QuartetLearner
from celltreeqm.trees import quartet_agreement

QUICK = QuartetLearner(gate_start="none", gate="gumbel", steps=20, look_every=10, width=16, batch=128)


def problems(task, seed=0):
    return {problem.name: problem for problem in task_by_name(task).problems("tiny", seed)}


@pytest.fixture(scope="module")
def supervised():
    return problems("table-sim")["A1"]


def test_a_supervised_problem_is_chosen_by_its_validation_table_alone(supervised):
    fit = fit_to(QUICK, supervised, 1)
    assert fit.selection == "validation: replicate"
    assert {"validation RF", "test RF", "train RF"} <= set(fit.history)
    chosen = fit.history["validation RF"].iloc[fit.history["step"].tolist().index(fit.step)]
    assert chosen == fit.history["validation RF"].min()
    other = replace(supervised, test={"replicate": supervised.test["fresh"]})
    assert fit_to(QUICK, other, 1).parameters.tobytes() == fit.parameters.tobytes()


def test_an_outcome_tells_how_it_was_chosen_and_what_the_best_look_had(supervised):
    fit = fit_to(QUICK, supervised, 1)
    outcome = outcome_of(fit, supervised)
    assert set(outcome.trees) == {"given", "replicate", "fresh"}
    assert not outcome.honored
    assert outcome.selection == fit.selection
    looks = fit.history["test RF"]
    assert outcome.extra["RF of the best look"] == looks.min() <= outcome.extra["RF of the last look"]
    assert outcome.extra["looks"] == len(looks) == 3
    assert outcome.extra["gate change sd"] == fit.gate_change_sd
    assert outcome.selected.tolist() == fit.selected.tolist()


def test_features_are_not_called_selected_where_nothing_selects(supervised):
    ungated = QuartetLearner(gate_start="none", gate="none", steps=2, width=16, batch=64)
    assert outcome_of(fit_to(ungated, supervised, 1), supervised).selected is None


def test_leaves_that_are_held_out_are_not_seen_in_training():
    problem = problems("table-sim-controls")["A1, leaves held out"]
    inside = np.array([name in problem.prior.leaves for name in problem.leaves])
    assert problem.control == "held-out-leaves"
    assert 4 <= inside.sum() < len(inside)
    changed = np.where(inside[:, None], problem.features, 7.0)
    fits = [fit_to(QUICK, replace(problem, features=features), 1) for features in (problem.features, changed)]
    assert fits[0].parameters.tobytes() == fits[1].parameters.tobytes()
    seen = [fit_to(QUICK, replace(problem, features=f, control="none"), 1) for f in (problem.features, changed)]
    assert seen[0].parameters.tobytes() != seen[1].parameters.tobytes()


def test_a_weak_problem_is_solved_without_and_with_the_prior():
    problem = problems("sim-partition")["level 2"]
    outcome = method_by_name("quartet").run(problem, 1)
    assert set(outcome.trees) == set(outcome.honored) == {"given"}
    agreement = quartet_agreement(outcome.honored["given"], problem.prior)
    assert agreement.different == agreement.only_second == 0


def test_permuted_leaves_are_permuted_in_truth_and_prior_alike():
    problem = problems("table-sim-controls")["A1, leaves permuted"]
    plain = problems("table-sim")["A1"]
    assert problem.control == "permuted-leaves"
    assert problem.prior == problem.truth
    assert problem.features.tobytes() == plain.features.tobytes()
    assert not problem.truth.same_topology(plain.truth)


def test_the_ablation_is_the_papers():
    baseline = PRESETS["ablation"]
    named = {"Deviation": "deviation", "Additivity": "additivity", "Close": "close", "Push": "push", "margin": "margin"}
    assert len(ABLATION) == 23
    for row, changed in ABLATION.items():
        for column, setting in named.items():
            try:
                theirs = paper_number("tbl:loss_ablation", row, column)
            except ValueError:  # the paper gives only what differs from its baseline
                assert setting not in changed or row == "baseline"
                continue
            assert {**baseline, **changed}[setting] == theirs
    assert [ABLATION[row] for row in ("baseline", "g1", "g2")] == [{}, {"quartets": "matched"}, {"quartets": "all"}]


def test_a_row_of_the_ablation_is_trained_with_its_loss(monkeypatch):
    found = problems("ablation")
    assert list(found) == ["baseline", "a1", "a2", "g1"]
    monkeypatch.setattr(_method_quartet, "_outcome", lambda learner, problem, seed: learner.settings(16, 150))
    run = method_by_name("ablated-quartet").run
    baseline = run(found["baseline"], 1)
    wanted = {name: PRESETS["ablation"][name] for name in ("additivity", "close", "push", "margin", "deviation")}
    assert {name: getattr(baseline, name) for name in wanted} == wanted
    assert (baseline.steps, baseline.gate) == (20, "none")
    assert run(found["a1"], 1) == replace(baseline, deviation=0.0)
    assert run(found["a2"], 1) == replace(baseline, additivity=0.0)
    assert run(found["g1"], 1) == replace(baseline, quartets="matched")
    assert not run(problems("sim-partition")["level 2"], 1).trees
