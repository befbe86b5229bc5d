"""Priors: made from clades, checked, and found to contradict each other or not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celltreeqm.trees import Tree, check_priors, find_conflict, prior_at_level, prior_from_clades
from tests import oracles
from tests.oracles import from_nested
from tests.strategies import priors_of, trees


def test_a_clade_is_a_polytomy_and_a_singleton_a_leaf_at_the_root():
    prior = prior_from_clades({"a": "AB", "b": "MS", "c": "AB", "d": "E", "e": "MS"})
    assert prior.rooted
    assert prior.leaves == ("a", "b", "c", "d", "e")
    assert prior.clades(1) == (("a", "c"), ("b", "e"), ("d",))
    assert prior.node_names[:2] == ("AB", "MS")


@pytest.mark.parametrize("missing", [None, float("nan"), np.nan, pd.NA, pd.NaT, np.float32("nan")])
def test_a_missing_label_means_not_in_the_prior(missing):
    assert prior_from_clades({"a": 1, "b": 1, "c": missing, "d": 2, "e": 2}).leaves == ("a", "b", "d", "e")


def test_outside_means_in_the_prior_but_in_no_clade():
    prior = prior_from_clades({"a": "x", "b": "x", "c": "?", "d": "?", "e": "y", "f": "y"}, outside=["?"])
    assert prior.clades(1) == (("a", "b"), ("c",), ("d",), ("e", "f"))


def test_series_mappings_and_sequences_say_the_same():
    labels = ["x", "x", "y", "y", "y"]
    expected = prior_from_clades(labels, list("abcde"))
    series = pd.Series(labels, index=list("abcde"))
    assert prior_from_clades(series) == expected
    assert prior_from_clades(series.astype("category")) == expected
    assert prior_from_clades(series.sample(frac=1, random_state=0), list("abcde")) == expected
    assert prior_from_clades(pd.Series(labels), list("abcde")) == expected
    assert prior_from_clades(dict(zip("edcba", labels[::-1], strict=True)), list("abcde")) == expected
    assert prior_from_clades(np.array(labels), list("abcde")) == expected


def test_one_clade_of_all_is_a_star():
    assert prior_from_clades(["x"] * 4, list("abcd")).splits().shape == (0, 4)


def test_a_single_labelled_leaf_is_a_tree_too():
    assert prior_from_clades({"a": "x", "b": None}).leaves == ("a",)


@pytest.mark.parametrize(
    ("clades", "leaves", "outside", "message"),
    [
        ({"a": None, "b": float("nan")}, None, (), "None of the 2 leaves has a clade label"),
        (
            {"a": "x", "b": "y"},
            None,
            ["unknwn"],
            "outside names 'unknwn', which no leaf bears; the labels are 'x', 'y'",
        ),
        ({"a": "x", "b": "nan"}, None, (), "The text 'nan' came as a clade label"),
        (["x", "y"], None, (), "came as list without leaf names"),
        (["x", "y"], ["a"], (), "2 clade labels came with 1 leaf names"),
        ({"a": "x"}, ["a", "b"], (), "1 leaf has no entry in the clades: 'b'"),
        (pd.Series(["x", "y"], index=["a", "a"]), None, (), "must be unique"),
    ],
)
def test_bad_clades_get_a_sentence(clades, leaves, outside, message):
    with pytest.raises(ValueError, match=message):
        prior_from_clades(clades, leaves, outside=outside)


@given(st.data())
def test_the_prior_at_a_level_knows_the_clades_and_no_more(data):
    tree = data.draw(trees(2, 10, rooted=True))
    level = data.draw(st.integers(0, 4))
    prior = prior_at_level(tree, level)
    assert set(map(frozenset, prior.clades(1))) == set(map(frozenset, tree.clades(level))) or level == 0
    known = oracles.known_quartets(tree.leaves, prior)
    label = dict(zip(tree.leaves, tree.clade_labels(level).tolist(), strict=True))
    for quartet in oracles.all_quartets(tree.leaves):
        sizes = sorted(
            (list(map(label.get, quartet)).count(x) for x in {label[name] for name in quartet}), reverse=True
        )
        assert (quartet in known) == (sizes in ([2, 2], [2, 1, 1]))


@given(st.data())
def test_a_conflict_is_found_exactly_where_there_is_one(data):
    first, second = data.draw(trees(4, 8)), data.draw(trees(4, 8))
    conflict = find_conflict(first, second)
    assert (conflict is None) == oracles.compatible(first, second)
    if conflict:
        for tree, (a, b, c, d) in zip((first, second), conflict, strict=True):
            assert oracles.quartet_topology(tree, [a, b, c, d]) == frozenset([frozenset([a, b]), frozenset([c, d])])


@given(st.data())
def test_priors_of_one_tree_never_conflict(data):
    tree = data.draw(trees(4, 12, binary=True))
    check_priors([data.draw(priors_of(tree)), data.draw(priors_of(tree))], tree.leaves)


def test_none_one_and_many_priors_come_back_as_a_tuple():
    tree = from_nested((("a", "b"), ("c", "d")))
    assert check_priors(None, ["a"]) == ()
    assert check_priors(tree, list("abcde")) == (tree,)
    assert check_priors(iter([tree, tree])) == (tree, tree)


def test_one_missing_leaf_is_spoken_of_in_the_singular():
    with pytest.raises(ValueError, match=r"1 leaf of the prior has no row in the data: 'd'\. Drop it with"):
        check_priors(from_nested((("a", "b"), ("c", "d"))), list("abc"))


def test_what_is_no_tree_is_named():
    with pytest.raises(TypeError, match="A prior of type DataFrame was given"):
        check_priors([pd.DataFrame()])
    assert isinstance(check_priors([Tree([-1], ["a"])])[0], Tree)
