"""Cell lineage trees from what cells look like, with priors that are honoured."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import pl as pl
    from .evaluation import Evaluation as Evaluation
    from .evaluation import FeatureRecovery as FeatureRecovery
    from .evaluation import copy_nearest_leaf as copy_nearest_leaf
    from .evaluation import evaluate as evaluate
    from .evaluation import feature_recovery as feature_recovery
    from .evaluation import hold_out_leaves as hold_out_leaves
    from .evaluation import local_subtree_errors as local_subtree_errors
    from .evaluation import permute_cells as permute_cells
    from .evaluation import permute_genes as permute_genes
    from .evaluation import permute_leaves as permute_leaves
    from .evaluation import relative_improvement as relative_improvement
    from .learners import AdaptiveFit as AdaptiveFit
    from .learners import AdaptiveLearner as AdaptiveLearner
    from .learners import DirectFit as DirectFit
    from .learners import DirectLearner as DirectLearner
    from .learners import Fit as Fit
    from .learners import HeritableFit as HeritableFit
    from .learners import HeritableLearner as HeritableLearner
    from .learners import Learner as Learner
    from .learners import Provenance as Provenance
    from .learners import QuartetFit as QuartetFit
    from .learners import QuartetLearner as QuartetLearner
    from .learners import learner_by_name as learner_by_name
    from .learners import learner_names as learner_names
    from .learners import load_fit as load_fit
    from .learners import register_learner as register_learner
    from .parallel import parallel_map as parallel_map
    from .parallel import usable_cpus as usable_cpus
    from .quartets import PARTITION_TYPES as PARTITION_TYPES
    from .quartets import KnownQuartets as KnownQuartets
    from .quartets import QuartetClassCounts as QuartetClassCounts
    from .quartets import Quartets as Quartets
    from .quartets import all_quartets as all_quartets
    from .quartets import count_known_quartets as count_known_quartets
    from .quartets import partition_counts as partition_counts
    from .quartets import partition_proportions as partition_proportions
    from .quartets import partition_types as partition_types
    from .quartets import quartet_class_counts as quartet_class_counts
    from .quartets import quartet_topology as quartet_topology
    from .quartets import quartet_topology_in as quartet_topology_in
    from .quartets import rank_quartets as rank_quartets
    from .quartets import sample_known_quartets as sample_known_quartets
    from .quartets import unrank_quartets as unrank_quartets
    from .reconstruct import Alternative as Alternative
    from .reconstruct import Bootstrap as Bootstrap
    from .reconstruct import Calibration as Calibration
    from .reconstruct import CompetingSignals as CompetingSignals
    from .reconstruct import JudgedSupport as JudgedSupport
    from .reconstruct import LeafStability as LeafStability
    from .reconstruct import NewLeaves as NewLeaves
    from .reconstruct import Placer as Placer
    from .reconstruct import PriorCheck as PriorCheck
    from .reconstruct import Reconstruction as Reconstruction
    from .reconstruct import Reliability as Reliability
    from .reconstruct import SignalTest as SignalTest
    from .reconstruct import Verdict as Verdict
    from .reconstruct import bootstrap_trees as bootstrap_trees
    from .reconstruct import calibrate_support as calibrate_support
    from .reconstruct import check_prior as check_prior
    from .reconstruct import competing_signals as competing_signals
    from .reconstruct import decide as decide
    from .reconstruct import gene_modules as gene_modules
    from .reconstruct import given_edges as given_edges
    from .reconstruct import judge_support as judge_support
    from .reconstruct import leaf_stability as leaf_stability
    from .reconstruct import place_new_leaves as place_new_leaves
    from .reconstruct import prepare_placement as prepare_placement
    from .reconstruct import reconstruct_lineage as reconstruct_lineage
    from .reconstruct import reliability_table as reliability_table
    from .reconstruct import signal_test as signal_test
    from .simulate import SCENARIOS as SCENARIOS
    from .simulate import Scenario as Scenario
    from .simulate import Simulation as Simulation
    from .simulate import random_tree as random_tree
    from .simulate import simulate_alternatives as simulate_alternatives
    from .simulate import simulate_brownian as simulate_brownian
    from .simulate import simulate_counts as simulate_counts
    from .simulate import simulate_scenario as simulate_scenario
    from .trees import CladeFrequencies as CladeFrequencies
    from .trees import Placements as Placements
    from .trees import QuartetAgreement as QuartetAgreement
    from .trees import QuartetClasses as QuartetClasses
    from .trees import ShapeStatistics as ShapeStatistics
    from .trees import Tree as Tree
    from .trees import check_priors as check_priors
    from .trees import clade_frequencies as clade_frequencies
    from .trees import common_refinement as common_refinement
    from .trees import find_conflict as find_conflict
    from .trees import find_placements as find_placements
    from .trees import fit_branch_lengths as fit_branch_lengths
    from .trees import format_newick as format_newick
    from .trees import from_linkage as from_linkage
    from .trees import from_networkx as from_networkx
    from .trees import from_obst as from_obst
    from .trees import majority_consensus as majority_consensus
    from .trees import neighbor_joining as neighbor_joining
    from .trees import parse_newick as parse_newick
    from .trees import place_leaves as place_leaves
    from .trees import prior_at_level as prior_at_level
    from .trees import prior_from_clades as prior_from_clades
    from .trees import prior_from_lineage_names as prior_from_lineage_names
    from .trees import quartet_agreement as quartet_agreement
    from .trees import quartet_agreement_by_class as quartet_agreement_by_class
    from .trees import quartet_distance as quartet_distance
    from .trees import read_newick as read_newick
    from .trees import read_newicks as read_newicks
    from .trees import robinson_foulds as robinson_foulds
    from .trees import root_at as root_at
    from .trees import root_at_midpoint as root_at_midpoint
    from .trees import root_by_outgroup as root_by_outgroup
    from .trees import root_by_prior as root_by_prior
    from .trees import shape_statistics as shape_statistics
    from .trees import to_linkage as to_linkage
    from .trees import to_networkx as to_networkx
    from .trees import to_treedata as to_treedata
    from .trees import upgma as upgma
    from .trees import ward as ward
    from .trees import with_support as with_support
    from .trees import write_newick as write_newick

# What stands where. A room is loaded when one of its names is first used: `import celltreeqm` itself loads nothing.
_CONTENTS = {
    "trees": (
        "CladeFrequencies",
        "Placements",
        "QuartetAgreement",
        "QuartetClasses",
        "ShapeStatistics",
        "Tree",
        "check_priors",
        "clade_frequencies",
        "common_refinement",
        "find_conflict",
        "find_placements",
        "fit_branch_lengths",
        "format_newick",
        "from_linkage",
        "from_networkx",
        "from_obst",
        "majority_consensus",
        "neighbor_joining",
        "parse_newick",
        "place_leaves",
        "prior_at_level",
        "prior_from_clades",
        "prior_from_lineage_names",
        "quartet_agreement",
        "quartet_agreement_by_class",
        "quartet_distance",
        "read_newick",
        "read_newicks",
        "robinson_foulds",
        "root_at",
        "root_at_midpoint",
        "root_by_outgroup",
        "root_by_prior",
        "shape_statistics",
        "to_linkage",
        "to_networkx",
        "to_treedata",
        "upgma",
        "ward",
        "with_support",
        "write_newick",
    ),
    "quartets": (
        "PARTITION_TYPES",
        "KnownQuartets",
        "QuartetClassCounts",
        "Quartets",
        "all_quartets",
        "count_known_quartets",
        "partition_counts",
        "partition_proportions",
        "partition_types",
        "quartet_class_counts",
        "quartet_topology",
        "quartet_topology_in",
        "rank_quartets",
        "sample_known_quartets",
        "unrank_quartets",
    ),
    "simulate": (
        "SCENARIOS",
        "Scenario",
        "Simulation",
        "random_tree",
        "simulate_alternatives",
        "simulate_brownian",
        "simulate_counts",
        "simulate_scenario",
    ),
    "learners": (
        "AdaptiveFit",
        "AdaptiveLearner",
        "DirectFit",
        "DirectLearner",
        "Fit",
        "HeritableFit",
        "HeritableLearner",
        "Learner",
        "Provenance",
        "QuartetFit",
        "QuartetLearner",
        "learner_by_name",
        "learner_names",
        "load_fit",
        "register_learner",
    ),
    "evaluation": (
        "Evaluation",
        "FeatureRecovery",
        "copy_nearest_leaf",
        "evaluate",
        "feature_recovery",
        "hold_out_leaves",
        "local_subtree_errors",
        "permute_cells",
        "permute_genes",
        "permute_leaves",
        "relative_improvement",
    ),
    "reconstruct": (
        "Alternative",
        "Bootstrap",
        "Calibration",
        "CompetingSignals",
        "JudgedSupport",
        "LeafStability",
        "NewLeaves",
        "Placer",
        "PriorCheck",
        "Reconstruction",
        "Reliability",
        "SignalTest",
        "Verdict",
        "bootstrap_trees",
        "calibrate_support",
        "check_prior",
        "competing_signals",
        "decide",
        "gene_modules",
        "given_edges",
        "judge_support",
        "leaf_stability",
        "place_new_leaves",
        "prepare_placement",
        "reconstruct_lineage",
        "reliability_table",
        "signal_test",
    ),
    "parallel": (
        "parallel_map",
        "usable_cpus",
    ),
}
_ROOMS = ("pl",)
_ROOM_OF = {name: room for room, names in _CONTENTS.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _ROOM_OF:
        value = getattr(importlib.import_module(f".{_ROOM_OF[name]}", __name__), name)
    elif name in _ROOMS:
        value = importlib.import_module(f".{name}", __name__)
    elif name == "__version__":
        value = importlib.import_module("importlib.metadata").version(__name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*_ROOM_OF, *_ROOMS, "__version__", *(name for name in globals() if name.startswith("__"))})
