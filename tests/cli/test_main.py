"""The command line itself: help, version, and errors as one sentence."""

import importlib.metadata
import subprocess
import sys

import pytest

import celltreeqm.cli
from celltreeqm.cli import main


def run(*arguments):
    """The exit code."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return ended.value.code


def test_help_lists_the_commands(capsys):
    assert run("--help") == 0
    assert "demo" in capsys.readouterr().out


def test_the_version_is_that_of_the_package(capsys):
    assert run("--version") == 0
    assert capsys.readouterr().out == f"celltreeqm {importlib.metadata.version('celltreeqm')}\n"


def test_a_wrong_command_line_ends_with_2(capsys):
    assert run("reconstrukt") == 2
    assert "No such command" in capsys.readouterr().err
    assert run("demo", "--leaves", "many") == 2


def test_an_error_is_a_sentence_without_traceback_unless_asked(tmp_path, capsys):
    file = tmp_path / "file"
    file.touch()
    assert run("demo", "-o", str(file)) == 1
    said = capsys.readouterr().err
    assert said == f"Error: {file} is a file; a folder was needed. Name another one with -o.\n"
    with pytest.raises(FileExistsError, match="is a file; a folder was needed"):
        main(["--debug", "demo", "-o", str(file)])


def test_an_unexpected_error_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(celltreeqm.cli, "app", lambda args: {}["missing"])
    assert run("demo") == 1
    assert capsys.readouterr().err == "Error: KeyError: 'missing'\n(celltreeqm --debug ... shows where.)\n"


def test_the_installed_command_is_this_one():
    (entry,) = importlib.metadata.entry_points(group="console_scripts", name="celltreeqm")
    assert entry.load() is main


def test_help_needs_no_numerical_library():
    code = "import sys\nfrom celltreeqm.cli import main\ntry: main(['demo', '--help'])\nexcept SystemExit: pass\n"
    code += "print(*({'numpy', 'numba', 'scipy', 'pandas', 'matplotlib'} & set(sys.modules)), file=sys.stderr)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stderr == "\n"
    assert "--leaves" in ran.stdout
