"""``celltreeqm simulate``: cells with a known lineage, as a file."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ._written_files import check_files, written_files

if TYPE_CHECKING:
    from ..simulate import Simulation

__all__ = ["simulate"]

_SEPARATORS = {".csv": ",", ".tsv": "\t"}


class Increments(StrEnum):
    """What the length of a branch is of the change along it."""

    variance = "variance"
    sd = "sd"


class Shape(StrEnum):
    """The shape of the model tree."""

    balanced = "balanced"
    yule = "yule"
    uniform = "uniform"
    caterpillar = "caterpillar"


def simulate(
    scenario: Annotated[
        str,
        typer.Option(
            "--scenario",
            help="A1 to D3 (the paper's table), weak, unsupervised, heritability, batch, cycle or competing.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            help="File: .h5td (features and trees), .csv or .tsv (features), .h5ad (with --counts). The true tree is "
            "written beside it as NAME.truth.nwk.",
        ),
    ],
    leaves: Annotated[int | None, typer.Option(help="Number of leaves instead of the scenario's.")] = None,
    shape: Annotated[
        Shape | None,
        typer.Option(help="Shape of the trees; all but balanced take any number of leaves. Default: the scenario's."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="The same seed gives the same data; else one is drawn.")
    ] = None,
    increments: Annotated[
        Increments | None,
        typer.Option(
            help="Is a branch's length the variance or the sd of the change along it? Default: the scenario's."
        ),
    ] = None,
    counts: Annotated[bool, typer.Option("--counts", help="Raw counts of single cells instead of features.")] = False,
    cells_per_taxon: Annotated[
        int | None, typer.Option(min=1, help="With --counts: cells of each leaf; default 10.")
    ] = None,
    embryos: Annotated[
        int | None, typer.Option(min=1, help="With --counts: embryos that the cells come from; default 3.")
    ] = None,
    dropout: Annotated[
        float | None, typer.Option(help="With --counts: probability that a count is lost; default 0.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
) -> None:
    """Simulate cells on a known lineage, as one of the paper's scenarios has it or beyond them."""
    ending = output.suffix.lower()
    if counts and ending != ".h5ad":
        raise typer.BadParameter(f"Counts go to an .h5ad file; {output.name} was given.", param_hint="--output")
    if not counts and ending not in (".h5td", *_SEPARATORS):
        also = " (.h5ad is for --counts)" if ending == ".h5ad" else ""
        raise typer.BadParameter(
            f"Features go to an .h5td, .csv or .tsv file{also}; {output.name} was given.", param_hint="--output"
        )
    given = {"cells_per_taxon": cells_per_taxon, "embryos": embryos, "dropout": dropout}
    of_counts: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if of_counts and not counts:
        raise typer.BadParameter(f"--{next(iter(of_counts)).replace('_', '-')} is for --counts, which was not given.")
    truth = output.with_name(f"{output.stem}.truth.nwk")
    check_files([output], force=force)
    from ..simulate import simulate_counts, simulate_scenario
    from ..trees import format_newick

    how: Literal["variance", "sd"] | None = None if increments is None else increments.value
    form: Literal["balanced", "yule", "uniform", "caterpillar"] | None = None if shape is None else shape.value
    simulation = simulate_scenario(scenario, leaves=leaves, shape=form, increments=how, seed=seed)
    said, newick = str(simulation), format_newick(simulation.truth) + "\n"
    same = truth.is_file() and truth.read_bytes() == newick.encode()  # written with another form of the same data
    check_files([truth], force=force or same)
    with written_files([output, truth]) as (data_part, truth_part):
        if counts:
            cells = simulate_counts(simulation, **of_counts, seed=seed)
            said += f", raw counts of {cells.n_obs} cells"
            cells.write_h5ad(data_part)
        elif ending == ".h5td":
            simulation.to_treedata().write_h5td(data_part)
        else:
            _write_table(simulation, data_part, _SEPARATORS[ending])
        truth_part.write_text(newick, encoding="utf-8", newline="")
    typer.echo(f"Wrote {output}: {said}")
    typer.echo(f"Wrote {truth}: the tree they were simulated on")


def _write_table(simulation: Simulation, path: Path, separator: str) -> None:
    import pandas as pd

    index = pd.Index(simulation.leaves, name="leaf")
    table = pd.DataFrame(simulation.features, index=index, columns=list(simulation.feature_names))
    table.to_csv(path, sep=separator, lineterminator="\n")
