"""Features that mislead: noise, trees other than the lineage, and programs that cells share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..seeds import Seed, seeded_generator
from ..trees import Tree
from ..trees._tree_checks import checked_leaves
from ._brownian import Increments, simulate_brownian
from ._model_trees import Shape, random_tree
from ._numbers import check_whole

__all__ = ["check_groups", "mean_sd", "simulate_alternatives", "simulate_batch", "simulate_cycle", "simulate_noise"]


def mean_sd(signal: NDArray[np.float64]) -> float:
    r"""The paper's :math:`\bar\sigma_{\mathrm{signal}}`: the mean over features of their sd across leaves."""
    return float(signal.std(axis=0).mean())


def simulate_noise(
    n_leaves: int, n_features: int, *, sd: float, mean: float = 0.0, seed: int | np.random.Generator | None = None
) -> NDArray[np.float64]:
    """Independent Gaussian noise, float[n, g]: features without any lineage in them."""
    return np.random.default_rng(seed).normal(mean, sd, size=(n_leaves, n_features))


def simulate_alternatives(
    leaves: Sequence[str],
    n_features: int,
    *,
    n_trees: int = 2,
    shape: Shape = "balanced",
    max_length: float = 2.0,
    increments: Increments = "variance",
    seed: Seed = None,
) -> tuple[NDArray[np.float64], tuple[Tree, ...]]:
    r"""Features that evolve along trees other than the lineage (the paper's *alternative tree noise*).

    The leaves are split at random into T groups of equal size. Each group gets a random tree of its own, its leaves
    shuffled, with lengths drawn from :math:`\mathrm{Uniform}(1, w_{\mathrm{alt}})`. Every feature has a value for every
    leaf, drawn on the tree of the leaf's group; leaves of different groups are independent.

    Parameters
    ----------
    leaves
        The n names of the leaves.
    n_features
        Number of features, g, in all: each of them has values from all T trees.
    n_trees
        Number of groups and trees, T. With one tree all leaves compete for two lineages.
    shape, max_length
        Shape and longest branch, :math:`w_{\mathrm{alt}}`, of the trees, as in :func:`random_tree`.
    increments
        As in :func:`simulate_brownian`.
    seed
        Seed or generator.

    Returns
    -------
    features : float[n, g]
        A row for each leaf, in the order given.
    trees : tuple of Tree
        The T trees, which share no leaf.

    Examples
    --------
    >>> features, trees = simulate_alternatives(["a", "b", "c", "d"], 3, seed=0)
    >>> features.shape, [sorted(tree.leaves) for tree in trees]
    ((4, 3), [['a', 'b'], ['c', 'd']])
    """
    leaves = checked_leaves(leaves)
    n = len(leaves)
    check_groups(n, n_trees, shape)
    of_groups, of_trees, of_features = seeded_generator(seed).spawn(3)
    groups = of_groups.permutation(n).reshape(n_trees, n // n_trees)
    features = np.empty((n, n_features))
    trees = []
    for group, of_tree, of_group in zip(groups, of_trees.spawn(n_trees), of_features.spawn(n_trees), strict=True):
        model = random_tree(len(group), shape=shape, max_length=max_length, seed=of_tree)
        tree = model.rename(dict(zip(model.leaves, (leaves[i] for i in group), strict=True)))
        features[group] = simulate_brownian(tree, n_features, increments=increments, seed=of_group)
        trees.append(tree)
    return features, tuple(trees)


def simulate_batch(
    n_leaves: int, n_features: int, *, n_batches: int, sd: float, seed: int | np.random.Generator | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Features that tell only the batch of a leaf: a Gaussian shift for each batch and feature.

    Leaves are dealt out to the batches at random, as evenly as possible.

    Returns
    -------
    features : float[n, g]
        Of rank at most the number of batches.
    batch : int[n]
        The batch of each leaf, from 0.
    """
    of_leaves, of_shifts = np.random.default_rng(seed).spawn(2)
    batch = of_leaves.permutation(np.arange(n_leaves) % n_batches)
    return of_shifts.normal(scale=sd, size=(n_batches, n_features))[batch], batch


def simulate_cycle(
    n_leaves: int, n_features: int, *, sd: float, seed: int | np.random.Generator | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Features that tell only where a leaf is in the cell cycle.

    Leaf u in phase :math:`\theta_u` and feature i with its peak at :math:`\phi_i`, both uniform, have
    :math:`\sqrt 2\,\mathrm{sd}\,\cos(\theta_u - \phi_i)`.

    Returns
    -------
    features : float[n, g]
        Of rank two.
    phase : float[n]
        The phase of each leaf, uniform between 0 and 2 pi.
    """
    of_leaves, of_peaks = np.random.default_rng(seed).spawn(2)
    phase = of_leaves.uniform(0, 2 * np.pi, size=n_leaves)
    peaks = of_peaks.uniform(0, 2 * np.pi, size=n_features)
    return np.sqrt(2) * sd * np.cos(phase[:, None] - peaks), phase


def check_groups(n_leaves: int, n_trees: int, shape: Shape) -> None:
    """Refuse groups of leaves that cannot all have an alternative tree."""
    check_whole(n_trees, "n_trees")
    if n_trees < 1:
        raise ValueError(f"{n_trees} alternative trees were asked for; at least 1 is needed.")
    size = n_leaves // n_trees
    if n_trees > n_leaves:
        raise ValueError(
            f"{n_trees} alternative trees were asked for and there are {n_leaves} leaves; each tree has a group of "
            f"leaves of its own, two or more. Ask for at most {n_leaves // 2} trees."
        )
    if n_leaves % n_trees or size < 2:
        raise ValueError(
            f"{n_leaves} leaves cannot be split into {n_trees} groups of equal size, two or more leaves each, for as "
            "many alternative trees. Ask for another number of either."
        )
    if shape == "balanced" and size & (size - 1):
        raise ValueError(
            f"{n_leaves} leaves in {n_trees} groups are {size} leaves a group; a balanced alternative tree has a power "
            "of two. Ask for another number of either, or for shape='yule'."
        )
