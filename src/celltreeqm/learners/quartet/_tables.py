"""Tables to look at in training: what the monitor holds, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...quartets import KnownQuartets
from ...trees import Tree
from ...trees._tree_checks import checked_leaves
from .._features import CheckedFeatures, features_like, own_row_names
from .._learner import Monitor

__all__ = ["Table", "checked_tables"]


@dataclass(frozen=True, eq=False)
class Table:
    """Features that are looked at.

    Parameters
    ----------
    name
        "validation" or "test".
    values
        float[n, g].
    leaves
        The names of the rows.
    truth
        The tree to compare with, on some of them, or None.
    """

    name: str
    values: NDArray[np.float64]
    leaves: tuple[str, ...]
    truth: Tree | None

    def known(self, prior: Sequence[Tree], count: int, seed: int) -> NDArray[np.int32] | None:
        """int32[q, 4], quartets ``ab|cd`` of the truth, or of the prior where there is none; None where it has none."""
        trees = list(prior) if self.truth is None else [self.truth]
        here = set(self.leaves)
        trees = [
            tree.restrict([name for name in tree.leaves if name in here]) for tree in trees if here & set(tree.leaves)
        ]
        quartets = KnownQuartets(trees, self.leaves) if trees else None
        return quartets.sample(count, seed=seed).leaves if quartets is not None and quartets.count else None


def checked_tables(monitor: Monitor, checked: CheckedFeatures) -> dict[str, Table]:
    """The monitor's tables by name.

    Raises
    ------
    ValueError
        If one of them is not called "validation" or "test", is no pair, or does not fit the features or its truth.
    """
    unknown = set(monitor) - {"validation", "test"}
    if unknown:
        raise ValueError(
            f"monitor has {', '.join(sorted(map(repr, unknown)))}; only 'validation' and 'test' are looked at."
        )
    return {name: _checked(name, given, checked) for name, given in monitor.items()}


def _checked(name: str, given: object, checked: CheckedFeatures) -> Table:
    if not (isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], Tree | None)):
        raise ValueError(f"monitor[{name!r}] is a {type(given).__name__}; a pair (X, truth or None) was needed.")
    features, truth = given
    values = features_like(features, checked.values.shape[1], checked.names)
    leaves = checked_leaves(own_row_names(features) or checked.leaves)
    if len(leaves) != len(values):
        raise ValueError(
            f"monitor[{name!r}] has {len(values)} rows and the fit {len(leaves)} leaves; pass the same leaves in the "
            "same order, or a DataFrame whose index names the rows."
        )
    if truth is not None and not set(truth.leaves) <= set(leaves):
        missing = next(leaf for leaf in truth.leaves if leaf not in set(leaves))
        raise ValueError(
            f"The truth of monitor[{name!r}] has leaves without a row, {missing!r} among them. Restrict it to the "
            "leaves of the table."
        )
    return Table(name, values, leaves, truth)
