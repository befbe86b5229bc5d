"""``celltreeqm benchmark list``: the tasks and methods there are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["list_all"]


def list_all(
    data: Annotated[Path | None, typer.Option(help="Folder of real data; default $CELLTREEQM_DATA.")] = None,
) -> None:
    """List the tasks, whose data are missing, and the methods."""
    from ..benchmark import DataMissing, method_by_name, method_names, task_by_name, task_names

    width = max(map(len, (*task_names(), *method_names()))) + 2
    typer.echo("Tasks")
    for name in task_names():
        task = task_by_name(name)
        only = f" [only with {task.only_method}]" if task.only_method else ""
        typer.echo(f"  {name:<{width}}{task.about}{only}")
        try:
            task.data_digests(data)
        except DataMissing as error:
            typer.echo(f"  {'':<{width}}not run: data missing ({error})")
    typer.echo("Methods")
    for name in method_names():
        typer.echo(f"  {name:<{width}}{method_by_name(name).about}")
