"""kill -9 of the runner at any moment: the next run completes with the results of one that was never interrupted."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from celltreeqm.benchmark import _store as store
from celltreeqm.benchmark import run_benchmark

from .fakes import JOIN, SLOW, TASK
from .test_runner import contents

ROOT = Path(__file__).parents[2]
JOBS = 6


def start(folder, moment="never", count=1, workers=1):
    command = [sys.executable, "-m", "tests.benchmark.killed_runner", folder, moment, count, workers]
    return subprocess.Popen(list(map(str, command)), cwd=ROOT, stdout=subprocess.PIPE, text=True, env=os.environ.copy())


def finish(folder):
    return run_benchmark([TASK], [JOIN, SLOW], folder=folder, size="smoke", seeds=3, workers=1)


def leftovers(folder):
    return list(folder.rglob("*.partial"))


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    folder = tmp_path_factory.mktemp("uninterrupted")
    finish(folder)
    return contents(folder)


# The moment, how many results it leaves if it comes for the third time, and whether a part of one is left.
MOMENTS = {
    "before-write": (2, False),
    "mid-write": (2, True),
    "before-rename": (2, True),
    "after-write": (3, False),
    "between-jobs": (3, False),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_kill_loses_at_most_the_running_job_and_repeats_none(tmp_path, expected, moment):
    run = start(tmp_path, moment, 3)
    run.communicate()
    assert run.returncode == -signal.SIGKILL
    stored, part = MOMENTS[moment]
    before = contents(tmp_path)
    assert len(before) == stored
    assert bool(leftovers(tmp_path)) == part
    written = {path: (tmp_path / path).stat().st_mtime_ns for path in before}
    report = finish(tmp_path)
    assert (report.done_before, report.done, report.failed) == (stored, JOBS - stored, 0)
    assert {path: (tmp_path / path).stat().st_mtime_ns for path in before} == written
    assert contents(tmp_path) == expected
    assert not leftovers(tmp_path)


@pytest.mark.parametrize("moment", ["mid-write", "between-jobs"])
def test_the_same_with_worker_processes(tmp_path, expected, moment):
    run = start(tmp_path, moment, 2, workers=2)
    run.communicate()
    assert run.returncode == -signal.SIGKILL
    stored = len(store.read_results(tmp_path))
    assert stored == (1 if moment == "mid-write" else 2)
    report = finish(tmp_path)
    assert (report.done_before, report.done) == (stored, JOBS - stored)
    assert contents(tmp_path) == expected
    assert not leftovers(tmp_path)


def test_a_run_that_is_killed_again_and_again_completes(tmp_path, expected):
    for i, moment in enumerate(("mid-write", "after-write", "between-jobs")):
        run = start(tmp_path, moment, 1)
        run.communicate()
        assert run.returncode == -signal.SIGKILL, f"kill {i}"
    assert len(contents(tmp_path)) == 2
    run = start(tmp_path)
    assert run.communicate()[0] == "4 done, 0 failed, 2 done before\n"
    assert contents(tmp_path) == expected


def test_two_runners_at_once_in_one_folder_disturb_neither(tmp_path, expected):
    runs = [start(tmp_path), start(tmp_path)]
    for run in runs:
        assert " 0 failed, " in run.communicate()[0]
        assert run.returncode == 0
    assert contents(tmp_path) == expected
    assert not leftovers(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_a_kill_at_a_random_moment(tmp_path, expected, seed):
    rng = np.random.default_rng(seed)
    run = start(tmp_path, workers=1 + seed % 2)
    # Up to a second for Python to start, another for the jobs; the first result starts the second clock.
    if seed % 4:
        while run.poll() is None and not list(tmp_path.rglob("*.json")):
            time.sleep(0.001)
        time.sleep(rng.uniform(0, 0.4))
    else:
        time.sleep(rng.uniform(0, 2))
    run.kill()
    run.communicate()
    stored = len(store.read_results(tmp_path))
    report = finish(tmp_path)
    assert (report.done_before, report.done, report.failed) == (stored, JOBS - stored, 0)
    assert contents(tmp_path) == expected
    assert not leftovers(tmp_path)
