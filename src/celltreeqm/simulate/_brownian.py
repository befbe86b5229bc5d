"""Brownian motion along a tree: the heritable signal."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..trees import Tree

__all__ = ["simulate_brownian"]


def simulate_brownian(
    tree: Tree,
    n_features: int,
    *,
    increments: Literal["variance", "sd"] = "variance",
    seed: int | np.random.Generator | None = None,
) -> NDArray[np.float64]:
    r"""Features of the leaves that evolve by Brownian motion from zero at the root.

    Along the edge :math:`j` of length :math:`t_j` each feature changes by an independent Gaussian increment
    (the paper's appendix "Cell Lineage Signals"),

    .. math:: S_i(\text{child}) = S_i(\text{parent}) + \mathcal{N}(0, t_j),

    so that the covariance of two leaves is the length of the path that they share from the root, and the expected
    squared distance of two leaves is g times the length of the path between them.

    Parameters
    ----------
    tree
        The model tree, with branch lengths, none of them negative.
    n_features
        Number of features, g.
    increments
        What the length of an edge is of its increment: the ``"variance"``, as the paper's text has it, or the
        ``"sd"``, with which its tables were made.
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
    sd = lengths if increments == "sd" else np.sqrt(lengths)
    states = np.random.default_rng(seed).normal(size=(tree.n_nodes, n_features)) * sd[:, None]
    for node in range(tree.n_nodes - 2, -1, -1):
        states[node] += states[tree.parent[node]]
    return states[: tree.n_leaves].copy()
