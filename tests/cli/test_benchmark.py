"""``celltreeqm benchmark``: run, table and list at the smallest size."""

import csv
import subprocess
import sys

import pandas as pd
import pytest

from celltreeqm.benchmark import Method, _methods, load_results, method_names, task_names
from celltreeqm.cli import main

TIMINGS = ["wall_seconds", "cpu_seconds", "peak_memory"]


@pytest.fixture(autouse=True)
def no_data(monkeypatch, tmp_path):
    monkeypatch.delenv("CELLTREEQM_DATA", raising=False)
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.chdir(tmp_path)


def run(*arguments):
    """The exit code."""
    with pytest.raises(SystemExit) as ended:
        main(["benchmark", *map(str, arguments)])
    return ended.value.code


def run_tiny(task, *arguments):
    return run("run", task, "--size", "tiny", "--workers", 1, *arguments)


def fail(problem, seed):
    raise ZeroDivisionError("no luck")


def files(folder):
    return sorted(path.name.rpartition("_")[0] for path in folder.rglob("*.json"))


def test_run_does_each_job_once_and_table_shows_it(tmp_path, capsys):
    assert run_tiny("table-sim", "--seeds", 2, "--methods", "direct,copy-nearest") == 0
    assert "4 done, 0 failed, 0 done before" in capsys.readouterr().out
    folder = tmp_path / "benchmark-results"
    assert files(folder) == [f"tiny_{method}_{seed}" for method in ("copy-nearest", "direct") for seed in (0, 1)]
    assert run_tiny("table-sim", "--seeds", 3) == 0
    assert "1 done, 0 failed, 2 done before" in capsys.readouterr().out
    assert run("table", "table-sim", "--against", "direct") == 0
    shown = capsys.readouterr().out
    assert shown.startswith("## table-sim (tiny)\n")
    assert "RF minus direct [95 %]" in shown
    assert "mean of all" in shown


def test_seeds_shards_and_folder_are_those_asked_for(tmp_path):
    for i in (1, 2):
        assert (
            run_tiny(
                "sim-unsupervised", "--seeds", 3, "--first-seed", 5, "--shard", f"{i}/2", "-o", tmp_path / f"part{i}"
            )
            == 0
        )
    assert files(tmp_path / "part1") == ["tiny_direct_5", "tiny_direct_7"]
    assert files(tmp_path / "part2") == ["tiny_direct_6"]


def test_a_dask_cluster_gives_the_results_of_local_workers(tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tcp://", dashboard_address=None
    ) as cluster:
        on_cluster = ("--scheduler", cluster.scheduler_address)
        assert run("run", "table-sim", "--size", "tiny", "--seeds", 2, "-o", "there", *on_cluster) == 0
    assert run_tiny("table-sim", "--seeds", 2, "-o", "here") == 0
    there, here = (load_results(tmp_path / name).drop(columns=TIMINGS) for name in ("there", "here"))
    pd.testing.assert_frame_equal(there, here)


def test_a_table_is_written_as_its_ending_says_and_not_over_another(tmp_path, capsys):
    assert run_tiny("sim-partition", "-o", tmp_path / "r") == 0
    table = ("table", "sim-partition", "--results", tmp_path / "r")
    for name, start in {"t.md": "## sim-partition", "t.tex": "% sim-partition", "t.csv": "task,size,"}.items():
        assert run(*table, "-o", tmp_path / name) == 0
        assert (tmp_path / name).read_text().startswith(start)
    assert run(*table, "--style", "csv", "--metric", "RF", "-o", tmp_path / "t.md") == 1
    assert "t.md exists" in capsys.readouterr().err
    assert run(*table, "--style", "csv", "--metric", "RF", "-o", tmp_path / "t.md", "--force") == 0
    with open(tmp_path / "t.md", newline="") as file:
        metrics = {row["metric"] for row in csv.DictReader(file)}
    assert {"RF", "U-QD", "K-QD"} <= metrics
    capsys.readouterr()
    assert run(*table, "--metric", "QD") == 0
    shown = capsys.readouterr().out
    assert " QD |" in shown
    assert "U-QD |" in shown
    assert " RF |" not in shown


def test_missing_data_are_said_and_nothing_takes_their_place(tmp_path, capsys):
    assert run_tiny("real-epic190") == 0
    assert "real-epic190: not run: data missing (" in capsys.readouterr().out
    assert files(tmp_path / "benchmark-results") == []
    for folder in ("benchmark-results", "never"):
        assert run("table", "real-epic190", "--results", folder) == 0
        assert "not run: data missing (" in capsys.readouterr().out
    (tmp_path / "empty").mkdir()
    assert run_tiny("tedsim", "--data", tmp_path / "empty") == 0
    assert f"not in {tmp_path / 'empty'}" in capsys.readouterr().out


def test_failed_jobs_end_with_1_and_are_told(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(_methods._methods._entries, "odd", Method("odd", fail))
    assert run_tiny("table-sim", "--methods", "odd", "--methods", "direct") == 1
    assert "ZeroDivisionError: no luck" in capsys.readouterr().out
    assert run("table", "table-sim") == 0
    assert "odd: 1 of 1 jobs failed" in capsys.readouterr().out
    assert run_tiny("table-sim", "--methods", "odd") == 1
    assert "0 done, 0 failed, 0 done before, 1 failed before" in capsys.readouterr().out
    assert run_tiny("table-sim", "--methods", "odd", "--retry-failed") == 1
    assert "0 done, 1 failed, 0 done before" in capsys.readouterr().out


def test_ctrl_c_tells_how_to_go_on(capsys, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("celltreeqm.benchmark.run_benchmark", stop)
    assert run_tiny("table-sim") == 130
    assert "what was done is in benchmark-results, and the same command goes on from there" in capsys.readouterr().err


def test_list_names_all_tasks_and_methods_and_what_is_missing(capsys, tmp_path):
    assert run("list") == 0
    shown = capsys.readouterr().out
    for name in (*task_names(), *method_names()):
        assert f"\n  {name} " in shown
    assert shown.count("not run: data missing (") == 3
    for name in ("counts_l1", "counts_l0p05"):
        (tmp_path / "tedsim").mkdir(exist_ok=True)
        (tmp_path / "tedsim" / f"{name}_52382.csv.gz").touch()
        (tmp_path / "tedsim" / f"{name.replace('counts', 'tree')}_52382.nwk").touch()
    assert run("list", "--data", tmp_path) == 0
    assert capsys.readouterr().out.count("not run: data missing (") == 2


@pytest.mark.parametrize(
    "arguments, code, sentence",
    [
        (("run", "table-sum"), 1, "Error: There is no task called 'table-sum'; there are: table-sim"),
        (("run", "table-sim", "--methods", "magic"), 1, "There is no method called 'magic'; there are: direct"),
        (("run", "table-sim", "--methods", " ,"), 1, "methods=[] was given; at least one was needed"),
        (("run", "table-sim", "--shard", "3/2"), 1, "Shard 3/2 was given; shards are counted from 1/2 to 2/2"),
        (("run", "table-sim", "--data", "nowhere"), 1, "There is no folder nowhere; name the one that holds"),
        (("run", "table-sim", "--size", "huge"), 2, "'huge' is not one of 'tiny'"),
        (("run", "table-sim", "--seeds", "0"), 2, "Invalid value for '--seeds'"),
        (("run",), 2, "Missing argument"),
        (("table", "table-sim"), 1, "There is no folder benchmark-results. Run the task (celltreeqm benchmark run"),
        (("table", "table-sum"), 1, "There is no task called 'table-sum'"),
        (("table", "table-sim", "--style", "html"), 2, "'html' is not one of 'markdown'"),
    ],
)
def test_wrong_wishes_get_a_sentence(capsys, tmp_path, arguments, code, sentence):
    assert run(*arguments) == code
    told = capsys.readouterr()
    assert sentence in told.err
    assert told.out == ""
    assert list(tmp_path.iterdir()) == []


def test_results_of_another_version_are_refused_and_kept(tmp_path, capsys, monkeypatch):
    assert run_tiny("sim-unsupervised") == 0
    monkeypatch.setattr("celltreeqm.benchmark._code_version._digest_of_package", lambda: "another")
    assert run_tiny("sim-unsupervised") == 1
    assert "holds 1 of 1 results of another code version" in capsys.readouterr().err
    assert run("table", "sim-unsupervised") == 0
    assert "made by another code version than this one" in capsys.readouterr().out


@pytest.mark.parametrize("command", [(), ("simulate",), ("evaluate",), ("benchmark",), ("benchmark", "run")])
def test_help_needs_no_numerical_library(command):
    code = (
        f"import sys\nfrom celltreeqm.cli import main\ntry: main([*{command!r}, '--help'])\nexcept SystemExit: pass\n"
    )
    code += "print(*({'numpy', 'numba', 'scipy', 'pandas', 'anndata'} & set(sys.modules)), file=sys.stderr)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stderr.strip() == ""
    assert "Usage" in ran.stdout
