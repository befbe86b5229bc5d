"""The signal test and the fallback. ``OMP_NUM_THREADS=1 python benchmarks/fallback.py DATA [part ...]``.

DATA is the folder of the real data. Parts:

- graded: simulations with graded heritability; in which bands of known leaves, of the strength z of the signal test and
  of the error of direct reconstruction on the known leaves learning beats direct reconstruction under the prior. The
  limits of ``decide`` come from these alone.
- unlabelled: the same where clades of level 2, or nothing, are known, by HeritableLearner.
- real: epic190, packer30 and tedsim, not used to choose the limits. failures: batches, cell cycle, a second lineage as
  strong as the first, and labels that are wrong; not used either.
- alarms, power, cost: of the signal test.

The learner is a cheaper one than the default: AdaptiveLearner(best=3, bag=8, folds=4, repeats=1) with eleven of its
candidates, those with plain weights on four combinations of scale and distance. Differences are learned (or what the
rule falls back to) minus direct under the prior, of the leaves without labels (of all leaves, where only clades or
nothing are known); above 0 is worse.
"""

from __future__ import annotations

import math
import resource
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from measure import cpu_seconds, keep_part
from scipy.stats import binomtest, t

from celltreeqm.learners import AdaptiveLearner, DirectLearner, HeritableLearner
from celltreeqm.learners.adaptive import _measure
from celltreeqm.reconstruct import SignalTest, decide, signal_test
from celltreeqm.simulate import Scenario, simulate_scenario
from celltreeqm.trees import Tree, prior_at_level, quartet_distance, read_newick, robinson_foulds

FEW = {("given", "euclidean"), ("given", "correlation"), ("undo ln", "correlation"), ("standardized", "correlation")}
_measure.CANDIDATES = tuple(  # a third of the time
    row for row in _measure.CANDIDATES if row.weighting == "plain" and (row.scale, row.metric) in FEW
)
LEARNER = AdaptiveLearner(best=3, bag=8, folds=4, repeats=1)
# Label sets for known fractions .3, .5 and .8
SETS = {"packer30": (20, 20, 50), "epic190": (5, 5, 5), "tedsim l1": (10, 10, 10), "tedsim l0p05": (10, 10, 10)}


def drawn(truth: Tree, share: float, seed: list[int]) -> list[str]:
    """A random share of the leaves, rounded down, in random order."""
    order = np.random.default_rng(seed).permutation(truth.n_leaves)
    return [truth.leaves[i] for i in order[: math.floor(share * truth.n_leaves)]]


def compared(
    features: np.ndarray, truth: Tree, prior: Tree | None, seed: int, *, labelled: bool = True
) -> dict[str, Any]:
    """The signal test, and by how much the learned tree is worse than the direct one.

    Of the leaves without labels; of all where only clades, or nothing, are known.
    """
    test = signal_test(features, truth.leaves, prior=prior, seed=seed)
    known = set(prior.leaves) if prior is not None else set()
    rest = [name for name in truth.leaves if name not in known]
    if not labelled:
        rest = list(truth.leaves)
    wanted = truth.restrict(rest)
    errors = []
    for learner in (LEARNER if labelled else HeritableLearner(), DirectLearner()):
        tree = learner.fit(features, truth.leaves, prior=prior, seed=seed).tree().restrict(rest)
        errors.append([robinson_foulds(tree, wanted), quartet_distance(tree, wanted)])
    (rf, qd), (direct_rf, direct_qd) = errors
    return {
        "kind": test.kind,
        "p": test.p,
        "z": round(test.z, 2),
        "labelled": test.leaves,
        "unlabelled": len(rest),
        "direct error": None if test.direct_error is None else round(test.direct_error, 4),
        "direct RF": round(direct_rf, 4),
        "direct QD": round(direct_qd, 4),
        "RF": round(rf - direct_rf, 4),
        "QD": round(qd - direct_qd, 4),
    }


def graded(first: int, count: int, least: float, known: str = "labels") -> Iterator[dict[str, Any]]:
    """Simulations of random size, heritability and company; half of them as logarithms of counts."""
    for seed in range(first, first + count):
        rng = np.random.default_rng([seed, 60])
        n, kappa = (
            int(rng.choice([24, 32, 48, 64, 96], p=[0.2, 0.25, 0.25, 0.25, 0.05])),
            float(rng.choice([0.3, 0.5, 0.8])),
        )
        if n * (1 - kappa) < 9:
            kappa = 0.5
        signal = int(np.exp(rng.uniform(np.log(10), np.log(150))))
        heritability = float(np.exp(rng.uniform(np.log(least), 0.0))) if rng.random() > 0.1 else 0.0
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
        truth = simulation.truth
        priors = {"labels": truth.restrict(drawn(truth, kappa, [seed, 2])), "clades": prior_at_level(truth, 2)}
        row = compared(features, truth, priors.get(known), seed, labelled=known == "labels")
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


def real_sets(
    data: Path, sets: dict[str, tuple[int, int, int]]
) -> Iterator[tuple[str, float, int, np.ndarray, Tree, Tree]]:
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


def permuted(tree: Tree, seed: int) -> Tree:
    """The tree with its leaves' names permuted."""
    names = np.random.default_rng([seed, 90]).permutation(list(tree.leaves)).tolist()
    return tree.rename(dict(zip(tree.leaves, names, strict=True)))


def alarms(data: Path) -> Iterator[dict[str, Any]]:
    """False alarms at .05: permuted labels of the real data, and features without structure where nothing is known."""
    ps: dict[str, list[float]] = {}
    sets = dict.fromkeys(SETS, (40, 40, 40))
    for name, kappa, seed, features, tree, prior in real_sets(data, sets):
        wrong = permuted(prior, seed + int(100_000 * kappa))
        test = signal_test(features, tree.leaves, prior=wrong, permutations=99, seed=seed)
        ps.setdefault(f"labels, {name} {kappa}", []).append(test.p)
        if kappa == 0.5:
            wrong = permuted(prior_at_level(tree, 3), seed + 1000)
            test = signal_test(features, tree.leaves, prior=wrong, permutations=99, seed=seed)
            ps.setdefault(f"clades, {name}", []).append(test.p)
    for seed in range(100):
        rng = np.random.default_rng([seed, 70])
        latent = rng.normal(size=(40, 5)) @ rng.normal(size=(5, 120)) * 0.7 + rng.normal(size=(40, 120))
        leaves = [f"cell{i}" for i in range(40)]
        for kind, features in (("normal", latent), ("counts", np.log1p(rng.poisson(np.exp(0.5 * latent - 0.5))))):
            test = signal_test(features, leaves, permutations=39, seed=seed)
            ps.setdefault(f"genes, correlated {kind}", []).append(test.p)
    pooled: dict[str, list[float]] = {}
    for case, some in ps.items():
        pooled.setdefault(case.split(",")[0], []).extend(some)
    for case, some in [*ps.items(), *((f"{kind}, all", some) for kind, some in pooled.items())]:
        count = sum(p <= 0.05 for p in some)
        low, high = binomtest(count, len(some)).proportion_ci()
        yield {"task": case, "sets": len(some), "alarms": round(count / len(some), 4)} | {
            "interval": [round(low, 4), round(high, 4)],
            "against .05": round(float(binomtest(count, len(some), 0.05).pvalue), 3),
        }


def power(data: Path) -> Iterator[dict[str, Any]]:
    """The share of label sets with p <= .05, and z."""
    found: dict[tuple[str, float], list[tuple[float, float, int]]] = {}
    sets = {name: (60, 60, 60) if name == "packer30" else (20, 20, 20) for name in SETS}
    for name, kappa, seed, features, tree, prior in real_sets(data, sets):
        test = signal_test(features, tree.leaves, prior=prior, seed=seed)
        found.setdefault((name, kappa), []).append((test.p, test.z, test.leaves))
    for (name, kappa), rows in found.items():
        p, z, leaves = np.array(rows).T
        yield {"task": name, "known": kappa, "leaves": int(leaves[0]), "sets": len(rows)} | {
            "power": round(float(np.mean(p <= 0.05)), 3),
            "z, least, median, most": np.percentile(z, (0, 50, 100)).round(1).tolist(),
        }


def cost(data: Path) -> Iterator[dict[str, Any]]:
    """CPU seconds of 199 permutations, all leaves labelled; clades of level 3; nothing known."""
    features, truth = epic190(data)
    cases = [("epic190", features, truth)]
    for n, g in ((300, 2000), (512, 13_000)):
        scenario = Scenario(leaves=n, shape="yule", signal=g // 10, noise=g - g // 10)
        simulation = simulate_scenario(scenario, seed=0)
        cases.append(("simulated", simulation.features, simulation.truth))
    for name, values, tree in cases:
        row = {"task": name, "taxa": len(values), "features": values.shape[1]}
        for kind, prior in (("labels", tree), ("clades", prior_at_level(tree, 3)), ("genes", None)):
            call = partial(signal_test, values, tree.leaves, prior=prior, seed=0)
            row[f"{kind}, s"] = round(cpu_seconds(call, repeats=1, warm_up=name == "epic190"), 2)
        yield row | {"peak GB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2)}


def failures(seeds: int) -> Iterator[dict[str, Any]]:
    """Programs that compete with the lineage, and labels that are wrong: 64 leaves, half of them known."""
    for seed in range(seeds):
        for name in ("batch", "cycle", "competing"):
            simulation = simulate_scenario(name, leaves=64, seed=seed)
            prior = simulation.truth.restrict(drawn(simulation.truth, 0.5, [seed, 2]))
            yield {"task": name, "seed": seed} | compared(simulation.features, simulation.truth, prior, seed)
        for share in (0.05, 0.2):
            simulation = simulate_scenario("D1", leaves=64, seed=seed)
            prior = simulation.truth.restrict(drawn(simulation.truth, 0.5, [seed, 2]))
            wrong = drawn(prior, max(share, 2.01 / prior.n_leaves), [seed, 3])
            mislabelled = prior.rename(dict(zip(wrong, [*wrong[1:], wrong[0]], strict=True)))
            found = compared(simulation.features, simulation.truth, mislabelled, seed)
            yield {"task": f"D1, {share:.0%} mislabelled", "seed": seed} | found


def ruled(rows: list[dict[str, Any]], by: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Paired differences from direct under the prior with 95% t intervals: learned in any case, and by the rule."""
    table = pd.DataFrame(rows)
    if not by:
        table, by = table.assign(task="all"), ("task",)
    table["learned"] = [decide(signal_of(row)).use == "learned" for row in rows]
    for key, some in table.groupby(list(by), sort=False):
        out: dict[str, Any] = {
            name: part if isinstance(part, str) else float(part) for name, part in zip(by, key, strict=True)
        }
        out |= {"sets": len(some), "learned": int(some["learned"].sum())}
        out |= {f"direct {metric}": round(float(some[f"direct {metric}"].mean()), 4) for metric in ("RF", "QD")}
        for metric in ("RF", "QD"):
            out[f"{metric}, always"] = interval(some[metric])
            out[f"{metric}, rule"] = interval(some[metric] * some["learned"])
        yield out


def interval(values: pd.Series) -> list[float]:
    """The mean and the ends of its 95% t interval."""
    half = t.ppf(0.975, len(values) - 1) * values.std() / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return [round(float(value), 4) for value in (values.mean(), values.mean() - half, values.mean() + half)]


def signal_of(row: dict[str, Any]) -> SignalTest:
    """A stored row's signal test, as far as the rule looks at it."""
    return SignalTest(
        kind=row.get("kind", "labels"),
        p=row["p"],
        z=row["z"],
        representation="",
        statistic="",
        leaves=row["labelled"],
        permutations=199,
        seed=0,
        message="",
        direct_error=row["direct error"],
    )


def bands(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """By how much learning is worse in bands of what the rule looks at, with the upper end of a one-sided interval."""
    table = pd.DataFrame(rows)
    table["both"] = (table["RF"] + table["QD"]) / 2
    significant = table[table["p"] <= 0.05]
    hard = significant[significant["direct error"] >= 0.4]
    cuts = {
        "p above .05": (table[table["p"] > 0.05], "p", (0.05, 1.01)),
        "direct error": (significant, "direct error", (0, 0.2, 0.4, 0.6, 0.8, 1.01)),
        "known leaves (direct error of .4 or more)": (hard, "labelled", (4, 12, 20, 30, 40, 100)),
        "z (the same, 20 known leaves or more)": (hard[hard["labelled"] >= 20], "z", (-9, 2.5, 4, 6, 99)),
    }
    for label, (some, column, edges) in cuts.items():
        for low, high in pairwise(edges):
            inside = some[(some[column] >= low) & (some[column] < high)]
            if len(inside) < 2:
                continue
            upper = inside["both"].mean() + t.ppf(0.95, len(inside) - 1) * inside["both"].std() / math.sqrt(len(inside))
            means = {metric: round(float(inside[metric].mean()), 4) for metric in ("RF", "QD", "both")}
            yield (
                {"band": label, "from": low, "below": high, "simulations": len(inside)}
                | means
                | {"upper end": round(float(upper), 4)}
            )


def graded_bands(data: Path) -> Iterator[dict[str, Any]]:
    rows = [*graded(0, 36, 0.02), *graded(1000, 70, 0.2), *graded(2000, 62, 0.2)]
    yield from bands(rows)
    yield from ruled(rows, ())


def unlabelled(data: Path) -> Iterator[dict[str, Any]]:
    for known, first in (("clades", 3000), ("genes", 4000)):
        yield from unlabelled_rows(known, list(graded(first, 17, 0.2, known)))


def unlabelled_rows(known: str, rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for task, some in (
        ("p to .05", [row for row in rows if row["p"] <= 0.05]),
        ("p above .05", [row for row in rows if row["p"] > 0.05]),
    ):
        yield from ruled([row | {"task": f"{known}, {task}"} for row in some], ("task",))


def main() -> None:
    if len(sys.argv) < 2:
        raise SystemExit("Name the folder of the real data: python benchmarks/fallback.py DATA [part ...]")
    parts: dict[str, Callable[[Path], Iterable[dict[str, Any]]]] = {
        "graded": graded_bands,
        "unlabelled": unlabelled,
        "real": lambda data: ruled(list(real(data)), ("task", "known")),
        "failures": lambda data: ruled(list(failures(8)), ("task",)),
        "alarms": alarms,
        "power": power,
        "cost": cost,
    }
    for part in sys.argv[2:] or parts:
        rows = list(parts[part](Path(sys.argv[1])))
        print(*rows, sep="\n", flush=True)
        keep_part("fallback", part, rows)


if __name__ == "__main__":
    main()
