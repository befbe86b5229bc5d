"""What the learners cost by taxa and features, from the kept results: ``python benchmarks/plot_cost.py cost.png``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from measure import RESULTS

# What is drawn: the file, its column of CPU seconds, the label, the features and taxa held fixed.
CURVES = (
    ("heritable", "weights, s", "heritable: weights on a known tree", 3000, 256),
    ("heritable", "alternation, s", "heritable: nothing known", 3000, 256),
    ("adaptive", "cpu seconds", "adaptive: half of the leaves known", 2000, 300),
)


def curve(axes: Axes, rows: Iterable[dict[str, Any]], x: str, y: str, label: str) -> None:
    points = sorted((row[x], row[y]) for row in rows)
    axes.loglog(*zip(*points, strict=True), marker="o", label=label)


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit("Name the picture to draw: python benchmarks/plot_cost.py cost.png")
    figure, (by_taxa, by_features) = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
    for name, column, label, features, taxa in CURVES:
        rows = [
            row
            for row in json.loads((RESULTS / f"{name}.json").read_text())["rows"]
            if row["task"] == "cost" and column in row
        ]
        curve(by_taxa, (r for r in rows if r["features"] == features), "taxa", column, label)
        curve(by_features, (r for r in rows if r["taxa"] == taxa), "features", column, label)
    by_taxa.set(xlabel="taxa, with 3,000 features (adaptive: 2,000)", ylabel="CPU seconds, one thread")
    by_features.set(xlabel="features, of 256 taxa (adaptive: 300)")
    for axes in (by_taxa, by_features):
        axes.grid(which="both", alpha=0.3)
    figure.legend(*by_taxa.get_legend_handles_labels(), loc="outside upper center", ncols=3)
    figure.savefig(sys.argv[1], dpi=120)


if __name__ == "__main__":
    main()
