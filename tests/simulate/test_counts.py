"""Counts of single cells: their moments, and that pseudo-bulk brings the taxa back."""

import anndata
import numpy as np
import pytest
from scipy import sparse

from celltreeqm.simulate import Scenario, simulate_counts, simulate_scenario
from celltreeqm.trees import parse_newick

PAIR = simulate_scenario(Scenario(leaves=2, signal=6), seed=0)
EVEN = {"embryos": 1, "library_spread": 0.0, "embryo_effect": 0.0}  # nothing varies but the molecules


def pseudobulk(cells, taxon, embryo=None):
    rows = cells.obs["lineage"] == taxon
    if embryo is not None:
        rows &= cells.obs["embryo"] == embryo
    return np.asarray(cells.X[rows.to_numpy()].mean(axis=0)).ravel()


def test_there_is_a_row_for_every_cell_and_whole_numbers_in_it():
    simulation = simulate_scenario("A1", leaves=16, seed=0)
    cells = simulate_counts(simulation, cells_per_taxon=12, embryos=4, seed=1)
    assert cells.shape == (192, 60)
    assert sparse.issparse(cells.X)
    assert np.issubdtype(cells.X.dtype, np.integer)
    assert cells.X.min() >= 0
    assert cells.obs["lineage"].value_counts().to_dict() == dict.fromkeys(simulation.leaves, 12)
    assert list(cells.obs["lineage"].cat.categories) == list(simulation.leaves)
    assert cells.obs["lineage"].tolist() != sorted(cells.obs["lineage"]), "in random order"
    assert sorted(cells.obs["embryo"].unique()) == ["embryo_1", "embryo_2", "embryo_3", "embryo_4"]
    assert tuple(cells.var["kind"]) == simulation.kinds
    assert cells.obs_names.is_unique
    assert parse_newick(cells.uns["truth"]).same_topology(simulation.truth)


def test_library_sizes_have_the_mean_and_spread_asked_for_and_are_those_of_the_cells():
    cells = simulate_counts(PAIR, cells_per_taxon=4000, library_size=3000, library_spread=0.5, dispersion=0, seed=0)
    size, total = cells.obs["library_size"].to_numpy(), np.asarray(cells.X.sum(axis=1)).ravel()
    assert size.mean() == pytest.approx(3000, rel=0.03)
    assert np.log(size).std() == pytest.approx(0.5, rel=0.04)
    assert np.std((total - size) / np.sqrt(size)) == pytest.approx(1, rel=0.04), "totals are Poisson about it"


@pytest.mark.parametrize("dispersion", [0.0, 0.4])
def test_counts_are_negative_binomial(dispersion):
    cells = simulate_counts(PAIR, cells_per_taxon=6000, library_size=300, dispersion=dispersion, seed=0, **EVEN)
    for taxon in PAIR.leaves:
        counts = cells.X[(cells.obs["lineage"] == taxon).to_numpy()].toarray()
        mean = counts.mean(axis=0)
        assert mean.sum() == pytest.approx(300, rel=0.02)
        np.testing.assert_allclose(counts.var(axis=0), mean + dispersion * mean**2, rtol=0.12)


def test_dropout_loses_its_share_of_counts():
    full = simulate_counts(PAIR, cells_per_taxon=3000, library_size=3000, dispersion=0, seed=0, **EVEN)
    lost = simulate_counts(PAIR, cells_per_taxon=3000, library_size=3000, dispersion=0, dropout=0.3, seed=0, **EVEN)
    assert lost.X.nnz / full.X.nnz == pytest.approx(0.7, abs=0.01)
    np.testing.assert_allclose(pseudobulk(lost, "t1") / pseudobulk(full, "t1"), 0.7, atol=0.05)


def test_ambient_molecules_mix_the_mean_profile_in():
    deep = {"cells_per_taxon": 50, "library_size": 1e7, "dispersion": 0, "seed": 0, **EVEN}
    clean, soup = simulate_counts(PAIR, **deep), simulate_counts(PAIR, ambient=0.4, **deep)
    profiles = np.array([pseudobulk(clean, taxon) for taxon in PAIR.leaves]) / 1e7
    expected = 0.6 * profiles + 0.4 * profiles.mean(axis=0)
    observed = np.array([pseudobulk(soup, taxon) for taxon in PAIR.leaves]) / 1e7
    np.testing.assert_allclose(observed, expected, rtol=0.005)
    assert not np.allclose(profiles, expected, rtol=0.05), "or the test says nothing"


def test_ambient_molecules_are_those_of_the_cells_own_embryo():
    settings = {"cells_per_taxon": 200, "embryos": 2, "library_size": 1e7, "library_spread": 0.0, "dispersion": 0}
    cells = simulate_counts(PAIR, ambient=0.99, embryo_effect=2.0, seed=0, **settings)
    clean = simulate_counts(PAIR, embryo_effect=2.0, seed=0, **settings)
    for embryo in ("embryo_1", "embryo_2"):
        rows = (clean.obs["embryo"] == embryo).to_numpy()
        air = np.asarray(clean.X[rows].mean(axis=0)).ravel()
        for taxon in PAIR.leaves:
            np.testing.assert_allclose(pseudobulk(cells, taxon, embryo), air, rtol=0.05)


def test_log_fold_changes_between_taxa_are_those_of_their_features():
    simulation = simulate_scenario(Scenario(leaves=8, signal=30, noise=10), seed=1)
    cells = simulate_counts(
        simulation, cells_per_taxon=20, library_size=1e7, dispersion=0, fold_spread=0.7, seed=2, **EVEN
    )
    x = simulation.features * 0.7 / simulation.features[:, simulation.signal].std(axis=0).mean()
    logs = np.log([pseudobulk(cells, taxon) for taxon in simulation.leaves])
    change = logs - logs[0] - (x - x[0])  # the same for all genes of a taxon: its profile sums to one
    assert np.abs(change - change.mean(axis=1, keepdims=True)).max() < 0.05
    assert np.std(logs.mean(axis=0)) == pytest.approx(1, rel=0.4), "genes differ in abundance"


@pytest.mark.parametrize("effect", [0.0, 0.5])
def test_embryos_shift_genes_and_shift_them_for_all_taxa_alike(effect):
    simulation = simulate_scenario(Scenario(leaves=4, signal=40), seed=1)
    cells = simulate_counts(
        simulation,
        cells_per_taxon=60,
        embryos=2,
        library_size=1e7,
        dispersion=0,
        library_spread=0,
        embryo_effect=effect,
        seed=2,
    )
    shifts = np.array(
        [
            np.log(pseudobulk(cells, taxon, "embryo_1")) - np.log(pseudobulk(cells, taxon, "embryo_2"))
            for taxon in simulation.leaves
        ]
    )
    shifts -= shifts.mean(axis=1, keepdims=True)
    assert np.ptp(shifts, axis=0).max() < 0.05
    assert shifts[0].std() == pytest.approx(effect * np.sqrt(2), rel=0.3, abs=0.01)


def test_the_seed_decides_and_is_recorded():
    simulation = simulate_scenario("A1", leaves=8, seed=0)
    before = simulation.features.tobytes()
    cells = simulate_counts(simulation)
    again = simulate_counts(simulation, seed=int(cells.uns["simulation"]["history"][-1].split()[1]))
    assert (cells.X != again.X).nnz == 0
    assert cells.obs.equals(again.obs)
    assert (simulate_counts(simulation).X != cells.X).nnz > 0
    assert simulation.features.tobytes() == before


def test_counts_survive_their_file(tmp_path):
    cells = simulate_counts(simulate_scenario("weak", leaves=8, seed=0), cells_per_taxon=3, dropout=0.2, seed=0)
    cells.write_h5ad(tmp_path / "cells.h5ad")
    again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    assert (again.X != cells.X).nnz == 0
    assert again.uns["simulation"]["dropout"] == 0.2
    assert again.obs["lineage"].tolist() == cells.obs["lineage"].tolist()


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ({"cells_per_taxon": 0}, "cells_per_taxon=0 was given; at least 1 is needed"),
        ({"embryos": -2}, "embryos=-2 was given; at least 1 is needed"),
        ({"library_size": 0}, "library_size=0 was given; a finite number of more than 0 is needed"),
        ({"library_size": -5}, "library_size=-5 was given"),
        ({"library_spread": -1}, "library_spread=-1 was given; a finite number of 0 or more is needed"),
        ({"dispersion": float("nan")}, "dispersion=nan was given; a finite number of 0 or more is needed"),
        ({"dropout": 1}, "dropout=1 was given; it is a share, from 0 to below 1"),
        ({"ambient": -0.1}, "ambient=-0.1 was given; it is a share, from 0 to below 1"),
        ({"embryo_effect": float("inf")}, "embryo_effect=inf was given"),
        ({"fold_spread": -1}, "fold_spread=-1 was given"),
        ({"abundance_spread": -1}, "abundance_spread=-1 was given"),
    ],
)
def test_bad_settings_are_told_in_a_sentence(setting, sentence):
    with pytest.raises(ValueError, match=sentence):
        simulate_counts(PAIR, **setting)


@pytest.mark.parametrize("library_size", [1e11, 1e30])
def test_counts_too_large_to_hold_are_told_in_a_sentence(library_size):
    with pytest.raises(ValueError, match="molecules of one gene would come from one cell; at most 1,000,000,000 can"):
        simulate_counts(PAIR, library_size=library_size, seed=0)


def test_what_is_no_number_and_no_simulation_is_told_in_a_sentence():
    with pytest.raises(TypeError, match="cells_per_taxon=2.5 was given; a whole number was needed"):
        simulate_counts(PAIR, cells_per_taxon=2.5)
    with pytest.raises(TypeError, match="dropout='a' was given; a number was needed"):
        simulate_counts(PAIR, dropout="a")
    with pytest.raises(TypeError, match="A ndarray came as the simulation; a Simulation was needed"):
        simulate_counts(PAIR.features)
