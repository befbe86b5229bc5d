"""Newick: what is written is read back as it was, and what is wrong is said with its place."""

from __future__ import annotations

import errno
import math
import os
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celltreeqm.trees import Tree
from celltreeqm.trees._newick import format_newick, parse_newick, read_newick, read_newicks, write_newick
from tests.strategies import trees

NUMBER = st.floats(allow_nan=False, allow_infinity=False)
NAME = st.text(st.characters(codec="utf-8"), min_size=1, max_size=4) | st.sampled_from(
    ["12", "-1e-3", ".5", "nan", "inf", "1_000", "[&R]", "[&support=1]", "'", "''", "a\nb", "\ufeff", "\x1c", "٣"]
)


@st.composite
def any_trees(draw):
    """Every part of a tree drawn freely: names that look like syntax or numbers, support on leaves and the root."""
    tree = draw(trees(unary=True, names=draw(st.lists(NAME, min_size=1, max_size=8, unique=True))))
    m, k = tree.n_nodes, tree.n_nodes - tree.n_leaves
    names = draw(st.none() | st.lists(st.none() | NAME, min_size=k, max_size=k))
    support = draw(st.none() | st.lists(st.just(math.nan) | NUMBER, min_size=m, max_size=m))
    lengths = draw(st.none() | st.lists(NUMBER, min_size=m, max_size=m))
    return replace(tree, node_names=names, support=support, lengths=lengths)


def whole(tree: Tree):
    """All that a tree says but the order of anything."""

    def below(node: int):
        support = math.nan if tree.support is None else float(tree.support[node])
        return (
            tree.name(node) or "",
            None if tree.lengths is None else float(tree.lengths[node]),
            None if math.isnan(support) else support,
            tuple(sorted((below(child) for child in tree.children[node]), key=repr)),
        )

    return tree.rooted, tree.lengths is None, below(tree.root)


# Round trips


@given(any_trees())
@settings(max_examples=300)
def test_what_is_written_is_read_back_as_it_was(tree):
    assert whole(parse_newick(format_newick(tree))) == whole(tree)


@given(any_trees())
def test_children_are_written_in_the_order_of_their_first_leaf_and_read_in_the_order_of_the_text(tree):
    again = parse_newick(format_newick(tree))
    order, stack = [], [tree.root]
    while stack:
        node = stack.pop()
        if node < tree.n_leaves:
            order.append(tree.leaves[node])
        stack.extend(reversed(tree.children[node]))
    assert list(again.leaves) == order
    assert format_newick(again) == format_newick(tree)


@given(any_trees())
def test_lengths_and_support_are_left_out_when_not_wanted(tree):
    again = parse_newick(format_newick(tree, lengths=False, support=False))
    assert whole(again) == whole(replace(tree, lengths=None, support=None))


@given(trees(min_leaves=2, lengths="positive"), st.integers(1, 6))
def test_digits_round_every_number_to_as_many(tree, digits):
    again = parse_newick(format_newick(tree, digits=digits)).reorder(tree.leaves)
    rounded = replace(tree, lengths=[float(f"{x:.{digits}g}") for x in tree.lengths])
    assert whole(again) == whole(rounded)


@given(any_trees(), st.booleans())
def test_an_explicit_rooted_wins_over_what_the_text_says(tree, rooted):
    assert parse_newick(format_newick(tree), rooted=rooted).rooted == rooted


@given(any_trees(), st.randoms(use_true_random=False))
def test_comments_and_blanks_between_tokens_change_nothing(tree, random):
    text = format_newick(tree, support=False)
    if "'" in text or "[" in text:
        return
    loose = "".join(c + random.choice(["", " ", "\n", "[note]", "[ (,); ' ] "]) if c in "(),;" else c for c in text)
    mark = f"[&{'R' if tree.rooted else 'u'}]"
    assert whole(parse_newick(mark + loose)) == whole(replace(tree, support=None))


# What the grammar says


@pytest.mark.parametrize(
    "text, rooted",
    [
        ("(a,b);", True),
        ("(a,b,c);", False),
        ("((a,b));", True),
        ("((a,b,c));", False),
        ("a;", False),
        ("[&U](a,b);", False),
        (" [a note] [&r] (a,b,c);", True),
        ("[&R](a,b,c)[&U];", True),
    ],
)
def test_a_leading_mark_decides_and_else_the_first_branching(text, rooted):
    assert parse_newick(text).rooted is rooted


@pytest.mark.parametrize("text, marked", [("(a,b);", False), ("(a,b,c);", False), ("[&U] (a,b);", True)])
def test_the_mark_is_written_only_where_the_default_would_be_wrong(text, marked):
    assert format_newick(parse_newick(text)) == text
    assert ("[&" in text) is marked


def test_internal_labels_are_support_if_all_are_numbers():
    tree = parse_newick("((a,b)97,(c,d)1e-1,(e,f))100;")
    assert tree.node_names is None
    assert sorted(tree.support[~np.isnan(tree.support)]) == [0.1, 97]  # the root has no edge to support
    assert parse_newick("(a,b)100;").support is None


@pytest.mark.parametrize("label", ["x", "'97'", "0.9/95", "nan", "1e999", "1_0", "٣"])
def test_one_label_that_is_no_plain_number_makes_all_of_them_names(label):
    tree = parse_newick(f"((a,b)97,(c,d){label},e);")
    assert tree.support is None
    assert set(tree.node_names) == {"97", label.strip("'"), None}


def test_a_support_comment_stands_beside_a_name_and_beside_a_length():
    tree = parse_newick("((a:1,b:1)x[&support=0.5]:1,(c:1,d:1)y:1[&support=.75,more=1],e:1);")
    assert {tree.name(i): s for i, s in enumerate(tree.support) if not np.isnan(s)} == {"x": 0.5, "y": 0.75}


def test_quotes_and_underscores():
    tree = parse_newick("('it''s','a b',a_b,'(''')'''_x';")
    assert tree.leaves == ("it's", "a b", "a_b", "('")
    assert tree.node_names == ("'_x",)


def test_lengths_may_be_negative_and_small_and_the_root_has_none():
    tree = parse_newick("(a:-0.5,b:1e-3,(c:+2,d:.5):1.):7;")
    assert tree.lengths.tolist() == [-0.5, 0.001, 2.0, 0.5, 1.0, 0.0]
    assert parse_newick("(a,b):7;").lengths is None
    assert format_newick(parse_newick("(a:1,b:1):7;")) == "(a:1,b:1);"


def test_single_child_nodes_are_kept():
    tree = parse_newick("(((a:1):2)x:3,b:1);")
    assert tree.n_nodes == 5
    assert tree.depths()[0] == 6


def test_a_single_leaf():
    assert whole(parse_newick("a;")) == whole(Tree([-1], ["a"]))
    assert parse_newick("a:3;").lengths.tolist() == [0.0]


@pytest.mark.parametrize("shape", ["caterpillar", "balanced"])
def test_a_hundred_thousand_leaves_without_recursion_in_about_a_second(shape):
    n = 100_000
    if shape == "caterpillar":
        text = "(" * (n - 1) + "x0:1" + "".join(f",x{i}:0.5):1" for i in range(1, n)) + ";"
    else:
        parts = [f"x{i}:0.5" for i in range(n)]
        while len(parts) > 1:
            parts = [f"({','.join(parts[i : i + 2])}):1" for i in range(0, len(parts), 2)]
        text = parts[0] + ";"
    start = time.process_time()
    tree = parse_newick(text)
    again = parse_newick(format_newick(tree))
    took = time.process_time() - start
    assert tree.n_leaves == n
    np.testing.assert_array_equal(again.parent, tree.parent)
    np.testing.assert_array_equal(again.lengths, tree.lengths)
    assert took < 10  # about 1.5 s; the bound is for busy machines


# What is wrong, and where


@pytest.mark.parametrize(
    "text, message",
    [
        ("", r"line 1, column 1: there is no tree here; a leaf name or '\(' was expected"),
        ("  [only a note] ", r"line 1, column 16: there is no tree"),
        ("(a,b)", r"column 6: the text ends where a label, ':' or ';' was expected"),
        ("((a,b),c", r"column 9: the text ends where ':', ',' or '\)' was expected; 1 parenthesis is still open"),
        ("((a,b", r"2 parentheses are still open"),
        ("(a,b", r"column 5"),
        ("(a,", r"column 4: the text ends where a leaf name or '\(' was expected"),
        ("(a,b:", r"column 6: the text ends where a branch length"),
        ("tree.nwk", r"';' was expected. If this is the name of a file, use read_newick\(path\)"),
        ("(a,b);\nx", r"line 2, column 1: the tree ended at ';'; the end of the text was expected, and 'x' came"),
        ("(a,b);(c,d);", r"column 7: the tree ended at ';'"),
        ("(a,b));", r"column 6: a label, ':' or ';' was expected; '\)' came. No parenthesis is open"),
        ("(a,b;", r"column 5: ':', ',' or '\)' was expected; ';' came. 1 parenthesis is still open"),
        ("(a,b),c;", r"column 6: a label, ':' or ';' was expected; ',' came. No parenthesis is open"),
        ("(a,());", r"column 5: '\(\)' holds nothing; a leaf name or '\(' was expected before '\)'"),
        ("(a,,b);", r"column 4: a leaf has no name; a leaf name or '\(' was expected before ','"),
        ("(a,:1);", r"column 4: a leaf has no name; .* before ':'"),
        ("(a,'');", r"column 4: a leaf name was expected; the empty name '' came"),
        (";", r"column 1: a leaf name or '\(' was expected; ';' came"),
        ("(a,\n (b,\n  'a'));", r"line 3, column 3: a leaf 'a' is there already, in line 1, column 2"),
        ("(a b,c);", r"column 4: .* was expected; 'b' came. A label with blanks or quotes"),
        ("(5'end,c);", r"column 3: the quoted label that opens here never ends"),
        ("(a,'b);", r"column 4: the quoted label that opens here never ends; its ' was expected"),
        ("(a[note,b);", r"column 3: the comment that opens here never ends; its \] was expected"),
        ("(a],b);", r"column 3: .*; '\]' came, which closes no comment"),
        ("(a:x,b:1);", r"column 4: a branch length \(a finite number\) was expected after ':'; 'x' came"),
        ("(a:nan,b:1);", r"'nan' came"),
        ("(a:-inf,b:1);", r"'-inf' came"),
        ("(a:1e999,b:1);", r"'1e999' came"),
        ("(a:1_0,b:1);", r"'1_0' came"),
        ("(a:,b:1);", r"column 4: a branch length \(a finite number\) was expected; ',' came"),
        ("(a:1:2,b:1);", r"column 5: ',' or '\)' was expected; ':' came"),
        ("(a:1,b,c:1);", r"column 6: this leaf has no branch length while others have"),
        ("((a:1,b:1),c:2);", r"column 10: the internal node that closes here has no branch length"),
        ("((a,b)[&support=high],c);", r"column 7: a finite number was expected after '&support='; 'high' came"),
        ("#NEXUS\nbegin trees;", r"this is NEXUS, and plain Newick was needed"),
    ],
)
def test_bad_text_is_refused_with_its_place_and_what_was_expected_there(text, message):
    with pytest.raises(ValueError, match=message):
        parse_newick(text)


def test_the_message_shows_the_line_with_a_mark_below_the_place():
    with pytest.raises(ValueError, match=r"\n    \(b,,c\)\);\n       \^$"):
        parse_newick("(a,\n(b,,c));")


@given(any_trees(), st.data())
def test_a_text_cut_short_is_refused_and_never_half_read(tree, data):
    text = format_newick(tree)
    with pytest.raises(ValueError, match="line "):
        parse_newick(text[: data.draw(st.integers(0, len(text) - 1))])


@given(st.text("()[]',:;ab1 \n&RU", max_size=30))
@settings(max_examples=300)
def test_any_text_is_either_a_tree_or_an_error_that_says_where(text):
    try:
        tree = parse_newick(text)
    except ValueError as error:
        assert "line " in str(error)  # noqa: PT017 - either is fine, silence is not
    else:
        assert whole(parse_newick(format_newick(tree))) == whole(tree)


def test_a_quote_that_never_ends_costs_no_more_than_its_length():
    start = time.process_time()
    with pytest.raises(ValueError, match="never ends"):
        parse_newick("(a,'" + "x''" * 200_000)
    assert time.process_time() - start < 2


def test_no_digits_are_refused():
    with pytest.raises(ValueError, match="digits=0 was given; a whole number, at least 1"):
        format_newick(Tree([-1], ["a"]), digits=0)


# Files


@given(tree=any_trees())
@settings(max_examples=30)
def test_a_file_brings_the_tree_back(tmp_path_factory, tree):
    path = tmp_path_factory.mktemp("newick") / "tree.nwk"
    write_newick(tree, path)
    assert whole(read_newick(path)) == whole(tree)
    assert [whole(each) for each in read_newicks(str(path))] == [whole(tree)]


def test_an_existing_file_is_kept_unless_overwrite(tmp_path):
    path, tree = tmp_path / "tree.nwk", parse_newick("(a,b);")
    path.write_text("precious")
    with pytest.raises(FileExistsError, match=r"tree.nwk exists. .*overwrite=True"):
        write_newick(tree, path)
    assert path.read_text() == "precious"
    write_newick(tree, path, overwrite=True)
    assert path.read_text() == "(a,b);\n"
    assert os.listdir(tmp_path) == ["tree.nwk"]


def test_nothing_is_left_behind_when_writing_fails(tmp_path, monkeypatch):
    def no_space(*_):
        raise OSError("no space left")

    path = tmp_path / "tree.nwk"
    path.write_text("precious")
    monkeypatch.setattr(os, "replace", no_space)
    with pytest.raises(OSError, match="no space left"):
        write_newick(parse_newick("(a,b);"), path, overwrite=True)
    assert path.read_text() == "precious"
    assert os.listdir(tmp_path) == ["tree.nwk"]


def test_a_place_that_cannot_be_written_is_named_and_the_kind_of_error_kept(tmp_path, monkeypatch):
    def refused(unfinished, _):
        raise PermissionError(errno.EACCES, "Permission denied", str(unfinished))

    monkeypatch.setattr(os, "replace", refused)
    with pytest.raises(PermissionError, match=r"[\\/]tree\.nwk cannot be written: Permission denied\. Choose another"):
        write_newick(parse_newick("(a,b);"), tmp_path / "tree.nwk")
    assert os.listdir(tmp_path) == []


def test_a_missing_folder_or_a_folder_in_place_of_a_file_is_said(tmp_path):
    tree = parse_newick("(a,b);")
    with pytest.raises(FileNotFoundError, match=r"There is no folder .*nowhere to write tree.nwk to"):
        write_newick(tree, tmp_path / "nowhere" / "tree.nwk")
    with pytest.raises(IsADirectoryError, match="is a folder; the name of a file was needed"):
        write_newick(tree, tmp_path, overwrite=True)
    with pytest.raises(IsADirectoryError, match="is a folder; a Newick file was needed"):
        read_newick(tmp_path)


def test_text_where_a_path_belongs_and_the_reverse_are_said(tmp_path):
    with pytest.raises(ValueError, match=r"Newick text came. Use parse_newick\(text\)"):
        read_newick("((a,b),c);")
    with pytest.raises(ValueError, match=r"read_newicks reads a file, and Newick text came"):
        read_newicks("(" + "a" * 5000)
    with pytest.raises(FileNotFoundError, match=r"There is no file .*tree.nwk. Check the path"):
        read_newick(tmp_path / "tree.nwk")
    with pytest.raises(TypeError, match=r"parse_newick reads text; PosixPath came|WindowsPath came"):
        parse_newick(tmp_path / "tree.nwk")
    with pytest.raises(TypeError, match="read_newick reads a file; int came"):
        read_newick(3)


def test_a_file_of_several_trees(tmp_path):
    path = tmp_path / "trees.nwk"
    path.write_text("(a,b);\n[&U](c,d);\n('e;',f); [no; tree]\n")
    with pytest.raises(ValueError, match=r"trees.nwk holds 3 trees; one was needed. read_newicks\(path\)"):
        read_newick(path)
    found = read_newicks(path)
    assert [tree.leaves for tree in found] == [("a", "b"), ("c", "d"), ("e;", "f")]
    assert [tree.rooted for tree in found] == [True, False, True]
    assert [tree.rooted for tree in read_newicks(path, rooted=False)] == [False] * 3


def test_errors_in_a_file_name_the_file_and_the_line(tmp_path):
    path = tmp_path / "trees.nwk"
    path.write_text("(a,b);\n(c,d;\n")
    with pytest.raises(ValueError, match=r"trees.nwk, line 2, column 5: "):
        read_newicks(path)
    path.write_text("")
    with pytest.raises(ValueError, match=r"trees.nwk, line 1, column 1: there is no tree here"):
        read_newicks(path)
    path.write_bytes(b"\x1f\x8b\x08\x00")
    with pytest.raises(ValueError, match=r"trees.nwk is no text in UTF-8: .* at byte 1"):
        read_newick(path)


def test_a_byte_order_mark_is_no_part_of_the_tree(tmp_path):
    path = tmp_path / "tree.nwk"
    path.write_bytes("\ufeff(a,b);\r\n".encode())
    assert read_newick(path).leaves == ("a", "b")


@pytest.mark.parametrize(
    "file, leaves, nodes",
    [
        ("sulston/embryonic_and_postembryonic.nwk", 1092, 2183),
        ("epic190/tree.nwk", 190, 379),
        ("packer30/tree.nwk", 30, 59),
        ("tedsim/tree_l1_52382.nwk", 512, 1023),
    ],
)
def test_real_files(shared_data: Path, file, leaves, nodes):
    if not (shared_data / file).exists():
        pytest.skip("the shared data are not here")
    tree = read_newick(shared_data / file)
    assert (tree.n_leaves, tree.n_nodes, tree.rooted) == (leaves, nodes, True)
    assert whole(parse_newick(format_newick(tree))) == whole(tree)
