"""The choice between candidates and builders: by held-out labels, and by what halves of the features agree on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...trees import Tree
from .._fit import Builder
from ._candidates import DIRECT, Candidate
from ._kernels import Matrix
from ._measure import labelled_trees, resolved_leaves, rows_for
from ._scales import suitable_scales
from ._trials import TRIED_BUILDERS, cut_into_folds, cut_into_halves, run_trials

__all__ = ["Choice", "Criterion", "Member", "choose"]

Criterion: TypeAlias = Literal["held-out leaves", "split halves", "nothing to choose by", "kept"]

_QUARTETS_COUNT = 1 / 3  # of what splits count: they are dominated by the deep, easy ones
_HALVES_COUNT = 1 / 3  # of what held-out leaves count: it decides where few leaves are labelled and many ways do well


class Member(NamedTuple):
    """A candidate and the builder of its trees."""

    candidate: Candidate
    builder: Builder


@dataclass(frozen=True)
class Choice:
    """What was chosen, and by what.

    Parameters
    ----------
    members
        The best candidates with their builders, best first.
    criterion
        "held-out leaves", "split halves" or "nothing to choose by"; "kept" where nothing was chosen anew.
    table
        A row for each candidate and builder: the fields of the candidate, ``builder``, ``splits`` and ``quartets`` (the
        errors on held-out leaves, means over trials; None without), ``halves`` (by how many of their splits trees from
        halves of the features differ), ``score`` (lower is better) and ``chosen``.
    """

    members: tuple[Member, ...]
    criterion: Criterion
    table: tuple[dict[str, Any], ...]


def choose(
    values: Matrix,
    leaves: Sequence[str],
    prior: Sequence[Tree],
    *,
    n_best: int,
    folds: int,
    repeats: int,
    generator: np.random.Generator,
    workers: int | None = 1,
) -> Choice:
    """Score candidates with each builder, and take the best and those that are hardly worse.

    With labelled leaves, folds of them lose their label and each candidate rebuilds the tree under what is left of the
    prior; it is scored by how far the tree differs from the known one, in splits and in the quartets that involve a
    held-out leaf. Besides, and alone where no leaves are labelled, each candidate builds trees under the prior from
    disjoint halves of the features, and is scored by how far they differ from each other in splits. Of the lineage,
    nothing but the prior is looked at.

    The best is joined by others whose score is worse by less than one standard error of the difference.

    Parameters
    ----------
    values
        float[n, g], no feature constant.
    leaves
        Their names.
    prior
        Its trees.
    n_best
        How many to take at most.
    folds, repeats
        Of how many folds one is held out, and how often labelled leaves are cut into folds. Features are halved
        ``2 * repeats`` times where leaves are labelled, and ``4 * repeats`` times where none are.
    generator
        Of folds and halves.
    workers
        Processes; the result is the same for any number.
    """
    if values.shape[1] < 4 or len(leaves) < 4:
        return Choice((Member(DIRECT, "neighbor_joining"),), "nothing to choose by", ())
    labelled = labelled_trees(prior)
    rows = rows_for(suitable_scales(values), labelled=bool(labelled))
    halvings = cut_into_halves(values.shape[1], (2 if labelled else 4) * repeats, generator)
    halves = run_trials(halvings, values, leaves, prior, rows, workers=workers)
    held_out: NDArray[np.float64] | None = None
    scores = halves[..., 0] / (halves[..., 0].mean() or 1.0)
    if labelled:
        names = resolved_leaves(labelled)
        cuts = cut_into_folds(names, min(folds, len(names) // 2), repeats, generator)
        held_out = run_trials(cuts, values, leaves, prior, rows, workers=workers)
        splits, quartets = (held_out[..., i] / (held_out[..., i].mean() or 1.0) for i in (0, 1))
        scores = splits + _QUARTETS_COUNT * quartets + _HALVES_COUNT * scores.mean(axis=0)
    best = _hardly_worse(scores.reshape(len(scores), -1), n_best)
    members = tuple(Member(rows[i // len(TRIED_BUILDERS)], TRIED_BUILDERS[i % len(TRIED_BUILDERS)]) for i in best)
    table = tuple(
        {
            **vars(row),
            "builder": builder,
            "splits": None if held_out is None else float(held_out[:, r, b, 0].mean()),
            "quartets": None if held_out is None else float(held_out[:, r, b, 1].mean()),
            "halves": float(halves[:, r, b, 0].mean()),
            "score": float(scores[:, r, b].mean()),
            "chosen": r * len(TRIED_BUILDERS) + b in best,
        }
        for r, row in enumerate(rows)
        for b, builder in enumerate(TRIED_BUILDERS)
    )
    return Choice(members, "held-out leaves" if labelled else "split halves", table)


def _hardly_worse(scores: NDArray[np.float64], n_best: int) -> list[int]:
    """The best column and, up to a number, those whose mean is higher by less than a standard error; best first."""
    order = np.argsort(scores.mean(axis=0), kind="stable")[:n_best]
    worse = scores[:, order] - scores[:, order[:1]]
    error = worse.std(axis=0, ddof=1) / math.sqrt(len(scores)) if len(scores) > 1 else np.zeros(len(order))
    return [int(i) for i, one, sd in zip(order, worse.mean(axis=0), error, strict=True) if i == order[0] or one < sd]
