"""The choice between candidates and builders: by held-out labels, or by what halves of the features agree on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...parallel import parallel_map
from ...trees import Tree, quartet_distance, robinson_foulds
from .._fit import BUILDERS, Builder
from ._candidates import CANDIDATES, DIRECT, Candidate
from ._kernels import Matrix
from ._measure import (
    Heritability,
    base_kernel,
    candidate_distances,
    heritability_on_scale,
    labelled_trees,
    resolved_leaves,
    rows_for,
    with_ridge,
)
from ._scales import rescale, suitable_scales

__all__ = ["Choice", "Criterion", "choose"]

Criterion: TypeAlias = Literal["held-out leaves", "split halves", "nothing to choose by", "kept"]

_BUILDERS: tuple[Builder, ...] = ("neighbor_joining", "upgma", "ward")
_QUARTETS_COUNT = 1 / 3  # of what splits count: they are dominated by the deep, easy ones


@dataclass(frozen=True)
class Choice:
    """What was chosen, and by what.

    Parameters
    ----------
    rows
        The best candidates, best first.
    builder
        The builder that did best with its best candidates.
    criterion
        "held-out leaves", "split halves" or "nothing to choose by".
    table
        A row for each candidate and builder: the fields of the candidate, ``builder``, ``splits`` and ``quartets`` (the
        two errors, means over repeats), ``score`` (lower is better) and ``chosen``.
    """

    rows: tuple[Candidate, ...]
    builder: Builder
    criterion: Criterion
    table: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Trial:
    """One fold of labelled leaves to hold out, or one way to halve the features; with the seed of its weights."""

    held_out: frozenset[str] | None
    halves: tuple[NDArray[np.int64], NDArray[np.int64]] | None
    seed: int


def choose(
    values: Matrix,
    leaves: Sequence[str],
    prior: Sequence[Tree],
    *,
    n_best: int,
    folds: int,
    repeats: int,
    generator: np.random.Generator,
    workers: int | None = 1,
) -> Choice:
    """Score candidates with each builder, and take the best few of the best builder.

    With labelled leaves, folds of them lose their label and each candidate rebuilds the tree under what is left of the
    prior; it is scored by how far the tree differs from the known one, in splits and in the quartets that involve a
    held-out leaf. Otherwise each candidate builds trees under the prior from disjoint halves of the features, scored by
    how far they differ from each other in splits. No tree is looked at but those of the prior.

    Parameters
    ----------
    values
        float[n, g], no feature constant.
    leaves
        Their names.
    prior
        Its trees.
    n_best
        How many candidates to take.
    folds, repeats
        Of how many folds one is held out, and how often labelled leaves are cut into folds. Features are halved
        ``2 * repeats`` times.
    generator
        Of folds and halves.
    workers
        Processes; the result is the same for any number.
    """
    labelled = labelled_trees(prior)
    names = resolved_leaves(labelled)
    scales = suitable_scales(values)
    if values.shape[1] < 4 or len(leaves) < 4:
        row: dict[str, Any] = {**vars(DIRECT), "builder": "neighbor_joining", "splits": None, "quartets": None}
        return Choice((DIRECT,), "neighbor_joining", "nothing to choose by", ({**row, "score": 0.0, "chosen": True},))
    trials = (
        _folds(names, min(folds, len(names) // 2), repeats, generator)
        if labelled
        else _halves(values.shape[1], 2 * repeats, generator)
    )
    rows = rows_for(scales, labelled=bool(labelled))
    run = partial(_run, values=values, leaves=tuple(leaves), prior=tuple(prior), rows=rows)
    errors = np.mean(parallel_map(run, trials, workers=workers), axis=0)
    scores = _relative(errors[..., 0])
    if labelled:
        scores = scores + _QUARTETS_COUNT * _relative(errors[..., 1])
    n_best = min(n_best, len(rows))
    of_builder = np.sort(scores, axis=0)[:n_best].mean(axis=0)
    builder = int(of_builder.argmin())
    best = np.argsort(scores[:, builder], kind="stable")[:n_best]
    table = tuple(
        {
            **vars(row),
            "builder": name,
            "splits": float(errors[r, b, 0]),
            "quartets": float(errors[r, b, 1]),
            "score": float(scores[r, b]),
            "chosen": bool(b == builder and r in best),
        }
        for r, row in enumerate(rows)
        for b, name in enumerate(_BUILDERS)
    )
    criterion: Criterion = "held-out leaves" if labelled else "split halves"
    return Choice(tuple(rows[i] for i in best), _BUILDERS[builder], criterion, table)


def _folds(names: Sequence[str], folds: int, repeats: int, generator: np.random.Generator) -> list[Trial]:
    trials = []
    for _ in range(repeats):
        fold = generator.permutation(len(names)) % folds
        for k in range(folds):
            held_out = frozenset(name for name, of in zip(names, fold, strict=True) if of == k)
            trials.append(Trial(held_out, None, int(generator.integers(2**32))))
    return trials


def _halves(g: int, repeats: int, generator: np.random.Generator) -> list[Trial]:
    trials = []
    for _ in range(repeats):
        order = generator.permutation(g)
        halves = (np.sort(order[: g // 2]), np.sort(order[g // 2 :]))
        trials.append(Trial(None, halves, int(generator.integers(2**32))))
    return trials


def _run(
    trial: Trial, *, values: Matrix, leaves: tuple[str, ...], prior: tuple[Tree, ...], rows: tuple[Candidate, ...]
) -> NDArray[np.float64]:
    """float[r, b, 2], the errors in splits and in quartets of each candidate with each builder in one trial."""
    if trial.held_out is not None:
        return _held_out_errors(trial.held_out, trial.seed, values, leaves, prior, rows)
    assert trial.halves is not None
    one, other = (_trees(values[:, half], leaves, prior, rows, trial.seed) for half in trial.halves)
    return np.array(
        [
            [(robinson_foulds(a, b), quartet_distance(a, b)) for a, b in zip(*pair, strict=True)]
            for pair in zip(one, other, strict=True)
        ]
    )


def _held_out_errors(
    held_out: frozenset[str],
    seed: int,
    values: Matrix,
    leaves: tuple[str, ...],
    prior: tuple[Tree, ...],
    rows: tuple[Candidate, ...],
) -> NDArray[np.float64]:
    truths = labelled_trees(prior)
    less = []
    for tree in prior:
        kept = [name for name in tree.leaves if name not in held_out] if tree in truths else list(tree.leaves)
        if kept:
            less.append(tree.restrict(kept))
    errors = np.zeros((len(rows), len(_BUILDERS), 2))
    for r, trees in enumerate(_trees(values, leaves, tuple(less), rows, seed)):
        for b, tree in enumerate(trees):
            errors[r, b] = np.mean([_held_out_error(tree, truth, held_out) for truth in truths], axis=0)
    return errors


def _held_out_error(tree: Tree, truth: Tree, held_out: frozenset[str]) -> tuple[float, float]:
    """In splits, and in quartets that involve a held-out leaf; all others are given, and so agree."""
    found = tree.restrict(truth.leaves)
    n, kept = truth.n_leaves, sum(name not in held_out for name in truth.leaves)
    involved = 1 - _fours(kept) / _fours(n)
    quartets = quartet_distance(found, truth) / involved if involved > 0 else 0.0
    return robinson_foulds(found, truth), quartets


def _fours(n: int) -> float:
    return n * (n - 1) * (n - 2) * (n - 3) / 24


def _trees(
    values: Matrix, leaves: tuple[str, ...], prior: tuple[Tree, ...], rows: tuple[Candidate, ...], seed: int
) -> list[list[Tree]]:
    """The tree of each candidate with each builder."""
    index = {name: i for i, name in enumerate(leaves)}
    labelled = labelled_trees(prior)
    scaled = {scale: rescale(scale, values, values) for scale in {row.scale for row in CANDIDATES if row in rows}}
    heritability: dict[str, Heritability] = {}
    kernels: dict[tuple[str, str, str], Matrix] = {}
    trees = []
    for row in rows:
        if row.weighting == "heritable" and row.scale not in heritability:
            heritability[row.scale] = heritability_on_scale(scaled[row.scale], leaves, prior, seed, quick=True)
        base = (row.scale, row.weighting, row.metric)
        if base not in kernels:
            kernels[base] = base_kernel(row, scaled[row.scale], scaled[row.scale], heritability.get(row.scale))
        distances = candidate_distances(row, with_ridge(kernels[base], row.ridge, labelled, index))
        trees.append([BUILDERS[name](distances, leaves, prior=prior or None) for name in _BUILDERS])
    return trees


def _relative(errors: NDArray[np.float64]) -> NDArray[np.float64]:
    mean = errors.mean()
    return errors / mean if mean > 0 else errors
