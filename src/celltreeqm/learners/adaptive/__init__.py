"""The default learner: scale, weights, distance and builder chosen by what the data can tell, and bagged."""

from ._candidates import CANDIDATES as CANDIDATES
from ._candidates import Candidate as Candidate
from ._fit import AdaptiveFit as AdaptiveFit
from ._learner import AdaptiveLearner as AdaptiveLearner
