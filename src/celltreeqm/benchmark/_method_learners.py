"""Methods that learn without a network: heritable weights, and the adaptive learner."""

from __future__ import annotations

from ..learners.adaptive import AdaptiveLearner
from ..learners.heritable import HeritableLearner
from ._method_direct import tree_of_labelled, trees_of
from ._methods import Outcome, register_method
from ._problems import Problem

__all__ = ["adaptive", "heritable"]


@register_method("heritable")
def heritable(problem: Problem, seed: int) -> Outcome:
    """Features weighted by how heritable they are; the builder chosen by left-out features."""
    return _outcome(HeritableLearner(), problem, seed)


@register_method("adaptive")
def adaptive(problem: Problem, seed: int) -> Outcome:
    """The default learner: scale, weights, distance and builder chosen by the data, features bagged."""
    return _outcome(AdaptiveLearner(), problem, seed)


def _outcome(learner: HeritableLearner | AdaptiveLearner, problem: Problem, seed: int) -> Outcome:
    fit = learner.fit(problem.features, problem.leaves, prior=problem.prior, seed=seed)
    return Outcome(
        trees_of(fit, problem, honor_prior=False),
        trees_of(fit, problem, honor_prior=True),
        tree_of_labelled(fit, problem),
        feature_scores=fit.feature_scores,
        selected=fit.selected,
        extra={"builder": fit.builder},
    )
