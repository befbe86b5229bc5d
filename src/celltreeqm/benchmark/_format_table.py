"""Tables as Markdown, LaTeX and CSV."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from ._paper import COUNTERPARTS
from ._tables import Summary, companions_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["STYLES", "Style", "format_table"]

Style: TypeAlias = Literal["markdown", "latex", "csv"]
STYLES: tuple[Style, ...] = get_args(Style)

_HEADINGS = [found.heading for found in COUNTERPARTS]
_NAMES = {"problem": "problem", "control": "control", "method": "method", "features": "built from"}


def format_table(summary: Summary, *, style: Style = "markdown") -> str:
    """A summary as text.

    Markdown and LaTeX (of the package booktabs) have the numbers that the paper gives too beside the paper's, a row for
    each of its rows; then all rows with the metrics shown, as mean (sd); then the notes. CSV is the summary's table as
    it is, a line for each row and metric, with all metrics and the number of failed jobs of the method (which has a
    line of its own where it has no scores); where there are no scores at all, one line says why.

    Parameters
    ----------
    summary
        As :func:`summarize_results` makes it.
    style
        "markdown", "latex" or "csv".

    Returns
    -------
    str
        Lines, the last one ended.
    """
    if style not in STYLES:
        raise ValueError(f"style={style!r} was given; it is one of {', '.join(STYLES)}.")
    if style == "csv":
        return _csv(summary)
    write = _markdown if style == "markdown" else _latex
    grids = [*_beside_paper(summary), *_rows(summary)]
    title = summary.task if summary.size is None else f"{summary.task} ({summary.size})"
    return write(title, grids, _notes(summary))


@dataclass(frozen=True)
class _Grid:
    """A heading, a line of column names and lines of cells; the first columns are words, the others numbers."""

    heading: str
    names: list[str]
    lines: list[list[str]]
    words: int


def _beside_paper(summary: Summary) -> list[_Grid]:
    """The paper's table: its rows, and for each of its columns ours, the paper's number and the difference."""
    table = summary.table
    found = table[table["paper"].notna()]
    grids = []
    for label, rows in found.groupby("paper_table", sort=False):
        headings = [name for name in dict.fromkeys(_HEADINGS) if name in set(rows["paper_heading"])]
        grid: dict[str, list[str]] = {row: [row, ""] for row in rows["paper_row"].unique()}
        names = ["row", "n"]
        for heading in headings:
            column = {row["paper_row"]: row for row in rows[rows["paper_heading"] == heading].to_dict("records")}
            companions = _companions(table, column.values())
            names += [f"{heading}: ours", "paper", "difference", *(f"{heading}: {name}" for name in companions)]
            for name, line in grid.items():
                cell = column.get(name)
                beside = [values.get(name, "-") for values in companions.values()]
                if cell is None:
                    line += ["-", "-", "-", *beside]
                    continue
                line[1] = str(cell["n"])
                line += [_spread(cell), f"{cell['paper']:.3f}", _number("", cell["difference"], sign=True), *beside]
        grids.append(_Grid(f"Beside the paper: {label}", names, list(grid.values()), 1))
    return grids


def _companions(table: pd.DataFrame, cells: Iterable[dict[Any, Any]]) -> dict[str, dict[str, str]]:
    """What must stand beside a metric where something, but not all, is known: by metric, the paper's row and cell."""
    found: dict[str, dict[str, str]] = {}
    for cell in cells:
        same = table
        for name in (*_NAMES, "honors_prior"):
            same = same[same[name] == cell[name]]
        by_metric = {row["metric"]: row for row in same.to_dict("records")}
        for name in companions_of([cell["metric"]])[1:]:
            if name in by_metric and {"K-QD", "P-QD"} & set(by_metric):
                found.setdefault(name, {})[cell["paper_row"]] = _spread(by_metric[name])
    return found


def _rows(summary: Summary) -> list[_Grid]:
    table = summary.table
    if not len(table):
        return []
    compared = [name for name in summary.metrics if table.loc[table["metric"] == name, "change"].notna().any()]
    names = [*_NAMES.values(), "prior honoured", "selection", "n"]
    for name in summary.metrics:
        names += [_percent_name(name)]
        names += [f"{_percent_name(name)} minus {summary.against} [95 %]"] if name in compared else []
    lines = []
    for row, cells in table.groupby([*_NAMES, "honors_prior"], sort=False):
        by_metric = {cell["metric"]: cell for cell in cells.to_dict("records")}
        first = cells.iloc[0]
        line = [*map(str, row[:-1]), "yes" if first["honors_prior"] else "no", str(first["selection"]) or "-"]
        line.append(str(max(cell["n"] for cell in by_metric.values())))
        for name in summary.metrics:
            line.append(_spread(by_metric[name]) if name in by_metric else "-")
            line += [_change(by_metric.get(name))] if name in compared else []
        lines.append(line)
    return [_Grid("All rows: mean (sd over seeds)", names, lines, 6)]


def _notes(summary: Summary) -> list[str]:
    notes = list(summary.notes)
    if summary.table["change"].notna().any():
        notes.insert(
            0,
            f"minus {summary.against}: mean difference in pairs of the same problem and seed, and its 95 % interval by "
            "Student's t over seeds",
        )
    return notes


def _spread(cell: dict[Any, Any]) -> str:
    if cell["given"]:
        return "given"
    sd = "" if math.isnan(cell["sd"]) else f" ({_number(cell['metric'], cell['sd'])})"
    return f"{_number(cell['metric'], cell['mean'])}{sd}"


def _change(cell: dict[Any, Any] | None) -> str:
    if cell is None or cell["given"] or math.isnan(cell["change"]):
        return "-"
    name = cell["metric"]
    ends = "" if math.isnan(cell["low"]) else f" [{_number(name, cell['low'])}, {_number(name, cell['high'])}]"
    return f"{_number(name, cell['change'], sign=True)}{ends}"


def _number(metric: str, value: float, *, sign: bool = False) -> str:
    """Three decimals; improvements in per cent, as the paper's Delta%."""
    plus, digits = "+" if sign else "", 3
    if " delta_" in metric:
        value, digits = 100 * value, 1
    return f"{round(value, digits) + 0.0:{plus}.{digits}f}"  # no -0.000


def _percent_name(metric: str) -> str:
    name, _, base = metric.partition(" delta_")
    if base:
        return f"Delta% {name} ({'direct' if base == 'direct' else 'direct, same prior'})"
    return metric.replace(" direct_under_prior", ", direct, same prior")


# The three styles


def _markdown(title: str, grids: list[_Grid], notes: list[str]) -> str:
    lines = [f"## {title}", ""]
    for grid in grids:
        cells = [[_markdown_text(cell) for cell in line] for line in (grid.names, *grid.lines)]
        widths = [max(3, *map(len, column)) for column in zip(*cells, strict=True)]
        rule = ["-" * width if i < grid.words else "-" * (width - 1) + ":" for i, width in enumerate(widths)]
        lines += [f"### {grid.heading}", ""]
        for line in (cells[0], rule, *cells[1:]):
            padded = [
                cell.ljust(width) if i < grid.words else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(line, widths, strict=True))
            ]
            lines.append(f"| {' | '.join(padded)} |")
        lines.append("")
    lines += [f"- {_markdown_text(note)}" for note in notes]
    return "\n".join(lines).rstrip() + "\n"


def _latex(title: str, grids: list[_Grid], notes: list[str]) -> str:
    lines = [f"% {title}"]
    for grid in grids:
        lines += [
            f"% {grid.heading}",
            rf"\begin{{tabular}}{{{'l' * grid.words}{'r' * (len(grid.names) - grid.words)}}}",
        ]
        lines += [r"\toprule", _latex_line(grid.names), r"\midrule"]
        lines += [*map(_latex_line, grid.lines), r"\bottomrule", r"\end{tabular}", ""]
    lines += [rf"\par{{\footnotesize {_latex_text(note)}}}" for note in notes]
    return "\n".join(lines).rstrip() + "\n"


def _csv(summary: Summary) -> str:
    import pandas as pd

    table = summary.table
    if not len(table):
        line = pd.DataFrame([{"task": summary.task, "size": summary.size or "", "note": "; ".join(summary.notes)}])
        return str(line.to_csv(index=False, lineterminator="\n"))
    rowless = [{"method": name, "n": 0} for name in summary.failed if name not in set(table["method"])]
    if rowless:
        table = table.merge(pd.DataFrame(rowless), how="outer", sort=False)
    added: dict[str, Any] = {"task": summary.task, "size": summary.size, "against": summary.against or ""}
    added["failed_jobs"] = table["method"].map(summary.failed).fillna(0).astype(int)
    return str(table.assign(**added)[[*added, *table]].to_csv(index=False, lineterminator="\n"))


def _markdown_text(text: str) -> str:
    return " ".join(text.replace("|", r"\|").split())


_LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_LATEX |= {character: f"\\{character}" for character in "&%$#_{}"}


def _latex_text(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text).replace("Delta\\%", r"$\Delta$\%")


def _latex_line(cells: list[str]) -> str:
    return " & ".join(map(_latex_text, cells)) + r" \\"
