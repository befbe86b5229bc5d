"""Worker processes for jobs: one pinned thread each, none of which outlives the runner, not even if that is killed.

An executor cannot do this: of a pool one of whose processes was killed every future fails, and the processes of a
killed parent go on. Here each worker has a pipe of its own, so that it is known which job a dead one was doing.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from ..parallel import pin_threads
from ._code_version import code_version
from ._jobs import Job
from ._work import do_job

__all__ = ["do_in_processes"]


def do_in_processes(jobs: Sequence[Job], workers: int) -> Iterator[tuple[Job, dict[str, Any]]]:
    """Do jobs, some at a time, and give each with its record as it is done.

    A worker that ends during a job makes that job "lost" (status), the others go on in a new one. Leaving the loop
    ends the workers.
    """
    for job in jobs:
        _sendable(job)
    waiting = iter(jobs)
    staff = _Staff(min(workers, len(jobs)))
    try:
        for worker in list(staff.workers):
            staff.give(worker, next(waiting))
        while staff.at_work:
            for worker, record in staff.finished():
                job = staff.at_work.pop(worker)
                if record["status"] == "lost":
                    worker = staff.replace(worker)
                following = next(waiting, None)
                if following is not None:
                    staff.give(worker, following)
                yield job, record
    finally:
        staff.dismiss()


class _Worker:
    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        # A pipe on which nothing is ever sent: it ends when this process does, however it does.
        end_of_life, self.life = context.Pipe(duplex=False)
        self.process: BaseProcess = context.Process(target=_serve, args=(theirs, end_of_life), daemon=True)
        self.process.start()
        theirs.close()
        end_of_life.close()
        self.ready = False

    def dismiss(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()
        self.life.close()


class _Staff:
    def __init__(self, size: int) -> None:
        self.workers: list[_Worker] = []
        self.at_work: dict[_Worker, Job] = {}
        try:
            for _ in range(size):
                self.workers.append(_Worker())
        except BaseException:
            self.dismiss()
            raise

    def give(self, worker: _Worker, job: Job) -> None:
        self.at_work[worker] = job
        with suppress(OSError):  # it has ended: finished() will find that
            worker.pipe.send_bytes(_sendable(job))

    def finished(self) -> Iterator[tuple[_Worker, dict[str, Any]]]:
        by_pipe = {worker.pipe: worker for worker in self.at_work}
        for pipe in wait(list(by_pipe)):
            worker = by_pipe[pipe]  # type: ignore[index]
            try:
                record = worker.pipe.recv()
            except (EOFError, OSError):
                yield worker, {"status": "lost", "error": self._end_of(worker)}
                continue
            if record == "ready":
                worker.ready = True
            else:
                yield worker, record

    def replace(self, worker: _Worker) -> _Worker:
        worker.dismiss()
        self.workers.remove(worker)
        self.workers.append(_Worker())
        return self.workers[-1]

    def dismiss(self) -> None:
        for worker in self.workers:
            worker.dismiss()

    def _end_of(self, worker: _Worker) -> str:
        worker.process.join()
        code = worker.process.exitcode or 0
        if not worker.ready:
            raise RuntimeError(
                f"A worker process ended (exit code {code}) before its first job. In a script, put what is to run "
                'under if __name__ == "__main__":, because workers import the script; or use workers=1.'
            )
        ended = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return (
            f"The worker process ended ({ended}) during this job: it crashed, was stopped or ran out of memory. "
            "Nothing was stored, so the next run does the job again; use fewer workers if memory is short."
        )


def _sendable(job: Job) -> bytes:
    try:
        return pickle.dumps(job)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise TypeError(
            f"The job {job} cannot be sent to worker processes ({error}). Define its task and its method at the top "
            "level of a module, or use workers=1."
        ) from error


# In the workers


def _serve(pipe: Connection, end_of_life: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the runner's to answer
    threading.Thread(target=_end_with_runner, args=(end_of_life,), daemon=True).start()
    pin_threads()
    code_version()  # of the modules as they are when they are loaded
    pipe.send("ready")
    while True:
        try:
            sent = pipe.recv_bytes()
        except (EOFError, OSError):
            return
        try:
            job: Job = pickle.loads(sent)
        except Exception as error:
            what = f"The worker could not load its task or method ({type(error).__name__}: {error}). Define them in a "
            pipe.send({"status": "lost", "error": f"{what}module that workers can import, or use workers=1."})
            continue
        pipe.send(do_job(job))


def _end_with_runner(end_of_life: Connection) -> None:
    try:
        end_of_life.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)
