"""Heritable weights: each feature counts by how well it follows the lineage."""

from ._fit import HeritableFit as HeritableFit
from ._learner import HeritableLearner as HeritableLearner
from ._likelihood import heritability_likelihoods as heritability_likelihoods
from ._likelihood import tree_spectrum as tree_spectrum
from ._weights import FeatureWeights as FeatureWeights
from ._weights import weigh_features as weigh_features
