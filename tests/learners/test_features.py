"""Feature matrices at the door."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from celltreeqm.learners import check_features
from celltreeqm.learners._features import features_like

AB = ["a", "b"]


@pytest.mark.parametrize(
    "given",
    [
        [[1, 0], [0, 2]],
        np.array([[1, 0], [0, 2]], dtype=np.float32),
        np.asfortranarray([[1.0, 0.0], [0.0, 2.0]]),
        sparse.csr_matrix([[1, 0], [0, 2]]),
        sparse.coo_array([[1, 0], [0, 2]]),
        pd.DataFrame([[1, 0], [0, 2]]),
        pd.DataFrame([[1, 0], [0, 2]], index=AB, columns=["x", "y"]),
    ],
)
def test_every_kind_of_matrix_becomes_the_same_float64_copy(given):
    values = check_features(given, AB).values
    assert values.dtype == np.float64
    assert values.flags.c_contiguous
    assert values.tolist() == [[1, 0], [0, 2]]
    assert not values.flags.writeable
    assert not isinstance(given, np.ndarray) or given.flags.writeable, "the original stays as it is"


def test_a_table_brings_its_names():
    checked = check_features(pd.DataFrame([[1.0, 2.0]], index=["a"], columns=["x", 7]))
    assert checked.leaves == ("a",)
    assert checked.names == ("x", "7")
    assert check_features([[1.0, 2.0]], ["a"]).names is None


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_is_refused_with_its_leaf_and_column(bad):
    values = np.ones((3, 4))
    values[1, 2] = values[2, 0] = values[2, 3] = bad
    names = ["ABal", "ABar", "MS"]
    with pytest.raises(
        ValueError, match=rf"leaf 'ABar' \(row 1\) in feature column 2 is {bad}; features must be finite. 2 more are"
    ):
        check_features(values, names)
    with pytest.raises(ValueError, match=r"leaf 'ABar' \(row 1\) in feature 'pal-1' \(column 2\)"):
        check_features(pd.DataFrame(values, index=names, columns=["hlh-1", "end-3", "pal-1", "elt-2"]))
    values[2] = 0
    with pytest.raises(ValueError, match=r"must be finite\. Drop such"):
        check_features(sparse.csr_array(values), names)


@pytest.mark.parametrize(
    ("features", "leaves", "sentence"),
    [
        (np.ones((2, 3)), None, "came without leaf names"),
        (np.ones((3, 2)), AB, "2 leaf names came with a 3 x 2 feature matrix; .* seems to be turned"),
        (np.ones((3, 4)), AB, "2 leaf names came with a 3 x 4 feature matrix; one name a row was needed.$"),
        (np.ones(3), AB, r"shape \(3,\)"),
        (np.ones((2, 0)), AB, "has no features"),
        ([["x"], ["y"]], AB, "cannot be read as numbers"),
        ([[1j], [2]], AB, "they are complex"),
        (np.ones((2, 1)), ["a", "a"], "must be unique"),
        (pd.DataFrame([[1], [2]], index=["b", "a"]), AB, "Row 0 of the features is called 'b' and leaf 0 is 'a'"),
        (pd.DataFrame([[1], [2]], index=[5, 7]), AB, "Row 0 of the features is called 5"),
    ],
)
def test_what_cannot_be_used_is_refused_with_a_sentence(features, leaves, sentence):
    with pytest.raises(ValueError, match=sentence):
        check_features(features, leaves)


def test_new_columns_are_put_into_the_order_of_the_fit():
    new = pd.DataFrame([[1, 2, 3]], index=["a"], columns=["z", "x", "y"])
    assert features_like(new, 3, ("x", "y", "z")).tolist() == [[2, 3, 1]]
    assert features_like(new.to_numpy(), 3, ("x", "y", "z")).tolist() == [[1, 2, 3]]
    with pytest.raises(ValueError, match="1 are missing: 'w'"):
        features_like(new, 3, ("x", "y", "w"))
    with pytest.raises(ValueError, match="has 3 features and the fit was made with 2"):
        features_like(new, 2, None)
    new.iloc[0, 1] = np.nan
    with pytest.raises(ValueError, match=r"leaf 'a' \(row 0\) in feature 'x' \(column 0\)"):
        features_like(new.astype(float), 3, ("x", "y", "z"))


def test_what_is_masked_is_missing():
    masked = np.ma.masked_array([[1, 2], [3, 4]], mask=[[False, False], [True, False]])
    with pytest.raises(ValueError, match=r"The value of leaf 'b' \(row 1\) in feature column 0 is nan"):
        check_features(masked, AB)
    assert check_features(masked[:1], ["a"]).values.tolist() == [[1, 2]]
