"""Tasks on real data and on simulations of others, from a folder that the user names."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..evaluation import permute_cells, permute_genes
from ..trees import Tree, prior_at_level, read_newick
from ._problems import Problem, Scalar
from ._task_simulations import known_leaves, stream, with_null
from ._tasks import Size, register_task

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["real_epic190", "real_packer30", "tedsim"]

_LEVELS: dict[Size, tuple[int, ...]] = {"tiny": (2,), "smoke": (2,), "full": (1, 2, 3)}
_KAPPAS: dict[Size, tuple[float, ...]] = {"tiny": (0.5,), "smoke": (0.8,), "full": (0.8, 0.5, 0.3)}


@register_task("real-epic190", files=("epic190/expression.csv.gz", "epic190/tree.nwk"))
def real_epic190(size: Size, seed: int, folder: Path) -> Iterator[Problem]:
    """C. elegans embryo, 190 cells by 237 reporter genes as they are: nothing known, clades, and labelled leaves.

    Tiny: 48 of the cells, drawn at random.
    """
    table = _read_table(folder / "epic190/expression.csv.gz", index_col=0)
    truth = read_newick(folder / "epic190/tree.nwk", rooted=True)
    share = 48 / truth.n_leaves if size == "tiny" else 1.0
    names = known_leaves(truth.leaves, share, stream(seed, "cells"))
    features = table.loc[names].to_numpy(dtype=np.float64)
    yield from _settings(features, truth.restrict(names).reorder(names), size, seed, {"data": "epic190"})


@register_task("real-packer30", files=("packer30/cells_by_gene.csv.gz", "packer30/tree.nwk"))
def real_packer30(size: Size, seed: int, folder: Path) -> Iterator[Problem]:
    """C. elegans embryo, single cells of 30 leaves: the mean over each leaf's cells of the values as they are."""
    cells = _read_table(folder / "packer30/cells_by_gene.csv.gz")
    truth = read_newick(folder / "packer30/tree.nwk", rooted=True)
    means = cells.groupby("leaf").mean().loc[list(truth.leaves)].to_numpy(dtype=np.float64)
    yield from _settings(means, truth, size, seed, {"data": "packer30"})


_TEDSIM = ("l1", "l0p05")
_COUNTS, _TREE = "tedsim/counts_{}_52382.csv.gz", "tedsim/tree_{}_52382.nwk"


@register_task(
    "tedsim",
    files=tuple(
        f"tedsim/{what}_{kind}_52382.{end}" for kind in _TEDSIM for what, end in (("counts", "csv.gz"), ("tree", "nwk"))
    ),
)
def tedsim(size: Size, seed: int, folder: Path) -> Iterator[Problem]:
    """TedSim counts, heritable (l1) and hardly so (l0p05): random single cells, normalised to equal totals, log1p."""
    n = {"tiny": 24, "smoke": 64, "full": 128}[size]
    for kind in _TEDSIM:
        counts = _read_table(folder / _COUNTS.format(kind)).to_numpy(dtype=np.float64).T
        whole = read_newick(folder / _TREE.format(kind), rooted=True)
        cells = known_leaves([f"t{i + 1}" for i in range(len(counts))], n / len(counts), stream(seed, "cells"))
        rows = [int(name.removeprefix("t")) - 1 for name in cells]
        info: dict[str, Scalar] = {"data": f"tedsim {kind}"}
        yield from _settings(_log_normalised(counts)[rows], whole.restrict(cells).reorder(cells), size, seed, info)


def _read_table(path: Path, index_col: int | None = None) -> pd.DataFrame:
    import pandas as pd

    try:
        return pd.read_csv(path, index_col=index_col)
    except (ValueError, OSError, EOFError, zlib.error) as error:  # few of which name the file
        raise ValueError(f"{path} cannot be read as a table ({error}). Is it whole? Get it again.") from error


def _settings(
    features: NDArray[np.float64], truth: Tree, size: Size, seed: int, info: dict[str, Scalar]
) -> Iterator[Problem]:
    """Nothing known, the clades of a level, the tree of some leaves; and what each is without any lineage."""
    leaves, data = truth.leaves, info["data"]
    info = info | {"leaves": len(leaves)}
    nothing = Problem(f"{data}, nothing known", features, leaves, truth, info=info)
    yield from with_null(nothing, seed)
    for what, permute in (("cells", permute_cells), ("genes", permute_genes)):
        yield replace(
            nothing,
            name=f"{nothing.name}, {what} permuted",
            features=permute(features, stream(seed, f"permuted {what}")),
            control=f"permuted-{what}",
        )
    for level in _LEVELS[size]:
        prior = prior_at_level(truth, level)
        yield from with_null(
            Problem(f"{data}, level {level}", features, leaves, truth, prior, info=info | {"level": level}), seed
        )
    for kappa in _KAPPAS[size]:
        prior = truth.restrict(known_leaves(leaves, kappa, seed))
        yield from with_null(
            Problem(f"{data}, known fraction {kappa}", features, leaves, truth, prior, info=info | {"kappa": kappa}),
            seed,
        )


def _log_normalised(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    totals = counts.sum(axis=1, keepdims=True)
    return np.asarray(np.log1p(counts / totals * np.median(totals)))
