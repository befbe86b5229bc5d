"""``celltreeqm demo``: from simulated cells to trees, their comparison and a figure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ._run_folder import check_folder, filled_folder

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure
    from rich.table import Table

    from ..trees import Tree

__all__ = ["demo"]

_FILES = {
    "features.csv": "the simulated cells, a row each",
    "truth.nwk": "the tree they were simulated on",
    "prior.nwk": "the part of it that counts as known",
    "tree.nwk": "the tree built without a prior",
    "tree-with-prior.nwk": "the tree that honours the prior",
    "comparison.tsv": "both trees against the truth",
    "trees.png": "the three trees side by side",
    "demo.json": "the settings of this run",
}
_MEASURES = {
    "rf": "RF",
    "quartet_distance": "QD",
    "rf_untraced": "RF, untraced",
    "quartet_distance_untraced": "QD, untraced",
}


def demo(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the results.")] = Path("demo-run"),
    leaves: Annotated[int, typer.Option(min=8, help="Number of cells; a power of two gives a balanced tree.")] = 32,
    features: Annotated[int, typer.Option(min=1, help="Number of features that follow the lineage.")] = 40,
    noise: Annotated[int, typer.Option(min=0, help="Number of features that are only noise.")] = 40,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same results.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Write into a folder that holds other things.")] = False,
) -> None:
    """Simulate cells on a known lineage, reconstruct it with and without prior knowledge, compare and draw."""
    check_folder(output, marker="demo.json", force=force)
    import numpy as np
    import pandas as pd
    from rich.console import Console
    from scipy.spatial.distance import pdist, squareform

    from ..pl._matplotlib import require_matplotlib
    from ..simulate import random_tree, simulate_brownian
    from ..trees import neighbor_joining, root_at_midpoint, root_by_prior, write_newick

    require_matplotlib()
    say = Console(highlight=False, soft_wrap=True).print
    of_tree, of_signal, of_noise, of_prior = np.random.default_rng(seed).spawn(4)

    say(f"1. Simulating {leaves} cells on a known tree: {features} features that evolve along it (Brownian motion)")
    say(f"   and {noise} of noise. Half of the cells count as traced: how they are related is the prior.")
    truth = random_tree(leaves, shape="yule" if leaves & (leaves - 1) else "balanced", seed=of_tree)
    signal = simulate_brownian(truth, features, seed=of_signal)
    cells = np.hstack([signal, of_noise.normal(scale=signal.std(), size=(leaves, noise))])
    traced = sorted(of_prior.choice(truth.leaves, size=leaves // 2, replace=False).tolist())
    prior = truth.restrict(traced)

    say("2. Building trees from Euclidean distances by neighbour joining (the very first run compiles for a moment).")
    distances = squareform(pdist(cells))
    plain = root_at_midpoint(neighbor_joining(distances, truth.leaves))
    honoring = root_by_prior(neighbor_joining(distances, truth.leaves, prior=prior), prior)[0]

    say("3. Comparing them with the truth: Robinson-Foulds (RF) and quartet distance (QD), 0 is the same tree, 1 is")
    say("   nothing in common; among all cells and among the untraced ones, which the prior does not mention.")
    untraced = set(truth.leaves) - set(traced)
    comparison = pd.DataFrame(
        {"without prior": _compare(plain, truth, untraced), "with prior": _compare(honoring, truth, untraced)}
    ).T
    say(_table(comparison))

    say("4. Drawing and writing.")
    names = [f"signal_{i + 1}" for i in range(features)] + [f"noise_{i + 1}" for i in range(noise)]
    table = pd.DataFrame(cells, index=pd.Index(truth.leaves, name="cell"), columns=names)
    settings = {"leaves": leaves, "features": features, "noise": noise, "seed": seed}
    with filled_folder(output) as folder:
        table.to_csv(folder / "features.csv", float_format="%.6g")
        write_newick(truth, folder / "truth.nwk")
        write_newick(prior, folder / "prior.nwk")
        write_newick(plain, folder / "tree.nwk")
        write_newick(honoring, folder / "tree-with-prior.nwk")
        comparison.to_csv(folder / "comparison.tsv", sep="\t", index_label="tree", float_format="%.4f")
        _draw(truth, plain, honoring, comparison).savefig(folder / "trees.png", dpi=120)
        (folder / "demo.json").write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
    say("Wrote")
    for name, what in _FILES.items():
        say(f"   {output / name!s:<{len(str(output)) + 21}} {what}")


def _compare(tree: Tree, truth: Tree, untraced: set[str]) -> dict[str, float]:
    from ..trees import quartet_distance, robinson_foulds

    part, true_part = tree.restrict(untraced), truth.restrict(untraced)
    return {
        "rf": robinson_foulds(tree, truth),
        "quartet_distance": quartet_distance(tree, truth),
        "rf_untraced": robinson_foulds(part, true_part),
        "quartet_distance_untraced": quartet_distance(part, true_part),
    }


def _table(comparison: pd.DataFrame) -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 3))
    table.add_column("")
    for name in comparison.columns:
        table.add_column(_MEASURES[str(name)], justify="right")
    for tree, row in comparison.iterrows():
        table.add_row(str(tree), *(f"{value:.3f}" for value in row))
    return table


def _draw(truth: Tree, plain: Tree, honoring: Tree, comparison: pd.DataFrame) -> Figure:
    from matplotlib.figure import Figure

    from .. import pl

    founders = {leaf: f"clade {i + 1}" for i, clade in enumerate(truth.clades(2)) for leaf in clade}
    figure = Figure(figsize=(11, max(3.0, 0.17 * truth.n_leaves + 0.8)), layout="constrained")
    titles = ["truth"] + [  # what a prior flatters never stands alone
        f"{tree}: RF {row['rf']:.2f}\nuntraced: RF {row['rf_untraced']:.2f}, QD {row['quartet_distance_untraced']:.2f}"
        for tree, row in comparison.iterrows()
    ]
    for i, (ax, tree) in enumerate(zip(figure.subplots(1, 3), (truth, plain, honoring), strict=True)):
        pl.tree(tree, ax=ax, color=founders, truth=truth)
        ax.set_title(titles[i], loc="left", fontsize=10)
        if i < 2 and ax.get_legend():
            ax.get_legend().remove()
    return figure
