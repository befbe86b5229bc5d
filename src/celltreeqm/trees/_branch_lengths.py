"""Branch lengths for a given topology: non-negative least squares on the distances, without the path matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve

from ._matrices import check_distances
from ._splits import leaf_intervals, split_hashes
from ._tree import Tree
from ._tree_checks import check_tree, count_of, some_names

__all__ = ["fit_branch_lengths"]


def fit_branch_lengths(
    tree: Tree, distances: ArrayLike, leaves: Sequence[str] | None = None, *, nonnegative: bool = True
) -> Tree:
    r"""The same tree with the branch lengths that fit a matrix of distances best (the paper's appendix A.2).

    .. math:: \min_{E \ge 0} \; \lVert P_T E - M_{\mathrm{vec}} \rVert_2

    over the :math:`\binom n2` pairs of leaves, where :math:`P_T` says which edges lie between which leaves. It is never
    built: with :math:`A_e` the leaves below edge :math:`e`, the entry of :math:`P_T^\top P_T` for two edges counts the
    pairs that both separate, :math:`|A_e|\,|A_f|` if they are disjoint and :math:`|A_f|\,(n - |A_e|)` if
    :math:`A_f \subseteq A_e`; :math:`P_T^\top M_{\mathrm{vec}}` comes from sums over subtrees in :math:`O(n^2)`. The
    problem is then solved exactly by block principal pivoting (Kim and Park, SIAM J. Sci. Comput. 33, 2011).

    Distances determine one length for each split. Where several edges make the same one (the two edges at a root of two
    children, the edges at single-child nodes) it is divided evenly among them; edges above all leaves get 0.

    Parameters
    ----------
    tree
        The topology; its own lengths are not used. Polytomies and single-child nodes may occur.
    distances
        float[N, N], symmetric, or a DataFrame with the names as its index. Rows of other leaves are left out.
    leaves
        The names of the rows; None means those of the DataFrame, or else ``tree.leaves`` in their order.
    nonnegative
        Whether lengths must not be negative; False gives ordinary least squares.

    Returns
    -------
    Tree
        The tree with new lengths.

    Raises
    ------
    ValueError
        If the distances are no distances, or leaves of the tree have no row.

    Examples
    --------
    >>> tree = Tree([3, 3, 4, 4, -1], ["a", "b", "c"], rooted=True)
    >>> fit_branch_lengths(tree, [[0, 3, 6], [3, 0, 5], [6, 5, 0]]).lengths
    array([2., 1., 2., 2., 0.])
    """
    check_tree(tree)
    if leaves is None and not hasattr(distances, "columns"):
        leaves = tree.leaves
    matrix, names = check_distances(distances, leaves)
    row = {name: i for i, name in enumerate(names)}
    missing = [name for name in tree.leaves if name not in row]
    if missing:
        raise ValueError(
            f"{count_of(len(missing), 'leaf of the tree has', 'leaves of the tree have')} no row in the distances: "
            f"{some_names(missing)}. Add what is missing, or restrict the tree: tree.restrict(leaves)."
        )
    hashes, first, unknown = np.unique(split_hashes(tree), axis=0, return_index=True, return_inverse=True)
    unknown = unknown.reshape(-1)
    separates = hashes.any(axis=1)  # the split of all leaves from none has the hash 0
    order, start, stop = leaf_intervals(tree)
    rows = np.array([row[name] for name in tree.leaves], dtype=np.int64)
    edges = first[separates]
    fitted = np.zeros(len(hashes))
    if len(edges):
        gram = _shared_pairs(start[edges], stop[edges], tree.n_leaves)
        sums = _sums_across(matrix, rows[order], tree.parent, start, stop)[edges]
        fitted[separates] = _solve(gram, sums, nonnegative)
    return replace(tree, lengths=(fitted / np.bincount(unknown))[unknown])


def _shared_pairs(start: NDArray[np.int64], stop: NDArray[np.int64], n: int) -> NDArray[np.float64]:
    """float[k, k], for two edges the number of pairs of leaves that both separate."""
    size = (stop - start).astype(float)
    out = np.outer(size, size)
    holds = (start[:, None] <= start) & (stop <= stop[:, None])  # the leaves below f are among those below e
    out[holds] = np.outer(n - size, size)[holds]
    out[holds.T] = np.outer(size, n - size)[holds.T]
    return out


@njit(cache=True)
def _sums_across(distances, rows, parent, start, stop):  # type: ignore[no-untyped-def]
    """float[m], the sum of the distances between the leaves below a node and all others; ``rows`` in leaf order."""
    n, m = len(rows), len(parent)
    out = np.zeros(m)
    between = np.zeros(m)  # twice the sum of the distances of leaves whose last common ancestor is the node
    for node in range(m - 1):
        up = parent[node]
        if node < n:
            i = rows[start[node]]
            for y in range(n):
                out[node] += distances[i, rows[y]]
        for x in range(start[node], stop[node]):
            i = rows[x]
            for y in range(stop[node], stop[up]):
                between[up] += 2.0 * distances[i, rows[y]]
    for node in range(m - 1):
        if node >= n:
            out[node] -= between[node]
        out[parent[node]] += out[node]
    return out


def _solve(gram: NDArray[np.float64], sums: NDArray[np.float64], nonnegative: bool) -> NDArray[np.float64]:
    """Minimise x'Gx/2 - b'x, subject to x >= 0 if asked, by block principal pivoting.

    All variables start as free, since most lengths are positive. Those that break a sign condition change sides all at
    once, as long as that makes them fewer (with three trials); otherwise the last of them changes alone, which is bound
    to end. The unknowns are scaled to a unit diagonal so that one tolerance serves leaf edges and deep ones.
    """
    scale = np.sqrt(np.diag(gram))
    unit, aim = gram / np.outer(scale, scale), sums / scale
    free = np.ones(len(aim), dtype=bool)
    fewest, trials = len(aim) + 1, 3
    tolerance = 1e-12 * np.abs(aim).max()
    while True:
        x = np.zeros(len(aim))
        if free.any():
            x[free] = cho_solve(cho_factor(unit[np.ix_(free, free)], lower=True, overwrite_a=True), aim[free])
        if not nonnegative:
            return x / scale
        slope = unit @ x - aim
        wrong = np.flatnonzero(np.where(free, x < -tolerance, slope < -tolerance))
        if not len(wrong):
            return np.maximum(x, 0.0) / scale
        if len(wrong) < fewest:
            fewest, trials = len(wrong), 3
        elif trials:
            trials -= 1
        else:
            wrong = wrong[-1:]
        free[wrong] = ~free[wrong]
