"""The paper's method and its baselines: networks, with and without a heritable start."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..learners.quartet import QuartetFit, QuartetLearner
from ..trees import Tree
from ._method_direct import tree_of_labelled, trees_of
from ._methods import Outcome, register_method
from ._problems import Problem, Scalar
from ._task_simulations import ABLATION

__all__ = ["fit_to", "outcome_of"]


@register_method("quartet")
def quartet(problem: Problem, seed: int) -> Outcome:
    """CellTreeQM as it comes: a heritable start, and draws along the tree that it makes."""
    return _outcome(QuartetLearner(), problem, seed)


@register_method("quartet-scratch")
def scratch(problem: Problem, seed: int) -> Outcome:
    """CellTreeQM without a start and without a gate: the paper's F."""
    return _outcome(QuartetLearner(gate_start="none", gate="none"), problem, seed)


@register_method("quartet-scratch-gate")
def scratch_gate(problem: Problem, seed: int) -> Outcome:
    """CellTreeQM without a start, with a Gumbel gate: the paper's G."""
    return _outcome(QuartetLearner(gate_start="none", gate="gumbel"), problem, seed)


@register_method("quartet-untrained")
def untrained(problem: Problem, seed: int) -> Outcome:
    """A control: the network of quartet-scratch with its first parameters."""
    return _outcome(QuartetLearner(gate_start="none", gate="none", steps=0, select="last"), problem, seed)


@register_method("quartet-paper")
def paper(problem: Problem, seed: int) -> Outcome:
    """The paper's network, dropout and gate weight; what it does not give is ours."""
    supervised = _knows_all(problem)
    preset: Any = "supervised-simulation" if supervised else "weak-simulation"
    return _outcome(QuartetLearner(preset=preset, gate="gumbel"), problem, seed)


@register_method("quartet-unsupervised")
def unsupervised(problem: Problem, seed: int) -> Outcome:
    """The paper's unsupervised set-up: a small network, and a matrix as the gate; for problems without a prior."""
    if problem.prior is not None:
        return Outcome()
    return _outcome(QuartetLearner(preset="unsupervised"), problem, seed)


@register_method("triplet")
def triplet(problem: Problem, seed: int) -> Outcome:
    """The triplet loss in the network of quartet-scratch."""
    return _outcome(QuartetLearner(gate_start="none", gate="none", loss="triplet"), problem, seed)


@register_method("quadruplet")
def quadruplet(problem: Problem, seed: int) -> Outcome:
    """The quadruplet loss in the network of quartet-scratch."""
    return _outcome(QuartetLearner(gate_start="none", gate="none", loss="quadruplet"), problem, seed)


@register_method("ablated-quartet")
def ablated(problem: Problem, seed: int) -> Outcome:
    """CellTreeQM without start and gate, with the loss that a row of the task "ablation" asks for; for it alone."""
    if "row" not in problem.info:
        return Outcome()
    steps: Any = problem.info["steps"]
    changed: dict[str, Any] = dict(ABLATION[str(problem.info["row"])])
    return _outcome(QuartetLearner(gate_start="none", gate="none", steps=steps, **changed), problem, seed)


def fit_to(learner: QuartetLearner, problem: Problem, seed: int) -> QuartetFit:
    """The learner's fit to a problem: selected by the problem's validation table, where it has one.

    Its first test table is looked at, for the record: nothing is chosen by it. Leaves that are held out are not seen in
    training.
    """
    if problem.control == "held-out-leaves":
        learner = replace(learner, context="known")
    monitor = {}
    if problem.validation is not None:
        monitor["validation"] = (problem.validation, problem.truth if _knows_all(problem) else None)
    if problem.test:
        monitor["test"] = (next(iter(problem.test.values())), problem.truth)
    return learner.fit(
        problem.features, problem.leaves, prior=problem.prior, seed=seed, monitor=monitor, progress=False
    )


def outcome_of(fit: QuartetFit, problem: Problem) -> Outcome:
    """The trees of a fit, and what its training tells."""
    gated = fit.selected.sum() < problem.features.shape[1]
    extra: dict[str, Scalar] = {"builder": fit.builder, "step": fit.step, "looks": len(fit.history)}
    if "test RF" in fit.history:
        looks = fit.history["test RF"]
        extra |= {"RF of the best look": float(looks.min()), "RF of the last look": float(looks.iloc[-1])}
    if fit.settings.gate == "gumbel":
        extra["gate change sd"] = fit.gate_change_sd
    return Outcome(
        trees_of(fit, problem, honor_prior=False),
        trees_of(fit, problem, honor_prior=True),
        tree_of_labelled(fit, problem),
        feature_scores=fit.feature_scores,
        selected=fit.selected if gated else None,
        selection=fit.selection,
        extra=extra,
    )


def _outcome(learner: QuartetLearner, problem: Problem, seed: int) -> Outcome:
    return outcome_of(fit_to(learner, problem, seed), problem)


def _knows_all(problem: Problem) -> bool:
    """Whether the prior is the truth, so that whoever knows it may score by it."""
    return isinstance(problem.prior, Tree) and set(problem.prior.leaves) == set(problem.leaves)
