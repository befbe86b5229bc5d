"""The candidates: ways from features to distances, fixed before any data are seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ._kernels import Metric

__all__ = ["CANDIDATES", "DIRECT", "Candidate", "Ridge", "Weighting"]

Weighting: TypeAlias = Literal["plain", "heritable"]
Ridge: TypeAlias = Literal["none", "appended", "alone"]


@dataclass(frozen=True)
class Candidate:
    """One way from features to distances.

    Parameters
    ----------
    scale
        A name in :data:`SCALES`.
    weighting
        "plain": features as they are on that scale. "heritable": standardised and weighted by heritability.
    metric
        "euclidean", its square ("squared"), "correlation" (of leaves over features), or Euclidean with the axes of much
        variation shrunk by their roots ("whitened").
    ridge
        What becomes of the positions in the known tree that ridge regression predicts from these features: "none",
        "appended" to the features with equal weight, or used "alone".
    """

    scale: str
    weighting: Weighting
    metric: Metric
    ridge: Ridge


def _with_ridge(scale: str, weighting: Weighting, metric: Metric, *ridges: Ridge) -> list[Candidate]:
    return [Candidate(scale, weighting, metric, ridge) for ridge in ("none", *ridges)]


# Each line stands for "none" and the ridges named; those whose scale does not suit the data are passed over.
CANDIDATES: tuple[Candidate, ...] = (
    *_with_ridge("given", "plain", "euclidean", "appended", "alone"),
    *_with_ridge("given", "plain", "correlation", "appended", "alone"),
    *_with_ridge("given", "plain", "whitened"),
    *_with_ridge("given", "heritable", "euclidean", "appended", "alone"),
    *_with_ridge("given", "heritable", "correlation", "appended"),
    *_with_ridge("given", "heritable", "squared"),
    *_with_ridge("standardized", "plain", "euclidean"),
    *_with_ridge("standardized", "plain", "correlation", "appended"),
    *_with_ridge("undo ln", "plain", "euclidean", "appended", "alone"),
    *_with_ridge("undo ln", "plain", "correlation", "appended", "alone"),
    *_with_ridge("undo ln", "heritable", "correlation", "appended"),
    *_with_ridge("undo log2", "plain", "correlation", "appended", "alone"),
    *_with_ridge("log1p", "plain", "euclidean", "appended"),
    *_with_ridge("log1p", "plain", "correlation", "appended", "alone"),
    *_with_ridge("log1p", "heritable", "correlation", "appended"),
    *_with_ridge("sqrt", "plain", "correlation"),
    *_with_ridge("standardized log1p", "plain", "correlation"),
)

DIRECT = CANDIDATES[0]
