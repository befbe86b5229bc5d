"""The README tells the truth."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_runs_as_written_and_the_prior_helps(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    (example,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len([line for line in example.splitlines() if line.strip()]) <= 15
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile(example, "README.md", "exec"), names)
    figures = re.findall(r"RF ([\d.]+), QD ([\d.]+)", capsys.readouterr().out)
    (rf, qd), (rf_prior, qd_prior) = [tuple(map(float, pair)) for pair in figures]
    assert 0 < rf_prior < rf < 1
    assert 0 < qd_prior < qd < 1
    assert names["ctq"].read_newick("tree.nwk").same_topology(names["better"])
    assert (tmp_path / "tree.png").stat().st_size > 0


def test_the_commands_it_names_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^ +make ([\w-]+)", README, flags=re.MULTILINE)
    assert targets == ["demo", "test"]
    for target in targets:
        assert re.search(rf"^{target}( [\w-]+)*:", makefile, flags=re.MULTILINE)


def test_the_files_it_links_to_exist_and_the_picture_is_small():
    links = [link for link in re.findall(r"\]\(([^)]+)\)", README) if not link.startswith("http")]
    assert "docs/images/demo.png" in links
    for link in links:
        assert (ROOT / link).is_file(), link
    assert (ROOT / "docs/images/demo.png").stat().st_size < 150_000


def test_the_functions_it_names_exist():
    import celltreeqm as ctq

    for name in set(re.findall(r"ctq\.(\w+)", README)):
        assert name in dir(ctq), name
