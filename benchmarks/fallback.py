"""The signal test and the fallback. ``OMP_NUM_THREADS=1 python benchmarks/fallback.py DATA [part ...]``.

DATA is the folder of the real data. Parts:

- graded: simulations with graded heritability; where, by the strength z of the signal test and the number of labelled
  leaves, learning begins to beat direct reconstruction under the prior. The rule's thresholds come from these alone.
- simulated: other simulations of the same kind, of other seeds.
- real: epic190, packer30 and tedsim, not used to choose the rule.
- alarms, power, cost: of the signal test.

The learner is a cheaper one than the default: AdaptiveLearner(best=3, bag=8, folds=4, repeats=1) with eleven of its
candidates, those with plain weights on four combinations of scale and distance. Differences are
learned (or what the rule falls back to) minus direct under the prior, of the leaves without labels; above 0 is worse.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from measure import keep_part

from celltreeqm.learners import AdaptiveLearner, DirectLearner
from celltreeqm.learners.adaptive import _measure
from celltreeqm.reconstruct import signal_test
from celltreeqm.simulate import Scenario, simulate_scenario
from celltreeqm.trees import Tree, quartet_distance, read_newick, robinson_foulds

FEW = {("given", "euclidean"), ("given", "correlation"), ("undo ln", "correlation"), ("standardized", "correlation")}
_measure.CANDIDATES = tuple(  # a third of the time
    row for row in _measure.CANDIDATES if row.weighting == "plain" and (row.scale, row.metric) in FEW
)
LEARNER = AdaptiveLearner(best=3, bag=8, folds=4, repeats=1)
# Label sets for known fractions .3, .5 and .8
SETS = {"packer30": (20, 20, 50), "epic190": (5, 5, 5), "tedsim l1": (5, 5, 5), "tedsim l0p05": (5, 5, 5)}


def drawn(truth: Tree, share: float, seed: list[int]) -> list[str]:
    """A random share of the leaves, rounded down, in random order."""
    order = np.random.default_rng(seed).permutation(truth.n_leaves)
    return [truth.leaves[i] for i in order[: math.floor(share * truth.n_leaves)]]


def compared(features: np.ndarray, truth: Tree, prior: Tree, seed: int) -> dict[str, Any]:
    """The signal test, and by how much the learned tree is worse than the direct one, of the leaves without labels."""
    test = signal_test(features, truth.leaves, prior=prior, seed=seed)
    known = set(prior.leaves)
    rest = [name for name in truth.leaves if name not in known]
    wanted = truth.restrict(rest)
    errors = []
    for learner in (LEARNER, DirectLearner()):
        tree = learner.fit(features, truth.leaves, prior=prior, seed=seed).tree().restrict(rest)
        errors.append([robinson_foulds(tree, wanted), quartet_distance(tree, wanted)])
    (rf, qd), (direct_rf, direct_qd) = errors
    return {
        "p": test.p,
        "z": round(test.z, 2),
        "labelled": prior.n_leaves,
        "unlabelled": len(rest),
        "direct RF": round(direct_rf, 4),
        "direct QD": round(direct_qd, 4),
        "RF": round(rf - direct_rf, 4),
        "QD": round(qd - direct_qd, 4),
    }


def graded(first: int, count: int) -> Iterator[dict[str, Any]]:
    """Simulations of random size, heritability and company; half of them as logarithms of counts."""
    for seed in range(first, first + count):
        rng = np.random.default_rng([seed, 60])
        n, kappa = int(rng.choice([24, 32, 48, 64, 96], p=[0.2, 0.25, 0.25, 0.25, 0.05])), float(rng.choice([0.3, 0.5, 0.8]))
        if n * (1 - kappa) < 9:
            kappa = 0.5
        signal = int(np.exp(rng.uniform(np.log(10), np.log(150))))
        heritability = float(np.exp(rng.uniform(np.log(0.02), 0.0))) if rng.random() > 0.1 else 0.0
        others = [int(rng.integers(0, 2 * signal)) if rng.random() < share else 0 for share in (0.7, 0.4, 0.2, 0.2)]
        scenario = Scenario(
            leaves=n,
            shape="yule" if rng.random() < 0.7 else "uniform",
            increments="sd" if rng.random() < 0.5 else "variance",
            signal=signal,
            heritability=heritability,
            noise=others[0],
            alternative=others[1],
            batch=others[2],
            cycle=others[3],
        )
        simulation = simulate_scenario(scenario, seed=seed)
        features = simulation.features
        if rng.random() < 0.5:
            means = np.exp(rng.uniform(-1, 2) + 0.7 * (features - features.mean(axis=0)) / features.std(axis=0))
            features = np.log1p(rng.poisson(means))
        prior = simulation.truth.restrict(drawn(simulation.truth, kappa, [seed, 2]))
        row = compared(features, simulation.truth, prior, seed)
        print(seed, n, kappa, signal, round(heritability, 3), row, flush=True)
        yield {"seed": seed, "leaves": n, "heritability": round(heritability, 3), "features": features.shape[1]} | row


def epic190(data: Path) -> tuple[np.ndarray, Tree]:
    truth = read_newick(data / "epic190/tree.nwk", rooted=True)
    table = pd.read_csv(data / "epic190/expression.csv.gz", index_col=0)
    return table.loc[list(truth.leaves)].to_numpy(), truth


def packer30(data: Path) -> tuple[np.ndarray, Tree]:
    """Mean expression of the cells of each leaf."""
    truth = read_newick(data / "packer30/tree.nwk", rooted=True)
    table = pd.read_csv(data / "packer30/cells_by_gene.csv.gz").groupby("leaf").mean()
    return table.loc[list(truth.leaves)].to_numpy(), truth


def tedsim(data: Path, kind: str) -> tuple[np.ndarray, Tree]:
    counts = pd.read_csv(data / f"tedsim/counts_{kind}_52382.csv.gz").to_numpy(dtype=np.float64).T
    truth = read_newick(data / f"tedsim/tree_{kind}_52382.nwk", rooted=True)
    totals = counts.sum(axis=1, keepdims=True)
    logged = np.log1p(counts / totals * np.median(totals))
    return logged[[int(name.removeprefix("t")) - 1 for name in truth.leaves]], truth


def real_sets(data: Path, sets: dict[str, tuple[int, int, int]]) -> Iterator[tuple[str, float, int, np.ndarray, Tree, Tree]]:
    """Data set, known fraction, seed, features, true tree and prior; of tedsim 128 cells are drawn for each seed."""
    whole = {
        "epic190": epic190(data),
        "packer30": packer30(data),
        "tedsim l1": tedsim(data, "l1"),
        "tedsim l0p05": tedsim(data, "l0p05"),
    }
    for seed in range(max(max(counts) for counts in sets.values())):
        for name, counts in sets.items():
            features, truth = whole[name]
            index = {leaf: i for i, leaf in enumerate(truth.leaves)}
            for kappa, count in zip((0.3, 0.5, 0.8), counts, strict=True):
                if seed < count:
                    leaves = drawn(truth, 128 / truth.n_leaves if "tedsim" in name else 1.0, [seed, 1])
                    tree = truth.restrict(leaves).reorder(leaves)
                    prior = tree.restrict(drawn(tree, kappa, [seed, 2]))
                    yield name, kappa, seed, features[[index[leaf] for leaf in leaves]], tree, prior


def real(data: Path) -> Iterator[dict[str, Any]]:
    for name, kappa, seed, features, tree, prior in real_sets(data, SETS):
        yield {"task": name, "known": kappa, "seed": seed} | compared(features, tree, prior, seed)
