"""Support: what it is worth, and its cost. ``OMP_NUM_THREADS=1 python benchmarks/support.py DATA [sets] [part ...]``.

DATA is the folder of the real data. Parts: correction (for runs without labels: whether one learned from some simulated
scenarios holds in others), unlabelled, labelled, permuted (features of other rows: the prior is right, and the features
say nothing), choosing (choosing once beside choosing in each resample), cost. Figures pool the clades that were
not given over label sets; the adaptive learner chooses with ``repeats=1``. Errors are expected calibration errors over
ten bins. To reach: with labels and signal at least 90% true of 50 or more clades above .9; permuted, no false clade
above .3; 300 taxa x 2,000 features with support and calibration under 90 s on two cores and 2 GB.
"""

from __future__ import annotations

import dataclasses
import math
import resource
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from measure import keep_part

from celltreeqm.learners import AdaptiveLearner, Learner
from celltreeqm.reconstruct import (
    bootstrap_trees,
    calibrate_support,
    gene_modules,
    judge_support,
    reliability_table,
)
from celltreeqm.reconstruct._correction import PENALTIES, learn_correction, log_loss
from celltreeqm.reconstruct._edge_table import DESCRIPTION, describe_edges, judge_edges
from celltreeqm.simulate import Scenario, simulate_scenario
from celltreeqm.trees import Tree, prior_at_level, read_newick

LEARNER: Learner = AdaptiveLearner(repeats=1)
BINS = [0, 0.3, 0.5, 0.7, 0.9, 1]
LEARNED_FROM = ("heritability", "competing", "batch", "cycle", "C1", "D1", "unsupervised")


class Case(NamedTuple):
    features: np.ndarray
    truth: Tree
    prior: Tree | None


def drawn(truth: Tree, share: float, seed: list[int]) -> list[str]:
    order = np.random.default_rng(seed).permutation(truth.n_leaves)
    return [truth.leaves[i] for i in order[: math.floor(share * truth.n_leaves)]]


def epic190(data: Path, seed: int, kappa: float | None, share: float = 1.0) -> Case:
    table = pd.read_csv(data / "epic190/expression.csv.gz", index_col=0)
    truth = read_newick(data / "epic190/tree.nwk", rooted=True)
    names = drawn(truth, share, [seed, 1])
    tree = truth.restrict(names).reorder(names)
    return Case(table.loc[names].to_numpy(), tree, tree.restrict(drawn(tree, kappa, [seed, 2])) if kappa else None)


def tedsim(data: Path, seed: int, kappa: float | None) -> Case:
    counts = pd.read_csv(data / "tedsim/counts_l1_52382.csv.gz").to_numpy(dtype=np.float64).T
    truth = read_newick(data / "tedsim/tree_l1_52382.nwk", rooted=True)
    totals = counts.sum(axis=1, keepdims=True)
    names = drawn(truth, 0.25, [seed, 1])
    tree = truth.restrict(names).reorder(names)
    rows = np.log1p(counts / totals * np.median(totals))[[int(name.removeprefix("t")) - 1 for name in names]]
    return Case(rows, tree, tree.restrict(drawn(tree, kappa, [seed, 2])) if kappa else None)


def simulated(name: str, seed: int, kappa: float | None = None, level: int | None = None, leaves: int = 64) -> Case:
    simulation = simulate_scenario(name, seed=seed, leaves=leaves, shape="balanced" if seed % 2 else "yule")
    truth = simulation.truth
    prior = truth.restrict(drawn(truth, kappa, [seed, 2])) if kappa else prior_at_level(truth, level) if level else None
    return Case(simulation.features, truth, prior)


def shuffled(case: Case, seed: int) -> Case:
    rows = np.random.default_rng([seed, 3]).permutation(len(case.features))
    return case._replace(features=case.features[rows])


def row(label: str, cases: Iterable[Case], seed: int = 0, modules: bool = False) -> list[dict[str, Any]]:
    """Reliability of raw and of calibrated support, pooled over cases; the errors also as means over cases."""
    told: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {"raw": [], "calibrated": []}
    basis: list[str] = []
    spent = 0.0
    for number, case in enumerate(cases):
        start = time.process_time()
        fit = LEARNER.fit(case.features, case.truth.leaves, prior=case.prior, seed=seed + number)
        groups = gene_modules(case.features) if modules else None
        sampled = bootstrap_trees(fit, case.features, n=100, seed=number, modules=groups)
        found = calibrate_support(fit, case.features, seed=number, modules=groups)
        spent += time.process_time() - start
        tree = fit.tree()
        told["raw"].append(judge_support(sampled.support(tree), case.truth, case.prior))
        told["calibrated"].append(judge_support(found.support(tree, sampled, case.prior), case.truth, case.prior))
        basis.append(found.basis)
        print(label, number, found.message, flush=True)
    rows = []
    if "labels" not in basis:
        del told["calibrated"]  # it is raw support
    for kind, pairs in told.items():
        support, true = (np.concatenate([pair[i] for pair in pairs]) for i in (0, 1))
        pooled, coarse = reliability_table(support, true), reliability_table(support, true, bins=BINS)
        each = [reliability_table(*pair).expected_calibration_error for pair in pairs]
        clear = np.clip(support, 0.005, 0.995)
        wrong = support[~true]
        out = {
            "task": label,
            "resampled": "modules" if modules else "features",
            "support": kind,
            "sets": len(pairs),
            "basis": {name: basis.count(name) for name in sorted(set(basis))},
            "clades": len(true),
            "fraction true": round(float(true.mean()), 3),
            "calibration error": round(pooled.expected_calibration_error, 3),
            "mean of sets": round(float(np.mean(each)), 3),
            "log loss": round(float(log_loss(clear, true.astype(float)).mean()), 3),
            "n by bin": list(coarse.count),
            "true by bin": [None if math.isnan(x) else round(x, 3) for x in coarse.fraction_true],
            "false above .3, .5, .9": [int((wrong >= at).sum()) for at in (0.3, 0.5, 0.9)],
            "cpu seconds a set": round(spent / len(pairs), 1),
        }
        print(out, flush=True)
        rows.append(out)
    return rows


def correction(data: Path, sets: int) -> list[dict[str, Any]]:
    """Learn the correction without labels; each scenario is also predicted by what the others teach."""
    described, true, kind = [], [], []
    for name_number, name in enumerate(LEARNED_FROM):
        for seed in range(100, 100 + sets):
            case = simulated(name, seed, level=None if (seed + name_number) % 3 else 2)
            fit = LEARNER.fit(case.features, case.truth.leaves, prior=case.prior, seed=seed)
            sampled = bootstrap_trees(fit, case.features, n=100, seed=seed)
            tree = fit.tree().unroot()
            edges = describe_edges(tree, sampled.trees, sampled.readings, fit.prior)
            described.append(edges.description)
            true.append(judge_edges(tree, edges.nodes, case.truth))
            kind.append(np.full(len(edges.nodes), name_number))
    return learned_correction(np.concatenate(described), np.concatenate(true), np.concatenate(kind))


def learned_correction(x: np.ndarray, true: np.ndarray, kind: np.ndarray) -> list[dict[str, Any]]:
    x = x.copy()
    x[:, [DESCRIPTION.index(name) for name in ("known leaves", "unknown leaves", "partly given")]] = 0.0
    losses = {}
    for penalty in PENALTIES:
        left_out = np.zeros(len(true))
        for one in np.unique(kind):
            inside = kind == one
            learned = learn_correction(x[~inside], true[~inside], penalty)
            left_out[inside] = log_loss(learned(x[inside]), true[inside])
        losses[penalty] = float(left_out.mean())
    best = min(losses, key=lambda penalty: losses[penalty])
    learned = learn_correction(x, true, best)
    raw = 1 / (1 + np.exp(-x[:, 0]))
    above = raw >= 0.9
    out = {
        "task": "correction",
        "clades": len(true),
        "penalty": best,
        "log loss, raw": round(float(log_loss(raw, true).mean()), 3),
        "log loss, scenario left out": round(losses[best], 3),
        "clades above .9, raw": int(above.sum()),
        "true above .9, raw": round(float(true[above].mean()), 3),
        **{name: [round(v, 4) for v in np.atleast_1d(value).tolist()] for name, value in vars(learned).items()},
    }
    print(out)
    return [out]


def unlabelled(data: Path, sets: int) -> list[dict[str, Any]]:
    """Single features, and modules of them drawn whole."""
    rows = []
    for modules in (False, True):
        rows += row("epic190, nothing known", [epic190(data, 0, None)], modules=modules)
        some = [epic190(data, seed, None, 0.85) for seed in range(sets)]
        rows += row("epic190, 85% of the cells", some, modules=modules)
        rows += row("tedsim l1, nothing known", [tedsim(data, seed, None) for seed in range(sets)], modules=modules)
    for kinds in (("heritability", "A2", "unsupervised"), ("competing", "D1"), ("batch", "cycle")):
        cases = [simulated(name, seed) for seed in range(sets) for name in kinds]
        rows += row(f"simulations ({', '.join(kinds)}), nothing known", cases)
    return rows


def labelled(data: Path, sets: int) -> list[dict[str, Any]]:
    rows = []
    for kappa in (0.5, 0.3):
        rows += row(f"epic190, known {kappa}", [epic190(data, seed, kappa) for seed in range(sets)])
        rows += row(f"tedsim l1, known {kappa}", [tedsim(data, seed, kappa) for seed in range(sets)])
    fresh = [
        simulated(name, seed, 0.5, leaves=96 if seed % 2 == 0 else 64)
        for seed in range(2)
        for name in ("heritability", "competing", "A2", "batch")
    ]
    return rows + row("simulations, known 0.5", fresh)


def permuted(data: Path, sets: int) -> list[dict[str, Any]]:
    rows = row("epic190, known 0.5, permuted", [shuffled(epic190(data, seed, 0.5), seed) for seed in range(sets)])
    return rows + row(
        "tedsim l1, known 0.5, permuted", [shuffled(tedsim(data, seed, 0.5), seed) for seed in range(sets)]
    )


def choosing(data: Path, sets: int) -> list[dict[str, Any]]:
    """Support where the choice is kept, and where every resample chooses anew; the same columns are drawn."""
    rows = []
    for label, make in (
        ("competing, known 0.5", lambda seed: simulated("competing", seed, 0.5)),
        ("heritability, nothing known", lambda seed: simulated("heritability", seed)),
    ):
        once, anew = [], []
        for seed in range(sets):
            case: Case = make(seed)
            learner = AdaptiveLearner(repeats=1, bag=12)
            fit = learner.fit(case.features, case.truth.leaves, prior=case.prior, seed=seed)
            sampled = bootstrap_trees(fit, case.features, n=20, seed=seed)
            trees, g = [], case.features.shape[1]
            for child in np.random.SeedSequence(seed).spawn(20):
                columns = np.random.default_rng(child).integers(g, size=g)
                again = learner.fit(case.features[:, columns], case.truth.leaves, prior=case.prior, seed=seed)
                trees.append(again.tree().unroot())
            tree = fit.tree()
            once.append(judge_support(sampled.support(tree), case.truth, case.prior))
            anew.append(
                judge_support(dataclasses.replace(sampled, trees=tuple(trees)).support(tree), case.truth, case.prior)
            )
        for kind, pairs in (("chosen once", once), ("chosen in each resample", anew)):
            support, true = (np.concatenate([pair[i] for pair in pairs]) for i in (0, 1))
            table = reliability_table(support, true, bins=BINS)
            out = {
                "task": f"choosing, {label}",
                "choice": kind,
                "sets": sets,
                "clades": len(true),
                "fraction true": round(float(true.mean()), 3),
                "mean support": round(float(support.mean()), 3),
                "mean support, false clades": round(float(support[~true].mean()), 3),
                "calibration error": round(reliability_table(support, true).expected_calibration_error, 3),
                "n by bin": list(table.count),
                "true by bin": [None if math.isnan(x) else round(x, 3) for x in table.fraction_true],
            }
            print(out, flush=True)
            rows.append(out)
    return rows


def cost(data: Path, sets: int) -> list[dict[str, Any]]:
    rows = []
    simulation = simulate_scenario(Scenario(leaves=300, shape="yule", signal=200, noise=1800), seed=0)
    prior = simulation.truth.restrict(drawn(simulation.truth, 0.5, [0, 2]))
    # Positive and not whole: looks logged, so that the most candidates are tried.
    features = np.log1p(np.exp(simulation.features / simulation.features.std() / 2))
    AdaptiveLearner().fit(features[:, :50], simulation.leaves, prior=prior, seed=0)
    for workers in (1, 2):
        figures: dict[str, Any] = {"task": "cost", "taxa": 300, "features": 2000, "workers": workers}
        began, spent = time.perf_counter(), time.process_time()
        for name, call in _stages(features, simulation.leaves, prior, workers):
            call()
            wall, cpu = time.perf_counter(), time.process_time()
            figures[f"{name}, wall s"] = round(wall - began, 1)
            if workers == 1:
                figures[f"{name}, cpu s"] = round(cpu - spent, 1)
            began, spent = wall, cpu
        for who, key in ((resource.RUSAGE_SELF, "peak GB"), (resource.RUSAGE_CHILDREN, "peak GB of a worker")):
            figures[key] = round(resource.getrusage(who).ru_maxrss / 1e6, 2)
        print(figures, flush=True)
        rows.append(figures)
    return rows


def _stages(
    features: np.ndarray, leaves: tuple[str, ...], prior: Tree, workers: int
) -> list[tuple[str, Callable[[], None]]]:
    made: dict[str, Any] = {}

    def fit() -> None:
        made["fit"] = AdaptiveLearner(workers=workers).fit(features, leaves, prior=prior, seed=0)

    def support() -> None:
        bootstrap_trees(made["fit"], features, n=100, seed=0, workers=workers)

    def calibration() -> None:
        calibrate_support(made["fit"], features, seed=0, workers=workers)

    return [("fit", fit), ("support", support), ("calibration", calibration)]


def main() -> None:
    if len(sys.argv) < 2:
        raise SystemExit("Name the folder of the real data: python benchmarks/support.py DATA [sets] [part ...]")
    data, sets = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    parts = {
        "correction": correction,
        "unlabelled": unlabelled,
        "labelled": labelled,
        "permuted": permuted,
        "choosing": choosing,
        "cost": cost,
    }
    for part in sys.argv[3:] or parts:
        keep_part("support", part, parts[part](data, sets))


if __name__ == "__main__":
    main()
