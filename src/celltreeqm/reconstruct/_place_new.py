"""``place_new_leaves``: new taxa or cells on a finished tree, with the edges that may be theirs and their weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from ..learners import AdaptiveFit, Fit, HeritableFit
from ..learners._features import FeatureMatrix, own_row_names
from ..trees import Placements, Tree, find_placements, fit_branch_lengths
from ..trees._matrices import check_distances
from ..trees._tree_checks import check_tree, count_of, some_names
from ._lineage_null import heritable_weights

if TYPE_CHECKING:
    import pandas as pd

DistancesTo: TypeAlias = Callable[
    [NDArray[np.int64], NDArray[np.int64], Tree], tuple[NDArray[np.float64], NDArray[np.float64]]
]

__all__ = ["NewLeaves", "Placer", "place_new_leaves", "prepare_placement"]

_FEWEST_LEAVES = 8
_FOLDS, _MOST_LEFT_OUT = 10, 50  # leaves of a fold at most
_MISFIT = 0.01
_FLOOR = 1e-9  # of the sum of squared distances


@dataclass(frozen=True, eq=False, repr=False)
class NewLeaves:
    """Where new leaves go on a tree, and how surely.

    Parameters
    ----------
    placements
        The best edge of each, with position and pendant length (see :class:`Placements`).
    weights
        float[q, m - 1], for each new leaf the probability of each edge, by the node below it.
    nearby
        float[q], the probability of the best edge and those that share a node with it.
    misfit
        float[q], the share of the tree's own leaves that are, when left out, as far from the tree or farther (in
        squared residual and pendant length together); 0 where the leaf is like nothing on the tree.
    """

    placements: Placements
    weights: NDArray[np.float64]
    nearby: NDArray[np.float64]
    misfit: NDArray[np.float64]

    @property
    def names(self) -> tuple[str, ...]:
        """The q names of the new leaves."""
        return self.placements.names

    @property
    def weight(self) -> NDArray[np.float64]:
        """float[q], the probability of each leaf's best edge."""
        return np.asarray(self.weights[np.arange(len(self.names)), self.placements.edge])

    @property
    def unstable(self) -> tuple[str, ...]:
        """The leaves that may as well be elsewhere: at most half of the weight is on the best edge and its neighbours.

        Those that are farther from the tree than all but a hundredth of its own leaves are among them.
        """
        shaky = (self.nearby <= 0.5) | (self.misfit < _MISFIT)
        return tuple(name for name, is_so in zip(self.names, shaky.tolist(), strict=True) if is_so)

    def candidates(self, name: str, *, weight: float = 0.95) -> pd.DataFrame:
        """The likeliest edges of a leaf, down to a total weight: ``edge``, ``weight`` and ``below``, the leaves there.

        ``below`` is on the side of the edge away from the root.
        """
        import pandas as pd

        if name not in self.names:
            raise ValueError(f"{name!r} is none of the new leaves; they are {some_names(self.names)}.")
        own = self.weights[self.names.index(name)]
        order = np.argsort(-own, kind="stable")
        kept = order[: int(np.searchsorted(np.cumsum(own[order]), weight)) + 1]
        below = [self.placements.backbone.leaves_below(int(edge)) for edge in kept]
        return pd.DataFrame({"edge": kept, "weight": own[kept], "below": below})

    @property
    def table(self) -> pd.DataFrame:
        """A row for each new leaf: ``edge``, ``weight``, ``nearby``, ``misfit``, ``unstable``."""
        import pandas as pd

        columns = {
            "edge": self.placements.edge,
            "weight": self.weight,
            "nearby": self.nearby,
            "misfit": self.misfit,
            "unstable": [name in set(self.unstable) for name in self.names],
        }
        return pd.DataFrame(columns, index=list(self.names))

    @property
    def message(self) -> str:
        """What is to be believed, in plain words."""
        shaky = self.unstable
        if not shaky:
            return f"{count_of(len(self.names), 'new leaf has', 'new leaves have')} been placed, none unstably."
        return (
            f"{len(shaky)} of {count_of(len(self.names), 'new leaf', 'new leaves')} may as well be elsewhere on the "
            f"tree, or fit nowhere: {some_names(shaky, 10)}. Look at their candidates before relying on them."
        )

    def tree(self) -> Tree:
        """The tree with each new leaf on its best edge; its own branches as long as the features have them."""
        return self.placements.tree()

    def __repr__(self) -> str:
        return f"NewLeaves({self.message})"


@dataclass(frozen=True, eq=False, repr=False)
class Placer:
    """A tree that has been prepared for :func:`place_new_leaves`: single leaves in about a millisecond.

    Parameters
    ----------
    backbone
        The tree, with lengths fitted to the distances between its leaves.
    sharpness
        How fast weights fall with the residual, learned from the tree's own leaves.
    strangeness
        float[k], of these when left out, ascending: mean squared residual and squared pendant length together.
    fit
        The fit that turns features into distances, or None where distances are given.
    """

    backbone: Tree
    sharpness: float
    strangeness: NDArray[np.float64]
    fit: Fit | None

    def place(self, X_new: FeatureMatrix, names: Sequence[str] | None = None) -> NewLeaves:
        """Place new leaves, each on its own.

        Parameters
        ----------
        X_new
            float[q, g], their features; or, where the tree was prepared with distances, float[q, n], their distances to
            the leaves of the tree.
        names
            The q names; a DataFrame brings them as its index.
        """
        given = names if names is not None else own_row_names(X_new)
        if given is None:
            raise ValueError(
                "The new leaves came without names. Pass names, or a DataFrame that has them as its index."
            )
        if isinstance(given, str):
            raise TypeError(f"names is the single string {given!r}; a sequence of names was needed.")
        if self.fit is None:
            distances = np.asarray(X_new, dtype=np.float64)
        else:
            distances = cdist(self._points(X_new), self._own_points)
        found = find_placements(self.backbone, distances, given, weights="uniform")
        weights = np.exp(-self.sharpness * _gaps(_relative(found.residuals, distances)))
        weights /= weights.sum(axis=1, keepdims=True)
        parent = self.backbone.parent[:-1]
        edge, above = found.edge[:, None], parent[found.edge][:, None]
        edges = np.arange(len(parent))
        near = (edges == edge) | (parent == edge) | (edges == above) | (parent == above)
        worse = len(self.strangeness) - np.searchsorted(self.strangeness, _strangeness(found, self.backbone.n_leaves))
        return NewLeaves(found, weights, (weights * near).sum(axis=1), worse / len(self.strangeness))

    @cached_property
    def _points(self) -> Callable[[FeatureMatrix | None], NDArray[np.float64]]:
        assert self.fit is not None
        return _points_of(self.fit)

    @cached_property
    def _own_points(self) -> NDArray[np.float64]:
        assert self.fit is not None
        return self._points(None)[[self.fit.leaves.index(name) for name in self.backbone.leaves]]

    def __repr__(self) -> str:
        source = "distances" if self.fit is None else repr(self.fit)
        return f"Placer({self.backbone.n_leaves} leaves, from {source})"


def prepare_placement(tree: Tree, source: Fit | ArrayLike) -> Placer:
    r"""Prepare a finished tree for new leaves: its branch lengths, and how much a good fit says.

    The lengths are those that fit the distances between the tree's leaves best. Then the leaves of the tree are left
    out, a tenth at a time, and placed like new ones, with lengths (and heritable weights) learned anew from the others.
    With :math:`r_{ie}` the residual of leaf i on edge e and :math:`o_i` its own edge, the sharpness s of the weights

    .. math:: w_{ie} \propto \exp \Bigl( -s \sqrt{\log (r_{ie} / \min_f r_{if})} \Bigr)

    is the one that makes the own edges of the tree's leaves likeliest, :math:`\max_s \sum_i \log w_{i o_i}`; without
    the square root, leaves that fit badly everywhere would make all weights blunt. So weights are as sharp as the
    features are good at finding the leaves of this tree. Where the tree is wrong, or was built from the same features
    without a prior, they tell of this tree and not of the lineage.

    Parameters
    ----------
    tree
        The finished tree, on eight leaves or more.
    source
        The fit by which distances of new leaves are measured: features standardised over its leaves and weighted by its
        scores for the heritable and the adaptive learner, its embedding for others. Or float[n, n], distances between
        the leaves of the tree (a DataFrame may hold them in another order).
    """
    check_tree(tree)
    if tree.n_leaves < _FEWEST_LEAVES:
        raise ValueError(
            f"The tree has {count_of(tree.n_leaves, 'leaf', 'leaves')}; {_FEWEST_LEAVES} or more are needed to tell "
            "how surely new ones can be placed."
        )
    if isinstance(source, Fit):
        row = {name: i for i, name in enumerate(source.leaves)}
        missing = [name for name in tree.leaves if name not in row]
        if missing:
            raise ValueError(
                f"{count_of(len(missing), 'leaf of the tree is', 'leaves of the tree are')} not among those of the "
                f"fit: {some_names(missing)}. Restrict the tree: tree.restrict(fit.leaves)."
            )
        points = _points_of(source)(None)[[row[name] for name in tree.leaves]]
        distances = cdist(points, points)
        learned = _weighted_anew(source, [row[name] for name in tree.leaves])
    else:
        matrix, names = check_distances(source, None if hasattr(source, "columns") else tree.leaves)
        place = {name: i for i, name in enumerate(names)}
        missing = [name for name in tree.leaves if name not in place]
        if missing:
            raise ValueError(
                f"{count_of(len(missing), 'leaf of the tree has', 'leaves of the tree have')} no row in the distances: "
                f"{some_names(missing)}. Add what is missing, or restrict the tree: tree.restrict(leaves)."
            )
        rows = [place[name] for name in tree.leaves]
        distances = matrix[np.ix_(rows, rows)]
        learned = None
    backbone = fit_branch_lengths(replace(tree.collapse_unary(), support=None), distances, tree.leaves)

    def given(
        kept: NDArray[np.int64], held: NDArray[np.int64], rest: Tree
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return distances[np.ix_(kept, kept)], distances[np.ix_(held, kept)]

    with threadpool_limits(1, "blas"):
        sharpness, strangeness = _learn(backbone, learned or given)
    return Placer(backbone, sharpness, strangeness, source if isinstance(source, Fit) else None)


def place_new_leaves(
    tree: Tree, source: Fit | ArrayLike, X_new: FeatureMatrix, names: Sequence[str] | None = None
) -> NewLeaves:
    """Place new taxa or cells on a finished tree, each with candidate edges and their weights; the tree stays as it is.

    Least squares on the distances to all leaves of the tree (:func:`find_placements`); residuals become weights whose
    sharpness is learned from the tree's own leaves (:func:`prepare_placement`, which see; use its :class:`Placer` where
    leaves come one by one).

    Parameters
    ----------
    tree
        The finished tree.
    source
        The fit, or the distances between the leaves of the tree.
    X_new
        float[q, g], the features of the new leaves; with distances float[q, n], theirs to the leaves of the tree.
    names
        The q names; a DataFrame brings them as its index.

    Examples
    --------
    >>> from celltreeqm.learners import HeritableLearner
    >>> from celltreeqm.simulate import simulate_scenario
    >>> simulation = simulate_scenario("weak", leaves=32, seed=0)
    >>> backbone = simulation.truth.restrict(simulation.leaves[1:])
    >>> fit = HeritableLearner().fit(simulation.features[1:], simulation.leaves[1:], prior=backbone, seed=0)
    >>> found = place_new_leaves(backbone, fit, simulation.features[:1], ["t01"])
    >>> found.tree().unroot().same_topology(simulation.truth.unroot())
    True
    """
    return prepare_placement(tree, source).place(X_new, names)


def _points_of(fit: Fit) -> Callable[[FeatureMatrix | None], NDArray[np.float64]]:
    """What gives float[n, d], coordinates of the fit's leaves (None) or of new rows, each standing for itself alone."""
    if not isinstance(fit, HeritableFit | AdaptiveFit):
        return fit.embed
    reference = fit.features
    mean, deviation, varied = reference.mean(axis=0), reference.std(axis=0), np.ptp(reference, axis=0) > 0
    scale = np.where(varied, np.sqrt(fit.feature_scores) / np.where(varied, deviation, 1.0), 0.0)

    def points(X: FeatureMatrix | None) -> NDArray[np.float64]:
        return np.asarray(((reference if X is None else fit.new_features(X)) - mean) * scale)

    return points


def _weighted_anew(fit: Fit, rows: list[int]) -> DistancesTo | None:
    """Distances by features weighted by their heritability on what is left of the tree, for fits with such weights.

    The weights of the fit were learned with the leaves that are left out here, which would make these easy to place.
    """
    if not isinstance(fit, HeritableFit | AdaptiveFit):
        return None
    features = fit.features[rows]

    def distances_to(
        kept: NDArray[np.int64], held: NDArray[np.int64], rest: Tree
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        varied = np.ptp(features[kept], axis=0) > 0
        mean, deviation = features[kept][:, varied].mean(axis=0), features[kept][:, varied].std(axis=0)
        values = (features[:, varied] - mean) / deviation
        values *= np.sqrt(heritable_weights(values[kept], rest))
        return cdist(values[kept], values[kept]), cdist(values[held], values[kept])

    return distances_to


def _learn(tree: Tree, distances_to: DistancesTo) -> tuple[float, NDArray[np.float64]]:
    """Sharpness, and the strangeness of left-out leaves, ascending; leaves are left out in ten folds."""
    n = tree.n_leaves
    by_name = sorted(range(n), key=tree.leaves.__getitem__)
    shuffled = [by_name[i] for i in np.random.default_rng(0).permutation(n)]
    gaps, strangeness = [], []
    for fold in range(min(_FOLDS, n // 4)):
        held = np.array(shuffled[fold :: min(_FOLDS, n // 4)][:_MOST_LEFT_OUT])
        kept = np.setdiff1d(np.arange(n), shuffled[fold :: min(_FOLDS, n // 4)])
        rest = tree.restrict([tree.leaves[i] for i in kept])
        among, to = distances_to(kept, held, rest)
        found = find_placements(
            fit_branch_lengths(rest, among, rest.leaves), to, [tree.leaves[i] for i in held], weights="uniform"
        )
        own = _own_edges(tree, rest, held)
        apart = _relative(found.residuals, to)
        here = np.where(own, apart, np.inf).min(axis=1, keepdims=True)
        padded = np.concatenate([here, np.where(own, np.inf, apart)], axis=1)
        gaps.append(_gaps(padded))
        strangeness.append(_strangeness(found, len(kept)))
    widest = max(gap.shape[1] for gap in gaps)
    gap = np.concatenate([np.pad(g, ((0, 0), (0, widest - g.shape[1])), constant_values=np.inf) for g in gaps])

    def loss(log_sharpness: float) -> float:
        sharpness = np.exp(log_sharpness)
        return float((np.log(np.exp(-sharpness * gap).sum(axis=1)) + sharpness * gap[:, 0]).mean())

    found_at = minimize_scalar(loss, bounds=(np.log(1e-2), np.log(1e3)), method="bounded")
    return float(np.exp(found_at.x)), np.sort(np.concatenate(strangeness))


def _own_edges(tree: Tree, rest: Tree, held: NDArray[np.int64]) -> NDArray[np.bool_]:
    """bool[q, m - 1], on which edges of what is left of a tree the leaves that were taken off hang in the tree."""
    label = np.random.default_rng(1).integers(1, 2**63, size=tree.n_leaves).tolist()
    below = [0] * tree.n_nodes  # the exclusive or of the labels of the leaves kept below
    for name in rest.leaves:
        below[tree.index[name]] = label[tree.index[name]]
    branches: list[list[int]] = [[] for _ in range(tree.n_nodes)]
    parent = tree.parent.tolist()
    for node in range(tree.n_nodes - 1):
        if below[node]:
            below[parent[node]] ^= below[node]
            branches[parent[node]].append(below[node])
    every = below[-1]
    sides = [0] * rest.n_nodes
    for leaf, name in enumerate(rest.leaves):
        sides[leaf] = label[tree.index[name]]
    for node in range(rest.n_nodes - 1):
        sides[int(rest.parent[node])] ^= sides[node]
    split = np.array([min(side, side ^ every) for side in sides[:-1]])
    top = next(node for node in range(tree.n_nodes) if below[node] == every)
    own = np.zeros((len(held), len(split)), dtype=bool)
    for k, leaf in enumerate(held.tolist()):
        node = parent[leaf]
        while not below[node]:
            node = parent[node]
        there = top if below[node] == every else node
        around = [below[there]] + (branches[there] if len(branches[there]) > 1 else [])
        own[k] = np.isin(split, [min(side, side ^ every) for side in around if side != every])
    return own


def _relative(residuals: NDArray[np.float64], distances: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(residuals / np.maximum((distances**2).sum(axis=1, keepdims=True), np.finfo(float).tiny))


def _strangeness(found: Placements, n: int) -> NDArray[np.float64]:
    """float[q], how far from the tree a leaf is at its best place."""
    return np.asarray(found.residual / n + found.pendant**2)


def _gaps(relative: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far each edge is from a leaf's best one: the root of the difference of log residuals."""
    logs = np.log(relative + _FLOOR)
    return np.asarray(np.sqrt(logs - logs.min(axis=1, keepdims=True)))
