"""What ``print(tree)`` shows."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given

from celltreeqm.trees import Tree
from celltreeqm.trees._drawing import draw
from celltreeqm.trees._newick import parse_newick
from tests.strategies import trees


def test_a_small_tree_with_names_support_polytomy_and_single_child_nodes():
    tree = parse_newick("((a,(b)y)x[&support=0.9751],(c,d,(e,f)z),((g)))top;")
    assert str(tree).splitlines() == [
        "top─┬─x 0.975─┬─a",
        "    │         └─y───b",
        "    ├─┬─c",
        "    │ ├─d",
        "    │ └─z─┬─e",
        "    │     └─f",
        "    └─────g",
    ]


def test_support_alone():
    assert draw(parse_newick("((a,b)100,c);")).splitlines() == ["┬─100─┬─a", "│     └─b", "└─c"]


def test_a_single_leaf():
    assert draw(Tree([-1], ["a"])) == "a"


@given(trees(unary=True, max_leaves=15))
def test_every_leaf_ends_a_line_of_its_own(tree):
    ends = [re.split("[─┬]", line)[-1] for line in draw(tree).splitlines()]
    assert sorted(ends) == sorted(tree.leaves)


@given(trees(unary=True, max_leaves=15))
def test_every_corner_hangs_from_a_stroke_above_it(tree):
    lines = draw(tree).splitlines()
    width = max(map(len, lines))
    grid = [line.ljust(width) for line in lines]
    for above, below in pairwise(grid):
        for upper, lower in zip(above, below, strict=True):
            assert (upper in "┬├│") == (lower in "├│└")


@pytest.mark.parametrize(
    "tree",
    [
        Tree([1000] * 1000 + [-1], [f"x{i}" for i in range(1000)]),
        Tree([100_000, *range(100_000, 199_999), *range(100_001, 199_999), -1], [f"x{i}" for i in range(100_000)]),
        Tree([500, *range(500, 999), *range(501, 999), -1], [f"x{i}" for i in range(500)], node_names=["mother"] * 499),
        parse_newick("(" * 300 + "a" + ")" * 300 + ";"),
    ],
    ids=["star", "caterpillar of 100,000", "caterpillar with names", "chain"],
)
def test_a_large_tree_never_floods_the_screen_and_counts_what_it_leaves_out(tree):
    lines = draw(tree).splitlines()
    assert len(lines) <= 60
    assert max(map(len, lines)) < 140
    stubs = re.findall(r"\(… (?:\d+ more branches, )?(\d+) lea(?:f|ves)\)", "\n".join(lines))
    whole = sum(1 for line in lines if not line.endswith(")"))
    assert whole + sum(map(int, stubs)) == tree.n_leaves


def test_sixty_leaves_are_drawn_in_full_and_sixty_one_are_not():
    def balanced(n):
        parts = [f"x{i}" for i in range(n)]
        while len(parts) > 1:
            parts = [f"({','.join(parts[i : i + 2])})" for i in range(0, len(parts), 2)]
        return draw(parse_newick(parts[0] + ";"))

    assert "…" not in balanced(60)
    assert "…" in balanced(61)
