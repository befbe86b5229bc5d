"""Gates: what they keep, how often, and whether their parameters can learn it."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import chi2

from celltreeqm.learners.quartet._gates import make_gate
from celltreeqm.learners.quartet._layers import draw_parameters
from tests import oracles

GATED = ("gumbel", "sigmoid")


def gate_of(kind, features, odds=None, seed=0):
    """A gate with its first parameters; with ``odds`` exactly these log odds, whatever its network says."""
    gate = make_gate(kind, features, generator=torch.Generator().manual_seed(seed))
    draw_parameters(gate, torch.Generator().manual_seed(seed))
    if odds is not None:
        if kind == "gumbel":
            for parameter in gate.logits.parameters():
                parameter.data.zero_()
        gate.offset = torch.as_tensor(odds, dtype=torch.float32)
    return gate


def on_of(gate):
    """float[g], the gate as it is applied once to features that are all 1."""
    return gate(torch.ones(1, len(gate.scores()))).features[0].detach()


# Gumbel


def test_in_training_a_feature_is_on_or_off():
    gate = gate_of("gumbel", 300).train()
    gate.temperature = 0.7
    drawn = torch.stack([on_of(gate) for _ in range(20)])
    assert set(drawn.unique().tolist()) == {0.0, 1.0}
    assert (drawn.std(dim=0) > 0).sum() > 280  # each step draws anew


def test_all_leaves_have_the_same_features_on():
    gate = gate_of("gumbel", 40).train()
    values = torch.randn(7, 40, generator=torch.Generator().manual_seed(1))
    found = gate(values)
    kept = found.features != 0
    assert kept.eq(kept[:1]).all()
    torch.testing.assert_close(found.features[:, kept[0]], values[:, kept[0]], rtol=0, atol=0)
    assert found.penalty.item() == pytest.approx(oracles.sparsity(kept[0].double().tolist()))


@pytest.mark.parametrize("temperature", [1.0, 0.1])
def test_features_are_on_as_often_as_their_odds_say(temperature):
    odds, alike, draws = np.linspace(-3, 3, 150), 100, 30
    gate = gate_of("gumbel", len(odds) * alike, np.repeat(odds, alike), seed=3).train()
    gate.temperature = temperature
    on = sum(on_of(gate) for _ in range(draws)).reshape(len(odds), alike).sum(dim=1).numpy()
    expected, times = expit(odds), alike * draws
    statistic = ((on - times * expected) ** 2 / (times * expected * (1 - expected))).sum()
    assert 0.01 < chi2.sf(statistic, len(odds)) < 0.99
    np.testing.assert_allclose(gate.scores().detach(), np.repeat(expected, alike), rtol=1e-5)


@pytest.mark.parametrize("odds, temperature", [(0.0, 1.0), (-2.0, 0.5), (1.5, 2.0)])
def test_the_mean_slope_is_that_of_the_softmax_with_gumbel_noise(odds, temperature):
    """Slopes of sigmoid((odds + noise) / temperature), whose noise, a difference of two Gumbels, is logistic."""

    def slope(noise):
        soft = expit((odds + noise) / temperature)
        return soft * (1 - soft) / temperature * expit(noise) * expit(-noise)

    expected = quad(slope, -40, 40)[0]
    g, times = 4000, 10
    gate = gate_of("gumbel", g, np.full(g, odds)).train()
    gate.temperature = temperature
    gate.offset.requires_grad_()
    for _ in range(times):
        (gate(torch.ones(1, g)).penalty * g).backward()
    slopes = gate.offset.grad.double().numpy() / times
    assert slopes.mean() == pytest.approx(expected, abs=4 * slopes.std() / np.sqrt(g))
    assert slopes.std() / np.sqrt(g) < 0.02 * expected


def test_slopes_reach_embedding_and_both_layers_through_features_and_penalty():
    values = torch.randn(5, 30, generator=torch.Generator().manual_seed(2))
    for part in ("features", "penalty"):
        gate = gate_of("gumbel", 30).train()
        getattr(gate(values), part).sum().backward()
        for name, parameter in gate.named_parameters():
            assert parameter.grad.isfinite().all(), name
            assert parameter.grad.abs().max() > 0, name
        assert gate.embedding.weight.grad.abs().amax(dim=1).gt(0).sum() > 20  # nearly every feature learns


def test_at_evaluation_the_more_likely_is_taken_and_nothing_is_drawn():
    gate = gate_of("gumbel", 200).eval()
    before = gate.generator.get_state()
    likely = (gate.log_odds() > 0).float()
    assert 20 < likely.sum() < 180
    for _ in range(2):
        torch.testing.assert_close(on_of(gate), likely, rtol=0, atol=0)
    assert gate.selected().eq(likely > 0).all()
    assert gate.selected().eq(gate.scores() > 0.5).all()
    assert torch.equal(gate.generator.get_state(), before)


def test_log_odds_are_on_against_off():
    gate = gate_of("gumbel", 6)
    gate.logits.weight.data.zero_()
    gate.logits.bias.data = torch.tensor([1.0, 3.0])
    torch.testing.assert_close(gate.log_odds(), torch.full((6,), 2.0))
    torch.testing.assert_close(gate.scores(), torch.full((6,), float(expit(2.0))))


def test_the_same_generator_draws_the_same_gates():
    first, second, other = (gate_of("gumbel", 50, np.zeros(50), seed=seed).train() for seed in (0, 0, 1))
    assert torch.equal(on_of(first), on_of(second))
    assert not torch.equal(on_of(first), on_of(other))


# Four stay on


def test_with_odds_against_all_features_the_four_likeliest_stay_on():
    odds = -40.0 - np.random.default_rng(0).permutation(30)
    best = set(np.argsort(-odds)[:4].tolist())
    for kind in GATED:
        gate = gate_of(kind, 30, odds).eval()
        assert set(gate.selected().nonzero().squeeze(1).tolist()) == best
    gate = gate_of("gumbel", 30, odds)
    assert set(on_of(gate.eval()).nonzero().squeeze(1).tolist()) == best
    gate.train()
    for _ in range(20):
        found = gate(torch.ones(1, 30))
        assert found.features.sum() == 4
        assert found.penalty.item() == pytest.approx(4 / 30)


def test_fewer_than_four_features_all_stay_on():
    for kind in GATED:
        assert gate_of(kind, 3, np.full(3, -9.0)).selected().all()
    for training in (True, False):
        assert on_of(gate_of("gumbel", 3, np.full(3, -9.0)).train(training)).eq(1).all()


def test_a_penalty_cannot_switch_off_everything():
    gate = gate_of("gumbel", 60).train()
    optimizer = torch.optim.Adam(gate.parameters(), lr=0.1)
    for _ in range(40):
        optimizer.zero_grad()
        gate(torch.ones(1, 60)).penalty.backward()
        optimizer.step()
    assert gate.scores().max() < 0.5
    assert on_of(gate).sum() >= 4
    assert on_of(gate.eval()).sum() == 4


# Sigmoid


def test_sigmoid_multiplies_by_a_factor_and_its_penalty_is_their_mean():
    odds = np.linspace(-2, 2, 9)
    gate = gate_of("sigmoid", 9, odds)
    values = torch.randn(4, 9, generator=torch.Generator().manual_seed(0))
    for training in (True, False):
        found = gate.train(training)(values)
        np.testing.assert_allclose(found.features.detach(), values.numpy() * expit(odds), rtol=1e-5)
        assert found.penalty.item() == pytest.approx(oracles.sparsity(expit(odds).tolist()))
    assert gate.selected().tolist() == (odds > 0).tolist()
    found.penalty.backward()
    np.testing.assert_allclose(gate.log_odds.grad, expit(odds) * expit(-odds) / 9, rtol=1e-5)


def test_sigmoid_starts_with_a_half_for_all():
    assert gate_of("sigmoid", 5).scores().eq(0.5).all()


# Linear


def test_linear_starts_as_no_gate_and_for_nothing():
    gate = gate_of("linear", 6)
    values = torch.randn(4, 6, generator=torch.Generator().manual_seed(0))
    found = gate(values)
    torch.testing.assert_close(found.features, values)
    assert found.penalty.item() == 0
    assert gate.selected().all()
    assert gate.scores().eq(1).all()


def test_linear_is_the_matrix_times_each_leaf():
    gate = gate_of("linear", 5)
    matrix = np.random.default_rng(0).normal(size=(5, 5))
    gate.matrix.data = torch.from_numpy(matrix)
    values = np.random.default_rng(1).normal(size=(3, 5))
    found = gate(torch.from_numpy(values))
    np.testing.assert_allclose(found.features.detach(), np.stack([matrix @ leaf for leaf in values]))
    assert found.penalty.item() == pytest.approx(oracles.distance_to_identity(matrix.tolist()))


def test_linear_has_selected_what_keeps_at_least_half_of_its_length():
    gate = gate_of("linear", 4)
    gate.matrix.data = torch.tensor(
        [
            [0.3, 0.0, 0.0, 0.0],
            [0.4, 0.6, 0.0, 0.0],
            [0.0, 0.0, 0.0, 0.3],
            [0.0, 0.0, 0.0, -0.3],
        ]
    )
    torch.testing.assert_close(gate.scores(), torch.tensor([0.5, 0.6, 0.0, 0.3 * 2**0.5]))
    assert gate.selected().tolist() == [True, True, False, False]
    # A score is how long a leaf is in GX that has this feature alone.
    torch.testing.assert_close(gate(torch.eye(4)).features.norm(dim=1), gate.scores())


# None


def test_no_gate_is_no_gate():
    gate = gate_of("none", 5)
    values = torch.randn(4, 5, generator=torch.Generator().manual_seed(0))
    found = gate(values)
    assert found.features is values
    assert found.penalty.item() == 0
    assert gate.selected().tolist() == [True] * 5
    assert list(gate.parameters()) == []
