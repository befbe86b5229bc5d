"""Tables to look at in training: what a monitor may hold."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from celltreeqm.learners._features import check_features
from celltreeqm.learners.quartet._tables import checked_tables
from celltreeqm.quartets import quartet_topology_in
from celltreeqm.trees import parse_newick

from .small import LEAVES, TEST, TRUTH, X, fitted

GENES = [f"gene {i}" for i in range(X.shape[1])]
PLAIN = check_features(X, LEAVES)
NAMED = check_features(pd.DataFrame(X, index=LEAVES, columns=GENES))


def test_an_array_has_the_leaves_of_the_fit():
    table = checked_tables({"test": (TEST, TRUTH)}, PLAIN)["test"]
    assert table.name == "test"
    assert table.leaves == LEAVES
    assert table.truth is TRUTH
    assert (table.values == TEST).all()


def test_a_data_frame_brings_its_rows_and_any_order_of_columns():
    frame = pd.DataFrame(TEST, index=LEAVES, columns=GENES).iloc[::-2, ::-1]
    table = checked_tables({"validation": (frame, None)}, NAMED)["validation"]
    assert table.leaves == tuple(frame.index)
    assert (table.values == TEST[::-2]).all()


@pytest.mark.parametrize("truth", [TRUTH, None])
def test_known_quartets_are_those_of_the_truth_or_else_of_the_prior(truth):
    half = TRUTH.restrict(LEAVES[:8])
    table = checked_tables({"test": (TEST, truth)}, PLAIN)["test"]
    quartets = table.known([half], 500, seed=0)
    assert quartets.shape == (500, 4)
    assert (quartet_topology_in(TRUTH, quartets, leaves=LEAVES) == 0).all()
    assert (quartets < 8).all() if truth is None else (quartets >= 8).any()
    assert (table.known([half], 500, seed=0) == quartets).all()


def test_where_nothing_is_known_of_a_tables_leaves_there_are_no_quartets():
    others = pd.DataFrame(TEST, index=[f"other {leaf}" for leaf in LEAVES])
    table = checked_tables({"test": (others, None)}, PLAIN)["test"]
    assert table.known([TRUTH], 10, seed=0) is None
    few = checked_tables({"test": (pd.DataFrame(TEST[:3], index=LEAVES[:3]), None)}, PLAIN)["test"]
    assert few.known([TRUTH], 10, seed=0) is None
    assert checked_tables({"test": (TEST, None)}, PLAIN)["test"].known([], 10, seed=0) is None


@pytest.mark.parametrize(
    "monitor, sentence",
    [
        ({"valid": (X, TRUTH)}, "monitor has 'valid'; only 'validation' and 'test' are looked at"),
        ({"b": (X, None), "a": (X, None)}, "monitor has 'a', 'b'; only"),
        ({"test": X}, r"monitor\['test'\] is a ndarray; a pair \(X, truth or None\) was needed"),
        ({"test": [X, TRUTH]}, r"monitor\['test'\] is a list; a pair"),
        ({"test": (X,)}, r"monitor\['test'\] is a tuple; a pair"),
        ({"test": (X, "((a,b),(c,d));")}, r"monitor\['test'\] is a tuple; a pair"),
        ({"test": (X[:5], TRUTH)}, r"monitor\['test'\] has 5 rows and the fit 16 leaves"),
        ({"test": (X[:, :5], TRUTH)}, "The new matrix has 5 features and the fit was made with 15"),
        ({"test": (X * np.nan, TRUTH)}, "The value of row 0 in feature column 0 is nan"),
        (
            {"test": (X, parse_newick(f"(({LEAVES[0]},who),({LEAVES[1]},{LEAVES[2]}));"))},
            r"The truth of monitor\['test'\] has leaves without a row, 'who' among them",
        ),
        ({"test": (pd.DataFrame(X, index=[LEAVES[0]] * 16), None)}, "must be unique"),
    ],
)
def test_monitors_of_another_form_are_refused(monitor, sentence):
    with pytest.raises(ValueError, match=sentence):
        fitted(monitor=monitor)


def test_columns_without_the_fits_names_are_refused():
    frame = pd.DataFrame(TEST, index=LEAVES, columns=[*GENES[1:], "another"])
    with pytest.raises(ValueError, match="does not have the features of the fit; 1 are missing"):
        checked_tables({"test": (frame, None)}, NAMED)
