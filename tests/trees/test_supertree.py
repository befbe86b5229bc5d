"""One rooted tree for several: there is one exactly where enumeration finds one, and it displays them all."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from celltreeqm.trees import Tree, root_at
from celltreeqm.trees._supertree import rooted_supertree
from tests import oracles
from tests.oracles import from_nested
from tests.strategies import trees


def clades_below_the_root(tree: Tree) -> set[frozenset[str]]:
    return {frozenset(clade) for clade in oracles.clades(tree) if 1 < len(clade) < tree.n_leaves}


@given(st.data())
def test_the_parts_of_a_rooted_tree_are_put_together(data):
    whole = data.draw(trees(2, 10, rooted=True, unary=True))
    subsets = st.sets(st.sampled_from(whole.leaves), min_size=1)
    parts = [whole.restrict(kept) for kept in data.draw(st.lists(subsets, min_size=1, max_size=4))]
    found = rooted_supertree(parts)
    assert found.rooted
    assert set(found.leaves) == {name for part in parts for name in part.leaves}
    for part in parts:
        assert clades_below_the_root(part) <= clades_below_the_root(found.restrict(part.leaves))


@given(st.data())
def test_trees_that_share_a_leaf_have_one_exactly_where_enumeration_finds_one(data):
    """Hung up by a leaf that all of them have, rooted and unrooted trees say the same."""
    others = st.sets(st.sampled_from("bcdef"), min_size=3).map(lambda names: ["a", *sorted(names)])
    priors = [
        data.draw(trees(names=data.draw(others), rooted=False)).unroot() for _ in range(data.draw(st.integers(2, 4)))
    ]
    found = rooted_supertree([root_at(prior, prior.index["a"]) for prior in priors])
    assert (found is not None) == oracles.exists_tree_displaying(priors)


def test_roots_that_disagree_have_none():
    assert rooted_supertree([from_nested((("a", "b"), "c")), from_nested((("a", "c"), "b"))]) is None


def test_a_long_caterpillar_and_its_half_need_no_recursion():
    n = 2000
    tree = Tree([n, *range(n, 2 * n - 1), *range(n + 1, 2 * n - 1), -1], [f"x{i}" for i in range(n)], rooted=True)
    assert rooted_supertree([tree.restrict(tree.leaves[::2]), tree]).same_topology(tree)
