"""``celltreeqm evaluate``: a tree against the truth."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    import pandas as pd

    from ..evaluation import Evaluation

__all__ = ["evaluate"]

_SEPARATORS = {".csv": ",", ".tsv": "\t"}


def evaluate(
    tree: Annotated[Path, typer.Argument(help="Newick file of the tree to judge.")],
    truth: Annotated[Path, typer.Argument(help="Newick file of the true tree, on the same leaves.")],
    prior: Annotated[
        list[Path] | None,
        typer.Option("--prior", help="Newick file of what was known; give it once for each file of several."),
    ] = None,
    features: Annotated[
        Path | None,
        typer.Option(
            help="The cells' features (.csv, .tsv with the leaf names first, .h5ad or .h5td): then direct "
            "reconstruction from them, without and with the prior, stands beside the tree."
        ),
    ] = None,
    honor_prior: Annotated[
        bool | None,
        typer.Option(
            "--honor-prior/--no-honor-prior",
            help="Whether the tree was built under the prior; by default, whether it displays it.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    as_tsv: Annotated[bool, typer.Option("--tsv", help="Print tab-separated values.")] = False,
) -> None:
    """Measure a tree against the truth: Robinson-Foulds and quartet distances, also by what a prior knew."""
    if as_json and as_tsv:
        raise typer.BadParameter("--json and --tsv were given; one of them is possible.")
    from ..evaluation import evaluate as evaluate_tree
    from ..trees import read_newick, read_newicks

    evaluation = evaluate_tree(
        read_newick(tree),
        read_newick(truth),
        prior=[known for file in prior or () for known in read_newicks(file)] or None,
        features=None if features is None else _read_features(features),
        honor_prior=honor_prior,
    )
    if as_json:
        typer.echo(json.dumps(_plain(evaluation), indent=1))
    elif as_tsv:
        typer.echo(evaluation.table.to_csv(sep="\t", index=False, lineterminator="\n"), nl=False)
    else:
        typer.echo(str(evaluation))


def _read_features(path: Path) -> pd.DataFrame:
    endings = [ending.lower() for ending in path.suffixes if ending.lower() != ".gz"]
    ending = endings[-1] if endings else ""
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}.")
    if ending not in (*_SEPARATORS, ".h5ad", ".h5td"):
        raise ValueError(f"{path} is not a table that can be read; a .csv, .tsv, .h5ad or .h5td file was needed.")
    try:
        table = _read_table(path, ending)
    except Exception as error:  # each library has exceptions of its own, few of which name the file
        raise ValueError(
            f"{path} cannot be read as its ending says ({error}). Is it whole, and of that kind?"
        ) from error
    if ending in _SEPARATORS:
        _check_columns(table, path, _SEPARATORS[ending])
    return table


def _read_table(path: Path, ending: str) -> pd.DataFrame:
    if ending == ".h5ad":
        import anndata

        return anndata.read_h5ad(path).to_df()  # type: ignore[no-any-return]
    if ending == ".h5td":
        import treedata

        return treedata.read_h5td(path).to_df()  # type: ignore[no-any-return]
    import pandas as pd

    return pd.read_csv(path, sep=_SEPARATORS[ending], index_col=0, converters={0: str})  # "007" is no number here


def _check_columns(table: pd.DataFrame, path: Path, separator: str) -> None:
    import pandas as pd

    if not table.shape[1]:
        raise ValueError(
            f"{path} has one column only; leaf names and features, separated by {separator!r}, were needed."
        )
    words = [str(name) for name, kind in table.dtypes.items() if not pd.api.types.is_numeric_dtype(kind)]
    if words:
        raise ValueError(
            f"{len(words)} of {table.shape[1]} columns of {path} are no numbers, the first of them {words[0]!r}. The "
            "first column is taken for the leaf names; all others must be features."
        )


def _plain(evaluation: Evaluation) -> dict[str, Any]:
    rows = evaluation.table.to_dict("records")
    metrics = [
        {str(name): None if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()}
        for row in rows
    ]
    return {"evaluated": evaluation.heading, "metrics": metrics}
