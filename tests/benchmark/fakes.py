"""A small task and small methods: the runner's tests do not lean on real ones."""

import os
import signal
import time

import numpy as np
from threadpoolctl import threadpool_info

from celltreeqm.benchmark import DataMissing, Method, Outcome, Problem, Task
from celltreeqm.benchmark import _code_version as code
from celltreeqm.simulate import random_tree
from celltreeqm.trees import neighbor_joining, prior_at_level

# Workers import this module with their first job. With a fixed digest the tests do not depend on nobody saving a file
# of the package while they run, which the runner would refuse.
digest_of_package = code._digest_of_package
code._digest_of_package = lambda: "digest for tests"


def make_problems(size, seed):
    """Random features on a random tree."""
    for i in range({"tiny": 1, "smoke": 2, "full": 3}[size]):
        rng = np.random.default_rng([seed, i])
        truth = random_tree(8, seed=rng)
        yield Problem(
            f"problem {i}",
            rng.normal(size=(8, 5)),
            truth.leaves,
            truth,
            prior_at_level(truth, 1),
            info={"level": 1, "number": i},
        )


def make_from_file(size, seed, folder):
    """As many problems as the file says."""
    for _, problem in zip(range(int((folder / "count.txt").read_text())), make_problems("full", seed), strict=False):
        yield problem


def make_nothing(size, seed):
    """A task that finds out late that its data are missing."""
    yield from make_problems("tiny", seed)
    raise DataMissing("the server does not answer")


def join(problem, seed):
    """Neighbour joining of distorted features."""
    x = problem.features + 0.1 * np.random.default_rng(seed).normal(size=problem.features.shape)
    distances = np.linalg.norm(x[:, None] - x[None], axis=2)
    return Outcome(
        {"given": neighbor_joining(distances, problem.leaves)},
        {"given": neighbor_joining(distances, problem.leaves, prior=problem.prior)},
        selection="by the toss of a coin",
        extra={"first": float(x[0, 0]), "unknown": float("nan")},
    )


def slow_join(problem, seed):
    """The same after a while."""
    time.sleep(0.05)
    return join(problem, seed)


def break_on_odd(problem, seed):
    """Raises on the second problem."""
    if problem.info["number"] == 1:
        raise ZeroDivisionError("one problem too many")
    return join(problem, seed)


def die(problem, seed):
    """Ends its process."""
    os.kill(os.getpid(), signal.SIGKILL)


def sleep_for_long(problem, seed):
    """Writes its process id to the file that a variable names, and then does nothing for a minute."""
    with open(os.environ["FAKE_PID_FILE"], "a") as file:
        file.write(f"{os.getpid()}\n")
    time.sleep(60)
    return join(problem, seed)


def do_nothing(problem, seed):
    """A method for other problems than these."""
    return Outcome()


def count_threads(problem, seed):
    """How many threads linear algebra may take here."""
    return Outcome(extra={"threads": max(library["num_threads"] for library in threadpool_info())})


TASK = Task("fake", make_problems, "Random features on a random tree.")
TASK_OF_FILE = Task("fake-file", make_from_file, files=("count.txt",))
TASK_OF_NOTHING = Task("fake-nothing", make_nothing)
JOIN = Method("join", join, "Neighbour joining.")
SLOW = Method("slow", slow_join)
ODD = Method("odd", break_on_odd)
DIE = Method("die", die)
IDLE = Method("idle", do_nothing)
THREADS = Method("threads", count_threads)
SLEEP = Method("sleep", sleep_for_long)
