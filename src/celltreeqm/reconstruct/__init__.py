"""The whole run on plain values, and what it says of itself."""

from ._competing import Alternative as Alternative
from ._competing import CompetingSignals as CompetingSignals
from ._competing import competing_signals as competing_signals
from ._place_new import NewLeaves as NewLeaves
from ._place_new import Placer as Placer
from ._place_new import place_new_leaves as place_new_leaves
from ._place_new import prepare_placement as prepare_placement
from ._prior_check import PriorCheck as PriorCheck
from ._prior_check import check_prior as check_prior
