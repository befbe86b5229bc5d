"""Trials of candidates: trees without the labels of some leaves, and trees from halves of the features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ...parallel import parallel_map
from ...trees import Tree, quartet_distance, robinson_foulds
from .._fit import BUILDERS, Builder
from ._candidates import Candidate
from ._kernels import Matrix
from ._measure import (
    Heritability,
    base_kernel,
    candidate_distances,
    heritability_on_scale,
    labelled_trees,
    with_ridge,
)
from ._scales import rescale

__all__ = ["TRIED_BUILDERS", "Trial", "cut_into_folds", "cut_into_halves", "run_trials"]

TRIED_BUILDERS: tuple[Builder, ...] = ("neighbor_joining", "upgma", "ward")


@dataclass(frozen=True)
class Trial:
    """Leaves to hold out, or two halves of the features; and the seed of the weights learned in the trial."""

    held_out: frozenset[str] | None
    halves: tuple[NDArray[np.int64], NDArray[np.int64]] | None
    seed: int


def cut_into_folds(names: Sequence[str], folds: int, repeats: int, generator: np.random.Generator) -> list[Trial]:
    """Each fold held out once, in several ways to cut."""
    trials = []
    for _ in range(repeats):
        fold = generator.permutation(len(names)) % folds
        for k in range(folds):
            held_out = frozenset(name for name, of in zip(names, fold, strict=True) if of == k)
            trials.append(Trial(held_out, None, int(generator.integers(2**32))))
    return trials


def cut_into_halves(g: int, repeats: int, generator: np.random.Generator) -> list[Trial]:
    """Several ways to halve g features."""
    trials = []
    for _ in range(repeats):
        order = generator.permutation(g)
        halves = (np.sort(order[: g // 2]), np.sort(order[g // 2 :]))
        trials.append(Trial(None, halves, int(generator.integers(2**32))))
    return trials


def run_trials(
    trials: Sequence[Trial],
    values: Matrix,
    leaves: Sequence[str],
    prior: Sequence[Tree],
    rows: Sequence[Candidate],
    *,
    workers: int | None = 1,
) -> NDArray[np.float64]:
    """float[t, r, b, 2], in each trial the errors of each candidate with each builder.

    In a trial with held-out leaves: how far the tree is from the known one, in splits and in the quartets that involve
    a held-out leaf. In one with halves: how far their trees are from each other in splits, without ridge regression, in
    which they would agree as both know the known leaves; and NaN.
    """
    run = partial(_run, values=values, leaves=tuple(leaves), prior=tuple(prior), rows=tuple(rows))
    return np.array(parallel_map(run, trials, workers=workers))


def _run(
    trial: Trial, *, values: Matrix, leaves: tuple[str, ...], prior: tuple[Tree, ...], rows: tuple[Candidate, ...]
) -> NDArray[np.float64]:
    if trial.held_out is not None:
        return _held_out_errors(trial.held_out, trial.seed, values, leaves, prior, rows)
    assert trial.halves is not None
    one, other = (_trees(values[:, half], leaves, prior, rows, trial.seed, ridge=False) for half in trial.halves)
    errors = np.full((len(rows), len(TRIED_BUILDERS), 2), np.nan)
    for r, pairs in enumerate(zip(one, other, strict=True)):
        errors[r, :, 0] = [robinson_foulds(*pair) for pair in zip(*pairs, strict=True)]
    return errors


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
    errors = np.zeros((len(rows), len(TRIED_BUILDERS), 2))
    for r, trees in enumerate(_trees(values, leaves, tuple(less), rows, seed, ridge=True)):
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
    values: Matrix,
    leaves: tuple[str, ...],
    prior: tuple[Tree, ...],
    rows: tuple[Candidate, ...],
    seed: int,
    *,
    ridge: bool,
) -> list[list[Tree]]:
    """The trees of each candidate with each builder."""
    index = {name: i for i, name in enumerate(leaves)}
    labelled = labelled_trees(prior)
    scaled = {scale: rescale(scale, values, values) for scale in {row.scale for row in rows}}
    heritability: dict[str, Heritability] = {}
    kernels: dict[tuple[str, ...], Matrix] = {}
    trees: dict[tuple[str, ...], list[Tree]] = {}
    out = []
    for row in rows:
        base = (row.scale, row.weighting, row.metric)
        if base not in kernels:
            if row.weighting == "heritable" and row.scale not in heritability:
                heritability[row.scale] = heritability_on_scale(scaled[row.scale], leaves, prior, seed, quick=True)
            kernels[base] = base_kernel(row, scaled[row.scale], scaled[row.scale], heritability.get(row.scale))
        regression = row.ridge if ridge else "none"
        key = (*base, regression)
        if key not in trees:
            distances = candidate_distances(row, with_ridge(kernels[base], regression, labelled, index))
            trees[key] = [BUILDERS[name](distances, leaves, prior=prior or None) for name in TRIED_BUILDERS]
        out.append(trees[key])
    return out
