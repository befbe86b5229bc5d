"""Which code made a result: the package's version and a digest of the source that results depend on."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import CodeType
from typing import Any

__all__ = ["check_top_level", "code_version", "is_of_this_code"]

_PACKAGE = Path(__file__).parents[1]
# What only shows results or leads to them from elsewhere: no job runs through it.
_ROOMS_NOT_IN_JOBS = {"cli", "datasets", "pl", "pp", "report", "tl"}
_TABLES = {f"benchmark/{name}.py" for name in ("_format_table", "_means", "_paper", "_tables")}
_NOT_IN_JOBS = _ROOMS_NOT_IN_JOBS | _TABLES


def code_version(*functions: Callable[..., Any]) -> dict[str, str]:
    """The version of celltreeqm, the digest of its source, and for each function outside it that of its module.

    The digest is the SHA-256 over the sorted paths and the bytes of every ``.py`` file of the package but those that no
    job runs through: the rooms ``cli``, ``datasets``, ``pl``, ``pp``, ``report`` and ``tl``, the paper's numbers and
    the tables. Any change in the rest, of a comment too, makes earlier results stale: to compute again is cheaper than
    to believe a wrong table. The versions of Python and of the libraries stand in each result, but do not make it
    stale.
    """
    digests = {_name(function): _digest_of_function(function) for function in functions}
    package = __name__.partition(".")[0]
    outside = sorted(name for name in digests if name.partition(".")[0] != package)
    return {"version": _version(), "digest": _digest_of_package()} | {name: digests[name] for name in outside}


def check_top_level(function: Callable[..., Any], what: str) -> None:
    """Refuse what its module does not have under its name: the settings of a closure or a partial are in no source.

    Two of them, made with other settings, would have one address, and the one's results pass for the other's.
    """
    if inspect.isfunction(function):
        found: Any = sys.modules.get(function.__module__)
        for part in function.__qualname__.split("."):
            found = getattr(found, part, None)
        if found is function:
            return
    raise TypeError(
        f"{what} is {function!r}; a function defined at the top level of a module was needed. What it is made with in "
        "other ways (a closure, a lambda, a partial) would not be part of a result's address; write a function for "
        "each setting."
    )


def is_of_this_code(code: Mapping[str, str], *functions: Callable[..., Any]) -> bool:
    """Whether a result of a recorded code version would be made by the same code now.

    Without the functions (of a task or a method that is not registered here) only the package is compared.
    """
    now = code_version(*functions)
    return dict(code) == now if functions else {name: code.get(name) for name in now} == now


@cache
def _version() -> str:
    return version("celltreeqm")


@cache
def _digest_of_package() -> str:
    paths = (path.relative_to(_PACKAGE) for path in _PACKAGE.rglob("*.py"))
    kept = sorted(path.as_posix() for path in paths if not {path.parts[0], path.as_posix()} & _NOT_IN_JOBS)
    digest = hashlib.sha256()
    for path in kept:
        content = (_PACKAGE / path).read_bytes()
        digest.update(f"{path}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:16]


def _name(function: Callable[..., Any]) -> str:
    """The module and the name of a function, the same in a worker process, which imports a script by another name."""
    module = "__main__" if function.__module__ == "__mp_main__" else function.__module__
    return f"{module}:{function.__qualname__}"


@cache
def _digest_of_function(function: Callable[..., Any]) -> str:
    try:
        source = Path(inspect.getfile(function)).read_bytes()
    except (OSError, TypeError):  # typed at a prompt or in a notebook
        source = repr((_parts(function.__code__), function.__defaults__, function.__kwdefaults__)).encode()
    return hashlib.sha256(source).hexdigest()[:16]


def _parts(code: CodeType) -> tuple[Any, ...]:
    """What a function does, without where it stands: its steps, and the constants and names that they use."""
    constants = [_parts(value) if isinstance(value, CodeType) else _constant(value) for value in code.co_consts]
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars


def _constant(value: object) -> str:
    return repr(sorted(map(repr, value))) if isinstance(value, frozenset) else repr(value)  # a set has no order
