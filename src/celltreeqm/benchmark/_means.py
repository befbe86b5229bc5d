"""Means over seeds of a task's results, the paper's numbers beside them, and paired differences of methods."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._paper import COUNTERPARTS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ROW", "interval", "means_over_seeds", "no_means"]

# What a row of a table is, beside its metric
ROW = ["problem", "control", "method", "features", "honors_prior"]

_VALUES = ["given", "n", "mean", "sd"]
_PAPER = ["paper", "difference", "paper_table", "paper_row", "paper_heading"]
_CHANGE = ["change", "low", "high"]
_TOOK = ["wall_seconds", "cpu_seconds", "peak_memory"]
_LEVEL = 0.95


def means_over_seeds(
    done: pd.DataFrame, metrics: Sequence[str], *, beside_paper: bool, against: str | None
) -> pd.DataFrame:
    """The table of a :class:`Summary`, of results that are all of one task and size and were done."""
    import pandas as pd

    if "realisation" in done:
        done = done.assign(problem=done["problem"].str.replace(r", realisation \d+$", "", regex=True))
    by_seed = done.groupby([*ROW, "seed"], sort=False)[[*metrics, *_TOOK]].mean()
    first = done.drop_duplicates(ROW).set_index(ROW, drop=False).to_dict("index")
    selections = done.groupby(ROW, sort=False)["selection"].agg(lambda those: "; ".join(those.unique())).to_dict()
    lines: list[dict[str, Any]] = []
    for row, seeds in by_seed.groupby(level=ROW, sort=False):
        of_row: dict[str, Any] = dict(zip(ROW, row, strict=True))
        info = {str(name): value for name, value in first[row].items()}
        base = _rows(by_seed, of_row | {"method": against}) if against not in (None, of_row["method"]) else None
        for metric in metrics:
            values = _by_place(seeds[metric])
            if not len(values):
                continue
            line: dict[str, Any] = of_row | {"selection": selections[row], "metric": metric}
            line["given"] = metric in str(info["given"]).split(", ")
            line |= _spread(values) | (_paper(info, metric, float(values.mean())) if beside_paper else {})
            if base is not None:
                line |= _gain(values, _by_place(base[metric]))
            lines.append(line | {name: float(seeds[name].mean()) for name in _TOOK})
    if against is not None:
        lines += _means_of_all(by_seed, metrics, against)
    return _in_order(pd.DataFrame(lines, columns=[*ROW, "selection", "metric", *_VALUES, *_PAPER, *_CHANGE, *_TOOK]))


def no_means() -> pd.DataFrame:
    """The same table without rows."""
    import pandas as pd

    return pd.DataFrame(columns=[*ROW, "selection", "metric", *_VALUES, *_PAPER, *_CHANGE, *_TOOK])


def interval(differences: NDArray[np.float64]) -> tuple[float, float]:
    """Student's 95 % interval of the mean of differences; NaN for fewer than two.

    Examples
    --------
    >>> low, high = interval(np.array([0.1, 0.2, 0.3]))
    >>> round(low, 3), round(high, 3)
    (-0.048, 0.448)
    """
    from scipy.stats import t

    n = len(differences)
    if n < 2:
        return math.nan, math.nan
    half = float(t.ppf((1 + _LEVEL) / 2, n - 1) * differences.std(ddof=1) / math.sqrt(n))
    middle = float(differences.mean())
    return middle - half, middle + half


def _means_of_all(by_seed: pd.DataFrame, metrics: Sequence[str], against: str) -> list[dict[str, Any]]:
    """For each method, seeds' means over problems; the difference is over the problems that both methods have."""
    others = [name for name in ROW if name != "problem"]
    lines = []
    for row, rows in by_seed.groupby(level=others, sort=False):
        of_row = dict(zip(others, row, strict=True))
        base = _rows(by_seed, of_row | {"method": against}) if of_row["method"] != against else None
        for metric in metrics:
            values = _by_place(rows[metric])
            if values.index.get_level_values("problem").nunique() < 2:
                continue
            line = {"problem": "mean of all", **of_row, "selection": "", "metric": metric, "given": False}
            line |= _spread(values.groupby(level="seed").mean())
            if base is not None:
                line |= _gain(values, _by_place(base[metric]))
            lines.append(line)
    return lines


def _rows(by_seed: pd.DataFrame, row: Mapping[str, Any]) -> pd.DataFrame:
    """The seeds of one row, or of one row of every problem."""
    names = by_seed.index
    keep = np.ones(len(by_seed), dtype=bool)
    for name, value in row.items():
        keep &= np.asarray(names.get_level_values(name) == value)
    return by_seed[keep]


def _by_place(values: pd.Series[Any]) -> pd.Series[Any]:
    """The values that there are, by problem and seed."""
    return values.reset_index([name for name in ROW if name != "problem"], drop=True).dropna()


def _spread(values: pd.Series[Any]) -> dict[str, Any]:
    return {"n": len(values), "mean": float(values.mean()), "sd": float(values.std())}


def _gain(values: pd.Series[Any], base: pd.Series[Any]) -> dict[str, float]:
    """The mean over seeds of the differences in pairs, and its interval."""
    differences = (values - base).dropna().groupby(level="seed").mean().to_numpy()
    if not len(differences):
        return {}
    return dict(zip(_CHANGE, (float(differences.mean()), *interval(differences)), strict=True))


def _paper(info: Mapping[str, Any], metric: str, mean: float) -> dict[str, Any]:
    ours = (info["task"], info["method"], info["features"], metric)
    if info["control"] != "none" or info["honors_prior"]:
        return {}
    for found in COUNTERPARTS:
        row = found.row_of(info) if (found.task, found.method, found.features, found.metric) == ours else None
        if row is not None:
            number = found.number(row)
            return dict(zip(_PAPER, (number, mean - number, found.table, row, found.heading), strict=True))
    return {}


def _in_order(table: pd.DataFrame) -> pd.DataFrame:
    """Variants of a problem together, each without and with the prior side by side.

    The true signal alone comes first, then the problem's features; all else stands as it first came.
    """
    values = {name: table[name].unique().tolist() for name in ("problem", "method", "features")}
    values["features"] = ["signal", "given", *values["features"]]
    ranks = {name: {value: i for i, value in enumerate(dict.fromkeys(those))} for name, those in values.items()}
    keys = {f"_{name}": table[name].map(rank) for name, rank in ranks.items()}
    order = table.assign(**keys).sort_values([*keys, "honors_prior"], kind="stable").index
    return table.loc[order].reset_index(drop=True)
