"""Distance matrices at the door."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from celltreeqm.trees._matrices import check_distances
from tests.strategies import distance_matrices

NAMES = ["a", "b", "c"]
GOOD = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.0]])


def changed(i: int, j: int, value: float) -> np.ndarray:
    out = GOOD.copy()
    out[i, j] = value
    return out


@given(st.integers(1, 7).flatmap(distance_matrices))
def test_a_good_matrix_comes_back_unchanged_and_as_a_copy(d):
    work, names = check_distances(d, [f"x{i}" for i in range(len(d))])
    np.testing.assert_array_equal(work, d)
    assert not np.shares_memory(work, d)
    assert len(names) == len(d)


def test_rounding_errors_are_averaged_away():
    work, _ = check_distances(changed(0, 1, 1 + 1e-8), NAMES)
    assert work[0, 1] == work[1, 0] == pytest.approx(1 + 5e-9, abs=1e-15)


@pytest.mark.parametrize("n", [63, 64, 65, 130])
def test_every_entry_of_a_large_matrix_is_looked_at(n):
    rng = np.random.default_rng(n)
    d = rng.random((n, n))
    d = d + d.T
    np.fill_diagonal(d, 0)
    names = [f"x{i}" for i in range(n)]
    check_distances(d, names)
    for i, j in [(0, n - 1), (n - 1, 0), (n // 2, n // 2 - 1), (n - 1, n - 2), (1, 0)]:
        wrong = d.copy()
        wrong[i, j] += 0.5
        with pytest.raises(ValueError, match="not symmetric"):
            check_distances(wrong, names)


def test_a_data_frame_brings_its_names():
    assert check_distances(pd.DataFrame(GOOD, index=NAMES, columns=NAMES), None)[1] == ("a", "b", "c")


def test_float32_is_symmetric_enough():
    x = np.random.default_rng(0).normal(size=(40, 7)).astype(np.float32)
    d = np.sqrt(np.maximum((x**2).sum(1)[:, None] + (x**2).sum(1) - 2 * x @ x.T, 0))
    np.fill_diagonal(d, 0)
    check_distances(d, [str(i) for i in range(40)])


@pytest.mark.parametrize("dtype", [float, np.float32, int])
def test_what_is_masked_is_missing(dtype):
    masked = np.ma.masked_equal(GOOD.astype(dtype), 3)
    with pytest.raises(ValueError, match=r"between 'b' \(row 1\) and 'c' \(row 2\) is nan; distances must be finite"):
        check_distances(masked, NAMES)
    work, _ = check_distances(np.ma.masked_equal(GOOD.astype(dtype), 7), NAMES)
    np.testing.assert_array_equal(work, GOOD)


@pytest.mark.parametrize(
    ("distances", "leaves", "message"),
    [
        (changed(0, 2, np.nan), NAMES, r"between 'a' \(row 0\) and 'c' \(row 2\) is nan; distances must be finite"),
        (changed(1, 2, np.inf), NAMES, "is inf; distances must be finite"),
        (
            changed(2, 1, -0.5),
            NAMES,
            r"between 'c' \(row 2\) and 'b' \(row 1\) is -0.5; distances must not be negative",
        ),
        (changed(1, 1, 0.1), NAMES, r"of 'b' \(row 1\) to itself is 0.1; the diagonal must be zero"),
        (changed(2, 0, 2.5), NAMES, "not symmetric: .* it is 2.5 one way and 2.0 the other"),
        (GOOD[:2], NAMES[:2], r"shape \(2, 3\); a square matrix"),
        (np.array([1.0, 2.0, 3.0]), NAMES, "squareform"),
        (GOOD, NAMES[:2], "2 leaf names came with a 3 x 3 matrix"),
        (GOOD, ["a", "b", "a"], "must be unique"),
        (GOOD, None, "without leaf names"),
        (GOOD.tolist(), None, "without leaf names"),
        ([["x", "y"], ["z", "w"]], ["a", "b"], "cannot be read as numbers"),
        ([[0.0, 1.0], [1.0]], ["a", "b"], "cannot be read as numbers"),
        (None, NAMES, r"The distances cannot be read as numbers: None came\. Real numbers"),
        (sparse.csr_array(GOOD), NAMES, r"a sparse matrix, which \.toarray\(\) makes a plain one\. Real numbers"),
        ([[0, 1], [None, 0]], ["a", "b"], r"between 'b' \(row 1\) and 'a' \(row 0\) is nan; distances must be finite"),
    ],
)
def test_bad_matrices_get_a_sentence(distances, leaves, message):
    with pytest.raises(ValueError, match=message):
        check_distances(distances, leaves)
