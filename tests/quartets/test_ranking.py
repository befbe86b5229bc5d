from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celltreeqm.quartets import all_quartets, rank_quartets, unrank_quartets

MOST = 121_976


@pytest.mark.parametrize("n", [4, 5, 9, 20])
def test_all_ranks_give_all_quartets_in_colexicographic_order(n):
    expected = sorted(combinations(range(n), 4), key=lambda four: four[::-1])
    assert unrank_quartets(np.arange(comb(n, 4)), n).tolist() == [list(four) for four in expected]


@pytest.mark.parametrize("n", [300, 10_000, MOST])
def test_the_hardest_ranks_are_exact_where_one_leaf_gives_way_to_the_next(n):
    leaf = np.unique(np.linspace(4, n - 1, 500).astype(int))
    first = np.array([comb(x, 4) for x in leaf.tolist()])
    starts, ends = unrank_quartets(first, n), unrank_quartets(first - 1, n)
    assert (starts == np.stack([0 * leaf, 0 * leaf + 1, 0 * leaf + 2, leaf], axis=1)).all()
    assert (ends == np.stack([leaf - 4, leaf - 3, leaf - 2, leaf - 1], axis=1)).all()
    assert unrank_quartets([comb(n, 4) - 1], n).tolist() == [[n - 4, n - 3, n - 2, n - 1]]


@given(st.integers(4, MOST).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, comb(n, 4) - 1))))
def test_ranking_undoes_unranking(case):
    n, rank = case
    a, b, c, d = unrank_quartets([rank], n)[0].tolist()
    assert 0 <= a < b < c < d < n
    assert rank == comb(a, 1) + comb(b, 2) + comb(c, 3) + comb(d, 4)
    assert rank_quartets([[c, a, d, b]]).tolist() == [rank]


@pytest.mark.parametrize("chunk", [1, 7, 70, 1000])
def test_all_quartets_come_once_each_in_chunks(chunk):
    pieces = list(all_quartets(8, chunk=chunk))
    assert [len(piece) for piece in pieces[:-1]] == [chunk] * (len(pieces) - 1)
    assert (np.concatenate(pieces) == unrank_quartets(np.arange(70), 8)).all()


@pytest.mark.parametrize("n", [0, 3])
def test_fewer_than_four_leaves_have_no_quartets(n):
    assert list(all_quartets(n)) == []
    assert unrank_quartets([], n).shape == (0, 4)
    assert rank_quartets([]).shape == (0,)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: unrank_quartets([15], 6), r"go from 15 to 15; 6 leaves have 15 quartets"),
        (lambda: unrank_quartets([-1], 6), "go from -1 to -1"),
        (lambda: unrank_quartets(np.array([2**63], dtype=np.uint64), 6), "go from 9223372036854775808"),
        (lambda: unrank_quartets([0.5], 6), "dtype float64"),
        (lambda: unrank_quartets([[0]], 6), r"shape \(1, 1\)"),
        (lambda: unrank_quartets([0], MOST + 1), "from 0 to 121,976 was needed"),
        (lambda: all_quartets(-1), "n=-1 was given"),
        (lambda: all_quartets(8, chunk=0), "at least one quartet"),
        (lambda: rank_quartets([[0, 0, 1, 2]]), "must differ"),
        (lambda: rank_quartets([[0, 1, 2, MOST]]), "from 0 to 121975"),
    ],
)
def test_bad_input_gets_a_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()
