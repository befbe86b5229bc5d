"""parallel_map: order, exceptions, pinned threads, few items ahead, and the same bytes for any number of workers."""

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from celltreeqm.parallel import parallel_map, usable_cpus


class UnpicklableError(Exception):
    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


def square(x):
    time.sleep(0.02 if x % 3 == 0 else 0.0)
    return x * x


def process_of(_):
    return os.getpid()


def fail_from_two(x):
    if x >= 2:
        time.sleep(0.05 if x == 2 else 0.0)
        raise KeyError(f"no {x}")
    return x


def fail_oddly(x):
    raise UnpicklableError(x, "more")


def die(x):
    os._exit(3)


def matrix_product(x, matrix):
    return (matrix @ (matrix + x)).tobytes()


def most_threads(_):
    np.ones((64, 64)) @ np.ones((64, 64))
    return max(library["num_threads"] for library in threadpool_info())


def variables(_):
    return os.environ["OMP_NUM_THREADS"], os.environ["NUMBA_NUM_THREADS"]


@pytest.fixture
def threads():
    with ThreadPoolExecutor(3) as executor:
        yield executor


def test_results_are_in_order_whoever_is_done_first(threads):
    expected = [x * x for x in range(40)]
    assert parallel_map(square, range(40), workers=1) == expected
    assert parallel_map(square, iter(range(40)), workers=2) == expected
    assert parallel_map(square, range(40), executor=threads, workers=3) == expected


def test_several_workers_are_other_processes_and_one_worker_or_item_is_this_one():
    others = parallel_map(process_of, range(8), workers=2)
    assert os.getpid() not in others
    assert set(parallel_map(process_of, range(3), workers=1)) == {os.getpid()}
    assert parallel_map(process_of, [0], workers=2) == [os.getpid()]
    assert parallel_map(process_of, [], workers=2) == []


def test_same_bytes_for_any_number_of_workers(threads):
    matrix = np.random.default_rng(0).normal(size=(120, 120))
    product = partial(matrix_product, matrix=matrix)
    alone = parallel_map(product, range(6), workers=1)
    assert parallel_map(product, range(6), workers=2) == alone
    assert parallel_map(product, range(6), executor=threads) == alone


@pytest.mark.parametrize("workers", [1, 2])
def test_the_first_failing_item_is_raised_and_named(workers):
    with pytest.raises(KeyError, match="no 2") as caught:
        parallel_map(fail_from_two, range(10), workers=workers)
    assert "item 2 (" in caught.value.__notes__[0]


def test_the_first_failing_item_is_raised_from_an_executor_too(threads):
    with pytest.raises(KeyError, match="no 2") as caught:
        parallel_map(fail_from_two, range(10), executor=threads)
    assert "item 2 (" in caught.value.__notes__[0]
    assert threads.submit(square, 2).result() == 4, "the executor is left open"


def test_an_exception_that_cannot_be_pickled_still_tells_what_happened():
    with pytest.raises(RuntimeError, match="UnpicklableError: 0 and more"):
        parallel_map(fail_oddly, range(4), workers=2)


def test_every_worker_has_one_thread_and_this_process_gets_its_own_back(threads, monkeypatch):
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        monkeypatch.setenv(name, "2")
    with threadpool_limits(2):
        assert most_threads(0) == 2, "otherwise this test shows nothing"
        assert parallel_map(most_threads, range(3), workers=1) == [1, 1, 1]
        assert parallel_map(most_threads, range(4), workers=2) == [1, 1, 1, 1]
        assert parallel_map(variables, range(4), workers=2) == [("1", "1")] * 4
        assert parallel_map(most_threads, range(4), executor=threads) == [1, 1, 1, 1]
        assert most_threads(0) == 2


def test_a_long_generator_is_not_swallowed(threads):
    taken, finished, most = 0, 0, 0
    lock = threading.Lock()

    def items():
        nonlocal taken, most
        for i in range(200):
            taken += 1
            most = max(most, taken - finished)
            yield i

    def work(x):
        nonlocal finished
        with lock:
            finished += 1
        return x

    assert parallel_map(work, items(), executor=threads, workers=2) == list(range(200))
    assert most <= 4 * 2 + 1


def test_an_interrupt_cancels_what_waits(threads):
    started = []
    release = threading.Event()

    def work(x):
        started.append(x)
        release.wait(5)

    def items():
        yield from range(6)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        parallel_map(work, items(), executor=threads, workers=2)
    release.set()
    threads.shutdown()
    assert len(started) <= 3, "only what was running by then"


def test_progress_only_when_asked(capsys):
    parallel_map(square, range(3), workers=1)
    assert capsys.readouterr().err == ""
    parallel_map(square, range(3), workers=1, progress="squaring")
    shown = capsys.readouterr().err
    assert "squaring" in shown
    assert "3/3" in shown


def test_bad_input_is_told_in_a_sentence():
    with pytest.raises(ValueError, match="workers=0 was given; at least 1"):
        parallel_map(square, [1, 2], workers=0)
    with pytest.raises(ValueError, match="workers=2.5 was given"):
        parallel_map(square, [1, 2], workers=2.5)
    with pytest.raises(TypeError, match="executor=4 was given; a concurrent.futures.Executor was needed"):
        parallel_map(square, [1, 2], executor=4)
    with pytest.raises(TypeError, match="Define it at the top level of a module"):
        parallel_map(lambda x: x, [1, 2], workers=2)
    with pytest.raises(RuntimeError, match="A worker process ended before it returned"):
        parallel_map(die, [1, 2], workers=2)


def test_a_progress_bar_needs_no_words(capsys):
    assert parallel_map(square, [1, 2], workers=1, progress=True) == [1, 4]
    assert "2/2" in capsys.readouterr().err


def test_a_script_without_the_main_guard_is_told_so(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("from celltreeqm.parallel import parallel_map\nprint(parallel_map(abs, [1, 2, 3], workers=2))\n")
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60)
    assert run.returncode != 0
    assert (
        "RuntimeError: A worker process ended before it returned a result. In a script, put what is to run under"
        in (run.stderr)
    )


def test_usable_cpus_is_what_the_affinity_mask_allows():
    assert 1 <= usable_cpus() <= os.cpu_count()
    if hasattr(os, "sched_setaffinity"):
        code = "import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]);"
        code += "from celltreeqm.parallel import usable_cpus; print(usable_cpus())"
        assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "1\n"


def test_a_dask_cluster_is_an_executor_too():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
        client.get_executor() as executor,
    ):
        assert parallel_map(square, range(20), executor=executor) == [x * x for x in range(20)]
        assert parallel_map(most_threads, range(4), executor=executor) == [1, 1, 1, 1]
        with pytest.raises(KeyError, match="no 2"):
            parallel_map(fail_from_two, range(10), executor=executor)
