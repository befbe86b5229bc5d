"""Robinson-Foulds: against sets of splits and scikit-bio, and its laws."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celltreeqm.trees import Tree, format_newick, robinson_foulds
from tests import oracles
from tests.strategies import relabellings, rerootings, trees

NAMES = list("abcdefgh")
EIGHT = trees(names=NAMES, unary=True)


@given(st.data())
def test_equals_the_symmetric_difference_of_the_split_sets(data: st.DataObject) -> None:
    first = data.draw(trees(1, 10, unary=True))
    second = data.draw(trees(names=data.draw(st.permutations(first.leaves))))
    assert robinson_foulds(first, second) == pytest.approx(oracles.robinson_foulds(first, second))
    assert robinson_foulds(first, second, normalized=False) == oracles.robinson_foulds(first, second, normalized=False)


@given(EIGHT, EIGHT)
def test_is_symmetric_and_between_zero_and_one(first: Tree, second: Tree) -> None:
    assert robinson_foulds(first, second) == robinson_foulds(second, first)
    assert 0 <= robinson_foulds(first, second) <= 1


@given(EIGHT, EIGHT, EIGHT)
def test_raw_counts_obey_the_triangle_inequality(a: Tree, b: Tree, c: Tree) -> None:
    def raw(x: Tree, y: Tree) -> float:
        return robinson_foulds(x, y, normalized=False)

    assert raw(a, c) <= raw(a, b) + raw(b, c)


@given(st.data())
def test_is_zero_between_a_tree_and_its_rerootings(data: st.DataObject) -> None:
    tree = data.draw(trees(1, 10))
    assert robinson_foulds(tree, data.draw(rerootings(tree))) == 0


@given(st.data())
def test_relabelling_both_trees_changes_nothing(data: st.DataObject) -> None:
    first, second = data.draw(EIGHT), data.draw(EIGHT)
    names = data.draw(relabellings(NAMES))
    assert robinson_foulds(first.rename(names), second.rename(names)) == robinson_foulds(first, second)


def test_stars_are_at_distance_zero_and_one_from_anything_resolved() -> None:
    star = Tree([5, 5, 5, 5, 5, -1], list("abcde"))
    resolved = Tree([5, 5, 6, 6, 6, 6, -1], list("abcde"))
    assert robinson_foulds(star, star) == 0
    assert robinson_foulds(star, resolved) == 1
    assert robinson_foulds(star, resolved, normalized=False) == 1


def test_agrees_with_scikit_bio() -> None:
    skbio = pytest.importorskip("skbio")
    rng = np.random.default_rng(0)
    for n in (4, 17, 60):
        pair = [_random_tree(n, rng) for _ in range(2)]
        first, second = (skbio.TreeNode.read(io.StringIO(format_newick(tree))) for tree in pair)
        assert robinson_foulds(*pair, normalized=False) == first.compare_rfd(second, rooted=False)
        assert robinson_foulds(*pair) == pytest.approx(first.compare_rfd(second, rooted=False, proportion=True))


def test_different_leaves_are_refused_by_name() -> None:
    first = Tree([6, 6, 6, 6, 6, 6, -1], list("abcdef"))
    second = Tree([3, 3, 3, -1], list("abx"))
    with pytest.raises(
        ValueError, match=r"4 are only in the first: 'c', 'd', 'e' and 1 more; 1 is only in the second: 'x'.*restrict"
    ):
        robinson_foulds(first, second)


def _random_tree(n: int, rng: np.random.Generator) -> Tree:
    parent, alive = [-1] * (2 * n - 1), list(range(n))
    for node in range(n, 2 * n - 1):
        for _ in range(2):
            parent[alive.pop(rng.integers(len(alive)))] = node
        alive.append(node)
    tree = Tree(parent, [f"t{i}" for i in rng.permutation(n)])
    return tree.collapse(np.flatnonzero(rng.random(tree.n_nodes) < 0.2)).unroot()
