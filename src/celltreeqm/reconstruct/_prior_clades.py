"""Whether clades that a prior takes as given are clades in the features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..trees import Tree, prior_from_clades
from ..trees._tree_checks import some_names
from ._lineage_null import LineageNull, heritable_weights

__all__ = ["CladeFinding", "check_clades"]

_SMALLEST_PART = 2


class CladeFinding(NamedTuple):
    """What the features say of one clade.

    Parameters
    ----------
    name
        The clade's name in the prior, or some of its leaves.
    members
        Its leaves.
    contrast
        The four-point contrast of its worst split, in units of the mean squared distance: negative where a part of the
        clade is nearer to another clade than to the rest of its own.
    p, q
        How often the contrast of a clade that is none would not be lower, and the false discovery rate over clades.
    part
        The part of the worst split that is nearer to another clade.
    nearest
        That clade's name.
    """

    name: str
    members: tuple[str, ...]
    contrast: float
    p: float
    q: float
    part: tuple[str, ...]
    nearest: str


def check_clades(
    values: NDArray[np.float64],
    prior: Tree,
    leaves: Sequence[str],
    *,
    permutations: int,
    generator: np.random.Generator,
) -> list[CladeFinding]:
    r"""Clades of four leaves or more inside which the prior says nothing: do their parts belong together?

    For a part A of a clade, the rest B of it, another clade C and all other leaves R, with mean squared distances d
    between groups in features weighted by heritability,

    .. math:: d(A, C) + d(B, R) - d(A, B) - d(C, R)

    is, under Brownian motion, twice the length of the edge that makes A and B one, and negative where A goes with C
    instead. The least over the parts that Ward's method finds and over the clades C is the clade's contrast. In the
    null the two parts are clades of their own at the root (an edge of length 0, the least that a clade can have),
    features are rotated as in :class:`LineageNull`, and parts are chosen anew. Contrasts are compared after subtracting
    each clade's mean and dividing by its sd under the null.

    Parameters
    ----------
    values
        float[n, g], standardised features.
    prior
        Two levels of it are looked at: groups that hang as polytomies from their own node.
    leaves
        The names of the rows.
    """
    groups, names = _open_clades(prior)
    tested = [k for k, group in enumerate(groups) if len(group) >= 2 * _SMALLEST_PART]
    if not tested or len(groups) < 3:
        return []
    row = {name: i for i, name in enumerate(leaves)}
    members = [np.array(sorted(row[name] for name in group)) for group in groups]
    given = prior_from_clades({leaves[i]: k for k, group in enumerate(members) for i in group})
    kept = sorted(row[name] for name in given.leaves)
    given = given.reorder([leaves[i] for i in kept])
    place = {i: j for j, i in enumerate(kept)}
    members = [np.array([place[i] for i in group]) for group in members]
    values, leaves = values[kept], given.leaves
    observed = _contrasts(values, heritable_weights(values, given), members, tested)

    labels = {leaves[i]: f"{k}" for k, group in enumerate(members) for i in group}
    labels |= {leaves[i]: f"{k} part" for k, worst in zip(tested, observed, strict=True) for i in worst.part}
    parts = prior_from_clades(labels).reorder(leaves)
    null = LineageNull(values, parts, heritable_weights(values, parts))
    drawn = []
    for _ in range(permutations):
        features = null.draw(generator)
        told = _contrasts(features, heritable_weights(features, given), members, tested)
        drawn.append([worst.contrast for worst in told])
    under = np.array(drawn)
    mean, sd = under.mean(axis=0), np.maximum(under.std(axis=0), 1e-12)
    pooled = np.sort(((under - mean) / sd).ravel())
    p = np.array(
        [
            (1 + np.searchsorted(pooled, (worst.contrast - mean[i]) / sd[i], side="right")) / (1 + len(pooled))
            for i, worst in enumerate(observed)
        ]
    )
    order = np.argsort(p)
    q = np.empty(len(p))
    q[order] = np.minimum.accumulate((p[order] * len(p) / np.arange(1, len(p) + 1))[::-1])[::-1]
    return [
        CladeFinding(
            name=names[k],
            members=tuple(leaves[i] for i in members[k]),
            contrast=worst.contrast,
            p=float(p[i]),
            q=float(q[i]),
            part=tuple(leaves[j] for j in worst.part),
            nearest=names[worst.nearest],
        )
        for i, (k, worst) in enumerate(zip(tested, observed, strict=True))
    ]


class _Worst(NamedTuple):
    contrast: float
    part: NDArray[np.int64]
    nearest: int


def _contrasts(
    values: NDArray[np.float64], weights: NDArray[np.float64], members: list[NDArray[np.int64]], tested: list[int]
) -> list[_Worst]:
    """The worst split of each clade that is tested."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    products = (values * weights) @ values.T
    size = np.diagonal(products)
    apart = np.maximum(size[:, None] + size - products - products.T, 0.0)
    np.fill_diagonal(apart, 0.0)
    apart /= max(float(apart.mean()), float(np.finfo(float).tiny))
    n, sums = len(values), np.stack([apart[:, group].sum(axis=1) for group in members], axis=1)
    between = np.stack([sums[group].sum(axis=0) for group in members])  # of all pairs of clades
    counts = np.array([len(group) for group in members])
    out = []
    for k in tested:
        group = members[k]
        inside = np.zeros((2 * len(group) - 1, len(group)), dtype=bool)
        inside[: len(group)] = np.eye(len(group), dtype=bool)
        within = apart[np.ix_(group, group)]
        for step, (a, b) in enumerate(linkage(squareform(np.sqrt(within), checks=False), "ward")[:, :2].astype(int)):
            inside[len(group) + step] = inside[a] | inside[b]
        parts = inside[len(group) : -1]
        parts = np.concatenate([parts, ~parts])
        parts = parts[(parts.sum(axis=1) >= _SMALLEST_PART) & ((~parts).sum(axis=1) >= _SMALLEST_PART)]
        others = np.array([c for c in range(len(members)) if c != k and len(members[c]) >= _SMALLEST_PART])
        best = _Worst(np.inf, group, k)
        for part in parts:
            a, b = int(part.sum()), int((~part).sum())
            from_a, from_b = sums[group[part]].sum(axis=0), sums[group[~part]].sum(axis=0)
            outside_b = from_b.sum() - from_b[k]
            for c in others.tolist():
                rest = n - len(group) - counts[c]
                if not rest:
                    continue
                contrast = (
                    from_a[c] / (a * counts[c])
                    + (outside_b - from_b[c]) / (b * rest)
                    - within[np.ix_(part, ~part)].sum() / (a * b)
                    - (between[c].sum() - between[c, c] - between[c, k]) / (counts[c] * rest)
                )
                if contrast < best.contrast:
                    best = _Worst(float(contrast), group[part], c)
        out.append(best if np.isfinite(best.contrast) else _Worst(0.0, group[:0], k))
    return out


def _open_clades(prior: Tree) -> tuple[list[tuple[str, ...]], list[str]]:
    """The groups of leaves that hang from one node each, other than the root, and what they are called.

    Leaves at the root, or at nodes that have other nodes below them, are groups of one.
    """
    tree = prior.collapse_unary()
    n = tree.n_leaves
    below: dict[int, list[int]] = {}
    inner = {int(up) for node, up in enumerate(tree.parent[:-1].tolist()) if node >= n}
    for leaf in range(n):
        up = int(tree.parent[leaf])
        below.setdefault(up if up != tree.root and up not in inner else -1 - leaf, []).append(leaf)
    groups, names = [], []
    for node, group in below.items():
        groups.append(tuple(tree.leaves[i] for i in group))
        own = tree.name(node) if node >= 0 else None
        names.append(repr(own) if own else f"of {some_names(groups[-1], 2)}")
    return groups, names
