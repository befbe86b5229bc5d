"""New leaves on a finished tree: ``OMP_NUM_THREADS=1 python benchmarks/placement.py DATA [seeds] [part ...]``.

DATA is the folder of the real data. Parts: placement, cost. A tenth of the leaves is held out and placed on the true
tree of the others, by features weighted by their heritability on it. ``on the true edge``: the share whose best edge is
the true one; ``weight``: what the best edges' weights are on average, which is to be the same; ``calibration``: by
weight of the best edge the number, the mean weight and the share that is right; ``nearby`` is the same for the best
edge and those that touch it. The form of the weights was chosen on seeds 0 to 5 of the simulations; epic190 was in
sight. Cost: milliseconds of wall time for one leaf after preparation, the median of 50.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from measure import keep_part

from celltreeqm.learners import Fit, HeritableLearner
from celltreeqm.reconstruct import place_new_leaves, prepare_placement
from celltreeqm.simulate import Scenario, simulate_scenario
from celltreeqm.trees import Tree, read_newick

FIRST_SEED = 100
BINS = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0001)
Draw = Callable[[int], tuple[np.ndarray, Tree]]


def true_edges(backbone: Tree, name: str, truth: Tree) -> np.ndarray:
    """bool[m - 1], whether attaching the leaf to each edge gives the truth."""
    whole = truth.restrict([*backbone.leaves, name]).unroot()
    leaf = whole.index[name]
    at = whole.parent[leaf]
    sides = [set(whole.leaves_below(e)) for e in range(whole.n_nodes - 1) if whole.parent[e] == at and e != leaf]
    rest = set(backbone.leaves)
    sides.append(rest - set().union(*sides))
    below = [set(backbone.leaves_below(e)) for e in range(backbone.n_nodes - 1)]
    return np.array([side in sides or rest - side in sides for side in below])


def table_of(weight: np.ndarray, right: np.ndarray) -> list[dict[str, Any]]:
    rows = []
    for low, high in pairwise(BINS):
        inside = (weight >= low) & (weight < high)
        if inside.any():
            told = {"weight": round(float(weight[inside].mean()), 3), "right": round(float(right[inside].mean()), 3)}
            rows.append({"from": low, "leaves": int(inside.sum())} | told)
    return rows


def placement(data: Path, seeds: int) -> list[dict[str, Any]]:
    table = pd.read_csv(data / "epic190/expression.csv.gz", index_col=0)
    whole = read_newick(data / "epic190/tree.nwk", rooted=True)
    every = table.loc[list(whole.leaves)].to_numpy()

    def simulated(scenario: str) -> Draw:
        def draw(seed: int) -> tuple[np.ndarray, Tree]:
            simulation = simulate_scenario(scenario, leaves=64, seed=seed)
            return simulation.features, simulation.truth

        return draw

    rows = []
    draws: dict[str, Draw] = {name: simulated(name) for name in ("weak", "heritability", "batch")}
    for label, draw in (draws | {"epic190": lambda seed: (every, whole)}).items():
        figures, touching = [], []
        for seed in range(FIRST_SEED, FIRST_SEED + seeds):
            features, truth = draw(seed)
            held = np.random.default_rng([seed, 5]).permutation(truth.n_leaves)[: truth.n_leaves // 10]
            kept = np.setdiff1d(np.arange(truth.n_leaves), held)
            names = [truth.leaves[i] for i in kept]
            backbone = truth.restrict(names)
            fit: Fit = HeritableLearner().fit(features[kept], names, prior=backbone, seed=seed)
            found = place_new_leaves(backbone, fit, features[held], [truth.leaves[i] for i in held])
            parent = found.placements.backbone.parent[:-1]
            edges = np.arange(len(parent))
            for i, name in enumerate(found.names):
                true, best = true_edges(found.placements.backbone, name, truth), found.placements.edge[i]
                near = (edges == best) | (parent == best) | (edges == parent[best]) | (parent == parent[best])
                figures.append((found.weight[i], true[best], name in found.unstable))
                touching.append((found.nearby[i], (near & true).any()))
        weight, right, shaky = np.array(figures, dtype=float).T
        nearby, about = np.array(touching, dtype=float).T
        out = {
            "data": label,
            "seeds": seeds,
            "leaves": len(weight),
            "on the true edge": round(float(right.mean()), 3),
            "weight": round(float(weight.mean()), 3),
            "nearby right": round(float(about.mean()), 3),
            "nearby": round(float(nearby.mean()), 3),
            "unstable": round(float(shaky.mean()), 3),
            "on the true edge, of stable": round(float(right[shaky == 0].mean()), 3),
            "on the true edge, of unstable": round(float(right[shaky == 1].mean()), 3) if shaky.any() else None,
            "calibration": table_of(weight, right),
            "nearby calibration": table_of(nearby, about),
        }
        rows.append(out)
        print(out, flush=True)
    return rows


def cost(data: Path, seeds: int) -> list[dict[str, Any]]:
    rows = []
    for n, g in ((64, 600), (300, 2000), (1000, 2000)):
        scenario = Scenario(leaves=n + 1, shape="yule", signal=g // 10, noise=g - g // 10)
        simulation = simulate_scenario(scenario, seed=0)
        names = simulation.leaves[:-1]
        backbone = simulation.truth.restrict(names)
        fit = HeritableLearner(builder="neighbor_joining").fit(simulation.features[:-1], names, prior=backbone, seed=0)
        start = time.perf_counter()
        placer = prepare_placement(backbone, fit)
        prepared = time.perf_counter() - start
        times = []
        for _ in range(50):
            start = time.perf_counter()
            placer.place(simulation.features[-1:], ["new"])
            times.append(1000 * (time.perf_counter() - start))
        figures = {"prepared in seconds": round(prepared, 2), "one leaf, ms": round(float(np.median(times)), 2)}
        rows.append({"leaves": n, "features": g, **figures})
        print(rows[-1], flush=True)
    return rows


def main() -> None:
    if len(sys.argv) < 2:
        raise SystemExit("Name the folder of the real data: python benchmarks/placement.py DATA [seeds] [part ...]")
    data, seeds = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 20
    parts = {"placement": placement, "cost": cost}
    for part in sys.argv[3:] or parts:
        keep_part("placement", part, parts[part](data, seeds))


if __name__ == "__main__":
    main()
