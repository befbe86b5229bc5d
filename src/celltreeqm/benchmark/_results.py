"""Results as one tidy table."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..evaluation import relative_improvement
from ._code_version import is_of_this_code
from ._jobs import Job
from ._methods import method_by_name, method_names
from ._store import read_results
from ._tasks import task_by_name, task_names

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["COLUMNS", "is_stale", "load_results"]

_JOB = ("task", "size", "method", "seed")
# What every row of the table has; tasks and methods add columns of other names.
COLUMNS = (
    *_JOB,
    *("status", "error", "problem", "control", "features", "honors_prior", "given", "selection"),
    *("wall_seconds", "cpu_seconds", "peak_memory", "peak_since", "code", "versions", "stale", "file"),
)


def load_results(folder: str | os.PathLike[str]) -> pd.DataFrame:
    """The results in a folder: a row for each tree that was judged, in the order of the files' names.

    ``task``, ``size``, ``method``, ``seed``
        The job.
    ``status``, ``error``
        "done", or "failed" with what was raised; a failed job is one row without scores, and so is one in which the
        method built nothing.
    ``problem``, ``control``
        Its name, and "none" or which null it is.
    ``features``, ``honors_prior``
        The table that the tree was built from ("given", "signal", "replicate", ...), and whether it honours the prior.
    ``given``
        Scores that the prior alone decides.
    ``selection``
        How the fit was chosen.
    the problem's info, and what the method added
        Each under its own name, NaN where a row has none.
    scores
        Such as ``"RF"``, the same of the baselines, ``"RF direct"`` and ``"RF direct_under_prior"``, the improvement
        over them, ``"RF delta_direct"`` and ``"RF delta_under_prior"``, and over how many leaves or quartets it is,
        ``"RF count"`` (see :func:`~celltreeqm.evaluation.evaluate`).
    ``wall_seconds``, ``cpu_seconds``, ``peak_memory``, ``peak_since``
        Of the method on the problem, the same for all its rows (see :class:`Resources`); memory in bytes. The first
        problem that a process solves includes what is loaded then, about 0.2 s for the direct method.
    ``code``, ``versions``, ``stale``, ``file``
        Digest of the source, versions of Python and the libraries, whether the source is another than this one's, and
        the result's file.

    Parameters
    ----------
    folder
        Where :func:`run_benchmark` wrote.
    """
    import pandas as pd

    if not Path(folder).is_dir():
        raise FileNotFoundError(f"There is no folder {folder}; name the one that the benchmark wrote to.")
    table: list[dict[str, Any]] = []
    for path, record in read_results(Path(folder)).items():
        job = record["job"]
        first = {name: job[name] for name in _JOB}
        first |= {"status": record["status"], "error": record["error"]}
        versions = ", ".join(f"{name} {number}" for name, number in record["versions"].items() if number)
        last = {"code": job["code"]["digest"], "versions": versions, "stale": is_stale(record), "file": path}
        took = {timing["problem"]: timing for timing in record["timings"]["problems"]}
        for row in record["rows"] or [{}]:
            plain = {name: value for name, value in row.items() if name not in ("info", "metrics", "given")}
            given = {"given": ", ".join(row.get("given", []))}
            metrics = row.get("metrics", {})
            columns = {**row.get("info", {}), **metrics, **_improvements(metrics, row.get("given", []))}
            columns = {name: math.nan if value is None else value for name, value in columns.items()}
            table.append(first | plain | given | columns | took.get(row.get("problem"), {}) | last)
    return pd.DataFrame(table, columns=None if table else ["task", "size", "method", "seed", "status", "error"])


def _improvements(metrics: Mapping[str, float], given: Sequence[str]) -> dict[str, float]:
    """Delta% of each score that has a base; none of what the prior alone decides."""
    found = {}
    for metric, value in metrics.items():
        for base, improvement in _BASES.items():
            if f"{metric} {base}" in metrics and metric not in given:
                found[f"{metric} {improvement}"] = relative_improvement(metrics[f"{metric} {base}"], value)
    return found


_BASES = {"direct": "delta_direct", "direct_under_prior": "delta_under_prior"}


def is_stale(record: Mapping[str, Any], jobs: Iterable[Job] = ()) -> bool:
    """Whether another code version than this one made a result.

    The code of its task and method is that of the given jobs, else that of what is registered here.
    """
    wanted = record["job"]["task"], record["job"]["method"]
    those = [(job.task.generate, job.method.run) for job in jobs if (job.task.name, job.method.name) == wanted]
    if those:
        return not any(is_of_this_code(record["job"]["code"], *functions) for functions in dict.fromkeys(those))
    functions: list[Callable[..., Any]] = []
    if wanted[0] in task_names() and wanted[1] in method_names():
        functions = [task_by_name(wanted[0]).generate, method_by_name(wanted[1]).run]
    return not is_of_this_code(record["job"]["code"], *functions)
