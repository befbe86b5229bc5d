"""Known leaves held out of a first training, which decides how long the second one is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...quartets import KnownQuartets
from ...trees import Tree

__all__ = ["chosen_step", "without_some"]

_SHARE = 0.2  # of the known leaves
_LEAST_KNOWN = 15  # known leaves without which none can be spared


def without_some(trees: tuple[Tree, ...], seed: Sequence[int]) -> tuple[tuple[Tree, ...], frozenset[str]]:
    """The trees without some of their leaves, and these; none where too little is known to spare any."""
    names = list(dict.fromkeys(name for tree in trees for name in tree.leaves))
    if len(names) < _LEAST_KNOWN:
        return trees, frozenset()
    order = np.random.default_rng(seed).permutation(len(names))
    out = frozenset(names[i] for i in order[: round(_SHARE * len(names))].tolist())
    fewer = tuple(
        tree.restrict([name for name in tree.leaves if name not in out]) for tree in trees if set(tree.leaves) - out
    )
    if not fewer or not KnownQuartets(fewer).count:
        return trees, frozenset()
    return fewer, out


def chosen_step(steps: Sequence[int], wrong: NDArray[np.float64]) -> int:
    """The step that held-out leaves choose: the earliest that is no worse than the best by more than a standard error.

    Parameters
    ----------
    steps
        Of the looks.
    wrong
        float[looks, leaves], the share of each held-out leaf's quartets that is wrong. The standard error is that of
        the leaves' differences to the best look, so that what is hard for a leaf at all steps does not count.
    """
    best = wrong[wrong.mean(axis=1).argmin()]
    excess = wrong - best
    error = excess.std(axis=1, ddof=1) / np.sqrt(wrong.shape[1]) if wrong.shape[1] > 1 else np.zeros(len(wrong))
    return steps[int((excess.mean(axis=1) <= error).argmax())]
