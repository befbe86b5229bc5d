"""Tasks: named generators of problems, in three sizes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from ._problems import Problem
from ._registry import Registry

__all__ = ["SIZES", "DataMissing", "Size", "Task", "check_size", "register_task", "task_by_name", "task_names"]

Size = Literal["tiny", "smoke", "full"]
SIZES: tuple[Size, ...] = get_args(Size)


class DataMissing(FileNotFoundError):  # noqa: N818 - an outcome of a job, not a mistake
    """The data of a task are not there: its jobs are "not run: data missing", and nothing replaces them."""


@dataclass(frozen=True)
class Task:
    """A named generator of problems.

    Parameters
    ----------
    name
        As it is called on the command line.
    generate
        ``(size, seed)``, or ``(size, seed, folder)`` where the task reads files, to problems; a generator, so that one
        problem at a time is in memory. Defined at the top level of a module, so that worker processes can import it.
    about
        One line.
    files
        The files that it reads, relative to the data folder. Their content is part of what a job is.
    only_method
        The one method that this task is for, where it does not compare methods; then any other is passed over.
    """

    name: str
    generate: Callable[..., Iterable[Problem]]
    about: str = ""
    files: tuple[str, ...] = ()
    only_method: str | None = None

    def problems(self, size: Size, seed: int, *, data: str | os.PathLike[str] | None = None) -> Iterable[Problem]:
        """The problems, one at a time.

        Parameters
        ----------
        size
            "tiny" (under 5 s with the direct method), "smoke" (under 40 s) or "full".
        seed
            A whole number; the same gives the same problems.
        data
            The folder of the task's files; default the one named by the environment variable ``CELLTREEQM_DATA``.

        Raises
        ------
        DataMissing
            If a file that the task reads is not there.
        ValueError
            If there is no such size.
        """
        check_size(size)
        if not self.files:
            return self.generate(size, seed)
        return self.generate(size, seed, self._folder(data))

    def data_digests(self, data: str | os.PathLike[str] | None = None) -> dict[str, str]:
        """The SHA-256 of each file that the task reads."""
        if not self.files:
            return {}
        folder = self._folder(data)
        return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in self.files}

    def _folder(self, data: str | os.PathLike[str] | None) -> Path:
        named = data if data is not None else os.environ.get("CELLTREEQM_DATA")
        if named is None:
            raise DataMissing(
                f"Task {self.name!r} reads {self.files[0]} and no data folder was named. Name it with --data or in "
                "the environment variable CELLTREEQM_DATA."
            )
        missing = [name for name in self.files if not (Path(named) / name).is_file()]
        if missing:
            raise DataMissing(
                f"Task {self.name!r} reads {', '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not in "
                f"{Path(named)}. Name another folder with --data or in CELLTREEQM_DATA."
            )
        return Path(named)


def check_size(size: str) -> None:
    """Refuse what is no size."""
    if size not in SIZES:
        raise ValueError(f"size={size!r} was given; it is one of {', '.join(SIZES)}.")


_tasks = Registry[Task]("task", lambda task: task.generate)


def register_task(
    name: str, *, files: tuple[str, ...] = (), only_method: str | None = None
) -> Callable[[Callable[..., Iterable[Problem]]], Callable[..., Iterable[Problem]]]:
    """A decorator that makes a generator of problems a task, described by the first line of its docstring.

    Examples
    --------
    A task that is registered in a module of yours is known once the module is imported::

        @register_task("my-task")
        def my_task(size, seed):
            \"\"\"One line about it.\"\"\"
            yield Problem(...)
    """

    def register(generate: Callable[..., Iterable[Problem]]) -> Callable[..., Iterable[Problem]]:
        about = (generate.__doc__ or "").strip().partition("\n")[0]
        _tasks.add(name, Task(name, generate, about, files, only_method))
        return generate

    return register


def task_by_name(name: str) -> Task:
    """The task of a name.

    Raises
    ------
    ValueError
        If there is none, with the names there are.
    """
    return _tasks.get(name)


def task_names() -> tuple[str, ...]:
    """The names of all tasks, in the order in which they were registered."""
    return _tasks.names()
