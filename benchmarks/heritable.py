"""Heritable weights: accuracy and cost. ``OMP_NUM_THREADS=1 python benchmarks/heritable.py [seeds] [part ...]``.

Parts: weak, yule, unsupervised, table, cost. Errors are Robinson-Foulds distances of the whole tree, means over seeds.
To reach: weak, known fraction .3/.5/.8: .065/.055/.022; clades of level 1/2/3: .09/.085/.06; under 1 s each.
Unsupervised .135. Table: recall and precision .97, tree of fresh signal within .02 of signal only. Weights of
512 taxa x 13,000 features under 2 s, unsupervised alternation under 60 s.
"""

from __future__ import annotations

import dataclasses
import math
import sys
import time
from typing import Any, Literal

import numpy as np
from measure import cpu_seconds, keep_part
from scipy.spatial.distance import pdist, squareform

from celltreeqm.evaluation import feature_recovery
from celltreeqm.learners import DirectLearner
from celltreeqm.learners.heritable import HeritableLearner, heritability_likelihoods, weigh_features
from celltreeqm.simulate import SCENARIOS, Scenario, Simulation, simulate_scenario
from celltreeqm.trees import Tree, neighbor_joining, prior_at_level, robinson_foulds

BUILDERS = ("best", "neighbor_joining", "ward")


def signal_only(simulation: Simulation, prior: Tree | None = None) -> float:
    """The error of neighbour joining on the signal features alone."""
    signal = simulation.features[:, simulation.signal]
    tree = neighbor_joining(squareform(pdist(signal)), simulation.leaves, prior=prior)
    return robinson_foulds(tree, simulation.truth)


def known_tree(simulation: Simulation, share: float, seed: int) -> Tree:
    n = len(simulation.leaves)
    drawn = np.random.default_rng(seed).permutation(n)[: math.floor(share * n)]
    return simulation.truth.restrict([simulation.leaves[i] for i in sorted(drawn.tolist())])


def row(label: str, problems: list[tuple[Simulation, Tree | None]]) -> dict[str, Any]:
    """Errors and seconds, means over problems."""
    figures: dict[str, list[float]] = {}
    for seed, (simulation, prior) in enumerate(problems):
        direct = DirectLearner().fit(simulation.features, simulation.leaves, prior=prior, seed=seed).tree()
        figures.setdefault("direct", []).append(robinson_foulds(direct, simulation.truth))
        figures.setdefault("signal only", []).append(signal_only(simulation, prior))
        for builder in BUILDERS:
            start = time.process_time()
            learner = HeritableLearner(builder=builder)
            fit = learner.fit(simulation.features, simulation.leaves, prior=prior, seed=seed)
            tree = fit.tree()
            figures.setdefault(f"{builder}, s", []).append(time.process_time() - start)
            figures.setdefault(builder, []).append(robinson_foulds(tree, simulation.truth))
    out: dict[str, Any] = {"task": label, "seeds": len(problems)}
    out |= {name: round(float(np.mean(values)), 4) for name, values in figures.items()}
    print(
        f"{label:<34}"
        + "".join(f"{name} {out[name]:.3f}  " for name in ("direct", "signal only", *BUILDERS, "best, s"))
    )
    return out


def weak(seeds: int, shape: Literal["balanced", "yule"] = "balanced") -> list[dict[str, Any]]:
    rows = []
    scenario = dataclasses.replace(SCENARIOS["weak"], shape=shape)
    simulations = [simulate_scenario(scenario, leaves=64, seed=seed) for seed in range(seeds)]
    for share in (0.3, 0.5, 0.8):
        problems = [(sim, known_tree(sim, share, seed)) for seed, sim in enumerate(simulations)]
        rows.append(row(f"weak, {shape}, known {share}", problems))
    for level in (1, 2, 3):
        rows.append(row(f"weak, {shape}, level {level}", [(s, prior_at_level(s.truth, level)) for s in simulations]))
    return rows


def yule(seeds: int) -> list[dict[str, Any]]:
    """The same on uneven lineages."""
    return weak(seeds, "yule")


def unsupervised(seeds: int) -> list[dict[str, Any]]:
    rows = []
    for label, sd in (("10", 10.0), ("of the signal", None)):
        scenario = dataclasses.replace(SCENARIOS["unsupervised"], noise_sd=sd)
        simulations = [simulate_scenario(scenario, seed=seed) for seed in range(seeds)]
        rows.append(row(f"unsupervised, noise sd {label}", [(simulation, None) for simulation in simulations]))
    return rows


def table(seeds: int) -> list[dict[str, Any]]:
    rows = []
    for name in [letter + number for letter in "ABCD" for number in "123"]:
        figures = []
        for seed in range(seeds):
            simulation = simulate_scenario(name, seed=seed)
            fresh = simulation.fresh(seed)
            for builder in ("best", "neighbor_joining"):
                learner = HeritableLearner(builder=builder)
                fit = learner.fit(simulation.features, simulation.leaves, prior=simulation.truth, seed=seed)
                tree = fit.tree(fresh.features, honor_prior=False)
                figures.append((*feature_recovery(fit.selected, simulation.signal), robinson_foulds(tree, fresh.truth)))
            figures[-1] += (figures.pop(-2)[-1], signal_only(fresh))
        mean = np.mean(figures, axis=0).round(4).tolist()
        labels = ("recall", "precision", "neighbor_joining", "best", "signal only")
        rows.append({"task": f"table {name}", "seeds": seeds} | dict(zip(labels, mean, strict=True)))
        print(f"{name}  " + "  ".join(f"{label} {figure:.3f}" for label, figure in zip(labels, mean, strict=True)))
    mean = {label: float(np.mean([row[label] for row in rows])) for label in labels}
    print("mean", "  ".join(f"{label} {figure:.3f}" for label, figure in mean.items()))
    return rows


def cost(seeds: int) -> list[dict[str, Any]]:
    rows = []
    for n, g in ((64, 3000), (128, 3000), (256, 1000), (256, 3000), (256, 13_000), (512, 3000), (512, 13_000)):
        scenario = Scenario(leaves=n, signal=g // 10, noise=g - g // 10)
        simulation = simulate_scenario(scenario, seed=0)
        features, truth = simulation.features, simulation.truth
        weights = cpu_seconds(lambda f=features, t=truth: weigh_features(heritability_likelihoods(f, t)), repeats=3)
        fit: list[Any] = []
        alternation = cpu_seconds(
            lambda f=features, t=truth, out=fit: out.append(HeritableLearner().fit(f, t.leaves, seed=0)),
            repeats=1,
            warm_up=False,
        )
        iterations = sum(start["iterations"] for start in fit[0].starts)
        print(f"{n} taxa x {g} features: weights {weights:.2f} s, whole {alternation:.1f} s ({iterations} iterations)")
        rows.append({"task": "cost", "taxa": n, "features": g, "weights, s": weights, "alternation, s": alternation})
    return rows


def main() -> None:
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    parts = {"weak": weak, "yule": yule, "unsupervised": unsupervised, "table": table, "cost": cost}
    for part in sys.argv[2:] or parts:
        keep_part("heritable", part, parts[part](seeds))


if __name__ == "__main__":
    main()
