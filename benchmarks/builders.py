"""Neighbour joining against its peers, and under priors: ``OMP_NUM_THREADS=1 python benchmarks/builders.py``.

CPU time of one thread, medians of five after a warm-up (Bio.Phylo and 10,000 leaves: one run). All builders get the
same matrices in the same run. To show: at 10,000 leaves at least 8x less than scikit-bio and under 2.5 GB; at 300
leaves at least 300x less than Bio.Phylo.
"""

from __future__ import annotations

import resource
import sys
from typing import Any

import numpy as np
from measure import cpu_seconds, keep, names, random_tree
from scipy.spatial.distance import pdist, squareform

from celltreeqm.trees import Tree, neighbor_joining, prior_at_level, upgma


def distances(n: int, kind: str) -> np.ndarray:
    generator = np.random.default_rng(n)
    if kind == "noise":
        return squareform(pdist(generator.normal(size=(n, 100))))
    tree = random_tree(n, n)
    steps = generator.normal(size=(tree.n_nodes, 50))
    for node in range(tree.n_nodes - 2, -1, -1):
        steps[node] += steps[tree.parent[node]]
    return squareform(pdist(steps[:n] + generator.normal(size=(n, 50))))


def against_peers(rows: list[dict[str, Any]], largest: int) -> None:
    from Bio.Phylo.TreeConstruction import DistanceMatrix as BioMatrix
    from Bio.Phylo.TreeConstruction import DistanceTreeConstructor
    from skbio import DistanceMatrix
    from skbio.tree import nj

    print(f"{'':<30}{'leaves':>8}{'ours, s':>12}{'scikit-bio':>12}{'Bio.Phylo':>12}")
    for n in (64, 300, 1000, 3000, largest):
        for kind in ("Brownian", "noise"):
            d, leaves = distances(n, kind), names(n)
            once = n > 3000
            ours = cpu_seconds(lambda d=d, leaves=leaves: neighbor_joining(d, leaves), repeats=1 if once else 5)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
            matrix = DistanceMatrix(d, leaves)
            theirs = cpu_seconds(lambda matrix=matrix: nj(matrix), repeats=1 if once else 5, warm_up=not once)
            slow = float("nan")
            if n == 300 and kind == "Brownian":
                lower = BioMatrix(leaves, [row[: i + 1].tolist() for i, row in enumerate(d)])
                slow = cpu_seconds(lambda lower=lower: DistanceTreeConstructor().nj(lower), repeats=1, warm_up=False)
            del d, matrix
            ratios = f"{theirs / ours:>11.1f}x" + (f"{slow / ours:>11.0f}x" if slow == slow else "")
            print(f"{'neighbour joining, ' + kind:<30}{n:>8}{ours:>12.4f}{ratios}")
            row = {"task": "neighbor joining", "data": kind, "leaves": n, "seconds": ours, "scikit-bio": theirs}
            rows.append(row | {"Bio.Phylo": slow if slow == slow else None, "peak GB so far, ours": round(peak, 2)})


def under_priors(rows: list[dict[str, Any]]) -> None:
    print(f"\n{'under a prior':<30}{'leaves':>8}{'NJ, s':>12}{'UPGMA, s':>12}")
    for n in (64, 300):
        truth, d = random_tree(n, 1), distances(n, "noise")
        thirds = [truth.restrict(truth.leaves[i::3]) for i in range(3)]
        clades = prior_at_level(truth, 2)
        priors: dict[str, Tree | list[Tree] | None] = {
            "none": None,
            "clades": clades,
            "a third traced": thirds[0],
            "clades, a third traced": [clades, thirds[0]],
            "two thirds traced apart": thirds[:2],
            "clades, two thirds apart": [clades, *thirds[:2]],
            "clades, three thirds apart": [clades, *thirds],
        }
        for name, prior in priors.items():
            times = [
                cpu_seconds(lambda build=build, prior=prior, d=d, n=n: build(d, names(n), prior=prior), repeats=3)
                for build in (neighbor_joining, upgma)
            ]
            print(f"{name:<30}{n:>8}{times[0]:>12.4f}{times[1]:>12.4f}")
            rows.append({"task": "prior", "prior": name, "leaves": n, "seconds": times[0], "upgma seconds": times[1]})


def main() -> None:
    rows: list[dict[str, Any]] = []
    against_peers(rows, int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
    under_priors(rows)
    keep("builders", rows)


if __name__ == "__main__":
    main()
