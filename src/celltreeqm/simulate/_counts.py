"""Counts of molecules in single cells: what a sequencer would make of simulated taxa."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..seeds import Seed, recorded_seed
from ..trees import format_newick
from ._features import mean_sd
from ._numbers import check_number, check_whole
from ._simulation import History, Simulation, children

if TYPE_CHECKING:
    import anndata

__all__ = ["simulate_counts"]

_MOST = 1_000_000_000  # molecules of one gene in a cell: what the 32 bits of a count hold, with room for chance


def simulate_counts(
    simulation: Simulation,
    *,
    cells_per_taxon: int = 10,
    embryos: int = 3,
    library_size: float = 5000.0,
    library_spread: float = 0.3,
    fold_spread: float = 0.5,
    abundance_spread: float = 1.0,
    dispersion: float = 0.2,
    dropout: float = 0.0,
    ambient: float = 0.0,
    embryo_effect: float = 0.1,
    seed: Seed = None,
) -> anndata.AnnData:
    r"""Raw counts of single cells whose taxa are the leaves of a simulation and whose genes are its features.

    The cells of taxon u share its log expression, :math:`a_i + s\,x_{ui}/\bar\sigma` for gene i: an abundance of the
    gene, :math:`a_i \sim \mathcal{N}(0, \texttt{abundance\_spread})`, and the feature in units of the signal's mean sd
    across leaves. Cell c of it in embryo e, with shifts :math:`b_{ei} \sim \mathcal{N}(0, \texttt{embryo\_effect})`,
    has the profile :math:`p_{ci} \propto \exp(a_i + s\,x_{ui}/\bar\sigma + b_{ei})`; a share of its molecules is
    ambient, from the mean profile :math:`\bar p_e` of its embryo's cells. Counts are negative binomial,

    .. math:: m_{ci} = L_c\,[(1 - \texttt{ambient})\,p_{ci} + \texttt{ambient}\,\bar p_{ei}], \qquad
              \operatorname{Var} = m_{ci} + \texttt{dispersion}\; m_{ci}^2,

    and each is lost with probability ``dropout``.

    Parameters
    ----------
    simulation
        The taxa and their features.
    cells_per_taxon
        Cells of each taxon. Each comes from an embryo chosen at random, so that a small taxon may lack in an embryo.
    embryos
        Number of embryos.
    library_size, library_spread
        Mean of the expected number of molecules in a cell before dropout, :math:`L_c`, and the sd of its logarithm.
    fold_spread
        s, the sd across taxa of the log expression of a typical signal gene.
    abundance_spread
        The sd across genes of the log abundance.
    dispersion
        0 for Poisson counts.
    dropout
        Probability that a count is lost, below 1.
    ambient
        Share of ambient molecules, below 1.
    embryo_effect
        The sd of an embryo's shift of a gene's log expression.
    seed
        Seed or generator; drawn if omitted.

    Returns
    -------
    anndata.AnnData
        A row for each cell, in random order: ``X`` sparse whole numbers, ``obs["lineage"]`` (the taxon),
        ``obs["embryo"]``, ``obs["library_size"]`` (:math:`L_c`), ``var["kind"]``, ``var["heritability"]``,
        ``uns["truth"]`` the true tree as Newick and ``uns["simulation"]`` all settings and the history.

    Examples
    --------
    >>> from celltreeqm.simulate import simulate_scenario
    >>> cells = simulate_counts(simulate_scenario("A1", leaves=8, seed=1), cells_per_taxon=5, seed=2)
    >>> cells.shape, cells.X.dtype.kind, list(cells.obs)
    ((40, 60), 'i', ['lineage', 'embryo', 'library_size'])
    """
    settings: dict[str, float] = {
        "cells_per_taxon": cells_per_taxon,
        "embryos": embryos,
        "library_size": library_size,
        "library_spread": library_spread,
        "fold_spread": fold_spread,
        "abundance_spread": abundance_spread,
        "dispersion": dispersion,
        "dropout": dropout,
        "ambient": ambient,
        "embryo_effect": embryo_effect,
    }
    if not isinstance(simulation, Simulation):
        raise TypeError(
            f"A {type(simulation).__name__} came as the simulation; a Simulation was needed. Make one with "
            "simulate_scenario."
        )
    _check(settings)
    import anndata
    import pandas as pd
    from scipy import sparse

    history: History = (*simulation.history, ("counts", recorded_seed(seed)))
    of_genes, of_embryos, of_cells, of_libraries, of_counts, of_order = children(history, 6)
    x = simulation.features
    n, g = x.shape
    log_mean = of_genes.normal(scale=abundance_spread, size=g) + fold_spread / mean_sd(x[:, simulation.signal]) * x
    shift = of_embryos.normal(scale=embryo_effect, size=(embryos, g))
    embryo = of_cells.integers(embryos, size=(n, cells_per_taxon))
    size = library_size * of_libraries.lognormal(-(library_spread**2) / 2, library_spread, size=(n, cells_per_taxon))
    air = _ambient_profiles(log_mean, shift, embryo)

    rows = []
    for taxon in range(n):  # a taxon at a time, so that only sparse counts are ever held for all cells
        profile = _profiles(log_mean[taxon] + shift)
        mixture = (1 - ambient) * profile + ambient * air
        mean = size[taxon, :, None] * mixture[embryo[taxon]]
        rate = of_counts.gamma(1 / dispersion, mean * dispersion) if dispersion else mean
        if rate.max() > _MOST:
            raise ValueError(
                f"{rate.max():.3g} molecules of one gene would come from one cell; at most {_MOST:,} can be counted. "
                "Use a smaller library_size, library_spread or dispersion."
            )
        counts = of_counts.poisson(rate)
        if dropout:
            counts[of_counts.random(counts.shape) < dropout] = 0
        rows.append(sparse.csr_matrix(counts.astype(np.int32)))
    order = of_order.permutation(n * cells_per_taxon)
    taxa = np.repeat(np.arange(n), cells_per_taxon)[order]
    embryo_names = np.array([f"embryo_{i + 1}" for i in range(embryos)])
    names = [f"cell_{i + 1}" for i in range(len(order))]
    return anndata.AnnData(
        X=sparse.vstack(rows, format="csr")[order],
        obs=pd.DataFrame(
            {
                "lineage": pd.Categorical(np.array(simulation.leaves)[taxa], categories=simulation.leaves),
                "embryo": pd.Categorical(embryo_names[embryo.ravel()[order]], categories=embryo_names),
                "library_size": size.ravel()[order],
            },
            index=names,
        ),
        var=pd.DataFrame(
            {"kind": pd.Categorical(simulation.kinds), "heritability": simulation.heritability},
            index=list(simulation.feature_names),
        ),
        uns={
            "truth": format_newick(simulation.truth),
            "simulation": {
                **simulation.provenance(),
                **settings,
                "history": [f"{step} {number}" for step, number in history],
            },
        },
    )


def _profiles(log_expression: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows that sum to one."""
    expression = np.exp(log_expression - log_expression.max(axis=1, keepdims=True))
    profiles: NDArray[np.float64] = expression / expression.sum(axis=1, keepdims=True)
    return profiles


def _ambient_profiles(
    log_mean: NDArray[np.float64], shift: NDArray[np.float64], embryo: NDArray[np.int64]
) -> NDArray[np.float64]:
    """float[embryos, g], the mean profile of the cells of each embryo; of all taxa alike where it has no cell."""
    air = np.empty_like(shift)
    for e in range(len(shift)):
        cells = (embryo == e).sum(axis=1).astype(float)
        weights = cells if cells.any() else np.ones(len(cells))
        air[e] = weights @ _profiles(log_mean + shift[e]) / weights.sum()
    return air


def _check(settings: dict[str, float]) -> None:
    for name, value in settings.items():
        check_number(value, name)
        if name in ("cells_per_taxon", "embryos"):
            check_whole(value, name)
            if value < 1:
                raise ValueError(f"{name}={value} was given; at least 1 is needed.")
        elif name in ("dropout", "ambient"):
            if not 0 <= value < 1:
                raise ValueError(f"{name}={value} was given; it is a share, from 0 to below 1.")
        elif not 0 <= value < math.inf or (name == "library_size" and value == 0):
            least = "more than 0" if name == "library_size" else "0 or more"
            raise ValueError(f"{name}={value} was given; a finite number of {least} is needed.")
