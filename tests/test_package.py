"""The package as it is first met: nothing loaded that is not used, every name where the table of contents says."""

import ast
import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

import pytest

import celltreeqm

HEAVY = ("numba", "scipy", "torch", "matplotlib", "anndata", "treedata", "pandas", "networkx", "numpy")


def loaded_after(code):
    """The heavy libraries that a fresh interpreter has loaded after running some code."""
    code = f"{code}\nimport sys; print(*(name for name in {HEAVY} if name in sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_importing_the_package_loads_nothing_heavy():
    assert loaded_after("import celltreeqm") == set()
    assert loaded_after("import celltreeqm; celltreeqm.__version__; dir(celltreeqm)") == set()
    assert loaded_after("import celltreeqm.cli") == set()


def test_names_load_their_room_when_used():
    assert "numpy" in loaded_after("import celltreeqm; celltreeqm.Tree")
    assert loaded_after("import celltreeqm; celltreeqm.pl.tree; celltreeqm.simulate_brownian").isdisjoint(
        {"torch", "matplotlib", "anndata", "pandas"}
    )


@pytest.mark.parametrize("name", sorted(celltreeqm._ROOM_OF))
def test_every_name_resolves_and_is_listed(name):
    value = getattr(celltreeqm, name)
    room = sys.modules[f"celltreeqm.{celltreeqm._ROOM_OF[name]}"]
    assert value is getattr(room, name)
    assert name in dir(celltreeqm)
    assert value.__doc__ or name.isupper()


def test_type_checkers_see_the_same_names_from_the_same_rooms():
    body = ast.parse(Path(celltreeqm.__file__).read_text(encoding="utf-8")).body
    seen, rooms = {}, set()
    for block in body:
        if isinstance(block, ast.If):
            for statement in block.body:
                for alias in statement.names:
                    assert alias.name == alias.asname, "re-exported under its own name"
                    if statement.module is None:
                        rooms.add(alias.name)
                    else:
                        seen[alias.name] = statement.module
    assert seen == celltreeqm._ROOM_OF
    assert rooms == set(celltreeqm._ROOMS)


def test_no_name_is_that_of_a_room():
    rooms = {path.stem for path in Path(celltreeqm.__file__).parent.iterdir() if path.stem != "__init__"}
    assert rooms.isdisjoint(celltreeqm._ROOM_OF)
    assert set(celltreeqm._ROOMS) <= rooms


def test_version_is_that_of_the_installed_distribution():
    assert celltreeqm.__version__ == importlib.metadata.version("celltreeqm")


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="module 'celltreeqm' has no attribute 'nonsense'"):
        _ = celltreeqm.nonsense


def test_every_compiled_kernel_is_cached_on_disk():
    kernels = 0
    for file in Path(celltreeqm.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            for decorator in getattr(node, "decorator_list", ()):
                if "njit" in (text := ast.unparse(decorator)):
                    kernels += 1
                    assert text == "njit(cache=True)", f"{node.name} in {file}"
    assert kernels > 30


def test_a_kernel_that_was_compiled_once_is_loaded_from_disk(tmp_path):
    code = (
        "from celltreeqm.trees._matrices import _symmetrize as kernel, check_distances\n"
        "check_distances([[0, 1], [1, 0]], ['a', 'b'])\n"
        "print(sum(kernel.stats.cache_hits.values()), sum(kernel.stats.cache_misses.values()))"
    )
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment).stdout
        for _ in range(2)
    ]
    assert [run.split() for run in runs] == [["0", "1"], ["1", "0"]]
