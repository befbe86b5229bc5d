"""Priors: what is known of a lineage, as trees; where they come from and whether they contradict each other."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ._tree import Tree
from ._tree_checks import check_ordered, check_tree, count_of, some_names

__all__ = ["check_priors", "find_conflict", "prior_at_level", "prior_from_clades"]


_NOT_A_CLADE = {"", "nan", "NaN", "None", "<NA>", "NaT"}


def prior_from_clades(
    clades: Mapping[str, Any] | Sequence[Any] | Any,
    leaves: Sequence[str] | None = None,
    *,
    outside: Collection[Any] = (),
) -> Tree:
    """A prior that says which leaves form clades, and nothing about what is inside them or between them.

    The tree has a root, one node per clade and the clade's leaves below it as a polytomy; a clade of one leaf is that
    leaf at the root. A quartet is known if and only if its leaves fall into clades as (2, 2) or (2, 1, 1): the paper's
    high-level partition setting.

    Parameters
    ----------
    clades
        The clade of each leaf: a mapping or a pandas Series from leaf name to label, or a sequence of labels in the
        order of ``leaves``. A leaf whose label is missing (NaN, None, NA) is not in the prior: it may go anywhere,
        inside a clade too.
    leaves
        The leaf names, where ``clades`` is a plain sequence.
    outside
        Labels that mean "outside every clade". Such leaves are in the prior, at its root, each on its own.

    Returns
    -------
    Tree
        Rooted; its internal nodes bear the labels as names.

    Examples
    --------
    >>> prior = prior_from_clades({"a": "AB", "b": "AB", "c": "MS", "d": "MS", "e": None})
    >>> prior.clades(1)
    (('a', 'b'), ('c', 'd'))
    """
    pairs = _labelled(clades, leaves)
    outside = (outside,) if isinstance(outside, str) or not isinstance(outside, Iterable) else tuple(outside)
    kept = [(name, label) for name, label in pairs if not is_missing(label)]
    if not kept:
        raise ValueError(
            f"None of the {len(pairs)} leaves has a clade label, so there is nothing to know. Pass prior=None instead."
        )
    for name, label in kept:
        if not isinstance(label, Hashable):
            raise TypeError(f"The clade label of {name!r} is {label!r}; a string or a number was needed.")
    texts = sorted(
        label for _, label in kept if isinstance(label, str) and label.strip() in _NOT_A_CLADE and label not in outside
    )
    if texts:
        raise ValueError(
            f"The text {texts[0]!r} came as a clade label, which is what missing values become when labels are made "
            "text. Pass them as missing (NaN or None), or name the text in outside."
        )
    present = list(dict.fromkeys(label for _, label in kept))
    absent = [label for label in outside if label not in present]
    if absent:
        raise ValueError(
            f"outside names {some_names([str(label) for label in absent])}, which no leaf bears; "
            f"the labels are {some_names([str(label) for label in sorted(present, key=str)], 6)}. Check the spelling."
        )
    members: dict[Any, list[int]] = {}
    for i, (_, label) in enumerate(kept):
        if label not in outside:
            members.setdefault(label, []).append(i)
    groups = [(label, group) for label, group in members.items() if len(group) > 1]
    n = len(kept)
    root = n + len(groups)
    if n == 1:
        return Tree([-1], [kept[0][0]], rooted=True)
    parent = [root] * root + [-1]
    for node, (_, group) in enumerate(groups, start=n):
        for i in group:
            parent[i] = node
    tree = Tree(parent, [name for name, _ in kept], None, [str(label) for label, _ in groups] + [None], rooted=True)
    return tree.collapse_unary()


def prior_at_level(tree: Tree, level: int) -> Tree:
    """The prior that knows the clades of a rooted tree at a level (see :meth:`Tree.clade_labels`) and no more.

    Parameters
    ----------
    tree
        A rooted tree.
    level
        Branching steps below the root, from 0, which knows nothing.

    Returns
    -------
    Tree
        As :func:`prior_from_clades` makes it.

    Examples
    --------
    >>> tree = Tree([4, 4, 5, 5, 6, 6, -1], ["a", "b", "c", "d"], rooted=True)
    >>> prior_at_level(tree, 1).same_topology(tree)
    True
    """
    check_tree(tree)
    return prior_from_clades(tree.clade_labels(level).tolist(), tree.leaves)


def check_priors(prior: Tree | Iterable[Tree] | None, leaves: Sequence[str] | None = None) -> tuple[Tree, ...]:
    """The prior's trees, after making sure that they can be used together for these leaves.

    Parameters
    ----------
    prior
        One tree, several, or None.
    leaves
        The names that the prior's leaves must be among; None skips that check.

    Raises
    ------
    ValueError
        If the prior has leaves that the data lack, or if two of its trees contradict each other; a quartet shows where.
    """
    trees = listed_priors(prior)
    if leaves is not None:
        check_ordered(leaves)
        known = set(leaves)
        missing = [name for tree in trees for name in tree.leaves if name not in known]
        missing = list(dict.fromkeys(missing))
        if missing:
            raise ValueError(
                f"{count_of(len(missing), 'leaf of the prior has', 'leaves of the prior have')} no row in the data: "
                f"{some_names(missing)}. Drop {'it' if len(missing) == 1 else 'them'} with prior.restrict(leaves)."
            )
    for j, second in enumerate(trees):
        for i, first in enumerate(trees[:j]):
            conflict = find_conflict(first, second)
            if conflict:
                (a, b, c, d), (e, f, g, h) = conflict
                raise ValueError(
                    f"Prior trees {i + 1} and {j + 1} contradict each other: the first says {a!r}, {b!r} | {c!r}, "
                    f"{d!r} and the second {e!r}, {f!r} | {g!r}, {h!r}. Correct one of them or leave it out."
                )
    return trees


def listed_priors(prior: Tree | Iterable[Tree] | None) -> tuple[Tree, ...]:
    """The prior's trees, none, one or several, without a look at what they say."""
    if prior is None:
        return ()
    trees = (prior,) if isinstance(prior, Tree) or not isinstance(prior, Iterable) else tuple(prior)
    for tree in trees:
        if not isinstance(tree, Tree):
            raise TypeError(
                f"A prior of type {type(tree).__name__} was given; a Tree, a sequence of Trees or None was needed. "
                "Make one with read_newick, prior_from_clades or prior_from_lineage_names."
            )
    return trees


def find_conflict(first: Tree, second: Tree) -> tuple[tuple[str, str, str, str], tuple[str, str, str, str]] | None:
    """A quartet that two trees resolve differently, as each resolves it, or None if there is none.

    Two trees have a common refinement if and only if there is no such quartet. If there is one, there is one with any
    leaf that both have, so one leaf is fixed and the others are compared in O(n^2).

    Parameters
    ----------
    first, second
        Any trees; leaves that only one of them has do not matter, nor do roots.

    Returns
    -------
    tuple or None
        ``((a, b, c, d), (e, f, g, h))``: the first tree says ab|cd, the second, of the same four leaves, ef|gh.

    Examples
    --------
    >>> ab = Tree([4, 4, 5, 5, 5, -1], ["a", "b", "c", "d"])
    >>> ac = Tree([4, 5, 4, 5, 5, -1], ["a", "b", "c", "d"])
    >>> find_conflict(ab, ac)
    (('a', 'b', 'c', 'd'), ('a', 'c', 'b', 'd'))
    """
    check_tree(first, "the first tree")
    check_tree(second, "the second tree")
    shared = [name for name in first.leaves if name in second.index]
    if len(shared) < 4:
        return None
    one, two = (tree.restrict(shared) for tree in (first, second))
    one, two = one.reorder(shared).unroot(), two.reorder(shared).unroot()
    rows = np.arange(1, len(shared))
    found = contradiction(path_steps(one), path_steps(two), np.append(rows, 0), np.append(rows, 0))
    if found[0] < 0:
        return None
    z, a, b, c = (shared[rows[i] if i < len(rows) else 0] for i in (len(rows), *found.tolist()))
    return _in_order(a, b, c, z), _in_order(a, c, b, z)


def _in_order(a: str, b: str, c: str, d: str) -> tuple[str, str, str, str]:
    (e, f), (g, h) = sorted([sorted([a, b]), sorted([c, d])])
    return e, f, g, h


def path_steps(tree: Tree) -> NDArray[np.int32]:
    """int32[n, n], the number of edges between leaves; resolves quartets exactly."""
    return tree.distances(by="topology").astype(np.int32)


@njit(cache=True)
def contradiction(first, second, rows_first, rows_second):  # type: ignore[no-untyped-def]
    """Three items (a, b, c) that, with the last item z, one tree resolves ab|cz and the other ac|bz; -1s if none.

    ``first`` and ``second`` are path steps; item i is leaf ``rows_first[i]`` of the one and ``rows_second[i]`` of the
    other. Rooted at z, b joins a before c does where the path b-z leaves the path a-z farther from z. For each a, the
    two trees' orders of joining must not be reversed for any pair.
    """
    k = len(rows_first)
    z, w = rows_first[k - 1], rows_second[k - 1]
    none = np.full(3, -1, dtype=np.int64)
    if k < 4:
        return none
    top = 0
    for i in range(k - 1):
        top = max(top, first[rows_first[i], z])
    low = np.empty(top + 1, dtype=np.int64)
    low_at = np.empty(top + 1, dtype=np.int64)
    high = np.empty(top + 1, dtype=np.int64)
    high_at = np.empty(top + 1, dtype=np.int64)
    for i in range(k - 1):
        a, a2 = rows_first[i], rows_second[i]
        low[:] = 1 << 40
        high[:] = -1
        for j in range(k - 1):
            if j == i:
                continue
            b, b2 = rows_first[j], rows_second[j]
            here = (first[a, z] + first[b, z] - first[a, b]) // 2
            there = (second[a2, w] + second[b2, w] - second[a2, b2]) // 2
            if there < low[here]:
                low[here], low_at[here] = there, j
            if there > high[here]:
                high[here], high_at[here] = there, j
        best, best_at = -1, -1  # the latest joining so far among those that join earlier here
        for here in range(top + 1):
            if high[here] >= 0:
                if best > low[here]:
                    found = np.empty(3, dtype=np.int64)
                    found[0], found[1], found[2] = i, low_at[here], best_at
                    return found
                if high[here] > best:
                    best, best_at = high[here], high_at[here]
    return none


def _labelled(clades: Any, leaves: Sequence[str] | None) -> list[tuple[str, Any]]:
    if getattr(clades, "ndim", 1) != 1:
        raise ValueError(
            f"The clade labels have {clades.ndim} dimensions; one label a leaf was needed. "
            "Pass one column of a table, for instance adata.obs['clade']."
        )
    if leaves is None:
        if not hasattr(clades, "items"):
            raise ValueError(
                f"The clade labels came as {type(clades).__name__} without leaf names. "
                "Pass leaves as well, or a mapping or Series from leaf name to label."
            )
        return [(name if isinstance(name, str) else str(name), label) for name, label in clades.items()]
    if hasattr(clades, "items") and (isinstance(clades, Mapping) or _names_leaves(clades.index, leaves)):
        missing = [name for name in leaves if name not in clades]
        if missing:
            raise ValueError(
                f"{count_of(len(missing), 'leaf has', 'leaves have')} no entry in the clades: {some_names(missing)}. "
                "Use None for no label."
            )
        if not getattr(getattr(clades, "index", None), "is_unique", True):
            raise ValueError("The clade labels name some leaves more than once. Keep one label a leaf.")
        return [(name, clades[name]) for name in leaves]
    check_ordered(leaves)
    check_ordered(clades, "clades")
    labels, leaves = list(clades), list(leaves)
    if len(labels) != len(leaves):
        raise ValueError(f"{len(labels)} clade labels came with {len(leaves)} leaf names; one label a leaf was needed.")
    return list(zip(leaves, labels, strict=True))


def _names_leaves(index: Iterable[Any], leaves: Sequence[str]) -> bool:
    """Whether a Series is indexed by leaf names; one that is numbered has its labels in the order of the leaves."""
    return any(isinstance(name, str) for name in index) or bool(set(index) & set(leaves))


def is_missing(label: Any) -> bool:
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(label, float | np.floating) and math.isnan(label)
