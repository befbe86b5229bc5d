"""``celltreeqm benchmark run``: every job that has no result yet."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from concurrent.futures import Executor

__all__ = ["RESULTS", "Size", "run"]

RESULTS = Path("benchmark-results")


class Size(StrEnum):
    """How large the problems of a task are."""

    tiny = "tiny"
    smoke = "smoke"
    full = "full"


def run(
    tasks: Annotated[list[str], typer.Argument(metavar="TASK...", help="What to run; see benchmark list.")],
    methods: Annotated[
        list[str] | None, typer.Option("--methods", help="Methods, by commas or repeated; default direct.")
    ] = None,
    size: Annotated[Size, typer.Option(help="tiny: seconds; smoke: under a minute; full: the paper's.")] = Size.full,
    seeds: Annotated[int, typer.Option(min=1, help="Number of seeds.")] = 1,
    first_seed: Annotated[int, typer.Option(min=0, help="The first of them.")] = 0,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder of results; what it has already is not run again.")
    ] = RESULTS,
    data: Annotated[Path | None, typer.Option(help="Folder of real data; default $CELLTREEQM_DATA.")] = None,
    shard: Annotated[
        str | None, typer.Option(metavar="I/N", help="Only every N-th job from the I-th on, for job arrays.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Jobs at a time; default every CPU that may be used.")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run on a Dask cluster, such as tcp://host:8786.")
    ] = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run jobs again that failed before.")] = False,
    keep_stale: Annotated[
        bool, typer.Option("--keep-stale", help="Go on beside results of another code version.")
    ] = False,
) -> None:
    """Run tasks with methods; stop it at any time, and the same command goes on from there.

    Ends with 1 if a job failed.
    """
    if data is not None and not data.is_dir():
        raise FileNotFoundError(f"There is no folder {data}; name the one that holds the real data with --data.")
    from ..benchmark import parse_shard, run_benchmark

    part = None if shard is None else parse_shard(shard)
    with _executor(scheduler) as executor, _stopped_by_hand(output):
        report = run_benchmark(
            tasks,
            [name.strip() for given in methods or ["direct"] for name in given.split(",") if name.strip()],
            folder=output,
            size=size.value,
            seeds=range(first_seed, first_seed + seeds),
            data=data,
            shard=part,
            workers=workers,
            executor=executor,
            progress=sys.stderr.isatty(),
            retry_failed=retry_failed,
            keep_stale=keep_stale,
        )
    typer.echo(f"{report}\nresults in {output}")
    if report.failures:
        raise typer.Exit(1)


@contextmanager
def _stopped_by_hand(output: Path) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(f"Stopped: what was done is in {output}, and the same command goes on from there.", err=True)
        raise


@contextmanager
def _executor(scheduler: str | None) -> Iterator[Executor | None]:
    if scheduler is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError:
        raise ImportError(
            "--scheduler needs Dask, which is not installed: pip install 'celltreeqm[cluster]'."
        ) from None
    try:
        client = Client(scheduler, timeout="10s")  # type: ignore[no-untyped-call]
    except (OSError, TimeoutError, ValueError) as error:
        raise ConnectionError(f"No Dask scheduler answers at {scheduler} ({error}). Is the address right?") from error
    with client:
        yield client.get_executor()  # type: ignore[no-untyped-call]
