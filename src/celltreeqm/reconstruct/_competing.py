"""``competing_signals``: do the features tell of one tree, or of several that contradict each other?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from ..learners._features import FeatureMatrix, check_features
from ..learners._settings import check_count
from ..learners.heritable._fit import standardized
from ..learners.heritable._folds import Build, Folds, fold_features, weighted_distances
from ..learners.heritable._likelihood import LAMBDAS
from ..seeds import Seed, recorded_seed
from ..trees import Tree, check_priors, neighbor_joining, quartet_agreement

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Alternative", "CompetingSignals", "competing_signals"]

_DECISIVE = 3.0  # nats, a likelihood ratio of 20
_FEWEST, _SMALLEST_SHARE = 5, 0.1
_CLUSTERS = 5
_MOST_FOR_STARTS = 3000
_FOLDS, _ITERATIONS = 5, 12
_FEWEST_LEAVES = 8


@dataclass(frozen=True, eq=False)
class Alternative:
    """One tree that features tell of.

    Parameters
    ----------
    tree
        Neighbour joining on the features that support it, without the prior.
    share
        float, their share of all features that follow any tree.
    features
        bool[g], the features that it explains better than any other tree or none, a likelihood ratio of 20 or more.
    dimensions
        float, as how many independent features these move (the participation ratio of their correlations).
    agreement
        float, the share of the known quartets that it has (1/3 by chance); NaN without a prior.
    """

    tree: Tree
    share: float
    features: NDArray[np.bool_]
    dimensions: float
    agreement: float


@dataclass(frozen=True, eq=False, repr=False)
class CompetingSignals:
    """The trees that features tell of, and which features of which.

    Parameters
    ----------
    alternatives
        The trees, the one with the most features first; one alone where the features agree, none where they tell of no
        tree.
    membership
        float[g, k + 1], the probability that each feature follows no tree (first column), or each alternative.
    gain
        float, by how many nats the features, each on trees that it had no part in, are more likely under all
        alternatives than under one tree.
    seed
        Of the folds.
    """

    alternatives: tuple[Alternative, ...]
    membership: NDArray[np.float64]
    gain: float
    seed: int

    @property
    def competing(self) -> bool:
        """Whether there is more than one tree."""
        return len(self.alternatives) > 1

    @property
    def agrees(self) -> int | None:
        """The number of the alternative that alone has most of the known quartets; None if no or several do."""
        which = [i for i, one in enumerate(self.alternatives) if one.agreement > 0.5]
        return which[0] if len(which) == 1 else None

    @property
    def uncontested(self) -> NDArray[np.bool_]:
        """bool[g], the features that are likelier to follow the tree that agrees with the prior, or none, than another.

        All where no tree or several agree. A learner that gets these alone is not led astray by the others.
        """
        kept = np.ones(len(self.membership), dtype=bool)
        if self.agrees is not None:
            others = np.delete(self.membership, [0, 1 + self.agrees], axis=1)
            kept = others.sum(axis=1) < 0.5
        return kept

    @property
    def table(self) -> pd.DataFrame:
        """A row for each alternative: ``features``, ``share``, ``dimensions``, ``agreement``, ``agrees``."""
        import pandas as pd

        rows = [
            (int(one.features.sum()), one.share, one.dimensions, one.agreement, i == self.agrees)
            for i, one in enumerate(self.alternatives)
        ]
        return pd.DataFrame(rows, columns=["features", "share", "dimensions", "agreement", "agrees"])

    @property
    def message(self) -> str:
        """What was found, in plain words."""
        if not self.alternatives:
            return "The features tell of no tree."
        if not self.competing:
            return "The features that follow a tree follow one: no competing tree was found."
        shares = " and ".join(
            f"{one.share:.0%} ({one.features.sum()} features that move as about {one.dimensions:.0f})"
            for one in self.alternatives
        )
        said = (
            f"The features tell of {len(self.alternatives)} trees that contradict each other; of those that follow any "
            f"they have {shares}. Batch, cell cycle, cell type or a module of genes make trees too, mostly of features "
            "that move as few."
        )
        if all(np.isnan(one.agreement) for one in self.alternatives):
            return f"{said} Without a prior nothing says which of them is the lineage."
        having = ", ".join(f"{one.agreement:.0%}" for one in self.alternatives)
        if self.agrees is None:
            return f"{said} The prior does not decide between them: they have {having} of the known quartets."
        return f"{said} The prior agrees with number {self.agrees + 1}: they have {having} of the known quartets."

    def __repr__(self) -> str:
        return f"CompetingSignals({self.message})"


def competing_signals(
    X: FeatureMatrix,
    leaves: Sequence[str] | None = None,
    *,
    prior: Tree | Sequence[Tree] | None = None,
    most: int = 3,
    seed: Seed = None,
) -> CompetingSignals:
    r"""Cluster the features by the trees they support, and report the trees that contradict each other.

    A mixture of trees. With :math:`e_{fk}` the log-likelihood of feature f on tree k, averaged over heritabilities
    above 0 and relative to heritability 0 (:func:`heritability_likelihoods`), a feature follows tree k with probability

    .. math:: r_{fk} = \frac{\pi_k \exp e_{fk}}{\pi_0 + \sum_l \pi_l \exp e_{fl}},

    and tree k is built from the features weighted by :math:`r_{fk}` times their heritability on it. These two steps are
    repeated from several starts, clusters of features that correlate with each other against the rest, and a feature is
    only judged on trees built without it (features are cut into five folds). Trees are added one by one, up to
    ``most``. They contradict each other, and are reported, if every tree wins (is 20 times likelier than any other and
    than none for) five features and a tenth of all that follow any, if the features that one wins mostly do not follow
    the others (in the median not 20 times likelier on them than on none), and if another tree makes the features more
    likely by more than 3 nats for each that the smallest wins. The prior has no part in this; it only says which tree
    agrees with it.

    A module of genes that follows the lineage as one gene would is one observation of it, and a tree of its own if
    large: ``dimensions`` tells it from a tree that many independent features carry. Features of very few dimensions in
    all cannot be told apart.

    Parameters
    ----------
    X
        float[n, g], one row a taxon. Neither order of the rows nor scale of a feature matters.
    leaves
        The n names of the rows, eight or more; a DataFrame brings them as its index.
    prior
        What is known.
    most
        How many trees at most.
    seed
        Of the folds; drawn and recorded if omitted.

    Examples
    --------
    >>> from celltreeqm.simulate import simulate_scenario
    >>> simulation = simulate_scenario("competing", leaves=32, seed=0)
    >>> known = simulation.truth.restrict(simulation.leaves[::3])
    >>> found = competing_signals(simulation.features, simulation.leaves, prior=known, seed=0)
    >>> len(found.alternatives), bool(found.alternatives[found.agrees].features[simulation.signal].mean() > 0.8)
    (2, True)
    """
    checked = check_features(X, leaves)
    priors = check_priors(prior, checked.leaves)
    check_count(most, "most", 1)
    if len(checked.leaves) < _FEWEST_LEAVES:
        raise ValueError(
            f"{len(checked.leaves)} leaves came; trees that contradict each other can be told apart with "
            f"{_FEWEST_LEAVES} or more."
        )
    number = recorded_seed(seed)
    names = tuple(sorted(checked.leaves))
    row = {name: i for i, name in enumerate(checked.leaves)}
    values = checked.values[[row[name] for name in names]]
    g = values.shape[1]
    varied = np.ptp(values, axis=0) > 0
    membership = np.zeros((g, 1))
    membership[:, 0] = 1.0
    if varied.sum() < 2 * _FEWEST:
        return CompetingSignals((), membership, 0.0, number)
    with threadpool_limits(1, "blas"):  # sums in the same order, and so the same bytes, wherever it runs
        values = standardized(values[:, varied])
        best, gain = _grow(values, partial(neighbor_joining, leaves=names), most, np.random.default_rng(number))
        trees = [neighbor_joining(weighted_distances(values, weights), names) for weights in best.weights.T]
    follow = float(best.membership[:, 1:].sum())
    if best.won.sum() < _FEWEST:
        return CompetingSignals((), membership, 0.0, number)
    shares = best.membership[:, 1:].sum(axis=0) / follow
    order = np.argsort(-shares, kind="stable")
    membership = np.zeros((g, len(order) + 1))
    membership[:, 0] = 1.0
    membership[varied] = best.membership[:, [0, *(1 + order)]]
    alternatives = []
    for k in order.tolist():
        wins = np.zeros(g, dtype=bool)
        wins[varied] = best.won[:, k]
        tree = trees[k].reorder(checked.leaves)
        mine = values[:, best.won[:, k]]
        dimensions = float(np.trace(mine.T @ mine) ** 2 / ((mine.T @ mine) ** 2).sum()) if mine.size else 0.0
        alternatives.append(Alternative(tree, float(shares[k]), wins, dimensions, _agreement(tree, priors)))
    return CompetingSignals(tuple(alternatives), membership, gain, number)


class _Mixture(NamedTuple):
    weights: NDArray[np.float64]  # float[g, k]
    membership: NDArray[np.float64]  # float[g, k + 1]
    won: NDArray[np.bool_]  # bool[g, k], decisively better than all other trees and none
    likelihood: float
    evidence: NDArray[np.float64]  # float[g, k], of each feature on each tree


def _grow(
    features: NDArray[np.float64], build: Build, most: int, generator: np.random.Generator
) -> tuple[_Mixture, float]:
    """The mixture of the most trees that count, and what all but the first gain."""
    folds = Folds(features, fold_features(features, _FOLDS, 1, generator))
    clusters = _clusters(features, _CLUSTERS)
    best = first = _mixture(folds, np.ones((features.shape[1], 1)), build)
    while best.weights.shape[1] < most:
        tried = []
        for k in range(clusters.shape[1]):
            alone = clusters[:, k]
            others = best.weights * (alone == 0)[:, None]
            if alone.any() and others.any(axis=0).all():
                tried.append(_mixture(folds, np.column_stack([others, alone]), build))
        counts = [more for more in tried if _all_count(more, best.likelihood)]
        if not counts:
            break
        best = max(counts, key=lambda more: more.likelihood)
    return best, best.likelihood - first.likelihood


def _all_count(more: _Mixture, before: float) -> bool:
    """Whether every tree of a mixture has features enough of its own, which do not follow the other trees as well."""
    wins = more.won.sum(axis=0)
    if wins.min() < max(_FEWEST, _SMALLEST_SHARE * more.membership[:, 1:].sum()):
        return False
    if more.likelihood - before <= _DECISIVE * wins.min():
        return False
    for k, mine in enumerate(more.won.T):
        elsewhere = np.median(np.delete(more.evidence[mine], k, axis=1), axis=0)
        if elsewhere.max(initial=-np.inf) > _DECISIVE:
            return False
    return True


def _mixture(folds: Folds, weights: NDArray[np.float64], build: Build) -> _Mixture:
    """Trees from features and features' trees in turn."""
    g, k = weights.shape
    shares = np.full(k + 1, 1 / (k + 1))
    for _ in range(_ITERATIONS):
        evidence, heritability = np.zeros((g, k)), np.zeros((g, k))
        for tree in range(k):
            likelihoods, _ = folds.cross_fit(weights[:, tree], build)
            evidence[:, tree], heritability[:, tree] = _evidence(likelihoods)
        told = np.column_stack([np.zeros(g), evidence])
        for _ in range(20):
            joint = told + np.log(shares)
            peak = joint.max(axis=1, keepdims=True)
            membership = np.exp(joint - peak)
            total = membership.sum(axis=1, keepdims=True)
            membership /= total
            shares = (membership.sum(axis=0) + 1) / (g + k + 1)
        before, weights = weights, membership[:, 1:] * heritability
        if np.abs(weights - before).sum() <= 0.02 * before.sum():
            break
    rivals = np.stack([np.delete(told, j + 1, axis=1).max(axis=1) for j in range(k)], axis=1)
    return _Mixture(weights, membership, evidence - rivals > _DECISIVE, float((peak + np.log(total)).sum()), evidence)


def _evidence(likelihoods: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Log-likelihood averaged over heritabilities above 0, relative to 0, and the posterior mean of these."""
    relative = likelihoods[:, 1:] - likelihoods[:, :1]
    peak = relative.max(axis=1, keepdims=True)
    odds = np.exp(relative - peak)
    evidence = peak[:, 0] + np.log(odds.mean(axis=1))
    return evidence, odds @ LAMBDAS[1:] / odds.sum(axis=1)


def _clusters(features: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """float[g, count], weights of features in clusters of those that correlate; each feature is in one at most.

    Features of one tree have squared correlations above those of independent ones. Clusters are directions among the
    leading eigenvectors of the matrix of these, the first the longest feature's, each next one's that of the longest
    feature far from all before; then features and directions are improved in turn (k-means on a sphere).
    """
    n, g = features.shape
    chosen = np.arange(g)
    if g > _MOST_FOR_STARTS:
        size = ((features * ((features @ features.T) @ features)).sum(axis=0)) if n else np.zeros(g)
        chosen = np.sort(np.argsort(-size, kind="stable")[:_MOST_FOR_STARTS])
    some = features[:, chosen]
    agreement = (some.T @ some) ** 2 - n**2 / (n - 1)
    np.fill_diagonal(agreement, 0.0)
    values, vectors = np.linalg.eigh(agreement)
    points = vectors[:, -count:] * np.sqrt(np.maximum(values[-count:], 0.0))
    length = np.sqrt((points**2).sum(axis=1))
    unit = points / np.where(length > 0, length, 1.0)[:, None]
    picked = [int(length.argmax())]
    while len(picked) < min(count, len(chosen)):
        picked.append(int((length * (1 - np.abs(unit @ unit[picked].T).max(axis=1))).argmax()))
    centres = unit[picked]
    for _ in range(30):
        nearest = np.abs(unit @ centres.T).argmax(axis=1)
        for k in range(len(centres)):
            if (nearest == k).any():
                centres[k] = np.linalg.svd(points[nearest == k], full_matrices=False)[2][0]
    out = np.zeros((g, len(centres)))
    out[chosen, nearest] = length / (length.max() or 1.0)
    return out


def _agreement(tree: Tree, priors: Sequence[Tree]) -> float:
    same = known = 0
    for prior in priors:
        seen = quartet_agreement(tree.restrict(prior.leaves), prior)
        same += seen.same
        known += seen.same + seen.different + seen.only_second
    return same / known if known else float("nan")
