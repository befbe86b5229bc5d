"""``reconstruct_lineage``: the whole run, and what it says of itself."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..learners import AdaptiveLearner, DirectLearner, Fit, Learner, check_features, learner_by_name
from ..learners._features import CheckedFeatures, FeatureMatrix, feature_values, features_like
from ..learners._learner import Monitor
from ..parallel import check_workers
from ..seeds import Seed, recorded_seed
from ..trees import RootedBy, Tree, check_priors, root_by_prior
from ..trees._tree_checks import some_names
from ._bootstrap import Bootstrap, Cells, bootstrap_trees, checked_modules
from ._calibration import Calibration, calibrate_support
from ._competing import CompetingSignals, competing_signals
from ._fallback import Verdict, decide
from ._given import Given, given_edges
from ._place_new import NewLeaves, place_new_leaves
from ._prior_check import PriorCheck, check_prior
from ._rogues import LeafStability, leaf_stability
from ._signal import SignalTest, signal_test

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Reconstruction", "reconstruct_lineage"]

_log = logging.getLogger(__name__)

_FEWEST_LEAVES = 4
_FEWEST_FOR_COMPETING = 8
_STAGES = ("signal", "fit", "bootstrap", "calibration", "prior", "competing")


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Reconstruction:
    """A lineage tree, and what there is to believe of it.

    Parameters
    ----------
    tree
        The tree, rooted; its support is ``raw_support``, calibrated where there were labels to calibrate with.
    rooted_by
        What decided where the root is: see :func:`root_by_prior`.
    given
        For the edge above each node whether the prior gave it: "yes", "partly" or "no".
    raw_support
        float[m], for the edge above each node the share of bootstrap trees that have it; NaN where there is none.
    fit
        Whose distances the tree was built from: the learner's, or direct reconstruction's; fitted to the features that
        were ``used``.
    used
        bool[g], the features that the tree was built from: where features tell of trees that contradict each other and
        the prior agrees with one of them, those that follow no other.
    signal, verdict
        The signal test, and which way it made the run go.
    bootstrap, calibration, stability
        The bootstrap, what its support is worth, and how stable each leaf is; None where none was asked for.
    prior_check
        Leaves and clades of the prior that the features contradict; None where there is no prior or none was asked for.
    competing
        The trees that features tell of; None where it was not asked for.
    placed
        Where new leaves go on the tree; None where there were none.
    settings
        Every setting of the run.
    seed
        With which the run can be repeated.
    """

    tree: Tree
    rooted_by: RootedBy
    given: tuple[Given, ...]
    raw_support: NDArray[np.float64]
    fit: Fit
    used: NDArray[np.bool_]
    signal: SignalTest
    verdict: Verdict
    bootstrap: Bootstrap | None
    calibration: Calibration | None
    stability: LeafStability | None
    prior_check: PriorCheck | None
    competing: CompetingSignals | None
    placed: NewLeaves | None
    settings: Mapping[str, Any]
    seed: int

    @property
    def edges(self) -> pd.DataFrame:
        """A row for each internal edge: ``node``, ``leaves`` below it, ``given``, ``support`` and ``raw_support``."""
        import pandas as pd

        tree = self.tree
        support = np.full(tree.n_nodes, np.nan) if tree.support is None else tree.support
        nodes = [node for node in range(tree.n_leaves, tree.n_nodes) if tree.parent[node] >= 0]
        return pd.DataFrame(
            {
                "node": nodes,
                "leaves": [int(tree.n_below[node]) for node in nodes],
                "given": [self.given[node] for node in nodes],
                "support": support[nodes],
                "raw_support": self.raw_support[nodes],
            }
        )

    @property
    def messages(self) -> tuple[str, ...]:
        """What has to be known of the tree, in sentences: the verdict first."""
        said = [f"{self.verdict.reason[:1].upper()}{self.verdict.reason[1:]}."]
        internal = self.edges["given"]
        if len(internal) and (internal == "yes").all():
            said.append("The prior gives every branch: features had no say in the tree's shape.")
        elif len(internal):
            yes, partly = (int((internal == kind).sum()) for kind in ("yes", "partly"))
            said.append(f"Of {len(internal)} internal branches the prior gives {yes}, and {partly} in part.")
        for part in (self.calibration, self.prior_check, self.competing, self.placed):
            if part is not None:
                said.append(part.message)
        if not self.used.all():
            said.append(
                f"The tree is built from the {int(self.used.sum())} of {len(self.used)} features that follow no tree "
                "but the one that your prior agrees with."
            )
        if self.stability is not None and self.stability.rogues:
            names = ", ".join(map(repr, self.stability.rogues[:10]))
            said.append(f"These leaves have no stable place, and take support from the clades around them: {names}.")
        return tuple(said)

    def __repr__(self) -> str:
        return f"Reconstruction({self.tree.n_leaves} leaves, {self.verdict.use}, seed {self.seed})"

    def __str__(self) -> str:
        return "\n".join(self.messages)


def reconstruct_lineage(
    X: FeatureMatrix,
    leaves: Sequence[str] | None = None,
    *,
    prior: Tree | Sequence[Tree] | None = None,
    learner: str | Learner = "adaptive",
    honor_prior: bool = True,
    fallback: bool = True,
    support: int = 100,
    calibrate: bool = True,
    check: bool = True,
    cells: Cells | None = None,
    modules: ArrayLike | None = None,
    place: tuple[FeatureMatrix, Sequence[str]] | None = None,
    seed: Seed = None,
    workers: int | None = 1,
    monitor: Monitor | None = None,
) -> Reconstruction:
    """Reconstruct a lineage: signal test, fit or fallback, tree, support and its calibration, and checks of the prior.

    Parameters
    ----------
    X
        float[n, g], one row a taxon: an array, a sparse matrix or a DataFrame, all values finite.
    leaves
        The n names of the rows; a DataFrame brings them as its index.
    prior
        What is known of the lineage: a tree, several, or None.
    learner
        A learner or its name.
    honor_prior
        Whether the tree displays the prior. It is learned from in any case.
    fallback
        Whether direct reconstruction takes the learner's place where the signal test finds too little to learn from
        (:func:`decide`); if not, the learner is used whatever the test says.
    support
        How many bootstrap resamples; 0 for no support.
    calibrate
        Whether support is calibrated, where there are labels to do it with. Not done where the prior is not honoured.
    check
        Whether the prior is compared with the features, and the features with each other (:func:`check_prior`,
        :func:`competing_signals`). Where features tell of trees that contradict each other and the prior agrees with
        one of them, the others' features are then left out, unless there is a ``monitor``.
    cells
        To resample the cells within taxa too (:func:`bootstrap_trees`).
    modules
        int[g], modules of features that the bootstrap draws whole (:func:`gene_modules`).
    place
        float[q, g] and q names: the same features of leaves to be placed on the finished tree
        (:func:`place_new_leaves`).
    seed
        Of everything drawn; drawn and recorded if omitted.
    workers
        Processes, or None for one a processor. The result is the same for any number.
    monitor
        For learners that look at other tables in training.

    Examples
    --------
    >>> from celltreeqm.simulate import simulate_scenario
    >>> from celltreeqm.trees import robinson_foulds
    >>> simulation = simulate_scenario("weak", leaves=64, seed=0)
    >>> known = simulation.truth.restrict(simulation.leaves[::2])
    >>> quick = dict(learner="heritable", support=10, calibrate=False, check=False)
    >>> run = reconstruct_lineage(simulation.features, simulation.leaves, prior=known, seed=0, **quick)
    >>> run.verdict.use, run.verdict.evidence
    ('learned', 'strong')
    >>> robinson_foulds(run.tree, simulation.truth) < 0.1
    True
    """
    checked = check_features(X, leaves)
    trees = check_priors(prior, checked.leaves)
    if len(checked.leaves) < _FEWEST_LEAVES:
        raise ValueError(
            f"{len(checked.leaves)} leaves came; a tree of fewer than {_FEWEST_LEAVES} has one shape only. Bring "
            f"{_FEWEST_LEAVES} or more."
        )
    if isinstance(support, bool) or not isinstance(support, Integral) or support < 0:
        raise ValueError(f"support={support!r} was given; a whole number of resamples was needed, 0 for none.")
    check_workers(workers, None)
    checked_modules(modules, checked.values.shape[1])
    new = None if place is None else _checked_new(place, checked)
    chosen = _learner(learner, workers)
    number = recorded_seed(seed)
    children = np.random.SeedSequence(number).spawn(len(_STAGES))
    seeds = {
        stage: int(np.random.default_rng(child).integers(2**62)) for stage, child in zip(_STAGES, children, strict=True)
    }

    signal = signal_test(checked.values, checked.leaves, prior=trees or None, seed=seeds["signal"])
    verdict = decide(signal)
    if not fallback and verdict.use == "direct":
        verdict = replace(
            verdict,
            use="learned",
            reason=f"{verdict.reason.partition(':')[0]}; the learner was used all the same, as was asked",
        )
    _log.log(logging.WARNING if verdict.use == "direct" else logging.INFO, "%s", verdict.reason)

    competing = None
    used = np.ones(checked.values.shape[1], dtype=bool)
    if check and len(checked.leaves) >= _FEWEST_FOR_COMPETING:
        competing = competing_signals(checked.values, checked.leaves, prior=trees or None, seed=seeds["competing"])
        if competing.competing and not monitor:
            used = competing.uncontested
    features = _columns(checked, used)
    drawn = None if modules is None else np.asarray(modules)[used]
    builder: Learner = chosen if verdict.use == "learned" else DirectLearner()
    fit = builder.fit(features, checked.leaves, prior=trees or None, seed=seeds["fit"], monitor=monitor)
    tree, rooted_by = root_by_prior(fit.tree(honor_prior=honor_prior), trees if honor_prior else None)
    given = given_edges(tree, trees if honor_prior else None)

    bootstrap = calibration = stability = None
    raw_support = np.full(tree.n_nodes, np.nan)
    if support:
        bootstrap = bootstrap_trees(
            fit,
            features,
            n=int(support),
            seed=seeds["bootstrap"],
            workers=workers,
            cells=None if cells is None else _cells_of(cells, used),
            modules=drawn,
            honor_prior=honor_prior,
        )
        stability = leaf_stability(tree, bootstrap.trees)
        tree = bootstrap.support(tree)
        raw_support = np.asarray(tree.support)
        if calibrate and honor_prior:
            calibration = calibrate_support(fit, features, seed=seeds["calibration"], workers=workers, modules=drawn)
            tree = calibration.support(tree, bootstrap, trees)
    prior_check = None
    if check and trees:
        prior_check = check_prior(checked.values, checked.leaves, trees, seed=seeds["prior"])
    return Reconstruction(
        tree=tree,
        rooted_by=rooted_by,
        given=given,
        raw_support=raw_support,
        fit=fit,
        used=used,
        signal=signal,
        verdict=verdict,
        bootstrap=bootstrap,
        calibration=calibration,
        stability=stability,
        prior_check=prior_check,
        competing=competing,
        placed=None if new is None else place_new_leaves(tree, fit, new.values[:, used], new.leaves),
        settings=MappingProxyType(
            {
                "learner": chosen.name,
                "honor_prior": honor_prior,
                "fallback": fallback,
                "support": int(support),
                "calibrate": calibrate,
                "check": check,
                "modules": modules is not None,
            }
        ),
        seed=number,
    )


def _learner(learner: str | Learner, workers: int | None) -> Learner:
    if not isinstance(learner, str):
        if not hasattr(learner, "fit") or not hasattr(learner, "name"):
            raise TypeError(f"learner is a {type(learner).__name__}; a learner or the name of one was needed.")
        return learner
    return AdaptiveLearner(workers=workers) if learner == AdaptiveLearner.name else learner_by_name(learner)


def _checked_new(place: tuple[FeatureMatrix, Sequence[str]], checked: CheckedFeatures) -> CheckedFeatures:
    features, names = place
    new = check_features(features_like(features, checked.values.shape[1], checked.names), names)
    known = sorted(set(new.leaves) & set(checked.leaves))
    if known:
        raise ValueError(f"{some_names(known)} came to be placed and stand in the data too. Leave them out of one.")
    return new


def _cells_of(cells: Cells, used: NDArray[np.bool_]) -> Cells:
    """Resamples of cells with the features that are used."""
    if used.all():
        return cells
    if callable(cells):
        return partial(_drawn_columns_of, cells=cells, used=used)
    return [feature_values(matrix)[0][:, used] for matrix in cells]


def _drawn_columns_of(
    generator: np.random.Generator,
    *,
    cells: Callable[[np.random.Generator], FeatureMatrix],
    used: NDArray[np.bool_],
) -> FeatureMatrix:
    return feature_values(cells(generator))[0][:, used]


def _columns(checked: CheckedFeatures, used: NDArray[np.bool_]) -> FeatureMatrix:
    """Some of the features, with their names where they have any."""
    values = checked.values[:, used]
    if checked.names is None:
        return values
    import pandas as pd

    names = [name for name, kept in zip(checked.names, used.tolist(), strict=True) if kept]
    return pd.DataFrame(values, index=list(checked.leaves), columns=names)
