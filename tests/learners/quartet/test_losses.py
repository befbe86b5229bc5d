"""Each loss against its formula in plain loops, its slope against finite differences, and where it has none."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

from celltreeqm.learners.quartet import (
    additivity_loss,
    close_loss,
    deviation_loss,
    identity_penalty,
    pairwise_distances,
    quadruplet_loss,
    quartet_sums,
    sparsity_penalty,
    triplet_loss,
)
from celltreeqm.simulate import random_tree
from tests import oracles

MODES = ("mismatched", "matched", "all")
N = 9


def drawn(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape))


def any_quartets(n=N, count=200, seed=0):
    """Quartets with their leaves in any order, some of them more than once."""
    rng = np.random.default_rng(seed)
    return torch.from_numpy(np.stack([rng.permutation(n)[:4] for _ in range(count)]))


def any_rows(width, n=N, count=60, seed=0):
    return any_quartets(n, count, seed)[:, :width]


QUARTETS = any_quartets()
POINTS = {
    "random": drawn(N, 4),
    "on a grid": torch.from_numpy(np.random.default_rng(1).integers(0, 2, (N, 2)).astype(float)),  # ties, coincidences
    "on a line": torch.arange(N, dtype=torch.float64)[:, None] * torch.ones(1, 3, dtype=torch.float64),
    "at one place": torch.ones(N, 3, dtype=torch.float64),
    "two places": torch.tensor([[0.0, 0.0]] * 5 + [[3.0, 4.0]] * 4, dtype=torch.float64),
    "large": drawn(N, 4) * 1e6,
    "one dimension": drawn(N, 1),
}
EACH_POINTS = pytest.mark.parametrize("points", POINTS.values(), ids=POINTS.keys())
COINCIDENT = [name for name in POINTS if name in ("on a grid", "at one place", "two places")]


def tree_distances(seed=0, n=N):
    """Path lengths of a binary tree, its quartets as ab|cd, and the length of the path between both pairs of each."""
    tree = random_tree(n, shape="yule", seed=seed).unroot()
    paths = oracles.path_distances(tree)
    rows, inner = [], []
    for four in oracles.all_quartets(tree.leaves):
        pairs = [sorted(pair) for pair in oracles.quartet_topology(tree, four)]
        a, b, c, d = (tree.index[name] for pair in pairs for name in pair)
        rows.append([a, b, c, d])
        inner.append((paths[a, c] + paths[b, d] - paths[a, b] - paths[c, d]) / 2)
    return torch.from_numpy(paths), torch.tensor(rows), np.array(inner)


# Distances


@EACH_POINTS
def test_distances_are_lengths_of_differences(points):
    size = float(points.abs().max())
    squares = pairwise_distances(points, squared=True)
    np.testing.assert_allclose(squares, oracles.squared_euclidean(points.tolist()), rtol=1e-12, atol=1e-12 * size**2)
    np.testing.assert_allclose(
        pairwise_distances(points), oracles.euclidean(points.tolist()), rtol=1e-12, atol=1e-6 * size
    )


def test_distances_of_points_that_are_apart_are_exact_however_far_the_origin():
    points = drawn(N, 4)
    expected = np.array(oracles.euclidean(points.tolist()))
    np.testing.assert_allclose(pairwise_distances(points), expected, rtol=1e-12)
    np.testing.assert_allclose(pairwise_distances(points + 1e3), expected, rtol=1e-11)


def test_single_precision_keeps_five_digits_of_the_largest_distance():
    points = drawn(40, 128).float()
    exact = pairwise_distances(points.double())
    torch.testing.assert_close(pairwise_distances(points).double(), exact, rtol=0, atol=1e-5 * float(exact.max()))


def test_nothing_is_apart_from_itself_even_after_rounding():
    for points in (drawn(30, 5).float() * 1e3, drawn(30, 5) * 1e8, torch.ones(5, 2).float() * 0.1):
        for squared in (False, True):
            distances = pairwise_distances(points, squared=squared)
            assert distances.diagonal().eq(0).all()
            assert distances.ge(0).all()
            assert distances.isfinite().all()


@pytest.mark.parametrize("squared", [False, True])
def test_slopes_of_distances(squared):
    points = drawn(6, 3).requires_grad_()
    assert gradcheck(lambda z: pairwise_distances(z, squared=squared), points)


@pytest.mark.parametrize("squared", [False, True])
def test_coincident_points_have_slope_0_to_each_other(squared):
    points = torch.tensor([[1.0, 2.0], [1.0, 2.0], [4.0, 6.0]], dtype=torch.float64, requires_grad=True)
    distances = pairwise_distances(points, squared=squared)
    (slope,) = torch.autograd.grad(distances[0, 1] + distances[1, 1], points, retain_graph=True)
    assert slope.eq(0).all()
    (slope,) = torch.autograd.grad(distances[0, 2], points)
    expected = torch.tensor([[-3.0, -4.0], [0.0, 0.0], [3.0, 4.0]], dtype=torch.float64) * (2 if squared else 0.2)
    torch.testing.assert_close(slope, expected)


def test_slopes_are_finite_where_rounding_puts_a_point_apart_from_itself():
    points = (drawn(30, 5).float() * 1e3).requires_grad_()
    norms = points.detach() - points.detach().mean(dim=0)
    assert ((norms * norms).sum(dim=1) - (norms @ norms.T).diagonal()).abs().max() > 1e-6  # it does
    pairwise_distances(points).sum().backward()
    assert points.grad.isfinite().all()
    assert points.grad.norm(dim=1).max() <= 2 * 29 * 1.001  # sums of unit vectors, each twice


# Sums


def test_sums_are_of_ab_cd_then_ac_bd_then_ad_bc():
    matrix = drawn(N, N, seed=3)  # not symmetric: which entry is read shows
    expected = np.array([oracles.three_sums(matrix.tolist(), four) for four in QUARTETS.tolist()]).T
    np.testing.assert_array_equal(quartet_sums(matrix, QUARTETS), expected)


@pytest.mark.parametrize(
    "view",
    [
        lambda large: large.T[:N, :N],
        lambda large: large[::2, 1::2][:N, :N],
        lambda large: large[3 : 3 + N, 5 : 5 + N],
        lambda large: large[0, :N].expand(N, N),
        lambda large: large.flip(0)[:N, :N],
    ],
    ids=["transposed", "every second", "window", "one row again and again", "flipped"],
)
def test_sums_of_a_view_are_those_of_its_copy(view):
    seen = view(drawn(2 * N + 2, 2 * N + 2, seed=4))
    assert seen.shape == (N, N)
    copied = torch.tensor(seen.tolist(), dtype=seen.dtype)
    torch.testing.assert_close(quartet_sums(seen, QUARTETS), quartet_sums(copied, QUARTETS), rtol=0, atol=0)


def test_slopes_of_sums_reach_the_matrix_behind_a_view():
    large = drawn(12, 12).requires_grad_()
    few = any_quartets(6, 5)
    assert gradcheck(lambda matrix: quartet_sums(matrix.T[::2, ::2], few), large)
    quartet_sums(large, torch.tensor([[0, 1, 2, 3]])).sum().backward()
    entries = {(0, 1), (2, 3), (0, 2), (1, 3), (0, 3), (1, 2)}
    assert {tuple(entry) for entry in large.grad.nonzero().tolist()} == entries


# Additivity


@pytest.mark.parametrize("mode", MODES)
@EACH_POINTS
def test_additivity_is_close_plus_push_of_those_that_count(points, mode):
    distances = pairwise_distances(points)
    for margin, close, push in ((0.5, 1.0, 10.0), (0.0, 1.0, 1.0), (3.0, 0.0, 2.0), (1e7, 0.5, 0.0)):
        found = additivity_loss(distances, QUARTETS, margin=margin, close_weight=close, push_weight=push, mode=mode)
        expected = oracles.quartet_loss(
            distances.tolist(), QUARTETS.tolist(), margin=margin, close_weight=close, push_weight=push, mode=mode
        )
        np.testing.assert_allclose([float(part) for part in found], expected, rtol=1e-12, atol=1e-12)


def test_the_cases_above_have_quartets_of_both_kinds_and_none_of_one():
    shares = {
        name: float(additivity_loss(pairwise_distances(points), QUARTETS).mismatched) for name, points in POINTS.items()
    }
    assert 0.5 < shares["random"] < 0.8
    assert shares["at one place"] == 0  # of equal sums none is smaller than the known one
    assert shares["two places"] > 0


def test_sums_that_tie_with_the_known_one_do_not_make_a_quartet_mismatched():
    square = torch.tensor([[0, 1.0, 1, 2], [1, 0, 2, 1], [1, 2, 0, 1], [2, 1, 1, 0]], dtype=torch.float64)
    tied = torch.tensor([[0, 1, 2, 3], [0, 2, 1, 3]])  # 2 against 2 and 4, whichever of the two is the known one
    assert float(additivity_loss(square, tied).mismatched) == 0
    assert float(additivity_loss(square, tied).loss) == 0
    assert float(additivity_loss(square, torch.tensor([[0, 3, 1, 2]])).mismatched) == 1


@pytest.mark.parametrize("mode", MODES)
def test_distances_on_the_tree_are_not_punished_beyond_the_margin(mode):
    distances, quartets, inner = tree_distances()
    assert inner.min() > 0
    found = additivity_loss(distances, quartets, margin=0.0, mode=mode)
    assert [float(part) for part in found] == pytest.approx([0, 0, 0, 0], abs=1e-12)
    # The known sum is two inner paths below the others, which are equal: the hinge is open below half the margin.
    margin = 2 * float(np.median(inner))
    found = additivity_loss(distances, quartets, margin=margin, mode=mode)
    expected = 0.0 if mode == "mismatched" else np.maximum(0, margin - 2 * inner).mean()
    assert float(found.push) == pytest.approx(expected)
    assert float(found.close) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_where_no_quartet_counts_loss_and_slope_are_0(mode):
    distances, quartets, _ = tree_distances()
    if mode == "matched":
        quartets = quartets[:, [0, 2, 1, 3]]  # ac|bd: all wrong
    elif mode == "all":
        quartets = quartets[:0]
    distances.requires_grad_()
    found = additivity_loss(distances, quartets, mode=mode)
    assert [part.item() for part in found[:3]] == [0, 0, 0]
    assert float(found.mismatched) == (1 if mode == "matched" else 0)
    found.loss.backward()
    assert distances.grad.eq(0).all()


def test_only_quartets_that_count_have_a_slope():
    """Two quartets without a common leaf, of which the distances get the second wrong."""
    block = torch.tensor([[0, 1.0, 5, 6], [1, 0, 7, 5], [5, 7, 0, 1], [6, 5, 1, 0]], dtype=torch.float64)
    distances = torch.block_diag(block, block).requires_grad_()
    quartets = torch.tensor([[0, 1, 2, 3], [4, 6, 5, 7]])
    for mode, first, second in (("mismatched", False, True), ("matched", True, False), ("all", True, True)):
        (slope,) = torch.autograd.grad(additivity_loss(distances, quartets, margin=20.0, mode=mode).loss, distances)
        assert bool(slope[:4, :4].ne(0).any()) == first
        assert bool(slope[4:, 4:].ne(0).any()) == second


def test_order_within_the_pairs_does_not_matter():
    distances = pairwise_distances(POINTS["random"])
    expected = float(additivity_loss(distances, QUARTETS).loss)
    for order in ([1, 0, 2, 3], [0, 1, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0]):
        assert float(additivity_loss(distances, QUARTETS[:, order]).loss) == pytest.approx(expected)
    assert float(additivity_loss(distances, QUARTETS[:, [0, 2, 1, 3]]).loss) != pytest.approx(expected)


@pytest.mark.parametrize("part", ["loss", "close", "push"])
@pytest.mark.parametrize("mode", MODES)
def test_slopes_of_additivity(mode, part):
    quartets = any_quartets(6, 20)
    points = drawn(6, 3).requires_grad_()

    def loss(z):
        found = additivity_loss(pairwise_distances(z), quartets, close_weight=0.7, push_weight=3.0, mode=mode)
        return getattr(found, part)

    assert gradcheck(loss, points)
    (slope,) = torch.autograd.grad(loss(points), points)
    assert slope.abs().max() > 0.01


# Close, of the unsupervised setting


@EACH_POINTS
def test_close_is_the_gap_of_the_two_largest_sums(points):
    distances = pairwise_distances(points)
    expected = oracles.observed_close(distances.tolist(), QUARTETS.tolist())
    assert float(close_loss(distances, QUARTETS)) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_close_knows_no_topology_and_is_0_on_any_tree():
    distances = pairwise_distances(POINTS["random"])
    expected = float(close_loss(distances, QUARTETS))
    assert expected > 0.1
    for order in ([0, 2, 1, 3], [3, 1, 2, 0]):
        assert float(close_loss(distances, QUARTETS[:, order])) == pytest.approx(expected)
    distances, _, _ = tree_distances()
    assert float(close_loss(distances, QUARTETS)) == pytest.approx(0, abs=1e-12)


def test_slopes_of_close():
    quartets = any_quartets(6, 20)
    points = drawn(6, 3).requires_grad_()
    assert gradcheck(lambda z: close_loss(pairwise_distances(z), quartets), points)


# Deviation


@pytest.mark.parametrize("scale", [(1.0, 1.0), (np.sqrt(4), np.sqrt(500)), (0.1, 1e3)])
@EACH_POINTS
def test_deviation_is_the_squared_frobenius_norm_over_the_number_of_points(points, scale):
    embedded, original = pairwise_distances(points), pairwise_distances(drawn(N, 20, seed=5))
    expected = oracles.deviation(embedded.tolist(), original.tolist(), scale)
    assert float(deviation_loss(embedded, original, scale=scale)) == pytest.approx(expected, rel=1e-12)
    assert float(deviation_loss(embedded, embedded)) == 0


def test_deviation_counts_both_triangles():
    apart = torch.tensor([[0.0, 3.0], [3.0, 0.0]])
    assert float(deviation_loss(apart, torch.zeros(2, 2))) == 9  # (9 + 9) / 2


def test_deviation_by_dimension_does_not_change_when_all_columns_come_twice():
    points, others = drawn(N, 4), drawn(N, 30, seed=6)
    once = deviation_loss(pairwise_distances(points), pairwise_distances(others), scale=(np.sqrt(4), np.sqrt(30)))
    twice = deviation_loss(
        pairwise_distances(points.repeat(1, 2)),
        pairwise_distances(others.repeat(1, 2)),
        scale=(np.sqrt(8), np.sqrt(60)),
    )
    assert float(twice) == pytest.approx(float(once))


@pytest.mark.parametrize("scale", [(1.0, 1.0), (2.0, 5.0)])
def test_slopes_of_deviation(scale):
    points, others = drawn(5, 3).requires_grad_(), drawn(5, 4, seed=7).requires_grad_()
    assert gradcheck(
        lambda z, x: deviation_loss(pairwise_distances(z), pairwise_distances(x), scale=scale), (points, others)
    )


# Triplets and quadruplets


@EACH_POINTS
def test_triplets_and_quadruplets_are_of_squared_distances(points):
    squares = pairwise_distances(points, squared=True)
    size = max(1.0, float(squares.max()))
    triplets, quadruplets = any_rows(3), any_rows(4)
    for margin in (0.5, 0.0, 4.0):
        found = float(triplet_loss(squares, triplets, margin=margin))
        expected = oracles.triplet(points.tolist(), triplets.tolist(), margin)
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12 * size)
    for margins in ((0.5, 0.25), (0.0, 2.0), (3.0, 0.0)):
        found = float(quadruplet_loss(squares, quadruplets, margins=margins))
        expected = oracles.quadruplet(points.tolist(), quadruplets.tolist(), *margins)
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12 * size)


def test_margins_where_all_points_coincide():
    nothing = torch.zeros(N, N, dtype=torch.float64)
    assert float(triplet_loss(nothing, any_rows(3), margin=0.7)) == pytest.approx(0.7)
    assert float(quadruplet_loss(nothing, any_rows(4), margins=(0.7, 0.2))) == pytest.approx(0.9)


def test_slopes_of_triplets_and_quadruplets():
    points = drawn(6, 3).requires_grad_()
    triplets, quadruplets = any_rows(3, 6, 20), any_rows(4, 6, 20)
    assert gradcheck(lambda z: triplet_loss(pairwise_distances(z, squared=True), triplets), points)
    assert gradcheck(lambda z: quadruplet_loss(pairwise_distances(z, squared=True), quadruplets), points)


# Penalties


def test_sparsity_is_the_mean_of_the_gates():
    for gates in ([0.0, 0, 0], [1.0, 0, 1, 1], [0.25]):
        assert float(sparsity_penalty(torch.tensor(gates))) == pytest.approx(oracles.sparsity(gates))
    assert gradcheck(sparsity_penalty, drawn(7).requires_grad_())


def test_identity_penalty_is_the_sum_of_what_differs():
    for matrix in (drawn(5, 5), torch.eye(4), torch.zeros(3, 3), -torch.eye(2)):
        assert float(identity_penalty(matrix)) == pytest.approx(oracles.distance_to_identity(matrix.tolist()))
    assert gradcheck(identity_penalty, drawn(5, 5).requires_grad_())


# Where there is no slope


@pytest.mark.parametrize("name", COINCIDENT)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_every_loss_has_a_finite_slope_at_coincident_points(name, dtype):
    losses = {
        **{mode: lambda d, s, mode=mode: additivity_loss(d, QUARTETS, mode=mode).loss for mode in MODES},
        "close": lambda d, s: close_loss(d, QUARTETS),
        "deviation": lambda d, s: deviation_loss(d, torch.ones_like(d)),
        "triplet": lambda d, s: triplet_loss(s, any_rows(3)),
        "quadruplet": lambda d, s: quadruplet_loss(s, any_rows(4)),
    }
    for loss_name, loss in losses.items():
        points = POINTS[name].to(dtype).clone().requires_grad_()
        value = loss(pairwise_distances(points), pairwise_distances(points, squared=True))
        value.backward()
        assert value.isfinite(), loss_name
        assert points.grad.isfinite().all(), loss_name
