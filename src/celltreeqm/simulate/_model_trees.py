"""Model trees: a random shape with random branch lengths, from which features are simulated."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from ..seeds import Seed, seeded_generator
from ..trees import Tree
from ._numbers import check_number, check_whole

__all__ = ["Shape", "check_model", "random_tree"]

Shape: TypeAlias = Literal["balanced", "yule", "uniform", "caterpillar"]


def random_tree(
    n_leaves: int,
    *,
    shape: Shape = "balanced",
    max_length: float = 2.0,
    seed: Seed = None,
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
        starting from two, a leaf chosen uniformly at random divides until there are n. ``"uniform"``: every rooted
        binary tree on n labelled leaves is equally likely (PDA, "proportional to distinguishable arrangements"), which
        makes for less balanced trees than Yule's. ``"caterpillar"``: one leaf splits off at every branching.
    max_length
        The longest branch possible, :math:`w_{\max}`, at least 1; with 1 all branches have unit length.
    seed
        Seed or generator of the shape and the lengths.

    Examples
    --------
    >>> random_tree(4, seed=0)
    Tree(4 leaves, 3 internal nodes, rooted, binary, total length 8.69)
    >>> random_tree(5, shape="yule", max_length=1, seed=0).leaves
    ('t1', 't2', 't3', 't4', 't5')
    """
    check_model(n_leaves, shape, max_length)
    rng = seeded_generator(seed)
    if shape == "balanced":
        parent = _balanced(n_leaves)
    elif shape == "yule":
        parent = _yule(n_leaves, rng)
    elif shape == "uniform":
        parent = _uniform(n_leaves, rng)
    else:
        parent = _caterpillar(n_leaves)
    width = len(str(n_leaves))
    leaves = [f"t{i + 1:0{width}d}" for i in range(n_leaves)]
    return Tree(parent, leaves, rng.uniform(1.0, max_length, size=len(parent)), rooted=True)


def check_model(n_leaves: int, shape: Shape, max_length: float) -> None:
    """Refuse what no model tree can be made of."""
    check_whole(n_leaves, "n_leaves")
    check_number(max_length, "max_length")
    if n_leaves < 2:
        raise ValueError(f"n_leaves={n_leaves} was given; a tree to simulate on needs at least 2 leaves.")
    if not 1 <= max_length < np.inf:
        raise ValueError(
            f"max_length={max_length} was given; lengths are drawn between 1 and max_length, so a finite number of at "
            "least 1 is needed."
        )
    if shape not in get_args(Shape):
        raise ValueError(f"shape={shape!r} was given; it is 'balanced', 'yule', 'uniform' or 'caterpillar'.")
    if shape == "balanced" and n_leaves & (n_leaves - 1):
        lower = 1 << (n_leaves.bit_length() - 1)
        raise ValueError(
            f"n_leaves={n_leaves} was given; a balanced tree has a power of two. Ask for {lower} or {2 * lower}, or "
            "for shape='yule'."
        )


def _balanced(n: int) -> NDArray[np.int64]:
    parent = n + np.arange(2 * n - 1) // 2
    parent[-1] = -1
    return parent


def _caterpillar(n: int) -> NDArray[np.int64]:
    parent = n + np.maximum(np.arange(2 * n - 1) - 1, 0) % (n - 1)
    parent[n:-1] = np.arange(n + 1, 2 * n - 1)
    parent[-1] = -1
    return parent


def _uniform(n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    # Each new leaf goes into an edge chosen uniformly, the one above the root included; node v stands for the edge
    # above it. Every labelled tree is thus reached in exactly one way, by as many choices as any other.
    children: list[tuple[int, int] | None] = [None]
    parent = [-1]
    for _ in range(n - 1):
        below = int(rng.integers(len(parent)))
        leaf, above = len(parent), len(parent) + 1
        up = parent[below]
        pair = (below, leaf) if rng.random() < 0.5 else (leaf, below)
        children += [None, pair]
        parent += [above, up]
        parent[below] = above
        if up >= 0:
            first, second = children[up] or (-1, -1)
            children[up] = (above, second) if first == below else (first, above)
    tips, stack = [], [parent.index(-1)]
    while stack:
        node = stack.pop()
        pair_below = children[node]
        if pair_below is None:
            tips.append(node)
        else:
            stack += pair_below[::-1]
    return _leaves_first(np.array(parent), tips)


def _yule(n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    tips = [1, 2]  # from left to right; node 0 is the root
    parent = np.full(2 * n - 1, -1)
    parent[[1, 2]] = 0
    for new in range(3, 2 * n - 1, 2):
        chosen = int(rng.integers(len(tips)))
        parent[[new, new + 1]] = tips[chosen]
        tips[chosen : chosen + 1] = [new, new + 1]
    return _leaves_first(parent, tips)


def _leaves_first(parent: NDArray[np.int64], tips: list[int]) -> NDArray[np.int64]:
    """The same parents with nodes renumbered: first the tips in the order given, then all others."""
    order = np.concatenate([tips, np.setdiff1d(np.arange(len(parent)), tips)])
    number = np.argsort(order)
    return np.where(parent[order] < 0, -1, number[parent[order]])
