"""Quartets as arrays: their topology, their ranks, and which of them a prior knows."""

from ._known_counts import QuartetClassCounts as QuartetClassCounts
from ._known_counts import count_known_quartets as count_known_quartets
from ._known_counts import quartet_class_counts as quartet_class_counts
from ._known_sampling import KnownQuartets as KnownQuartets
from ._known_sampling import sample_known_quartets as sample_known_quartets
from ._partitions import PARTITION_TYPES as PARTITION_TYPES
from ._partitions import partition_counts as partition_counts
from ._partitions import partition_proportions as partition_proportions
from ._partitions import partition_types as partition_types
from ._quartets import Quartets as Quartets
from ._ranking import all_quartets as all_quartets
from ._ranking import rank_quartets as rank_quartets
from ._ranking import unrank_quartets as unrank_quartets
from ._topology import quartet_topology as quartet_topology
from ._topology import quartet_topology_in as quartet_topology_in
