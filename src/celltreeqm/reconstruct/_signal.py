"""The signal test: is there anything of the lineage in these features at all?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from ..learners._features import FeatureMatrix, check_features
from ..learners.adaptive._kernels import kernel_distances
from ..learners.adaptive._measure import labelled_trees
from ..seeds import Seed, recorded_seed
from ..trees import Tree, check_priors, neighbor_joining, robinson_foulds
from ..trees._tree_checks import count_of
from ._signal_clades import clade_statistics
from ._signal_genes import gene_statistics
from ._signal_kernels import representation_kernels
from ._signal_labelled import Matrix, labelled_statistics
from ._signal_null import Judgement, judge

__all__ = ["SignalKind", "SignalTest", "signal_test"]

SignalKind: TypeAlias = Literal["labels", "clades", "genes"]

_FEWEST_LEAVES = 4
_FEWEST_RESOLVED = 8  # to be tested as labelled
_FEWEST_PERMUTATIONS = 19  # p cannot reach .05 with fewer
_MOST_LABELLED = 512
_MOST_UNLABELLED = 128
LEVEL = 0.05


@dataclass(frozen=True, kw_only=True)
class SignalTest:
    """What :func:`signal_test` found.

    Parameters
    ----------
    kind
        What the features were compared with: a known tree ("labels"), known clades ("clades"), or each other ("genes"),
        which says nothing of lineage.
    p
        The share of permuted data sets, the observed one included, with as much agreement.
    z
        The strength: by how many standard deviations the agreement exceeds that of permuted data sets, after the choice
        between representations and statistics in both.
    representation, statistic
        Where the agreement was largest.
    leaves
        How many leaves were compared.
    permutations
        How many permuted data sets (rotated, where nothing is known).
    seed
        Of the permutations.
    message
        The same in words.
    direct_error
        Where a tree is known, by how much direct reconstruction of its leaves from these features alone differs from it
        (Robinson-Foulds): what is left for learning to improve.
    """

    kind: SignalKind
    p: float
    z: float
    representation: str
    statistic: str
    leaves: int
    permutations: int
    seed: int
    message: str
    direct_error: float | None = None

    @property
    def significant(self) -> bool:
        """Whether p is at most .05."""
        return self.p <= LEVEL


def signal_test(
    X: FeatureMatrix,
    leaves: Sequence[str] | None = None,
    *,
    prior: Tree | Sequence[Tree] | None = None,
    permutations: int = 199,
    seed: Seed = None,
) -> SignalTest:
    """Test whether features carry signal of the lineage, by what is known of it.

    - Where a tree of the prior resolves eight leaves or more ("labels"): whether the features of its leaves agree with
      it, in several representations and by several statistics (:func:`labelled_statistics`), against the same features
      with the leaves permuted. The best representation is compared with the best of each permutation (:func:`judge`),
      so that having chosen from many does not count as signal. Where several trees do, leaves in more than one count in
      the largest.
    - Where it tells clades alone ("clades"): whether the clades of left-out leaves are predicted from their features
      (:func:`clade_statistics`), against the same permutations.
    - Where it tells nothing ("genes"): whether trees from disjoint halves of the features share more than they do in
      rotated data with the same covariances of features (:func:`gene_statistics`). That is no evidence of lineage.

    Neither the order of the leaves matters nor the unit of the features (a factor common to all of them). Of more than
    512 known leaves, or 128 where nothing is known, so many are drawn. Constant features are passed over.

    Parameters
    ----------
    X
        float[n, g], one row a taxon: an array, a sparse matrix or a DataFrame, all values finite.
    leaves
        The n names of the rows; a DataFrame brings them as its index.
    prior
        What is known.
    permutations
        How many permutations, at least 19. p is at least ``1 / (permutations + 1)``.
    seed
        Of the permutations; drawn and recorded if omitted.

    Examples
    --------
    >>> from celltreeqm.simulate import simulate_scenario
    >>> simulation = simulate_scenario("weak", leaves=32, seed=0)
    >>> prior = simulation.truth.restrict(simulation.leaves[::2])
    >>> test = signal_test(simulation.features, simulation.leaves, prior=prior, seed=0)
    >>> test.kind, test.p, test.leaves
    ('labels', 0.005, 16)
    """
    if isinstance(permutations, bool) or not isinstance(permutations, Integral) or permutations < _FEWEST_PERMUTATIONS:
        raise ValueError(
            f"permutations={permutations!r} was given; a whole number of {_FEWEST_PERMUTATIONS} or more is needed, or "
            "p cannot reach .05. The default is 199."
        )
    checked = check_features(X, leaves)
    trees = check_priors(prior, checked.leaves)
    number = recorded_seed(seed)
    row = {name: i for i, name in enumerate(checked.leaves)}
    kind, compared = _comparable(trees, checked.leaves)
    columns = [_varied(checked.values[[row[name] for name in names]], checked.leaves) for names, _ in compared]
    if kind == "genes" and columns[0].sum() < 2:
        raise ValueError(
            "Only one feature varies; without a prior the signal test compares halves of the features, so at least 2 "
            "were needed. Pass more features, or what is known of the lineage as prior."
        )
    not_negative = bool(checked.values.min() >= 0)
    values: Matrix | float = 0.0
    tested, direct_error = 0, 0.0
    with threadpool_limits(1, "blas"):  # sums in the same order, and so the same bytes, wherever it runs
        for i, ((names, tree), varied) in enumerate(zip(compared, columns, strict=True)):
            generator = np.random.default_rng([number, i + 1])  # [number, 0] would be the stream of the number itself
            most = _MOST_UNLABELLED if tree is None else _MOST_LABELLED
            kept = sorted(names)  # so that the order that they came in cannot matter
            if len(kept) > most:
                kept = [kept[j] for j in sorted(generator.permutation(len(kept))[:most].tolist())]
            features = checked.values[[row[name] for name in kept]][:, varied]
            features = features[:, np.ptp(features, axis=0) > 0]
            tested += len(kept)
            if tree is None:
                some, named = gene_statistics(features, int(permutations), generator)
            else:
                known = tree.restrict(kept).reorder(kept)
                turns = np.tile(np.arange(len(kept)), (int(permutations) + 1, 1))
                turns[1:] = generator.permuted(turns[1:], axis=1)
                kernels = representation_kernels(features, not_negative=not_negative)
                if kind == "labels":
                    direct = neighbor_joining(kernel_distances(kernels["as given"]), kept)
                    direct_error += len(kept) * robinson_foulds(direct, known)
                    some, named = labelled_statistics(features, kernels, known, turns, generator)
                else:
                    some, named = clade_statistics(kernels, known, turns)
            values = values + len(kept) * some
    judgement = judge(np.asarray(values), [representation for representation, _ in named])
    representation, statistic = named[judgement.best]
    return SignalTest(
        kind=kind,
        p=judgement.p,
        z=judgement.z,
        representation=representation,
        statistic=statistic,
        leaves=tested,
        permutations=int(permutations),
        seed=number,
        message=_message(kind, judgement, tested),
        direct_error=direct_error / tested if kind == "labels" else None,
    )


def _comparable(
    prior: tuple[Tree, ...], leaves: tuple[str, ...]
) -> tuple[SignalKind, list[tuple[tuple[str, ...], Tree | None]]]:
    """What is known that features can be compared with: trees that share no leaf, the largest first."""
    if prior and max(tree.n_leaves for tree in prior) < _FEWEST_LEAVES:
        most = max(tree.n_leaves for tree in prior)
        raise ValueError(
            f"The largest tree of the prior has {count_of(most, 'leaf', 'leaves')}; a signal test needs at least "
            f"{_FEWEST_LEAVES} whose lineage is known. Pass more of them, or prior=None to test only whether features "
            "agree with each other."
        )
    if len(leaves) < _FEWEST_LEAVES:
        raise ValueError(
            f"{count_of(len(leaves), 'leaf', 'leaves')} came; a signal test needs at least {_FEWEST_LEAVES}."
        )
    labelled = labelled_trees(prior)
    kind: SignalKind = "labels" if labelled else "clades"
    taken: set[str] = set()
    compared: list[tuple[tuple[str, ...], Tree | None]] = []
    for tree in sorted(labelled or prior, key=lambda tree: -tree.n_leaves):
        free = [name for name in tree.leaves if name not in taken]
        if len(free) < _FEWEST_LEAVES:
            continue
        rest = tree.restrict(free)
        if labelled_trees([rest]) if labelled else len(rest.splits()):
            compared.append((rest.leaves, rest))
            taken.update(free)
    return (kind, compared) if compared else ("genes", [(leaves, None)])


def _varied(values: Matrix, leaves: tuple[str, ...]) -> NDArray[np.bool_]:
    """bool[g], the features that are not the same in all of these rows."""
    varied = np.ptp(values, axis=0) > 0
    if not varied.any():
        of = "the" if len(values) == len(leaves) else "the known"
        raise ValueError(
            f"All {values.shape[1]} features are the same in all of {of} {len(values)} leaves, so there is nothing to "
            "test. Check that the right matrix or layer came."
        )
    return np.asarray(varied)


def _message(kind: SignalKind, found: Judgement, leaves: int) -> str:
    figures = f"(p = {short_number(found.p)}, z = {short_number(found.z)})"
    yes, few = found.p <= LEVEL, leaves < _FEWEST_RESOLVED
    if kind == "labels":
        if yes:
            return (
                f"These features agree with the known tree of {leaves} leaves better than with permuted leaves "
                f"{figures}: there is lineage signal in them."
            )
        return (
            f"No lineage signal was found: these features agree with the known tree of {leaves} leaves no better than "
            f"with permuted leaves {figures}."
        )
    if kind == "clades":
        if yes:
            return (
                f"These features tell the clades of left-out leaves better than permuted leaves do {figures}: they "
                "separate the known clades. Nothing is tested of the lineage inside these."
            )
        return (
            f"No lineage signal was found: these features tell the clades of left-out leaves, of {leaves}, no better "
            f"than permuted leaves do {figures}." + (" So few leaves could hardly have shown any." if few else "")
        )
    if yes:
        return (
            f"Halves of these features agree on relations of the {leaves} leaves {figures}. This is not evidence of "
            "lineage: cell types, batches and the cell cycle make features agree in the same way."
        )
    return (
        f"Halves of these features agree on no more than their correlations explain {figures}: no structure was found "
        f"among the {leaves} leaves, of lineage or of anything else."
    )


def short_number(value: float) -> str:
    """Two digits below 10, whole numbers above, and no zero before the point: .03, 4.2, 17."""
    text = f"{value:.0f}" if abs(value) >= 9.95 else f"{value:.2g}" if abs(value) >= 0.001 else "0"
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text
