"""``check_prior``: which labels do the features contradict?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from ..learners._features import FeatureMatrix, check_features
from ..learners._settings import check_count
from ..learners.heritable._fit import standardized
from ..seeds import Seed, recorded_seed
from ..trees import Tree, check_priors
from ..trees._tree_checks import some_names
from ._lineage_null import LineageNull, heritable_weights
from ._prior_clades import CladeFinding, check_clades
from ._prior_places import Margins, Places, leave_one_out_paths, place_margins

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PriorCheck", "check_prior"]

_FEWEST_LEAVES = 8
_ROUNDS = 3
_SHARES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05)
_QUANTILE = 0.75  # of margins: matched at the median the level was not kept, and up to a quarter may be wrong
_TRIALS = 5


@dataclass(frozen=True, eq=False, repr=False)
class PriorCheck:
    """Which leaves and clades of a prior the features contradict.

    Parameters
    ----------
    leaves
        The k leaves of the prior's trees that could be checked; a leaf of several trees is there once for each.
    tree_number
        int[k], the number of the prior tree, from 0.
    margin
        float[k], how much better the path lengths to the other leaves that features predict correlate with those of
        the best place elsewhere than with those of the place where the prior has the leaf.
    p, q
        float[k], how often leaves with right labels have such a margin, and the false discovery rate at which the leaf
        would just be flagged (Benjamini and Hochberg).
    elsewhere
        For each leaf the leaves, at most half of its tree's, that features put it beside: those behind the edge that
        fits best outside its own place.
    quartets
        For each flagged leaf, by name, a quartet (a, b, c, d) in which it is a: the prior says ab|cd, and features put
        it with c.
    clades
        The clades that could be checked: ``members``, ``name``, ``contrast``, ``p``, ``q``, and ``part`` and
        ``nearest``: the part of the clade that features put with another clade.
    level
        The false discovery rate below which leaves and clades are flagged.
    power
        float, the share of leaves that would be flagged if their label alone were another leaf's, at most as many false
        flags allowed; NaN if nothing could be checked.
    seed
        Of the null.

    Notes
    -----
    The prior is not changed by what is found here, and trees display it all the same.
    """

    leaves: tuple[str, ...]
    tree_number: NDArray[np.int64]
    margin: NDArray[np.float64]
    p: NDArray[np.float64]
    q: NDArray[np.float64]
    elsewhere: tuple[tuple[str, ...], ...]
    quartets: dict[str, tuple[str, str, str, str]]
    clades: tuple[CladeFinding, ...]
    level: float
    power: float
    seed: int

    @property
    def flagged(self) -> tuple[str, ...]:
        """The leaves that sit elsewhere in the features, the clearest first, each once."""
        order = sorted(np.flatnonzero(self.q <= self.level).tolist(), key=lambda i: (self.p[i], -self.margin[i]))
        return tuple(dict.fromkeys(self.leaves[i] for i in order))

    @property
    def flagged_clades(self) -> tuple[CladeFinding, ...]:
        """The clades that are not one clade in the features."""
        return tuple(clade for clade in self.clades if clade.q <= self.level)

    @property
    def table(self) -> pd.DataFrame:
        """A row for each leaf and clade: ``kind``, ``name``, ``statistic``, ``p``, ``q``, ``flagged``, ``features``."""
        import pandas as pd

        rows = [
            ("leaf", name, margin, p, q, q <= self.level, "beside " + some_names(there))
            for name, margin, p, q, there in zip(
                self.leaves, self.margin.tolist(), self.p.tolist(), self.q.tolist(), self.elsewhere, strict=True
            )
        ]
        rows += [
            ("clade", c.name, c.contrast, c.p, c.q, c.q <= self.level, f"{some_names(c.part)} with {c.nearest}")
            for c in self.clades
        ]
        return pd.DataFrame(rows, columns=["kind", "name", "statistic", "p", "q", "flagged", "features"])

    @property
    def message(self) -> str:
        """What was found, in plain words."""
        if not self.leaves and not self.clades:
            return (
                f"The prior could not be checked against the features: that needs {_FEWEST_LEAVES} labelled leaves in "
                "two clades or more, and features that vary among them."
            )
        said = []
        flagged, count = self.flagged, len(set(self.leaves))
        if flagged:
            where = dict(zip(self.leaves, self.elsewhere, strict=True))
            named = ", ".join(f"{name!r} (beside {some_names(where[name], 2)})" for name in flagged[:10])
            more = f" and {len(flagged) - 10} more" if len(flagged) > 10 else ""
            said.append(
                f"{len(flagged)} of {count} labelled leaves {'sits' if len(flagged) == 1 else 'sit'} elsewhere in the "
                f"features (false discovery rate {self.level:g}): {named}{more}."
            )
        elif self.leaves:
            said.append(f"None of {count} labelled leaves clearly sits elsewhere in the features.")
        for clade in self.flagged_clades:
            said.append(
                f"Clade {clade.name} ({len(clade.members)} leaves) is not one clade in the features: "
                f"{some_names(clade.part)} go with {clade.nearest}."
            )
        if self.leaves:
            said.append(f"Of single wrong labels, {self.power:.0%} would be found.")
        if flagged or self.flagged_clades:
            said.append(
                "Check these labels; the tree honours them all the same. Cells that have come to look alike from "
                "different lineages are found here too."
            )
        return " ".join(said)

    def __repr__(self) -> str:
        return f"PriorCheck({self.message})"


def check_prior(
    X: FeatureMatrix,
    leaves: Sequence[str] | None = None,
    prior: Tree | Sequence[Tree] | None = None,
    *,
    level: float = 0.05,
    permutations: int = 60,
    seed: Seed = None,
) -> PriorCheck:
    r"""Name the leaves and clades of a prior that the features contradict, without overriding them.

    *Leaves.* From the features of all other leaves of a prior tree, weighted by heritability, ridge regression predicts
    a leaf's path lengths to them, and these are correlated with the path lengths from each place of the tree. The
    *margin* of a leaf is the best correlation outside its own place less that of its own. Right labels have margins too
    where features are noisy, so margins are compared with a null in which all labels are right: features that evolve on
    the prior tree and covary as the real ones do (a rotation), only less heritable, until the upper quartile of their
    margins is that of the real ones. Flagged leaves (Benjamini-Hochberg) are left out and the others compared again, up
    to three times. Leaves that merely look like distant relatives are found as well: that is what the features say.

    *Clades* inside which the prior says nothing are split by the features, and the split whose parts are farthest from
    being each other's nearest is compared with a null in which the parts are unrelated; see :func:`check_clades`.

    Parameters
    ----------
    X
        float[n, g], one row a taxon. Neither order of the rows nor scale of a feature matters.
    leaves
        The n names of the rows; a DataFrame brings them as its index.
    prior
        What is known. Each tree is checked on its own leaves; trees of fewer than 8 leaves are passed over.
    level
        The false discovery rate. With a right prior, this is the chance that any leaf of a tree is flagged, as far as
        features evolve as supposed.
    permutations
        How many data sets of the null are drawn.
    seed
        Of the null; drawn and recorded if omitted.

    Examples
    --------
    >>> from celltreeqm.simulate import simulate_scenario
    >>> simulation = simulate_scenario("heritability", leaves=32, seed=0)
    >>> one, other = simulation.leaves[3], simulation.leaves[28]
    >>> wrong = simulation.truth.rename({one: other, other: one})
    >>> found = check_prior(simulation.features, simulation.leaves, wrong, permutations=20, seed=0)
    >>> sorted(found.flagged) == sorted([one, other])
    True
    """
    checked = check_features(X, leaves)
    trees = check_priors(prior, checked.leaves)
    if not trees:
        raise ValueError("No prior was given, so there is nothing to check. Pass what is known as one or more trees.")
    if not (isinstance(level, Real) and 0 < level < 1):
        raise ValueError(f"level={level!r} was given; a false discovery rate between 0 and 1 was needed.")
    check_count(permutations, "permutations", 10)
    number = recorded_seed(seed)
    row = {name: i for i, name in enumerate(checked.leaves)}
    found: list[tuple[int, Tree, _LeafFindings]] = []
    clades: list[CladeFinding] = []
    with threadpool_limits(1, "blas"):  # sums in the same order, and so the same bytes, wherever it runs
        for k, given in enumerate(trees):
            tree = given.collapse_unary().unroot()
            if tree.n_leaves < _FEWEST_LEAVES or not len(tree.splits()):
                continue
            tree = tree.reorder(sorted(tree.leaves))
            values = checked.values[[row[name] for name in tree.leaves]]
            values = standardized(values[:, np.ptp(values, axis=0) > 0])
            if not values.shape[1]:
                continue
            of_leaves, of_clades = np.random.default_rng([number, k]).spawn(2)
            found.append((k, tree, _check_leaves(values, tree, level, permutations, of_leaves)))
            clades += check_clades(values, given, tree.leaves, permutations=permutations, generator=of_clades)
    n_leaves = [len(findings.p) for _, _, findings in found]
    return PriorCheck(
        leaves=tuple(name for _, tree, _ in found for name in tree.leaves),
        tree_number=np.repeat([k for k, _, _ in found], n_leaves).astype(np.int64),
        margin=_joined([findings.margin for _, _, findings in found]),
        p=_joined([findings.p for _, _, findings in found]),
        q=_joined([findings.q for _, _, findings in found]),
        elsewhere=tuple(there for _, _, findings in found for there in findings.elsewhere),
        quartets={
            name: quartet for _, tree, findings in found for name, quartet in _contradicted(tree, findings, level)
        },
        clades=tuple(clades),
        level=float(level),
        power=float(np.average([f.power for _, _, f in found], weights=n_leaves)) if found else float("nan"),
        seed=number,
    )


class _LeafFindings(NamedTuple):
    margin: NDArray[np.float64]
    p: NDArray[np.float64]
    q: NDArray[np.float64]
    elsewhere: list[tuple[str, ...]]
    power: float


def _check_leaves(
    values: NDArray[np.float64], tree: Tree, level: float, permutations: int, generator: np.random.Generator
) -> _LeafFindings:
    n = tree.n_leaves
    margin, p, flagged = np.zeros(n), np.ones(n), np.zeros(n, dtype=bool)
    elsewhere: list[tuple[str, ...]] = [()] * n
    power = 0.0
    for turn, of_turn in enumerate(generator.spawn(_ROUNDS)):
        kept = np.flatnonzero(~flagged)
        rest = tree.restrict([tree.leaves[i] for i in kept])
        if len(kept) < _FEWEST_LEAVES or not len(rest.splits()):
            break
        told, of_null, places = _compare(values[kept], rest, permutations, of_turn)
        margin[kept], p[kept] = told.margin, _tail(of_null, told.margin)
        for i, edge in zip(kept.tolist(), told.elsewhere.tolist(), strict=True):
            elsewhere[i] = _beside(rest, places, edge, tree.leaves[i])
        at_least = of_null[min(int(np.ceil(len(of_null) * (1 - level / n))), len(of_null) - 1)]
        wrong = told.if_wrong[~np.isnan(told.if_wrong)]
        power = float((wrong > at_least).mean()) if len(wrong) else 0.0
        q = adjusted(p)
        new = (q <= level) & ~flagged
        if turn and not new.any():
            break
        flagged |= q <= level
        if not new.any():
            break
    q = adjusted(p)
    q[flagged] = np.minimum(q[flagged], level)  # of an earlier turn: the p of others, once these are out, may be larger
    return _LeafFindings(margin, p, q, elsewhere, power)


def _compare(
    values: NDArray[np.float64], tree: Tree, permutations: int, generator: np.random.Generator
) -> tuple[Margins, NDArray[np.float64], Places]:
    """The margins, and in ascending order those of all leaves in all data sets of the matched null."""
    values = standardized(values)
    places = Places(tree)
    weights = heritable_weights(values, tree)
    told = _margins(values, weights, places)
    null = LineageNull(values, tree, weights)
    of_trials, of_draws = (np.random.SeedSequence(int(x)) for x in generator.integers(2**63, size=2))

    def drawn(share: float, count: int, seed: np.random.SeedSequence) -> NDArray[np.float64]:
        draws = np.random.default_rng(seed)
        out = []
        for _ in range(count):
            features = null.draw(draws, share=share)
            out.append(_margins(features, heritable_weights(features, tree), places).margin)
        return np.concatenate(out)

    # The largest share of heritability under which right labels have margins as wide as these.
    aim = float(np.quantile(told.margin, _QUANTILE))
    low, high = 0, len(_SHARES) - 1
    while low < high:
        middle = (low + high) // 2
        if np.quantile(drawn(_SHARES[middle], _TRIALS, of_trials), _QUANTILE) >= aim:
            high = middle
        else:
            low = middle + 1
    return told, np.sort(drawn(_SHARES[low], permutations, of_draws)), places


def _margins(values: NDArray[np.float64], weights: NDArray[np.float64], places: Places) -> Margins:
    return place_margins(leave_one_out_paths((values * weights) @ values.T, places.paths), places)


def _tail(null: NDArray[np.float64], observed: NDArray[np.float64]) -> NDArray[np.float64]:
    above = len(null) - np.searchsorted(null, observed - 1e-12)
    return np.asarray((1 + above) / (1 + len(null)))


def adjusted(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Benjamini and Hochberg's q values.

    Examples
    --------
    >>> adjusted(np.array([0.01, 0.5, 0.04]))
    array([0.03, 0.5 , 0.06])
    """
    order, n = np.argsort(p), len(p)
    q = np.empty(n)
    q[order] = np.minimum.accumulate((p[order] * n / np.arange(1, n + 1))[::-1])[::-1]
    return q


def _beside(tree: Tree, places: Places, edge: int, leaf: str) -> tuple[str, ...]:
    """The leaves behind an edge, once the leaf itself is off the tree: its smaller side."""
    i = tree.index[leaf]
    side = places.inside[edge].copy()
    if (side.sum() - side[i]) * 2 > tree.n_leaves - 1:
        side = ~side
    side[i] = False
    return tuple(tree.leaves[j] for j in np.flatnonzero(side))


def _contradicted(tree: Tree, findings: _LeafFindings, level: float) -> list[tuple[str, tuple[str, str, str, str]]]:
    """For each flagged leaf a known quartet that parts it from where the features put it, where there is one."""
    steps = tree.distances(by="topology")
    out = []
    for i in np.flatnonzero(findings.q <= level).tolist():
        c = tree.index[findings.elsewhere[i][0]]
        # ab|cd with a the leaf: its partner and c's, as far apart as the tree has them.
        apart = steps[i, c] + steps - steps[i][:, None] - steps[c][None, :]
        apart[[i, c]], apart[:, [i, c]] = -np.inf, -np.inf
        np.fill_diagonal(apart, -np.inf)
        b, d = np.unravel_index(int(apart.argmax()), apart.shape)
        if apart[b, d] > 0:
            out.append((tree.leaves[i], (tree.leaves[i], tree.leaves[b], tree.leaves[c], tree.leaves[d])))
    return out


def _joined(parts: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    return np.concatenate(parts) if parts else np.zeros(0)
