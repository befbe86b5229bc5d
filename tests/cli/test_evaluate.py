"""``celltreeqm evaluate``: what it prints is what the function finds."""

import io
import json

import pandas as pd
import pytest

import celltreeqm as ctq
from celltreeqm.cli import main


def run(*arguments):
    """The exit code."""
    with pytest.raises(SystemExit) as ended:
        main(["evaluate", *map(str, arguments)])
    return ended.value.code


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    """A folder of files, and the tree, truth, priors and simulation in them."""
    folder = tmp_path_factory.mktemp("evaluate")
    simulation = ctq.simulate_scenario("D1", leaves=16, seed=4)
    truth = simulation.truth
    priors = [truth.restrict(truth.leaves[:5]), truth.restrict(truth.leaves[8:13])]
    tree = ctq.DirectLearner().fit(simulation.features, truth.leaves, prior=priors).tree()
    table = pd.DataFrame(simulation.features, index=truth.leaves).sample(frac=1, random_state=0)
    table.to_csv(folder / "features.csv")
    table.to_csv(folder / "features.csv.gz")
    table.to_csv(folder / "features.tsv.gz", sep="\t")
    simulation.to_treedata().write_h5td(folder / "features.h5td")
    for name, value in {"tree": tree, "truth": truth, "prior0": priors[0], "prior1": priors[1]}.items():
        ctq.write_newick(value, folder / f"{name}.nwk")
    newicks = [(folder / f"prior{i}.nwk").read_text() for i in (0, 1)]
    (folder / "both.nwk").write_text("".join(newicks))
    table.to_csv(folder / "semicolons.csv", sep=";")
    (folder / "words.csv").write_text("leaf,a,b\n" + "".join(f"{leaf},1,x\n" for leaf in truth.leaves))
    return folder, tree, truth, priors, simulation


def test_it_prints_the_evaluation(case, capsys):
    folder, tree, truth, priors, simulation = case
    expected = ctq.evaluate(tree, truth, prior=priors, features=simulation.features, leaves=truth.leaves)
    known = ["--prior", folder / "prior0.nwk", "--prior", folder / "prior1.nwk"]
    assert run(folder / "tree.nwk", folder / "truth.nwk", *known, "--features", folder / "features.csv") == 0
    assert capsys.readouterr().out == f"{expected}\n"
    assert "given" in str(expected)


@pytest.mark.parametrize("name", ["features.csv", "features.tsv.gz", "features.h5td"])
def test_several_priors_may_be_in_one_file_and_features_in_several_forms(case, capsys, name):
    folder, tree, truth, priors, simulation = case
    expected = ctq.evaluate(tree, truth, prior=priors, features=simulation.features, leaves=truth.leaves)
    known = ["--prior", folder / "both.nwk", "--features", folder / name]
    assert run(folder / "tree.nwk", folder / "truth.nwk", *known, "--tsv") == 0
    table = pd.read_csv(io.StringIO(capsys.readouterr().out), sep="\t")
    pd.testing.assert_frame_equal(table, expected.table, check_dtype=False)


def test_json_has_the_same_numbers(case, capsys):
    folder, tree, truth, priors, _ = case
    expected = ctq.evaluate(tree, truth, prior=priors[0], honor_prior=False)
    known = ["--prior", folder / "prior0.nwk", "--no-honor-prior"]
    assert run(folder / "tree.nwk", folder / "truth.nwk", *known, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["evaluated"] == "16 leaves, 5 of them in the prior, which is not honoured"
    values = {row["metric"]: row["value"] for row in found["metrics"]}
    assert values["RF"] == expected["RF"]
    assert values["U-QD"] == expected["U-QD"]
    assert all(row["direct"] is None for row in found["metrics"])


def test_what_cannot_be_compared_gets_a_sentence(case, tmp_path, capsys):
    folder, _, truth, *_ = case
    small, files = tmp_path / "small.nwk", (folder / "tree.nwk", folder / "truth.nwk")
    ctq.write_newick(truth.restrict(truth.leaves[:6]), small)
    for arguments, code, sentence in (
        ((small, files[1]), 1, "Error: The tree has 6 leaves and the truth 16, and they are not the same"),
        ((files[0], tmp_path / "none.nwk"), 1, "There is no file"),
        ((*files, "--features", tmp_path / "none.csv"), 1, "There is no file"),
        ((*files, "--features", small), 1, "a .csv, .tsv, .h5ad or .h5td file was needed"),
        ((*files, "--features", folder / "words.csv"), 1, "1 of 2 columns of"),
        ((*files, "--features", folder / "semicolons.csv"), 1, "semicolons.csv has one column only; leaf names and"),
        ((*files, "--json", "--tsv"), 2, "one of them is possible"),
        (files[:1], 2, "Missing argument"),
    ):
        assert run(*arguments) == code
        told = capsys.readouterr()
        assert sentence in told.err
        assert told.out == ""


def test_leaf_names_stay_as_they_are_written(tmp_path, capsys):
    leaves = ["007", "010", "1e5", "12"]
    (tmp_path / "tree.nwk").write_text("((007,010),(1e5,12));")
    (tmp_path / "features.csv").write_text("leaf,a\n" + "".join(f"{leaf},{i}\n" for i, leaf in enumerate(leaves)))
    assert run(tmp_path / "tree.nwk", tmp_path / "tree.nwk", "--features", tmp_path / "features.csv") == 0
    assert "direct" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["cut.csv.gz", "plain.csv.gz", "empty.csv", "latin.csv", "table.h5ad", "cut.h5td"])
def test_files_that_are_damaged_or_of_another_kind_are_named(case, tmp_path, capsys, name):
    folder = case[0]
    contents = {
        "cut.csv.gz": (folder / "features.csv.gz").read_bytes()[:500],
        "plain.csv.gz": (folder / "features.csv").read_bytes(),
        "empty.csv": b"",
        "latin.csv": "leaf,Größe\nt1,1\n".encode("latin-1"),
        "table.h5ad": (folder / "features.csv").read_bytes(),
        "cut.h5td": (folder / "features.h5td").read_bytes()[:5000],
    }
    (tmp_path / name).write_bytes(contents[name])
    assert run(folder / "tree.nwk", folder / "truth.nwk", "--features", tmp_path / name) == 1
    told = capsys.readouterr()
    assert told.err.startswith(f"Error: {tmp_path / name} cannot be read as its ending says (")
    assert told.err.endswith("). Is it whole, and of that kind?\n")
    assert told.out == ""
