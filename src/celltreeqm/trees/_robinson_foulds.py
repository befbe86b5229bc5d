"""The Robinson-Foulds distance: which splits two trees do not share."""

from __future__ import annotations

from ._same_leaves import check_same_leaves
from ._splits import split_set
from ._tree import Tree

__all__ = ["robinson_foulds"]


def robinson_foulds(tree: Tree, other: Tree, *, normalized: bool = True) -> float:
    r"""The Robinson-Foulds distance of two trees on the same leaves, as unrooted trees.

    With :math:`S_1` and :math:`S_2` the sets of non-trivial splits of the leaves that the edges make,

    .. math:: \mathrm{RF} = \frac{|S_1 \mathbin{\triangle} S_2|}{|S_1| + |S_2|},

    which is 0 for trees that share all splits, 1 for trees that share none, and 0 where neither has any. Branch lengths
    and the position of the root do not matter. Splits are compared by 128-bit hashes, in time linear in the leaves.

    Parameters
    ----------
    tree, other
        The trees; the order of their leaves does not matter.
    normalized
        Whether to divide by the number of splits; if not, the number of splits that one tree alone has is returned.

    Returns
    -------
    float
        Between 0 and 1, or a whole number with ``normalized=False``.

    Raises
    ------
    ValueError
        If the trees do not have the same leaves.

    Examples
    --------
    >>> from celltreeqm.trees._tree import Tree
    >>> first = Tree([5, 5, 6, 7, 7, 6, 7, -1], ["a", "b", "c", "d", "e"])  # (((a, b), c), d, e)
    >>> second = Tree([5, 6, 5, 7, 7, 6, 7, -1], ["a", "b", "c", "d", "e"])  # (((a, c), b), d, e)
    >>> robinson_foulds(first, second), robinson_foulds(first, second, normalized=False)
    (0.5, 2.0)
    """
    check_same_leaves(tree, other)
    first, second = split_set(tree), split_set(other)
    apart = len(first ^ second)
    if not normalized:
        return float(apart)
    return apart / (len(first) + len(second)) if first or second else 0.0
