"""Doing one job: its problems one after the other, each solved, timed and judged."""

from __future__ import annotations

import hashlib
import math
import os
import platform
import traceback
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from ._code_version import code_version
from ._jobs import Job
from ._resources import measured
from ._results import COLUMNS
from ._scores import score
from ._store import format_result
from ._tasks import DataMissing

__all__ = ["do_job"]

_LIBRARIES = ("celltreeqm", "numpy", "scipy", "numba", "torch")


def do_job(job: Job) -> dict[str, Any]:
    """Do a job and return its record; what its task or method raises becomes a record that says so.

    All of the record but ``"timings"`` depends on nothing but the job, the platform and the versions in it. Its status
    is "done", "failed" (with ``error``, and in ``where`` the calls that led there), "not run" (data missing) or "lost"
    (the source was changed after the job was planned, so that its result would bear the name of other code; to be done
    again).
    """
    record: dict[str, Any] = {
        "job": job.identity(),
        "status": "done",
        "error": None,
        "where": [],
        "rows": [],
        "versions": _versions(),
        "timings": {"problems": []},
    }
    if dict(job.code) != code_version(job.task.generate, job.method.run):
        why = "The source of celltreeqm, of the task or of the method is another in the worker than in the runner"
        return record | {"status": "lost", "error": f"{why}: was it changed during the run? Start it again."}
    try:
        _solve(job, record["rows"], record["timings"]["problems"])
        format_result(record)  # what no file can hold fails here, where it is told of this job alone
    except DataMissing as error:
        return record | {"status": "not run", "error": f"data missing ({error})"}
    except (Exception, SystemExit) as error:  # sys.exit() is a method's way to fail too
        frames = traceback.extract_tb(error.__traceback__)
        where = [f"{os.path.basename(frame.filename)}:{frame.lineno} {frame.name}" for frame in frames]
        failure = {"status": "failed", "error": f"{type(error).__name__}: {error}", "where": where}
        return record | failure | {"rows": [], "timings": {"problems": []}}
    return record


def _solve(job: Job, rows: list[dict[str, Any]], timings: list[dict[str, Any]]) -> None:
    names = set()
    for problem in job.task.problems(job.size, job.seed, data=job.data):
        if problem.name in names:
            raise ValueError(f"Task {job.task.name!r} has two problems called {problem.name!r}; names must be unique.")
        names.add(problem.name)
        seed = _seed_of(job, problem.name)
        outcome, took = measured(lambda problem=problem, seed=seed: job.method.run(problem, seed))  # type: ignore[misc]
        timings.append({"problem": problem.name} | asdict(took))
        for row in score(problem, outcome):
            known, added, metrics = _plain(problem.info), _plain(outcome.extra), _plain(row.metrics)
            columns = [*known, *added, *metrics, *COLUMNS]
            twice = {name for name in columns if columns.count(name) > 1}
            if twice:
                raise ValueError(
                    f"{', '.join(sorted(twice))}: a column that the task or the method adds to the rows of "
                    f"{problem.name!r} is there already. Choose another name for it."
                )
            rows.append(
                {
                    "problem": problem.name,
                    "control": problem.control,
                    "features": row.features,
                    "honors_prior": row.honors_prior,
                    "given": list(row.given),
                    "selection": outcome.selection,
                    "info": known | added,
                    "metrics": metrics,
                }
            )


def _seed_of(job: Job, problem: str) -> int:
    """The method's seed: another for each task, seed and problem, the same for every method."""
    text = f"{job.task.name}\0{job.size}\0{job.seed}\0{problem}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "big")


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Python's own numbers, of which all but NaN must be finite."""
    for name in values:
        if not isinstance(name, str):
            raise TypeError(f"{name!r} was returned as the name of a column; a word was needed.")
    plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in values.items()}
    for name, value in plain.items():
        if not isinstance(value, str | int | float | None) or (isinstance(value, float) and math.isinf(value)):
            raise ValueError(f"{name} = {value!r} was returned; a finite number, NaN, a word or None was needed.")
    return plain


@cache
def _versions() -> dict[str, str | None]:
    return {"python": platform.python_version(), "platform": f"{platform.system()} {platform.machine()}"} | {
        library: _version(library) for library in _LIBRARIES
    }


def _version(library: str) -> str | None:
    try:
        return version(library)
    except PackageNotFoundError:
        return None
