"""Newick files, both ways."""

from __future__ import annotations

import math
import os
import secrets
from pathlib import Path

from ._newick_parser import count_trees, looks_like_newick, quoted, rooted_by_default, trees_in
from ._tree import Tree
from ._tree_checks import check_tree, is_whole

__all__ = ["format_newick", "parse_newick", "read_newick", "read_newicks", "write_newick"]


def parse_newick(text: str, *, rooted: bool | None = None) -> Tree:
    """The tree that a Newick text describes.

    What is read:

    - labels: plain, or in single quotes with a doubled quote inside for one (``'it''s'``). Underscores are kept as
      they are. Plain labels hold no blanks, quotes, brackets, colons, commas or semicolons.
    - ``[comments]`` between any two tokens; a comment ends at the first ``]``.
    - branch lengths: finite numbers, negative ones too, on every edge or on none.
    - support: if every internal label is an unquoted number, the labels are support values, kept as given (0.97 and
      97 are not rescaled). Otherwise they are node names; a quoted label is always a name. A comment
      ``[&support=0.97]`` after a node gives its support whatever its label is.
    - the root's own length and support are read over, as there is no edge above it.
    - polytomies and single-child nodes.

    Parameters
    ----------
    text
        One tree, ended by a semicolon.
    rooted
        Whether the root means something. By default a leading ``[&R]`` or ``[&U]`` decides; without one the tree is
        rooted if its first branching is in two.

    Returns
    -------
    Tree
        Its leaves are in the order in which the text names them.

    Raises
    ------
    ValueError
        With the line, the column and the text there, and what was expected.

    Examples
    --------
    >>> tree = parse_newick("((ABa:1,ABp:1)AB:1,(EMS:1,P2:1)P1:1)P0;")
    >>> tree
    Tree(4 leaves, 3 internal nodes, rooted, binary, total length 6)
    >>> tree.clades(1)
    (('ABa', 'ABp'), ('EMS', 'P2'))
    >>> parse_newick("(a,b,(c,d)0.97);").support[4:]
    array([0.97,  nan])
    >>> parse_newick("((a,b),c")
    Traceback (most recent call last):
    ValueError: Newick, line 1, column 9: the text ends where ':', ',' or ')' was expected; 1 parenthesis is still ...
    """
    if not isinstance(text, str):
        raise TypeError(f"parse_newick reads text; {type(text).__name__} came. Use read_newick(path) for a file.")
    text = text.removeprefix("\ufeff")  # the byte order mark of a file that was read as plain UTF-8
    return trees_in(text, "Newick", rooted, only_one=True)[0]


def read_newick(path: str | os.PathLike[str], *, rooted: bool | None = None) -> Tree:
    """The one tree of a Newick file (see :func:`parse_newick` for what is read and for ``rooted``).

    A file with several trees is refused: :func:`read_newicks` reads those.

    Parameters
    ----------
    path
        A plain text file in UTF-8.
    rooted
        Whether the root means something; None leaves it to the file.

    Returns
    -------
    Tree

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> write_newick(parse_newick("((a,b),c);"), f"{folder.name}/tree.nwk")
    >>> read_newick(f"{folder.name}/tree.nwk")
    Tree(3 leaves, 2 internal nodes, rooted, binary, no lengths)
    """
    text = _text_of(path, "read_newick")
    count = count_trees(text)
    if count > 1:
        raise ValueError(f"{os.fspath(path)} holds {count} trees; one was needed. read_newicks(path) reads them all.")
    return trees_in(text, os.fspath(path), rooted, only_one=True)[0]


def read_newicks(path: str | os.PathLike[str], *, rooted: bool | None = None) -> list[Tree]:
    """All trees of a Newick file, one after the other (see :func:`parse_newick`); at least one is needed.

    Parameters
    ----------
    path
        A plain text file in UTF-8.
    rooted
        Whether the roots mean something; None leaves it to the file, for each tree apart.

    Returns
    -------
    list[Tree]

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with open(f"{folder.name}/trees.nwk", "w") as file:
    ...     _ = file.write("((a,b),c); (a,b,c);")
    >>> [tree.rooted for tree in read_newicks(f"{folder.name}/trees.nwk")]
    [True, False]
    """
    return trees_in(_text_of(path, "read_newicks"), os.fspath(path), rooted, only_one=False)


def format_newick(tree: Tree, *, lengths: bool = True, support: bool = True, digits: int | None = None) -> str:
    """The Newick text of a tree, on one line, which :func:`parse_newick` reads back as the same tree.

    Children come in the order of their first leaf. ``[&R]`` or ``[&U]`` is written only where the reader's default
    (rooted if the first branching is in two) would be wrong. Support values are written as internal labels; where the
    tree has node names, or leaves have support, as comments ``[&support=0.97]`` instead. Labels are quoted where they
    need it, and so are node names that look like numbers.

    Parameters
    ----------
    tree
        The tree.
    lengths, support
        Whether to write the branch lengths and the support values that the tree has.
    digits
        Significant digits of the numbers; by default as many as bring the very same numbers back.

    Examples
    --------
    >>> tree = Tree([3, 3, 4, 4, -1], ["a", "it's", "c"], lengths=[1, 0.5, 2, 0.1, 0], rooted=True)
    >>> format_newick(tree)
    "((a:1,'it''s':0.5):0.1,c:2);"
    >>> format_newick(tree.unroot(), lengths=False)
    "(a,'it''s',c);"
    """
    check_tree(tree)
    if digits is not None and not (is_whole(digits) and digits >= 1):
        raise ValueError(f"digits={digits!r} was given; a whole number, at least 1, was needed, or None for all.")
    labels = [quoted(name, quote_numbers=False) for name in tree.leaves]
    named = tree.node_names is not None
    labels += [quoted(name, quote_numbers=True) if name else "" for name in tree.node_names or ()]
    labels += [""] * (tree.n_nodes - len(labels))
    if support and tree.support is not None:
        as_comment = named or any(math.isfinite(value) for value in tree.support[: tree.n_leaves].tolist())
        for node, value in enumerate(tree.support.tolist()):
            if not math.isnan(value):
                number = _number(value, digits)
                labels[node] += f"[&support={number}]" if as_comment else number
    if lengths and tree.lengths is not None:
        for node, value in enumerate(tree.lengths.tolist()):
            if node != tree.root or tree.n_nodes == 1:
                labels[node] += f":{_number(value, digits)}"

    pieces = [] if rooted_by_default(tree.parent) == tree.rooted else ["[&R] " if tree.rooted else "[&U] "]
    children, n = tree.children, tree.n_leaves
    waiting: list[int | str] = [tree.root]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            pieces.append(item)
        elif item < n:
            pieces.append(labels[item])
        else:
            pieces.append("(")
            waiting.append(")" + labels[item])
            below = children[item]
            for child in below[:0:-1]:
                waiting += (child, ",")
            waiting.append(below[0])
    return "".join(pieces) + ";"


def write_newick(
    tree: Tree,
    path: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    lengths: bool = True,
    support: bool = True,
    digits: int | None = None,
) -> None:
    """Write a tree to a Newick file: the whole file or nothing.

    Parameters
    ----------
    tree
        The tree.
    path
        The file. Its folder must exist; a file that exists is kept unless ``overwrite`` is True.
    overwrite
        Whether a file of this name may be replaced.
    lengths, support, digits
        As in :func:`format_newick`.
    """
    check_tree(tree)
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"A {type(path).__name__} came where the path of a file was needed.")
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {target.parent} to write {target.name} to. Make it first.")
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder; the name of a file was needed.")
    if target.exists() and not overwrite:
        raise FileExistsError(f"{target} exists. Choose another name, or pass overwrite=True to replace it.")
    text = format_newick(tree, lengths=lengths, support=support, digits=digits) + "\n"
    unfinished = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        # newline="" keeps a line break inside a quoted label as it is
        with open(unfinished, "x", encoding="utf-8", newline="") as file:
            file.write(text)
        os.replace(unfinished, target)
    except OSError as problem:
        unfinished.unlink(missing_ok=True)
        # With its number an OSError is of the same kind again, PermissionError for instance
        why = f"{target} cannot be written: {problem.strerror or problem}. Choose another place."
        raise (OSError(problem.errno, why) if problem.errno else OSError(why)) from problem
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def _number(value: float, digits: int | None) -> str:
    return repr(value).removesuffix(".0") if digits is None else f"{value:.{digits}g}"


def _text_of(path: str | os.PathLike[str], reader: str) -> str:
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"{reader} reads a file; {type(path).__name__} came where its path was needed.")
    if isinstance(path, str) and looks_like_newick(path):
        raise ValueError(f"{reader} reads a file, and Newick text came. Use parse_newick(text) for text.")
    file = Path(path)
    if file.is_dir():
        raise IsADirectoryError(f"{file} is a folder; a Newick file was needed.")
    if not file.exists():
        raise FileNotFoundError(f"There is no file {file}. Check the path, or use parse_newick(text) for Newick text.")
    try:
        # newline="" keeps a line break inside a quoted label as it is; utf-8-sig drops a byte order mark
        with open(file, encoding="utf-8-sig", newline="") as stream:
            return stream.read()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{file} is no text in UTF-8: {error.reason} at byte {error.start}. "
            "Give a plain Newick file; unpack it first if it is compressed."
        ) from None
