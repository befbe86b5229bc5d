"""What ``print(tree)`` shows: a small tree in box-drawing characters, the top of a large one."""

from __future__ import annotations

import math
from collections import deque

from ._tree import Tree

__all__ = ["draw"]

_MOST_LINES = 60
_MOST_COLUMNS = 100


def draw(tree: Tree) -> str:
    """The tree as text, the root on the left, a line a leaf.

    Internal nodes show their name and support where they have them. Of a tree that would take more than 60 lines, or
    reach much further than 100 columns to the right, the top is drawn: ``(… 37 leaves)`` stands for what lies below a
    node that is not opened.

    Parameters
    ----------
    tree
        Any tree; an unrooted one hangs from the node that its arrays have as root.

    Returns
    -------
    str
        The lines, without a line break at the end.

    Examples
    --------
    >>> print(draw(Tree([4, 4, 5, 5, 6, 6, -1], ["a", "b", "c", "d"], node_names=["x", None, "top"])))
    top─┬─x─┬─a
        │   └─b
        └─┬─c
          └─d
    """
    shown = _opened(tree)
    lines, line = [], ""
    # What to draw, the start of its line (None: it goes on where the line is), and the start of the lines below it.
    waiting: list[tuple[int | str, str | None, str]] = [(tree.root, None, "")]
    while waiting:
        item, start, margin = waiting.pop()
        if start is not None:
            lines.append(line)
            line = start
        if isinstance(item, str):
            line += item
            continue
        label = _label(tree, item)
        if item < tree.n_leaves:
            line += label
            continue
        stem = f"{label}─" if label else ""
        if item not in shown:
            line += f"{stem}(… {_count(int(tree.n_below[item]))})"
            continue
        children = tree.children[item]
        drawn: list[int | str] = list(children[: shown[item]])
        if len(drawn) < len(children):
            hidden = children[len(drawn) :]
            drawn.append(f"(… {len(hidden)} more branches, {_count(sum(int(tree.n_below[i]) for i in hidden))})")
        margin += " " * len(stem)
        line += stem + ("┬─" if len(drawn) > 1 else "──")
        for child in drawn[:0:-1]:
            last = child == drawn[-1]
            waiting.append((child, margin + ("└─" if last else "├─"), margin + ("  " if last else "│ ")))
        waiting.append((drawn[0], None, margin + ("│ " if len(drawn) > 1 else "  ")))
    return "\n".join([*lines, line])


def _opened(tree: Tree) -> dict[int, int]:
    """How many children to draw of each node that is opened: level by level, as long as there is room."""
    shown: dict[int, int] = {}
    lines = 1
    queue = deque([(tree.root, 0)])
    while queue:
        node, column = queue.popleft()
        children = tree.children[node]
        if not children or column > _MOST_COLUMNS:
            continue
        if lines - 1 + len(children) <= _MOST_LINES:
            shown[node] = len(children)
        elif lines == 1:
            shown[node] = _MOST_LINES - 1
        else:
            continue
        lines += min(len(children), _MOST_LINES) - 1
        label = _label(tree, node)
        column += len(label) + 1 + 2 if label else 2
        queue.extend((child, column) for child in children[: shown[node]])
    return shown


def _label(tree: Tree, node: int) -> str:
    support = math.nan if tree.support is None or node < tree.n_leaves else float(tree.support[node])
    name = "".join(c if c.isprintable() else repr(c)[1:-1] for c in tree.name(node) or "")
    return " ".join(filter(None, [name, "" if math.isnan(support) else f"{support:.3g}"]))


def _count(leaves: int) -> str:
    return f"{leaves} {'leaf' if leaves == 1 else 'leaves'}"
