"""The result store: one small JSON file a job, written as a whole or not at all."""

from __future__ import annotations

import json
import math
import os
import platform
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ._jobs import key_of

__all__ = ["format_result", "read_results", "sweep_leftovers", "write_result"]

_PARTIAL = ".partial"
_OLD = 3600.0  # seconds after which what another machine was writing is a leftover; a write takes milliseconds


def format_result(record: Mapping[str, Any]) -> str:
    """A result as JSON: keys sorted, floats as Python's ``repr`` writes them (read back exactly), NaN as null."""
    return json.dumps(_without_nan(record), sort_keys=True, indent=1, allow_nan=False) + "\n"


def write_result(folder: Path, path: str, record: Mapping[str, Any]) -> None:
    """Write a result so that a reader finds all of it or none, whenever the writer or the machine stops.

    The text goes to a file of another name in the same folder and to the disk, and only then takes its name.
    """
    text = format_result(record)
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.{_writer()}{_PARTIAL}")
    _moment("before-write")
    with partial.open("w", encoding="utf-8") as file:
        file.write(text[: len(text) // 2])
        file.flush()
        _moment("mid-write")
        file.write(text[len(text) // 2 :])
        file.flush()
        os.fsync(file.fileno())
    _moment("before-rename")
    os.replace(partial, target)
    _sync_folder(target.parent)
    _moment("after-write")


def read_results(folder: Path) -> dict[str, dict[str, Any]]:
    """All results in a folder, by their path in it; what was never finished is not among them."""
    results = {}
    for path in sorted(folder.glob("*/*.json")):
        if path.name.startswith("."):
            continue
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            whole = path.stem.endswith(f"_{key_of(record['job'])}") and {"status", "rows", "timings"} <= set(record)
        except (ValueError, KeyError, TypeError, IsADirectoryError):
            whole = False
        if not whole:
            raise ValueError(
                f"{path} is no result of the benchmark, or was changed after it was written. Move it out of the "
                "folder, or use another folder for results; a job whose result is missing is done again."
            )
        results[path.relative_to(folder).as_posix()] = record
    return results


def sweep_leftovers(folder: Path) -> int:
    """Remove what killed writers left; what a living one (another shard) is writing stays. Returns how many."""
    swept = 0
    for path in folder.glob(f"*/.*{_PARTIAL}"):
        try:
            if _is_leftover(path):
                path.unlink()
                swept += 1
        except FileNotFoundError:  # it got its name just now
            continue
    return swept


def _is_leftover(path: Path) -> bool:
    host, _, process = path.name.removesuffix(_PARTIAL).rpartition(".json.")[2].rpartition("-")
    if host == platform.node() and process.isdecimal() and (int(process) == os.getpid() or not _is_alive(int(process))):
        return True
    return time.time() - path.stat().st_mtime > _OLD


def _is_alive(process: int) -> bool:
    if os.name == "nt":  # a signal would end it there; its age decides
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _writer() -> str:
    return f"{platform.node()}-{os.getpid()}"


def _sync_folder(folder: Path) -> None:
    """Send the new name to the disk as well, where folders can be opened and their file system knows how."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some that are mounted from elsewhere refuse; the result is there all the same
            os.fsync(handle)
    finally:
        os.close(handle)


def _moment(name: str) -> None:
    """A named moment, at which tests stop the process; otherwise nothing happens here."""


def _without_nan(value: Any) -> Any:
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, Mapping):
        return {key: _without_nan(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(inner) for inner in value]
    return value
