"""The common refinement: exactly the splits of all trees together, or a quartet that shows why there is none."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celltreeqm.trees import Tree, common_refinement
from tests import oracles
from tests.strategies import rerootings, trees

NAMES = list("abcdefgh")


@given(st.data())
def test_has_the_splits_of_all_trees(data: st.DataObject) -> None:
    whole = data.draw(trees(1, 10, unary=True))
    rng = data.draw(st.randoms(use_true_random=False))
    parts = []
    for _ in range(data.draw(st.integers(1, 4))):
        part = whole.collapse([node for node in range(whole.n_nodes) if rng.random() < 0.5])
        part = data.draw(rerootings(part))
        parts.append(part.reorder(rng.sample(part.leaves, part.n_leaves)))
    together = common_refinement(parts)
    assert oracles.splits(together) == set().union(*map(oracles.splits, parts))
    assert together.leaves == parts[0].leaves
    assert not together.rooted


@given(trees(names=NAMES), trees(names=NAMES))
def test_trees_that_contradict_each_other_are_refused_with_a_quartet(first: Tree, second: Tree) -> None:
    if not oracles.conflicting_quartets(first, second):
        assert oracles.splits(common_refinement([first, second])) == oracles.splits(first) | oracles.splits(second)
        return
    with pytest.raises(ValueError, match="contradict each other") as caught:
        common_refinement([first, second])
    a, b, c, d = re.findall(r"'(\w)'", str(caught.value))[:4]
    assert frozenset([a, b, c, d]) in oracles.conflicting_quartets(first, second)
    said = [frozenset([frozenset([a, b]), frozenset([c, d])]), frozenset([frozenset([a, c]), frozenset([b, d])])]
    four = [a, b, c, d]
    assert {oracles.quartet_topology(first, four), oracles.quartet_topology(second, four)} == set(said)


def test_no_trees_and_different_leaves_are_refused() -> None:
    with pytest.raises(ValueError, match="No trees were given"):
        common_refinement([])
    star = Tree([4, 4, 4, 4, -1], list("abcd"))
    with pytest.raises(ValueError, match="1 is only in the first: 'd'"):
        common_refinement([star, star.restrict(list("abc"))])


def test_deep_trees_need_no_recursion() -> None:
    n = 20_000
    deep = Tree([n, *range(n, 2 * n - 1), *range(n + 1, 2 * n - 1), -1], [str(i) for i in range(n)])
    every_other = deep.collapse(range(n, deep.n_nodes, 2))
    the_others = deep.collapse(range(n + 1, deep.n_nodes, 2))
    assert common_refinement([every_other, the_others]).same_topology(deep.unroot())
