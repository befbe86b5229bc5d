"""Torch on one thread: for networks as small as those of the tests several only wait for each other."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="package", autouse=True)
def one_thread() -> Iterator[None]:
    from celltreeqm.learners.quartet._restoring import torch_threads

    with torch_threads(1):
        yield
