"""Reliability: of clades with so much support, how many are true."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..trees import Tree
from ..trees._same_leaves import check_same_leaves
from ..trees._splits import informative
from ..trees._tree_checks import as_numbers, check_tree
from ._edge_table import judge_edges
from ._given import given_edges

__all__ = ["JudgedSupport", "Reliability", "judge_support", "reliability_table"]


class JudgedSupport(NamedTuple):
    """The support of clades, and whether they are true.

    Parameters
    ----------
    support
        float[e].
    true
        bool[e].
    """

    support: NDArray[np.float64]
    true: NDArray[np.bool_]


@dataclass(frozen=True)
class Reliability:
    """Clades in bins of their support.

    Parameters
    ----------
    lower, upper
        The bins: from the lower to below the upper; the last one has its upper end too.
    count
        How many clades are in each.
    mean_support, fraction_true
        Of these, NaN where there are none.
    expected_calibration_error
        The mean over clades of how far their bin's support is from its fraction true.
    """

    lower: tuple[float, ...]
    upper: tuple[float, ...]
    count: tuple[int, ...]
    mean_support: tuple[float, ...]
    fraction_true: tuple[float, ...]
    expected_calibration_error: float

    def __str__(self) -> str:
        rows = ["  support       n  mean  true"]
        for low, high, n, mean, true in zip(
            self.lower, self.upper, self.count, self.mean_support, self.fraction_true, strict=True
        ):
            rows.append(f"{low:4.2f}-{high:4.2f} {n:7d}" + (f"  {mean:4.2f}  {true:4.2f}" if n else "     -     -"))
        return "\n".join([*rows, f"expected calibration error {self.expected_calibration_error:.3f}"])


def judge_support(tree: Tree, truth: Tree, prior: Tree | Iterable[Tree] | None = None) -> JudgedSupport:
    """The support of each clade (split) of a tree that was not given by the prior, and whether the true tree has it.

    Clades without support are left out, and those of which a polytomy of the true tree does not say whether they are
    true.

    Parameters
    ----------
    tree
        With support; on the leaves of the true tree.
    truth
        The true tree.
    prior
        What was known.

    Examples
    --------
    >>> from celltreeqm.trees import parse_newick, with_support
    >>> tree, truth = parse_newick("((a,b),(c,d),e);"), parse_newick("((a,b),(c,e),d);")
    >>> judge_support(with_support(tree, [tree]), truth)
    JudgedSupport(support=array([1., 1.]), true=array([False,  True]))
    """
    check_tree(tree)
    check_tree(truth)
    check_same_leaves(tree, truth)
    if tree.support is None:
        raise ValueError("The tree has no support; a tree with support was needed. See bootstrap_trees.")
    nodes = informative(tree)
    given = given_edges(tree, prior)
    nodes = nodes[[given[node] != "yes" for node in nodes.tolist()]]
    judged = judge_edges(tree, nodes, truth)
    support = tree.support[nodes]
    known = np.isfinite(judged) & np.isfinite(support)
    return JudgedSupport(support[known], judged[known] > 0.5)


def reliability_table(support: ArrayLike, true: ArrayLike, *, bins: Sequence[float] | None = None) -> Reliability:
    """Count clades in bins of their support, and how many of them are true.

    Parameters
    ----------
    support
        float[e], from 0 to 1; of one tree or of many (:func:`judge_support`).
    true
        bool[e].
    bins
        The ends of the bins, ascending from 0 to 1; default ten of the same width.

    Examples
    --------
    >>> found = reliability_table([0.2, 0.95, 0.97, 1.0], [False, True, True, False], bins=[0, 0.5, 0.9, 1])
    >>> print(found)
      support       n  mean  true
    0.00-0.50       1  0.20  0.00
    0.50-0.90       0     -     -
    0.90-1.00       3  0.97  0.67
    expected calibration error 0.280
    """
    values, so = as_numbers(support, "The support"), np.asarray(true, dtype=np.float64)
    if values.ndim != 1 or values.shape != so.shape:
        raise ValueError(
            f"support has shape {values.shape} and true has {so.shape}; one number and one truth value a clade were "
            "needed."
        )
    if not ((values >= 0) & (values <= 1)).all():
        raise ValueError("Some support is not between 0 and 1. Leave out edges without support.")
    ends = np.linspace(0, 1, 11) if bins is None else as_numbers(bins, "The bins")
    if ends.ndim != 1 or len(ends) < 2 or ends[0] != 0 or ends[-1] != 1 or (np.diff(ends) <= 0).any():
        raise ValueError(f"bins={bins!r} was given; ascending ends from 0 to 1 were needed.")
    # A share of trees such as 0.3 may have come out a rounding error below the end of its bin.
    where = np.clip(np.searchsorted(ends, values + 1e-12, side="right") - 1, 0, len(ends) - 2)
    count = np.bincount(where, minlength=len(ends) - 1)
    some = np.maximum(count, 1)
    mean = np.bincount(where, values, len(ends) - 1) / some
    share = np.bincount(where, so, len(ends) - 1) / some
    error = float((count * np.abs(mean - share)).sum() / max(len(values), 1))
    return Reliability(
        lower=tuple(ends[:-1].tolist()),
        upper=tuple(ends[1:].tolist()),
        count=tuple(count.tolist()),
        mean_support=tuple(np.where(count > 0, mean, np.nan).tolist()),
        fraction_true=tuple(np.where(count > 0, share, np.nan).tolist()),
        expected_calibration_error=error if len(values) else float("nan"),
    )
