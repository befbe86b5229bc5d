"""Synthetic draws against Brownian motion simulated edge by edge."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from celltreeqm.learners.quartet._draws import brownian_draws
from celltreeqm.simulate import random_tree
from celltreeqm.trees import neighbor_joining, parse_newick, robinson_foulds
from tests import oracles
from tests.strategies import trees

CPU = torch.device("cpu")
TREE = parse_newick("(((a:9,b:1):2,(c:1,d:1):1):1,((e:1,f:3):1,(g:1,h:1):1):5);")
NAMES = tuple("hcadgbfe")  # the rows of the features are in another order than the tree's leaves


def draws_of(heritability, scale=None, tree=TREE, names=NAMES):
    heritability = np.asarray(heritability, dtype=float)
    return brownian_draws(tree, names, heritability, np.ones(len(heritability)) if scale is None else scale, CPU)


def covariance_of(tree, names):
    """Of differences to the mean under Brownian motion, every edge of the unrooted tree 1; its trace is n - 1."""
    paths = oracles.path_distances(tree.unroot(), by="topology")
    at = [tree.unroot().index[name] for name in names]
    n = len(names)
    centre = np.eye(n) - 1 / n
    covariance = -0.5 * centre @ paths[np.ix_(at, at)] @ centre
    return covariance * (n - 1) / np.trace(covariance)


def simulated(covariance, heritability, count, seed):
    """Standardised columns of that covariance with Pagel's lambda, by a Cholesky factor instead of eigenvectors."""
    n = len(covariance)
    centre = np.eye(n) - 1 / n
    mixed = heritability * covariance + (1 - heritability) * centre
    factor = np.linalg.cholesky(mixed + 1e-9 * np.eye(n))
    columns = centre @ (factor @ np.random.default_rng(seed).normal(size=(n, count)))
    return columns / columns.std(axis=0)


@given(data=st.data())
def test_basis_and_spectrum_are_those_of_the_covariance_along_the_tree(data):
    tree = data.draw(trees(3, 9, binary=True))
    names = data.draw(st.permutations(tree.leaves))
    draws = draws_of([1.0], tree=tree, names=names)
    basis, spectrum = draws.basis.double().numpy(), draws.spectrum.double().numpy()
    np.testing.assert_allclose(basis * spectrum @ basis.T, covariance_of(tree, names), atol=1e-5)
    np.testing.assert_allclose(basis.T @ basis, np.eye(len(names) - 1), atol=1e-5)


@pytest.mark.parametrize("heritability", [0.0, 0.5, 1.0])
def test_covariance_of_drawn_columns_is_the_trees(heritability):
    count = 20_000
    drawn = draws_of(np.full(count, heritability))(torch.Generator().manual_seed(0)).double().numpy()
    expected = simulated(covariance_of(TREE, NAMES), heritability, count, seed=1)
    # Entries are means of products of standardised values: an sd of about 1 / sqrt(count) = .007 on each side.
    found = drawn @ drawn.T / count
    np.testing.assert_allclose(found, expected @ expected.T / count, atol=0.05)
    if heritability == 0:
        np.testing.assert_allclose(found, np.eye(8) * 8 / 7 - 1 / 7, atol=0.05)  # all leaves alike
    else:
        a, b, e = (NAMES.index(name) for name in "abe")
        assert found[a, b] > found[a, e] + 0.5 * heritability


def test_columns_are_standardised_and_scaled():
    scale = np.linspace(0.1, 5, 50)
    draws = draws_of(np.linspace(0, 1, 50), scale)
    values = draws(torch.Generator().manual_seed(0))
    assert values.shape == (8, 50)
    assert values.dtype == torch.float32
    np.testing.assert_allclose(values.mean(dim=0), 0, atol=1e-5)
    np.testing.assert_allclose(values.std(dim=0, correction=0), scale, rtol=1e-5)


def test_each_column_has_its_own_heritability():
    count = 4_000
    heritability = np.tile([0.0, 1.0], count)
    values = draws_of(heritability)(torch.Generator().manual_seed(3)).double().numpy()
    a, b = NAMES.index("a"), NAMES.index("b")
    expected = simulated(covariance_of(TREE, NAMES), 1.0, count, seed=4)
    products = (values[a] * values[b]).reshape(count, 2).mean(axis=0)
    assert products.tolist() == pytest.approx([-1 / 7, (expected[a] * expected[b]).mean()], abs=0.07)
    assert products[1] > 0.3


def test_columns_are_independent_and_each_call_draws_anew_from_the_generator():
    draws = draws_of(np.ones(3_000))
    torch.manual_seed(0)
    before = torch.get_rng_state()
    generator = torch.Generator().manual_seed(5)
    first, second = draws(generator), draws(generator)
    assert not torch.equal(first, second)
    assert torch.equal(draws(torch.Generator().manual_seed(5)), first)
    assert torch.equal(torch.get_rng_state(), before)
    values = first.double().numpy()
    between = (values[:, ::2] * values[:, 1::2]).mean(axis=0)  # correlations of neighbouring columns
    assert abs(between.mean()) < 4 * between.std() / np.sqrt(len(between))


def test_lengths_of_the_tree_do_not_matter():
    first, second = draws_of(np.ones(4)), draws_of(np.ones(4), tree=TREE.with_unit_lengths())
    torch.testing.assert_close(first(torch.Generator().manual_seed(0)), second(torch.Generator().manual_seed(0)))


def test_draws_recover_their_tree():
    tree = random_tree(16, seed=0)
    values = draws_of(np.ones(4000), tree=tree, names=tree.leaves)(torch.Generator().manual_seed(0)).double().numpy()
    squares = ((values[:, None] - values[None]) ** 2).sum(axis=2)
    assert robinson_foulds(neighbor_joining(squares, tree.leaves), tree) == 0
