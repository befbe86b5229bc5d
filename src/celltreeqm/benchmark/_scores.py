"""From trees to scores: what a method made of a problem, as rows of numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..evaluation import Evaluation, evaluate
from ..evaluation._evaluation import Column
from ..learners import DirectLearner
from ..trees import Tree, robinson_foulds
from ._method_direct import tree_of_labelled
from ._methods import Outcome
from ._problems import Problem

__all__ = ["Row", "score"]

_BASES: tuple[Column, ...] = ("direct", "direct_under_prior")


@dataclass(frozen=True)
class Row:
    """The scores of one tree, or of none where a method only counts.

    Parameters
    ----------
    features
        The table that the tree was built from.
    honors_prior
        Whether it was built under the prior.
    metrics
        Scores by name: "RF", of the baselines "RF direct" and "RF direct_under_prior", and "RF count".
    given
        Those that the prior alone decides.
    """

    features: str
    honors_prior: bool
    metrics: dict[str, float]
    given: tuple[str, ...] = ()


def score(problem: Problem, outcome: Outcome) -> Iterator[Row]:
    """Score every tree of an outcome against the truth, beside both baselines on the same table of features.

    The baselines of a tree from a table that the problem does not have (such as "signal") are those of the problem's
    features. The train RF is that of the tree of the labelled leaves alone, where the outcome has one. In a supervised
    problem that of a tree from a test table is that of the tree from the features. The base is direct reconstruction
    from the same leaves and features.
    """
    _check(problem, outcome)
    bases: dict[str, tuple[Tree, Tree | None]] = {}
    for honors, trees in ((False, outcome.trees), (True, outcome.honored)):
        for name, tree in trees.items():
            table = name if name in problem.test else "given"
            if table not in bases:
                bases[table] = _baselines(problem, problem.test.get(table, problem.features))
            direct, under_prior = bases[table]
            train_tree = None
            if name == "given" and not honors:
                train_tree = outcome.labelled
            elif name in problem.test and not problem.honor_prior:
                train_tree = outcome.trees.get("given")
            evaluation = evaluate(
                tree,
                problem.truth,
                prior=problem.prior,
                direct=direct,
                direct_under_prior=under_prior,
                honor_prior=honors,
                train_tree=train_tree,
                selected=None if problem.signal is None else outcome.selected,
                signal=None if outcome.selected is None else problem.signal,
            )
            metrics = _flat(evaluation)
            if train_tree is not None and "train RF" in metrics:
                metrics["train RF direct"] = _train_base(problem)
            if problem.signal is not None and outcome.feature_scores is not None:
                metrics["score AUC"] = _area_under_curve(outcome.feature_scores, problem.signal)
            yield Row(name, honors, metrics, tuple(evaluation.table["metric"][evaluation.table["given"]]))
    if outcome.extra and not (outcome.trees or outcome.honored):
        yield Row("none", False, {})


def _check(problem: Problem, outcome: object) -> None:
    """Refuse what is no outcome of the problem, so that the method's author is told."""
    if not isinstance(outcome, Outcome):
        raise TypeError(f"The method returned a {type(outcome).__name__}; an Outcome was needed.")
    for name, trees in (("trees", outcome.trees), ("honored", outcome.honored)):
        if not isinstance(trees, Mapping):
            raise TypeError(f"The outcome's {name} is a {type(trees).__name__}; trees by name were needed.")
    if outcome.honored and not problem.honor_prior:
        raise ValueError(
            f"The method honoured the prior of problem {problem.name!r}, which is supervised or a null: there trees "
            "are built without it. Fill honored only where problem.honor_prior is true."
        )
    if not isinstance(outcome.selection, str):
        raise TypeError(f"selection={outcome.selection!r} was returned; a few words were needed.")
    if outcome.feature_scores is not None:
        scores = np.asarray(outcome.feature_scores)
        if scores.shape != problem.features.shape[1:] or np.isnan(scores).any():
            raise ValueError(
                f"feature_scores has shape {scores.shape} and {int(np.isnan(scores).sum())} NaN; a number for each of "
                f"the {problem.features.shape[1]} features was needed."
            )


def _baselines(problem: Problem, features: NDArray[np.float64]) -> tuple[Tree, Tree | None]:
    fit = DirectLearner().fit(features, problem.leaves, prior=problem.prior, seed=0)
    return fit.tree(honor_prior=False), fit.tree() if problem.honor_prior and fit.prior else None


def _train_base(problem: Problem) -> float:
    fit = DirectLearner().fit(problem.features, problem.leaves, prior=problem.prior, seed=0)
    tree = tree_of_labelled(fit, problem) or fit.tree(honor_prior=False)
    return robinson_foulds(tree, problem.truth.restrict(tree.leaves))


def _flat(evaluation: Evaluation) -> dict[str, float]:
    """The values, those of the bases and the counts, without what is NaN; improvements follow from them."""
    metrics = evaluation.values()
    for base in _BASES:
        metrics |= {f"{name} {base}": value for name, value in evaluation.values(base).items()}
    counts = zip(evaluation.table["metric"], evaluation.table["count"], strict=True)
    metrics |= {f"{name} count": int(count) for name, count in counts if count}
    return {name: value for name, value in metrics.items() if not math.isnan(value)}


def _area_under_curve(scores: NDArray[np.float64], signal: NDArray[np.bool_]) -> float:
    """How often a signal feature has the higher score of a signal and another feature; ties count half."""
    from scipy.stats import rankdata

    within, without = int(signal.sum()), int((~signal).sum())
    if not within or not without:
        return float("nan")
    ranks = rankdata(scores)[signal].sum()
    return float((ranks - within * (within + 1) / 2) / (within * without))
