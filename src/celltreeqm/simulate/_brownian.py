"""Brownian motion along a tree: the heritable signal."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..seeds import Seed, seeded_generator
from ..trees import Tree
from ..trees._tree_checks import check_tree
from ._numbers import check_whole

__all__ = ["Increments", "simulate_brownian"]

Increments: TypeAlias = Literal["variance", "sd"]


def simulate_brownian(
    tree: Tree,
    n_features: int,
    *,
    increments: Increments = "variance",
    heritability: ArrayLike = 1.0,
    seed: Seed = None,
) -> NDArray[np.float64]:
    r"""Features of the leaves that evolve by Brownian motion from zero at the root.

    Along the edge :math:`j` of length :math:`t_j` each feature changes by an independent Gaussian increment
    (the paper's appendix "Cell Lineage Signals"),

    .. math:: S_i(\text{child}) = S_i(\text{parent}) + \mathcal{N}(0, t_j),

    so that the covariance of two leaves is the length of the path that they share from the root, and the expected
    squared distance of two leaves is g times the length of the path between them (the paper's lemma of additivity).
    With ``increments="sd"`` the same holds with each length squared.

    A heritability :math:`\lambda` below one is Pagel's: all covariances of leaves shrink by :math:`\lambda` and the
    variances stay, because a share :math:`1 - \lambda` of each leaf's variance is its own,

    .. math:: \sqrt{\lambda}\, S_i(u) + \sqrt{1 - \lambda}\, \mathcal{N}(0, \operatorname{Var} S_i(u)).

    Parameters
    ----------
    tree
        The model tree, with branch lengths, none of them negative.
    n_features
        Number of features, g.
    increments
        What the length of an edge is of its increment: the ``"variance"``, as the paper's text has it, or the
        ``"sd"``, with which its tables were made.
    heritability
        Pagel's :math:`\lambda`, from 0 to 1: one for all features or one for each.
    seed
        Seed or generator.

    Returns
    -------
    float[n, g]
        A row for each leaf, in the order of ``tree.leaves``.

    Examples
    --------
    >>> from celltreeqm.simulate import random_tree
    >>> simulate_brownian(random_tree(8, seed=0), 3, seed=1).shape
    (8, 3)
    """
    check_tree(tree)
    check_whole(n_features, "n_features")
    if n_features < 1:
        raise ValueError(f"n_features={n_features} was given; at least 1 is needed.")
    if increments not in ("variance", "sd"):
        raise ValueError(f"increments={increments!r} was given; it is 'variance' or 'sd'.")
    lengths = tree.known_lengths()
    if (lengths < 0).any():
        node = int(np.argmin(lengths))
        raise ValueError(
            f"The edge above node {node} has length {lengths[node]:g}; Brownian motion needs lengths of 0 or more."
        )
    share = np.asarray(heritability, dtype=np.float64)
    if share.shape not in ((), (n_features,)):
        raise ValueError(
            f"heritability has shape {share.shape}; one number, or one for each of the {n_features} features, was "
            "needed."
        )
    if not ((share >= 0) & (share <= 1)).all():
        wrong = share[~((share >= 0) & (share <= 1))].flat[0]
        raise ValueError(f"A heritability of {wrong} was given; it lies between 0 and 1.")
    sd = lengths if increments == "sd" else np.sqrt(lengths)
    rng = seeded_generator(seed)
    states = rng.normal(size=(tree.n_nodes, n_features)) * sd[:, None]
    variance = sd**2  # 0 at the root, as its length is
    for node in range(tree.n_nodes - 2, -1, -1):
        states[node] += states[tree.parent[node]]
        variance[node] += variance[tree.parent[node]]
    inherited = states[: tree.n_leaves].copy()
    if (share == 1).all():
        return inherited
    own = rng.normal(size=inherited.shape) * np.sqrt(variance[: tree.n_leaves, None])
    return np.sqrt(share) * inherited + np.sqrt(1 - share) * own
