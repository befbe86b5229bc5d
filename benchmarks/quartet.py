"""The quartet learner's cost beside a plain re-creation of the paper's recipe, in one run.

``OMP_NUM_THREADS=1 python benchmarks/quartet.py [part ...]``. Parts: step, auto, memory, scenario.

The recipe is what the paper describes, written plainly: the first layer as wide as the features, a fixed network of
8 layers of 1024, quartets of the whole tree sampled afresh, and every 50 steps a look by neighbour joining in pure
Python (Bio.Phylo). Its optimiser and batch are those of the learner. To reach: the same network no slower a step, and
looks included at least 1.3 times less time with 102 leaves and 2 times less with 295; "auto" at least 20 times less CPU
time than the recipe needs to a test error at least as good; under 4 GB with 295 leaves; 64 leaves in under 60 s.
"""

from __future__ import annotations

import io
import resource
import subprocess
import sys
import time
from typing import Any, NamedTuple

import numpy as np
import torch
from Bio import Phylo
from Bio.Phylo.TreeConstruction import DistanceMatrix, DistanceTreeConstructor
from measure import keep_part
from torch import nn

from celltreeqm.learners.quartet import QuartetLearner
from celltreeqm.simulate import Scenario, Simulation, simulate_counts, simulate_scenario
from celltreeqm.trees import Tree, parse_newick, robinson_foulds

GENES = 13_000
PATIENCE = 25  # times the learner's CPU time after which the recipe is given up


class Case(NamedTuple):
    """Features of the leaves, and of two replicates: one to choose by and one to test on."""

    features: np.ndarray
    validation: np.ndarray
    test: np.ndarray
    truth: Tree


def standardized(features: np.ndarray) -> np.ndarray:
    spread = features.std(axis=0)
    return (features - features.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


class Recipe:
    """The paper's network and loss, written plainly."""

    def __init__(self, case: Case, encoder: str, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        torch.manual_seed(seed)
        g = case.features.shape[1]
        if encoder == "transformer":
            block = lambda: nn.TransformerEncoderLayer(1024, 2, 1024, dropout=0.1, batch_first=True)  # noqa: E731
            body: list[nn.Module] = [nn.Linear(g, 1024), *(block() for _ in range(8)), nn.Linear(1024, 128)]
        else:
            body = [nn.Linear(g, 1024), nn.ReLU()]
            for _ in range(7):
                body += [nn.Linear(1024, 1024), nn.ReLU()]
            body.append(nn.Linear(1024, 128))
        self.network = nn.Sequential(*body, nn.Dropout(0.1))
        self.optimizer = torch.optim.AdamW(self.network.parameters(), lr=1e-3, weight_decay=0.01)
        self.inputs = torch.tensor(standardized(case.features), dtype=torch.float32)[None]
        self.test = torch.tensor(standardized(case.test), dtype=torch.float32)[None]
        self.truth = case.truth
        self.original = torch.cdist(self.inputs[0], self.inputs[0])
        self.paths = torch.tensor(case.truth.unroot().distances(by="topology"))

    def step(self) -> None:
        self.network.train()
        n = self.inputs.shape[1]
        four = torch.tensor(np.argsort(self.rng.random((4096, n)), axis=1)[:, :4].copy())
        known = self.sums(self.paths, four).argmin(dim=0)
        distances = torch.cdist(*(self.network(self.inputs)[0],) * 2)
        sums = self.sums(distances, four)
        wrong = sums.argmin(dim=0) != known
        smallest = sums.gather(0, known[None])[0][wrong]
        others = sums.sum(dim=0)[wrong] - smallest
        apart = (sums.gather(0, ((known + 1) % 3)[None]) - sums.gather(0, ((known + 2) % 3)[None]))[0][wrong].abs()
        loss = 2 * (apart.mean() + 10 * (smallest - others / 2 + 0.5).clamp(min=0).mean())
        loss = loss + 0.01 * ((distances - self.original) ** 2).sum() / n
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), 5.0)
        self.optimizer.step()

    @staticmethod
    def sums(distances: torch.Tensor, four: torch.Tensor) -> torch.Tensor:
        a, b, c, d = four.T
        pairs = (((a, b), (c, d)), ((a, c), (b, d)), ((a, d), (b, c)))
        return torch.stack([distances[x] + distances[y] for x, y in pairs])

    def look(self) -> float:
        """The error on the test replicate."""
        self.network.eval()
        with torch.no_grad():
            points = self.network(self.test)[0].double()
        distances = torch.cdist(points, points).numpy()
        rows = [row[: i + 1] for i, row in enumerate(distances.tolist())]
        tree = DistanceTreeConstructor().nj(DistanceMatrix(list(self.truth.leaves), rows))
        text = io.StringIO()
        Phylo.write(tree, text, "newick", plain=True)
        return robinson_foulds(parse_newick(text.getvalue(), rooted=False), self.truth)


def of_scenario(name: str, seed: int) -> Case:
    simulation = simulate_scenario(name, seed=seed)
    others = (simulation.replicate(seed + 1000).features, simulation.replicate(seed).features)
    return Case(simulation.features, *others, simulation.truth)


def of_counts(leaves: int, seed: int) -> Case:
    """Log mean expression of the taxa, from counts of their cells; batch-wise replicates."""
    scenario = Scenario(leaves=leaves, shape="yule", signal=1000, noise=GENES - 1000)
    simulation = simulate_scenario(scenario, seed=seed)
    made = (simulation, simulation.replicate(seed + 1000), simulation.replicate(seed))
    return Case(*(expression(one, seed) for one in made), simulation.truth)


def expression(simulation: Simulation, seed: int) -> np.ndarray:
    cells = simulate_counts(simulation, cells_per_taxon=5, library_size=20_000, seed=seed)
    counts = cells.X.toarray().astype(float)
    shares = counts / counts.sum(axis=1, keepdims=True) * 1e4
    taxon = cells.obs["lineage"].to_numpy()
    return np.log1p(np.stack([shares[taxon == name].mean(axis=0) for name in simulation.leaves]))


def learner_seconds(case: Case, learner: QuartetLearner) -> float:
    """CPU seconds of a fit with looks at the test replicate."""
    start = time.process_time()
    learner.fit(case.features, case.truth.leaves, prior=case.truth, seed=0, monitor={"test": (case.test, case.truth)})
    return time.process_time() - start


def step() -> list[dict[str, Any]]:
    rows = []
    for leaves in (102, 295):
        case = of_counts(leaves, 0)
        for encoder in ("fc", "transformer"):
            steps = 50 if encoder == "fc" else 20
            settings: Any = {"preset": "supervised-real", "encoder": encoder, "layers": 8, "width": 1024}
            recipe = Recipe(case, encoder)
            recipe.step()
            start = time.process_time()
            for _ in range(steps):
                recipe.step()
            theirs = (time.process_time() - start) / steps
            start = time.process_time()
            recipe.look()
            their_look = time.process_time() - start
            del recipe
            none, some, looking = (
                learner_seconds(case, QuartetLearner(**settings, select="last", steps=count, look_every=every))
                for count, every in ((1, 10**6), (steps + 1, 10**6), (steps + 1, 5))
            )
            ours, our_look = (some - none) / steps, max(0.0, looking - some) / (steps // 5)
            row = {
                "task": f"{leaves} leaves x {GENES} genes, {encoder} of 8 x 1024",
                "step, s": ours,
                "step of the recipe, s": theirs,
                "look, s": our_look,
                "look of the recipe, s": their_look,
                "times less a step": theirs / ours,
                "times less with looks every 50 steps": (50 * theirs + their_look) / (50 * ours + our_look),
            }
            rows.append({name: round(value, 4) if isinstance(value, float) else value for name, value in row.items()})
            print(rows[-1], flush=True)
    return rows


def auto() -> list[dict[str, Any]]:
    rows = []
    for label, case in (("scenario C2", of_scenario("C2", 0)), ("counts, 102 x 13000", of_counts(102, 0))):
        monitor = {"validation": (case.validation, case.truth)}
        learner = QuartetLearner()
        learner.fit(case.features[:, :50], case.truth.leaves, prior=case.truth, seed=0, monitor=None)  # warm-up
        start = time.process_time()
        fit = learner.fit(case.features, case.truth.leaves, prior=case.truth, seed=0, monitor=monitor)
        seconds = time.process_time() - start
        error = robinson_foulds(fit.tree(case.test, honor_prior=False), case.truth)
        recipe, steps, best = Recipe(case, "transformer"), 0, 1.0
        start = time.process_time()
        while best > error and time.process_time() - start < PATIENCE * seconds:
            for _ in range(50):
                recipe.step()
            steps += 50
            best = min(best, recipe.look())
            print(f"{label}: auto {error:.3f} in {seconds:.1f} s; recipe {best:.3f} after {steps} steps", flush=True)
        theirs = time.process_time() - start
        rows.append(
            {
                "task": label,
                "auto, s": round(seconds, 2),
                "auto, RF": error,
                "recipe, s": round(theirs, 1),
                "recipe, steps": steps,
                "recipe, best RF": best,
                "recipe got there": best <= error,
                "times less": round(theirs / seconds, 1),
            }
        )
        print(rows[-1], flush=True)
    return rows


def memory() -> list[dict[str, Any]]:
    """Peak memory of a process of its own: "auto", and with a gate and the full width, of 295 leaves x 13,000 genes."""
    rows = []
    for label, settings in (("auto", ""), ("auto, no start, gate", "gate_start='none', steps=50")):
        done = subprocess.run(
            [sys.executable, __file__, "one", settings], capture_output=True, text=True, check=True, timeout=3000
        )
        seconds, peak = (float(word) for word in done.stdout.split()[-2:])
        row = {"task": f"{label}: 295 x {GENES}", "CPU, s": round(seconds, 1), "peak, GB": round(peak, 2)}
        rows.append(row)
        print(rows[-1], flush=True)
    return rows


def one(settings: str) -> None:
    case = of_counts(295, 0)
    learner = eval(f"QuartetLearner({settings})")
    print(learner_seconds(case, learner), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)


def scenario() -> list[dict[str, Any]]:
    """ "auto" on 64 leaves as a user calls it: the prior alone, no replicate; the whole time on the clock."""
    rows = []
    for name in ("A1", "C2", "D3"):
        case = of_scenario(name, 0)
        times = []
        for _ in range(6):
            start = time.perf_counter()
            QuartetLearner().fit(case.features, case.truth.leaves, prior=case.truth, seed=0)
            times.append(time.perf_counter() - start)
        rows.append({"task": f"auto, scenario {name}", "wall, s": round(float(np.median(times[1:])), 2)})
        print(rows[-1], flush=True)
    return rows


def main() -> None:
    torch.set_num_threads(1)
    parts = {"step": step, "auto": auto, "memory": memory, "scenario": scenario}
    if sys.argv[1:2] == ["one"]:
        one(sys.argv[2])
        return
    for part in sys.argv[1:] or list(parts):
        keep_part("quartet", part, parts[part]())


if __name__ == "__main__":
    main()
