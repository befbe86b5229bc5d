"""The judgement on many statistics at once: the best representation, against the best in each permuted data set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Judgement", "judge"]

Matrix = NDArray[np.float64]

_TIE = 1e-9  # statistics that differ by less are the same but for rounding


class Judgement(NamedTuple):
    """p, z, and the column of the statistic that stands out most in the group that does."""

    p: float
    z: float
    best: int


def judge(values: Matrix, groups: Sequence[str]) -> Judgement:
    r"""Whether the first row stands out from the others, which are drawn under the null.

    Statistics are standardised, averaged in each group, standardised again, and the largest group of a row is the
    row's :math:`M_b`. All rows are treated alike, so that

    .. math:: p = \frac{\#\{b : M_b \ge M_0\}}{B + 1},

    with b from 0, is exact where rows are exchangeable, however the statistics depend on each other: that one group was
    chosen is accounted for, because it is chosen in each row. (The mean of a group has more power than its best
    statistic, which have much in common.) z is by how many standard deviations :math:`M_0` exceeds the mean of the
    other :math:`M_b`, where all is standardised by the null alone, so that it has no upper limit.

    Parameters
    ----------
    values
        float[B + 1, s], larger where there is more signal; the first row observed, the others drawn under the null.
    groups
        The s groups of the statistics.
    """
    names = list(dict.fromkeys(groups))
    member = np.array([[group == name for name in names] for group in groups], dtype=np.float64)
    member /= member.sum(axis=0)
    means = _standardized(values, values) @ member
    alike = _standardized(means, means).max(axis=1)
    p = float(np.mean(alike >= alike[0] - _TIE))
    by_null = _standardized(values, values[1:])
    means = by_null @ member
    of_groups = _standardized(means, means[1:])
    group = int(np.argmax(of_groups[0]))
    best = int(np.argmax(np.where(member[:, group] > 0, by_null[0], -np.inf)))
    largest = of_groups.max(axis=1)
    spread = float(largest[1:].std())
    z = float((largest[0] - largest[1:].mean()) / spread) if spread > _TIE else 0.0
    return Judgement(p, z, best)


def _standardized(values: Matrix, reference: Matrix) -> Matrix:
    """The columns in standard deviations of a reference from its mean; 0 where that does not vary."""
    deviation = reference.std(axis=0)
    varied = deviation > _TIE * np.abs(reference).max(axis=0, initial=0.0)
    return np.asarray((values - reference.mean(axis=0)) * (varied / np.where(varied, deviation, 1.0)))
