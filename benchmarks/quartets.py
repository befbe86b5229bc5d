"""How long a million known quartets take, by prior: ``python benchmarks/quartets.py``.

Medians of five after a warm-up, CPU time of the one thread. To show: a million at level 2 of a 295-leaf tree in under
50 ms, and priors that know next to nothing at no greater cost.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
from measure import cpu_seconds, keep, names, random_tree

from celltreeqm.quartets import KnownQuartets, quartet_topology, quartet_topology_in, unrank_quartets
from celltreeqm.trees import Tree, prior_at_level, prior_from_clades

MILLION = 1_000_000


def milliseconds(call: Callable[[int], object]) -> float:
    """Each call gets a seed of its own."""
    seeds = count()
    return 1000 * cpu_seconds(lambda: call(next(seeds)))


def main() -> None:
    rows: list[dict[str, Any]] = []
    small, large = random_tree(295, 0), random_tree(10_000, 1)
    halves = [small.restrict(small.leaves[:200]), small.restrict(small.leaves[100:])]
    priors: dict[str, Tree | list[Tree]] = {
        "level 2 of 295 leaves": prior_at_level(small, 2),
        "level 5 of 295 leaves": prior_at_level(small, 5),
        "one clade of 2 among 300": prior_from_clades([0, 0, *range(1, 299)], names(300)),
        "all of 295 leaves": small,
        "two trees that share 105 leaves": halves,
        "a polytomy of 2,500 among 10,000": prior_from_clades([0] * 7500 + list(range(1, 2501)), names(10_000)),
        "all of 10,000 leaves": large,
    }
    print(f"{'prior':<34}{'known':>20}{'prepare, ms':>14}{'a million, ms':>16}")
    for name, prior in priors.items():
        known = KnownQuartets(prior)
        prepare = milliseconds(lambda _, prior=prior: KnownQuartets(prior))  # type: ignore[misc]
        draw = milliseconds(lambda seed, known=known: known.sample(MILLION, seed=seed))  # type: ignore[misc]
        print(f"{name:<34}{known.count:>20,}{prepare:>14.1f}{draw:>16.1f}")
        rows.append({"prior": name, "known": known.count, "prepare ms": prepare, "ms a million": draw})

    quartets = KnownQuartets(small).sample(MILLION, seed=0).leaves
    distances = small.distances(by="topology")
    ranks = np.random.default_rng(0).integers(10**14, size=MILLION)
    print(f"\n{'a million':<34}{'ms':>8}")
    print(f"{'four-point topologies':<34}{milliseconds(lambda _: quartet_topology(distances, quartets)):>8.1f}")
    print(f"{'topologies in a tree':<34}{milliseconds(lambda _: quartet_topology_in(small, quartets)):>8.1f}")
    print(f"{'quartets from ranks, 10,000 leaves':<34}{milliseconds(lambda _: unrank_quartets(ranks, 10_000)):>8.1f}")
    keep("quartets", rows)


if __name__ == "__main__":
    main()
