"""Placing leaves on a fixed backbone by their distances to its leaves, without changing the backbone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from ._branch_lengths import fit_branch_lengths
from ._matrices import check_distances
from ._tree import Tree
from ._tree_checks import as_numbers, check_ordered, check_tree, checked_leaves, count_of, some_names

__all__ = ["Placements", "find_placements", "place_leaves"]

Weights = Literal["uniform", "inverse_square"]


def place_leaves(
    backbone: Tree, distances: ArrayLike, leaves: Sequence[str] | None = None, *, weights: Weights = "inverse_square"
) -> Tree:
    """Add to a backbone all leaves that it does not have, each where its distances to the backbone's leaves fit best.

    Each leaf is placed on its own (see :func:`find_placements`), so the order in which they come does not matter. Those
    on one edge are ordered along it; at equal positions, and at a node, they make a polytomy. Restricted to its own
    leaves, the result is the backbone.

    Parameters
    ----------
    backbone
        A tree of two or more of the leaves. If it has no lengths they are fitted to its part of the distances.
    distances
        float[N, N], symmetric, or a DataFrame with the names as its index. Distances among new leaves are not used.
    leaves
        The names of the rows, the backbone's among them; None takes those of the DataFrame.
    weights
        See :func:`find_placements`.

    Returns
    -------
    Tree
        The backbone's leaves in its order, then the new ones in the order of the rows.

    Examples
    --------
    >>> backbone = Tree([3, 3, 3, -1], ["a", "b", "c"])
    >>> x, y = [0, 2, 4, 3], [2, 0, 4, 3]
    >>> tree = place_leaves(backbone, [x, y, [4, 4, 0, 3], [3, 3, 3, 0]], ["a", "b", "c", "new"])
    >>> tree.splits().astype(int), tree.lengths
    (array([[0, 0, 1, 1]]), array([1., 1., 2., 1., 1., 0.]))
    """
    check_tree(backbone, "the backbone")
    matrix, names = check_distances(distances, leaves)
    row = {name: i for i, name in enumerate(names)}
    missing = [name for name in backbone.leaves if name not in row]
    if missing:
        raise ValueError(
            f"{count_of(len(missing), 'leaf of the backbone has', 'leaves of the backbone have')} no row in the "
            f"distances: {some_names(missing)}. Add what is missing, or restrict it: backbone.restrict(leaves)."
        )
    old = [row[name] for name in backbone.leaves]
    new = [i for i, name in enumerate(names) if name not in backbone.index]
    if backbone.lengths is None:
        backbone = fit_branch_lengths(backbone, matrix[np.ix_(old, old)])
    found = find_placements(backbone, matrix[np.ix_(new, old)], [names[i] for i in new], weights=weights)
    return found.tree()


def find_placements(
    backbone: Tree, distances: ArrayLike, names: Iterable[str], *, weights: Weights = "inverse_square"
) -> Placements:
    r"""For each new leaf the edge, the position on it and the pendant length that fit its distances best.

    With :math:`\delta_i` the distance to the backbone's leaf i, the new leaf at :math:`x` above the lower end of an
    edge of length :math:`l`, on a pendant edge of length :math:`p`, is at :math:`d_i(x) + p` from it in the tree, and

    .. math:: \sum_i w_i \, (\delta_i - d_i(x) - p)^2 \qquad (0 \le x \le l,\; p \ge 0)

    is minimised, with :math:`w_i = 1` or :math:`1 / \delta_i^2` (Balaban, Sarmashghi and Mirarab, Syst. Biol. 69,
    2020). For one edge this is a quadratic in two variables, given by weighted means and sums of squares over the
    leaves on its two sides, which two passes over the tree yield for all edges: O(m) a leaf. The bounds are met
    exactly.

    Parameters
    ----------
    backbone
        A tree of two or more leaves, with branch lengths. An edge of negative length l is open from l to 0.
    distances
        float[q, n], from each new leaf to ``backbone.leaves`` in their order.
    names
        The q names of the new leaves.
    weights
        ``"inverse_square"`` trusts short distances more, as where errors grow with distance; a distance of less than a
        millionth of a leaf's mean distance gets the weight of that. ``"uniform"`` trusts all the same.

    Returns
    -------
    Placements
        Of equally good edges the one of the lowest node is taken.

    Raises
    ------
    ValueError
        If shapes or names do not fit, or distances are negative or not finite.

    Examples
    --------
    >>> backbone = Tree([3, 3, 3, -1], ["a", "b", "c"], [1, 1, 3, 0])
    >>> found = find_placements(backbone, [[3, 3, 3]], ["new"])
    >>> found.edge, found.position, found.pendant, found.residual
    (array([2]), array([2.]), array([1.]), array([0.]))
    """
    check_tree(backbone, "the backbone")
    if backbone.n_leaves < 2:
        raise ValueError("The backbone has one leaf and so no edge; it needs at least two leaves to place others on.")
    along = backbone.known_lengths()
    check_ordered(names, "names")
    given = tuple(names)
    added = checked_leaves(given) if given else ()
    both = [name for name in added if name in backbone.index]
    if both:
        raise ValueError(
            f"{len(both)} of the new names {'is a leaf' if len(both) == 1 else 'are leaves'} of the backbone already: "
            f"{some_names(both)}. Only leaves that it does not have can be placed."
        )
    delta = as_numbers(distances, "The distances")
    if delta.shape != (len(added), backbone.n_leaves):
        raise ValueError(
            f"The distances have shape {delta.shape}; a row for each of the {len(added)} new leaves and a column for "
            f"each of the backbone's {backbone.n_leaves} were needed."
        )
    bad = np.argwhere(~(np.isfinite(delta) & (delta >= 0)))
    if len(bad):
        i, j = bad[0].tolist()
        raise ValueError(
            f"The distance between {added[i]!r} and {backbone.leaves[j]!r} is {delta[i, j]}; distances must be finite "
            "and not negative."
        )
    if weights not in get_args(Weights):
        raise ValueError(f"weights={weights!r} was given; it is 'uniform' or 'inverse_square'.")
    trust = np.ones_like(delta)
    if weights == "inverse_square":
        floor = 1e-6 * delta.mean(axis=1, keepdims=True)
        trust = 1.0 / np.where(floor > 1e-150, np.maximum(delta, floor), 1.0) ** 2  # below that squares vanish
    return Placements(backbone, added, *_place(backbone.parent, along, delta, trust))


@dataclass(frozen=True, eq=False)
class Placements:
    """Where new leaves go on a backbone.

    Attributes
    ----------
    backbone
        The tree, with branch lengths.
    names
        The q names of the new leaves.
    edge
        int[q], the node below the edge that fits each best.
    position
        float[q], how far above that node its pendant edge starts.
    pendant
        float[q], the length of its pendant edge.
    residual
        float[q], the weighted sum of squares that is left.
    residuals
        float[q, m - 1], the least that is possible on each edge (infinite on an edge above all leaves).
    """

    backbone: Tree
    names: tuple[str, ...]
    edge: NDArray[np.int64]
    position: NDArray[np.float64]
    pendant: NDArray[np.float64]
    residual: NDArray[np.float64]
    residuals: NDArray[np.float64]

    def tree(self) -> Tree:
        """The backbone with the new leaves on it.

        Positions closer than a billionth of the backbone's longest edge count as equal, and as a node's where there is
        one; leaves at the same place hang from the same node. Pieces of a divided edge have the support of the whole at
        the lowest piece only.
        """
        backbone, n, q = self.backbone, self.backbone.n_leaves, len(self.names)
        m, along = backbone.n_nodes, backbone.known_lengths()
        near = 1e-9 * float(np.abs(along).max())
        up = np.concatenate([backbone.parent, np.full(q, -1)])  # the new leaves are nodes m ... m + q - 1 for now
        length = np.concatenate([along, self.pendant])
        parents, lengths = up.tolist(), length.tolist()
        lowest_first = np.lexsort((np.arange(q), np.abs(self.position), self.edge))
        on, top, so_far = -1, -1, 0.0  # the edge, the node that its highest piece ends at, and how far up that is
        for k in lowest_first.tolist():
            node, x = int(self.edge[k]), float(self.position[k])
            if node != on:
                on, top, so_far = node, node, 0.0
            above, left = int(backbone.parent[node]), float(along[node]) - x
            if top >= n and abs(x - so_far) <= near:
                parents[m + k] = top
            elif abs(left) <= near:
                parents[m + k] = above
            else:
                parents.append(above)
                lengths.append(left)
                new = len(parents) - 1
                parents[top], lengths[top], parents[m + k] = new, x - so_far, new
                top, so_far = new, x
        inner = list(range(n, m)) + list(range(m + q, len(parents)))
        order = [*range(n), *range(m, m + q), *inner]
        number = np.empty(len(order), dtype=np.int64)
        number[order] = np.arange(len(order))
        blank = len(order) - m
        return Tree(
            [-1 if parents[node] < 0 else int(number[parents[node]]) for node in order],
            backbone.leaves + self.names,
            [lengths[node] for node in order],
            None if backbone.node_names is None else [*backbone.node_names, *[None] * (blank - q)],
            None if backbone.support is None else np.concatenate([backbone.support, np.full(blank, np.nan)])[order],
            rooted=backbone.rooted,
        )


@njit(cache=True)
def _join(a, b, shift):  # type: ignore[no-untyped-def]
    """Weight, weighted mean and sum of squares about it of two sets of values, ``shift`` taken off the second's."""
    weight = a[0] + b[0]
    if b[0] == 0.0:
        return a
    if a[0] == 0.0:
        return b[0], b[1] - shift, b[2]
    step = b[1] - shift - a[1]
    return weight, a[1] + step * (b[0] / weight), a[2] + b[2] + step * step * (a[0] * (b[0] / weight))


@njit(cache=True)
def _place(parent, along, delta, trust):  # type: ignore[no-untyped-def]
    """Best edge, position, pendant length and residual of each query, and the residual of every edge."""
    queries, n = delta.shape
    m = len(parent)
    best = np.zeros(queries, dtype=np.int64)
    position, pendant, residual = np.zeros(queries), np.zeros(queries), np.full(queries, np.inf)
    residuals = np.empty((queries, m - 1))
    none = (0.0, 0.0, 0.0)
    below = [none] * m  # distances less the path from the node, over the leaves below it
    before = [none] * m  # the same as seen from its parent, over its elder siblings' leaves; after: the younger's
    after = [none] * m
    for k in range(queries):
        for node in range(m):
            below[node] = (trust[k, node], delta[k, node], 0.0) if node < n else none
            after[node] = none
        for node in range(m - 1):
            before[node] = below[parent[node]]
            below[parent[node]] = _join(below[parent[node]], below[node], along[node])
        for node in range(m - 2, -1, -1):
            up = parent[node]
            others = _join(before[node], after[up], 0.0)
            if up < m - 1:
                others = _join(others, before[up], along[up])
            after[up] = _join(after[up], below[node], along[node])
            before[node] = others  # from here on: all leaves that are not below, as seen from the parent
        for node in range(m - 1):
            x, p, left = _on_edge(below[node], before[node], along[node])
            residuals[k, node] = left
            if left < residual[k]:
                best[k], position[k], pendant[k], residual[k] = node, x, p, left
    return best, position, pendant, residual, residuals


@njit(cache=True)
def _on_edge(low, high, length):  # type: ignore[no-untyped-def]
    """Position, pendant length and residual of the best point of an edge.

    A leaf below is predicted at p + x, one above at p - x + length (each less its path to the edge's end), so the sum
    is V (p + x - s)^2 + W (p - x - t)^2 and a constant. It is convex: its least within bounds is the free one or on a
    bound.
    """
    v, w = low[0], high[0]
    if w == 0.0:
        return 0.0, 0.0, np.inf
    s, t = low[1], high[1] - length
    share = v / (v + w)
    bottom, top = min(0.0, length), max(0.0, length)
    x, p = 0.5 * (s - t), 0.5 * (s + t)
    if bottom <= x <= top and p >= 0.0:
        return x, p, low[2] + high[2]
    x = min(max(share * s - (1.0 - share) * t, bottom), top)
    p = 0.0
    least = v * (x - s) ** 2 + w * (x + t) ** 2
    for end in (bottom, top):
        free = max(0.0, share * (s - end) + (1.0 - share) * (t + end))
        loss = v * (free + end - s) ** 2 + w * (free - end - t) ** 2
        if loss < least:
            x, p, least = end, free, loss
    return x, p, low[2] + high[2] + least
