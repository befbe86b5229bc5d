"""The whole run on plain values: fit, signal test, fallback, support, tree, placement and verdict."""

from ._bootstrap import Bootstrap as Bootstrap
from ._bootstrap import bootstrap_trees as bootstrap_trees
from ._calibration import Calibration as Calibration
from ._calibration import calibrate_support as calibrate_support
from ._competing import Alternative as Alternative
from ._competing import CompetingSignals as CompetingSignals
from ._competing import competing_signals as competing_signals
from ._fallback import Verdict as Verdict
from ._fallback import decide as decide
from ._given import Given as Given
from ._given import given_edges as given_edges
from ._modules import gene_modules as gene_modules
from ._place_new import NewLeaves as NewLeaves
from ._place_new import Placer as Placer
from ._place_new import place_new_leaves as place_new_leaves
from ._place_new import prepare_placement as prepare_placement
from ._prior_check import PriorCheck as PriorCheck
from ._prior_check import check_prior as check_prior
from ._reliability import JudgedSupport as JudgedSupport
from ._reliability import Reliability as Reliability
from ._reliability import judge_support as judge_support
from ._reliability import reliability_table as reliability_table
from ._rogues import LeafStability as LeafStability
from ._rogues import leaf_stability as leaf_stability
from ._signal import SignalTest as SignalTest
from ._signal import signal_test as signal_test
