"""``celltreeqm demo``: what it writes is true, whole, and the same again."""

import csv
import json

import numpy as np
import pandas as pd
import pytest

import celltreeqm as ctq
from celltreeqm.cli import main
from celltreeqm.cli._demo import _draw

pytest.importorskip("matplotlib")

FILES = {
    "comparison.tsv",
    "demo.json",
    "features.csv",
    "prior.nwk",
    "tree-with-prior.nwk",
    "tree.nwk",
    "trees.png",
    "truth.nwk",
}


def run_demo(*arguments):
    """The exit code."""
    with pytest.raises(SystemExit) as ended:
        main(["demo", *map(str, arguments)])
    return ended.value.code


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "run"
    assert run_demo("-o", folder, "--leaves", 16) == 0
    return folder


def read(folder, name):
    return ctq.read_newick(folder / name)


def test_it_names_the_files_it_wrote_and_leaves_no_others(tmp_path, capsys):
    assert run_demo("-o", tmp_path / "run", "--leaves", 11) == 0
    said = capsys.readouterr().out
    assert {path.name for path in (tmp_path / "run").iterdir()} == FILES
    assert all(f"{tmp_path / 'run' / name} " in said for name in FILES)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_the_comparison_is_that_of_the_trees_written(folder):
    truth = read(folder, "truth.nwk")
    untraced = set(truth.leaves) - set(read(folder, "prior.nwk").leaves)
    assert len(untraced) == 8
    with open(folder / "comparison.tsv", newline="") as file:
        rows = {row["tree"]: row for row in csv.DictReader(file, delimiter="\t")}
    for row, name in (("without prior", "tree.nwk"), ("with prior", "tree-with-prior.nwk")):
        tree = read(folder, name)
        part, true_part = tree.restrict(untraced), truth.restrict(untraced)
        expected = {
            "rf": ctq.robinson_foulds(tree, truth),
            "quartet_distance": ctq.quartet_distance(tree, truth),
            "rf_untraced": ctq.robinson_foulds(part, true_part),
            "quartet_distance_untraced": ctq.quartet_distance(part, true_part),
        }
        assert {key: float(value) for key, value in rows[row].items() if key != "tree"} == pytest.approx(
            expected, abs=1e-4
        )


def test_what_a_prior_flatters_never_stands_alone_in_the_figure():
    truth = ctq.random_tree(8, seed=0)
    row = {"rf": 0.5, "quartet_distance": 0.1, "rf_untraced": 0.25, "quartet_distance_untraced": 0.4}
    figure = _draw(truth, truth, truth, pd.DataFrame({"without prior": row, "with prior": row}).T)
    _, *titles = (ax.get_title(loc="left") for ax in figure.axes)
    below = "RF 0.50\nuntraced: RF 0.25, QD 0.40"
    assert titles == [f"without prior: {below}", f"with prior: {below}"]


def test_the_tree_with_prior_displays_it_and_the_other_is_built_from_the_features(folder):
    prior = read(folder, "prior.nwk")
    assert read(folder, "tree-with-prior.nwk").restrict(prior.leaves).unroot().same_topology(prior.unroot())
    table = np.genfromtxt(folder / "features.csv", delimiter=",", skip_header=1)[:, 1:]
    assert table.shape == (16, 80)
    distances = np.sqrt(((table[:, None] - table[None]) ** 2).sum(axis=2))
    tree = ctq.neighbor_joining(distances, read(folder, "truth.nwk").leaves)
    assert tree.same_topology(read(folder, "tree.nwk").unroot())


def test_the_same_seed_gives_the_same_bytes_and_may_run_again_in_its_folder(folder, tmp_path):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    (folder / "notes.txt").write_text("mine")
    assert run_demo("-o", folder, "--leaves", 16) == 0
    assert (folder / "notes.txt").read_text() == "mine"
    (folder / "notes.txt").unlink()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert run_demo("-o", tmp_path / "other", "--leaves", 16, "--seed", 1) == 0
    assert (tmp_path / "other" / "truth.nwk").read_bytes() != before["truth.nwk"]
    assert json.loads((tmp_path / "other" / "demo.json").read_text())["seed"] == 1


def test_a_folder_of_other_things_is_refused_unless_forced(tmp_path, capsys):
    (tmp_path / "thesis.tex").write_text("mine")
    assert run_demo("-o", tmp_path, "--leaves", 8) == 1
    assert "is not empty and holds no demo.json of an earlier run" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    assert run_demo("-o", tmp_path, "--leaves", 8, "--force") == 0
    assert {path.name for path in tmp_path.iterdir()} == FILES | {"thesis.tex"}


def test_nothing_is_half_written_when_it_fails(tmp_path, monkeypatch, capsys):
    def fail(*_):
        raise OSError("The disk is full.")

    monkeypatch.setattr("celltreeqm.cli._demo._draw", fail)
    assert run_demo("-o", tmp_path / "run", "--leaves", 8) == 1
    assert "Error: The disk is full." in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_the_place_of_a_file_is_refused_before_anything_is_moved(tmp_path, capsys):
    (tmp_path / "run" / "truth.nwk").mkdir(parents=True)
    assert run_demo("-o", tmp_path / "run", "--leaves", 8, "--force") == 1
    assert "truth.nwk is a folder where a file was to be written" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["truth.nwk"]
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_place_that_cannot_hold_the_folder_is_refused_before_the_work(tmp_path, capsys, monkeypatch):
    (tmp_path / "file").write_text("x")
    assert run_demo("-o", tmp_path / "file" / "run") == 1
    told = capsys.readouterr()
    assert "is a file, so" in told.err
    assert told.out == ""
    monkeypatch.setattr("os.access", lambda path, mode: False)
    assert run_demo("-o", tmp_path / "run") == 1
    told = capsys.readouterr()
    assert f"Nothing may be written to {tmp_path}" in told.err
    assert told.out == ""


def test_a_folder_that_exists_is_filled_without_writing_beside_it(tmp_path):
    from celltreeqm.cli._run_folder import filled_folder

    (tmp_path / "run").mkdir()
    with filled_folder(tmp_path / "run") as work:
        assert work.parent == tmp_path / "run"
        (work / "a").write_text("x")
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["a"]
