"""``Evaluation``: the table of an evaluation, and how it is printed."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Column", "Evaluation", "with_companions"]

Column: TypeAlias = Literal["value", "direct", "delta_direct", "direct_under_prior", "delta_under_prior"]

# What a prior alone improves, and the two measures that show whether anything else did
_FLATTERED = ("RF", "QD", "P-QD")
_SUBTREES = "subtree RF"
_COMPANIONS = ("unlabelled-leaf RF", "U-QD")
_HEADINGS = {"value": "value", "direct": "direct", "direct_under_prior": "direct, same prior"}
_DELTAS = {"direct": "delta_direct", "direct_under_prior": "delta_under_prior"}


def with_companions(metrics: Iterable[str]) -> tuple[str, ...]:
    """The metrics, and those that must stand beside them.

    RF, QD and P-QD of the full tree, and its subtrees' RF, are never shown without the RF of the unlabelled leaves and
    the U-QD: they improve with a prior on most leaves even where it is permuted and the features hold no signal.

    Examples
    --------
    >>> with_companions(["RF", "QD"])
    ('RF', 'QD', 'unlabelled-leaf RF', 'U-QD')
    >>> with_companions(["recall"])
    ('recall',)
    """
    chosen = tuple(dict.fromkeys(metrics))
    flattered = any(name in _FLATTERED or name.startswith(_SUBTREES) for name in chosen)
    return chosen + tuple(name for name in _COMPANIONS if flattered and name not in chosen)


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """What :func:`evaluate` found: a table, and a readable print of it.

    Parameters
    ----------
    table
        A row for each metric: ``metric``; ``value``; ``direct``, the value of direct reconstruction, and
        ``delta_direct``, the improvement over it as a fraction (the paper's Delta%); ``direct_under_prior`` and
        ``delta_under_prior``, the same for direct reconstruction under the same prior; ``given``, whether the prior
        alone decides the value, for which there is no Delta%; ``count``, over how many leaves (RF), quartets (QD),
        clades (subtree RF) or features it is.
    heading
        What was evaluated, in a few words.
    decided
        The metrics that are settled for any tree that honours the prior.
    """

    table: pd.DataFrame
    heading: str
    decided: frozenset[str]

    def __getitem__(self, metric: str) -> float:
        """The value of a metric."""
        values = self.values()
        if metric not in values:
            raise KeyError(f"There is no metric {metric!r} here; there are {', '.join(map(repr, values))}.")
        return values[metric]

    def values(self, column: Column = "value") -> dict[str, float]:
        """One column of the table, from metric to number."""
        return dict(zip(self.table["metric"].tolist(), self.table[column].tolist(), strict=True))

    def text(self, metrics: str | Sequence[str] | None = None) -> str:
        """The table as text: by default of all metrics that have a value.

        Parameters
        ----------
        metrics
            Which to show; those that must stand beside them (:func:`with_companions`) are added.
        """
        rows = {str(row["metric"]): row for row in self.table.to_dict("records")}
        if metrics is None:
            metrics = [name for name, row in rows.items() if not math.isnan(row["value"])]
        chosen = with_companions([metrics] if isinstance(metrics, str) else metrics)
        absent = [name for name in chosen if name not in rows]
        if absent:
            raise KeyError(f"There is no metric {absent[0]!r} here; there are {', '.join(map(repr, rows))}.")
        shown = [name for name in rows if name in chosen]
        columns = [["", *shown]]
        for column, heading in _HEADINGS.items():
            if column != "value" and self.table[column].isna().all():
                continue
            columns.append([heading, *(self._cell(rows[name], column) for name in shown)])
            if column in _DELTAS:
                columns.append(["Delta%", *(_percent(rows[name][_DELTAS[column]]) for name in shown)])
        widths = [max(map(len, column)) for column in columns]
        lines = [
            "  ".join(
                cell.ljust(width) if i == 0 else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in zip(*columns, strict=True)
        ]
        return "\n".join([self.heading, *lines])

    def _cell(self, row: Mapping[Hashable, Any], column: str) -> str:
        given = row["given"] if column == "value" else column == "direct_under_prior" and row["metric"] in self.decided
        return "given" if given else _number(row[column])

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"Evaluation({', '.join(f'{name} {_number(self[name])}' for name in with_companions(['RF', 'QD']))})"


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"


def _percent(value: float) -> str:
    return "-" if math.isnan(value) else f"{100 * value:.1f}"
