"""Encoders: what may depend on the set of leaves, what may not, and the blocks against torch's own."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import nn

from celltreeqm.learners.quartet._encoders import make_encoder
from celltreeqm.learners.quartet._layers import SeededDropout, draw_parameters

KINDS = ("transformer", "fc", "linear", "diagonal")
N, G, D, WIDTH = 11, 7, 5, 8


def encoder_of(kind, *, inputs=G, outputs=D, layers=3, heads=2, width=WIDTH, dropout=0.0, norm="none", seed=0):
    encoder = make_encoder(
        kind,
        inputs,
        outputs,
        layers=layers,
        heads=heads,
        width=width,
        dropout=dropout,
        norm=norm,
        generator=torch.Generator().manual_seed(seed),
    )
    draw_parameters(encoder, torch.Generator().manual_seed(seed))
    if kind == "diagonal":
        encoder.factors.data = torch.linspace(0.5, 2, inputs)
    return encoder.double().eval()


def leaves_of(n=N, g=G, seed=1):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(n, g)))


@pytest.mark.parametrize("norm", ["none", "batch", "layer"])
@pytest.mark.parametrize("kind", KINDS)
def test_leaves_have_no_order(kind, norm):
    encoder, leaves = encoder_of(kind, norm=norm), leaves_of()
    order = torch.from_numpy(np.random.default_rng(2).permutation(N))
    for training in (False, True):
        encoder.train(training)
        torch.testing.assert_close(encoder(leaves[order]), encoder(leaves)[order], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind, norm", [("fc", "none"), ("fc", "layer"), ("linear", "none"), ("diagonal", "none")])
def test_each_leaf_for_itself(kind, norm):
    encoder, leaves = encoder_of(kind, norm=norm).train(), leaves_of()
    torch.testing.assert_close(encoder(leaves[:4]), encoder(leaves)[:4])
    torch.testing.assert_close(encoder(leaves[:1]), encoder(leaves)[:1])


def test_the_point_of_a_leaf_depends_on_the_set_by_attention():
    encoder, leaves = encoder_of("transformer"), leaves_of()
    alone, among = encoder(leaves[:4]), encoder(leaves)[:4]
    assert (alone - among).abs().max() > 0.01
    # It is the set that counts: a leaf elsewhere in it moved.
    moved = leaves.clone()
    moved[-1] += 3
    assert (encoder(moved)[:4] - among).abs().amin(dim=1).max() > 1e-4


def test_the_point_of_a_leaf_depends_on_the_set_by_batch_norm_in_training_alone():
    encoder, leaves = encoder_of("fc", norm="batch"), leaves_of()
    assert (encoder.train()(leaves[:4]) - encoder(leaves)[:4]).abs().max() > 0.01
    encoder.eval()
    torch.testing.assert_close(encoder(leaves[:4]), encoder(leaves)[:4])


@pytest.mark.parametrize("layers, heads", [(1, 1), (1, 2), (4, 4)])
def test_the_transformer_is_torchs_own(layers, heads):
    encoder, leaves = encoder_of("transformer", layers=layers, heads=heads), leaves_of()
    hidden = leaves @ encoder.before.weight.T + encoder.before.bias
    for block in encoder.blocks:
        own = nn.TransformerEncoderLayer(
            WIDTH, heads, dim_feedforward=WIDTH, dropout=0.0, activation="relu", batch_first=True, norm_first=False
        )
        own.load_state_dict(
            {
                "self_attn.in_proj_weight": block.query_key_value.weight,
                "self_attn.in_proj_bias": block.query_key_value.bias,
                "self_attn.out_proj.weight": block.mix.weight,
                "self_attn.out_proj.bias": block.mix.bias,
                "linear1.weight": block.rise.weight,
                "linear1.bias": block.rise.bias,
                "linear2.weight": block.fall.weight,
                "linear2.bias": block.fall.bias,
                "norm1.weight": block.first_norm.weight,
                "norm1.bias": block.first_norm.bias,
                "norm2.weight": block.second_norm.weight,
                "norm2.bias": block.second_norm.bias,
            }
        )
        hidden = own.double().eval()(hidden[None])[0]
    expected = hidden @ encoder.after.weight.T + encoder.after.bias
    torch.testing.assert_close(encoder(leaves), expected, rtol=1e-10, atol=1e-10)


def test_transformer_blocks_have_norms_that_count():
    """The comparison above would not see norms left out on both sides: here one is changed."""
    encoder, leaves = encoder_of("transformer"), leaves_of()
    before = encoder(leaves)
    encoder.blocks[0].second_norm.weight.data *= 2
    assert (encoder(leaves) - before).abs().max() > 0.01


@pytest.mark.parametrize("layers", [0, 1, 3, 8])
def test_fc_is_hidden_layers_with_relu_between_and_one_to_the_outputs(layers):
    encoder, leaves = encoder_of("fc", layers=layers, width=6), leaves_of()
    matrices = [part for part in encoder.modules() if isinstance(part, nn.Linear)]
    sizes = [G, *[6] * layers, D]
    assert [(part.in_features, part.out_features) for part in matrices] == list(pairwise(sizes))
    hidden = leaves
    for number, part in enumerate(matrices):
        hidden = hidden @ part.weight.T + part.bias
        if number < layers:
            hidden = hidden.clamp(min=0)
    torch.testing.assert_close(encoder(leaves), hidden)


def test_the_papers_fully_connected_network():
    """CellTreeQM-FC: eight hidden layers of 1,024 and, as in its transformers, 128 outputs."""
    encoder = encoder_of("fc", inputs=50, outputs=128, layers=8, width=1024)
    count = sum(parameter.numel() for parameter in encoder.parameters())
    assert count == (50 + 1) * 1024 + 7 * (1024 + 1) * 1024 + (1024 + 1) * 128


@pytest.mark.parametrize("norm, kind", [("batch", nn.BatchNorm1d), ("layer", nn.LayerNorm)])
def test_norms_of_fc_stand_between_each_hidden_layer_and_its_relu(norm, kind):
    parts = list(encoder_of("fc", norm=norm, layers=2).layers)
    assert [type(part) for part in parts] == [nn.Linear, kind, nn.ReLU, SeededDropout] * 2 + [nn.Linear]
    plain = list(encoder_of("fc", norm="none", layers=2).layers)
    assert [type(part) for part in plain] == [nn.Linear, nn.ReLU, SeededDropout] * 2 + [nn.Linear]


def test_linear_is_one_matrix_and_diagonal_one_factor_a_column():
    leaves = leaves_of()
    matrix = encoder_of("linear")
    assert [parameter.shape for parameter in matrix.parameters()] == [(D, G)]
    torch.testing.assert_close(matrix(leaves), leaves @ matrix.weight.T)
    factors = encoder_of("diagonal")
    assert [parameter.shape for parameter in factors.parameters()] == [(G,)]
    torch.testing.assert_close(factors(leaves), leaves * torch.linspace(0.5, 2, G, dtype=torch.float32).double())


def test_the_diagonal_starts_as_the_features_themselves():
    encoder = make_encoder(
        "diagonal",
        G,
        D,
        layers=1,
        heads=1,
        width=1,
        dropout=0.0,
        norm="none",
        generator=torch.Generator(),
    )
    draw_parameters(encoder, torch.Generator())
    leaves = leaves_of().float()
    torch.testing.assert_close(encoder(leaves), leaves)


@pytest.mark.parametrize("kind", ["transformer", "fc"])
def test_data_dropout_is_drawn_in_training_and_off_at_evaluation(kind):
    encoder, leaves = encoder_of(kind, dropout=0.4), leaves_of()
    plain = encoder_of(kind)
    torch.testing.assert_close(encoder(leaves), plain(leaves))
    encoder.train()
    first, second = encoder(leaves), encoder(leaves)
    assert (first - second).abs().max() > 0.01
    torch.testing.assert_close(encoder_of(kind, dropout=0.4).train()(leaves), first)  # its generator's first draw
    torch.testing.assert_close(encoder.eval()(leaves), plain(leaves))


@pytest.mark.parametrize("norm", ["none", "batch", "layer"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_parameter_of_an_encoder_has_a_slope(kind, norm):
    encoder = encoder_of(kind, norm=norm).train()
    points = encoder(leaves_of())
    assert points.shape == (N, G if kind == "diagonal" else D)
    (points**3).sum().backward()
    for name, parameter in encoder.named_parameters():
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.abs().max() > 0, name
