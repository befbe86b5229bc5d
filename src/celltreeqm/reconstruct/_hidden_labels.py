"""Clades whose truth is known: labelled leaves are treated as if some were not, and their tree is made again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..learners import Fit
from ..learners.adaptive._measure import labelled_trees
from ..parallel import parallel_map
from ..trees import Tree
from ._bootstrap import drawn_columns
from ._edge_table import describe_edges, judge_edges
from ._growing import READINGS, Grower, Grown, grower_of

__all__ = ["JudgedClades", "rerun_with_hidden_labels"]


@dataclass(frozen=True)
class JudgedClades:
    """Clades of runs in which some labels were hidden, and whether they are true.

    Parameters
    ----------
    raw
        float[e], their bootstrap support.
    description
        float[e, k], see :class:`EdgeTable`.
    true
        float[e], 0 or 1.
    run
        int[e], in which run.
    """

    raw: NDArray[np.float64]
    description: NDArray[np.float64]
    true: NDArray[np.float64]
    run: NDArray[np.int64]


class _Run(NamedTuple):
    """A run without some labels: the rows of its leaves, the known tree, and how its trees are made."""

    rows: NDArray[np.int64]
    truth: Tree
    grower: Grower
    seed: int


def rerun_with_hidden_labels(
    fit: Fit,
    values: NDArray[np.float64],
    *,
    runs: int,
    resamples: int,
    shares: Sequence[float],
    seed: int,
    modules: NDArray[np.int64] | None = None,
    workers: int | None = 1,
) -> JudgedClades:
    """Make trees of the labelled leaves alone, without the labels of a random share of them, several times over.

    A run has the leaves of one labelled tree of the prior. Those hidden lose their place in all labelled trees, and
    keep what coarser prior trees (clades) say of them, as unlabelled leaves do in the real run. What the fit chose is
    kept; everything else is learned again.
    """
    labelled = labelled_trees(fit.prior)
    sequences = np.random.SeedSequence(seed).spawn(runs)
    made = []
    for number, sequence in enumerate(sequences):
        generator = np.random.default_rng(sequence)
        truth = labelled[number % len(labelled)]
        m = truth.n_leaves
        hidden = {
            truth.leaves[i]
            for i in generator.permutation(m)[: min(max(1, round(shares[number % len(shares)] * m)), m - 4)].tolist()
        }
        less = []
        for tree in fit.prior:
            gone = hidden if tree in labelled else set()
            kept = [name for name in tree.leaves if name in truth.index and name not in gone]
            if kept:
                less.append(tree.restrict(kept))
        made.append((truth, less, int(generator.integers(2**32))))
    row = {name: i for i, name in enumerate(fit.leaves)}
    start = partial(_start, values=values, grower=grower_of(fit), row=row)
    ready = parallel_map(start, made, workers=workers)
    items = [
        (number, sequence)
        for number, one in enumerate(ready)
        for sequence in np.random.SeedSequence(one.seed).spawn(resamples)
    ]
    grown = parallel_map(partial(_grow, ready=ready, values=values, modules=modules), items, workers=workers)
    raw, described, true, run = [], [], [], []
    for number, one in enumerate(ready):
        some = grown[number * resamples : (number + 1) * resamples]
        tree = one.grower.average(some, values[one.rows], one.seed)
        readings = [[each.readings[i] for each in some] for i in range(len(READINGS))]
        edges = describe_edges(tree, [each.own for each in some], readings, one.grower.prior)
        judged = judge_edges(tree, edges.nodes, one.truth)
        known = np.isfinite(judged)
        raw.append(edges.raw[known])
        described.append(edges.description[known])
        true.append(judged[known])
        run.append(np.full(int(known.sum()), number))
    return JudgedClades(np.concatenate(raw), np.concatenate(described), np.concatenate(true), np.concatenate(run))


def _start(
    planned: tuple[Tree, list[Tree], int], *, values: NDArray[np.float64], grower: Grower, row: dict[str, int]
) -> _Run:
    truth, less, seed = planned
    rows = np.array([row[name] for name in truth.leaves])
    return _Run(rows, truth, grower.on(values[rows], truth.leaves, less, seed), seed)


def _grow(
    item: tuple[int, np.random.SeedSequence],
    *,
    ready: list[_Run],
    values: NDArray[np.float64],
    modules: NDArray[np.int64] | None,
) -> Grown:
    number, sequence = item
    generator = np.random.default_rng(sequence)
    columns = drawn_columns(values.shape[1], modules, generator)
    some = np.ascontiguousarray(values[np.ix_(ready[number].rows, columns)])
    return ready[number].grower.grow(some, int(generator.integers(2**32)))
