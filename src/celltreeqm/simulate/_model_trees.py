"""Model trees: a random shape with random branch lengths, from which features are simulated."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..trees import Tree

__all__ = ["random_tree"]


def random_tree(
    n_leaves: int,
    *,
    shape: Literal["balanced", "yule"] = "balanced",
    max_length: float = 2.0,
    seed: int | np.random.Generator | None = None,
) -> Tree:
    r"""A rooted binary tree with branch lengths drawn from :math:`\mathrm{Uniform}(1, w_{\max})`.

    This is the paper's *Model Tree* (appendix "Simulation: Brownian Motion on Lineage Tree").

    Parameters
    ----------
    n_leaves
        Number of leaves, n, at least 2; a power of two where the tree is balanced. They are called ``t1``, ``t2``, ...
        from left to right, with leading zeros where there are ten or more.
    shape
        ``"balanced"``: the paper's full binary tree, all leaves equally many divisions from the root. ``"yule"``:
        starting from two, a leaf chosen uniformly at random divides until there are n.
    max_length
        The longest branch possible, :math:`w_{\max}`, at least 1.
    seed
        Seed or generator of the shape and the lengths.

    Examples
    --------
    >>> random_tree(4, seed=0)
    Tree(4 leaves, 3 internal nodes, rooted, binary, total length 8.69)
    >>> random_tree(5, shape="yule", max_length=1, seed=0).leaves
    ('t1', 't2', 't3', 't4', 't5')
    """
    if n_leaves < 2:
        raise ValueError(f"n_leaves={n_leaves} was given; a tree to simulate on needs at least 2 leaves.")
    if not 1 <= max_length < np.inf:
        raise ValueError(
            f"max_length={max_length} was given; lengths are drawn between 1 and max_length, so a finite number of at "
            "least 1 is needed."
        )
    rng = np.random.default_rng(seed)
    if shape == "balanced":
        parent = _balanced(n_leaves)
    elif shape == "yule":
        parent = _yule(n_leaves, rng)
    else:
        raise ValueError(f"shape={shape!r} was given; it is 'balanced' or 'yule'.")
    width = len(str(n_leaves))
    leaves = [f"t{i + 1:0{width}d}" for i in range(n_leaves)]
    return Tree(parent, leaves, rng.uniform(1.0, max_length, size=len(parent)), rooted=True)


def _balanced(n: int) -> NDArray[np.int64]:
    if n & (n - 1):
        lower = 1 << (n.bit_length() - 1)
        raise ValueError(
            f"n_leaves={n} was given; a balanced tree has a power of two. Ask for {lower} or {2 * lower}, or for "
            "shape='yule'."
        )
    parent = n + np.arange(2 * n - 1) // 2
    parent[-1] = -1
    return parent


def _yule(n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    tips = [1, 2]  # from left to right; node 0 is the root
    parent = np.full(2 * n - 1, -1)
    parent[[1, 2]] = 0
    for new in range(3, 2 * n - 1, 2):
        chosen = int(rng.integers(len(tips)))
        parent[[new, new + 1]] = tips[chosen]
        tips[chosen : chosen + 1] = [new, new + 1]
    order = np.concatenate([tips, np.setdiff1d(np.arange(2 * n - 1), tips)])
    number = np.argsort(order)
    return np.where(parent[order] < 0, -1, number[parent[order]])
