"""Local subtree errors: how well a tree gets the inside of the true clades."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..trees import Tree, robinson_foulds
from ..trees._tree_checks import check_tree
from ._same_leaves import check_leaves_of_truth

__all__ = ["chosen_levels", "local_subtree_errors", "wide_clades"]

_LEAST = 4  # leaves that a clade needs for its inside to have a split


def local_subtree_errors(tree: Tree, truth: Tree, levels: Iterable[int] | None = None) -> dict[int, float]:
    r"""The mean Robinson-Foulds distance inside the true clades at each level.

    With :math:`C_l` the true clades of at least four leaves at level :math:`l` (the paper's "local subtree errors"),

    .. math:: e_l = \frac{1}{|C_l|} \sum_{c \in C_l} \mathrm{RF}(\hat T|_c, T|_c),

    both trees restricted to the clade. Where the clade stands in the tree, and whether the tree has it at all, does not
    count. A level without such clades has NaN.

    Parameters
    ----------
    tree, truth
        Trees on the same leaves; the truth is rooted.
    levels
        By default those of 1, 2 and 3 at which there are such clades.

    Examples
    --------
    >>> from celltreeqm.trees import parse_newick
    >>> truth = parse_newick("((((a,b),c),(d,e)),(((f,g),h),i));")
    >>> tree = parse_newick("((((a,c),b),(d,e)),(((f,g),h),i));")
    >>> local_subtree_errors(tree, truth, [1, 2])
    {1: 0.25, 2: nan}
    """
    check_tree(tree)
    check_tree(truth, "the truth")
    check_leaves_of_truth(tree.leaves, truth, "the tree", _REMEDY)
    return {level: mean_error(tree, wide_clades(truth, level)) for level in chosen_levels(truth, levels)}


def chosen_levels(truth: Tree, levels: Iterable[int] | None) -> tuple[int, ...]:
    """The levels given, or those of 1, 2 and 3 at which a rooted truth has a clade of four leaves."""
    if levels is not None:
        if not isinstance(levels, Iterable):
            raise TypeError(f"levels={levels!r} was given; a sequence of levels was needed: [{levels!r}].")
        return tuple(levels)
    return tuple(level for level in (1, 2, 3) if wide_clades(truth, level)) if truth.rooted else ()


def wide_clades(truth: Tree, level: int) -> tuple[Tree, ...]:
    """The true subtrees of at least four leaves at a level."""
    return tuple(truth.restrict(clade) for clade in truth.clades(level) if len(clade) >= _LEAST)


def mean_error(tree: Tree, clades: Iterable[Tree]) -> float:
    """The mean distance of the tree to each of the clades, restricted to its leaves; NaN if there are none."""
    errors = [robinson_foulds(tree.restrict(clade.leaves), clade) for clade in clades]
    return float(np.mean(errors)) if errors else float("nan")


_REMEDY = "Compare them on the leaves they share: tree.restrict(truth.leaves) and truth.restrict(tree.leaves)."
