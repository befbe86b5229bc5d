"""``QuartetLearner``: CellTreeQM, the paper's method, and its baselines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from ...trees import Tree, check_priors
from .._features import FeatureMatrix, check_features
from .._fit import Builder, Fit
from .._learner import Monitor, register_learner
from .._provenance import provenance_of
from ._checks import check_choices, check_enough, check_together, check_torch
from ._fit import QuartetFit
from ._settings import PRESETS, Preset, Settings

__all__ = ["QuartetLearner"]

_LARGEST_MATRIX = 2_000  # features beyond which a gate of g x g entries is not for a laptop
_MOST_DIMENSIONS = 512


@register_learner
@dataclass(frozen=True, kw_only=True)
class QuartetLearner:
    r"""Learns an embedding in which the known quartets obey the four-point condition (the paper's CellTreeQM).

    An encoder f and a gate g are trained on quartets that the prior resolves, drawn afresh at each step, to minimise

    .. math:: w\,\mathcal{L}_{\mathrm{additivity}}(f \circ g, X) + \lambda\,\Omega(f \circ g, X)
              + \Omega_{\mathrm{gates}}

    (the paper's integrated objective; :func:`additivity_loss`, :func:`deviation_loss`). Trees are built from Euclidean
    distances in the embedding. Without a prior the loss is the gap of the two largest sums of any four leaves (the
    paper's unsupervised setting).

    A score on a replicate of leaves that the network was trained on says how well it recognises them, not how well it
    would place others.

    Parameters
    ----------
    preset
        Where settings that are left open (None) come from. The paper's set-ups: "supervised-simulation",
        "supervised-real", "weak-simulation", "weak-real", "unsupervised", and "ablation", the baseline of its loss
        study. "auto" is ours: sized for a laptop, with what the data and the prior suggest.
    encoder, layers, heads, width, dimensions, skip, data_dropout, metric_dropout, norm
        The network: "transformer" (over the set of leaves, no positional encoding), "fc" (each leaf for itself),
        "linear" or "diagonal"; its number of layers, attention heads, hidden columns and outputs; whether what it makes
        is added to the inputs' principal components, so that training starts with their distances; dropout inside and
        after it; "none", "batch" or "layer" norm for "fc".
    gate, gate_weight, temperature
        "none", "gumbel" (on or off), "sigmoid" or "linear" (a matrix); the weight of its penalty; the first and last
        temperature of "gumbel".
    gate_start
        What is held of the features before training: "none", "heritable" (:class:`HeritableLearner` is fitted first, to
        the same prior: features more likely heritable than not are kept, and scaled by the root of their weight), or g
        weights between 0 and 1.
    loss
        "additivity", the baselines "triplet" and "quadruplet", or "close" for no prior.
    quartets
        Which of the quartets drawn count: "mismatched" (those that distances in the embedding get wrong), "matched", or
        "all".
    additivity, close, push, margin, second_margin, deviation
        Weights and margins; ``margin`` is :math:`m_0` of all losses and :math:`\alpha` of "quadruplet",
        ``second_margin`` its :math:`\beta`, ``deviation`` is :math:`\lambda`.
    deviation_by
        "paper", or "dimension" to divide the distances on each side by the root of their number of columns.
    deviation_from
        What embedded distances are compared with: those of all "features" (the paper's :math:`\mathcal{D}(X)`), or of
        the "gated" ones, enlarged to the size of those of 16 features where the gate leaves fewer.
    distance
        "euclidean", or "squared" distances in the additivity loss.
    steps, batch, learning_rate, gate_learning_rate, warm_up, weight_decay, clip
        Steps, quartets a step, and AdamW with a rise of the rate and then half a cosine.
    weight_average
        Decay of an exponential mean of the parameters, which is what is looked at and kept; 0 for none.
    noise, permute, draws
        Augmentation: noise of that many sd on every input, whether each feature is shuffled across leaves with its
        probability of not being heritable (with a ``gate_start``), and the share of the steps in which features are not
        the real ones but drawn by Brownian motion along the tree that the start made under the prior, with quartets of
        that tree (with ``gate_start="heritable"``).
    context
        What the network sees in training: "all" leaves, those outside the prior too, which then count in the deviation
        loss; or the "known" ones alone, for honest tests on leaves held out.
    select
        How the step is chosen whose parameters are kept: "validation" (the monitor's table of that name; without one
        some known leaves are held out of a first training, which decides how many steps a second one on all takes),
        "train", "last", or "test", which reproduces the paper; the fit's ``selection`` says so.
    look_every, patience
        Steps from look to look; looks without improvement after which training ends.
    builder
        "neighbor_joining", "upgma" or "ward"; by default the one that a heritable start chose, else neighbour joining.
    device, amp
        "auto" (cuda, mps or cpu), or a torch device; automatic mixed precision on cuda.
    threads
        Of torch on the CPU; another number gives other bytes.

    Examples
    --------
    >>> learner = QuartetLearner(preset="weak-simulation", gate="gumbel")
    >>> settings = learner.settings(n=64, g=600)
    >>> settings.layers, settings.width, settings.gate, settings.gate_weight
    (4, 256, 'gumbel', 8.0)
    """

    name: ClassVar[str] = "quartet"
    fit_type: ClassVar[type[Fit]] = QuartetFit

    preset: Preset = "auto"
    encoder: Literal["transformer", "fc", "linear", "diagonal"] | None = None
    layers: int | None = None
    heads: int | None = None
    width: int | None = None
    dimensions: int | None = None
    skip: bool | None = None
    data_dropout: float | None = None
    metric_dropout: float | None = None
    norm: Literal["none", "batch", "layer"] | None = None
    gate: Literal["none", "gumbel", "sigmoid", "linear"] | None = None
    gate_weight: float | None = None
    temperature: tuple[float, float] | None = None
    gate_start: Literal["none", "heritable"] | Sequence[float] | None = None
    loss: Literal["additivity", "triplet", "quadruplet", "close"] | None = None
    quartets: Literal["mismatched", "matched", "all"] | None = None
    additivity: float | None = None
    close: float | None = None
    push: float | None = None
    margin: float | None = None
    second_margin: float | None = None
    deviation: float | None = None
    deviation_by: Literal["paper", "dimension"] | None = None
    deviation_from: Literal["features", "gated"] | None = None
    distance: Literal["euclidean", "squared"] | None = None
    steps: int | None = None
    batch: int | None = None
    learning_rate: float | None = None
    gate_learning_rate: float | None = None
    warm_up: int | None = None
    weight_decay: float | None = None
    clip: float | None = None
    weight_average: float | None = None
    noise: float | None = None
    permute: bool | None = None
    draws: float | None = None
    context: Literal["all", "known"] = "all"
    select: Literal["validation", "train", "last", "test"] = "validation"
    look_every: int | None = None
    patience: int | None = None
    builder: Builder | None = None
    device: str = "auto"
    amp: bool = False
    threads: int = 1

    def __post_init__(self) -> None:
        for name, value in [(field.name, getattr(self, field.name)) for field in fields(self)]:
            if isinstance(value, np.generic | np.ndarray | list | tuple):  # settings are written as JSON
                plain = np.asarray(value).tolist()
                object.__setattr__(self, name, tuple(plain) if isinstance(plain, list) else plain)
        check_choices(self)

    def settings(self, n: int, g: int, *, prior: bool = True) -> Settings:
        """Every setting of a training on n leaves and g features, with or without a prior: nothing is left open.

        Parameters
        ----------
        n, g
            Numbers of leaves and of features that the network sees.
        prior
            Whether anything is known.
        """
        values = dict(PRESETS[self.preset])
        if self.preset == "auto":
            values |= self._automatic(n, g, prior)
        given = {field.name: getattr(self, field.name) for field in fields(Settings)}
        settings = Settings(**(values | {name: value for name, value in given.items() if value is not None}))
        check_together(settings, prior=prior)
        return settings

    def start(self) -> Literal["none", "heritable"] | tuple[float, ...]:
        """What is held of the features before training: as given, or what the preset starts with."""
        if self.gate_start is not None:
            return self.gate_start if isinstance(self.gate_start, str) else tuple(self.gate_start)
        return "heritable" if self.preset == "auto" else "none"

    def _automatic(self, n: int, g: int, prior: bool) -> dict[str, Any]:
        """What "auto" makes of the data: a start makes training short and a gate needless."""
        started = {
            "gate": "none",
            "skip": self.encoder != "diagonal",
            "dimensions": min(max(32, n - 1), _MOST_DIMENSIONS),  # n - 1 hold the inputs' distances
            "steps": 300,
        }
        if not prior:
            gate = {"gate": "none"} if g > _LARGEST_MATRIX else {}
            return dict(PRESETS["unsupervised"]) | (gate if self.start() == "none" else started)
        if self.start() == "none":
            return {"steps": 1500 if n <= 128 else 3000}
        draws = 0.5 if self.start() == "heritable" else 0.0
        return started | {"noise": 0.1, "permute": True, "draws": draws}

    def fit(
        self,
        X: FeatureMatrix,
        leaves: Sequence[str] | None = None,
        *,
        prior: Tree | Sequence[Tree] | None = None,
        seed: int | np.random.Generator | None = None,
        monitor: Monitor | None = None,
        checkpoint: str | Path | None = None,
        progress: bool | None = None,
    ) -> QuartetFit:
        """Train the network.

        Ctrl-C ends training and returns the best so far; the fit's ``ended`` says "interrupted".

        Parameters
        ----------
        X
            float[n, g], one row a taxon: an array, a sparse matrix or a DataFrame, all values finite. Features are
            standardised; constant ones are left out.
        leaves
            The n names of the rows; a DataFrame brings them as its index.
        prior
            What is known: the quartets that it resolves are learned from, and trees of the fit display it unless
            ``honor_prior=False``.
        seed
            Of everything drawn; drawn and recorded if omitted.
        monitor
            "validation" and "test" to (X, truth or None): tables of the same features to look at in training. Without a
            truth the known quartets are counted that distances get wrong.
        checkpoint
            A file that training writes now and then and carries on from, if it is there: to the same bytes as a
            training that was never stopped. Where there are two trainings, ".1" and ".2" are added to its name.
        progress
            Whether to show a bar; by default on a terminal, after two seconds.

        Raises
        ------
        ValueError
            If the prior resolves no quartet, all features are constant, fewer than four leaves came, a leaf of the
            prior has no row, or the device does not exist.
        ModuleNotFoundError
            If PyTorch is not installed.
        """
        checked = check_features(X, leaves)
        trees = check_priors(prior, checked.leaves)
        check_enough(checked, trees)
        check_torch()
        from ._fitting import fit_network

        if self.context == "known" and not trees:
            raise ValueError("context='known' came without a prior: no leaf is known. Use context='all'.")
        self.settings(*checked.values.shape, prior=bool(trees))  # refused now, not after the start was made
        settings = asdict(self)
        provenance = provenance_of(self.name, settings, seed=seed, features=checked, libraries=("torch",))
        return fit_network(
            self,
            checked,
            trees,
            provenance=provenance,
            monitor=monitor or {},
            checkpoint=None if checkpoint is None else Path(checkpoint),
            progress=progress,
        )
