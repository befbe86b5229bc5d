"""What a tree's arrays must be like, and the sentences that say where they are not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "as_numbers",
    "bottom_up_rank",
    "check_nodes",
    "check_ordered",
    "check_tree",
    "checked_leaves",
    "checked_node_names",
    "checked_parent",
    "checked_values",
    "count_of",
    "is_whole",
    "some_names",
]


def check_tree(value: object, what: str = "the tree") -> None:
    """Raise a ``TypeError`` where something else came, such as a path or Newick text."""
    from ._tree import Tree

    if not isinstance(value, Tree):
        raise TypeError(
            f"A {type(value).__name__} came as {what}; a Tree was needed. "
            "Make one with read_newick(path) or parse_newick(text)."
        )


def is_whole(value: object) -> bool:
    """Whether a value is a whole number by type, Python's or numpy's; True and False are none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def as_numbers(values: ArrayLike, what: str) -> NDArray[np.float64]:
    """A fresh float64 array of real numbers, or a ``ValueError`` that says why ``what`` is none.

    What is masked is missing, and comes out as NaN.
    """
    try:
        if values is None:
            raise TypeError("None came")
        if hasattr(values, "toarray"):
            raise TypeError("they came as a sparse matrix, which .toarray() makes a plain one")
        if isinstance(values, np.ma.MaskedArray) and not np.iscomplexobj(values):
            values = np.ma.filled(np.ma.asarray(values, dtype=np.float64), np.nan)
        given = np.asarray(values)
        if np.iscomplexobj(given):
            raise TypeError("they are complex")
        return np.array(given, dtype=np.float64, order="C")
    except (TypeError, ValueError) as problem:
        why = str(problem).rstrip(".")
        raise ValueError(f"{what} cannot be read as numbers: {why}. Real numbers were needed.") from None


def check_ordered(names: object, what: str = "leaves") -> None:
    """Raise a ``TypeError`` where names came as one string, as a set or as no sequence at all."""
    if isinstance(names, str):
        raise TypeError(f"{what} is the single string {names!r}; a sequence of names was needed.")
    if isinstance(names, set | frozenset):
        raise TypeError(f"{what} is a set, which has no order; a sequence of names was needed. Sort it, for instance.")
    if not isinstance(names, Iterable):
        raise TypeError(f"{what} is of type {type(names).__name__}; a sequence of names was needed.")


def check_nodes(nodes: ArrayLike, m: int) -> None:
    """Raise a ``TypeError`` or ``ValueError`` where these are not numbers of a tree's m nodes."""
    picked = np.asarray(nodes)
    if picked.size and not np.issubdtype(picked.dtype, np.integer):
        raise TypeError(f"nodes has type {picked.dtype}; node numbers or a mask of booleans were needed.")
    bad = picked[(picked < 0) | (picked >= m)]
    if bad.size:
        raise ValueError(f"Node {bad.flat[0]} was asked for; this tree's nodes are 0 to {m - 1}.")


def checked_leaves(leaves: Iterable[str]) -> tuple[str, ...]:
    check_ordered(leaves)
    given: tuple[object, ...] = tuple(leaves)
    if not given:
        raise ValueError("A tree needs at least one leaf; no leaf names were given.")
    for i, name in enumerate(given):
        if not isinstance(name, str) or not name:
            raise TypeError(
                f"The name of leaf {i} is {name!r} ({type(name).__name__}); leaf names are non-empty strings. "
                "Convert them with str()."
            )
    names = tuple(str(name) for name in given)  # numpy's strings become plain ones
    if len(set(names)) < len(names):
        seen: set[str] = set()
        twice = sorted({name for name in names if name in seen or seen.add(name)})  # type: ignore[func-returns-value]
        raise ValueError(
            f"Leaf names must be unique; {count_of(len(twice), 'occurs', 'occur')} more than once: {some_names(twice)}."
        )
    return names


def checked_parent(parent: ArrayLike, n: int) -> NDArray[np.int64]:
    given = np.asarray(parent)
    if given.ndim != 1 or not (np.issubdtype(given.dtype, np.integer)):
        raise TypeError(
            f"parent has shape {given.shape} and type {given.dtype}; a one-dimensional array of ints was needed."
        )
    up = given.astype(np.int64)
    m = len(up)
    if m < n:
        raise ValueError(f"parent holds {m} nodes for {n} leaf names; every leaf needs its node.")
    roots = np.flatnonzero(up < 0)
    if len(roots) != 1:
        raise ValueError(f"{len(roots)} nodes have parent -1; a tree has exactly one root.")
    bad = np.flatnonzero((up >= m) | ((up >= 0) & (up < n)))
    if len(bad):
        raise ValueError(
            f"Node {bad[0]} has parent {up[bad[0]]}; parents are internal nodes, numbered {n} to {m - 1} here."
        )
    childless = np.setdiff1d(np.arange(n, m), up)
    if len(childless):
        raise ValueError(f"Internal node {childless[0]} has no children; only nodes 0 to {n - 1} are leaves.")
    if m > 1 and roots[0] < n:
        raise ValueError(f"Leaf {roots[0]} has no parent; only the root has none.")
    return up


def checked_values(values: ArrayLike | None, m: int, what: str) -> NDArray[np.float64] | None:
    if values is None:
        return None
    array = as_numbers(values, what)
    if array.shape != (m,):
        raise ValueError(f"{what} has shape {array.shape}; one value a node was needed: ({m},).")
    return array


def checked_node_names(names: Sequence[str | None] | None, n: int, k: int) -> tuple[str | None, ...] | None:
    if names is None:
        return None
    check_ordered(names, "node_names")
    given = [name or None for name in names]
    if len(given) != k:
        raise ValueError(f"{len(given)} node names were given for {k} internal nodes; give one (or None) for each.")
    for i, name in enumerate(given):
        if not (name is None or isinstance(name, str)):
            raise TypeError(
                f"The name of internal node {n + i} is {name!r} ({type(name).__name__}); a string or None was needed."
            )
    return tuple(name and str(name) for name in given) if any(given) else None  # numpy's strings become plain ones


def bottom_up_rank(parent: NDArray[np.int64], n: int) -> NDArray[np.int64] | None:
    """New number of each node such that nodes come before their parents; None if they do already."""
    m = len(parent)
    if bool((parent[:-1] > np.arange(m - 1)).all()) and parent[-1] == -1:
        return None
    up = parent.tolist()
    waiting = np.bincount(parent[parent >= 0], minlength=m).tolist()
    rank = np.full(m, -1, dtype=np.int64)
    rank[:n] = np.arange(n)
    ready, following = list(range(n)), n
    for node in ready:
        above = up[node]
        if above >= 0:
            waiting[above] -= 1
            if not waiting[above]:
                rank[above] = following
                following += 1
                ready.append(above)
    if following < m:
        raise ValueError(f"The parents of {m - following} internal nodes run in a circle; a tree has no cycles.")
    return rank


def frozen_array(array: NDArray[np.int64]) -> NDArray[np.int64]:
    array.flags.writeable = False
    return array


def count_of(count: int, one: str, many: str) -> str:
    """``1 leaf`` or ``2 leaves``."""
    return f"{count} {one if count == 1 else many}"


def some_names(names: Sequence[str], most: int = 3) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
