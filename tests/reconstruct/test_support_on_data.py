"""Support of measured cells: with labels and signal it is worth what it says, and without signal it says nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from celltreeqm.learners import AdaptiveLearner
from celltreeqm.reconstruct import bootstrap_trees, calibrate_support, judge_support, reliability_table
from celltreeqm.trees import Tree, read_newick


@pytest.fixture(scope="module")
def embryo(shared_data: Path) -> tuple[NDArray[np.float64], Tree, Tree]:
    """Features, lineage, and half of it."""
    table = pd.read_csv(shared_data / "epic190" / "expression.csv.gz", index_col=0)
    truth = read_newick(shared_data / "epic190" / "tree.nwk", rooted=True)
    known = np.random.default_rng(7).permutation(truth.n_leaves)[: truth.n_leaves // 2]
    return table.loc[list(truth.leaves)].to_numpy(), truth, truth.restrict([truth.leaves[i] for i in known])


@pytest.mark.slow
def test_with_labels_nine_of_ten_clades_above_nine_tenths_are_true(
    embryo: tuple[NDArray[np.float64], Tree, Tree],
) -> None:
    features, truth, prior = embryo
    fit = AdaptiveLearner(repeats=1).fit(features, truth.leaves, prior=prior, seed=0)
    sampled = bootstrap_trees(fit, features, n=50, seed=0, workers=2)
    found = calibrate_support(fit, features, runs=6, resamples=20, seed=0, workers=2)
    judged = judge_support(found.support(fit.tree(), sampled, prior), truth, prior)
    table = reliability_table(*judged)
    assert table.count[-1] >= 50
    assert table.fraction_true[-1] >= 0.9
    assert table.expected_calibration_error < 0.1


@pytest.mark.slow
def test_rows_of_other_cells_leave_no_false_clade_well_supported(
    embryo: tuple[NDArray[np.float64], Tree, Tree],
) -> None:
    features, truth, prior = embryo
    features = features[np.random.default_rng(8).permutation(len(features))]
    fit = AdaptiveLearner(repeats=1).fit(features, truth.leaves, prior=prior, seed=0)
    sampled = bootstrap_trees(fit, features, n=50, seed=0, workers=2)
    found = calibrate_support(fit, features, runs=6, resamples=20, seed=0, workers=2)
    assert found.basis == "labels"
    tree = fit.tree()
    raw = judge_support(sampled.support(tree), truth, prior)
    told = judge_support(found.support(tree, sampled, prior), truth, prior)
    assert (raw.support[~raw.true] > 0.5).sum() > 20
    assert told.support[~told.true].max() < 0.9
    assert (told.support[~told.true] > 0.5).mean() < 0.1
