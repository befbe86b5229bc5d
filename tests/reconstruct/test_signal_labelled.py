"""The statistics in closed form, each against the long way."""

from __future__ import annotations

import numpy as np
import pytest

from celltreeqm.reconstruct._signal_kernels import representation_kernels
from celltreeqm.reconstruct._signal_labelled import (
    _PENALTIES,
    centred,
    labelled_statistics,
    left_out_forms,
    permuted_forms,
)
from celltreeqm.simulate import random_tree, simulate_brownian
from celltreeqm.trees import Tree

N = 12


@pytest.fixture
def case() -> tuple[np.ndarray, Tree]:
    tree = random_tree(N, shape="yule", seed=3)
    return np.abs(simulate_brownian(tree, 7, seed=4)), tree


def rows_moved(features: np.ndarray, said_to_be: np.ndarray) -> np.ndarray:
    """Rows in the order of the tree's leaves, where row i is said to be leaf ``said_to_be[i]``."""
    out = np.empty_like(features)
    out[said_to_be] = features
    return out


def test_left_out_predictions_are_those_of_a_ridge_regression_without_the_leaf(case):
    features, _tree = case
    kernel = representation_kernels(features, not_negative=True)["standardised"]
    rng = np.random.default_rng(5)
    targets = rng.normal(size=(N, 3))
    penalty = _PENALTIES[1] * np.maximum(np.linalg.eigvalsh(kernel), 0).mean()
    predicted = np.empty_like(targets)
    for i in range(N):
        rest = np.delete(np.arange(N), i)
        among = kernel[np.ix_(rest, rest)]
        middle = np.eye(N - 1) - 1 / (N - 1)
        mean = targets[rest].mean(axis=0)
        dual = np.linalg.solve(middle @ among @ middle + penalty * np.eye(N - 1), targets[rest] - mean)
        predicted[i] = mean + ((kernel[i, rest] - among.mean(axis=0)) @ middle) @ dual
    form, square = left_out_forms(kernel)[2:4]
    gram = targets @ targets.T
    assert np.sum(form * gram) == pytest.approx(np.sum(predicted * targets))
    assert np.sum(square * gram) == pytest.approx(np.sum(predicted**2))


def test_re_indexing_the_target_is_permuting_the_rows(case):
    features, tree = case
    rng = np.random.default_rng(6)
    turns = np.stack([np.arange(N), *(rng.permutation(N) for _ in range(4))])
    kernels = representation_kernels(features, not_negative=True)
    values, names = labelled_statistics(features, kernels, tree, turns, np.random.default_rng(7))
    assert values.shape == (5, len(names)) == (5, 5 * (3 * 4 + 1) + 1)
    for turn, row in zip(turns, values, strict=True):
        moved = rows_moved(features, turn)
        kernels = representation_kernels(moved, not_negative=True)
        alone, _ = labelled_statistics(moved, kernels, tree, turns[:1], np.random.default_rng(7))
        np.testing.assert_allclose(alone[0], row, atol=1e-9)


def test_the_products_of_forms_and_targets_are_computed_in_parts_of_any_size(case, monkeypatch):
    rng = np.random.default_rng(8)
    forms, targets = rng.normal(size=(2, 3, N, N))
    forms, targets = forms + forms.transpose(0, 2, 1), targets + targets.transpose(0, 2, 1)
    turns = np.stack([rng.permutation(N) for _ in range(5)])
    wanted = [[[np.sum(f * t[np.ix_(p, p)]) for f in forms] for t in targets] for p in turns]
    for at_once in (1, 500, 10**6):
        monkeypatch.setattr("celltreeqm.reconstruct._signal_labelled._AT_ONCE", at_once)
        np.testing.assert_allclose(permuted_forms(forms, targets, turns), wanted)


def test_a_kernel_that_is_the_target_agrees_with_it_fully(case):
    _, tree = case
    kernel = centred(-tree.unroot().distances(by="topology") / 2)
    turns = np.arange(N)[None]
    values, names = labelled_statistics(np.eye(N), {"exact": kernel}, tree, turns, np.random.default_rng(0))
    found = {statistic: value for (group, statistic), value in zip(names, values[0], strict=True) if group == "exact"}
    assert found["kernel-target agreement, path lengths"] == pytest.approx(1.0)
    assert found["four-point agreement"] == 1.0
    assert found["leave-one-out ridge agreement, path lengths"] > 0.4


def test_the_logarithm_is_undone_where_no_value_is_negative():
    features = np.random.default_rng(0).normal(size=(6, 5))
    assert "re-linearised" in representation_kernels(np.abs(features), not_negative=True)
    assert "re-linearised" not in representation_kernels(features, not_negative=False)
