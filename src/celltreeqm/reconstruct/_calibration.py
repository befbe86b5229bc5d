"""Calibrated support: what share of clades with such support is true, learned from labels where there are enough."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..learners import Fit
from ..learners._features import FeatureMatrix
from ..learners.adaptive._measure import labelled_trees
from ..parallel import check_workers
from ..seeds import Seed, recorded_seed
from ..trees import Tree
from ..trees._splits import split_hashes
from ..trees._tree_checks import check_tree
from ._bootstrap import Bootstrap, checked_modules
from ._correction import PENALTIES, Correction, cross_validated_loss, learn_correction, log_loss
from ._edge_table import describe_edges
from ._hidden_labels import JudgedClades, rerun_with_hidden_labels

__all__ = ["HIDDEN_SHARES", "Calibration", "calibrate_support"]

Basis: TypeAlias = Literal["labels", "nothing"]

# Little hidden is most like the real run in how much is known, much hidden in how large the share of unknown leaves is.
HIDDEN_SHARES = (0.15, 0.3, 0.5)
_FEWEST_CLADES = 40

# From benchmarks/support.py, with nothing known: epic190, tedsim l1, the scenarios batch and unsupervised. On
# independent features that follow the lineage raw support is too low, with batches among them far too high. A
# correction learned on all scenarios but one did worse than raw support on that one, so none is applied.
_WITHOUT_LABELS = (
    "Support is the raw share of resamples, and without a resolved tree of some leaves it cannot be checked; it is "
    "usually over-confident. Of clades above .9, .90 were true on a measured embryo, .68 on simulated cells that "
    "change their states, and in simulations from .24, where batches make trees of their own, to .99, where all that "
    "features share is lineage."
)


@dataclass(frozen=True)
class Calibration:
    """How support becomes the probability that a clade is true, and what that rests on.

    Parameters
    ----------
    basis
        "labels": a correction learned from clades of labelled leaves; "nothing": raw support is kept.
    correction
        The correction, None where raw support is kept.
    n_clades, fraction_true
        How many clades of labelled leaves were judged, and the share that was true; 0 and NaN without labels.
    raw_loss, corrected_loss
        Their mean log loss (minus the log probability of the truth) by raw support and, in cross-validation over runs,
        by the correction; NaN without.
    message
        What a reader has to know of the support, in a sentence or two.
    seed
        Of the runs.
    """

    basis: Basis
    correction: Correction | None
    n_clades: int
    fraction_true: float
    raw_loss: float
    corrected_loss: float
    message: str
    seed: int

    def support(self, tree: Tree, bootstrap: Bootstrap, prior: Tree | tuple[Tree, ...] | list[Tree] | None) -> Tree:
        """The tree with calibrated support on each internal edge; edges that the prior gives keep theirs, which is 1.

        Parameters
        ----------
        tree
            The tree to put support on.
        bootstrap
            Its bootstrap trees, and those by plain readings.
        prior
            What the tree was built under.
        """
        check_tree(tree)
        out = bootstrap.support(tree)
        if self.correction is None or out.support is None:
            return out
        priors = (prior,) if isinstance(prior, Tree) else tuple(prior or ())
        edges = describe_edges(tree, bootstrap.trees, bootstrap.readings, priors)
        keys = split_hashes(tree)
        told = dict(
            zip(map(tuple, keys[edges.nodes].tolist()), self.correction(edges.description).tolist(), strict=True)
        )
        support = out.support.copy()
        for node, key in enumerate(map(tuple, keys.tolist())):
            if key in told and math.isfinite(support[node]):
                support[node] = told[key]
        return replace(out, support=support)


def calibrate_support(
    fit: Fit,
    X: FeatureMatrix,
    *,
    runs: int = 9,
    resamples: int = 30,
    seed: Seed = None,
    workers: int | None = 1,
    modules: ArrayLike | None = None,
) -> Calibration:
    """Learn what bootstrap support is worth.

    Where the prior has a resolved tree of eight leaves or more, the labels of some of its leaves are hidden, in several
    runs, and the tree of the labelled leaves is made again under what is left, with bootstrap and all. There it is
    known which clades are true. A logistic model, held to raw support by a ridge penalty, learns the probability that
    a clade is true from its support by the fit and by plain readings of the features, their spread, the number of known
    and unknown leaves in it and its relative edge length. Raw support is kept where fewer
    than 40 clades could be judged, or where the model does not predict the clades of left-out runs better, by more than
    a standard error.

    Without labels raw support is kept and the message says how far it was from the truth elsewhere: corrections learned
    from simulations did not hold in others, as what support is worth depends on how much that is not lineage the
    features share. Modules drawn whole help (:func:`gene_modules`).

    Parameters
    ----------
    fit
        The fit.
    X
        float[n, g], the features that it was fitted on.
    runs, resamples
        How often labels are hidden, and the bootstrap resamples in each run.
    seed
        Of hiding and resampling; drawn and recorded if omitted.
    workers
        Processes, or None for one a processor. The result is the same for any number.
    modules
        int[g], as in the bootstrap whose support is to be calibrated.
    """
    values = fit.new_features(X)
    if len(values) != len(fit.leaves):
        raise ValueError(
            f"The features have {len(values)} rows and the fit has {len(fit.leaves)} leaves; the rows must be the "
            "leaves that it was fitted on, in the same order."
        )
    for name, count, least in (("runs", runs, 2), ("resamples", resamples, 5)):
        if isinstance(count, bool) or not isinstance(count, Integral) or count < least:
            raise ValueError(f"{name}={count!r} was given; a whole number of {least} or more was needed.")
    check_workers(workers, None)
    of_feature = checked_modules(modules, values.shape[1])
    number = recorded_seed(seed)
    if not labelled_trees(fit.prior):
        return Calibration("nothing", None, 0, math.nan, math.nan, math.nan, _WITHOUT_LABELS, number)
    judged = rerun_with_hidden_labels(
        fit,
        values,
        runs=runs,
        resamples=resamples,
        shares=HIDDEN_SHARES,
        seed=number,
        modules=of_feature,
        workers=workers,
    )
    return learn_calibration(judged, number)


def learn_calibration(judged: JudgedClades, seed: int) -> Calibration:
    """The calibration that judged clades speak for."""
    n = len(judged.true)
    share = float(judged.true.mean()) if n else math.nan
    if n < _FEWEST_CLADES or len(np.unique(judged.run)) < 2:
        return Calibration(
            "nothing",
            None,
            n,
            share,
            math.nan,
            math.nan,
            f"Support is the raw share of resamples: only {n} clades of labelled leaves could be judged, and "
            f"{_FEWEST_CLADES} are needed to calibrate it. Raw support is usually over-confident.",
            seed,
        )
    raw = log_loss(1 / (1 + np.exp(-judged.description[:, 0])), judged.true)
    by_penalty = {
        penalty: cross_validated_loss(judged.description, judged.true, judged.run, penalty) for penalty in PENALTIES
    }
    best = min(PENALTIES, key=lambda penalty: (by_penalty[penalty].mean(), -penalty))
    gains = np.array([(raw - by_penalty[best])[judged.run == run].mean() for run in np.unique(judged.run)])
    losses = float(raw.mean()), float(by_penalty[best].mean())
    above = judged.raw >= 0.9
    held = (
        f" Of {int(above.sum())} with raw support of .9 or more {judged.true[above].mean():.2f} were true."
        if above.any()
        else ""
    )
    if gains.mean() <= gains.std(ddof=1) / math.sqrt(len(gains)):
        return Calibration(
            "nothing",
            None,
            n,
            share,
            *losses,
            f"Support is the raw share of resamples: on {n} clades of labelled leaves whose labels were hidden, a "
            f"calibration was no better than it (log loss {losses[1]:.3f} against {losses[0]:.3f}).{held}",
            seed,
        )
    return Calibration(
        "labels",
        learn_correction(judged.description, judged.true, best),
        n,
        share,
        *losses,
        f"Support is calibrated: it is the estimated probability that a clade is true, learned from {n} clades of "
        f"labelled leaves whose labels were hidden (log loss {losses[1]:.3f}, by raw support {losses[0]:.3f}).{held}",
        seed,
    )
