"""The ``Problem``: data, what is known beforehand, and the truth to compare with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..trees import Tree

__all__ = ["Problem", "Scalar"]

Scalar = str | int | float | bool | None


@dataclass(frozen=True, eq=False)
class Problem:
    """One reconstruction to do and to judge. Its tables are read-only: what a method did to them would be judged too.

    Parameters
    ----------
    name
        Unique within its task, size and seed.
    features
        float[n, g], a row for each leaf.
    leaves
        The n leaf names, in the order of the rows.
    truth
        The true tree on the same leaves.
    prior
        What a method may know: one tree, several, or None.
    honor_prior
        Whether trees with the prior honoured are built and judged as well. False in supervised problems, where the
        prior is the truth.
    signal
        bool[g], which features follow the truth, or None where that is not known.
    test
        Further tables of the same features and leaves, by name ("replicate", "fresh"): never trained on.
    validation
        float[n, g], one more such table, which a method may choose by, or None.
    control
        "none", or which null or control this problem is ("permuted-leaves", "held-out-leaves", ...): its scores say
        what chance, the prior or recognising leaves gives.
    info
        Further columns of the problem's rows (scenario, level, kappa, ...).
    """

    name: str
    features: NDArray[np.float64]
    leaves: tuple[str, ...]
    truth: Tree
    prior: Tree | Sequence[Tree] | None = None
    honor_prior: bool = True
    signal: NDArray[np.bool_] | None = None
    test: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    validation: NDArray[np.float64] | None = None
    control: str = "none"
    info: Mapping[str, Scalar] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", _read_only(self.features))
        object.__setattr__(self, "test", {name: _read_only(table) for name, table in self.test.items()})
        if self.validation is not None:
            object.__setattr__(self, "validation", _read_only(self.validation))
        if set(self.leaves) != set(self.truth.leaves):
            raise ValueError(
                f"Problem {self.name!r} has {len(self.leaves)} leaves and a truth on {self.truth.n_leaves}, not the "
                "same; restrict the truth to the leaves of the data."
            )
        others = {} if self.validation is None else {"validation": self.validation}
        for name, table in {"features": self.features, **others, **self.test}.items():
            if table.shape[:1] != (len(self.leaves),) or table.shape != self.features.shape:
                raise ValueError(
                    f"Table {name!r} of problem {self.name!r} has shape {table.shape}; "
                    f"({len(self.leaves)}, {self.features.shape[-1]}) was needed."
                )
        if self.signal is not None and self.signal.shape != self.features.shape[1:]:
            raise ValueError(
                f"The signal mask of problem {self.name!r} has shape {self.signal.shape}; "
                f"{self.features.shape[1:]} was needed."
            )


def _read_only(table: NDArray[np.float64]) -> NDArray[np.float64]:
    if table.flags.writeable:
        table = table.copy()
        table.flags.writeable = False
    return table
