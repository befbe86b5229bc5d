"""The runner: every job once, however often it is interrupted."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from ..parallel import check_workers, pinned, usable_cpus
from . import _store
from ._jobs import Job, in_shard, plan_jobs
from ._methods import Method
from ._results import is_stale
from ._store import read_results, sweep_leftovers, write_result
from ._tasks import Size, Task
from ._work import do_job
from ._workers import do_in_processes

__all__ = ["RunReport", "run_benchmark"]

_WAITING = 2  # jobs handed to an executor per worker


@dataclass(frozen=True)
class RunReport:
    """What a run did; ``str`` says it in a few lines.

    Parameters
    ----------
    folder
        Where the results are.
    done_before, failed_before
        Jobs of this call whose results were there already: done, or failed and not to be tried again.
    done, failed
        Jobs of this run: done, and failed. A job whose worker process ended is among the failed, but nothing is stored
        of it.
    not_run
        Why jobs were not run, by task: "data missing (...)".
    failures
        The error of each failed job, of this run or before, by job.
    stale
        Results in the folder that another code version made; they were not used.
    """

    folder: Path
    done_before: int
    failed_before: int
    done: int
    failed: int
    not_run: dict[str, str] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    stale: tuple[str, ...] = ()

    def __str__(self) -> str:
        counts = f"{self.done} done, {self.failed} failed, {self.done_before} done before"
        lines = [counts + (f", {self.failed_before} failed before" if self.failed_before else "")]
        lines += [f"{task}: not run: {why}" for task, why in self.not_run.items()]
        lines += [f"failed: {job}: {error}" for job, error in self.failures.items()]
        if self.stale:
            lines.append(f"stale: {len(self.stale)} results of another code version, not used")
        return "\n".join(lines)


def run_benchmark(
    tasks: Iterable[str | Task],
    methods: Iterable[str | Method],
    *,
    folder: str | os.PathLike[str],
    size: Size = "full",
    seeds: int | Iterable[int] = 1,
    data: str | os.PathLike[str] | None = None,
    shard: tuple[int, int] | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: bool = False,
    retry_failed: bool = False,
    keep_stale: bool = False,
) -> RunReport:
    """Do every job (task, size, method, seed) that has no result in the folder yet.

    A job's address is a digest of its settings, of the data that its task reads and of the code; its result is one
    JSON file there, written by this process as a whole or not at all. Whenever the run is stopped, by ``kill -9`` too,
    the same call goes on where it was: only the jobs that were running are done again. The results are the same for
    any number of workers, apart from their timings.

    Parameters
    ----------
    tasks, methods
        Names, or tasks and methods themselves. Each task is run with each method (a task for one method only, with
        that).
    folder
        Where the results are and go. Several shards may share it.
    size
        "tiny", "smoke" or "full".
    seeds
        How many seeds (0, 1, ...), or which.
    data
        The folder of real data; default the one named by ``CELLTREEQM_DATA``. A task whose data are missing is not
        run, and the report says so.
    shard
        ``(i, N)``: only every N-th job, from the i-th on (counted from 1), for job arrays.
    workers
        Jobs at a time; default :func:`~celltreeqm.parallel.usable_cpus`. With one, they are done in this process. With
        an executor: how many it has, if that is known.
    executor
        Where to run instead of in local processes, for example Dask's ``client.get_executor()``. It must see the
        data folder, not the folder of results.
    progress
        Show a bar with the time left.
    retry_failed
        Do jobs again whose results say that they failed.
    keep_stale
        Go on although the folder holds results of another code version, which are never used.

    Returns
    -------
    RunReport
        How many jobs were done, before and now, which failed and which were not run.

    Raises
    ------
    ValueError
        If there is no such task, method or shard, or if the folder holds results of another code version.
    """
    check_workers(workers, executor)
    planned, not_run = plan_jobs(tasks, methods, size=size, seeds=seeds, data=data)
    jobs = in_shard(planned, shard)
    into = Path(folder)
    if into.exists() and not into.is_dir():
        raise NotADirectoryError(f"{into} is a file; a folder for the results was needed.")
    found = read_results(into)
    stale = tuple(path for path, record in found.items() if is_stale(record, planned))
    if stale and not keep_stale:
        theirs = found[stale[0]]["job"]["code"]
        raise ValueError(
            f"{into} holds {len(stale)} of {len(found)} results of another code version, for example {stale[0]} "
            f"(celltreeqm {theirs['version']}, source {theirs['digest']}). They are not used. Name another folder, "
            "move them away, or keep both with keep_stale=True (--keep-stale)."
        )
    into.mkdir(parents=True, exist_ok=True)
    sweep_leftovers(into)
    before = {job: found[job.path()] for job in jobs if job.path() in found}
    failed_before = {job: record for job, record in before.items() if record["status"] == "failed"}
    again = failed_before if retry_failed else {}
    to_do = [job for job in jobs if job not in before or job in again]
    if to_do and not os.access(into, os.W_OK | os.X_OK):
        raise PermissionError(f"Nothing can be written to {into}; name a folder of yours, or change its permissions.")
    failures = {str(job): record["error"] for job, record in failed_before.items() if job not in again}
    done = failed = 0
    with closing(_records(to_do, workers, executor)) as records, _bar(len(to_do), progress) as count:
        for job, record in records:
            if record["status"] in ("done", "failed"):
                write_result(into, job.path(), record)
            if record["status"] == "done":
                done += 1
            elif record["status"] == "not run":
                not_run[job.task.name] = record["error"]
            else:
                failed += 1
                failures[str(job)] = record["error"]
            count()
            _store._moment("between-jobs")
    return RunReport(
        into,
        len(before) - len(failed_before),
        len(failed_before) - len(again),
        done,
        failed,
        not_run,
        failures,
        stale,
    )


def _records(
    jobs: Sequence[Job], workers: int | None, executor: Executor | None
) -> Generator[tuple[Job, dict[str, Any]]]:
    """Each job with its record, as they are done."""
    if executor is not None:
        yield from _by_executor(jobs, executor, _WAITING * (workers or 64))
    elif (workers or usable_cpus()) == 1:
        with threadpool_limits(1):
            for job in jobs:
                yield job, do_job(job)
    elif jobs:
        yield from do_in_processes(jobs, workers or usable_cpus())


def _by_executor(jobs: Sequence[Job], executor: Executor, most_waiting: int) -> Generator[tuple[Job, dict[str, Any]]]:
    waiting, do = iter(jobs), pinned(do_job)
    pending: dict[Future[dict[str, Any]], Job] = {}
    try:
        with threadpool_limits(1):
            pending |= {executor.submit(do, job): job for job in islice(waiting, most_waiting)}
            while pending:
                for future in wait(pending, return_when=FIRST_COMPLETED).done:
                    job = pending.pop(future)
                    pending |= {executor.submit(do, following): following for following in islice(waiting, 1)}
                    yield job, _record_of(future)
    except BrokenExecutor as error:
        raise RuntimeError(
            f"The executor broke ({error}). What was done is stored; the same call goes on from there."
        ) from error
    finally:
        for future in pending:
            future.cancel()


def _record_of(future: Future[dict[str, Any]]) -> dict[str, Any]:
    try:
        return future.result()
    except BrokenExecutor:
        raise
    except Exception as error:  # jobs raise nothing: the executor lost this one, as when its worker died of it
        why = f"The executor did not do this job ({type(error).__name__}: {error})."
        return {"status": "lost", "error": f"{why} Nothing was stored, so the next run does the job again."}


@contextmanager
def _bar(total: int, wanted: bool) -> Iterator[Callable[[], object]]:
    if not wanted:
        yield lambda: None
        return
    from tqdm.auto import tqdm

    with closing(tqdm(desc="benchmark", total=total, unit="job")) as bar:
        yield bar.update
