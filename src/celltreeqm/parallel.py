"""A map over processes, threads or a cluster: results in order, one pinned thread a worker."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import platform
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from functools import partial
from itertools import chain, islice
from numbers import Integral
from operator import itemgetter
from queue import SimpleQueue
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

__all__ = ["check_workers", "parallel_map", "pin_threads", "pinned", "usable_cpus"]

Item = TypeVar("Item")
Result = TypeVar("Result")

_WAITING = 4  # items handed out per worker: enough to keep it busy, few enough not to swallow a long generator


def parallel_map(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: str | bool | None = None,
) -> list[Result]:
    """Apply a function to every item, several at a time, and return the results in the order of the items.

    Every call runs with linear algebra pinned to one thread, in a worker as in this process, so that the results are
    the same bytes for any number of workers on one platform. Randomness belongs into the items: give each its own
    child of one :class:`numpy.random.SeedSequence`.

    Parameters
    ----------
    function
        Called with one item. For worker processes it must be importable: defined at the top level of a module, or a
        :func:`functools.partial` of such a function. It is sent to each local worker once, so a partial may hold data.
    items
        Any iterable. Only a few items a worker are taken from it ahead of time.
    workers
        How many items at a time; default :func:`usable_cpus`. With one worker, or a single item, everything runs in
        this process. With an executor: how many workers it has (default 64), which sets how many items wait there.
    executor
        Where to run instead of in local processes: any :class:`concurrent.futures.Executor`, for example Dask's
        ``client.get_executor()``. It is left open.
    progress
        What to write beside a progress bar, or True for a bar without words; None for no bar.

    Returns
    -------
    list
        ``[function(item) for item in items]``.

    Raises
    ------
    Exception
        What the function raised on the first item (in order) that failed, with a note that gives the item's number.
        Items that wait are cancelled then, as they are on a keyboard interrupt.

    Examples
    --------
    >>> parallel_map(abs, [-1, -2, 3], workers=1)
    [1, 2, 3]
    """
    check_workers(workers, executor)
    if not callable(function):
        raise TypeError(f"function={function!r} was given; something to call was needed.")
    if not isinstance(items, Iterable):
        raise TypeError(f"items is of type {type(items).__name__}; something to iterate over was needed.")
    with _counted(items, progress) as (source, count):
        if executor is not None:
            call = partial(_call_pinned, function, _this_process())
            with threadpool_limits(1):
                return _ordered(executor, call, source, _WAITING * (workers or 64), count)
        workers = workers or usable_cpus()
        first = list(islice(source, 2))
        source = chain(first, source)
        if workers == 1 or len(first) < 2:
            with threadpool_limits(1):
                return [_noted(function, item, i, count) for i, item in enumerate(source)]
        if isinstance(items, Sized):
            workers = min(workers, len(items))
        return _in_processes(function, source, workers, count)


def check_workers(workers: object, executor: object) -> None:
    """Refuse what is no number of workers, and what is no executor."""
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, Integral) or workers < 1):
        raise ValueError(
            f"workers={workers!r} was given; at least 1 (and a whole number) is needed. "
            "Leave it out to use every usable CPU."
        )
    if executor is not None and not hasattr(executor, "submit"):
        raise TypeError(
            f"executor={executor!r} was given; a concurrent.futures.Executor was needed. "
            "To say how many local processes to use, pass workers."
        )


def usable_cpus() -> int:
    """How many CPUs this process may use: those of its affinity mask (which SLURM sets) where the platform has one."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def pin_threads() -> None:
    """One thread for linear algebra in this process from now on: for worker processes that are started by hand."""
    _pin_environment()
    _pin_this_thread()


def pinned(function: Callable[[Item], Result]) -> Callable[[Item], Result]:
    """The function, to be given to an executor by hand: each of its calls there runs on one pinned thread."""
    return partial(_call_pinned, function, _this_process())


def _in_processes(
    function: Callable[[Item], Result], source: Iterator[Item], workers: int, count: Callable[[], object]
) -> list[Result]:
    try:
        sent = pickle.dumps(function)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise TypeError(
            f"{function!r} cannot be sent to worker processes ({error}). Define it at the top level of a module "
            "(no lambda, no function inside a function), or use workers=1."
        ) from error
    if sys.platform == "win32":
        workers = min(workers, 61)  # all that a pool can wait for there
    pool = ProcessPoolExecutor(
        workers, mp_context=multiprocessing.get_context("spawn"), initializer=_start_worker, initargs=(sent,)
    )
    try:
        return _ordered(pool, _call_sent, source, _WAITING * workers, count)
    except BrokenProcessPool as error:
        raise RuntimeError(
            "A worker process ended before it returned a result. In a script, put what is to run under "
            'if __name__ == "__main__":, because workers import the script (they cannot import one read from standard '
            "input). Otherwise a worker crashed or ran out of memory: use fewer workers, or workers=1 to see where."
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _ordered(
    executor: Executor,
    call: Callable[[Item], Result],
    source: Iterator[Item],
    most_waiting: int,
    count: Callable[[], object],
) -> list[Result]:
    """Keep a bounded number of items at the executor; of several failures the one of the first item is raised."""
    results: dict[int, Result] = {}
    pending: dict[Future[Result], int] = {}
    done: SimpleQueue[Future[Result]] = SimpleQueue()
    failed: tuple[int, BaseException] | None = None

    def submit(i: int, item: Item) -> None:
        future = executor.submit(call, item)
        pending[future] = i
        future.add_done_callback(done.put)

    numbered = enumerate(source)
    try:
        for i, item in islice(numbered, most_waiting):
            submit(i, item)
        while pending if failed is None else any(i < failed[0] for i in pending.values()):
            future = done.get()
            i = pending.pop(future)
            error = future.exception()
            if error is not None:
                failed = (i, error) if failed is None else min(failed, (i, error), key=itemgetter(0))
                continue
            results[i] = future.result()
            count()
            if failed is None:
                for i, item in islice(numbered, 1):
                    submit(i, item)
    finally:
        for future in pending:
            future.cancel()
    if failed is not None:
        i, error = failed
        if not isinstance(error, BrokenProcessPool):
            error.add_note(_note(i))
        raise error
    return [results[i] for i in range(len(results))]


def _noted(function: Callable[[Item], Result], item: Item, i: int, count: Callable[[], object]) -> Result:
    try:
        result = function(item)
    except Exception as error:
        error.add_note(_note(i))
        raise
    count()
    return result


def _note(i: int) -> str:
    return f"This happened in parallel_map on item {i} (counted from 0)."


@contextmanager
def _counted(
    items: Iterable[Item], progress: str | bool | None
) -> Iterator[tuple[Iterator[Item], Callable[[], object]]]:
    if progress is None or progress is False:
        yield iter(items), lambda: None
        return
    from tqdm.auto import tqdm

    with closing(
        tqdm(desc=None if progress is True else progress, total=len(items) if isinstance(items, Sized) else None)
    ) as bar:
        yield iter(items), bar.update


# In the workers

_sent: bytes = b""
_function: Callable[[Any], Any] | None = None
_pinned = threading.local()


def _start_worker(sent: bytes) -> None:
    """Keep the pickled function; it is loaded with the first item, so that what fails then is told as an error."""
    global _sent
    _sent = sent
    _pin_environment()
    _pin_this_thread()


def _call_sent(item: Any) -> Any:
    global _function
    try:
        if _function is None:
            _function = pickle.loads(_sent)
        return _function(item)
    except Exception as error:
        if _survives_pickling(error):
            raise
        raise RuntimeError(f"{type(error).__name__}: {error}") from error


def _call_pinned(function: Callable[[Item], Result], home: tuple[str, int], item: Item) -> Result:
    if _this_process() != home:
        _pin_environment()
    _pin_this_thread()
    return function(item)


def _survives_pickling(error: Exception) -> bool:
    """An exception that does not would break the whole pool instead of telling what happened."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return False
    return True


def _this_process() -> tuple[str, int]:
    return platform.node(), os.getpid()


def _pin_environment() -> None:
    """One thread for the libraries that are yet to be loaded."""
    for name in ("OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "NUMBA_NUM", "VECLIB_MAXIMUM"):
        os.environ[f"{name}_THREADS"] = "1"


def _pin_this_thread() -> None:
    """One thread for the libraries that are loaded; OpenMP counts them for each calling thread apart."""
    if not getattr(_pinned, "done", False):
        threadpool_limits(1)
        _pinned.done = True
