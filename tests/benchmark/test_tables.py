"""Tables: means, pairs and the paper's numbers as an explicit computation has them, and what is never left out."""

import csv
import io
import itertools
import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from celltreeqm.benchmark import format_table, load_results, paper_number, run_benchmark, summarize_results

from .fakes import IDLE, JOIN, ODD, TASK

SEEDS = 4
SIMULATED = "tbl:supervised_simulation"


def result(method, seed, problem, rf, **more):
    """One row as load_results gives them, of a problem with a prior on some leaves."""
    row = {"task": "fake", "size": "full", "method": method, "seed": seed, "status": "done", "error": None}
    row |= {"problem": problem, "control": "none", "features": "given", "honors_prior": False, "selection": "none"}
    row |= {
        "given": "",
        "RF": rf,
        "RF delta_direct": 1 - rf,
        "QD": rf / 2,
        "U-QD": rf / 3,
        "unlabelled-leaf RF": rf / 4,
    }
    row |= {"U-QD delta_direct": rf, "unlabelled-leaf RF delta_direct": rf, "K-QD count": 5, "QD count": 70}
    row |= {"wall_seconds": 1.0, "cpu_seconds": 1.0, "peak_memory": 1e6, "code": "abc", "stale": False, "file": "f"}
    return row | more


def results(*rows):
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def drawn():
    """Two methods on three problems; the second lacks the last one."""
    rng = np.random.default_rng(0)
    values = {
        (method, problem, seed): rng.random()
        for method, problem, seed in itertools.product(("direct", "new"), "abc", range(SEEDS))
        if (method, problem) != ("new", "c")
    }
    return values, results(*(result(method, seed, problem, rf) for (method, problem, seed), rf in values.items()))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    run_benchmark([TASK], [JOIN, ODD], folder=folder, size="smoke", seeds=3, workers=1)
    return folder


def cell(summary, metric="RF", **row):
    found = summary.table[summary.table["metric"] == metric]
    for name, value in row.items():
        found = found[found[name] == value]
    assert len(found) == 1
    return found.iloc[0]


def grids(text):
    """The tables of a Markdown text, each as a list of rows of cells."""
    blocks = re.findall(r"(?:^\|.*\|$\n?)+", text, flags=re.MULTILINE)
    return [[[cell.strip() for cell in line[1:-1].split("|")] for line in block.splitlines()] for block in blocks]


def test_means_and_spreads_are_over_seeds(drawn):
    values, table = drawn
    summary = summarize_results(table, "fake")
    for method, problem in (("direct", "a"), ("new", "b"), ("direct", "c")):
        mine = [values[method, problem, seed] for seed in range(SEEDS)]
        found = cell(summary, method=method, problem=problem)
        assert found["n"] == SEEDS
        assert found["mean"] == pytest.approx(np.mean(mine))
        assert found["sd"] == pytest.approx(np.std(mine, ddof=1))
    assert summary.table["change"].isna().all()


def test_methods_are_compared_in_pairs_of_problem_and_seed(drawn):
    values, table = drawn
    shuffled = table.sample(frac=1, random_state=0)  # so that no pairing by position passes
    summary = summarize_results(shuffled, "fake", against="direct")
    d = np.array([[values["new", p, s] - values["direct", p, s] for p in "ab"] for s in range(SEEDS)])
    for problem, differences in (("a", d[:, 0]), ("b", d[:, 1]), ("mean of all", d.mean(axis=1))):
        found = cell(summary, method="new", problem=problem)
        expected = ttest_1samp(differences, 0).confidence_interval(0.95)
        assert found["change"] == pytest.approx(differences.mean())
        assert (found["low"], found["high"]) == pytest.approx((expected.low, expected.high))
    assert np.isnan(cell(summary, method="direct", problem="a")["change"])
    assert "Student's t" in format_table(summary)


def test_a_single_seed_has_no_interval():
    table = results(result("direct", 0, "a", 0.5), result("new", 0, "a", 0.4))
    text = format_table(summarize_results(table, "fake", against="direct"))
    assert "-0.100 |" in text
    assert "nan" not in text


def test_realisations_are_averaged_within_their_seed():
    rfs = {0: (0.2, 0.4), 1: (0.6, 1.0)}
    table = results(
        *(
            result("direct", seed, f"32 leaves, realisation {i}", rf, realisation=i)
            for seed, those in rfs.items()
            for i, rf in enumerate(those)
        )
    )
    found = cell(summarize_results(table, "fake"), problem="32 leaves")
    assert (found["n"], found["mean"], found["sd"]) == (
        2,
        pytest.approx(0.55),
        pytest.approx(np.std([0.3, 0.8], ddof=1)),
    )


def of_the_papers_table(size="full"):
    rows = [f"{letter}{number}" for letter in "ABCD" for number in (1, 2, 3)]
    more = {"task": "table-sim", "size": size, "K-QD count": 70, "U-QD": np.nan, "unlabelled-leaf RF": np.nan}
    return results(
        *(
            result("direct", seed, row, 0.1 * seed + i / 100, scenario=row, features=features, **more)
            for i, row in enumerate(rows)
            for features in ("given", "signal", "replicate")
            for seed in range(3)
        )
    )


def test_both_direct_columns_stand_beside_the_papers_in_its_twelve_rows():
    text = format_table(summarize_results(of_the_papers_table(), "table-sim"))
    names, _, *rows = grids(text)[0]
    assert names[2:] == [
        *("Direct Recon. Signal: ours", "paper", "difference"),
        *("Direct Recon. Noisy: ours", "paper", "difference"),
    ]
    assert [row[0] for row in rows] == [f"{letter}{number}" for letter in "ABCD" for number in (1, 2, 3)]
    for i, row in enumerate(rows):
        ours = 0.1 + i / 100
        for at, column in ((2, "Direct Recon. Signal"), (5, "Direct Recon. Noisy")):
            number = paper_number(SIMULATED, row[0], column)
            assert row[1] == "3"
            assert row[at].startswith(f"{ours:.3f} (0.100)")
            assert float(row[at + 1]) == number
            assert float(row[at + 2]) == pytest.approx(ours - number, abs=6e-4)


def test_the_papers_numbers_do_not_stand_beside_smaller_problems():
    summary = summarize_results(of_the_papers_table("tiny"), "table-sim")
    assert summary.table["paper"].isna().all()
    assert "paper" not in format_table(summary)


@pytest.mark.parametrize("style", ["markdown", "latex"])
@pytest.mark.parametrize("metric, ending", [("RF", ""), ("P-QD", ""), ("RF delta_direct", " (direct)")])
def test_full_tree_distances_never_stand_without_the_unknown(drawn, style, metric, ending):
    _, table = drawn
    table = table.assign(**{"P-QD": 0.1})
    text = format_table(summarize_results(table, "fake", metrics=[metric]), style=style)
    assert f"U-QD{ending}" in text
    assert f"unlabelled-leaf RF{ending}" in text


def test_beside_the_paper_too_the_unknown_is_shown_where_something_is_known():
    table = of_the_papers_table().assign(**{"U-QD": 0.3, "unlabelled-leaf RF": 0.2, "K-QD": 0.1, "K-QD count": 5})
    names = grids(format_table(summarize_results(table, "table-sim", metrics=["QD"])))[0][0]
    assert {"Direct Recon. Signal: U-QD", "Direct Recon. Noisy: unlabelled-leaf RF"} <= set(names)


def test_a_missing_companion_is_explained():
    summary = summarize_results(of_the_papers_table(), "table-sim", metrics=["RF"])
    assert summary.metrics == ("RF",)
    assert "the prior resolves every quartet, so there is nothing unknown to show" in format_table(summary)


def test_rows_that_honour_the_prior_stand_beside_those_without(folder):
    summary = summarize_results(load_results(folder), "fake", metrics=["K-QD"])
    names, _, *rows = grids(format_table(summary))[0]
    joined = [(row[0], row[4]) for row in rows if row[2] == "join"]
    assert joined == [("problem 0", "no"), ("problem 0", "yes"), ("problem 1", "no"), ("problem 1", "yes")]
    at = names.index("K-QD")
    assert [row[at] == "given" for row in rows if row[2] == "join"] == [False, True, False, True]
    assert rows[0][5] == "by the toss of a coin"


def test_trees_under_a_prior_that_is_the_truth_are_left_out():
    table = results(
        result("new", 0, "a", 0.5, **{"K-QD count": 70}),
        result("new", 0, "a", 0.0, **{"K-QD count": 70, "honors_prior": True}),
    )
    summary = summarize_results(table, "fake")
    assert not summary.table["honors_prior"].any()
    assert "1 trees under a prior that resolves everything left out" in format_table(summary)


def test_failed_jobs_are_counted_under_the_table(folder):
    summary = summarize_results(load_results(folder), "fake")
    assert summary.failed == {"odd": 3}
    said = "odd: 3 of 3 jobs failed and are not in the means (seed 0: ZeroDivisionError: one problem too many)"
    assert f"- {said}" in format_table(summary)
    assert said in format_table(summary, style="latex")
    rows = pd.read_csv(io.StringIO(format_table(summary, style="csv")))
    assert set(rows.loc[rows["method"] == "join", "failed_jobs"]) == {0}
    assert rows.loc[rows["method"] == "odd", ["failed_jobs", "n"]].to_numpy().tolist() == [[3, 0]]
    only = load_results(folder)
    text = format_table(summarize_results(only[only["method"] == "odd"], "fake"), style="csv")
    assert said in next(iter(csv.DictReader(io.StringIO(text))))["note"]


def test_a_method_that_built_nothing_is_said_to_be_for_other_tasks(tmp_path):
    run_benchmark([TASK], [IDLE, JOIN], folder=tmp_path, size="tiny", seeds=2, workers=1)
    table = load_results(tmp_path)
    said = "idle: nothing was built in 2 of 2 jobs; the method is for other tasks"
    summary = summarize_results(table, "fake")
    assert f"- {said}" in format_table(summary)
    assert set(summary.table["method"]) == {"join"}
    alone = table[table["method"] == "idle"]
    assert alone["status"].tolist() == ["done", "done"]
    for only in (alone, alone.dropna(axis=1, how="all")):
        for style in ("markdown", "latex", "csv"):
            assert said in format_table(summarize_results(only, "fake"), style=style)


def test_a_task_that_was_not_run_says_why(drawn):
    _, table = drawn
    for found in (table, pd.DataFrame({"task": []})):
        summary = summarize_results(found, "real", not_run="data missing (no folder)")
        assert "- not run: data missing (no folder)" in format_table(summary)
        assert "not run: data missing (no folder)" in format_table(summary, style="latex")
        assert "real,,not run: data missing (no folder)" in format_table(summary, style="csv")
    with pytest.raises(ValueError, match="There are no results of task 'real' here. Run it: celltreeqm benchmark run"):
        summarize_results(table, "real")


def test_results_of_other_code_are_not_mixed_in():
    now = [result("direct", seed, "a", 0.5) for seed in range(2)]
    old = [result("direct", seed, "a", 0.9, code="old", stale=True, file=f"old {seed}") for seed in range(2)]
    older = result("direct", 2, "a", 0.9, code="older", stale=True)
    summary = summarize_results(results(*old, *now), "fake")
    assert cell(summary)["mean"] == 0.5
    assert "2 results of another code version left out" in summary.notes
    alone = summarize_results(results(*old), "fake")
    assert cell(alone)["mean"] == 0.9
    assert "made by another code version than this one (source old)" in alone.notes
    with pytest.raises(ValueError, match=r"2 other code versions \(old, older\), which are not mixed"):
        summarize_results(results(*old, older), "fake")


def test_the_largest_size_is_shown_unless_another_is_named():
    table = results(result("direct", 0, "a", 0.5), result("direct", 0, "a", 0.9, size="tiny"))
    assert cell(summarize_results(table, "fake"))["mean"] == 0.5
    assert cell(summarize_results(table, "fake", size="tiny"))["mean"] == 0.9
    with pytest.raises(ValueError, match="at size 'smoke' here, only at tiny, full"):
        summarize_results(table, "fake", size="smoke")


def test_one_metric_instead_of_a_list_is_shown(drawn):
    _, table = drawn
    one = summarize_results(table, "fake", metrics="RF")
    assert one.metrics == summarize_results(table, "fake", metrics=["RF"]).metrics
    assert one.metrics[0] == "RF"


def test_wrong_wishes_are_refused(drawn):
    _, table = drawn
    with pytest.raises(ValueError, match="no metric 'FR' in the results; there are 'RF', "):
        summarize_results(table, "fake", metrics=["FR"])
    with pytest.raises(ValueError, match="Column 'selection' of the results is not a number"):
        summarize_results(table, "fake", metrics=["selection"])
    with pytest.raises(ValueError, match="no results of method 'old' to compare with, only of direct, new"):
        summarize_results(table, "fake", against="old")
    with pytest.raises(ValueError, match="style='html' was given; it is one of markdown, latex, csv"):
        format_table(summarize_results(table, "fake"), style="html")
    twice = results(result("direct", 0, "a", 0.5), result("direct", 0, "a", 0.6))
    with pytest.raises(ValueError, match="of method 'direct' and seed 0, made from different data files"):
        summarize_results(twice, "fake")


def test_csv_has_every_number_as_it_is(drawn):
    _, table = drawn
    summary = summarize_results(table, "fake", against="direct")
    back = pd.read_csv(io.StringIO(format_table(summary, style="csv")), float_precision="round_trip")
    assert back["mean"].tolist() == summary.table["mean"].tolist()
    assert set(back["against"]) == {"direct"}
    assert {"RF", "U-QD", "unlabelled-leaf RF", "RF delta_direct"} <= set(back["metric"])


def test_every_row_has_every_column_whatever_the_names_hold():
    table = results(result("a|b", 0, "50 % & _x_", 0.5, control="#1"), result("direct", 0, "50 % & _x_", 0.4))
    summary = summarize_results(table, "fake", against="direct")
    text = format_table(summary)
    assert r"a\|b" in text
    assert len({len(row) for row in grids(text.replace(r"\|", "/"))[0]}) == 1
    latex = format_table(summary, style="latex")
    assert r"50 \% \& \_x\_ & \#1 & a|b" in latex
    columns = re.search(r"\\begin\{tabular\}\{(\w+)\}", latex)[1]
    lines = [line for line in latex.splitlines() if line.endswith(r"\\")]
    assert {len(re.findall(r"(?<!\\)&", line)) + 1 for line in lines} == {len(columns)}
