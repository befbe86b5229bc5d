"""``celltreeqm benchmark table``: the results of a task beside the paper's numbers."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ._benchmark_run import RESULTS, Size
from ._written_files import check_files, written_files

__all__ = ["table"]


class Style(StrEnum):
    """How a table is written."""

    markdown = "markdown"
    latex = "latex"
    csv = "csv"


_BY_ENDING = {".md": Style.markdown, ".tex": Style.latex, ".csv": Style.csv}


def table(
    task: Annotated[str, typer.Argument(metavar="TASK", help="Whose results; see benchmark list.")],
    results: Annotated[Path, typer.Option(help="Folder that benchmark run wrote to.")] = RESULTS,
    style: Annotated[
        Style | None, typer.Option(help="By default as the output's ending says (.md, .tex, .csv), else markdown.")
    ] = None,
    against: Annotated[
        str | None, typer.Option(metavar="METHOD", help="Compare each method with this one, in pairs.")
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", help="Show this (repeat for several), such as 'RF delta_under_prior'."),
    ] = None,
    size: Annotated[Size | None, typer.Option(help="By default the largest there is.")] = None,
    data: Annotated[Path | None, typer.Option(help="Folder of real data; default $CELLTREEQM_DATA.")] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write to this file.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Show the results of a task: means over seeds, the paper's numbers beside ours, methods beside each other."""
    if output is not None:
        check_files([output], force=force)
    from ..benchmark import format_table, load_results, summarize_results

    found = load_results(results) if results.is_dir() else None
    missing = None if found is not None and (found["task"] == task).any() else _missing_data(task, data)
    if found is None:
        if missing is None:
            raise FileNotFoundError(
                f"There is no folder {results}. Run the task (celltreeqm benchmark run {task}), or name the folder of "
                "its results with --results."
            )
        import pandas as pd

        found = pd.DataFrame({"task": []})
    wanted = None if size is None else size.value
    summary = summarize_results(found, task, size=wanted, metrics=metric or None, against=against, not_run=missing)
    ending = "" if output is None else output.suffix.lower()
    chosen = style or _BY_ENDING.get(ending, Style.markdown)
    text = format_table(summary, style=chosen.value)
    if output is None:
        typer.echo(text, nl=False)
        return
    with written_files([output]) as (part,):
        part.write_text(text, encoding="utf-8", newline="\n")
    typer.echo(f"Wrote {output}")


def _missing_data(task: str, data: Path | None) -> str | None:
    from ..benchmark import DataMissing, task_by_name

    try:
        task_by_name(task).data_digests(data)
    except DataMissing as error:
        return f"data missing ({error})"
    return None
