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
    members
        The candidates and the builders of their trees; each in turn makes a tree.
    heritability
        For the scales of candidates that weigh by it.
    size
        How many trees.
    seed
        Of the draws.
    """

    fitted: Matrix
    leaves: tuple[str, ...]
    known: tuple[Tree, ...]
    members: tuple[tuple[Candidate, Builder], ...]
    heritability: dict[str, Heritability]
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
    n_members = min(len(bag.members), bag.size)
    run = partial(_grow, bag=bag, prior=tuple(prior), new=new, names=names)
    # One member's trees are grown together, so that its features are scaled once.
    grown = parallel_map(run, [(member, seeds[member::n_members]) for member in range(n_members)], workers=workers)
    return [grown[i % n_members][i // n_members] for i in range(bag.size)]


def mean_paths(trees: Sequence[Tree]) -> NDArray[np.float64]:
    """float[n, n], path lengths in edges, each tree's on a mean of 1 between two leaves, averaged over trees."""
    n = trees[0].n_leaves
    total = np.zeros((n, n))
    for tree in trees:
        paths = tree.unroot().distances(by="topology").astype(np.float64)
        total += paths / (paths.mean() or 1.0)
    return total / len(trees)


def _grow(
    share: tuple[int, Sequence[np.random.SeedSequence]],
    *,
    bag: Bag,
    prior: tuple[Tree, ...],
    new: Matrix | None,
    names: tuple[str, ...],
) -> list[Tree]:
    """The trees of one member of the bag, one a seed."""
    (candidate, builder), seeds = bag.members[share[0]], share[1]
    n, g = bag.fitted.shape
    scaled = scaled_rows(candidate.scale, bag.fitted, new)
    index = {name: i for i, name in enumerate(bag.leaves)}
    labelled = labelled_trees(bag.known)
    trees = []
    for seed in seeds:
        drawn = np.random.default_rng(seed).integers(g, size=g)
        counts = np.bincount(drawn, minlength=g).astype(np.float64)
        kernel = base_kernel(candidate, scaled, scaled[:n], bag.heritability.get(candidate.scale), counts)
        distances = candidate_distances(candidate, with_ridge(kernel, candidate.ridge, labelled, index))
        of_new = distances if new is None else np.ascontiguousarray(distances[n:, n:])
        trees.append(BUILDERS[builder](of_new, names, prior=prior or None))
    return trees
