"""The whole run: ``OMP_NUM_THREADS=1 python benchmarks/reconstruct.py [taxa] [features]``.

Adaptive learner, half of the leaves known, 100 resamples, signal test, calibration and checks, on two workers. To reach
with 300 taxa x 2,000 features: under 90 s on two cores, under 2 GB.
"""

from __future__ import annotations

import os
import resource
import sys
import time

from measure import keep_part

from celltreeqm.reconstruct import reconstruct_lineage
from celltreeqm.simulate import Scenario, simulate_scenario
from celltreeqm.trees import robinson_foulds


def main() -> None:
    taxa, features = (int(sys.argv[i]) if len(sys.argv) > i else default for i, default in ((1, 300), (2, 2000)))
    scenario = Scenario(leaves=taxa, shape="yule", signal=features // 10, noise=features - features // 10)
    simulation = simulate_scenario(scenario, seed=0)
    prior = simulation.truth.restrict(simulation.leaves[::2])
    rows = []
    for check in (False, True):
        start, before = time.perf_counter(), sum(os.times()[:4])
        run = reconstruct_lineage(
            simulation.features, simulation.leaves, prior=prior, support=100, check=check, seed=0, workers=2
        )
        wall, cpu = time.perf_counter() - start, sum(os.times()[:4]) - before
        peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        rows.append(
            {
                "task": f"{taxa} taxa x {features} features" + (", checks too" if check else ""),
                "wall, s": round(wall, 1),
                "CPU of all processes, s": round(cpu, 1),
                "largest process, GB": round(peak / 2**20, 2),
                "RF": round(robinson_foulds(run.tree, simulation.truth), 4),
                "verdict": run.verdict.use,
            }
        )
        print(rows[-1], flush=True)
    keep_part("reconstruct", "cost", rows)


if __name__ == "__main__":
    main()
