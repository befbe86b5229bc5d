"""The objective: weighted sum of its parts, and what distances behind a gate are held to."""

import pytest
import torch

from celltreeqm.learners.quartet import QuartetLearner, additivity_loss, deviation_loss, pairwise_distances
from celltreeqm.learners.quartet._network import Embedded
from celltreeqm.learners.quartet._objective import Objective

POINTS, FEATURES = torch.randn(2, 12, 40, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
FEATURES = (FEATURES - FEATURES.mean(dim=0)) / FEATURES.std(dim=0, correction=0)
QUARTETS = torch.tensor([[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [0, 4, 8, 11], [2, 6, 9, 10]])


def parts(gated, *, original=None, **settings):
    settings = QuartetLearner(gate_start="none", **settings).settings(n=12, g=40)
    objective = Objective(settings, pairwise_distances(FEATURES), unit=1.0, features=40)
    return settings, objective(Embedded(POINTS, gated, torch.tensor(0.25)), QUARTETS, original)


@pytest.mark.parametrize("deviation_from", ["features", "gated"])
def test_the_loss_is_the_weighted_sum_of_its_parts(deviation_from):
    settings, found = parts(FEATURES, gate="gumbel", deviation_from=deviation_from)
    distances = pairwise_distances(POINTS)
    quartets = additivity_loss(distances, QUARTETS, margin=0.5, close_weight=1.0, push_weight=10.0)
    omega = deviation_loss(distances, pairwise_distances(FEATURES))
    assert found.quartets == pytest.approx(float(quartets.loss))
    assert found.deviation == pytest.approx(float(omega))
    assert settings.gate_weight == 5.0
    assert found.loss == pytest.approx(2 * float(quartets.loss) + 0.01 * float(omega) + 5 * 0.25)


@pytest.mark.parametrize(("on", "factor"), [(40, 1.0), (16, 1.0), (4, 2.0), (1, 4.0)])
@pytest.mark.parametrize("gate", ["gumbel", "sigmoid"])
def test_closing_the_gate_does_not_shrink_what_the_embedding_is_held_to(gate, on, factor):
    gated = FEATURES * (torch.arange(40) < on)
    _, found = parts(gated, gate=gate)
    omega = deviation_loss(pairwise_distances(POINTS), factor * pairwise_distances(gated))
    assert found.deviation == pytest.approx(float(omega))


def test_with_everything_closed_nothing_is_infinite():
    closed = torch.zeros_like(FEATURES, requires_grad=True)
    _, found = parts(closed, gate="gumbel")
    found.loss.backward()
    assert torch.isfinite(found.loss)
    assert torch.isfinite(closed.grad).all()


def test_other_inputs_bring_their_own_distances():
    other = 3 * pairwise_distances(FEATURES)
    _, found = parts(FEATURES, gate="none", deviation_from="features", original=other)
    assert found.deviation == pytest.approx(float(deviation_loss(pairwise_distances(POINTS), other)))
