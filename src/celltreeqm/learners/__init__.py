"""Learners: each turns features and a prior into a ``Fit``, which gives distances and trees."""

from ._features import check_features as check_features
from ._fit import Fit as Fit
from ._learner import Learner as Learner
from ._learner import learner_by_name as learner_by_name
from ._learner import learner_names as learner_names
from ._learner import register_learner as register_learner
from ._provenance import Provenance as Provenance
from ._saving import load_fit as load_fit
from .adaptive import AdaptiveFit as AdaptiveFit
from .adaptive import AdaptiveLearner as AdaptiveLearner
from .direct import DirectFit as DirectFit
from .direct import DirectLearner as DirectLearner
from .heritable import HeritableFit as HeritableFit
from .heritable import HeritableLearner as HeritableLearner
from .quartet import QuartetFit as QuartetFit
from .quartet import QuartetLearner as QuartetLearner
