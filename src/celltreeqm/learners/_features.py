"""Feature matrices at the door: what every learner accepts, and the sentence it says when it cannot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..trees._tree_checks import checked_leaves, some_names

if TYPE_CHECKING:
    import pandas as pd
    from scipy import sparse

__all__ = ["CheckedFeatures", "FeatureMatrix", "check_features", "feature_values", "features_like", "own_row_names"]

FeatureMatrix: TypeAlias = "ArrayLike | pd.DataFrame | sparse.sparray | sparse.spmatrix"


class CheckedFeatures(NamedTuple):
    """A feature matrix that may be computed with: float[n, g], finite and read-only, with the names that it came with.

    Parameters
    ----------
    values
        float64[n, g], a copy in C order.
    leaves
        The n names of the rows.
    names
        The g names of the columns, or None if there were none.
    """

    values: NDArray[np.float64]
    leaves: tuple[str, ...]
    names: tuple[str, ...] | None


def check_features(features: FeatureMatrix, leaves: Sequence[str] | None = None) -> CheckedFeatures:
    """A finite float[n, g] copy of a feature matrix with its names, or an error that says where it cannot be used.

    Parameters
    ----------
    features
        One row a taxon, one column a feature: an array, a scipy sparse matrix (made dense) or a DataFrame.
    leaves
        The n names of the rows. A DataFrame brings its own, and its index must then be the same names in the same order
        where both are given (an index that merely counts 0, 1, 2, ... does not matter).

    Returns
    -------
    CheckedFeatures
        ``values``, ``leaves`` and ``names``.

    Raises
    ------
    ValueError
        If there is no feature, the rows do not match the names, or a value is not finite; the leaf and the column of
        the first such value are named.

    Examples
    --------
    >>> check_features([[1, 2], [3, 4]], ["a", "b"]).values
    array([[1., 2.],
           [3., 4.]])
    >>> check_features([[1, 2], [3, float("nan")]], ["a", "b"])
    Traceback (most recent call last):
    ValueError: The value of leaf 'b' (row 1) in feature column 1 is nan; features must be finite. ...
    """
    own = own_row_names(features)
    if leaves is None:
        if own is None:
            raise ValueError(
                "The features came without leaf names. Pass leaves, one name a row, "
                "or a DataFrame that has them as its index."
            )
        leaves = own
    names = checked_leaves(leaves)
    values, columns = feature_values(features)
    if len(names) != len(values):
        turned = " The matrix seems to be turned: pass its transpose." if len(names) == values.shape[1] else ""
        raise ValueError(
            f"{len(names)} leaf names came with a {values.shape[0]} x {values.shape[1]} feature matrix; one name a row "
            f"was needed.{turned}"
        )
    if own is not None and tuple(own) != names:
        row = next(i for i, (mine, given) in enumerate(zip(own, names, strict=True)) if mine != given)
        raise ValueError(
            f"Row {row} of the features is called {own[row]!r} and leaf {row} is {names[row]!r}; the rows must be the "
            "leaves in the same order. Pass features.loc[list(leaves)], or leave the leaves out."
        )
    _check_finite(values, names, columns)
    return CheckedFeatures(values, names, columns)


def features_like(features: FeatureMatrix, n_features: int, names: Sequence[str] | None) -> NDArray[np.float64]:
    """float[n, g], new rows of the features that a learner was fitted on; columns with names are put into their order.

    Parameters
    ----------
    features
        As in :func:`check_features`; any number of rows.
    n_features, names
        The number of features of the fit, and their names if they had any.
    """
    values, columns = feature_values(features)
    if values.shape[1] != n_features:
        raise ValueError(
            f"The new matrix has {values.shape[1]} features and the fit was made with {n_features}; a new matrix needs "
            "the same features."
        )
    if names is not None and columns is not None and columns != tuple(names):
        index = {name: i for i, name in enumerate(columns)}
        missing = [name for name in names if name not in index]
        if missing or len(index) < len(columns):
            what = f"{len(missing)} are missing: {some_names(missing)}" if missing else "some names occur twice"
            raise ValueError(
                f"The new matrix does not have the features of the fit; {what}. Select the same features, or pass a "
                "plain array whose columns are in the order of the fit."
            )
        values = np.ascontiguousarray(values[:, [index[name] for name in names]])
    rows = own_row_names(features)
    _check_finite(values, rows, names or columns)
    return values


def feature_values(features: FeatureMatrix) -> tuple[NDArray[np.float64], tuple[str, ...] | None]:
    """float64[n, g], read-only, and the names of the columns if there are any; not checked to be finite."""
    columns = getattr(features, "columns", None)
    names = None if columns is None else tuple(str(name) for name in columns)
    dense: Callable[[], NDArray[np.float64]] | None = getattr(features, "toarray", None)
    try:
        plain = np.asarray(features if dense is None else dense())
        if isinstance(features, np.ma.MaskedArray):
            plain = np.where(np.ma.getmaskarray(features), np.nan, plain)  # what is masked is missing
        if np.iscomplexobj(plain):
            raise TypeError("they are complex")
        values = np.array(plain, dtype=np.float64, order="C")
    except (TypeError, ValueError) as problem:
        raise ValueError(
            f"The features cannot be read as numbers: {problem}. Pass a float array [n taxa, g features]."
        ) from None
    if values.ndim != 2:
        raise ValueError(f"The features have shape {values.shape}; a matrix [n taxa, g features] was needed.")
    if not values.shape[1]:
        raise ValueError(f"The matrix of {values.shape[0]} rows has no features; at least 1 column was needed.")
    values.flags.writeable = False
    return values, names


def own_row_names(features: FeatureMatrix) -> tuple[str, ...] | None:
    """The row names that a DataFrame brings; None for anything else, and for an index that only counts."""
    if not hasattr(features, "columns"):
        return None
    index = list(getattr(features, "index", ()))
    return None if index == list(range(len(index))) else tuple(index)


def _check_finite(values: NDArray[np.float64], leaves: Sequence[str] | None, columns: Sequence[str] | None) -> None:
    finite = np.isfinite(values)
    if finite.all():
        return
    row, column = (int(i) for i in np.argwhere(~finite)[0])
    bad = int((~finite).sum())
    leaf = f"row {row}" if leaves is None else f"leaf {leaves[row]!r} (row {row})"
    feature = f"feature column {column}" if columns is None else f"feature {columns[column]!r} (column {column})"
    more = f" {bad - 1} more {'is' if bad == 2 else 'are'} not." if bad > 1 else ""
    raise ValueError(
        f"The value of {leaf} in {feature} is {values[row, column]}; features must be finite.{more} Drop such features "
        "or leaves, or fill the values in."
    )
