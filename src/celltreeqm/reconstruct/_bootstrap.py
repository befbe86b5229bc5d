"""The bootstrap: trees of resampled features, with what was chosen kept, for support that can be counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..learners import Fit
from ..learners._features import FeatureMatrix
from ..parallel import check_workers, parallel_map
from ..seeds import Seed, recorded_seed
from ..trees import Tree, with_support
from ..trees._tree_checks import count_of
from ._growing import READINGS, Grower, Grown, grower_of

__all__ = ["Bootstrap", "Cells", "bootstrap_trees", "checked_modules", "drawn_columns"]

Cells: TypeAlias = Callable[[np.random.Generator], FeatureMatrix] | Sequence[FeatureMatrix]


@dataclass(frozen=True)
class Bootstrap:
    """The trees of a bootstrap, all unrooted and on the leaves of the fit.

    Parameters
    ----------
    trees
        One a resample.
    readings
        For each of the plain readings "direct", "standardized" and "correlation" its trees of the same resamples.
    seed
        Of the resamples.
    resampled
        What was: "features", "modules", "features and cells" or "modules and cells".
    """

    trees: tuple[Tree, ...]
    readings: tuple[tuple[Tree, ...], ...]
    seed: int
    resampled: str

    def support(self, tree: Tree) -> Tree:
        """The tree with the share of resamples that have each of its splits, wherever its root is."""
        return with_support(tree, self.trees)

    def reading_support(self, tree: Tree) -> NDArray[np.float64]:
        """float[3, m], the support of the edge above each node by the plain readings of the features."""
        supports = [with_support(tree, trees).support for trees in self.readings]
        return np.array(supports, dtype=np.float64)


def bootstrap_trees(
    fit: Fit,
    X: FeatureMatrix,
    *,
    n: int = 100,
    seed: Seed = None,
    workers: int | None = 1,
    cells: Cells | None = None,
    modules: ArrayLike | None = None,
    honor_prior: bool = True,
) -> Bootstrap:
    """Trees of resampled features under the fit's prior, with what the fit has chosen kept and all else learned anew.

    Weights, ridge regression, distances and tree are made of each resample from the beginning. Scale, distance and
    builder are not chosen again. Weights of features are learned from one start in a few iterations. An adaptive fit
    averages over its candidates in each resample, not over a bag as well, which makes its bootstrap trees vary a
    little more than its tree does. A quartet fit bootstraps the columns of its embedding.

    Parameters
    ----------
    fit
        The fit.
    X
        float[n, g], the features that it was fitted on.
    n
        How many resamples.
    seed
        Of the draws; drawn and recorded if omitted.
    workers
        Processes, or None for one a processor. The trees are the same for any number.
    cells
        To resample the cells within taxa too: a function of a random generator (importable, where there are several
        workers) that returns the features of one resample of cells, or a sequence of ``n`` such matrices.
    modules
        int[g], modules of features that are drawn whole (:func:`gene_modules`): correlated features are not
        independent, and drawn one by one they make too much support.
    honor_prior
        Whether the trees display the prior. It is learned from in any case.

    Examples
    --------
    >>> from celltreeqm.learners import DirectLearner
    >>> fit = DirectLearner().fit([[0.0], [1.0], [5.0], [7.0]], ["a", "b", "c", "d"], seed=0)
    >>> bootstrap_trees(fit, [[0.0], [1.0], [5.0], [7.0]], n=10, seed=0).support(fit.tree()).support[4:]
    array([ 1., nan])
    """
    values = fit.new_features(X)
    if len(values) != len(fit.leaves):
        raise ValueError(
            f"The features have {len(values)} rows and the fit has {len(fit.leaves)} leaves; the rows must be the "
            "leaves that it was fitted on, in the same order."
        )
    if isinstance(n, bool) or not isinstance(n, Integral) or n < 1:
        raise ValueError(f"n={n!r} was given; a whole number of resamples, 1 or more, was needed.")
    check_workers(workers, None)
    of_feature = checked_modules(modules, values.shape[1])
    matrices = None
    if cells is not None and not callable(cells):
        if len(cells) != n:
            raise ValueError(
                f"cells has {count_of(len(cells), 'matrix', 'matrices')} for n={n} resamples; one for each was needed. "
                "Or pass a function of a random generator."
            )
        matrices = [_like(values, fit.new_features(matrix)) for matrix in cells]
    number = recorded_seed(seed)
    items = list(enumerate(np.random.SeedSequence(number).spawn(int(n))))
    run = partial(
        _grow_resample,
        grower=grower_of(fit, honors=honor_prior),
        values=values,
        modules=of_feature,
        draw=cells if callable(cells) else None,
        matrices=matrices,
    )
    grown = parallel_map(run, items, workers=workers)
    what = "features" if of_feature is None else "modules"
    return Bootstrap(
        trees=tuple(one.own for one in grown),
        readings=tuple(tuple(one.readings[i] for one in grown) for i in range(len(READINGS))),
        seed=number,
        resampled=what if cells is None else f"{what} and cells",
    )


def drawn_columns(g: int, modules: NDArray[np.int64] | None, generator: np.random.Generator) -> NDArray[np.int64]:
    """The columns of a resample: g of g with replacement, or as many modules as there are, each whole."""
    if modules is None:
        return generator.integers(g, size=g)
    count = int(modules.max()) + 1
    members = np.split(np.argsort(modules, kind="stable"), np.cumsum(np.bincount(modules, minlength=count))[:-1])
    return np.concatenate([members[i] for i in generator.integers(count, size=count).tolist()])


def checked_modules(modules: ArrayLike | None, g: int) -> NDArray[np.int64] | None:
    """int[g], modules numbered from 0, or a sentence that says what is wrong with them."""
    if modules is None:
        return None
    given = np.asarray(modules)
    if given.shape != (g,):
        raise ValueError(f"modules has shape {given.shape} for {g} features; one module a feature was needed.")
    return np.asarray(np.unique(given, return_inverse=True)[1], dtype=np.int64)


def _grow_resample(
    item: tuple[int, np.random.SeedSequence],
    *,
    grower: Grower,
    values: NDArray[np.float64],
    modules: NDArray[np.int64] | None,
    draw: Callable[[np.random.Generator], FeatureMatrix] | None,
    matrices: list[NDArray[np.float64]] | None,
) -> Grown:
    number, sequence = item
    generator = np.random.default_rng(sequence)
    columns = drawn_columns(values.shape[1], modules, generator)
    if draw is not None:
        values = _like(values, grower.fit.new_features(draw(generator)))
    elif matrices is not None:
        values = matrices[number]
    return grower.grow(np.ascontiguousarray(values[:, columns]), int(generator.integers(2**32)))


def _like(values: NDArray[np.float64], new: NDArray[np.float64]) -> NDArray[np.float64]:
    if new.shape != values.shape:
        raise ValueError(
            f"A resample of cells gave features of {new.shape[0]} taxa and the fit has {values.shape[0]} leaves; a row "
            "for each, in the same order, was needed."
        )
    return new
