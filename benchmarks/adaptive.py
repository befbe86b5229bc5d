"""The adaptive learner: accuracy and cost. ``OMP_NUM_THREADS=1 python benchmarks/adaptive.py DATA [seeds] [part ...]``.

DATA is the folder of the real data. Parts: epic190, tedsim, weak, cost. Errors are means over seeds of Robinson-Foulds
distances: of the whole tree, of the leaves without labels alone, and the quartet distance of these.
To reach: epic190, known fraction .3/.5/.8: .135/.069/.026, unlabelled .136/.060/.005, their quartets .016/.001/.002;
85% of the cells, clades of level 1/2/3 .311/.303/.199, nothing known .315. tedsim (heritable), known fraction .8: .20.
300 taxa x 2,000 features with half of the leaves known: under 20 s on two cores and under 2 GB.
"""

from __future__ import annotations

import math
import resource
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from measure import keep_part

from celltreeqm.learners import AdaptiveLearner, DirectLearner, HeritableLearner, Learner
from celltreeqm.simulate import Scenario, simulate_scenario
from celltreeqm.trees import Tree, prior_at_level, quartet_distance, read_newick, robinson_foulds

LEARNERS: dict[str, Learner] = {
    "no prior": DirectLearner(),
    "direct": DirectLearner(),
    "heritable": HeritableLearner(),
    "adaptive": AdaptiveLearner(),
}


class Case(NamedTuple):
    features: np.ndarray
    truth: Tree
    prior: Tree | None


def drawn(truth: Tree, share: float, seed: list[int]) -> list[str]:
    """A random share of the leaves, rounded down, in random order."""
    order = np.random.default_rng(seed).permutation(truth.n_leaves)
    return [truth.leaves[i] for i in order[: math.floor(share * truth.n_leaves)]]


def row(label: str, cases: Callable[[int], Case], seeds: int) -> Iterator[dict[str, Any]]:
    """Errors and seconds of each learner, and of direct reconstruction without the prior: means and sd over seeds."""
    figures: dict[str, list[list[float]]] = {name: [] for name in LEARNERS}
    for seed in range(seeds):
        case = cases(seed)
        known = set() if case.prior is None else set(case.prior.leaves)
        rest = [name for name in case.truth.leaves if name not in known]
        for name, learner in LEARNERS.items():
            start = time.process_time()
            prior = None if name == "no prior" else case.prior
            fit = learner.fit(case.features, case.truth.leaves, prior=prior, seed=seed)
            tree = fit.tree()
            errors = [robinson_foulds(tree, case.truth)]
            if known and len(rest) > 3:
                alone, wanted = tree.restrict(rest), case.truth.restrict(rest)
                errors += [robinson_foulds(alone, wanted), quartet_distance(alone, wanted)]
            figures[name].append([*errors, time.process_time() - start])
    for name, rows in figures.items():
        mean, sd = np.mean(rows, axis=0), np.std(rows, axis=0, ddof=1)
        labels = ("RF", "unlabelled-leaf RF", "unlabelled-leaf QD")[: len(mean) - 1]
        told = {label: round(float(value), 4) for label, value in zip(labels, mean, strict=False)}
        told |= {f"{label} sd": round(float(value), 4) for label, value in zip(labels, sd, strict=False)}
        out = {"task": label, "learner": name, "seeds": seeds, **told, "cpu seconds": round(float(mean[-1]), 2)}
        print(
            f"{label:<32}{name:<10}" + "  ".join(f"{key} {value}" for key, value in list(out.items())[3:]), flush=True
        )
        yield out


def epic190(data: Path, seeds: int) -> list[dict[str, Any]]:
    table = pd.read_csv(data / "epic190/expression.csv.gz", index_col=0)
    truth = read_newick(data / "epic190/tree.nwk", rooted=True)

    def some(share: float, seed: int) -> tuple[np.ndarray, Tree]:
        names = drawn(truth, share, [seed, 1])
        return table.loc[names].to_numpy(), truth.restrict(names).reorder(names)

    def labelled(kappa: float) -> Callable[[int], Case]:
        def case(seed: int) -> Case:
            features, tree = some(1.0, seed)
            return Case(features, tree, tree.restrict(drawn(tree, kappa, [seed, 2])))

        return case

    def clades(level: int) -> Callable[[int], Case]:
        def case(seed: int) -> Case:
            features, tree = some(0.85, seed)
            return Case(features, tree, prior_at_level(tree, level) if level else None)

        return case

    rows = [out for kappa in (0.3, 0.5, 0.8) for out in row(f"epic190, known {kappa}", labelled(kappa), seeds)]
    return rows + [out for level in range(4) for out in row(f"epic190, level {level}", clades(level), seeds)]


def tedsim(data: Path, seeds: int) -> list[dict[str, Any]]:
    rows = []
    for kind in ("l1", "l0p05"):
        counts = pd.read_csv(data / f"tedsim/counts_{kind}_52382.csv.gz").to_numpy(dtype=np.float64).T
        truth = read_newick(data / f"tedsim/tree_{kind}_52382.nwk", rooted=True)
        totals = counts.sum(axis=1, keepdims=True)
        logged = np.log1p(counts / totals * np.median(totals))

        def case(seed: int, kappa: float, whole: Tree = truth, features: np.ndarray = logged) -> Case:
            names = drawn(whole, 0.25, [seed, 1])
            tree = whole.restrict(names).reorder(names)
            values = features[[int(name.removeprefix("t")) - 1 for name in names]]
            return Case(values, tree, tree.restrict(drawn(tree, kappa, [seed, 2])))

        for kappa in (0.5, 0.8):
            rows += list(row(f"tedsim {kind}, known {kappa}", lambda seed, k=kappa, c=case: c(seed, k), seeds))
    return rows


def weak(data: Path, seeds: int) -> list[dict[str, Any]]:
    def labelled(kappa: float) -> Callable[[int], Case]:
        def case(seed: int) -> Case:
            simulation = simulate_scenario("weak", leaves=64, seed=seed)
            prior = simulation.truth.restrict(drawn(simulation.truth, kappa, [seed, 2]))
            return Case(simulation.features, simulation.truth, prior)

        return case

    def clades(level: int) -> Callable[[int], Case]:
        def case(seed: int) -> Case:
            simulation = simulate_scenario("weak", leaves=64, seed=seed)
            return Case(simulation.features, simulation.truth, prior_at_level(simulation.truth, level))

        return case

    rows = [out for kappa in (0.3, 0.5, 0.8) for out in row(f"weak, known {kappa}", labelled(kappa), seeds)]
    return rows + [out for level in (1, 2, 3) for out in row(f"weak, level {level}", clades(level), seeds)]


def cost(data: Path, seeds: int) -> list[dict[str, Any]]:
    rows = []
    for n, g in ((75, 2000), (150, 2000), (300, 500), (300, 2000), (300, 8000)):
        simulation = simulate_scenario(Scenario(leaves=n, shape="yule", signal=g // 10, noise=g - g // 10), seed=0)
        prior = simulation.truth.restrict(drawn(simulation.truth, 0.5, [0, 2]))
        # Positive and not whole: looks logged, so that the most candidates are tried.
        features = np.log1p(np.exp(simulation.features / simulation.features.std() / 2))
        AdaptiveLearner().fit(features[:, :50], simulation.leaves, prior=prior, seed=0)
        for workers in (1, 2) if (n, g) == (300, 2000) else (1,):
            start, spent = time.perf_counter(), time.process_time()
            AdaptiveLearner(workers=workers).fit(features, simulation.leaves, prior=prior, seed=0)
            figures = {"wall seconds": round(time.perf_counter() - start, 1)}
            if workers == 1:
                figures["cpu seconds"] = round(time.process_time() - spent, 1)
                figures["peak GB"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2)
            rows.append({"task": "cost", "taxa": n, "features": g, "workers": workers, **figures})
            print(rows[-1], flush=True)
    return rows


def main() -> None:
    if len(sys.argv) < 2:
        raise SystemExit("Name the folder of the real data: python benchmarks/adaptive.py DATA [seeds] [part ...]")
    data, seeds = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    parts = {"epic190": epic190, "tedsim": tedsim, "weak": weak, "cost": cost}
    for part in sys.argv[3:] or parts:
        keep_part("adaptive", part, parts[part](data, seeds))


if __name__ == "__main__":
    main()
