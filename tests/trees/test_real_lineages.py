"""The real C. elegans matrix: what plain neighbour joining makes of it, with and without prior knowledge."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform

from celltreeqm.trees import (
    Tree,
    neighbor_joining,
    prior_at_level,
    prior_from_lineage_names,
    read_newick,
    robinson_foulds,
)


@pytest.fixture(scope="module")
def epic(shared_data: Path) -> tuple[pd.DataFrame, Tree]:
    folder = shared_data / "epic190"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there.")
    return pd.read_csv(folder / "expression.csv.gz", index_col=0), read_newick(folder / "tree.nwk")


def distances(table: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(squareform(pdist(table.to_numpy())), index=table.index, columns=table.index)


def test_plain_neighbour_joining_gets_half_of_the_real_splits(epic):
    table, truth = epic
    assert table.shape == (190, 237)
    assert robinson_foulds(neighbor_joining(distances(table)), truth) == pytest.approx(0.52, abs=0.01)


def test_a_prior_is_honoured_on_real_data_and_helps(epic):
    table, truth = epic
    prior = prior_at_level(truth, 3)
    tree = neighbor_joining(distances(table), prior=prior)
    assert robinson_foulds(neighbor_joining(distances(table), prior=prior_from_lineage_names(table.index)), truth) == 0
    assert robinson_foulds(tree, truth) < 0.52
    for clade in prior.clades(1):
        inside = [name in set(clade) for name in tree.leaves]
        assert len(clade) == 1 or any((row == inside).all() or (~row == inside).all() for row in tree.splits())
