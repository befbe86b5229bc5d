"""Splits and clades as frozensets of names, and the Robinson-Foulds distance between sets of them."""

from __future__ import annotations

from collections.abc import Iterable

from celltreeqm.trees import Tree

Split = frozenset[frozenset[str]]


def leaves_below_each(tree: Tree) -> list[frozenset[str]]:
    """For every node the names of the leaves whose way to the root passes it."""
    below: list[set[str]] = [set() for _ in tree.parent]
    for leaf, name in enumerate(tree.leaves):
        node = leaf
        while node >= 0:
            below[node].add(name)
            node = int(tree.parent[node])
    return [frozenset(names) for names in below]


def clades(tree: Tree) -> set[frozenset[str]]:
    """The leaf sets of at least two leaves below a node (the whole among them)."""
    return {names for names in leaves_below_each(tree) if len(names) > 1}


def splits(tree: Tree) -> set[Split]:
    """The non-trivial splits: {A, B} with at least two leaves on either side."""
    everything = frozenset(tree.leaves)
    return {
        frozenset([side, everything - side])
        for side in leaves_below_each(tree)
        if len(side) > 1 and len(everything - side) > 1
    }


def restrict_splits(all_splits: Iterable[Split], leaves: Iterable[str]) -> set[Split]:
    """The non-trivial splits that are left of these on some of the leaves."""
    wanted = frozenset(leaves)
    cut = {frozenset(side & wanted for side in split) for split in all_splits}
    return {split for split in cut if len(split) == 2 and min(map(len, split)) > 1}


def split_lengths(tree: Tree) -> dict[Split, float]:
    """The length of the edge (or chain of edges) that makes each split, trivial splits included."""
    everything = frozenset(tree.leaves)
    total: dict[Split, float] = {}
    for side, length in zip(leaves_below_each(tree), tree.lengths.tolist(), strict=True):
        if side != everything:
            split = frozenset([side, everything - side])
            total[split] = total.get(split, 0.0) + length
    return total


def robinson_foulds(first: Tree, second: Tree, *, normalized: bool = True) -> float:
    """``|S1 ^ S2|``, divided by ``|S1| + |S2|`` where normalized; 0 for two trees without splits."""
    one, two = splits(first), splits(second)
    raw = len(one ^ two)
    if not normalized:
        return raw
    return raw / (len(one) + len(two)) if one or two else 0.0
