"""Priors from the names of C. elegans cells, which spell the path from the zygote."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from typing import Literal

from ._tree import Tree
from ._tree_checks import check_ordered, some_names

__all__ = ["prior_from_lineage_names"]

_logger = logging.getLogger(__name__)

_MOTHER_OF_FOUNDER = {
    "AB": "P0",
    "P1": "P0",
    "EMS": "P1",
    "P2": "P1",
    "MS": "EMS",
    "E": "EMS",
    "C": "P2",
    "P3": "P2",
    "D": "P3",
    "P4": "P3",
    "Z2": "P4",
    "Z3": "P4",
}
_PATH = re.compile(r"(?:(p0|p1|p2|p3|ems)|(ab|ms|e|c|d|p4|z2|z3)([aplrdv]*))", re.IGNORECASE | re.ASCII)
_AXIS = {"a": "a/p", "p": "a/p", "l": "l/r", "r": "l/r", "d": "d/v", "v": "d/v"}


def prior_from_lineage_names(names: Iterable[str], *, unknown: Literal["error", "skip"] = "error") -> Tree:
    """The known tree of C. elegans cells, from their lineage names alone.

    A name is a founder cell (AB, MS, E, C, D, P4, Z2, Z3) and a letter for each division since: anterior or posterior,
    left or right, dorsal or ventral. The founders come from P0 = (AB, P1), P1 = (EMS, P2), EMS = (MS, E), P2 = (C, P3),
    P3 = (D, P4) and P4 = (Z2, Z3); P0 to P3 and EMS are names too. P4's daughters may be called P4a and P4p instead,
    but not both in one call, as names alone do not say which is which. Names of postembryonic blast cells (``V5.pa``)
    do not spell the path from the zygote.

    Parameters
    ----------
    names
        The leaves, each once; none may be the ancestor of another. Case does not matter; names are kept as given.
    unknown
        What to do with names that are no path: ``"error"`` lists and refuses them, ``"skip"`` leaves them out of the
        prior and logs how many there were.

    Returns
    -------
    Tree
        Rooted at the last common ancestor; the internal nodes are the branchings, with their cells' names. A branch is
        as long as the number of divisions along it, so that distances are those in the complete lineage (the paper's
        "Based on Reference Tree").

    Raises
    ------
    ValueError
        If a name is no path, comes twice, or is an ancestor of another, or if a cell would divide along two axes.

    Examples
    --------
    >>> prior = prior_from_lineage_names(["ABala", "ABalp", "MSa", "E", "P4"])
    >>> print(prior)
    P0─┬─ABal─┬─ABala
       │      └─ABalp
       └─P1─┬─EMS─┬─MSa
            │     └─E
            └─P4
    >>> prior.restrict(["ABala", "P4"]).distances()
    array([[0., 8.],
           [8., 0.]])
    """
    check_ordered(names, "names")
    if unknown not in ("error", "skip"):
        raise ValueError(f"unknown={unknown!r} was given; it is 'error' or 'skip'.")
    given = [str(name) for name in names]
    cells = [_canonical(name) for name in given]
    strange = [name for name, cell in zip(given, cells, strict=True) if cell is None]
    if strange:
        these = f"{len(strange)} {'name is' if len(strange) == 1 else 'names are'} no path in the C. elegans lineage"
        if unknown == "error":
            raise ValueError(
                f"{these}: {some_names(strange)}. A path is a founder (AB, MS, E, C, D, P4, Z2, Z3) and "
                "letters of a, p, l, r, d, v, or one of P0, P1, P2, P3, EMS. Rename these, or leave them out with "
                "unknown='skip'."
            )
        _logger.warning("%s and left out of the prior: %s.", these, some_names(strange))
    leaves: dict[str, str] = {}
    twice: list[str] = []
    for name, cell in zip(given, cells, strict=True):
        if cell in leaves:
            twice.append(f"{leaves[cell]!r} and {name!r}")
        elif cell is not None:
            leaves[cell] = name
    if not leaves:
        raise ValueError(
            f"None of the {len(given)} names is a path in the C. elegans lineage; at least one was needed."
        )
    if twice:
        raise ValueError(
            f"Some names are those of the same cell: {_some_pairs(twice)}. Each leaf must come once, and case does not "
            "matter; drop or pool the rows of the same cell."
        )
    return _grown(leaves)


def _canonical(name: str) -> str | None:
    """``ABALA`` and ``abala`` as ``ABala``; None if the name is no path."""
    path = _PATH.fullmatch(name)
    return (path[1] or path[2]).upper() + (path[3] or "").lower() if path else None


def _mother(cell: str) -> str:
    return _MOTHER_OF_FOUNDER.get(cell) or cell[:-1]


def _grown(leaves: dict[str, str]) -> Tree:
    """The tree of all cells from P0 to the leaves (canonical name to name as given), with branchings only."""
    mother: dict[str, str] = {}
    daughters: dict[str, list[str]] = {}
    for cell in leaves:
        while cell != "P0" and cell not in mother:
            mother[cell] = _mother(cell)
            daughters.setdefault(mother[cell], []).append(cell)
            cell = mother[cell]
    _check_no_ancestors(leaves, mother, daughters)
    for cell, pair in daughters.items():
        axes = {"founders" if daughter in _MOTHER_OF_FOUNDER else _AXIS[daughter[-1]] for daughter in pair}
        if len(axes) > 1:
            raise ValueError(
                f"{cell} would divide into {', '.join(sorted(pair))}, but a cell divides once: into a and p, l and r, "
                "or d and v (P4 into Z2 and Z3, or P4a and P4p). Correct the names that begin with the wrong ones."
            )
    inner = list(daughters)
    number = {cell: i for i, cell in enumerate([*leaves, *inner])}
    full = Tree(
        [number[mother[cell]] if cell in mother else -1 for cell in number],
        list(leaves.values()),
        [1.0] * len(number),
        inner,
        rooted=True,
    )
    return full.collapse_unary()


def _check_no_ancestors(leaves: dict[str, str], mother: dict[str, str], daughters: dict[str, list[str]]) -> None:
    above = {cell for cell in leaves if cell in daughters}
    if not above:
        return
    pairs: list[str] = []
    for cell, name in leaves.items():
        up = cell
        while (up := mother.get(up, "")) and up not in above:
            pass
        if up:
            pairs.append(f"{leaves[up]!r} of {name!r}")
    raise ValueError(
        f"Some names are those of ancestors of others: {_some_pairs(pairs)}. A leaf cannot be the ancestor of another "
        "leaf; drop one of each two, or pool their rows."
    )


def _some_pairs(pairs: list[str], most: int = 3) -> str:
    return "; ".join(pairs[:most]) + (f" and {len(pairs) - most} more" if len(pairs) > most else "")
