"""``AdaptiveLearner``, the default: the data choose scale, weights, distance and builder; features are bagged."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import ClassVar

import numpy as np
from threadpoolctl import threadpool_limits

from ...parallel import check_workers
from ...trees import Tree, check_priors
from .._features import CheckedFeatures, FeatureMatrix, check_features
from .._fit import Fit
from .._learner import Monitor, register_learner
from .._provenance import Provenance, provenance_of
from .._settings import check_count
from ._bag import Bag, bag_trees, mean_paths
from ._choice import Choice, choose
from ._fit import AdaptiveFit, varied_features
from ._measure import Heritability, heritability_on_scale
from ._scales import rescale

__all__ = ["AdaptiveLearner"]

_log = logging.getLogger(__name__)

_LARGEST = 1e150  # sums of squares of more are infinite, and those of less than its inverse are 0


@register_learner
@dataclass(frozen=True)
class AdaptiveLearner:
    """Chooses how to read the features by what is known or by what they agree on, and averages over bags of them.

    No one way from features to distances is best: on measured genes the scale and the distance decide, on features of
    which few follow the lineage their weights do. A table of at most 40 candidates, fixed beforehand, crosses

    - scales: as given, standardised, log1p and square root, or the logarithm undone where values look logged;
    - plain or heritable weights (:class:`HeritableLearner`);
    - Euclidean distances, their squares, distances with axes of much variation shrunk, and correlation;
    - ridge regression from features to positions in the known tree: none, appended to the features, or alone;

    and each is tried with neighbour joining, UPGMA and Ward. Where some leaves have a resolved tree, the choice is by
    k-fold cross-validation over these leaves and, a third as much, by how far trees from disjoint halves of the
    features agree; with clades or nothing known by the latter alone. The best, and what is hardly worse, make a bag of
    trees, each from features drawn with replacement, under the prior; the path lengths in these trees are averaged, and
    from the averages the builder of the best makes the final tree.

    Parameters
    ----------
    best
        How many candidates are bagged at most.
    bag
        How many trees are averaged.
    folds, repeats
        Into how many folds labelled leaves are cut, and how often. Features are halved ``2 * repeats`` times, or
        ``4 * repeats`` times where nothing else decides.
    workers
        Local processes, or None for one a processor. The result is the same for any number.

    Examples
    --------
    >>> from celltreeqm.simulate import simulate_scenario
    >>> from celltreeqm.trees import robinson_foulds
    >>> simulation = simulate_scenario("weak", leaves=32, seed=0)
    >>> prior = simulation.truth.restrict(simulation.leaves[::2])
    >>> fit = AdaptiveLearner().fit(simulation.features, simulation.leaves, prior=prior, seed=0)
    >>> fit.criterion
    'held-out leaves'
    >>> robinson_foulds(fit.tree(), simulation.truth) < 0.2
    True
    """

    name: ClassVar[str] = "adaptive"
    fit_type: ClassVar[type[Fit]] = AdaptiveFit

    best: int = 6
    bag: int = 30
    folds: int = 5
    repeats: int = 2
    workers: int | None = field(default=1, compare=False)

    def __post_init__(self) -> None:
        check_count(self.best, "best", 1)
        check_count(self.bag, "bag", 1)
        check_count(self.folds, "folds", 2)
        check_count(self.repeats, "repeats", 1)
        check_workers(self.workers, None)

    def fit(
        self,
        X: FeatureMatrix,
        leaves: Sequence[str] | None = None,
        *,
        prior: Tree | Sequence[Tree] | None = None,
        seed: int | np.random.Generator | None = None,
        monitor: Monitor | None = None,
    ) -> AdaptiveFit:
        """Choose, and bag.

        Parameters
        ----------
        X
            float[n, g], one row a taxon: an array, a sparse matrix or a DataFrame, all values finite. Constant features
            are passed over.
        leaves
            The n names of the rows; a DataFrame brings them as its index.
        prior
            What is known; trees of the fit display it unless ``honor_prior=False``.
        seed
            Of folds, halves and bags; drawn and recorded if omitted.
        monitor
            Not used.
        """
        checked = _checked(X, leaves)
        trees = check_priors(prior, checked.leaves)
        provenance = provenance_of(self.name, self._settings(), seed=seed, features=checked)
        varied = np.ptp(checked.values, axis=0) > 0
        if not varied.all():
            _log.warning(
                "%d of %d features are the same in all leaves and are passed over.", (~varied).sum(), len(varied)
            )
        with threadpool_limits(1, "blas"):  # sums in the same order, and so the same bytes, wherever it runs
            choice = choose(
                checked.values[:, varied_features(checked.values)],
                checked.leaves,
                trees,
                n_best=self.best,
                folds=self.folds,
                repeats=self.repeats,
                generator=np.random.default_rng([provenance.seed, 1]),
                workers=self.workers,
            )
            _log.info("Chosen by %s: %s.", choice.criterion, choice.members)
            return self._bagged(checked, trees, provenance, choice)

    def fit_as(
        self, fit: AdaptiveFit, X: FeatureMatrix, *, seed: int | np.random.Generator | None = None
    ) -> AdaptiveFit:
        """Fit to other features of the leaves of a fit, with its candidates, builder and prior instead of a choice."""
        checked = _checked(X, fit.leaves)
        provenance = provenance_of(self.name, self._settings(), seed=seed, features=checked)
        with threadpool_limits(1, "blas"):
            return self._bagged(checked, fit.prior, provenance, Choice(fit.members, "kept", ()))

    def _settings(self) -> dict[str, int]:
        return {name: value for name, value in asdict(self).items() if name != "workers"}

    def _bagged(
        self, checked: CheckedFeatures, prior: tuple[Tree, ...], provenance: Provenance, choice: Choice
    ) -> AdaptiveFit:
        varied = varied_features(checked.values)
        values, leaves = checked.values[:, varied], checked.leaves
        chosen = [member.candidate for member in choice.members]
        weighted = list(dict.fromkeys(row.scale for row in chosen if row.weighting == "heritable"))
        on_scale: dict[str, Heritability] = {}
        for scale in dict.fromkeys([*weighted, chosen[0].scale]):
            on_scale[scale] = heritability_on_scale(rescale(scale, values, values), leaves, prior, provenance.seed)
        bag = Bag(
            fitted=values,
            leaves=leaves,
            known=prior,
            members=choice.members,
            heritability=on_scale,
            size=self.bag,
            seed=provenance.seed,
        )
        paths = mean_paths(bag_trees(bag, prior, workers=self.workers))
        scores, gates = np.zeros(len(varied)), np.zeros(len(varied))
        scores[varied], gates[varied] = on_scale[chosen[0].scale]
        scale_weights = np.zeros((len(weighted), len(varied)))
        for i, scale in enumerate(weighted):
            scale_weights[i, varied] = on_scale[scale].weights
        return AdaptiveFit(
            leaves=leaves,
            feature_names=checked.names,
            prior=prior,
            builder=choice.members[0].builder,
            provenance=provenance,
            features=checked.values,
            paths=paths,
            weights=scores,
            gates=gates,
            weighted_scales=weighted,
            scale_weights=scale_weights,
            chosen=[{**vars(member.candidate), "builder": member.builder} for member in choice.members],
            criterion=choice.criterion,
            candidates=choice.table,
        )


def _checked(X: FeatureMatrix, leaves: Sequence[str] | None) -> CheckedFeatures:
    checked = check_features(X, leaves)
    largest = float(np.abs(checked.values).max(initial=0.0))
    if largest and not 1 / _LARGEST <= largest <= _LARGEST:
        raise ValueError(
            f"The largest of the features is {largest:g} in size, and squares of such numbers cannot be computed with. "
            "Multiply all features by a factor that brings them near 1."
        )
    return checked
