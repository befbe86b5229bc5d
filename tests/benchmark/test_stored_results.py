"""The results that the repository keeps: readable, what the code gives today, and as near to the paper as is said."""

import re
from pathlib import Path

import pytest

from celltreeqm.benchmark import format_table, load_results, paper_number, summarize_results
from celltreeqm.benchmark._jobs import plan_jobs
from celltreeqm.benchmark._work import do_job

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
COLUMNS = ("Direct Recon. Signal", "Direct Recon. Noisy")
ROWS = [f"{letter}{number}" for letter in "ABCD" for number in (1, 2, 3)]


@pytest.fixture(scope="module")
def stored():
    table = load_results(BENCHMARKS / "results")
    return table[(table["task"] == "table-sim") & (table["method"] == "direct") & (table["size"] == "full")]


def test_the_runners_results_can_be_read_and_are_small(stored):
    assert set(stored["seed"]) == set(range(20))
    assert set(stored["scenario"]) == set(ROWS)
    assert (stored["status"] == "done").all()
    assert sum((BENCHMARKS / "results" / path).stat().st_size for path in set(stored["file"])) < 1_000_000


def test_they_are_what_the_code_gives(stored):
    (job,), _ = plan_jobs(["table-sim"], ["direct"], size="full", seeds=[3])
    now = {(row["problem"], row["features"]): row["metrics"]["RF"] for row in do_job(job)["rows"]}
    then = stored[stored["seed"] == 3].set_index(["problem", "features"])["RF"].to_dict()
    assert now == pytest.approx(then, abs=0.05)  # three splits: another platform may break a near tie otherwise


def test_the_table_is_made_of_them(stored):
    text = (BENCHMARKS / "results" / "table-sim.md").read_text(encoding="utf-8")
    made = format_table(summarize_results(stored, "table-sim"))
    assert [line for line in made.splitlines() if "another code version" not in line] == text.splitlines()


def test_the_table_has_the_papers_columns_within_6_hundredths_over_20_seeds():
    text = (BENCHMARKS / "results" / "table-sim.md").read_text(encoding="utf-8")
    beside = [line.split("|")[1:-1] for line in text.splitlines() if re.match(r"\| [A-D][1-3] +\| +\d+ \| +\d\.", line)]
    found = {cells[0].strip(): [cell.strip() for cell in cells[1:]] for cells in beside}
    assert list(found) == ROWS
    for row, (n, *cells) in found.items():
        assert int(n) >= 20
        for at, column in zip((0, 3), COLUMNS, strict=True):
            ours = float(cells[at].split()[0])
            assert float(cells[at + 1]) == paper_number("tbl:supervised_simulation", row, column)
            assert abs(ours - float(cells[at + 1])) < 0.06


def test_the_readme_names_files_and_commands_that_exist():
    readme = (BENCHMARKS / "README.md").read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)]+)\)", readme):
        assert (BENCHMARKS / link).exists(), link
    assert set(re.findall(r"celltreeqm benchmark (\w+)", readme)) == {"list", "run", "table"}
