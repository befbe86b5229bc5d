"""The tasks: all run at tiny, are the same for the same seed, and show what they are meant to."""

import time

import numpy as np
import pytest

from celltreeqm.benchmark import DataMissing, Outcome, Problem, load_results, run_benchmark, task_by_name, task_names
from celltreeqm.benchmark._jobs import plan_jobs
from celltreeqm.benchmark._scores import score
from celltreeqm.benchmark._store import format_result
from celltreeqm.benchmark._work import do_job
from celltreeqm.evaluation import permute_leaves
from celltreeqm.learners import DirectLearner
from celltreeqm.simulate import random_tree
from celltreeqm.trees import Tree, robinson_foulds

SIMULATED = [name for name in task_names() if not task_by_name(name).files]
REAL = [name for name in task_names() if task_by_name(name).files]


def rows_of(task, method="direct", size="tiny", seed=0, data=None):
    (job,), not_run = plan_jobs([task], [method], size=size, seeds=[seed], data=data)
    record = do_job(job)
    assert (record["status"], record["error"], not_run) == ("done", None, {})
    return record["rows"]


def test_the_tasks_are_those_of_the_paper_and_the_real_data():
    assert set(SIMULATED) == {
        "table-sim",
        "table-sim-controls",
        "ablation",
        "sim-partition",
        "sim-partial",
        "sim-unsupervised",
        "figure-signal",
        "quartet-proportions",
    }
    assert set(REAL) == {"real-epic190", "real-packer30", "tedsim"}
    assert all(task_by_name(name).about.endswith((".", ")")) for name in task_names())


@pytest.mark.parametrize("task", SIMULATED)
def test_a_simulated_task_runs_and_a_seed_gives_the_same_rows(task):
    rows = rows_of(task)
    assert rows
    assert [format_result({"rows": row}) for row in rows] == [format_result({"rows": row}) for row in rows_of(task)]
    assert rows != rows_of(task, seed=1)


@pytest.mark.parametrize("task", REAL)
def test_a_task_on_data_runs(task, shared_data):
    rows = rows_of(task, data=shared_data)
    assert {row["control"] for row in rows} == {"none", "permuted-leaves", "permuted-cells", "permuted-genes"}
    assert {row["honors_prior"] for row in rows} == {True, False}
    assert not any(row["honors_prior"] for row in rows if row["control"] != "none")


@pytest.mark.parametrize("task", task_names())
@pytest.mark.parametrize(("size", "seconds"), [("tiny", 5), ("smoke", 40)])
def test_a_size_takes_no_longer_than_it_promises(task, size, seconds, shared_data):
    """In CPU time, on which what else runs has little bearing."""
    start = time.process_time()
    rows_of(task, size=size, data=shared_data)
    assert time.process_time() - start < seconds


def test_a_size_that_is_none_is_told():
    with pytest.raises(ValueError, match="size='huge' was given; it is one of tiny, smoke, full"):
        task_by_name("table-sim").problems("huge", 0)


@pytest.mark.parametrize("task", REAL)
def test_a_task_without_its_data_is_not_run(task, tmp_path, monkeypatch):
    monkeypatch.setenv("CELLTREEQM_DATA", str(tmp_path))
    with pytest.raises(DataMissing, match="Name another folder with --data or in CELLTREEQM_DATA"):
        list(task_by_name(task).problems("tiny", 0))
    report = run_benchmark([task], ["direct"], folder=tmp_path / "results", size="tiny")
    assert report.not_run[task].startswith("data missing")
    assert report.done == 0


@pytest.mark.parametrize("damage", ["cut", "empty", "plain"])
@pytest.mark.parametrize("task", REAL)
def test_a_damaged_file_is_named(task, damage, shared_data, tmp_path):
    for name in task_by_name(task).files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        content = (shared_data / name).read_bytes()
        damaged = {"cut": content[:3000], "empty": b"", "plain": b"a,b\n1,2\n"}
        (tmp_path / name).write_bytes(damaged[damage] if name.endswith(".gz") else content)
    with pytest.raises(ValueError, match=rf"{task_by_name(task).files[0]} cannot be read as a table .* Is it whole"):
        list(task_by_name(task).problems("tiny", 0, data=tmp_path))


def test_real_baselines_are_those_known(shared_data):
    epic = rows_of("real-epic190", size="smoke", data=shared_data)
    packer = rows_of("real-packer30", data=shared_data)
    assert epic[0]["metrics"]["RF"] == pytest.approx(0.52, abs=0.01)
    assert packer[0]["metrics"]["RF"] == pytest.approx(0.93, abs=0.01)


def test_permuted_leaves_leave_nothing_of_the_lineage(shared_data):
    rows = rows_of("real-epic190", size="smoke", data=shared_data)
    nulls = [row["metrics"]["QD"] for row in rows if row["control"] == "permuted-leaves"]
    assert np.allclose(nulls, 2 / 3, atol=0.03)  # two thirds of quartets differ by chance
    assert rows[0]["metrics"]["QD"] < 0.3
    for row in rows:  # the base of a null is computed anew, against the permuted tree
        if row["features"] == "given" and not row["honors_prior"]:
            assert row["metrics"]["QD direct"] == row["metrics"]["QD"]


def test_the_supervised_table_has_every_column_and_never_honours_the_truth():
    rows = rows_of("table-sim")
    assert {row["features"] for row in rows} == {"given", "signal", "replicate", "fresh"}
    assert not any(row["honors_prior"] for row in rows)
    given = next(row for row in rows if row["features"] == "given")
    assert given["metrics"]["RF"] == given["metrics"]["RF direct"]


def test_copying_the_nearest_leaf_wins_on_replicates_and_knows_nothing_of_fresh_ones():
    rows = rows_of("table-sim", "copy-nearest", size="smoke")
    error = {(row["problem"], row["features"]): row["metrics"]["RF"] for row in rows}
    assert max(error["A1", "replicate"], error["C1", "replicate"]) < 0.1
    assert min(error["A1", "fresh"], error["C1", "fresh"]) > 0.9


def test_copying_is_for_supervised_problems_alone():
    assert rows_of("sim-partial", "copy-nearest") == []


def test_an_honoured_prior_is_displayed_and_what_it_gives_is_no_improvement(tmp_path):
    run_benchmark(["sim-partial"], ["direct"], folder=tmp_path, size="tiny", workers=1)
    table = load_results(tmp_path)
    honored = table[table["honors_prior"]].iloc[0]
    assert honored["K-QD"] == 0
    assert "K-QD" in honored["given"].split(", ")
    assert np.isnan(honored["K-QD delta_direct"])
    plain = table[~table["honors_prior"] & (table["control"] == "none")].iloc[0]
    assert plain["given"] == ""
    assert plain["QD delta_direct"] == 0
    expected = (plain["QD direct_under_prior"] - plain["QD"]) / plain["QD direct_under_prior"]
    assert plain["QD delta_under_prior"] == pytest.approx(expected)


def test_problems_of_one_seed_share_the_simulation():
    first, null, *_ = task_by_name("sim-partition").problems("tiny", 3)
    assert np.array_equal(first.features, null.features)
    assert robinson_foulds(first.truth, null.truth) > 0.5
    (prior,) = null.prior
    assert prior.same_topology(first.prior) is False


def test_partial_labels_are_nested_and_rounded_down():
    problems = {p.info["kappa"]: p for p in task_by_name("sim-partial").problems("full", 0) if p.control == "none"}
    sizes = {kappa: p.prior.n_leaves for kappa, p in problems.items()}
    assert sizes == {0.35: 44, 0.55: 70, 0.85: 108}
    assert set(problems[0.35].prior.leaves) < set(problems[0.55].prior.leaves) < set(problems[0.85].prior.leaves)


def test_quartets_are_counted_for_their_own_task_alone():
    """The paper's formulas are those of random clades: beside other problems they would be nonsense."""
    assert rows_of("table-sim", "count-quartets") == rows_of("sim-partition", "count-quartets") == []


def test_quartet_proportions_agree_with_the_papers_formulas():
    rows = {row["problem"]: row["info"] for row in rows_of("quartet-proportions", size="full")}
    known = {info["k"]: info["known expected"] for info in rows.values() if "k" in info}
    assert max(known, key=known.get) == 4
    assert known[4] == 0.703125
    for info in rows.values():
        if "k" in info:
            assert info["known"] == pytest.approx(info["known expected"], abs=0.08)
            assert info["known"] == pytest.approx(info["(2, 2, 0, 0)"] + info["(2, 1, 1, 0)"])
        assert info["known"] + info["partial"] + info["unknown"] == pytest.approx(1)
    assert rows["level 1"]["known"] == 246_016 / 635_376  # the paper's table for 64 leaves
    assert rows["level 2"]["known"] == 455_040 / 635_376
    assert rows["80 % of leaves"]["known"] == pytest.approx(0.8**4, abs=0.03)


def test_figure_signal_has_the_papers_25_trials_in_five_seeds():
    problems = list(task_by_name("figure-signal").problems("full", 0))
    cells = {(p.info["leaves"], p.info["signals"], p.info["max_length"]) for p in problems}
    assert len(problems) == 5 * len(cells)
    group = [p for p in problems if p.name.startswith("32 leaves, 50 features, w 2,")]
    assert len(group) == 5
    assert all(p.truth.same_topology(group[0].truth) for p in group)
    assert not np.array_equal(group[0].features, group[1].features)


def test_a_problem_whose_parts_do_not_fit_is_told():
    problem = next(iter(task_by_name("sim-unsupervised").problems("tiny", 0)))
    with pytest.raises(ValueError, match=r"Table 'fresh' of problem 'x' has shape \(3, 2\)"):
        Problem("x", problem.features, problem.leaves, problem.truth, test={"fresh": np.ones((3, 2))})
    with pytest.raises(ValueError, match="has 16 leaves and a truth on 4, not the same"):
        Problem("x", problem.features, problem.leaves, problem.truth.restrict(problem.leaves[:4]))
    with pytest.raises(ValueError, match="The signal mask"):
        Problem("x", problem.features, problem.leaves, problem.truth, signal=np.ones(3, dtype=bool))


def test_the_tables_of_a_problem_cannot_be_written_to_and_are_its_own():
    truth = random_tree(4, seed=1)
    table = np.ones((4, 2))
    problem = Problem("p", table, truth.leaves, truth, test={"replicate": table})
    table[:] = 0
    for kept in (problem.features, problem.test["replicate"]):
        assert kept.all()
        with pytest.raises(ValueError, match="read-only"):
            kept[:] = 0


def test_the_base_of_the_train_error_is_that_of_the_training_features():
    rows = {(row["problem"], row["features"]): row["metrics"] for row in rows_of("table-sim")}
    for (name, features), metrics in rows.items():
        given = rows[name, "given"]
        assert metrics["train RF direct"] == given["RF direct"]
        assert metrics["train RF"] == (metrics if features == "signal" else given)["RF"]
    assert any(metrics["RF direct"] != metrics["train RF direct"] for metrics in rows.values())


def test_no_prior_is_honoured_where_it_must_not_be():
    truth = random_tree(8, seed=1)
    problem = Problem("p", np.ones((8, 2)), truth.leaves, truth, prior=truth, honor_prior=False)
    with pytest.raises(ValueError, match="honoured the prior of problem 'p', which is supervised or a null"):
        next(score(problem, Outcome({}, {"given": truth})))


def test_a_null_is_drawn_independently_of_which_leaves_are_known():
    known, null = (p for p in task_by_name("sim-partial").problems("smoke", 0) if p.info["kappa"] == 0.55)
    number = {name: i for i, name in enumerate(known.leaves)}
    drawn = np.random.default_rng(0).permutation(128)
    assert {number[name] for name in known.prior.leaves} == set(drawn[:70].tolist())
    reused = permute_leaves(known.truth, 0)
    assert not null.truth.same_topology(reused)


def test_genes_are_permuted_on_real_data(shared_data):
    problems = {p.control: p for p in task_by_name("real-packer30").problems("tiny", 0, data=shared_data)}
    assert np.allclose(problems["permuted-genes"].features.sum(axis=1), problems["none"].features.sum(axis=1))
    assert np.allclose(problems["permuted-cells"].features.sum(axis=0), problems["none"].features.sum(axis=0))
    assert not np.array_equal(problems["permuted-genes"].features, problems["none"].features)


def test_the_train_error_of_partial_labels_is_that_of_the_labelled_leaves_alone():
    rows = [
        row for row in rows_of("sim-partial", size="smoke") if not row["honors_prior"] and row["features"] == "given"
    ]
    problems = {problem.name: problem for problem in task_by_name("sim-partial").problems("smoke", 0)}
    for row in rows:
        problem = problems[row["problem"]]
        (prior,) = [problem.prior] if isinstance(problem.prior, Tree) else problem.prior
        of_prior = [problem.leaves.index(name) for name in prior.leaves]
        alone = DirectLearner().fit(problem.features[of_prior], prior.leaves).tree()
        assert row["metrics"]["train RF"] == row["metrics"]["train RF direct"] == robinson_foulds(alone, prior)
        assert row["metrics"]["train RF count"] == 70
    assert {row["control"] for row in rows} == {"none", "permuted-leaves"}
