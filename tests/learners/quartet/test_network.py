"""The network as a whole: order of its parts, first parameters, and that nothing global is drawn from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from celltreeqm.learners.quartet import QuartetLearner, pairwise_distances
from celltreeqm.learners.quartet._network import FlatParameters, Network
from celltreeqm.trees import parse_newick

N, G = 10, 14
ENCODERS = ("transformer", "fc", "linear")
GATES = ("none", "gumbel", "sigmoid", "linear")
SMALL = {"layers": 2, "width": 8, "dimensions": 6}


def settings_of(**given):
    return QuartetLearner(preset="weak-simulation", **(SMALL | given)).settings(N, G)


def network_of(seed=0, start=None, **given):
    settings = settings_of(data_dropout=0.0, metric_dropout=0.0)
    network = Network(G, replace(settings, **given), torch.Generator().manual_seed(seed))
    network.draw(seed, start)
    return network.eval()


def leaves_of(n=N, g=G, seed=1):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(n, g)).astype(np.float32))


# Order of the parts


@pytest.mark.parametrize("gate", ["none", "gumbel", "sigmoid"])
def test_the_encoder_sees_what_the_gate_lets_through(gate):
    network, leaves = network_of(gate=gate), leaves_of()
    if gate != "none":
        network.gate.offset = torch.where(torch.arange(G) < 6, 60.0, -60.0)
    found = network(leaves)
    open_ = leaves if gate == "none" else leaves * (torch.arange(G) < 6)
    torch.testing.assert_close(found.gated, open_)
    torch.testing.assert_close(found.points, network.encoder(open_))
    assert found.penalty.item() == pytest.approx(0.0 if gate == "none" else 6 / G)


def test_the_linear_gate_acts_on_what_is_compared_and_not_on_what_is_encoded():
    network, leaves = network_of(gate="linear"), leaves_of()
    network.gate.matrix.data = leaves_of(G, G, seed=2)
    found = network(leaves)
    torch.testing.assert_close(found.points, network.encoder(leaves))
    torch.testing.assert_close(found.gated, leaves @ network.gate.matrix.T)


def test_metric_dropout_comes_after_the_encoder_and_in_training_alone():
    network, leaves = network_of(metric_dropout=0.5), leaves_of(200)
    points = network(leaves).points
    dropped = network.train()(leaves).points
    kept = dropped != 0
    assert 0.4 < kept.float().mean() < 0.6
    torch.testing.assert_close(dropped[kept], 2 * points[kept])
    assert torch.equal(network.eval()(leaves).points, points)


def test_data_dropout_reaches_the_encoder():
    network, leaves = network_of(data_dropout=0.5), leaves_of()
    points = network(leaves).points
    assert (network.train()(leaves).points - points).abs().max() > 0.01
    assert torch.equal(network.eval()(leaves).points, points)


@pytest.mark.parametrize("encoder", [*ENCODERS, "diagonal"])
def test_outputs_are_the_dimensions_asked_for_and_a_diagonals_its_features(encoder):
    network = network_of(encoder=encoder)
    assert network.outputs == (G if encoder == "diagonal" else 6)
    assert network(leaves_of()).points.shape == (N, network.outputs)


# First parameters


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("encoder", [*ENCODERS, "diagonal"])
def test_a_seed_makes_a_network(encoder, gate):
    def vectors(seed):
        parameters = FlatParameters.of(network_of(seed, encoder=encoder, gate=gate))
        return parameters.gate.detach(), parameters.encoder.detach()

    for first, again in zip(vectors(0), vectors(0), strict=True):
        assert first.isfinite().all()
        assert torch.equal(first, again)
    if encoder != "diagonal":
        assert not torch.equal(vectors(0)[1], vectors(1)[1])
    if gate == "gumbel":
        assert not torch.equal(vectors(0)[0], vectors(1)[0])


@pytest.mark.parametrize("gate", ["gumbel", "sigmoid"])
@pytest.mark.parametrize("seed", range(3))
def test_features_start_with_the_probability_that_is_given(gate, seed):
    start = np.linspace(0, 1, G)
    network = network_of(seed, start.tolist(), gate=gate)
    np.testing.assert_allclose(network.gate.scores().detach(), start.clip(0.02, 0.98), rtol=1e-4)
    assert network.gate.selected().tolist() == (start > 0.5).tolist()


def test_without_a_start_no_feature_is_far_from_a_half():
    for gate in ("gumbel", "sigmoid"):
        scores = network_of(gate=gate).gate.scores()
        assert scores.min() > 0.2
        assert scores.max() < 0.8


@pytest.mark.parametrize("encoder", ENCODERS)
def test_started_with_components_the_first_distances_are_those_of_the_inputs(encoder):
    leaves = leaves_of()
    leaves -= leaves.mean(dim=0)
    network = network_of(encoder=encoder, skip=True, dimensions=N - 1)
    network.start_with_components(leaves.numpy(), 2.5)
    expected = 2.5 * torch.cdist(leaves.double(), leaves.double())
    torch.testing.assert_close(pairwise_distances(network(leaves).points).double(), expected, rtol=1e-4, atol=1e-4)


def test_with_fewer_outputs_the_start_is_the_principal_components():
    leaves = leaves_of()
    leaves -= leaves.mean(dim=0)
    network = network_of(skip=True, dimensions=3)
    network.start_with_components(leaves.numpy(), 1.0)
    left, singular, _ = np.linalg.svd(leaves.double().numpy(), full_matrices=False)
    components = left[:, :3] * singular[:3]
    found = network(leaves).points.detach().double().numpy()
    np.testing.assert_allclose(np.abs(found), np.abs(components), atol=1e-5)
    # More outputs than directions: what is left over is 0.
    network = network_of(skip=True, dimensions=30)
    network.start_with_components(leaves.numpy(), 1.0)
    assert network(leaves).points[:, N:].eq(0).all()


def test_what_the_encoder_adds_to_the_start_can_be_learned():
    network, leaves = network_of(skip=True), leaves_of()
    network.start_with_components(leaves.numpy(), 1.0)
    network.train()(leaves).points.square().sum().backward()
    assert network.encoder.after.weight.grad.abs().max() > 0
    assert not network.skip.requires_grad


def test_a_start_with_components_needs_a_place_for_them():
    with pytest.raises(ValueError, match="made without skip=True"):
        network_of(skip=False).start_with_components(leaves_of().numpy(), 1.0)


# Parameters as vectors


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("encoder", [*ENCODERS, "diagonal"])
def test_the_vectors_are_the_networks_own_parameters(encoder, gate):
    network, leaves = network_of(encoder=encoder, gate=gate), leaves_of()
    points = network(leaves).points.detach()
    parameters = FlatParameters.of(network)
    assert torch.equal(network(leaves).points, points)
    assert len(parameters.gate) + len(parameters.encoder) == sum(p.numel() for p in network.parameters())
    with torch.no_grad():
        parameters.encoder.mul_(0.5)
    for parameter in network.encoder.parameters():
        assert parameter.data_ptr() >= parameters.encoder.data_ptr()
    assert not torch.equal(network(leaves).points, points)
    embedded = network.train()(leaves)
    (embedded.points.square().sum() + embedded.penalty).backward()
    gradients = torch.cat([p.grad.reshape(-1) for p in network.encoder.parameters()])
    assert gradients.abs().max() > 0
    assert torch.equal(parameters.gradients[1], gradients)
    for gradient in parameters.gradients:
        gradient.zero_()
    assert all(p.grad.eq(0).all() for p in network.parameters())


def test_values_put_back_make_the_same_network_running_statistics_and_first_odds_included():
    network, leaves = network_of(encoder="fc", norm="batch", gate="gumbel", start=[0.9] * 4 + [0.3] * 10), leaves_of()
    parameters = FlatParameters.of(network)
    kept, points = parameters.copy(), network(leaves).points.detach()
    network.train()(leaves * 5 + 2)  # moves the running statistics
    with torch.no_grad():
        parameters.gate.add_(1.0)
        parameters.encoder.add_(1.0)
    assert not torch.allclose(network.eval()(leaves).points, points)
    parameters.set(kept)
    assert torch.equal(network(leaves).points, points)
    other = network_of(5, encoder="fc", norm="batch", gate="gumbel")
    FlatParameters.of(other).set(kept)
    assert torch.equal(other(leaves).points, points)
    assert torch.equal(other.gate.scores(), network.gate.scores())


# Global state


def test_torchs_and_numpys_global_generators_are_left_alone():
    torch.manual_seed(123)
    np.random.seed(123)
    before, also = torch.get_rng_state(), np.random.get_state()[1].copy()
    for encoder in (*ENCODERS, "diagonal"):
        for gate in GATES:
            network = network_of(encoder=encoder, gate=gate, norm="batch", data_dropout=0.3, metric_dropout=0.2)
            embedded = network.train()(leaves_of())
            (embedded.points.sum() + embedded.penalty).backward()
    assert torch.equal(torch.get_rng_state(), before)
    truth = parse_newick("(((a,b),(c,d)),((e,f),(g,(h,(i,j)))));")
    learner = QuartetLearner(
        preset="weak-simulation", **SMALL, gate="gumbel", steps=6, batch=32, look_every=3, noise=0.1, select="last"
    )
    learner.fit(leaves_of().numpy(), list("abcdefghij"), prior=truth, seed=0, progress=False)
    QuartetLearner(steps=4, batch=32, **SMALL).fit(
        leaves_of().numpy(), list("abcdefghij"), prior=truth, seed=0, progress=False
    )
    assert torch.equal(torch.get_rng_state(), before)
    assert np.array_equal(np.random.get_state()[1], also)


def test_what_the_global_generator_holds_makes_no_difference():
    found = []
    for seed in (0, 99):
        torch.manual_seed(seed)
        network = network_of(gate="gumbel", data_dropout=0.3, metric_dropout=0.2)
        found.append(network.train()(leaves_of()).points.detach())
    assert torch.equal(*found)
