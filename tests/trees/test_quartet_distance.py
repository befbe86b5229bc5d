"""The quartet distance: against all quartets one by one and tqDist, its laws, large trees and high degrees."""

from __future__ import annotations

import math
import time
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celltreeqm.trees import QuartetAgreement, Tree, format_newick, quartet_agreement, quartet_distance
from tests import oracles
from tests.strategies import relabellings, rerootings, trees

EIGHT = list("abcdefgh")
PAIR = st.tuples(trees(names=EIGHT), trees(names=EIGHT))


def counted(first: Tree, second: Tree) -> QuartetAgreement:
    return QuartetAgreement(**oracles.quartet_agreement(first, second)._asdict())


def random_tree(n: int, seed: int, *, collapse: float = 0.0, shape: str = "random") -> Tree:
    """A random tree or caterpillar with its leaves in random order and a share of its edges contracted."""
    rng = np.random.default_rng(seed)
    if shape == "caterpillar":
        parent = [n, *range(n, 2 * n - 1), *range(n + 1, 2 * n - 1), -1]
    else:
        parent, alive = [-1] * (2 * n - 1), list(range(n))
        for node in range(n, 2 * n - 1):
            for _ in range(2):
                parent[alive.pop(rng.integers(len(alive)))] = node
            alive.append(node)
    tree = Tree(parent, [f"t{i}" for i in rng.permutation(n)])
    return tree.collapse(np.flatnonzero(rng.random(tree.n_nodes) < collapse))


def with_one_polytomy(n: int, degree: int, seed: int) -> Tree:
    """A random binary tree but for one node of the given number of children."""
    tree = random_tree(n, seed)
    heart, children = [], [int(np.argmax(np.where(tree.n_below < n // 2, tree.n_below, 0)))]
    top = children[0]
    while len(children) < degree:
        widest = max(children, key=tree.n_below.__getitem__)
        children.remove(widest)
        children.extend(tree.children[widest])
        if widest != top:
            heart.append(widest)
    tree = tree.collapse(heart)
    assert tree.degree.max() == degree
    return tree


@given(st.data())
def test_counts_equal_those_of_all_quartets_one_by_one(data: st.DataObject) -> None:
    first = data.draw(trees(1, 9, unary=True))
    second = data.draw(trees(names=data.draw(st.permutations(first.leaves)), unary=True))
    assert quartet_agreement(first, second) == counted(first, second)


@pytest.mark.parametrize("collapse", [(0.0, 0.0), (0.4, 0.0), (0.0, 0.9), (0.7, 0.7), (0.9, 0.9), (1.0, 0.8)])
@pytest.mark.parametrize("shape", ["random", "caterpillar"])
def test_counts_equal_those_of_all_quartets_where_degrees_are_high(collapse: tuple[float, float], shape: str) -> None:
    first = random_tree(18, 1, collapse=collapse[0], shape=shape)
    second = random_tree(18, 2, collapse=collapse[1])
    assert quartet_agreement(first, second) == counted(first, second)
    assert quartet_agreement(second, first) == counted(second, first)


@given(PAIR)
def test_is_symmetric(pair: tuple[Tree, Tree]) -> None:
    first, second = pair
    there, back = quartet_agreement(first, second), quartet_agreement(second, first)
    assert (there.same, there.different, there.neither) == (back.same, back.different, back.neither)
    assert (there.only_first, there.only_second) == (back.only_second, back.only_first)
    for unresolved in ("different", "half", "same"):
        assert there.distance(unresolved) == back.distance(unresolved)


@given(st.data())
def test_is_zero_between_a_tree_and_its_rerootings(data: st.DataObject) -> None:
    tree = data.draw(trees(4, 9))
    agreement = quartet_agreement(tree, data.draw(rerootings(tree)))
    assert (agreement.different, agreement.only_first, agreement.only_second) == (0, 0, 0)
    assert agreement.distance() == 0


@given(st.data())
def test_relabelling_both_trees_changes_nothing(data: st.DataObject) -> None:
    first, second = data.draw(PAIR)
    names = data.draw(relabellings(EIGHT))
    assert quartet_agreement(first.rename(names), second.rename(names)) == quartet_agreement(first, second)


@given(PAIR)
def test_counts_add_up_to_all_quartets(pair: tuple[Tree, Tree]) -> None:
    assert quartet_agreement(*pair).total == comb(8, 4)


def test_conventions_for_quartets_that_one_tree_resolves() -> None:
    agreement = QuartetAgreement(same=10, different=4, only_first=3, only_second=5, neither=18)
    assert agreement.distance() == 12 / 40
    assert agreement.distance("half") == 8 / 40
    assert agreement.distance("same") == 4 / 40
    assert agreement.distance("ignore") == 4 / 14
    assert [agreement.distance(rule, normalized=False) for rule in ("different", "half", "same", "ignore")] == [
        12,
        8,
        4,
        4,
    ]


def test_the_convention_is_passed_on() -> None:
    first, second = random_tree(12, 0, collapse=0.5), random_tree(12, 1, collapse=0.5)
    for rule in ("different", "half", "same", "ignore"):
        assert quartet_distance(first, second, unresolved=rule) == counted(first, second).distance(rule)
        raw = quartet_distance(first, second, unresolved=rule, normalized=False)
        assert raw == counted(first, second).distance(rule, normalized=False)


def test_classes_add_up_and_parts_can_be_taken_off() -> None:
    whole, part = QuartetAgreement(5, 4, 3, 2, 1), QuartetAgreement(1, 1, 2, 0, 1)
    assert whole - part == QuartetAgreement(4, 3, 1, 2, 0)
    assert (whole - part) + part == whole
    with pytest.raises(TypeError, match="unsupported operand"):
        whole + 1


@pytest.mark.parametrize("n", [1, 2, 3])
def test_fewer_than_four_leaves_have_no_quartet_distance(n: int) -> None:
    star = Tree([n] * n + [-1], EIGHT[:n])
    assert math.isnan(quartet_distance(star, star))
    assert quartet_distance(star, star, normalized=False) == 0


def test_two_stars_agree_on_everything_but_have_nothing_to_ignore() -> None:
    star = Tree([6] * 6 + [-1], EIGHT[:6])
    assert quartet_agreement(star, star) == QuartetAgreement(neither=15)
    assert quartet_distance(star, star) == 0
    assert math.isnan(quartet_distance(star, star, unresolved="ignore"))


@pytest.mark.parametrize("collapse", [0.0, 0.3])
@pytest.mark.parametrize("n", [4, 50, 300])
def test_equals_tqdist(n: int, collapse: float) -> None:
    tqdist = pytest.importorskip("tqdist")
    pair = [random_tree(n, seed, collapse=collapse).unroot() for seed in (n, n + 1)]
    theirs = tqdist.quartet_distance(*(format_newick(tree) for tree in pair))
    assert quartet_distance(*pair) == pytest.approx(theirs, rel=1e-12)


def test_of_two_binary_trees_the_separate_counts_make_up_all_quartets() -> None:
    agreement = quartet_agreement(random_tree(3000, 0), random_tree(3000, 1, shape="caterpillar"))
    assert agreement.same > 0
    assert agreement.same + agreement.different == comb(3000, 4)


def test_counts_beyond_63_bits_are_exact() -> None:
    # Three polytomies of a third of the leaves each around one node: ab|cd with a and b in one of them, c and d not.
    third, n = 33_333, 99_999
    group = np.repeat(np.arange(3), third)
    names = [f"t{i}" for i in range(n)]
    tree = Tree([*(n + group), n + 3, n + 3, n + 3, -1], names)
    resolved = 3 * comb(third, 2) ** 2 + 3 * comb(third, 2) * third**2
    assert 4 * resolved > 2**63
    assert quartet_agreement(tree, tree) == QuartetAgreement(same=resolved, neither=comb(n, 4) - resolved)


def test_too_many_leaves_for_exact_counts_are_refused() -> None:
    n = 100_001
    star = Tree(np.append(np.full(n, n), -1), [str(i) for i in range(n)])
    with pytest.raises(ValueError, match=r"100001 leaves; quartets are counted exactly for up to 100000"):
        quartet_agreement(star, star)


def test_trees_of_295_leaves_take_less_than_50_milliseconds() -> None:
    first, second = random_tree(295, 0), random_tree(295, 1)
    quartet_distance(first, second)
    start = time.process_time()
    quartet_distance(first, second)
    assert time.process_time() - start < 0.05  # fifty times what it takes


def test_different_leaves_are_refused_by_name() -> None:
    first, second = Tree([4, 4, 4, 4, -1], list("abcd")), Tree([4, 4, 4, 4, -1], list("abcx"))
    with pytest.raises(ValueError, match=r"1 is only in the first: 'd'; 1 is only in the second: 'x'.*restrict"):
        quartet_distance(first, second)


def test_an_unknown_convention_is_refused() -> None:
    star = Tree([4, 4, 4, 4, -1], list("abcd"))
    with pytest.raises(ValueError, match=r"'maybe' was given; it is 'different', 'half', 'same' or 'ignore'"):
        quartet_distance(star, star, unresolved="maybe")  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("high", ["one", "both"])
def test_ten_thousand_leaves_and_a_node_of_degree_2500_take_less_than_ten_seconds(high: str) -> None:
    first = with_one_polytomy(10_000, 2500, 0)
    second = with_one_polytomy(10_000, 2500, 1) if high == "both" else random_tree(10_000, 1)
    quartet_agreement(first.restrict(first.leaves[:20]), second.restrict(first.leaves[:20]))
    start = time.process_time()
    agreement = quartet_agreement(first, second)
    assert time.process_time() - start < 10
    assert agreement.total == comb(10_000, 4)
    assert min(agreement.same, agreement.different, agreement.only_second) > 0
    assert (agreement.neither > 0) == (high == "both")


@pytest.mark.slow
def test_twenty_thousand_leaves_count_without_overflow() -> None:
    tree = random_tree(20_000, 0, shape="caterpillar")
    assert quartet_agreement(tree, tree) == QuartetAgreement(same=comb(20_000, 4))
    other = random_tree(20_000, 1)
    agreement = quartet_agreement(tree, other)
    assert agreement.same + agreement.different == comb(20_000, 4)
