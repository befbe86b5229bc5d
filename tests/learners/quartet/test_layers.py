"""Dropout and first parameters, which draw from generators of their own."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import binom, kstest
from torch import nn

from celltreeqm.learners.quartet._layers import SeededDropout, draw_parameters, linear

SHARES = (0.1, 0.3, 0.9)


@pytest.mark.parametrize("share", SHARES)
def test_dropout_drops_a_share_and_keeps_the_mean(share):
    values = torch.ones(400, 500)
    dropped = SeededDropout(share, torch.Generator().manual_seed(0)).train()(values)
    zeros = int(dropped.eq(0).sum())
    assert 0.01 < binom.cdf(zeros, values.numel(), share) < 0.99
    torch.testing.assert_close(dropped[dropped != 0].unique(), torch.tensor([1 / (1 - share)]))
    spread = np.sqrt(share / (1 - share) / values.numel())
    assert float(dropped.double().mean()) == pytest.approx(1.0, abs=4 * spread)


def test_dropout_is_off_at_evaluation_and_at_a_share_of_0():
    values = torch.randn(5, 6, generator=torch.Generator().manual_seed(1))
    generator = torch.Generator().manual_seed(0)
    before = generator.get_state()
    assert SeededDropout(0.5, generator).eval()(values) is values
    assert SeededDropout(0.0, generator).train()(values) is values
    assert torch.equal(generator.get_state(), before)


def test_dropout_draws_from_its_generator_alone():
    values = torch.ones(50, 50)
    torch.manual_seed(0)
    before = torch.get_rng_state()
    first, second, other = (
        SeededDropout(0.5, torch.Generator().manual_seed(seed)).train()(values) for seed in (7, 7, 8)
    )
    assert torch.equal(first, second)
    assert not torch.equal(first, other)
    assert torch.equal(torch.get_rng_state(), before)


def test_dropout_keeps_the_type_and_has_the_slope_of_what_it_kept():
    values = torch.ones(30, 30, dtype=torch.float64, requires_grad=True)
    dropped = SeededDropout(0.25, torch.Generator().manual_seed(0)).train()(values)
    assert dropped.dtype == torch.float64
    dropped.sum().backward()
    torch.testing.assert_close(values.grad, dropped.detach())


def test_linear_layers_are_drawn_as_torch_draws_its_own():
    layer, embedding = linear(400, 300), nn.Embedding(300, 400, _weight=torch.zeros(300, 400))
    draw_parameters(nn.ModuleList([layer, embedding]), torch.Generator().manual_seed(0))
    bound = 400**-0.5
    for parameter in layer.parameters():
        assert kstest(parameter.detach().numpy().ravel(), "uniform", (-bound, 2 * bound)).pvalue > 0.01
    assert kstest(embedding.weight.detach().numpy().ravel(), "norm").pvalue > 0.01
    own = nn.Linear(400, 300)
    assert float(own.weight.detach().abs().max()) == pytest.approx(bound, rel=1e-3)  # torch's bound is the same


def test_first_parameters_are_those_of_the_seed():
    def drawn(seed):
        layers = nn.Sequential(linear(5, 4), nn.LayerNorm(4), linear(4, 3, bias=False))
        draw_parameters(layers, torch.Generator().manual_seed(seed))
        return torch.cat([parameter.detach().reshape(-1) for parameter in layers.parameters()])

    assert len(drawn(0)) == 20 + 4 + 8 + 12
    assert torch.equal(drawn(0), drawn(0))
    assert not torch.equal(drawn(0), drawn(1))
