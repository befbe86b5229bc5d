"""``celltreeqm simulate``: the files hold what the functions give, whole, and replace nothing unasked."""

import anndata
import numpy as np
import pandas as pd
import pytest
import treedata

import celltreeqm as ctq
from celltreeqm.cli import main
from celltreeqm.trees import from_obst


def run(*arguments):
    """The exit code."""
    with pytest.raises(SystemExit) as ended:
        main(["simulate", *map(str, arguments)])
    return ended.value.code


SETTINGS = ("--scenario", "B1", "--leaves", 16, "--seed", 1)


@pytest.fixture(scope="module")
def simulation():
    return ctq.simulate_scenario("B1", leaves=16, seed=1)


@pytest.mark.parametrize("name, separator", [("sim.csv", ","), ("sim.tsv", "\t")])
def test_a_table_holds_the_features_exactly_and_the_truth_is_beside_it(tmp_path, simulation, name, separator):
    assert run(*SETTINGS, "-o", tmp_path / name) == 0
    table = pd.read_csv(tmp_path / name, sep=separator, index_col="leaf", float_precision="round_trip")
    assert tuple(table.index) == simulation.leaves
    assert tuple(table.columns) == simulation.feature_names
    np.testing.assert_array_equal(table, simulation.features)
    assert ctq.read_newick(tmp_path / "sim.truth.nwk").same_topology(simulation.truth)
    assert {path.name for path in tmp_path.iterdir()} == {name, "sim.truth.nwk"}


def test_a_treedata_holds_features_kinds_and_truth(tmp_path, simulation, capsys):
    assert run(*SETTINGS, "-o", tmp_path / "sim.h5td") == 0
    said = capsys.readouterr().out
    assert f"Wrote {tmp_path / 'sim.h5td'}: {simulation}" in said
    tdata = treedata.read_h5td(tmp_path / "sim.h5td")
    np.testing.assert_array_equal(tdata.X, simulation.features)
    assert tuple(tdata.var["kind"]) == simulation.kinds
    assert from_obst(tdata, "truth").same_topology(simulation.truth)


def test_counts_are_raw_and_of_the_same_tree(tmp_path, simulation):
    output = tmp_path / "cells.h5ad"
    assert run(*SETTINGS, "--counts", "--cells-per-taxon", 3, "--embryos", 2, "--dropout", 0.1, "-o", output) == 0
    cells = anndata.read_h5ad(output)
    expected = ctq.simulate_counts(simulation, cells_per_taxon=3, embryos=2, dropout=0.1, seed=1)
    np.testing.assert_array_equal(cells.X.toarray(), expected.X.toarray())
    assert cells.n_obs == 48
    assert ctq.parse_newick(cells.uns["truth"]).same_topology(simulation.truth)
    assert ctq.read_newick(tmp_path / "cells.truth.nwk").same_topology(simulation.truth)


def test_options_reach_the_simulation(tmp_path, capsys):
    assert (
        run("--scenario", "A1", "--leaves", 8, "--increments", "variance", "--seed", 3, "-o", tmp_path / "a.csv") == 0
    )
    table = pd.read_csv(tmp_path / "a.csv", index_col=0)
    expected = ctq.simulate_scenario("A1", leaves=8, increments="variance", seed=3)
    np.testing.assert_allclose(table, expected.features)
    assert run("--scenario", "B1", "--leaves", 11, "--shape", "yule", "--seed", 3, "-o", tmp_path / "c.csv") == 0
    expected = ctq.simulate_scenario("B1", leaves=11, shape="yule", seed=3)
    np.testing.assert_allclose(pd.read_csv(tmp_path / "c.csv", index_col=0), expected.features)
    assert run("--scenario", "A1", "--leaves", 8, "-o", tmp_path / "b.csv") == 0
    assert "seed " in capsys.readouterr().out  # the one that was drawn


def test_nothing_is_replaced_unless_forced(tmp_path, capsys):
    (tmp_path / "sim.csv").write_text("mine")
    assert run(*SETTINGS, "-o", tmp_path / "sim.csv") == 1
    assert "sim.csv exists. Name another file with -o, or replace it with --force." in capsys.readouterr().err
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]
    (tmp_path / "other.truth.nwk").write_text("(a,b);")
    assert run(*SETTINGS, "-o", tmp_path / "other.csv") == 1
    assert "other.truth.nwk exists" in capsys.readouterr().err
    assert not (tmp_path / "other.csv").exists()
    assert run(*SETTINGS, "-o", tmp_path / "sim.csv", "--force") == 0
    assert run(*SETTINGS, "-o", tmp_path / "sim.tsv") == 0  # beside the truth that is the same


def test_nothing_is_half_written_when_it_fails(tmp_path, monkeypatch, capsys):
    def fail(*_):
        (tmp_path / "witness").touch()
        raise OSError("The disk is full.")

    monkeypatch.setattr("celltreeqm.cli._simulate._write_table", fail)
    assert run(*SETTINGS, "-o", tmp_path / "sim.csv") == 1
    assert capsys.readouterr().err == "Error: The disk is full.\n"
    assert [path.name for path in tmp_path.iterdir()] == ["witness"]


@pytest.mark.parametrize(
    "arguments, code, sentence",
    [
        (("--scenario", "Z9", "-o", "x.csv"), 1, "Error: scenario='Z9' was given; the scenarios are A1, A2"),
        (("--scenario", "A1", "--leaves", 12, "-o", "x.csv"), 1, "a balanced tree has a power of two"),
        (("--scenario", "A1", "-o", "none/x.csv"), 1, "There is no folder none to write x.csv to"),
        (("--scenario", "A1", "-o", "."), 2, "Features go to an .h5td, .csv or .tsv file"),
        (("--scenario", "A1", "-o", "x.h5ad"), 2, ".h5ad is for --counts"),
        (("--scenario", "A1", "--counts", "-o", "x.csv"), 2, "Counts go to an .h5ad file"),
        (("--scenario", "A1", "--counts", "--dropout", 2, "-o", "x.h5ad"), 1, "dropout=2.0 was given; it is a share"),
        (("--scenario", "A1", "--embryos", 2, "-o", "x.csv"), 2, "--embryos is for --counts"),
        (("--scenario", "A1", "--dropout", 0, "-o", "x.csv"), 2, "--dropout is for --counts"),
        (("-o", "x.csv"), 2, "Missing option"),
    ],
)
def test_wrong_wishes_get_a_sentence(tmp_path, monkeypatch, capsys, arguments, code, sentence):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")
    assert run(*arguments) == code
    assert sentence in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
