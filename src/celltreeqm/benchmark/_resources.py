"""What a call took: wall and CPU seconds, and memory at its highest."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

__all__ = ["Resources", "measured"]

Value = TypeVar("Value")

_CLEAR = Path("/proc/self/clear_refs")
_STATUS = Path("/proc/self/status")


@dataclass(frozen=True)
class Resources:
    """What a call took.

    Parameters
    ----------
    wall_seconds, cpu_seconds
        By the clock, and of all threads of this process together.
    peak_memory
        The most bytes of physical memory that the process had (code and data of before the call included); NaN where
        the platform does not tell.
    peak_since
        "call": the highest during the call, where Linux lets the mark be reset. "process": the highest since the
        process started, which an earlier call may have reached.
    """

    wall_seconds: float
    cpu_seconds: float
    peak_memory: float
    peak_since: Literal["call", "process"]


def measured(call: Callable[[], Value]) -> tuple[Value, Resources]:
    """The value of a call, and what it took.

    Examples
    --------
    >>> total, took = measured(lambda: sum(range(10)))
    >>> total, took.wall_seconds >= 0
    (45, True)
    """
    reset = _reset_peak()
    wall, cpu = time.perf_counter(), time.process_time()
    value = call()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return value, Resources(
        wall, cpu, _peak_since_reset() if reset else _peak_of_process(), "call" if reset else "process"
    )


def _reset_peak() -> bool:
    try:
        _CLEAR.write_text("5")  # resets the peak, "VmHWM", alone: see proc(5)
        return math.isfinite(_peak_since_reset())
    except OSError:
        return False


def _peak_since_reset() -> float:
    for line in _STATUS.read_text().splitlines():
        if line.startswith("VmHWM:"):
            return float(line.split()[1]) * 1024
    return math.nan


def _peak_of_process() -> float:
    try:
        import resource
    except ImportError:  # Windows
        return math.nan
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak if sys.platform == "darwin" else peak * 1024)
