"""The Newick grammar: one pass over the tokens, without recursion, that knows at each token what may come."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike

from ._tree import Tree

__all__ = ["count_trees", "looks_like_newick", "quoted", "rooted_by_default", "trees_in"]

# The possessive quantifiers keep a quote that never ends from costing more than its length.
_TOKEN = re.compile(
    r"(?P<mark>[(),:;])|(?P<plain>[^\s()\[\]',:;]++)|(?P<quoted>'(?:[^']++|'')*+')|(?P<comment>\[[^\]]*+\])"
    r"|(?P<broken>['\[\]])"
)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_PLAIN = re.compile(r"[^\s()\[\]',:;\ufeff]+")
_SUPPORT = re.compile(r"\[&support=([^\],]*)")

# What was read last, and what may come then: inside a parenthesis, and outside of all.
_AT_NODE, _CLOSED, _LABELLED, _AT_LENGTH, _MEASURED, _ENDED = range(6)
_INSIDE = (("label", "("), ("label", ":", ",", ")"), (":", ",", ")"), ("label",), (",", ")"), ())
_OUTSIDE = (("label", "("), ("label", ":", ";"), (":", ";"), ("label",), (";",), ())
_LABEL_IS = {_AT_NODE: "a leaf name", _CLOSED: "a label", _AT_LENGTH: "a branch length (a finite number)"}


def trees_in(text: str, source: str, rooted: bool | None, *, only_one: bool) -> list[Tree]:
    """The trees of a text, at least one; with ``only_one`` nothing may follow the first."""
    if text.lstrip()[:6].upper() == "#NEXUS":
        raise ValueError(f"{source}: this is NEXUS, and plain Newick was needed. Export the trees as Newick.")
    place = _Place(text, source)
    trees: list[Tree] = []
    draft, stack = _Draft(), list[int]()
    state, here, last = _AT_NODE, 0, ""
    for token in _TOKEN.finditer(text):
        kind, found = token.lastgroup, token.group()
        if kind == "comment":
            _note(draft, here, state, found, token.start(), place)
            continue
        symbol = found if kind == "mark" else "label"
        if kind == "broken" or symbol not in (_INSIDE if stack else _OUTSIDE)[state]:
            _refuse(place, token, last, state, stack)
        if symbol == "label":
            if state == _AT_LENGTH:
                draft.lengths[here] = _length(found, token.start(), place)
                state = _MEASURED
            else:
                name = found if kind == "plain" else found[1:-1].replace("''", "'")
                if state == _AT_NODE:
                    here = draft.add_leaf(name, stack, token.start(), place)
                else:
                    draft.labels[here] = (name, kind == "quoted")
                state = _LABELLED
        elif symbol == ",":
            state = _AT_NODE
        elif symbol == "(":
            stack.append(len(draft.inner_parent))
            draft.inner_parent.append(stack[-2] if len(stack) > 1 else -1)
        elif symbol == ")":
            here = ~stack.pop()
            draft.at[here] = token.start()
            state = _CLOSED
        elif symbol == ":":
            state = _AT_LENGTH
        else:
            trees.append(_finished(draft, rooted, place))
            draft = _Draft()
            state = _ENDED if only_one else _AT_NODE
        last = found
    if draft.at or stack:
        still = f"; {len(stack)} parenthes{'is is' if len(stack) == 1 else 'es are'} still open" if stack else ""
        hint = "" if "(" in text else " If this is the name of a file, use read_newick(path)."
        place.fail(len(text.rstrip()), f"the text ends where {_expected(state, stack)} was expected{still}.{hint}")
    if not trees:
        place.fail(len(text.rstrip()), "there is no tree here; a leaf name or '(' was expected.")
    return trees


def count_trees(text: str) -> int:
    """The number of semicolons outside quotes and comments."""
    return sum(token.group() == ";" for token in _TOKEN.finditer(text))


def looks_like_newick(text: str) -> bool:
    """Whether a string is rather a tree than the path of a file."""
    return text.rstrip().endswith(";") or text.lstrip().startswith(("(", "[&"))


def rooted_by_default(parent: ArrayLike) -> bool:
    """Whether the first branching is in two: what makes a tree rooted that says nothing. Nodes come before parents."""
    up = np.asarray(parent)
    degree = np.bincount(up[:-1], minlength=len(up))
    return bool(degree[degree != 1][-1] == 2)


def quoted(name: str, *, quote_numbers: bool) -> str:
    """A name as a label: in quotes if the grammar needs them, or if it would pass for a support value."""
    if _PLAIN.fullmatch(name) and not (quote_numbers and _value(name) is not None):
        return name
    return "'" + name.replace("'", "''") + "'"


@dataclass(frozen=True)
class _Place:
    """A text and where it is from, to say where in it something is wrong."""

    text: str
    source: str

    def fail(self, at: int, message: str) -> NoReturn:
        start = self.text.rfind("\n", 0, at) + 1
        stop = self.text.find("\n", at)
        left, right = max(start, at - 40), min(len(self.text) if stop < 0 else stop, at + 40)
        excerpt = "".join(c if c.isprintable() else " " for c in self.text[left:right])
        raise ValueError(f"{self.source}, {self.name(at)}: {message}\n    {excerpt}\n    {' ' * (at - left)}^")

    def name(self, at: int) -> str:
        return f"line {self.text.count(chr(10), 0, at) + 1}, column {at - self.text.rfind(chr(10), 0, at)}"


@dataclass
class _Draft:
    """A tree while it is read: leaf ``i`` is node ``i``, and internal node ``j`` is ``~j`` until all are counted."""

    leaves: dict[str, int] = field(default_factory=dict)
    leaf_parent: list[int] = field(default_factory=list)
    inner_parent: list[int] = field(default_factory=list)
    labels: dict[int, tuple[str, bool]] = field(default_factory=dict)
    lengths: dict[int, float] = field(default_factory=dict)
    support: dict[int, float] = field(default_factory=dict)
    at: dict[int, int] = field(default_factory=dict)
    mark: bool | None = None

    def add_leaf(self, name: str, stack: list[int], at: int, place: _Place) -> int:
        if not name:
            place.fail(at, "a leaf name was expected; the empty name '' came.")
        leaf = len(self.leaf_parent)
        first = self.leaves.setdefault(name, leaf)
        if first != leaf:
            place.fail(
                at,
                f"a leaf {_short(name)} is there already, in {place.name(self.at[first])}; "
                "a name that no other leaf has was expected.",
            )
        self.leaf_parent.append(stack[-1] if stack else -1)
        self.at[leaf] = at
        return leaf


def _note(draft: _Draft, here: int, state: int, comment: str, at: int, place: _Place) -> None:
    """Take what a comment says: the rooting before the tree, support after a node; all else is passed over."""
    if not (draft.leaf_parent or draft.inner_parent):
        if comment.upper() in ("[&R]", "[&U]"):
            draft.mark = comment.upper() == "[&R]"
    elif state != _AT_NODE and (given := _SUPPORT.match(comment)):
        value = _value(given[1])
        if value is None:
            place.fail(at, f"a finite number was expected after '&support='; {_short(given[1])} came.")
        draft.support[here] = value


def _length(found: str, at: int, place: _Place) -> float:
    value = _value(found)
    if value is None:
        place.fail(at, f"{_LABEL_IS[_AT_LENGTH]} was expected after ':'; {_short(found)} came.")
    return value


def _value(found: str) -> float | None:
    """The number that a token is; None if it is none, or no finite one."""
    value = float(found) if _NUMBER.fullmatch(found) else math.inf
    return value if math.isfinite(value) else None


def _finished(draft: _Draft, rooted: bool | None, place: _Place) -> Tree:
    n, last = len(draft.leaf_parent), len(draft.leaf_parent) + len(draft.inner_parent) - 1

    def number(node: int) -> int:
        """Internal nodes against the order in which they opened, so that they come before their parents."""
        return node if node >= 0 else last + 1 + node

    parent = [last - up if up >= 0 else -1 for up in draft.leaf_parent]
    parent += [last - up if up >= 0 else -1 for up in reversed(draft.inner_parent)]

    lengths: list[float] | None = None
    if any(number(node) != last for node in draft.lengths) or (last == 0 and draft.lengths):
        for node, at in draft.at.items():
            if node not in draft.lengths and number(node) != last:
                what = "this leaf" if node >= 0 else "the internal node that closes here"
                place.fail(
                    at,
                    f"{what} has no branch length while others have; ':' and a number were expected after "
                    "it. Give every edge a length, or none.",
                )
        lengths = [0.0] * (last + 1)
        for node, value in draft.lengths.items():
            lengths[number(node)] = value

    labels = {number(node): label for node, label in draft.labels.items() if label[0]}
    held = {number(node): value for node, value in draft.support.items()}
    names: list[str | None] | None = None
    values = {node: None if in_quotes else _value(label) for node, (label, in_quotes) in labels.items()}
    numbers = {node: value for node, value in values.items() if value is not None}
    if len(numbers) == len(labels):
        held = numbers | held
    else:
        names = [labels.get(node, (None, False))[0] for node in range(n, last + 1)]
    held.pop(last, None)
    support = [held.get(node, math.nan) for node in range(last + 1)] if held else None

    if rooted is None:
        rooted = rooted_by_default(parent) if draft.mark is None else draft.mark
    return Tree(parent, draft.leaves, lengths, names, support, rooted=rooted)


def _refuse(place: _Place, token: re.Match[str], last: str, state: int, stack: list[int]) -> NoReturn:
    """Say why a token cannot stand where it does."""
    found, at = token.group(), token.start()
    if state == _ENDED:
        place.fail(at, f"the tree ended at ';'; the end of the text was expected, and {_short(found)} came.")
    if found == "]":
        place.fail(at, f"{_expected(state, stack)} was expected; ']' came, which closes no comment.")
    if token.lastgroup == "broken":
        what, end = ("quoted label", "'") if found == "'" else ("comment", "]")
        place.fail(at, f"the {what} that opens here never ends; its {end} was expected.")
    if state == _AT_NODE and found == ")" and last == "(":
        place.fail(at, "'()' holds nothing; a leaf name or '(' was expected before ')'.")
    if state == _AT_NODE and found in ":,)":
        place.fail(at, f"a leaf has no name; a leaf name or '(' was expected before {found!r}.")
    hint = ""
    if token.lastgroup != "mark" and state == _LABELLED:
        hint = " A label with blanks or quotes in it stands in single quotes: 'it''s'."
    elif found in ")," and not stack:
        hint = " No parenthesis is open."
    elif found == ";" and stack:
        hint = f" {len(stack)} parenthes{'is is' if len(stack) == 1 else 'es are'} still open."
    place.fail(at, f"{_expected(state, stack)} was expected; {_short(found)} came.{hint}")


def _expected(state: int, stack: list[int]) -> str:
    symbols = (_INSIDE if stack else _OUTSIDE)[state]
    may = [_LABEL_IS[state] if symbol == "label" else repr(symbol) for symbol in symbols]
    return f"{', '.join(may[:-1])} or {may[-1]}" if len(may) > 1 else may[0]


def _short(found: str, most: int = 30) -> str:
    return repr(found if len(found) <= most else found[:most] + "…")
