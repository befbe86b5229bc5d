"""The runner: every job once, the same results however they are come by, and clear words where it does not work."""

import json
import os
import pickle
import re
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from celltreeqm.benchmark import _store as store
from celltreeqm.benchmark import load_results, parse_shard, run_benchmark
from celltreeqm.benchmark._code_version import code_version
from celltreeqm.benchmark._jobs import in_shard, plan_jobs
from celltreeqm.benchmark._results import COLUMNS
from celltreeqm.benchmark._work import do_job
from celltreeqm.benchmark._workers import do_in_processes

from .fakes import DIE, JOIN, ODD, SLOW, TASK, TASK_OF_FILE, TASK_OF_NOTHING, THREADS

ROOT = Path(__file__).parents[2]


def contents(folder):
    """The text of every result without its timings, by path."""
    found = {}
    for path, record in store.read_results(Path(folder)).items():
        record.pop("timings")
        found[path] = store.format_result(record)
    return found


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """Three seeds by two methods, done in this process without a break."""
    folder = tmp_path_factory.mktemp("expected")
    report = run_benchmark([TASK], [JOIN, SLOW], folder=folder, size="smoke", seeds=3, workers=1)
    assert (report.done, report.failed, report.done_before) == (6, 0, 0)
    return contents(folder)


def test_a_second_run_does_nothing(tmp_path):
    first = run_benchmark([TASK], [JOIN], folder=tmp_path, size="tiny", seeds=2, workers=1)
    written = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.json")}
    again = run_benchmark([TASK], [JOIN], folder=tmp_path, size="tiny", seeds=2, workers=1)
    assert (first.done, first.done_before, again.done, again.done_before) == (2, 0, 0, 2)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.json")} == written
    assert str(again) == "0 done, 0 failed, 2 done before"


def test_more_seeds_add_to_what_is_there(tmp_path):
    run_benchmark([TASK], [JOIN], folder=tmp_path, size="tiny", seeds=[1], workers=1)
    report = run_benchmark([TASK], [JOIN], folder=tmp_path, size="tiny", seeds=3, workers=1)
    assert (report.done, report.done_before) == (2, 1)


def test_two_workers_give_the_same_bytes_as_one(tmp_path, expected):
    report = run_benchmark([TASK], [JOIN, SLOW], folder=tmp_path, size="smoke", seeds=3, workers=2)
    assert report.done == 6
    assert contents(tmp_path) == expected


def test_an_executor_gives_the_same_bytes(tmp_path, expected):
    with ThreadPoolExecutor(2) as threads:
        run_benchmark([TASK], [JOIN, SLOW], folder=tmp_path / "threads", size="smoke", seeds=3, executor=threads)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        run_benchmark(
            [TASK], [JOIN, SLOW], folder=tmp_path / "processes", size="smoke", seeds=3, executor=processes, workers=1
        )
        assert processes.submit(abs, -1).result() == 1, "the executor is left open"
    assert contents(tmp_path / "threads") == expected
    assert contents(tmp_path / "processes") == expected


class Losing(ThreadPoolExecutor):
    """An executor that fails on its second call, as Dask does on a job that killed its workers."""

    calls = 0

    def submit(self, function, /, *arguments):
        self.calls += 1
        return super().submit(lose if self.calls == 2 else function, *arguments)


def lose(job):
    raise ChildProcessError("three workers died of it")


def test_a_worker_has_one_thread_whatever_the_environment_says(tmp_path, monkeypatch):
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        monkeypatch.setenv(name, "2")
    run_benchmark([TASK], [THREADS], folder=tmp_path / "processes", size="tiny", seeds=2, workers=2)
    assert load_results(tmp_path / "processes")["threads"].tolist() == [1, 1]
    with threadpool_limits(2):
        run_benchmark([TASK], [THREADS], folder=tmp_path / "here", size="tiny", workers=1)
    assert load_results(tmp_path / "here")["threads"].tolist() == [1]


def test_a_job_that_an_executor_loses_costs_no_other(tmp_path, expected):
    with Losing(1) as executor:
        report = run_benchmark([TASK], [JOIN, SLOW], folder=tmp_path, size="smoke", seeds=3, executor=executor)
    assert (report.done, report.failed) == (5, 1)
    (error,) = report.failures.values()
    assert re.search(r"ChildProcessError: three workers died of it.* the next run does the job again", error)
    assert len(contents(tmp_path)) == 5
    run_benchmark([TASK], [JOIN, SLOW], folder=tmp_path, size="smoke", seeds=3, workers=1)
    assert contents(tmp_path) == expected


def test_shards_do_every_job_once(tmp_path, expected):
    done = []
    for i in (2, 4, 1, 3):
        report = run_benchmark([TASK], [JOIN, SLOW], folder=tmp_path, size="smoke", seeds=3, shard=(i, 4), workers=1)
        assert report.done_before == 0
        done.append(report.done)
    assert done == [2, 1, 2, 1]
    assert contents(tmp_path) == expected


def test_shards_cut_the_same_order_every_time():
    jobs, _ = plan_jobs([TASK], [JOIN, ODD], size="tiny", seeds=5)
    again, _ = plan_jobs([TASK], [JOIN, ODD], size="tiny", seeds=5)
    assert [job.path() for job in jobs] == [job.path() for job in again]
    parts = [[job.path() for job in in_shard(jobs, (i, 3))] for i in (1, 2, 3)]
    assert parts[1] == [job.path() for job in jobs[1::3]]
    assert sorted(path for part in parts for path in part) == sorted(job.path() for job in jobs)


@pytest.mark.parametrize("text", ["3", "a/b", "3/", "-1/4", "1.5/4"])
def test_a_shard_that_is_no_shard_is_refused(text):
    with pytest.raises(ValueError, match="i/N was needed"):
        parse_shard(text)


@pytest.mark.parametrize("shard", [(0, 4), (5, 4), (1, 0)])
def test_a_shard_outside_its_number_is_refused(shard, tmp_path):
    with pytest.raises(ValueError, match="shards are counted from 1/"):
        run_benchmark([TASK], [JOIN], folder=tmp_path, size="tiny", shard=shard)


@pytest.mark.parametrize("shard", [3, (1, 2, 3), (1.5, 2), (None, 2)])
def test_what_is_not_two_numbers_is_no_shard(shard, tmp_path):
    with pytest.raises(TypeError, match=r"shard=.* was given; two whole numbers were needed: \(3, 20\)"):
        run_benchmark([TASK], [JOIN], folder=tmp_path, size="tiny", shard=shard)


def test_rows_carry_what_they_must(tmp_path):
    run_benchmark([TASK], [JOIN], folder=tmp_path, size="smoke", seeds=[7], workers=1)
    table = load_results(tmp_path)
    assert len(table) == 4  # two problems, each with the prior honoured and without
    row = table[(table["problem"] == "problem 1") & table["honors_prior"]].iloc[0]
    assert (row["task"], row["size"], row["method"], row["seed"]) == ("fake", "smoke", "join", 7)
    assert (row["status"], row["control"], row["features"]) == ("done", "none", "given")
    assert row["selection"] == "by the toss of a coin"
    assert (row["level"], row["number"]) == (1, 1)
    assert 0 <= row["RF"] <= 1
    assert np.isnan(row["unknown"])
    assert row["wall_seconds"] >= row["cpu_seconds"] * 0.5 >= 0
    assert row["peak_memory"] > 1e6
    assert not table["stale"].any()
    record = json.loads(next(tmp_path.rglob("*.json")).read_text())
    assert {"celltreeqm", "python", "numpy", "numba"} <= set(record["versions"])


def test_floats_come_back_exactly(tmp_path):
    run_benchmark([TASK], [JOIN], folder=tmp_path, size="full", seeds=1, workers=1)
    jobs, _ = plan_jobs([TASK], [JOIN], size="full", seeds=1)
    there = [row["info"]["first"] for row in do_job(jobs[0])["rows"]]
    assert load_results(tmp_path)["first"].tolist() == there


def test_a_method_that_raises_is_recorded_and_the_others_go_on(tmp_path):
    for workers in (1, 2):
        folder = tmp_path / str(workers)
        report = run_benchmark([TASK], [ODD, JOIN], folder=folder, size="smoke", seeds=2, workers=workers)
        assert (report.done, report.failed) == (2, 2)
        assert report.failures["fake (smoke, odd, seed 1)"] == "ZeroDivisionError: one problem too many"
        assert "2 done, 2 failed" in str(report)
    assert contents(tmp_path / "1") == contents(tmp_path / "2")
    table = load_results(folder)
    failed = table[table["status"] == "failed"]
    assert failed["error"].tolist() == ["ZeroDivisionError: one problem too many"] * 2
    assert failed["RF"].isna().all()
    record = next(record for record in store.read_results(folder).values() if record["status"] == "failed")
    assert record["where"][-1].startswith("fakes.py:")


def test_a_failed_job_is_tried_again_only_when_asked(tmp_path):
    run_benchmark([TASK], [ODD], folder=tmp_path, size="smoke", workers=1)
    report = run_benchmark([TASK], [ODD], folder=tmp_path, size="smoke", workers=1)
    assert (report.done, report.failed, report.failed_before) == (0, 0, 1)
    assert "one problem too many" in str(report)
    report = run_benchmark([TASK], [ODD], folder=tmp_path, size="smoke", workers=1, retry_failed=True)
    assert (report.done, report.failed, report.failed_before) == (0, 1, 0)


def test_a_worker_that_dies_costs_its_own_job_alone(tmp_path):
    report = run_benchmark([TASK], [DIE, JOIN], folder=tmp_path, size="tiny", seeds=2, workers=2)
    assert (report.done, report.failed) == (2, 2)
    assert "signal SIGKILL" in report.failures["fake (tiny, die, seed 0)"]
    assert {record["job"]["method"] for record in store.read_results(tmp_path).values()} == {"join"}


def test_missing_data_are_not_run_and_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.delenv("CELLTREEQM_DATA", raising=False)
    report = run_benchmark([TASK_OF_FILE, TASK], [JOIN], folder=tmp_path, size="tiny", workers=1)
    assert report.not_run["fake-file"].startswith("data missing (Task 'fake-file' reads count.txt")
    assert "fake-file: not run: data missing (" in str(report)
    assert report.done == 1
    report = run_benchmark([TASK_OF_FILE], [JOIN], folder=tmp_path, size="tiny", data=tmp_path, workers=1)
    assert "is not in" in report.not_run["fake-file"]
    assert set(load_results(tmp_path)["task"]) == {"fake"}


def test_data_that_turn_out_missing_in_a_worker_are_not_run_either(tmp_path):
    for workers in (1, 2):
        report = run_benchmark([TASK_OF_NOTHING], [JOIN], folder=tmp_path, size="tiny", seeds=2, workers=workers)
        assert (report.done, report.failed) == (0, 0)
        assert report.not_run == {"fake-nothing": "data missing (the server does not answer)"}
    assert not list(tmp_path.rglob("*.json"))


def test_other_data_are_another_job(tmp_path, monkeypatch):
    data, folder = tmp_path / "data", tmp_path / "results"
    data.mkdir()
    monkeypatch.setenv("CELLTREEQM_DATA", str(data))
    for count in ("1", "2"):
        (data / "count.txt").write_text(count)
        report = run_benchmark([TASK_OF_FILE], [JOIN], folder=folder, size="tiny", workers=1)
        assert (report.done, report.done_before) == (1, 0)


def test_results_of_another_code_version_are_neither_used_nor_mixed_in(tmp_path):
    run_benchmark([TASK], [JOIN], folder=tmp_path, size="tiny", workers=1)
    (path,) = tmp_path.rglob("*.json")
    record = json.loads(path.read_text())
    record["job"]["code"]["digest"] = "0123456789abcdef"
    path.unlink()
    key = store.key_of(record["job"])
    store.write_result(tmp_path, f"fake/tiny_join_0_{key}.json", record)
    with pytest.raises(ValueError, match=r"1 of 1 results of another code version.*0123456789abcdef.*keep_stale"):
        run_benchmark([TASK], [JOIN], folder=tmp_path, size="tiny", workers=1)
    report = run_benchmark([TASK], [JOIN], folder=tmp_path, size="tiny", workers=1, keep_stale=True)
    assert (report.done, report.stale) == (1, (f"fake/tiny_join_0_{key}.json",))
    assert "1 results of another code version" in str(report)
    assert sorted(load_results(tmp_path)["stale"]) == [False, False, True, True]


def test_a_method_of_another_module_counts_as_code():
    jobs, _ = plan_jobs([TASK], [JOIN], size="tiny", seeds=1)
    assert jobs[0].identity()["code"].keys() >= {"version", "digest", "tests.benchmark.fakes:join"}


def test_every_setting_changes_the_address(tmp_path):
    jobs = [
        job
        for size in ("tiny", "full")
        for job in plan_jobs([TASK, replace(TASK, name="other")], [JOIN, SLOW], size=size, seeds=2)[0]
    ]
    assert len({job.key() for job in jobs}) == len(jobs) == 16


def test_a_job_asked_for_twice_is_one_job():
    assert len(plan_jobs([TASK, TASK], [JOIN, JOIN], size="tiny", seeds=[3, 3])[0]) == 1


def test_a_task_for_one_method_is_run_with_that_method_alone():
    jobs, _ = plan_jobs(["quartet-proportions"], ["direct", JOIN], size="tiny", seeds=1)
    assert [job.method.name for job in jobs] == ["count-quartets"]


def test_a_worker_of_other_code_stores_nothing(tmp_path, monkeypatch):
    (job,), _ = plan_jobs([TASK], [JOIN], size="tiny", seeds=1)
    other = replace(job, code={**job.code, "digest": "0123456789abcdef"})
    monkeypatch.setattr("celltreeqm.benchmark._runner.plan_jobs", lambda *args, **kwargs: ([other], {}))
    report = run_benchmark([TASK], [JOIN], folder=tmp_path, size="tiny", workers=1)
    assert "is another in the worker than in the runner" in report.failures["fake (tiny, join, seed 0)"]
    assert (report.failed, list(tmp_path.rglob("*.json"))) == (1, [])


def test_what_cannot_be_sent_to_workers_is_told(tmp_path):
    local = replace(JOIN, run=lambda problem, seed: None)
    with pytest.raises(TypeError, match="Method 'join' is .*; a function defined at the top level"):
        run_benchmark([TASK], [local], folder=tmp_path, size="tiny", seeds=2, workers=2)
    (job,), _ = plan_jobs([TASK], [JOIN], size="tiny", seeds=1)
    with pytest.raises(TypeError, match="cannot be sent to worker processes.*workers=1"):
        list(do_in_processes([replace(job, method=local)], 2))


def test_functions_of_the_script_itself_run_in_workers(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from celltreeqm.benchmark import Outcome, register_method, run_benchmark\n"
        "@register_method('mine')\ndef mine(problem, seed):\n    return Outcome(extra={'seen': 1})\n"
        "if __name__ == '__main__':\n"
        f"    print(run_benchmark(['sim-unsupervised'], ['mine'], folder={str(tmp_path / 'results')!r}, size='tiny', "
        "seeds=2, workers=2))\n"
    )
    run = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert run.stdout == "2 done, 0 failed, 0 done before\n", run.stdout + run.stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tasks": ["nonsense"]}, "There is no task called 'nonsense'; there are: "),
        ({"methods": ["nonsense"]}, "There is no method called 'nonsense'; there are: "),
        ({"tasks": []}, r"tasks=\[\] was given; at least one was needed"),
        ({"methods": ()}, r"methods=\(\) was given; at least one was needed"),
        ({"size": "huge"}, "size='huge' was given; it is one of tiny, smoke, full"),
        ({"seeds": 0}, "seeds=0 was given"),
        ({"seeds": [-1]}, "was given; a number of seeds"),
        ({"workers": 0}, "workers=0 was given; at least 1"),
        ({"workers": 1.5}, r"workers=1.5 was given; at least 1 \(and a whole number\)"),
    ],
)
def test_bad_settings_get_one_sentence(tmp_path, change, message):
    settings = {"tasks": [TASK], "methods": [JOIN], "size": "tiny", "folder": tmp_path} | change
    with pytest.raises(ValueError, match=message):
        run_benchmark(settings.pop("tasks"), settings.pop("methods"), **settings)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seeds": "12"}, "seeds='12' was given; .*, in whole numbers"),
        ({"seeds": [0.7]}, r"seeds=\[0.7\] was given; .*, in whole numbers"),
        ({"seeds": 1.5}, "seeds=1.5 was given"),
        ({"seeds": True}, "seeds=True was given"),
        ({"shard": "1/3"}, r"two numbers were needed: parse_shard\('1/3'\)"),
        ({"executor": 2}, "executor=2 was given"),
        ({"tasks": None}, "tasks=None was given; a list of tasks was needed"),
        ({"methods": [3]}, "3 is among the methods; their names, or Method values, were needed"),
    ],
)
def test_settings_of_another_kind_get_one_sentence(tmp_path, change, message):
    settings = {"tasks": [TASK], "methods": [JOIN], "size": "tiny", "folder": tmp_path} | change
    with pytest.raises(TypeError, match=message):
        run_benchmark(settings.pop("tasks"), settings.pop("methods"), **settings)


def test_numpys_numbers_count_seeds():
    assert [job.seed for job in plan_jobs([TASK], [JOIN], size="tiny", seeds=np.int64(2))[0]] == [0, 1]


def test_a_folder_that_cannot_be_written_to_is_told_before_anything_is_computed(tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda *args: False)
    with pytest.raises(PermissionError, match="Nothing can be written to .*; name a folder of yours"):
        run_benchmark([TASK], [JOIN], folder=tmp_path, size="tiny", workers=1)


def nothing(problem, seed):
    """No outcome."""


def stop(problem, seed):
    """Ends the program, or so it thinks."""
    sys.exit(3)


def outcome_with(**changed):
    def run(problem, seed):
        return replace(JOIN.run(problem, seed), **changed)

    return run


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (nothing, "The method returned a NoneType; an Outcome was needed"),
        (stop, "SystemExit: 3"),
        (outcome_with(trees=[]), "The outcome's trees is a list; trees by name were needed"),
        (outcome_with(selection=None), "selection=None was returned; a few words were needed"),
        (outcome_with(feature_scores=np.ones(3)), r"feature_scores has shape \(3,\) and 0 NaN; .* 5 features"),
        (outcome_with(feature_scores=np.full(5, np.nan)), r"feature_scores has shape \(5,\) and 5 NaN"),
        (outcome_with(extra={1: 0.0}), "1 was returned as the name of a column"),
        (outcome_with(extra={"seed": 7}), "seed: a column .* is there already"),
        (outcome_with(extra={"level": 7}), "level: a column .* is there already"),
        (outcome_with(extra={"RF": 0.0}), "RF: a column .* is there already"),
    ],
)
def test_what_is_no_outcome_is_a_failure_that_says_so(run, message):
    (job,), _ = plan_jobs([TASK], [JOIN], size="tiny", seeds=1)
    record = do_job(replace(job, method=replace(JOIN, run=run), code=code_version(TASK.generate, run)))
    assert record["status"] == "failed"
    assert re.search(message, record["error"])
    assert store.format_result(record)


def test_every_column_of_the_table_that_is_always_there_is_reserved(tmp_path):
    run_benchmark([TASK], [JOIN, ODD], folder=tmp_path, size="smoke", workers=1)
    table = load_results(tmp_path)
    scores = {name for name in table if re.match(r"(QD|RF|[KPU]-QD|train RF|unlabelled-leaf RF|subtree RF)", name)}
    assert set(table) - scores == {*COLUMNS, "level", "number", "first", "unknown"}


def test_a_name_instead_of_a_list_of_names_is_told(tmp_path):
    with pytest.raises(TypeError, match=r"tasks='fake' was given; a list of tasks was needed: \['fake'\]"):
        run_benchmark("fake", [JOIN], folder=tmp_path)


def test_a_file_for_a_folder_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match="is a file; a folder for the results was needed"):
        run_benchmark([TASK], [JOIN], folder=tmp_path / "file", size="tiny")
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        load_results(tmp_path / "nothing")


def test_a_progress_bar_only_if_asked(tmp_path, capfd):
    run_benchmark([TASK], [JOIN], folder=tmp_path, size="tiny", seeds=2, workers=1)
    assert capfd.readouterr() == ("", "")
    run_benchmark([TASK], [JOIN], folder=tmp_path, size="tiny", seeds=4, workers=1, progress=True)
    assert re.search(r"2/2 \[\d\d:\d\d<\d\d:\d\d", capfd.readouterr().err), "time taken < time left"


def test_a_script_without_a_main_guard_is_told(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from celltreeqm.benchmark import run_benchmark\nfrom tests.benchmark.fakes import JOIN, TASK\n"
        f"run_benchmark([TASK], [JOIN], folder={str(tmp_path / 'results')!r}, size='tiny', seeds=2, workers=2)\n"
    )
    run = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(ROOT)}
    )
    assert run.returncode == 1
    assert 'if __name__ == "__main__":, because workers import the script' in run.stderr


def test_jobs_and_tasks_survive_pickling():
    jobs, _ = plan_jobs([TASK], [JOIN], size="tiny", seeds=1)
    assert pickle.loads(pickle.dumps(jobs[0])).path() == jobs[0].path()


def test_workers_do_not_outlive_a_runner_that_is_killed(tmp_path):
    pids = tmp_path / "pids"
    code = (
        "from celltreeqm.benchmark import run_benchmark\nfrom tests.benchmark.fakes import SLEEP, TASK\n"
        f"run_benchmark([TASK], [SLEEP], folder={str(tmp_path / 'results')!r}, size='tiny', seeds=2, workers=2)\n"
    )
    run = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, env=os.environ | {"FAKE_PID_FILE": str(pids)})
    try:
        wait_until(lambda: pids.exists() and len(pids.read_text().split()) == 2)
    finally:
        run.kill()
        run.wait()
    workers = [int(pid) for pid in pids.read_text().split()]
    wait_until(lambda: not any(is_running(pid) for pid in workers))


def wait_until(true, seconds=30.0):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.02)


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
