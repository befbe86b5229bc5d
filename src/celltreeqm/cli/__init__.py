"""The command line: one file a command, each of which loads what it needs only when it runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from ._benchmark_list import list_all
from ._benchmark_run import run
from ._benchmark_table import table
from ._demo import demo
from ._evaluate import evaluate
from ._simulate import simulate

__all__ = ["app", "main"]

app = typer.Typer(
    name="celltreeqm",
    help="Cell lineage trees from what cells look like.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(demo)
app.command()(simulate)
app.command()(evaluate)

_benchmark = typer.Typer(help="Put methods through tasks and show the tables.", no_args_is_help=True)
_benchmark.command()(run)
_benchmark.command()(table)
_benchmark.command("list")(list_all)
app.add_typer(_benchmark, name="benchmark")

_debug = False


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; an error is told in one sentence (exit code 1, or 2 where the command line is wrong)."""
    global _debug
    _debug = False
    try:
        app(args=arguments)
    except Exception as error:
        if _debug:
            raise
        if isinstance(error, ValueError | TypeError | OSError | ImportError | RuntimeError) and str(error):
            typer.echo(f"Error: {error}", err=True)
        else:
            typer.echo(f"Error: {type(error).__name__}: {error}\n(celltreeqm --debug ... shows where.)", err=True)
        raise SystemExit(1) from None


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"celltreeqm {version('celltreeqm')}")
        raise typer.Exit


@app.callback()
def _options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the full traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    global _debug
    _debug = debug
