"""Signal where a tree of some leaves is known: do the features of its leaves agree with it?"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ..learners.adaptive._kernels import kernel_distances
from ..quartets import quartet_topology_in
from ..trees import Tree
from ._signal_kernels import standardized_columns

__all__ = ["Statistics", "centred", "labelled_statistics", "left_out_forms", "permuted_forms"]

Matrix = NDArray[np.float64]
Statistics = tuple[Matrix, list[tuple[str, str]]]

_PENALTIES = (0.03, 0.3, 3.0)  # of the ridge, in units of the kernel's mean eigenvalue
_QUARTETS = 1000
_AXES = 8  # of the tree, that single features are compared with
_TOP = 0.1  # the share of the features that counts as the top
_AT_ONCE = 4_000_000  # numbers held in memory


def labelled_statistics(
    features: Matrix,
    kernels: Mapping[str, Matrix],
    tree: Tree,
    permutations: NDArray[np.int64],
    generator: np.random.Generator,
) -> Statistics:
    r"""float[B, s], how well features agree with a tree, for each permutation of its leaves, and what was compared.

    With T the path lengths between the m leaves in the tree, the targets are the double-centred :math:`-T/2`,
    :math:`\exp(-T / (\tfrac14 \operatorname{median} T))` and :math:`\exp(-(T - 2))`. For each representation of the
    features as a kernel K and each target C, with rows' positions Y (:math:`C = Y Y'`):

    - kernel-target agreement, the correlation of K and C;
    - leave-one-out ridge agreement. The prediction of each leaf's position from the other leaves is linear in Y, G Y,
      with G in closed form; its agreement with Y is :math:`\langle G, C\rangle / \sqrt{\langle G'G, C\rangle \,
      \operatorname{tr} C}`, so that a permutation only re-indexes C.

    Besides, for each representation, the share of quartets that the four-point condition resolves as the tree does, and
    the mean of the top tenth of the features by the share of their variance along the tree's first axes.

    Parameters
    ----------
    features
        float[m, g], the rows in the order of the tree's leaves, no column constant.
    kernels
        The kernels of their representations.
    tree
        The known tree.
    permutations
        int[B, m]: row i is said to be leaf ``permutations[b, i]``. The first is the identity.
    generator
        Of the quartets.
    """
    targets = _targets(tree)
    values, names = [], []
    forms = {
        name: [kernel / (np.linalg.norm(kernel) or 1.0), *left_out_forms(kernel)] for name, kernel in kernels.items()
    }
    per = 1 + 2 * len(_PENALTIES)
    stacked = np.stack([form for rows in forms.values() for form in rows])
    inner = permuted_forms(stacked, np.stack(list(targets.values())), permutations)
    for r, representation in enumerate(kernels):
        for t, (target, gram) in enumerate(targets.items()):
            mine = inner[:, t, r * per : (r + 1) * per]
            values.append(mine[:, 0])
            names.append((representation, f"kernel-target agreement, {target}"))
            for k in range(len(_PENALTIES)):
                values.append(agreement_left_out(mine[:, 1 + 2 * k], mine[:, 2 + 2 * k], float(np.trace(gram))))
                names.append((representation, f"leave-one-out ridge agreement, {target}"))
    quartets = _resolved_quartets(tree, generator)
    if len(quartets):
        for representation, kernel in kernels.items():
            values.append(_four_point(kernel_distances(kernel), quartets, permutations))
            names.append((representation, "four-point agreement"))
    values.append(_top_features(features, next(iter(targets.values())), permutations))
    names.append(("single features", "mean of the top tenth"))
    return np.column_stack(values), names


def left_out_forms(kernel: Matrix) -> list[Matrix]:
    """For each penalty the symmetric part of G, whose product with Y predicts each row of Y from the others, and G'G.

    Ridge regression with an intercept: with the hat matrix H and its diagonal h, G = I - diag(1 / (1 - h)) (I - H).
    """
    m = len(kernel)
    values, vectors = np.linalg.eigh(kernel)
    values = np.maximum(values, 0.0)
    forms = []
    for penalty in _PENALTIES:
        share = values / (values + max(penalty * values.mean(), np.finfo(float).tiny))
        hat = (vectors * share) @ vectors.T + 1 / m
        left = np.maximum(1 - np.diagonal(hat), 1e-6)
        predict = np.eye(m) - (np.eye(m) - hat) / left[:, None]
        np.fill_diagonal(predict, 0.0)
        forms += [(predict + predict.T) / 2, predict.T @ predict]
    return forms


def agreement_left_out(with_truth: Matrix, of_prediction: Matrix, truth: float) -> Matrix:
    """The correlation of predicted and true positions; 0 where nothing is predicted."""
    size = of_prediction * truth
    return np.asarray(with_truth / np.sqrt(np.where(size > 0, size, np.inf)))


def permuted_forms(forms: Matrix, targets: Matrix, permutations: NDArray[np.int64]) -> Matrix:
    """float[B, t, f], the sum of the products of each symmetric form with each re-indexed symmetric target."""
    m = forms.shape[1]
    rows, columns = np.triu_indices(m)
    once = forms[:, rows, columns] * np.where(rows == columns, 1.0, 2.0)
    flat = targets.reshape(len(targets), -1)
    out = np.empty((len(permutations), len(targets), len(forms)))
    step = max(1, _AT_ONCE // (len(targets) * len(rows)))
    for start in range(0, len(permutations), step):
        some = permutations[start : start + step]
        moved = flat[:, some[:, rows] * m + some[:, columns]]
        out[start : start + step] = (moved @ once.T).transpose(1, 0, 2)
    return out


def centred(gram: Matrix) -> Matrix:
    """The double-centred matrix, of norm 1."""
    mean = gram.mean(axis=0)
    out = gram - mean - mean[:, None] + mean.mean()
    return np.asarray(out / np.linalg.norm(out))


def _targets(tree: Tree) -> Mapping[str, Matrix]:
    steps = tree.unroot().distances(by="topology")
    median = np.median(steps[np.triu_indices(len(steps), 1)])
    return {
        "path lengths": centred(-steps / 2),
        "near relatives": centred(np.exp(-steps / (0.25 * median))),
        "sisters": centred(np.exp(-(steps - 2))),
    }


def _resolved_quartets(tree: Tree, generator: np.random.Generator) -> NDArray[np.int64]:
    """int[q, 4], quartets drawn among the tree's leaves that it resolves, its pairs in the first two and last two."""
    m = tree.n_leaves
    drawn = (
        np.argsort(generator.random((_QUARTETS, m)), axis=1)[:, :4]
        if m < 64
        else generator.integers(m, size=(_QUARTETS, 4))
    )
    ordered = np.sort(drawn, axis=1)
    drawn = ordered[(np.diff(ordered, axis=1) > 0).all(axis=1)]
    topology = quartet_topology_in(tree, drawn)
    order = np.array([[0, 1, 2, 3], [0, 2, 1, 3], [0, 3, 1, 2]])
    kept = topology >= 0
    return np.asarray(np.take_along_axis(drawn[kept], order[topology[kept]], axis=1))


def _four_point(distances: Matrix, quartets: NDArray[np.int64], permutations: NDArray[np.int64]) -> Matrix:
    """float[B], the share of the tree's quartets that the distances resolve in the same way."""
    rows = np.argsort(permutations, axis=1)  # the row that is said to be each leaf
    out = np.empty(len(rows))
    for b, row in enumerate(rows):
        a, i, c, j = row[quartets].T
        together = distances[a, i] + distances[c, j]
        apart = np.minimum(distances[a, c] + distances[i, j], distances[a, j] + distances[i, c])
        out[b] = np.mean(together < apart)
    return out


def _top_features(features: Matrix, gram: Matrix, permutations: NDArray[np.int64]) -> Matrix:
    """float[B], of the share of each feature's variance along the tree's first axes, the mean over the top tenth."""
    columns = standardized_columns(features / max(np.abs(features).max(), np.finfo(float).tiny))
    m, g = columns.shape
    columns = columns / np.sqrt(m)
    axes = np.linalg.eigh(gram)[1][:, ::-1][:, : min(_AXES, m - 1)]
    top = max(1, int(np.ceil(_TOP * g)))
    out = np.empty(len(permutations))
    step = max(1, _AT_ONCE // (axes.shape[1] * g))
    for start in range(0, len(permutations), step):
        some = permutations[start : start + step]
        moved = axes[some].transpose(0, 2, 1).reshape(-1, m)  # (b r) x m
        along = ((moved @ columns) ** 2).reshape(len(some), -1, g).sum(axis=1)
        out[start : start + step] = np.partition(along, g - top, axis=1)[:, g - top :].mean(axis=1)
    return out
