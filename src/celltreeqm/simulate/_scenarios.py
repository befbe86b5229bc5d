"""Scenarios: what is simulated, and the set-ups of the paper by name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from ._brownian import Increments
from ._features import check_groups
from ._model_trees import Shape, check_model
from ._numbers import check_number, check_whole

__all__ = ["SCENARIOS", "Scenario", "scenario_by_name"]


@dataclass(frozen=True, kw_only=True)
class Scenario:
    r"""The settings of a simulation: a model tree, the signal that evolves along it, and what obscures the signal.

    With :math:`\bar\sigma` the mean over signal features of their sd across leaves.

    Parameters
    ----------
    name
        What the scenario is called.
    leaves
        Number of leaves, n.
    shape
        Shape of the model tree and of alternative trees (see :func:`random_tree`).
    max_length
        The paper's w: branch lengths are drawn from Uniform(1, w); 1 for unit lengths.
    increments
        Whether a branch length is the ``"variance"`` of the change along it, as the paper's text has it, or its
        ``"sd"``, with which the paper's tables were made.
    signal
        Number of signal features, :math:`d_{\mathrm{sig}}`.
    heritability
        Pagel's lambda of the signal features: one for all, or the ends of the uniform distribution it is drawn from,
        feature by feature.
    noise
        Number of Gaussian noise features, :math:`d_{\mathrm{noise}}`.
    noise_scale
        The paper's alpha: the noise has sd :math:`\alpha \bar\sigma`.
    noise_sd
        The sd of the noise itself, instead of ``noise_scale``.
    noise_mean
        ``"zero"``, or ``"signal"``: the mean of the signal over all leaves and features.
    alternative
        Number of alternative-tree features in all, the paper's :math:`d_{\mathrm{AltSig}} = S \cdot T`. The rows of
        its table say so: C2 with :math:`d_{\mathrm{sig}}` = 50, S = 50, T = 2 and :math:`d_{\mathrm{AltSig}}` = 100
        has d = 150 and SNR = 0.5, so the product with T in its formula of the SNR is already taken.
    alternative_trees
        Number of alternative trees, T, each over a group of n / T leaves (see :func:`simulate_alternatives`).
    alternative_scale
        The paper's beta: lengths of alternative trees are drawn from Uniform(1, beta w).
    batch, n_batches
        Number of features that tell only the batch of a leaf, and number of batches.
    cycle
        Number of features that tell only the cell-cycle phase of a leaf.
    program_scale
        The sd of batch and cell-cycle features, in units of :math:`\bar\sigma`.

    Examples
    --------
    >>> Scenario(leaves=16, signal=30, noise=10).n_features
    40
    >>> import dataclasses
    >>> dataclasses.replace(SCENARIOS["B2"], name="B2, less noise", noise=100).noise_scale
    1
    """

    name: str = "custom"
    leaves: int = 64
    shape: Shape = "balanced"
    max_length: float = 2.0
    increments: Increments = "sd"
    signal: int = 50
    heritability: float | tuple[float, float] = 1.0
    noise: int = 0
    noise_scale: float = 1.0
    noise_sd: float | None = None
    noise_mean: Literal["zero", "signal"] = "zero"
    alternative: int = 0
    alternative_trees: int = 1
    alternative_scale: float = 1.0
    batch: int = 0
    n_batches: int = 2
    cycle: int = 0
    program_scale: float = 1.0

    def __post_init__(self) -> None:
        check_model(self.leaves, self.shape, self.max_length)
        for field in ("signal", "noise", "alternative", "batch", "cycle"):
            check_whole(getattr(self, field), field)
            number, least = getattr(self, field), 1 if field == "signal" else 0
            if number < least:
                raise ValueError(f"{field}={number} was given; it is a number of features, {least} or more.")
        for field in ("noise_scale", "noise_sd", "program_scale"):
            size = getattr(self, field)
            if size is None and field == "noise_sd":
                continue
            check_number(size, field)
            if not 0 <= size < math.inf:
                raise ValueError(f"{field}={size} was given; a finite number of 0 or more is needed.")
        if self.increments not in ("variance", "sd"):
            raise ValueError(f"increments={self.increments!r} was given; it is 'variance' or 'sd'.")
        if self.noise_mean not in ("zero", "signal"):
            raise ValueError(f"noise_mean={self.noise_mean!r} was given; it is 'zero' or 'signal'.")
        shares: tuple[float, ...] = self.heritability if isinstance(self.heritability, tuple) else (self.heritability,)
        for share in shares:
            check_number(share, "heritability")
        if not 1 <= len(shares) <= 2 or not 0 <= shares[0] <= shares[-1] <= 1:
            raise ValueError(
                f"heritability={self.heritability} was given; it is a number between 0 and 1, or two, the lower first."
            )
        check_whole(self.n_batches, "n_batches")
        if not 1 <= self.n_batches <= self.leaves:
            raise ValueError(f"n_batches={self.n_batches} was given; {self.leaves} leaves make 1 to {self.leaves}.")
        if self.alternative:
            check_number(self.alternative_scale, "alternative_scale")
            check_groups(self.leaves, self.alternative_trees, self.shape)
            if not 1 <= self.alternative_max_length < math.inf:
                raise ValueError(
                    f"alternative_scale={self.alternative_scale} times max_length={self.max_length} is "
                    f"{self.alternative_max_length:g}; the lengths of alternative trees are drawn between 1 and this, "
                    "so it must be finite and at least 1."
                )

    @property
    def heritability_range(self) -> tuple[float, float]:
        """The least and the largest heritability of a signal feature."""
        if isinstance(self.heritability, tuple):
            return self.heritability
        return self.heritability, self.heritability

    @property
    def alternative_max_length(self) -> float:
        r"""The longest branch possible of an alternative tree, the paper's :math:`w_{\mathrm{alt}} = \beta w`."""
        return self.alternative_scale * self.max_length

    @property
    def n_features(self) -> int:
        """Number of features in all, g."""
        return self.signal + self.noise + self.alternative + self.batch + self.cycle


def scenario_by_name(name: str) -> Scenario:
    """The scenario of that name, or an error that lists the names."""
    if name not in SCENARIOS:
        raise ValueError(f"scenario={name!r} was given; the scenarios are {', '.join(SCENARIOS)}. Or pass a Scenario.")
    return SCENARIOS[name]


def _row(name: str, w: float, d_sig: int, d_noise: int, alpha: float, T: int, d_alt: int, beta: float) -> Scenario:
    return Scenario(
        name=name,
        max_length=w,
        signal=d_sig,
        noise=d_noise,
        noise_scale=alpha,
        alternative=d_alt,
        alternative_trees=T,
        alternative_scale=beta,
    )


_WEAK = Scenario(name="weak", signal=50, noise=500, noise_mean="signal", alternative=50, alternative_trees=2)
_PLAIN = Scenario(name="plain", signal=50, noise=50)

# The paper's table "Performance comparison on simulated data", its weakly supervised set-ups (64 leaves for partitions,
# 128 for partial labels) and its unsupervised one; then set-ups that it does not have.
SCENARIOS: Mapping[str, Scenario] = MappingProxyType(
    {
        scenario.name: scenario
        for scenario in (
            # name, w, d_sig, d_noise, alpha, T, d_AltSig, beta
            _row("A1", 2, 20, 20, 0.5, 1, 20, 0.5),
            _row("A2", 2, 50, 50, 0.5, 1, 50, 0.5),
            _row("A3", 2, 100, 100, 0.5, 1, 100, 0.5),
            _row("B1", 2, 20, 100, 0.5, 1, 0, 1),
            _row("B2", 5, 50, 500, 1, 1, 0, 1),
            _row("B3", 10, 100, 2000, 2, 1, 0, 1),
            _row("C1", 2, 20, 0, 1, 1, 20, 0.5),
            _row("C2", 5, 50, 0, 1, 2, 100, 1),
            _row("C3", 10, 100, 0, 1, 2, 200, 2),
            _row("D1", 2, 20, 100, 0.5, 1, 20, 0.5),
            _row("D2", 5, 50, 500, 1, 2, 100, 1),
            _row("D3", 10, 100, 2000, 2, 2, 200, 2),
            _WEAK,
            Scenario(name="unsupervised", leaves=128, max_length=1, signal=32, noise=32, noise_sd=10),
            replace(_PLAIN, name="heritability", heritability=(0.2, 1.0)),
            replace(_PLAIN, name="batch", batch=50, n_batches=3),
            replace(_PLAIN, name="cycle", cycle=50),
            replace(_PLAIN, name="competing", alternative=50),
        )
    }
)
