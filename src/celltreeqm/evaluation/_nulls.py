"""Nulls: the same data with the lineage destroyed, each in another way (the paper's label permutation experiments).

Trees of nulls are built with ``honor_prior=False`` and their baselines computed anew on the permuted data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

from ..learners._features import FeatureMatrix, feature_values
from ..seeds import Seed, seeded_generator
from ..trees import Tree
from ..trees._tree_checks import check_tree, some_names

__all__ = ["permute_cells", "permute_genes", "permute_leaves"]


@overload
def permute_leaves(trees: Tree, seed: Seed = None) -> Tree: ...


@overload
def permute_leaves(trees: Sequence[Tree], seed: Seed = None) -> tuple[Tree, ...]: ...


def permute_leaves(trees: Tree | Sequence[Tree], seed: Seed = None) -> Tree | tuple[Tree, ...]:
    """The tree with the names of its leaves shuffled: the paper's "-p".

    Everything is then learned from, and scored against, the permuted tree, its direct baseline too; the features stay
    as they are. What is left of a score has nothing to do with the lineage.

    Parameters
    ----------
    trees
        The true tree; or the true tree and then the prior's, which are all permuted alike and whose leaves must be
        among those of the first.
    seed
        Seed or generator.

    Returns
    -------
    Tree or tuple[Tree, ...]
        As given. Leaves are numbered in the order of the tree given, so that the rows of a feature matrix keep their
        names.

    Examples
    --------
    >>> from celltreeqm.trees import parse_newick
    >>> truth = parse_newick("(((a,b),c),((d,e),f));")
    >>> permuted, prior = permute_leaves([truth, truth.restrict(["a", "b", "d", "f"])], seed=1)
    >>> permuted.leaves == truth.leaves, permuted.same_topology(truth)
    (True, False)
    >>> prior.same_topology(permuted.restrict(prior.leaves))
    True
    """
    several = (trees,) if isinstance(trees, Tree) else tuple(trees)
    if not several:
        raise ValueError("No trees were given; at least the true tree was needed.")
    for tree in several:
        check_tree(tree)
    names = several[0].leaves
    drawn = seeded_generator(seed).permutation(len(names)).tolist()
    new_name = {name: names[i] for name, i in zip(names, drawn, strict=True)}
    for i, tree in enumerate(several[1:], start=2):
        foreign = [name for name in tree.leaves if name not in new_name]
        if foreign:
            raise ValueError(
                f"{len(foreign)} leaves of tree {i} are not in the first: {some_names(foreign)}. Give the tree of all "
                "leaves first."
            )
    permuted = tuple(_in_order_of(tree.rename(new_name), names) for tree in several)
    return permuted[0] if isinstance(trees, Tree) else permuted


def permute_cells(features: FeatureMatrix, seed: Seed = None) -> NDArray[np.float64]:
    """float[n, g], the features with the rows shuffled within each feature, each feature on its own.

    Every feature keeps its values, and loses which leaf has which; so features no longer vary together.

    Examples
    --------
    >>> permute_cells([[1, 10], [2, 20], [3, 30]], seed=0).sum(axis=0)
    array([ 6., 60.])
    """
    return seeded_generator(seed).permuted(feature_values(features)[0], axis=0)


def permute_genes(features: FeatureMatrix, seed: Seed = None) -> NDArray[np.float64]:
    """float[n, g], the features with the entries shuffled within each cell, each cell on its own.

    Every cell keeps its values, and loses which feature has which; sums and norms over a cell's features survive.

    Examples
    --------
    >>> permute_genes([[1, 10], [2, 20], [3, 30]], seed=0).sum(axis=1)
    array([11., 22., 33.])
    """
    return seeded_generator(seed).permuted(feature_values(features)[0], axis=1)


def _in_order_of(tree: Tree, names: Sequence[str]) -> Tree:
    return tree.reorder([name for name in names if name in tree.index])
