"""Jobs: which task, at what size, with which method and seed, on what data, by what code."""

from __future__ import annotations

import hashlib
import json
import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from ._code_version import check_top_level, code_version
from ._methods import Method, method_by_name
from ._tasks import DataMissing, Size, Task, check_size, task_by_name

__all__ = ["Job", "in_shard", "parse_shard", "plan_jobs"]

Given = TypeVar("Given")


@dataclass(frozen=True, eq=False)
class Job:
    """One unit of work, which is done as a whole or not at all."""

    task: Task
    size: Size
    method: Method
    seed: int
    code: Mapping[str, str]
    data: str | None = None
    data_digests: Mapping[str, str] = field(default_factory=dict)

    def identity(self) -> dict[str, object]:
        """All that the result depends on."""
        return {
            "task": self.task.name,
            "size": self.size,
            "method": self.method.name,
            "seed": self.seed,
            "data": dict(self.data_digests),
            "code": dict(self.code),
        }

    def key(self) -> str:
        """The address of the result: a digest of the identity."""
        return key_of(self.identity())

    def path(self) -> str:
        """The result's file within a folder of results."""
        return f"{self.task.name}/{self.size}_{self.method.name}_{self.seed}_{self.key()}.json"

    def __str__(self) -> str:
        return f"{self.task.name} ({self.size}, {self.method.name}, seed {self.seed})"


def key_of(identity: Mapping[str, object]) -> str:
    """Sixteen hexadecimal digits of the SHA-256 of an identity, written as JSON with sorted keys."""
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:16]


def plan_jobs(
    tasks: Iterable[str | Task],
    methods: Iterable[str | Method],
    *,
    size: Size,
    seeds: int | Iterable[int],
    data: str | os.PathLike[str] | None = None,
) -> tuple[list[Job], dict[str, str]]:
    """The jobs in their order (task, seed, method), and why tasks are not run, by name.

    A task of ``only_method`` is run with that method alone, whatever methods were asked for.
    """
    chosen = [task_by_name(task) if isinstance(task, str) else task for task in _listed(tasks, "tasks", Task)]
    wanted = [
        method_by_name(method) if isinstance(method, str) else method for method in _listed(methods, "methods", Method)
    ]
    for task in chosen:
        check_top_level(task.generate, f"The generator of task {task.name!r}")
    for method in wanted:
        check_top_level(method.run, f"Method {method.name!r}")
    check_size(size)
    numbers = _numbers(seeds)
    jobs: list[Job] = []
    not_run: dict[str, str] = {}
    for task in chosen:
        folder = None if data is None else os.fspath(data)
        try:
            digests = task.data_digests(folder)
        except DataMissing as error:
            not_run[task.name] = f"data missing ({error})"
            continue
        those = wanted if task.only_method is None else [method_by_name(task.only_method)]
        jobs += [
            Job(task, size, method, seed, code_version(task.generate, method.run), folder, digests)
            for seed in numbers
            for method in those
        ]
    return list({job.path(): job for job in jobs}.values()), not_run


def parse_shard(text: str) -> tuple[int, int]:
    """``"3/20"``, the third of twenty shards, as ``(3, 20)``.

    Examples
    --------
    >>> parse_shard("3/20")
    (3, 20)
    """
    i, _, n = text.partition("/")
    if not (i.strip().isdecimal() and n.strip().isdecimal()):
        raise ValueError(f"Shard {text!r} was given; i/N was needed, such as 3/20 for the third of twenty.")
    shard = int(i), int(n)
    in_shard([], shard)
    return shard


def in_shard(jobs: Sequence[Job], shard: tuple[int, int] | None) -> list[Job]:
    """Every N-th job, from the i-th on (counted from 1); all of them where there is no shard."""
    if shard is None:
        return list(jobs)
    if isinstance(shard, str):
        raise TypeError(f"shard={shard!r} was given; two numbers were needed: parse_shard({shard!r}).")
    try:
        i, n = map(operator.index, shard)
    except (TypeError, ValueError):
        raise TypeError(f"shard={shard!r} was given; two whole numbers were needed: (3, 20).") from None
    if not 1 <= i <= n:
        raise ValueError(f"Shard {i}/{n} was given; shards are counted from 1/{max(n, 1)} to {max(n, 1)}/{max(n, 1)}.")
    return list(jobs[i - 1 :: n])


def _numbers(seeds: int | Iterable[int]) -> list[int]:
    said = f"seeds={seeds!r} was given; a number of seeds (1 or more) or a list of seeds was needed"
    try:
        if isinstance(seeds, str | bool):
            raise TypeError("a word is no list of seeds")
        numbers = [operator.index(seed) for seed in (seeds if isinstance(seeds, Iterable) else range(seeds))]
    except TypeError:
        raise TypeError(f"{said}, in whole numbers.") from None
    if not numbers or min(numbers) < 0:
        raise ValueError(f"{said}.")
    return numbers


def _listed(given: Iterable[Given], what: str, kind: type) -> list[Given]:
    if isinstance(given, str):
        raise TypeError(f"{what}={given!r} was given; a list of {what} was needed: [{given!r}].")
    try:
        found = list(given)
    except TypeError:
        raise TypeError(f"{what}={given!r} was given; a list of {what} was needed.") from None
    if not found:
        raise ValueError(f"{what}={given!r} was given; at least one was needed.")
    for one in found:
        if not isinstance(one, str | kind):
            raise TypeError(f"{one!r} is among the {what}; their names, or {kind.__name__} values, were needed.")
    return found
