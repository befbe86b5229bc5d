"""The paper's numbers, and which of ours each of them stands beside."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["COUNTERPARTS", "Counterpart", "paper_number", "paper_numbers"]


@dataclass(frozen=True)
class Counterpart:
    """Which number of the paper stands beside which of ours.

    Parameters
    ----------
    task, method, features, metric
        Ours: the mean of the metric over seeds, of the method's trees from this table of features, built without
        honouring the prior, on problems that are no null.
    heading
        What it is called where the two stand side by side.
    table, group, row, column
        The paper's, as in :func:`paper_numbers`. In ``row`` a name in braces stands for that column of the results,
        such as ``"{scenario}"``.
    """

    task: str
    method: str
    features: str
    metric: str
    heading: str
    table: str
    group: str
    row: str
    column: str

    def row_of(self, info: Mapping[str, Any]) -> str | None:
        """The paper's row for a problem with these columns, None if it has none."""
        try:
            row = self.row.format_map({name: _plain(value) for name, value in info.items()})
        except KeyError:
            return None
        return row if (self.table, self.group, row, self.column) in _by_place() else None

    def number(self, row: str) -> float:
        """The paper's number in one of its rows."""
        return paper_number(self.table, row, self.column, group=self.group)


_SIMULATED = "tbl:supervised_simulation"
_ABLATION = "tbl:loss_ablation"
_UNSUPERVISED = ("app:unsupervised", "", "RF")

# At size "tiny" the problems are smaller than the paper's, so nothing of it stands beside them.
COUNTERPARTS: tuple[Counterpart, ...] = (
    *(
        Counterpart("table-sim", "direct", features, "RF", column, _SIMULATED, "", "{scenario}", column)
        for features, column in (("signal", "Direct Recon. Signal"), ("given", "Direct Recon. Noisy"))
    ),
    *(
        Counterpart("table-sim", method, "replicate", metric, column, _SIMULATED, "", "{scenario}", column)
        for method, metric, column in (
            ("quartet-scratch", "RF", "CellTreeQM F"),
            ("quartet-scratch-gate", "RF", "CellTreeQM G"),
            ("quartet-scratch-gate", "recall", "Recall"),
            ("quartet-scratch-gate", "precision", "Precis."),
        )
    ),
    *(
        Counterpart(
            "ablation", "ablated-quartet", "replicate", "RF", "Relative RF", _ABLATION, group, "{row}", "Relative RF"
        )
        for group in ("", *(f"Quartet Sampling: {mode}" for mode in ("mismatched", "matched", "all")))
    ),
    *(
        Counterpart("sim-unsupervised", method, f"{short}-{d}", "RF", f"{name} {d}", *_UNSUPERVISED, f"{name} {d}")
        for method, short, name, dimensions in (
            ("pca", "pca", "PCA", (5, 10, 20)),
            ("random-projection", "projection", "Random projection", (2, 5, 10)),
        )
        for d in dimensions
    ),
    *(
        Counterpart("sim-unsupervised", "direct", features, "RF", column, "app:unsupervised", "", "RF", column)
        for features, column in (("signal", "Direct Recon. Signal"), ("given", "Direct Recon. Noisy"))
    ),
    Counterpart(
        "quartet-proportions",
        "count-quartets",
        "none",
        "known",
        "Known quartets",
        "tbl:high_level_partition_quartet_fraction",
        "Brownian64",
        "Level {level}",
        "Prop.",
    ),
)


def paper_numbers(table: str | None = None) -> pd.DataFrame:
    """The numbers in the paper's tables, and the RF that its text gives of the unsupervised setting.

    Parameters
    ----------
    table
        Only those of this table, named by its label in the paper (``"app:unsupervised"`` is a section).

    Returns
    -------
    pandas.DataFrame
        A row for each number: ``table``; ``group``, the heading within the table that it stands under, if any; ``row``;
        ``column``; ``value``; ``sd``, NaN where the paper gives none. The twelve simulations are called "A1" to "D3".
        In the study of loss components only what differs from the baseline is given, as in the paper.

    Examples
    --------
    >>> numbers = paper_numbers("tbl:loss_ablation")
    >>> numbers[(numbers["row"] == "e4") & (numbers["column"] == "Relative RF")][["value", "sd"]].values.tolist()
    [[0.249, 0.019]]
    """
    import pandas as pd

    file = files(__package__) / "paper_numbers.csv"
    text: dict[Any, Any] = dict.fromkeys(("table", "group", "row", "column"), "string")
    with file.open(encoding="utf-8") as lines:
        numbers = pd.read_csv(lines, dtype=text, keep_default_na=False, na_values={"sd": [""]})
    if table is None:
        return numbers
    known = numbers["table"].unique().tolist()
    if table not in known:
        raise ValueError(f"table={table!r} was given; the paper's tables are {', '.join(known)}.")
    return numbers[numbers["table"] == table].reset_index(drop=True)


def paper_number(table: str, row: str, column: str, *, group: str = "") -> float:
    """One number of the paper.

    Examples
    --------
    >>> paper_number("tbl:supervised_simulation", "B2", "Direct Recon. Noisy")
    0.865
    """
    place = (table, group, row, column)
    if place not in _by_place():
        raise ValueError(
            f"The paper has no number in table {table!r}, group {group!r}, row {row!r}, column {column!r}; "
            "paper_numbers() lists those it has."
        )
    return _by_place()[place]


@cache
def _by_place() -> dict[tuple[str, str, str, str], float]:
    numbers = paper_numbers()
    places = zip(numbers["table"], numbers["group"], numbers["row"], numbers["column"], strict=True)
    return dict(zip(places, numbers["value"].tolist(), strict=True))


def _plain(value: Any) -> Any:
    """Whole numbers without a point: a column of the results has floats where other rows lack it."""
    return int(value) if isinstance(value, float) and math.isfinite(value) and value == int(value) else value
