"""A tree as a figure."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..trees import Tree
from ..trees._same_leaves import check_same_leaves
from ..trees._splits import split_hashes
from ..trees._tree_checks import check_tree, some_names
from ._layout import edge_paths, node_positions, to_circle
from ._matplotlib import require_matplotlib
from ._palette import GREY, WRONG, leaf_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["tree"]

_MOST_LABELS = 80
_DASHES = (0, (1.2, 0.6))


def tree(
    tree: Tree,
    *,
    ax: Axes | None = None,
    color: Mapping[str, Any] | None = None,
    layout: Literal["rectangular", "circular"] = "rectangular",
    truth: Tree | None = None,
    support: bool = True,
    labels: bool | None = None,
) -> Axes:
    """Draw a tree with matplotlib.

    Branches are drawn to length where the tree has lengths (negative ones as 0), otherwise all leaves stand level. An
    unrooted tree is drawn from the node where it happens to be held.

    Parameters
    ----------
    tree
        What to draw.
    ax
        Axes to draw into; default a new figure of a fitting size.
    color
        Leaf name to group (anything hashable) or to colour (``"#rrggbb"`` or an RGB tuple). A branch has the colour
        that all leaves below it share; leaves without one are grey.
    layout
        ``"rectangular"``, root at the left, or ``"circular"``, root in the centre.
    truth
        A tree of the same leaves: branches whose split it does not have are drawn dashed, in red.
    support
        Whether to write the support of the branches, in per cent, where the tree has it (shares up to 1 times 100).
    labels
        Whether to write the names of the leaves; default: up to 80 of them.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from celltreeqm import Tree, pl
    >>> ax = pl.tree(Tree([3, 3, 4, 4, -1], ["a", "b", "c"], rooted=True), color={"a": "one", "b": "one"})
    >>> sorted(text.get_text() for text in ax.texts)
    ['a', 'b', 'c']
    """
    if layout not in ("rectangular", "circular"):
        raise ValueError(f"layout={layout!r} was given; it is 'rectangular' or 'circular'.")
    check_tree(tree)
    if color is not None and not hasattr(color, "items"):
        raise TypeError(
            f"A {type(color).__name__} came as color; a mapping from leaf name to group or colour was needed."
        )
    if color and not any(name in tree.index for name in color):
        raise ValueError(
            f"None of the {len(color)} names in color is a leaf of this tree; its leaves are {some_names(tree.leaves)}."
        )
    if ax is not None and not hasattr(ax, "add_collection"):
        raise TypeError(f"ax is of type {type(ax).__name__}; matplotlib axes were needed.")
    require_matplotlib()
    from matplotlib.collections import LineCollection

    wrong = np.zeros(tree.n_nodes, dtype=bool) if truth is None else _wrong_branches(tree, truth)
    of_leaf, of_group = leaf_colors({} if color is None else color)
    circular, n = layout == "circular", tree.n_leaves
    ax = _new_axes(n, circular=circular) if ax is None else ax
    positions = node_positions(tree)
    span = float(positions[:, 0].max()) or 1.0
    branch_colors = _branch_colors(tree, of_leaf)
    width = float(np.clip(60 / n, 0.6, 1.5))
    paths = edge_paths(tree, positions, circular=circular)
    right = np.flatnonzero(~wrong[:-1]).tolist()
    ax.add_collection(
        LineCollection(
            [paths[node] for node in right],
            colors=[branch_colors[node] for node in right],
            linewidths=width,
            capstyle="round",
            joinstyle="round",
        )
    )
    missed = [paths[node] for node in np.flatnonzero(wrong).tolist()]
    ax.add_collection(LineCollection(missed, colors=WRONG, linewidths=1.4 * width, linestyles=[_DASHES], zorder=3))
    at = to_circle(positions, n) if circular else positions
    if of_leaf:
        size = float(np.clip(900 / n, 2, 18))
        ax.scatter(at[:n, 0], at[:n, 1], s=size, c=branch_colors[:n], linewidths=0, zorder=4)
    named = n <= _MOST_LABELS if labels is None else labels
    if named:
        _write_leaf_names(ax, tree, positions, span, circular=circular)
    if support and tree.support is not None:
        _write_support(ax, tree, at)
    _frame(ax, tree, at, span, circular=circular, named=named)
    _legend(ax, of_group, wrong_shown=truth is not None and bool(wrong.any()))
    return ax


def _wrong_branches(tree: Tree, truth: Tree) -> NDArray[np.bool_]:
    check_tree(truth, "the truth")
    check_same_leaves(tree, truth)
    known = {tuple(pair) for pair in split_hashes(truth).tolist()}
    found = np.array([tuple(pair) not in known for pair in split_hashes(tree).tolist()])
    found[-1] = False
    return found


def _branch_colors(tree: Tree, of_leaf: Mapping[str, Any]) -> list[Any]:
    """The colour above each node: that of all leaves below it, grey where they differ or have none."""
    colors: list[Any] = [of_leaf.get(name, GREY) for name in tree.leaves] + [None] * (tree.n_nodes - tree.n_leaves)
    for node, up in enumerate(tree.parent[:-1].tolist()):
        colors[up] = colors[node] if colors[up] is None or colors[up] == colors[node] else GREY
    return colors if of_leaf else ["#303030"] * tree.n_nodes


def _new_axes(n: int, *, circular: bool) -> Axes:
    import matplotlib.pyplot as plt

    size = (7.5, 6.5) if circular else (5.5, float(np.clip(0.17 * n + 0.6, 2.0, 14.0)))
    return plt.subplots(figsize=size, layout="constrained")[1]


def _write_leaf_names(ax: Axes, tree: Tree, positions: NDArray[np.float64], span: float, *, circular: bool) -> None:
    n = tree.n_leaves
    size = float(np.clip(300 / n, 5.0, 8.0))
    beside = positions[:n].copy()
    beside[:, 0] += 0.02 * span
    for name, (x, y) in zip(tree.leaves, to_circle(beside, n) if circular else beside, strict=True):
        turn, side = 0.0, "left"
        if circular:
            turn = float(np.degrees(np.arctan2(y, x)))
            if abs(turn) > 90:
                turn, side = turn + 180, "right"
        ax.text(
            x, y, name, size=size, rotation=turn, ha=side, va="center_baseline" if not circular else "center",
            rotation_mode="anchor", color="#303030", parse_math=False,
        )  # fmt: skip


def _write_support(ax: Axes, tree: Tree, at: NDArray[np.float64]) -> None:
    assert tree.support is not None
    size = float(np.clip(240 / tree.n_leaves, 3.0, 6.5))
    percent = 1 if (tree.support > 1).any() else 100  # what is above 1 is in per cent already
    for node in range(tree.n_leaves, tree.root):
        if not np.isnan(tree.support[node]):
            ax.annotate(
                f"{percent * tree.support[node]:.0f}", at[node], xytext=(-1.5, 1.0), textcoords="offset points",
                size=size, ha="right", va="bottom", color="#606060",
            )  # fmt: skip


def _frame(ax: Axes, tree: Tree, at: NDArray[np.float64], span: float, *, circular: bool, named: bool) -> None:
    ax.set_axis_off()
    if circular:
        ax.set_aspect("equal")
        reach = (1.18 if named else 1.04) * span
        ax.set_xlim(-reach, reach)
        ax.set_ylim(-reach, reach)
        return
    n = tree.n_leaves
    ax.set_xlim(-0.04 * span, (1.12 if named else 1.02) * span)
    ax.set_ylim(n - 0.3, -0.7)
    if tree.rooted:
        ax.plot([-0.02 * span, 0.0], [at[-1, 1]] * 2, color=GREY, lw=1, zorder=1)
    if tree.lengths is not None:
        _scale_bar(ax, span, n)


def _scale_bar(ax: Axes, span: float, n: int) -> None:
    rough = span / 5
    unit = 10.0 ** np.floor(np.log10(rough))
    length = unit * max(step for step in (1, 2, 5) if step * unit <= rough)
    ax.set_ylim(n + 0.06 * n + 0.6, -0.7)
    y = n - 0.3 + 0.03 * n
    ax.plot([0, length], [y, y], color="#606060", lw=1.2, solid_capstyle="butt")
    ax.text(length + 0.015 * span, y, f"{length:g}", size=7, va="center", color="#606060")


def _legend(ax: Axes, of_group: Mapping[Hashable, Any], *, wrong_shown: bool) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color=color, lw=2.5, label=str(group)) for group, color in of_group.items()]
    if wrong_shown:
        handles.append(Line2D([], [], color=WRONG, lw=2.0, ls=_DASHES, label="not in the truth"))
    if handles:
        legend = ax.legend(
            handles=handles, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=8, handlelength=1.4,
            ncols=1 + len(handles) // 25,
        )  # fmt: skip
        for text in legend.get_texts():
            text.set_parse_math(False)
