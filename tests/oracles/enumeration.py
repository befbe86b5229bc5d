"""All trees on a few leaves, and those among them that display a prior: compatibility by looking at everything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from celltreeqm.trees import Tree

from .nested import Nested, from_nested
from .quartets import all_quartets, quartet_topology, topology_from_splits
from .splits import splits


def unrooted_binary_trees(leaves: Sequence[str]) -> Iterator[Tree]:
    """Every unrooted binary tree on the leaves once: 1, 1, 1, 3, 15, 105, 945 trees for n = 1 ... 7."""
    assert len(leaves) <= 7
    if len(leaves) == 1:
        yield from_nested(leaves[0])
        return
    first, *others = leaves
    for rest in _rooted_binary(others):
        yield from_nested((first, rest) if isinstance(rest, str) else (first, *rest), leaves)


def rooted_binary_trees(leaves: Sequence[str]) -> Iterator[Tree]:
    """Every rooted binary tree on the leaves once: 1, 1, 3, 15, 105, 945 trees for n = 1 ... 6."""
    assert len(leaves) <= 6
    for nested in _rooted_binary(leaves):
        yield from_nested(nested, leaves, rooted=True)


def displays(tree: Tree, prior: Tree) -> bool:
    """Whether the tree resolves every quartet that the prior resolves, and in the same way."""
    assert set(prior.leaves) <= set(tree.leaves)
    own, given = splits(tree), splits(prior)
    for four in all_quartets(prior.leaves):
        wanted = topology_from_splits(given, four)
        if wanted is not None and topology_from_splits(own, four) != wanted:
            return False
    return True


def trees_displaying(priors: Sequence[Tree], leaves: Iterable[str] | None = None) -> Iterator[Tree]:
    """Every unrooted binary tree on the leaves (by default the priors') that displays all the priors."""
    names = sorted({name for prior in priors for name in prior.leaves} | set(leaves or ()))
    for tree in unrooted_binary_trees(names):
        if all(displays(tree, prior) for prior in priors):
            yield tree


def exists_tree_displaying(priors: Sequence[Tree]) -> bool:
    """Whether the priors are jointly compatible: some tree displays them all."""
    return next(trees_displaying(priors), None) is not None


def conflicting_quartets(first: Tree, second: Tree) -> set[frozenset[str]]:
    """The quartets that both trees resolve, each in another way."""
    found = set()
    for four in all_quartets(set(first.leaves) & set(second.leaves)):
        a, b = quartet_topology(first, four), quartet_topology(second, four)
        if a is not None and b is not None and a != b:
            found.add(four)
    return found


def compatible(first: Tree, second: Tree) -> bool:
    """Whether some tree displays both: for two trees that is so if no quartet of the shared leaves contradicts."""
    return not conflicting_quartets(first, second)


def _rooted_binary(leaves: Sequence[str]) -> Iterator[Nested]:
    """Put the last leaf on every edge (the one above the root too) of every tree of the others."""
    if len(leaves) == 1:
        yield leaves[0]
        return
    for tree in _rooted_binary(leaves[:-1]):
        yield from _with_leaf_on_each_edge(tree, leaves[-1])


def _with_leaf_on_each_edge(tree: Nested, leaf: str) -> Iterator[Nested]:
    yield (tree, leaf)
    if not isinstance(tree, str):
        left, right = tree
        yield from ((longer, right) for longer in _with_leaf_on_each_edge(left, leaf))
        yield from ((left, longer) for longer in _with_leaf_on_each_edge(right, leaf))
