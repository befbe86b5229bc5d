"""Methods: named functions that solve a problem."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..trees import Tree
from ._problems import Problem, Scalar
from ._registry import Registry

__all__ = ["Method", "Outcome", "method_by_name", "method_names", "register_method"]


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a method made of a problem.

    Parameters
    ----------
    trees
        Trees built from distances alone, by the table that they were built from: "given" (the problem's features), a
        name in ``problem.test``, "signal" (the true signal alone) or another.
    honored
        The same with the prior honoured; only where ``problem.honor_prior`` is true and there is a prior.
    labelled
        Where the prior is on some of the leaves: the tree of these alone, from distances alone. Its error is the train
        RF; without it that is the error of the tree of all leaves, restricted to them.
    feature_scores
        float[g], larger for features that the method takes for heritable, or None.
    selected
        bool[g], the features that it keeps, or None.
    selection
        How this fit was chosen among several, in a few words: "none" (nothing was chosen), "validation", "best on the
        test" ... It stands beside every score.
    extra
        Further columns: numbers or words that the method wants to have beside the scores.
    """

    trees: Mapping[str, Tree] = field(default_factory=dict)
    honored: Mapping[str, Tree] = field(default_factory=dict)
    labelled: Tree | None = None
    feature_scores: NDArray[np.float64] | None = None
    selected: NDArray[np.bool_] | None = None
    selection: str = "none"
    extra: Mapping[str, Scalar] = field(default_factory=dict)


@dataclass(frozen=True)
class Method:
    """A named function ``(problem, seed) -> Outcome``.

    It is defined at the top level of a module, so that worker processes can import it, draws all its randomness from
    the seed, and runs in one process and one thread (``workers=1`` in what it calls): the runner does many at a time.
    It must not look at ``problem.truth`` unless the prior is the truth; a control may, and says so in ``about``.
    """

    name: str
    run: Callable[[Problem, int], Outcome]
    about: str = ""


_methods = Registry[Method]("method", lambda method: method.run)


def register_method(name: str) -> Callable[[Callable[[Problem, int], Outcome]], Callable[[Problem, int], Outcome]]:
    """A decorator that makes a function a method, described by the first line of its docstring.

    Examples
    --------
    A method that is registered in a module of yours is known once the module is imported::

        @register_method("my-method")
        def my_method(problem, seed):
            \"\"\"One line about it.\"\"\"
            return Outcome({"given": tree}, selection="none")
    """

    def register(run: Callable[[Problem, int], Outcome]) -> Callable[[Problem, int], Outcome]:
        _methods.add(name, Method(name, run, (run.__doc__ or "").strip().partition("\n")[0]))
        return run

    return register


def method_by_name(name: str) -> Method:
    """The method of a name.

    Raises
    ------
    ValueError
        If there is none, with the names there are.
    """
    return _methods.get(name)


def method_names() -> tuple[str, ...]:
    """The names of all methods, in the order in which they were registered."""
    return _methods.names()
