"""Every quartet of a tree one by one: its topology, agreement between two trees, and the classes of a prior."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

from celltreeqm.trees import Tree

from .splits import Split, splits

Quartet = frozenset[str]
Topology = frozenset[frozenset[str]]  # ab|cd as {{a, b}, {c, d}}
QUARTET_CLASSES = ("known", "partial", "unknown_inside", "unknown_outside")


class Agreement(NamedTuple):
    """How often two trees resolve a quartet alike, differently, only one of them, or neither."""

    same: int = 0
    different: int = 0
    only_first: int = 0
    only_second: int = 0
    neither: int = 0


def all_quartets(leaves: Iterable[str]) -> set[Quartet]:
    """Every set of four of the leaves."""
    return {frozenset(four) for four in combinations(sorted(leaves), 4)}


def topology_from_splits(tree_splits: Iterable[Split], quartet: Iterable[str]) -> Topology | None:
    """ab|cd if some split has a, b on one side and c, d on the other, None if no split parts the four two by two."""
    four = frozenset(quartet)
    found = {frozenset(side & four for side in split) for split in tree_splits}
    found = {pairs for pairs in found if sorted(map(len, pairs)) == [2, 2]}
    assert len(found) <= 1, f"the splits contradict each other on {sorted(four)}"
    return found.pop() if found else None


def quartet_topology(tree: Tree, quartet: Iterable[str]) -> Topology | None:
    """The topology of four of the tree's leaves, None if the tree does not resolve them."""
    four = frozenset(quartet)
    assert len(four) == 4
    assert four <= set(tree.leaves)
    return topology_from_splits(splits(tree), four)


def quartet_topologies(tree: Tree) -> dict[Quartet, Topology | None]:
    """The topology of every quartet of the tree's leaves."""
    own = splits(tree)
    return {four: topology_from_splits(own, four) for four in all_quartets(tree.leaves)}


def quartet_agreement(first: Tree, second: Tree, quartets: Iterable[Quartet] | None = None) -> Agreement:
    """Agreement counts over the quartets given, by default all of the leaves that both trees have."""
    one, two = quartet_topologies(first), quartet_topologies(second)
    chosen = all_quartets(set(first.leaves) & set(second.leaves)) if quartets is None else set(quartets)
    counts = Agreement()._asdict()
    for four in chosen:
        a, b = one[four], two[four]
        if a is None and b is None:
            counts["neither"] += 1
        elif b is None:
            counts["only_first"] += 1
        elif a is None:
            counts["only_second"] += 1
        else:
            counts["same" if a == b else "different"] += 1
    return Agreement(**counts)


def quartet_distance(first: Tree, second: Tree, quartets: Iterable[Quartet] | None = None) -> float:
    """The share of quartets on which the trees differ; resolved in only one of them counts as different."""
    counts = quartet_agreement(first, second, quartets)
    total = sum(counts)
    return (counts.different + counts.only_first + counts.only_second) / total if total else float("nan")


def known_quartets(leaves: Iterable[str], priors: Tree | Sequence[Tree] | None) -> dict[Quartet, Topology]:
    """Each quartet of the leaves that at least one prior tree resolves, and how."""
    known: dict[Quartet, Topology] = {}
    inside = set(leaves)
    for prior in _listed(priors):
        for four, topology in quartet_topologies(prior).items():
            if topology is not None and four <= inside:
                agreed = known.setdefault(four, topology)
                assert agreed == topology, f"the priors contradict each other on {sorted(four)}"
    return known


def quartet_classes(leaves: Iterable[str], priors: Tree | Sequence[Tree] | None) -> dict[str, set[Quartet]]:
    """Quartets by what a prior knows of them: "known", "partial", "unknown_inside", "unknown_outside".

    A leaf is in the prior if any of its trees has it. A quartet is known if any tree resolves it; otherwise unknown
    inside if all four leaves are in the prior, unknown outside if none is, partial in between. Priors may contradict
    each other here.
    """
    classes: dict[str, set[Quartet]] = {name: set() for name in QUARTET_CLASSES}
    trees = _listed(priors)
    inside = {name for prior in trees for name in prior.leaves}
    resolved = {four for prior in trees for four, topology in quartet_topologies(prior).items() if topology is not None}
    for four in all_quartets(leaves):
        if four in resolved:
            classes["known"].add(four)
        elif len(four & inside) == 4:
            classes["unknown_inside"].add(four)
        elif len(four & inside) == 0:
            classes["unknown_outside"].add(four)
        else:
            classes["partial"].add(four)
    return classes


def _listed(priors: Tree | Sequence[Tree] | None) -> list[Tree]:
    if priors is None:
        return []
    return [priors] if isinstance(priors, Tree) else list(priors)
