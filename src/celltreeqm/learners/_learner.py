"""What a learner is, and the register of learners by name."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

import numpy as np

from ..trees import Tree
from ._features import FeatureMatrix

if TYPE_CHECKING:
    from ._fit import Fit

__all__ = ["Learner", "Monitor", "learner_by_name", "learner_class", "learner_names", "register_learner"]

Monitor = Mapping[str, tuple[FeatureMatrix, Tree | None]]

_BUILT_IN = {name: f"celltreeqm.learners.{name}" for name in ("adaptive", "direct", "heritable", "quartet")}
_registered: dict[str, type[Learner]] = {}


class Learner(Protocol):
    """What turns features and a prior into a :class:`Fit`: a frozen dataclass of settings with one method.

    ``name`` is the name to register it under and ``fit_type`` the kind of :class:`Fit` it returns.
    """

    name: ClassVar[str]
    fit_type: ClassVar[type[Fit]]

    def fit(
        self,
        X: FeatureMatrix,
        leaves: Sequence[str] | None = None,
        *,
        prior: Tree | Sequence[Tree] | None = None,
        seed: int | np.random.Generator | None = None,
        monitor: Monitor | None = None,
    ) -> Fit:
        """Fit to the features of some leaves.

        Parameters
        ----------
        X
            float[n, g], one row a taxon; see :func:`check_features`.
        leaves
            The n names of the rows; a DataFrame brings them as its index.
        prior
            What is known of their lineage.
        seed
            Seed or generator; drawn and recorded if omitted.
        monitor
            "validation" and "test" to (X, truth or None), for learners that select or report by them.
        """
        ...


AnyLearner = TypeVar("AnyLearner", bound=type[Learner])


def register_learner(learner: AnyLearner) -> AnyLearner:
    """Make a learner known by its ``name``; used as a decorator of its class.

    Raises
    ------
    ValueError
        If another class has that name already.
    """
    here = _registered.get(learner.name)
    if here is not None and (here.__module__, here.__qualname__) != (learner.__module__, learner.__qualname__):
        raise ValueError(
            f"A learner called {learner.name!r} is registered already: {here.__module__}.{here.__qualname__}. "
            "Choose another name."
        )
    _registered[learner.name] = learner
    return learner


def learner_by_name(name: str, **settings: Any) -> Learner:
    """The learner of a name, with these settings.

    Examples
    --------
    >>> learner_by_name("direct", metric="squared")
    DirectLearner(metric='squared', builder='neighbor_joining')
    """
    return learner_class(name)(**settings)


def learner_class(name: str) -> type[Learner]:
    """The class that is registered under a name."""
    if name not in _registered and name in _BUILT_IN:
        importlib.import_module(_BUILT_IN[name])
    if name not in _registered:
        raise ValueError(
            f"There is no learner called {name!r}; there are {', '.join(map(repr, learner_names()))}. "
            "One of your own is made known with register_learner."
        )
    return _registered[name]


def learner_names() -> tuple[str, ...]:
    """The names of all learners, sorted.

    Examples
    --------
    >>> "direct" in learner_names()
    True
    """
    return tuple(sorted({*_registered, *_BUILT_IN}))
