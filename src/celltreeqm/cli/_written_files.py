"""Files of results: written as a whole or not at all, and never over others unless asked."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

__all__ = ["check_files", "written_files"]


def check_files(files: Sequence[Path], *, force: bool) -> None:
    """Refuse files that exist, or that cannot be made; ask before the work."""
    for file in files:
        if file.is_dir():
            raise IsADirectoryError(f"{file} is a folder; the name of a file was needed.")
        if file.exists() and not force:
            raise FileExistsError(f"{file} exists. Name another file with -o, or replace it with --force.")
        if not file.parent.is_dir():
            raise FileNotFoundError(f"There is no folder {file.parent} to write {file.name} to. Make it first.")
        if not os.access(file.parent, os.W_OK):
            raise PermissionError(f"Nothing may be written to {file.parent}. Name another place with -o.")


@contextmanager
def written_files(files: Sequence[Path]) -> Iterator[list[Path]]:
    """Give names to write to, beside the files and with their endings; on success the files get their own names."""
    mark = secrets.token_hex(4)
    unfinished = [file.with_name(f".{mark}-{file.name}") for file in files]
    try:
        yield unfinished
        for part, file in zip(unfinished, files, strict=True):
            os.replace(part, file)
    finally:
        for part in unfinished:
            part.unlink(missing_ok=True)
