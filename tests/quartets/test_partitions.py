from collections import Counter
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celltreeqm.quartets import PARTITION_TYPES, partition_counts, partition_proportions, partition_types

IN_ONE, THREE, TWO_TWO, TWO_ONE_ONE, APART = PARTITION_TYPES


def by_enumeration(labels):
    kinds = Counter()
    for four in combinations(labels, 4):
        sizes = sorted(Counter(four).values(), reverse=True)
        kinds[tuple(sizes + [0] * (4 - len(sizes)))] += 1
    return {kind: kinds[kind] for kind in PARTITION_TYPES}


@given(st.lists(st.integers(0, 4), max_size=10))
def test_counts_and_types_are_those_of_enumeration(labels):
    expected = by_enumeration(labels)
    assert partition_counts(Counter(labels).values()) == expected
    quartets = np.array(list(combinations(range(len(labels)), 4)), dtype=int).reshape(-1, 4)
    found = np.bincount(partition_types(labels, quartets), minlength=5).tolist()
    assert found == list(expected.values())


@given(st.lists(st.integers(0, 10_000), max_size=30))
def test_counts_sum_to_all_quartets(sizes):
    assert sum(partition_counts(sizes).values()) == comb(sum(sizes), 4)


@pytest.mark.parametrize(
    ("sizes", "known", "total"),
    [
        ([32] * 2, 246_016, 635_376),
        ([16] * 4, 455_040, 635_376),
        ([8] * 8, 323_008, 635_376),
        ([4] * 16, 165_600, 635_376),
        ([64, 38], 1_417_248, 4_249_575),
        ([54, 10, 25, 13], 2_340_063, 4_249_575),
    ],
)
def test_the_papers_resolvable_quartets(sizes, known, total):
    counts = partition_counts(sizes)
    assert counts[TWO_TWO] + counts[TWO_ONE_ONE] == known
    assert sum(counts.values()) == total


@pytest.mark.parametrize("k", range(1, 33))
def test_proportions_sum_to_one(k):
    assert sum(partition_proportions(k).values()) == pytest.approx(1, abs=1e-12)


def test_four_clades_resolve_the_most():
    resolvable = {k: partition_proportions(k)[TWO_TWO] + partition_proportions(k)[TWO_ONE_ONE] for k in range(2, 17)}
    assert max(resolvable, key=resolvable.__getitem__) == 4


@pytest.mark.parametrize("k", [1, 2, 3, 4, 9])
def test_proportions_are_the_limit_of_the_counts_of_large_equal_clades(k):
    counts = partition_counts([10**6] * k)
    total = sum(counts.values())
    assert [counts[kind] / total for kind in PARTITION_TYPES] == pytest.approx(
        list(partition_proportions(k).values()), abs=1e-5
    )


def test_labels_may_be_of_any_kind():
    quartets = [[0, 1, 2, 3]]
    for labels in (["a", "a", "b", "b"], [7, 7, 1, 1], np.array(["a", "a", 2, 2], dtype=object)):
        assert PARTITION_TYPES[partition_types(labels, quartets)[0]] == TWO_TWO


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: partition_counts([3, -1]), "A clade of -1 leaves"),
        (lambda: partition_proportions(0), "k=0 was given"),
        (lambda: partition_types([["a"]], [[0, 1, 2, 3]]), r"shape \(1, 1\)"),
        (lambda: partition_types(["a", None, "a", "b"], [[0, 1, 2, 3]]), "Leaf 1 has no label"),
        (lambda: partition_types([0.0, 1.0, 1.0, float("nan")], [[0, 1, 2, 3]]), "Leaf 3 has no label"),
        (lambda: partition_types([0, 1, 1, 0], [[0, 1, 2, 4]]), "leaf numbers from 0 to 3"),
    ],
)
def test_bad_input_gets_a_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()
