"""What the benchmarks share: the clock, the machine, random trees and where figures are kept."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from celltreeqm.trees import Tree

RESULTS = Path(__file__).parent / "results"


def cpu_seconds(call: Callable[[], object], *, repeats: int = 5, warm_up: bool = True) -> float:
    """The median CPU time of some calls of this process, after one that is not counted."""
    if warm_up:
        call()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return float(np.median(times))


def names(n: int) -> list[str]:
    return [f"cell{i}" for i in range(n)]


def random_tree(n: int, seed: int) -> Tree:
    """A rooted binary tree that joins two of the remaining subtrees at a time."""
    generator = np.random.default_rng(seed)
    parent, alive = [-1] * (2 * n - 1), list(range(n))
    for node in range(n, 2 * n - 1):
        for _ in range(2):
            parent[alive.pop(int(generator.integers(len(alive))))] = node
        alive.append(node)
    return Tree(parent, names(n), rooted=True)


def keep_part(name: str, part: str, rows: list[dict[str, Any]]) -> None:
    """Write the figures of one part of a benchmark in place of those it had before; the other parts stay."""
    file = RESULTS / f"{name}.json"
    before = json.loads(file.read_text())["rows"] if file.exists() else []
    keep(name, [row for row in before if row["part"] != part] + [{"part": part} | row for row in rows])


def keep(name: str, rows: list[dict[str, Any]]) -> None:
    """Write the figures beside the benchmarks, with what they were measured on."""
    machine = {"processor": platform.machine(), "cores": os.cpu_count(), "python": platform.python_version()}
    text = json.dumps({"machine": machine, "rows": rows}, indent=1) + "\n"
    RESULTS.mkdir(exist_ok=True)
    partial = RESULTS / f".{name}.json.partial"
    partial.write_text(text)
    partial.replace(RESULTS / f"{name}.json")
