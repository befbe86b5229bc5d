"""What a call took."""

import sys
import time

import numpy as np
import pytest

from celltreeqm.benchmark import measured


def test_sleeping_takes_wall_time_and_no_cpu_time():
    value, took = measured(lambda: time.sleep(0.2) or "value")
    assert value == "value"
    assert 0.19 < took.wall_seconds < 2
    assert took.cpu_seconds < 0.1


def test_computing_takes_cpu_time():
    def compute():
        end = time.process_time() + 0.1
        while time.process_time() < end:
            pass

    assert measured(compute)[1].cpu_seconds == pytest.approx(0.1, abs=0.05)


@pytest.mark.skipif(sys.platform != "linux", reason="the mark can be reset on Linux only")
def test_peak_memory_is_that_of_the_call_not_of_an_earlier_one():
    large = measured(lambda: np.ones(30_000_000).sum())[1]
    small = measured(lambda: None)[1]
    if large.peak_since != "call":
        pytest.skip("This system does not let the mark be reset.")
    assert large.peak_memory - small.peak_memory > 200e6


def test_what_a_call_raises_is_raised():
    with pytest.raises(ZeroDivisionError, match="division"):
        measured(lambda: 1 / 0)
