"""Neighbour joining on plain Euclidean distances has the paper's Robinson-Foulds distances."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from celltreeqm.simulate import simulate_scenario
from celltreeqm.trees import neighbor_joining, robinson_foulds

# The paper's table of simulated data: "Direct Recon.", from signal features alone and from all
DIRECT = {
    "A1": (0.291, 0.615),
    "A2": (0.095, 0.413),
    "A3": (0.028, 0.275),
    "B1": (0.292, 0.534),
    "B2": (0.156, 0.865),
    "B3": (0.157, 0.980),
    "C1": (0.315, 0.567),
    "C2": (0.177, 0.951),
    "C3": (0.144, 0.997),
    "D1": (0.308, 0.663),
    "D2": (0.174, 0.948),
    "D3": (0.144, 0.984),
}


def direct(name, seeds, **changes):
    """Mean Robinson-Foulds distance from signal features and from all of them."""
    results = []
    for seed in seeds:
        simulation = simulate_scenario(name, seed=seed, **changes)
        results.append(
            [
                robinson_foulds(neighbor_joining(squareform(pdist(x)), simulation.leaves), simulation.truth)
                for x in (simulation.features[:, simulation.signal], simulation.features)
            ]
        )
    return np.mean(results, axis=0)


@pytest.mark.parametrize("name", DIRECT)
def test_direct_reconstruction_is_the_papers(name):
    np.testing.assert_allclose(direct(name, range(20)), DIRECT[name], atol=0.06)


@pytest.mark.slow
@pytest.mark.parametrize("name", DIRECT)
def test_direct_reconstruction_is_the_papers_closely(name):
    """The paper's figures are means of five runs, whose own standard error is 0.03 or more in most rows."""
    np.testing.assert_allclose(direct(name, range(1000, 1400)), DIRECT[name], atol=0.03)


@pytest.mark.slow
def test_increments_of_that_variance_are_not_what_the_tables_were_made_with():
    off = [
        name
        for name, paper in DIRECT.items()
        if (np.abs(direct(name, range(1000, 1100), increments="variance") - paper) > 0.06).any()
    ]
    assert off == [name for name in DIRECT if name != "B1"]


def test_the_unsupervised_set_up_is_nearly_the_papers():
    """The paper gives a single run: 0.128 from signal features and 0.968 from all. With the noise's sd of 10 its second
    figure is on the low side of what comes here (0.994 on average, sd 0.006)."""
    signal, noisy = direct("unsupervised", range(20))
    assert signal == pytest.approx(0.128, abs=0.04)
    assert noisy == pytest.approx(0.968, abs=0.03)
