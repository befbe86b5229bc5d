"""Bagging: many trees from resampled features, and the mean of the path lengths between their leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ...parallel import parallel_map
from ...trees import Tree
from .._fit import BUILDERS, Builder
from ._candidates import Candidate
from ._kernels import Matrix
from ._measure import Heritability, base_kernel, candidate_distances, labelled_trees, scaled_rows, with_ridge

__all__ = ["Bag", "bag_trees", "mean_paths"]


@dataclass(frozen=True)
class Bag:
    """What bagging needs to know.

    Parameters
    ----------
    fitted
        float[n, g], the features fitted on.
    leaves
        Their names.
    known
        The prior that ridge regression learns from; on these leaves.
    rows
        The candidates; each in turn makes a tree.
    heritability
        For the scales of candidates that weigh by it.
    builder
        Of every tree.
    size
        How many trees.
    seed
        Of the draws: which features are drawn does not depend on which rows a tree is of.
    """

    fitted: Matrix
    leaves: tuple[str, ...]
    known: tuple[Tree, ...]
    rows: tuple[Candidate, ...]
    heritability: dict[str, Heritability]
    builder: Builder
    size: int
    seed: int


def bag_trees(
    bag: Bag,
    prior: Sequence[Tree],
    *,
    new: Matrix | None = None,
    new_leaves: Sequence[str] = (),
    workers: int | None = 1,
) -> list[Tree]:
    """The trees of a bag: of the leaves fitted on, or of the rows of a new matrix.

    Parameters
    ----------
    bag
        What to draw from.
    prior
        What every tree displays; on the leaves of the trees.
    new
        float[m, g], other rows of the same features: they are compared by what was learned on the leaves fitted on.
    new_leaves
        The names of these.
    workers
        Processes; the result is the same for any number.
    """
    seeds = np.random.SeedSequence(bag.seed).spawn(bag.size)
    names = bag.leaves if new is None else tuple(new_leaves)
    draws = [(bag.rows[i % len(bag.rows)], seed) for i, seed in enumerate(seeds)]
    run = partial(_grow, bag=bag, prior=tuple(prior), new=new, names=names)
    # One candidate's draws go together, so that its features are scaled once.
    order = sorted(range(bag.size), key=lambda i: i % len(bag.rows))
    groups = [[draws[i] for i in order if i % len(bag.rows) == r] for r in range(min(len(bag.rows), bag.size))]
    grown = parallel_map(run, groups, workers=workers)
    trees = [tree for group in grown for tree in group]
    return [trees[order.index(i)] for i in range(bag.size)]


def mean_paths(trees: Sequence[Tree]) -> NDArray[np.float64]:
    """float[n, n], path lengths in edges, each tree's on a mean of 1 between two leaves, averaged over trees."""
    n = trees[0].n_leaves
    total = np.zeros((n, n))
    for tree in trees:
        paths = tree.unroot().distances(by="topology").astype(np.float64)
        total += paths / (paths.mean() or 1.0)
    return total / len(trees)


def _grow(
    draws: list[tuple[Candidate, np.random.SeedSequence]],
    *,
    bag: Bag,
    prior: tuple[Tree, ...],
    new: Matrix | None,
    names: tuple[str, ...],
) -> list[Tree]:
    g = bag.fitted.shape[1]
    row = draws[0][0]
    n = len(bag.leaves)
    scaled = scaled_rows(row.scale, bag.fitted, new)
    index = {name: i for i, name in enumerate(bag.leaves)}
    labelled = labelled_trees(bag.known)
    trees = []
    for _, seed in draws:
        drawn = np.random.default_rng(seed).integers(g, size=g)
        counts = np.bincount(drawn, minlength=g).astype(np.float64)
        kernel = base_kernel(row, scaled, scaled[:n], bag.heritability.get(row.scale), counts)
        distances = candidate_distances(row, with_ridge(kernel, row.ridge, labelled, index))
        of_new = distances if new is None else np.ascontiguousarray(distances[n:, n:])
        trees.append(BUILDERS[bag.builder](of_new, names, prior=prior or None))
    return trees
