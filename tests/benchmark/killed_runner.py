"""A runner that is killed with signal 9 at a chosen moment: ``python -m tests.benchmark.killed_runner FOLDER ...``."""

import os
import signal
import sys

from celltreeqm.benchmark import _store, run_benchmark

from .fakes import JOIN, SLOW, TASK


def main(folder, moment, count, workers):
    """Kill this process when a moment comes for the given time; "never" does not."""
    left = int(count)

    def die(name):
        nonlocal left
        if name == moment:
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)

    _store._moment = die
    report = run_benchmark([TASK], [JOIN, SLOW], folder=folder, size="smoke", seeds=3, workers=int(workers))
    sys.stdout.write(f"{report}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
