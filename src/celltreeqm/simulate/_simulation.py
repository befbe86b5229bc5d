"""Simulations: a true tree and the features of its leaves, drawn from a scenario."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..seeds import Seed, recorded_seed
from ..trees import Tree, to_treedata
from ._brownian import Increments, simulate_brownian
from ._features import mean_sd, simulate_alternatives, simulate_batch, simulate_cycle, simulate_noise
from ._model_trees import Shape, random_tree
from ._scenarios import Scenario, scenario_by_name

if TYPE_CHECKING:
    import treedata

__all__ = ["History", "Simulation", "children", "simulate_scenario"]

Step: TypeAlias = Literal["scenario", "replicate", "fresh", "counts"]
History: TypeAlias = tuple[tuple[Step, int], ...]
_STEPS: tuple[Step, ...] = ("scenario", "replicate", "fresh", "counts")


def simulate_scenario(
    scenario: str | Scenario,
    *,
    leaves: int | None = None,
    shape: Shape | None = None,
    increments: Increments | None = None,
    seed: Seed = None,
) -> Simulation:
    r"""Draw a model tree and features of its leaves (the paper's appendix "Simulation").

    Signal features evolve along the tree by Brownian motion. Beside them stand, as the scenario has it, Gaussian noise
    with sd :math:`\alpha \bar\sigma_{\mathrm{signal}}`, where :math:`\bar\sigma_{\mathrm{signal}}` is the mean over
    signal features of their sd across leaves, and features that evolve along alternative trees.

    The paper's text says that an increment has the branch length as its *variance*; its tables were made with the
    branch length as the *sd*, which is therefore what the named scenarios use. So drawn, neighbour joining on plain
    Euclidean distances has the Robinson-Foulds distances of both "Direct Recon." columns of the paper's table in all of
    A1 to D3, within 0.03 on average over 400 seeds; with variances it misses one or both by 0.07 to 0.31 in all but B1.

    Parameters
    ----------
    scenario
        One of :data:`SCENARIOS` by name, or a :class:`Scenario`.
    leaves, shape, increments
        Used instead of the scenario's own. Any shape but "balanced", which they all have, takes any number of leaves.
    seed
        Seed or generator; drawn if omitted. The simulation's ``seed`` says which it was. Scenarios with the same
        leaves, shape, longest branch and seed have the same tree, and the signal does not depend on what is beside it.

    Examples
    --------
    >>> simulation = simulate_scenario("A1", seed=1)
    >>> simulation
    Simulation(A1: 64 leaves, 60 features: 20 signal, 20 noise, 20 alternative; seed 1)
    >>> simulation.truth
    Tree(64 leaves, 63 internal nodes, rooted, binary, total length 191.3)
    >>> test = simulation.replicate(seed=2)
    >>> fresh = simulation.fresh(seed=3)
    """
    settings = scenario if isinstance(scenario, Scenario) else scenario_by_name(scenario)
    changed: dict[str, Any] = {"leaves": leaves, "shape": shape, "increments": increments}
    settings = replace(settings, **{field: value for field, value in changed.items() if value is not None})
    history: History = (("scenario", recorded_seed(seed)),)
    of_tree, of_heritability, of_signal, of_rest = children(history, 4)
    truth = random_tree(settings.leaves, shape=settings.shape, max_length=settings.max_length, seed=of_tree)
    heritability = of_heritability.uniform(*settings.heritability_range, size=settings.signal)
    signal = _brownian(settings, truth, heritability, of_signal)
    return _beside(signal, settings, truth, heritability, of_rest, history)


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """A simulated lineage: the true tree, the features of its leaves, and of what kind each feature is.

    Parameters
    ----------
    scenario
        The settings that it was drawn from.
    truth
        The model tree: rooted, with lengths.
    features
        float[n, g], a row for each of ``truth.leaves``; read-only.
    kinds
        The kind of each feature: "signal", "noise", "alternative", "batch" or "cycle", in this order.
    heritability
        float[g], Pagel's lambda of each feature on the true tree; 0 where it is no signal.
    alternatives
        The alternative trees; together they have every leaf once.
    covariates
        What else is true of the leaves: "batch" and "phase", where there are such features.
    history
        How it was made: the steps ("scenario", "replicate", "fresh") and their seeds.
    """

    scenario: Scenario
    truth: Tree
    features: NDArray[np.float64]
    kinds: tuple[str, ...]
    heritability: NDArray[np.float64]
    alternatives: tuple[Tree, ...]
    covariates: Mapping[str, NDArray[np.float64] | NDArray[np.int64]]
    history: History

    @property
    def leaves(self) -> tuple[str, ...]:
        """The leaf names, in the order of the rows."""
        return self.truth.leaves

    @property
    def seed(self) -> int:
        """The seed of the last step of its history."""
        return self.history[-1][1]

    @cached_property
    def signal(self) -> NDArray[np.bool_]:
        """bool[g], which features evolved along the true tree."""
        return np.array([kind == "signal" for kind in self.kinds])

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """The kind of each feature and its number among those of its kind: "signal_1", "signal_2", ..."""
        count: dict[str, int] = {}
        names = []
        for kind in self.kinds:
            count[kind] = count.get(kind, 0) + 1
            names.append(f"{kind}_{count[kind]}")
        return tuple(names)

    def __repr__(self) -> str:
        parts = ", ".join(f"{self.kinds.count(kind)} {kind}" for kind in dict.fromkeys(self.kinds))
        made = "".join(f", {step} {seed}" for step, seed in self.history[1:])
        return (
            f"Simulation({self.scenario.name}: {len(self.leaves)} leaves, {len(self.kinds)} features: {parts}; "
            f"seed {self.history[0][1]}{made})"
        )

    def replicate(self, seed: Seed = None) -> Simulation:
        r"""A second measurement of the same leaves: the paper's test set of the supervised setting.

        Signal features are the same plus :math:`\mathcal{N}(0, 0.1\,\bar\sigma_{\mathrm{signal}})`, an sd; everything
        else is drawn anew, alternative trees included.
        """
        history: History = (*self.history, ("replicate", recorded_seed(seed)))
        of_error, of_rest = children(history, 2)
        signal = self.features[:, self.signal]
        signal = signal + of_error.normal(scale=0.1 * mean_sd(signal), size=signal.shape)
        return _beside(signal, self.scenario, self.truth, self.heritability[self.signal], of_rest, history)

    def fresh(self, seed: Seed = None) -> Simulation:
        """Another realisation on the same tree: signal features evolve anew, and everything else is drawn anew.

        What was learned of the lineage's features does not carry over; only the tree is the same.
        """
        history: History = (*self.history, ("fresh", recorded_seed(seed)))
        of_signal, of_rest = children(history, 2)
        heritability = self.heritability[self.signal]
        signal = _brownian(self.scenario, self.truth, heritability, of_signal)
        return _beside(signal, self.scenario, self.truth, heritability, of_rest, history)

    def to_treedata(self) -> treedata.TreeData:
        """A TreeData with a row for each leaf.

        Returns
        -------
        treedata.TreeData
            With ``X`` the features, ``obst["truth"]`` the true tree, ``obst["alternative_1"]``, ... the alternative
            trees, ``var["kind"]``, ``var["heritability"]``, ``obs["batch"]`` and ``obs["phase"]`` where there are any,
            and ``uns["simulation"]`` the settings of the scenario and the history.
        """
        import anndata
        import pandas as pd

        obs = pd.DataFrame(dict(self.covariates), index=list(self.leaves))
        if "batch" in obs:
            obs["batch"] = pd.Categorical([f"batch_{number + 1}" for number in obs["batch"]])
        adata = anndata.AnnData(
            X=self.features.copy(),
            obs=obs,
            var=pd.DataFrame(
                {"kind": pd.Categorical(self.kinds), "heritability": self.heritability}, index=list(self.feature_names)
            ),
            uns={"simulation": self.provenance()},
        )
        tdata = to_treedata(self.truth, adata, key="truth")
        for i, tree in enumerate(self.alternatives):
            tdata = to_treedata(tree, tdata, key=f"alternative_{i + 1}")
        return tdata

    def provenance(self) -> dict[str, Any]:
        """The settings that are not None and the history, in plain types that any file can hold."""
        settings = {field: value for field, value in asdict(self.scenario).items() if value is not None}
        settings["heritability"] = list(self.scenario.heritability_range)
        return {**settings, "history": [f"{step} {seed}" for step, seed in self.history]}


def _brownian(
    scenario: Scenario, truth: Tree, heritability: NDArray[np.float64], seed: np.random.Generator
) -> NDArray[np.float64]:
    return simulate_brownian(
        truth, scenario.signal, increments=scenario.increments, heritability=heritability, seed=seed
    )


def _beside(
    signal: NDArray[np.float64],
    scenario: Scenario,
    truth: Tree,
    heritability: NDArray[np.float64],
    rng: np.random.Generator,
    history: History,
) -> Simulation:
    """The simulation whose signal this is, with everything that stands beside the signal drawn anew."""
    of_noise, of_alternatives, of_batch, of_cycle = rng.spawn(4)  # one each, so that none depends on another's size
    n, sigma = len(signal), mean_sd(signal)
    columns: dict[str, NDArray[np.float64]] = {"signal": signal}
    covariates: dict[str, NDArray[Any]] = {}
    alternatives: tuple[Tree, ...] = ()
    if scenario.noise:
        sd = scenario.noise_scale * sigma if scenario.noise_sd is None else scenario.noise_sd
        mean = float(signal.mean()) if scenario.noise_mean == "signal" else 0.0
        columns["noise"] = simulate_noise(n, scenario.noise, sd=sd, mean=mean, seed=of_noise)
    if scenario.alternative:
        columns["alternative"], alternatives = simulate_alternatives(
            truth.leaves,
            scenario.alternative,
            n_trees=scenario.alternative_trees,
            shape=scenario.shape,
            max_length=scenario.alternative_max_length,
            increments=scenario.increments,
            seed=of_alternatives,
        )
    sd = scenario.program_scale * sigma
    if scenario.batch:
        columns["batch"], covariates["batch"] = simulate_batch(
            n, scenario.batch, n_batches=scenario.n_batches, sd=sd, seed=of_batch
        )
    if scenario.cycle:
        columns["cycle"], covariates["phase"] = simulate_cycle(n, scenario.cycle, sd=sd, seed=of_cycle)
    features = np.hstack(list(columns.values()))
    shares = np.zeros(features.shape[1])
    shares[: scenario.signal] = heritability
    for array in (features, shares, *covariates.values()):
        array.flags.writeable = False
    kinds = tuple(kind for kind, values in columns.items() for _ in range(values.shape[1]))
    return Simulation(scenario, truth, features, kinds, shares, alternatives, covariates, history)


def children(history: History, number: int) -> list[np.random.Generator]:
    """Generators for the last step of a history.

    They depend on every step and its kind, so that a replicate drawn with the seed of its original, say, has noise of
    its own.
    """
    entropy = [word for step, seed in history for word in (_STEPS.index(step), seed)]
    return np.random.default_rng(entropy).spawn(number)
