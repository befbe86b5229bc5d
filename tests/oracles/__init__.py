"""Slow and obviously right: what the library computes, once more in plain Python on tuples, frozensets and dicts."""

from .builders import neighbor_joining, upgma
from .enumeration import (
    compatible,
    conflicting_quartets,
    displays,
    exists_tree_displaying,
    rooted_binary_trees,
    trees_displaying,
    unrooted_binary_trees,
)
from .nested import clades_of, from_nested, leaves_of, restrict_nested, to_nested
from .paths import adjacency, path, path_distances
from .quartets import (
    Agreement,
    all_quartets,
    known_quartets,
    quartet_agreement,
    quartet_classes,
    quartet_distance,
    quartet_topologies,
    quartet_topology,
)
from .splits import clades, leaves_below_each, restrict_splits, robinson_foulds, split_lengths, splits

__all__ = [
    "Agreement",
    "adjacency",
    "all_quartets",
    "clades",
    "clades_of",
    "compatible",
    "conflicting_quartets",
    "displays",
    "exists_tree_displaying",
    "from_nested",
    "known_quartets",
    "leaves_below_each",
    "leaves_of",
    "neighbor_joining",
    "path",
    "path_distances",
    "quartet_agreement",
    "quartet_classes",
    "quartet_distance",
    "quartet_topologies",
    "quartet_topology",
    "restrict_nested",
    "restrict_splits",
    "robinson_foulds",
    "rooted_binary_trees",
    "split_lengths",
    "splits",
    "to_nested",
    "trees_displaying",
    "unrooted_binary_trees",
    "upgma",
]
