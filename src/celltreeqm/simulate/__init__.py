"""Simulated lineages: model trees, the features that evolve along them, and what obscures these."""

from ._brownian import simulate_brownian as simulate_brownian
from ._counts import simulate_counts as simulate_counts
from ._features import simulate_alternatives as simulate_alternatives
from ._model_trees import random_tree as random_tree
from ._scenarios import SCENARIOS as SCENARIOS
from ._scenarios import Scenario as Scenario
from ._simulation import Simulation as Simulation
from ._simulation import simulate_scenario as simulate_scenario
