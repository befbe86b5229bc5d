"""Signal where only clades are known: is the clade of a leaf that was held out predicted from its features?"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ..trees import Tree
from ._signal_labelled import Matrix, Statistics, agreement_left_out, left_out_forms, permuted_forms

__all__ = ["clade_statistics"]


def clade_statistics(kernels: Mapping[str, Matrix], tree: Tree, permutations: NDArray[np.int64]) -> Statistics:
    """float[B, s], how well the clades of each leaf are predicted from all others, and by what.

    Membership in each of the tree's splits, centred and scaled to the same variance, is predicted by ridge regression
    in each representation of the features, each leaf from all others in closed form.

    Parameters
    ----------
    kernels
        float[m, m] each, of representations of the features, the rows in the order of the tree's leaves.
    tree
        With at least one split.
    permutations
        int[B, m], see :func:`labelled_statistics`.
    """
    member = tree.splits().T.astype(np.float64)
    member -= member.mean(axis=0)
    member /= np.linalg.norm(member, axis=0)
    gram = member @ member.T
    forms = np.stack([form for kernel in kernels.values() for form in left_out_forms(kernel)])
    inner = permuted_forms(forms, gram[None], permutations)[:, 0]
    values = agreement_left_out(inner[:, ::2], inner[:, 1::2], float(np.trace(gram)))
    per = values.shape[1] // len(kernels)
    return values, [(name, "held-out clade membership") for name in kernels for _ in range(per)]
