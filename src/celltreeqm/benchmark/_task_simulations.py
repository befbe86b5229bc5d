"""Tasks on simulations: the paper's supervised table, its weak and unsupervised set-ups, and its figures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from ..evaluation import permute_leaves
from ..quartets import PARTITION_TYPES, partition_counts, partition_proportions, quartet_class_counts
from ..simulate import Scenario, random_tree, simulate_scenario
from ..trees import Tree, prior_at_level, prior_from_clades
from ._methods import Outcome, register_method
from ._problems import Problem
from ._tasks import Size, register_task

__all__ = ["ABLATION", "known_leaves", "stream", "with_null"]

_VALIDATION = 2**40  # seeds of the replicates that are chosen by: never one that is tested on
_TABLE = tuple(f"{letter}{number}" for letter in "ABCD" for number in (1, 2, 3))


@register_task("table-sim")
def table_sim(size: Size, seed: int) -> Iterator[Problem]:
    """The paper's table of simulations A1 to D3: supervised, tested on a replicate and on a fresh realisation."""
    for name in _scenarios(size):
        yield _supervised(name, size, seed)


@register_task("table-sim-controls")
def table_sim_controls(size: Size, seed: int) -> Iterator[Problem]:
    """What the scores of table-sim must be compared with: leaves permuted, and a quarter of the leaves held out.

    Held-out leaves are not in the prior; their tree, "unlabelled-leaf RF", tells whether lineage was learned or leaves.
    """
    for name in _scenarios(size):
        problem = _supervised(name, size, seed)
        truth = permute_leaves(problem.truth, stream(seed, "permuted leaves"))
        yield replace(
            problem,
            name=f"{name}, leaves permuted",
            truth=truth,
            prior=truth,
            signal=None,
            test={"replicate": problem.test["replicate"]},
            control="permuted-leaves",
        )
        known = known_leaves(problem.leaves, 0.75, seed)
        yield replace(
            problem,
            name=f"{name}, leaves held out",
            prior=problem.truth.restrict(known),
            test={},
            validation=None,
            control="held-out-leaves",
        )


# Only what differs from the paper's baseline, by the names of the settings
ABLATION: dict[str, dict[str, str | float]] = {
    "baseline": {},
    "a1": {"deviation": 0.0},
    "a2": {"additivity": 0.0},
    **{f"b{i}": {"additivity": w} for i, w in enumerate((0.005, 0.01, 0.1, 0.5, 1.0, 4.0), start=1)},
    "d1": {"close": 1.0, "push": 0.0},
    "d2": {"close": 0.0, "push": 10.0},
    **{f"e{i}": {"push": w} for i, w in enumerate((1.0, 2.0, 5.0, 20.0, 30.0), start=1)},
    **{f"f{i}": {"margin": m} for i, m in enumerate((0.0, 0.1, 0.3, 0.7, 1.0), start=1)},
    "g1": {"quartets": "matched"},
    "g2": {"quartets": "all"},
}


@register_task("ablation", only_method="ablated-quartet")
def ablation(size: Size, seed: int) -> Iterator[Problem]:
    """The paper's study of loss components (tbl:loss_ablation), on scenario C2 in place of its real data."""
    rows = ("baseline", "a1", "a2", "g1") if size == "tiny" else ABLATION
    for row in rows:
        problem = _supervised("C2", size, seed)
        steps = {"tiny": 20, "smoke": 60, "full": 600}[size]
        yield replace(problem, name=row, info={**problem.info, "row": row, "steps": steps, **ABLATION[row]})


def _scenarios(size: Size) -> tuple[str, ...]:
    return {"tiny": ("A1", "D1"), "smoke": ("A1", "B1", "C1", "D1"), "full": _TABLE}[size]


def _supervised(name: str, size: Size, seed: int) -> Problem:
    """A scenario whose whole tree is known, with replicates to choose by and to test on."""
    simulation = simulate_scenario(name, leaves=16 if size == "tiny" else None, seed=seed)
    return Problem(
        name,
        simulation.features,
        simulation.leaves,
        simulation.truth,
        prior=simulation.truth,
        honor_prior=False,
        signal=simulation.signal,
        test={
            "replicate": simulation.replicate(seed).features,
            "fresh": simulation.fresh(seed).features,
        },
        validation=simulation.replicate(_VALIDATION + seed).features,
        info={"scenario": name, "leaves": len(simulation.leaves)},
    )


@register_task("sim-partition")
def sim_partition(size: Size, seed: int) -> Iterator[Problem]:
    """The paper's weak set-up with the clades of one level known, each beside its permuted null."""
    simulation = simulate_scenario("weak", leaves=16 if size == "tiny" else 64, seed=seed)
    for level in {"tiny": (1, 2), "smoke": (2,), "full": (1, 2, 3, 4)}[size]:
        problem = Problem(
            f"level {level}",
            simulation.features,
            simulation.leaves,
            simulation.truth,
            prior=prior_at_level(simulation.truth, level),
            signal=simulation.signal,
            info={"scenario": "weak", "leaves": len(simulation.leaves), "level": level},
        )
        yield from with_null(problem, seed)


@register_task("sim-partial")
def sim_partial(size: Size, seed: int) -> Iterator[Problem]:
    """The paper's weak set-up with the tree of some of the leaves known, each beside its permuted null."""
    simulation = simulate_scenario("weak", leaves=16 if size == "tiny" else 128, seed=seed)
    for kappa in {"tiny": (0.55,), "smoke": (0.55,), "full": (0.35, 0.55, 0.85)}[size]:
        problem = Problem(
            f"known fraction {kappa}",
            simulation.features,
            simulation.leaves,
            simulation.truth,
            prior=simulation.truth.restrict(known_leaves(simulation.leaves, kappa, seed)),
            signal=simulation.signal,
            info={"scenario": "weak", "leaves": len(simulation.leaves), "kappa": kappa},
        )
        yield from with_null(problem, seed)


@register_task("sim-unsupervised")
def sim_unsupervised(size: Size, seed: int) -> Iterator[Problem]:
    """The paper's unsupervised set-up: half of the features are noise of sd 10, and nothing is known."""
    simulation = simulate_scenario("unsupervised", leaves=16 if size == "tiny" else 128, seed=seed)
    yield Problem(
        "unsupervised",
        simulation.features,
        simulation.leaves,
        simulation.truth,
        signal=simulation.signal,
        info={"scenario": "unsupervised", "leaves": len(simulation.leaves)},
    )


@register_task("figure-signal")
def figure_signal(size: Size, seed: int) -> Iterator[Problem]:
    """Signal alone by number of leaves, number of features and longest branch (fig:signal_dataset).

    A seed is one model tree for each number of leaves and longest branch, with five realisations (two where not
    full): five seeds are the paper's 25 trials. The grid is ours, as the paper gives no figures.
    """
    leaves, signals, widths, realisations = {
        "tiny": ((16,), (10, 50), (1, 10), 2),
        "smoke": ((32, 64), (10, 50), (1, 2, 10), 2),
        "full": ((32, 64, 128, 256), (10, 20, 50, 100, 200), (1, 2, 5, 10, 20), 5),
    }[size]
    for n in leaves:
        for width in widths:
            for signal in signals:
                scenario = Scenario(name="signal", leaves=n, max_length=width, signal=signal)
                simulation = simulate_scenario(scenario, seed=seed)
                for realisation in range(realisations):
                    drawn = simulation if not realisation else simulation.fresh(realisation)
                    yield Problem(
                        f"{n} leaves, {signal} features, w {width}, realisation {realisation}",
                        drawn.features,
                        drawn.leaves,
                        drawn.truth,
                        info={
                            "leaves": n,
                            "signals": signal,
                            "max_length": width,
                            "log_max_length": math.log(width),
                            "realisation": realisation,
                        },
                    )


@register_task("quartet-proportions", only_method="count-quartets")
def quartet_proportions(size: Size, seed: int) -> Iterator[Problem]:
    """Which quartets clades and labelled leaves resolve (fig:quartet_prop, fig:quartet_prop_heuristic, ..._partial)."""
    n = 16 if size == "tiny" else 64
    truth = random_tree(n, seed=seed)
    rng = np.random.default_rng(seed)
    for k in range(2, 17):
        clades = rng.integers(k, size=n).tolist()
        yield _counted(f"{k} clades", truth, prior_from_clades(clades, truth.leaves), {"k": k, "kind": "random clades"})
    for level in range(1, n.bit_length() - 1):
        yield _counted(f"level {level}", truth, prior_at_level(truth, level), {"level": level, "kind": "levels"})
    for percent in range(10, 101, 5):
        known = truth.restrict(known_leaves(truth.leaves, percent / 100, seed))
        yield _counted(f"{percent} % of leaves", truth, known, {"kappa": percent / 100, "kind": "labelled leaves"})


@register_method("count-quartets")
def count_quartets(problem: Problem, seed: int) -> Outcome:
    """Shares of the quartets that a prior knows, exact, beside the paper's formulas; for quartet-proportions alone."""
    if "kind" not in problem.info or not isinstance(problem.prior, Tree):
        return Outcome()
    counts = quartet_class_counts(problem.prior, problem.leaves)
    shares: dict[str, float] = {
        "known": counts.known / counts.total,
        "partial": counts.partial / counts.total,
        "unknown": (counts.unknown_inside + counts.unknown_outside) / counts.total,
    }
    kappa = problem.info.get("kappa")
    if isinstance(kappa, float):
        expected = {"known": kappa**4, "unknown": (1 - kappa) ** 4}
        expected["partial"] = 1 - sum(expected.values())
    else:
        sizes = [len(clade) for clade in problem.prior.clades(1)]
        k = problem.info.get("k", len(sizes))
        theory = partition_proportions(int(k or 0))
        for kind, count in partition_counts(sizes).items():
            shares[str(kind)] = count / counts.total
        expected = {str(kind): share for kind, share in theory.items()}
        expected["known"] = theory[PARTITION_TYPES[2]] + theory[PARTITION_TYPES[3]]
        expected["unknown"] = 1 - expected["known"]
    return Outcome(extra=shares | {f"{name} expected": share for name, share in expected.items()})


def known_leaves(leaves: Iterable[str], kappa: float, seed: int | np.random.Generator) -> list[str]:
    """A random share of the leaves, rounded down as the paper's counts are; smaller shares are among the larger."""
    names = list(leaves)
    drawn = np.random.default_rng(seed).permutation(len(names))[: math.floor(kappa * len(names) + 1e-9)]
    return [names[i] for i in sorted(drawn.tolist())]


def stream(seed: int, purpose: str) -> np.random.Generator:
    """A generator of its own for each purpose, so that a null is drawn independently of which leaves are known."""
    return np.random.default_rng([seed, *purpose.encode()])


def with_null(problem: Problem, seed: int) -> Iterator[Problem]:
    """A problem with a prior, and the same with the leaves of truth and prior permuted (the paper's "-p")."""
    yield problem
    priors = [problem.prior] if isinstance(problem.prior, Tree) else list(problem.prior or ())
    truth, *permuted = permute_leaves([problem.truth, *priors], stream(seed, "permuted leaves"))
    yield replace(
        problem,
        name=f"{problem.name}, leaves permuted",
        truth=truth,
        prior=tuple(permuted),
        honor_prior=False,
        signal=None,
        control="permuted-leaves",
    )


def _counted(name: str, truth: Tree, prior: Tree, info: dict[str, str | int | float]) -> Problem:
    return Problem(name, np.zeros((truth.n_leaves, 0)), truth.leaves, truth, prior, info=info)
