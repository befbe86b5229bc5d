"""``HeritableLearner``: weigh each feature by how heritable it is."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from ...trees import Tree, check_priors, robinson_foulds
from .._features import FeatureMatrix, check_features
from .._fit import BUILDERS, Builder, Fit
from .._learner import Monitor, register_learner
from .._provenance import provenance_of
from .._settings import check_count
from ._alternation import alternate, known_likelihoods, spectral_weights, weigh_on_folds
from ._fit import HeritableFit, standardized
from ._folds import Build, Folds, fold_features, weighted_distances
from ._weights import weigh_features

__all__ = ["HeritableLearner"]

_log = logging.getLogger(__name__)


@register_learner
@dataclass(frozen=True)
class HeritableLearner:
    r"""Weighs each feature by its heritability on the lineage, as far as that is known, and on trees of other features.

    A standardised feature is scored on a tree by its Brownian likelihood with Pagel's :math:`\lambda`
    (:func:`heritability_likelihoods`); empirical Bayes over all features (:func:`weigh_features`) makes of it the
    posterior mean of :math:`\lambda`, the feature's weight :math:`w_f`. The distance of two leaves is

    .. math:: d(i, j) = \Bigl( \sum_f w_f \, (z_{if} - z_{jf})^2 \Bigr)^{1/2}.

    Where the prior resolves all leaves, features are scored on it. Otherwise trees under the prior and weights are
    learned in turn, features of one fold on the tree of the others (:func:`alternate`), from several starts: all
    features alike, the features that agree with each other (:func:`spectral_weights`), and those heritable on the known
    part of the tree. The ending with the most evidence is taken, and the fit's ``starts`` say whether the others
    disagree.

    Parameters
    ----------
    builder
        "neighbor_joining", "upgma" or "ward", or "best": that on whose trees features of left-out folds are most
        likely. Trees within the alternation are neighbour joining's, unless a builder is given.
    folds
        Into how many folds features are cut.
    repeats
        In how many ways; by default in more, up to four, the fewer features there are.
    max_iterations
        Iterations from each start at most.
    max_starts
        How many starts at most: the features heritable on the known part of the tree, if there is one, all features
        alike, and the features that agree with each other, in this order.

    Examples
    --------
    >>> from celltreeqm.simulate import simulate_scenario
    >>> from celltreeqm.trees import prior_at_level, robinson_foulds
    >>> simulation = simulate_scenario("weak", leaves=32, seed=0)
    >>> prior = prior_at_level(simulation.truth, 2)
    >>> fit = HeritableLearner().fit(simulation.features, simulation.leaves, prior=prior, seed=0)
    >>> bool(fit.weights[simulation.signal].mean() > 10 * fit.weights[~simulation.signal].mean())
    True
    >>> robinson_foulds(fit.tree(), simulation.truth) < 0.2
    True
    """

    name: ClassVar[str] = "heritable"
    fit_type: ClassVar[type[Fit]] = HeritableFit

    builder: Builder | Literal["best"] = "best"
    folds: int = 5
    repeats: int | None = None
    max_iterations: int = 20
    max_starts: int = 3

    def __post_init__(self) -> None:
        if self.builder not in (*BUILDERS, "best"):
            raise ValueError(
                f"builder={self.builder!r} was given; it is {', '.join(map(repr, BUILDERS))} or 'best', which lets the "
                "features choose."
            )
        check_count(self.folds, "folds", 2)
        if self.repeats is not None:
            check_count(self.repeats, "repeats", 1)
        check_count(self.max_iterations, "max_iterations", 1)
        check_count(self.max_starts, "max_starts", 1)

    def fit(
        self,
        X: FeatureMatrix,
        leaves: Sequence[str] | None = None,
        *,
        prior: Tree | Sequence[Tree] | None = None,
        seed: int | np.random.Generator | None = None,
        monitor: Monitor | None = None,
    ) -> HeritableFit:
        """Learn the weights.

        Parameters
        ----------
        X
            float[n, g], one row a taxon: an array, a sparse matrix or a DataFrame, all values finite. Neither scale nor
            shift of a feature matters; constant features weigh nothing.
        leaves
            The n names of the rows; a DataFrame brings them as its index.
        prior
            What is known; trees of the fit display it unless ``honor_prior=False``.
        seed
            Of the folds; drawn and recorded if omitted.
        monitor
            Not used.
        """
        checked = check_features(X, leaves)
        trees = check_priors(prior, checked.leaves)
        provenance = provenance_of(self.name, asdict(self), seed=seed, features=checked)
        varied = np.ptp(checked.values, axis=0) > 0
        if not varied.all():
            _log.warning(
                "%d of %d features are the same in all leaves and weigh nothing.", (~varied).sum(), len(varied)
            )
        weights, gates = varied.astype(np.float64), varied.astype(np.float64)
        starts: list[dict[str, Any]] = []
        builders: dict[str, float] = {}
        if len(checked.leaves) > 3 and varied.sum() > 1:
            with threadpool_limits(1, "blas"):  # sums in the same order, and so the same bytes, wherever it runs
                weights[varied], gates[varied], starts, builders = self._learn(
                    standardized(checked.values[:, varied]), checked.leaves, trees, provenance.seed
                )
        best: Any = max(builders, key=lambda name: builders[name], default="neighbor_joining")
        return HeritableFit(
            leaves=checked.leaves,
            feature_names=checked.names,
            prior=trees,
            builder=best if self.builder == "best" else self.builder,
            provenance=provenance,
            features=checked.values,
            weights=weights,
            gates=gates,
            starts=starts,
            builders=builders,
        )

    def _learn(
        self, features: NDArray[np.float64], leaves: tuple[str, ...], prior: tuple[Tree, ...], seed: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], list[dict[str, Any]], dict[str, float]]:
        """Weights, gates, what the starts came to, and the evidence for each builder."""
        g = features.shape[1]
        repeats = self.repeats or max(1, min(4, 10_000 // g))
        folds = Folds(features, fold_features(features, self.folds, repeats, np.random.default_rng(seed)))
        known = known_likelihoods(features, leaves, prior) if prior else None
        whole = [tree for tree in prior if tree.n_leaves == len(leaves) and tree.unroot().is_binary]
        starts: list[dict[str, Any]] = []
        if whole:
            learned = weigh_features(known_likelihoods(features, leaves, whole[:1]))
            prior, known = (), None  # under it all builders make the same tree
        else:
            given = [("all", np.ones(g)), ("spectral", spectral_weights(features))]
            if known is not None:
                given.insert(0, ("known", weigh_features(known).weights))
            build = _builder("neighbor_joining" if self.builder == "best" else self.builder, leaves, prior)
            endings = alternate(
                folds, dict(given[: self.max_starts]), build, known=known, max_iterations=self.max_iterations
            )
            learned = endings[0].learned
            made = [build(weighted_distances(features, ending.learned.weights)) for ending in endings]
            for ending, tree in zip(endings, made, strict=True):
                starts.append(
                    {
                        "start": ending.start,
                        "iterations": ending.iterations,
                        "converged": ending.converged,
                        "evidence": float(ending.learned.evidence.sum()),
                        "robinson_foulds": robinson_foulds(tree, made[0]),
                    }
                )
            if any(start["robinson_foulds"] for start in starts):
                _log.info("Different starts ended in different trees: %s.", starts)
        builders = {}
        if self.builder == "best":
            for name in BUILDERS:
                told, _ = weigh_on_folds(folds, learned.weights, _builder(name, leaves, prior), known)  # type: ignore[arg-type]
                builders[name] = float(told.evidence.sum())
        return learned.weights, learned.gates, starts, builders


def _builder(name: Builder, leaves: tuple[str, ...], prior: tuple[Tree, ...]) -> Build:
    return partial(BUILDERS[name], leaves=leaves, prior=prior or None)
