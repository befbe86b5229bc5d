"""Simulated lineages: model trees and the features that evolve along them."""

from ._brownian import simulate_brownian as simulate_brownian
from ._model_trees import random_tree as random_tree
