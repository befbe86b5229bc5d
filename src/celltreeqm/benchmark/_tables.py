"""From results to tables: means over seeds, the paper's numbers beside them, and what a method gains on another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..evaluation import with_companions
from ._means import ROW, means_over_seeds, no_means
from ._tasks import SIZES

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Summary", "companions_of", "summarize_results"]

# What is shown unless asked otherwise, where there are values of it
_SHOWN = ("RF", "unlabelled-leaf RF", "QD", "K-QD", "P-QD", "U-QD", "train RF", "recall", "precision", "score AUC")
_SHARES = ("known", "known expected", "partial", "partial expected", "unknown", "unknown expected")
_BASES = (" delta_direct", " delta_under_prior", " direct", " direct_under_prior")


@dataclass(frozen=True, eq=False)
class Summary:
    """The results of one task, summarised; :func:`format_table` writes it.

    Parameters
    ----------
    task, size
        Of what; the size is None where there are no results.
    table
        A row for each problem, method, table of features, whether the prior is honoured, and metric: ``problem``,
        ``control``, ``method``, ``features``, ``honors_prior``, ``selection``, ``metric``; ``given``, whether the prior
        alone decides it; ``n`` seeds, their ``mean`` and ``sd``; ``paper``, ``difference`` (ours minus the paper's),
        ``paper_table``, ``paper_row`` and ``paper_heading`` where it has the number; ``change``, ``low`` and ``high``,
        the mean over seeds of method minus ``against`` and its 95 % t interval; ``wall_seconds``, ``cpu_seconds`` and
        ``peak_memory`` (bytes), means over seeds. The problem "mean of all" is there where there is a method to compare
        with. Realisations of a problem count as one: they are averaged within each seed.
    metrics
        The metrics to show.
    against
        The method that the others are compared with, or None.
    notes
        Sentences that belong under the table: jobs that failed or built nothing, and what is not shown and why.
    failed
        Number of failed jobs by method.
    """

    task: str
    size: str | None
    table: pd.DataFrame
    metrics: tuple[str, ...]
    against: str | None
    notes: tuple[str, ...]
    failed: Mapping[str, int] = field(default_factory=dict)


def summarize_results(
    results: pd.DataFrame,
    task: str,
    *,
    size: str | None = None,
    metrics: str | Sequence[str] | None = None,
    against: str | None = None,
    not_run: str | None = None,
) -> Summary:
    r"""Means over seeds of one task's results, beside the paper's numbers and beside another method.

    Two methods are compared in pairs of the same problem and seed. With :math:`d_s` the difference at seed s (method
    minus ``against``), averaged over the problems in the row "mean of all", because problems of one seed are not
    independent, the interval is Student's,

    .. math:: \bar d \pm t_{0.975,\,n-1}\, s_d / \sqrt n .

    Parameters
    ----------
    results
        As :func:`load_results` gives them.
    task
        The task's name.
    size
        By default the largest for which there are results.
    metrics
        Columns of the results (or one) to show, such as ``"RF delta_under_prior"``; those that must stand beside them
        (:func:`~celltreeqm.evaluation.with_companions`) are added. By default those of the usual ones that have values.
    against
        The method to compare the others with.
    not_run
        Why the task was not run, such as "data missing (...)"; it is said where there are no results.

    Returns
    -------
    Summary
        With a table and its notes.

    Raises
    ------
    ValueError
        If there are no results and no reason why, or if they were made by several other code versions.
    """
    rows = results[results["task"] == task] if len(results) else results
    if not len(rows):
        if not_run is None:
            raise ValueError(f"There are no results of task {task!r} here. Run it: celltreeqm benchmark run {task}")
        return Summary(task, None, no_means(), (), against, (f"not run: {not_run}",))
    there = [name for name in SIZES if (rows["size"] == name).any()]
    chosen = there[-1] if size is None else size
    if chosen not in there:
        raise ValueError(f"There are no results of task {task!r} at size {chosen!r} here, only at {', '.join(there)}.")
    rows, notes = _of_one_code(rows[rows["size"] == chosen])
    failed = rows[rows["status"] == "failed"]
    done = rows[rows["status"] == "done"]
    nothing = done["problem"].isna() if "problem" in done else np.ones(len(done), dtype=bool)
    jobs = rows.drop_duplicates(["method", "seed"])
    notes += _failures(failed, jobs) + _nothing_built(done[nothing], jobs)
    done = done[~nothing]
    counts = {str(method): int(count) for method, count in failed["method"].value_counts().items()}
    if not len(done):
        return Summary(task, chosen, no_means(), (), against, notes, counts)
    done, left_out = _without_copies_of_the_prior(done)
    _check_unique(done, task)
    if against is not None and against not in set(done["method"]):
        methods = ", ".join(done["method"].unique())
        raise ValueError(f"There are no results of method {against!r} to compare with, only of {methods}.")
    shown = _metrics_to_show(done, [metrics] if isinstance(metrics, str) else metrics)
    every = list(dict.fromkeys([*_with_values(done, _columns_known(done)), *shown]))
    table = means_over_seeds(done, every, beside_paper=chosen != "tiny", against=against)
    return Summary(task, chosen, table, shown, against, notes + left_out + _remarks(done, shown), counts)


def companions_of(metrics: Iterable[str]) -> tuple[str, ...]:
    """The metrics and those that must stand beside them, also where they are a base's or the improvement over it."""
    chosen = tuple(dict.fromkeys(metrics))
    added: list[str] = []
    for name in chosen:
        base, ending = _parts(name)
        added += [f"{companion}{ending}" for companion in with_companions([base])[1:]]
    return tuple(dict.fromkeys([*chosen, *added]))


# Which results, and which metrics


def _of_one_code(rows: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The results of this code if there are any, else those of the only other code that made some."""
    stale = rows["stale"].astype(bool)
    files = rows["file"]
    if not stale.all():
        left = files[stale].nunique()
        said = f"{left} {'result' if left == 1 else 'results'} of another code version left out"
        return rows[~stale], (said,) if left else ()
    codes = rows["code"].unique().tolist()
    if len(codes) > 1:
        raise ValueError(
            f"The results are of {len(codes)} other code versions ({', '.join(codes)}), which are not mixed in one "
            "table. Move those of all but one away, or run the task again."
        )
    return rows, (f"made by another code version than this one (source {codes[0]})",)


def _failures(failed: pd.DataFrame, jobs: pd.DataFrame) -> tuple[str, ...]:
    notes = []
    for method, of_method in failed.groupby("method", sort=False):
        total = int((jobs["method"] == method).sum())
        first = of_method.iloc[0]
        notes.append(
            f"{method}: {len(of_method)} of {total} jobs failed and are not in the means "
            f"(seed {first['seed']}: {first['error']})"
        )
    return tuple(notes)


def _nothing_built(rows: pd.DataFrame, jobs: pd.DataFrame) -> tuple[str, ...]:
    notes = []
    for method, of_method in rows.groupby("method", sort=False):
        total = int((jobs["method"] == method).sum())
        notes.append(f"{method}: nothing was built in {len(of_method)} of {total} jobs; the method is for other tasks")
    return tuple(notes)


def _without_copies_of_the_prior(done: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Trees that honour a prior that resolves everything are the prior: supervised problems have no such rows."""
    if "K-QD count" not in done:
        return done, ()
    copies = done["honors_prior"].astype(bool) & (done["K-QD count"] == done["QD count"])
    said = f"{int(copies.sum())} trees under a prior that resolves everything left out: they are the prior itself"
    return done[~copies], (said,) if copies.any() else ()


def _check_unique(done: pd.DataFrame, task: str) -> None:
    twice = done.duplicated([*ROW, "seed"])
    if twice.any():
        row = done[twice].iloc[0]
        raise ValueError(
            f"Two results of task {task!r} are of method {row['method']!r} and seed {row['seed']}, made from different "
            "data files. Move the results of one of them away."
        )


def _columns_known(done: pd.DataFrame) -> list[str]:
    subtrees = [str(name) for name in done if str(name).startswith("subtree RF") and _parts(str(name))[1] == ""]
    plain = [name for name in (*_SHOWN, *subtrees) if not name.endswith(" count")]
    return [*plain, *(f"{name}{ending}" for name in plain for ending in _BASES), *_SHARES]


def _with_values(done: pd.DataFrame, columns: Iterable[str]) -> list[str]:
    return [name for name in columns if name in done and done[name].notna().any()]


def _metrics_to_show(done: pd.DataFrame, metrics: Sequence[str] | None) -> tuple[str, ...]:
    if metrics is None:
        usual = _with_values(done, (*_SHOWN, *_SHARES))
        return tuple(name for name in companions_of(usual) if name in usual)
    for name in metrics:
        if name not in done:
            some = ", ".join(repr(column) for column in _with_values(done, (*_SHOWN, *_SHARES)))
            raise ValueError(f"There is no metric {name!r} in the results; there are {some} and others.")
        if name not in _columns_known(done) and not all(isinstance(value, int | float) for value in done[name]):
            raise ValueError(f"Column {name!r} of the results is not a number, so it has no mean.")
    return tuple(name for name in companions_of(metrics) if name in done and done[name].notna().any())


def _remarks(done: pd.DataFrame, shown: Sequence[str]) -> tuple[str, ...]:
    """Why a metric that must stand beside others does not."""
    absent = [name for name in companions_of(shown) if name not in shown]
    if not absent or "K-QD count" not in done:
        return ()
    if (done["K-QD count"] == done["QD count"]).all():
        return (f"the prior resolves every quartet, so there is nothing unknown to show in {' or '.join(absent)}",)
    return (f"no values of {' and '.join(absent)}: there are no such quartets, or fewer than four such leaves",)


def _parts(metric: str) -> tuple[str, str]:
    """A metric without and with the ending that says which base it is compared with."""
    for ending in _BASES:
        if metric.endswith(ending):
            return metric.removesuffix(ending), ending
    return metric, ""
