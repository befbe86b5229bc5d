"""A folder of results: written as a whole or not at all, and never over something else."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["check_folder", "filled_folder"]


def check_folder(folder: Path, *, marker: str, force: bool) -> None:
    """Refuse a folder that holds anything but an earlier run, which its marker file shows; ask before the work."""
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"{folder} is a file; a folder was needed. Name another one with -o.")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / marker).is_file() and not force:
        raise FileExistsError(
            f"{folder} is not empty and holds no {marker} of an earlier run. Name another folder with -o, or add to "
            "this one with --force."
        )
    above = next(place for place in (folder.absolute(), *folder.absolute().parents) if place.exists())
    if not above.is_dir():
        raise NotADirectoryError(f"{above} is a file, so {folder} cannot be in it. Name another folder with -o.")
    if not os.access(above, os.W_OK):
        raise PermissionError(f"Nothing may be written to {above}. Name another folder with -o.")


@contextmanager
def filled_folder(folder: Path) -> Iterator[Path]:
    """Give an empty folder to write into; on success its files go to ``folder``, one move a file.

    It is in ``folder``, or beside it if that is yet to be made. Files of the same names are replaced, others stay as
    they are. On failure nothing is left.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    # In the folder itself where it exists: it may be on another disk than the one it is in, or that may be read-only
    work = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder if folder.is_dir() else folder.parent))
    try:
        yield work
        folder.mkdir(exist_ok=True)
        for file in work.iterdir():
            if (folder / file.name).is_dir():  # told before the first move, so that all are made or none
                raise IsADirectoryError(
                    f"{folder / file.name} is a folder where a file was to be written. Move it away."
                )
        for file in sorted(work.iterdir()):
            os.replace(file, folder / file.name)
    finally:
        shutil.rmtree(work)
