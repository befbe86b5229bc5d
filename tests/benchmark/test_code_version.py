"""Which code made a result."""

import shutil
from functools import partial

import pytest

from celltreeqm.benchmark import _code_version as code
from celltreeqm.benchmark._method_direct import direct

from .fakes import digest_of_package, join


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A copy of part of the package, whose digest is taken."""
    for room in ("trees", "cli", "benchmark"):
        shutil.copytree(code._PACKAGE / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(code, "_PACKAGE", tmp_path)
    return tmp_path


def digest():
    return digest_of_package.__wrapped__()


def test_the_digest_is_that_of_the_source(package):
    before = digest()
    assert before == digest()
    with (package / "trees" / "_tree.py").open("a") as file:
        file.write("\n")
    assert digest() != before


@pytest.mark.parametrize("change", ["rename", "remove", "add"])
def test_files_that_come_go_or_move_change_it(package, change):
    before = digest()
    file = package / "trees" / "_tree.py"
    if change == "rename":
        file.rename(file.with_name("_wood.py"))
    elif change == "remove":
        file.unlink()
    else:
        (package / "trees" / "_new.py").write_text("")
    assert digest() != before


def test_what_no_job_runs_through_does_not_count(package):
    before = digest()
    (package / "cli" / "_new.py").write_text("")
    (package / "benchmark" / "_tables.py").write_text("")
    (package / "trees" / "__pycache__").mkdir()
    (package / "trees" / "__pycache__" / "_tree.pyc").write_text("")
    assert digest() == before


def test_functions_of_the_package_add_nothing_and_others_their_module():
    assert code.code_version(direct) == code.code_version()
    assert set(code.code_version(direct, join)) == {"version", "digest", "tests.benchmark.fakes:join"}


def test_without_the_functions_only_the_package_is_compared():
    made = code.code_version(join)
    assert code.is_of_this_code(made)
    assert code.is_of_this_code(made, join)
    assert not code.is_of_this_code(made, direct)
    assert not code.is_of_this_code({**made, "version": "0.0.1"})
    assert not code.is_of_this_code({**made, "tests.benchmark.fakes:join": "0"}, join)


def typed(text):
    """The function ``run`` as it is where it was typed at a prompt: of no file."""
    names = {"__name__": "__main__"}
    exec(compile(text, "<stdin>", "exec"), names)
    return names["run"]


@pytest.mark.parametrize(
    "other",
    [
        "def run(problem, seed):\n    return 0.6",
        "def run(problem, seed):\n    return abs(0.5)",
        "def run(problem, seed=0.5):\n    return 0.5",
        "def run(problem, seed):\n    return (lambda: 0.6)()",
    ],
)
def test_a_function_typed_at_a_prompt_is_told_from_one_of_other_constants_and_names(other):
    first = typed("def run(problem, seed):\n    return 0.5")
    assert code.code_version(first) == code.code_version(typed("\n\ndef run(problem, seed):\n    return 0.5"))
    assert code.code_version(first) != code.code_version(typed(other))


def test_functions_of_a_script_are_the_same_in_a_worker_which_imports_it_by_another_name():
    here, there = typed("def run(problem, seed): pass"), typed("def run(problem, seed): pass")
    there.__module__ = "__mp_main__"
    assert code.code_version(here) == code.code_version(there)


def test_what_no_source_tells_apart_is_refused():
    def closure(problem, seed):
        return join(problem, seed)

    code.check_top_level(join, "Method 'join'")
    for function in (closure, lambda problem, seed: None, partial(join, seed=1), join.__call__):
        with pytest.raises(TypeError, match="Method 'm' is .*; a function defined at the top level of a module was"):
            code.check_top_level(function, "Method 'm'")
