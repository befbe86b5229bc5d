"""The whole run: fit, signal test, fallback, support, tree, placement and verdict."""

from ._bootstrap import Bootstrap as Bootstrap
from ._bootstrap import bootstrap_trees as bootstrap_trees
from ._calibration import Calibration as Calibration
from ._calibration import calibrate_support as calibrate_support
from ._given import Given as Given
from ._given import given_edges as given_edges
from ._modules import gene_modules as gene_modules
from ._reliability import JudgedSupport as JudgedSupport
from ._reliability import Reliability as Reliability
from ._reliability import judge_support as judge_support
from ._reliability import reliability_table as reliability_table
from ._rogues import LeafStability as LeafStability
from ._rogues import leaf_stability as leaf_stability
