"""What newcomers hand over by mistake is told in a sentence, and never taken for something else."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import celltreeqm as ctq
from celltreeqm import Tree

ABCD = list("abcd")
TREE = Tree([4, 4, 5, 5, 6, 6, -1], ABCD, np.ones(7), rooted=True)
TABLE = pd.DataFrame(TREE.distances(), index=ABCD, columns=ABCD)


@pytest.mark.parametrize(
    "call",
    [
        lambda wrong: ctq.robinson_foulds(TREE, wrong),
        lambda wrong: ctq.robinson_foulds(wrong, TREE),
        lambda wrong: ctq.quartet_distance(TREE, wrong),
        lambda wrong: ctq.find_conflict(TREE, wrong),
        lambda wrong: ctq.prior_at_level(wrong, 1),
        lambda wrong: ctq.root_at(wrong, 0),
        ctq.root_at_midpoint,
        lambda wrong: ctq.root_by_outgroup(wrong, ["a"]),
        lambda wrong: ctq.root_by_prior(wrong, TREE),
        lambda wrong: ctq.root_by_prior(TREE, [wrong]),
        ctq.shape_statistics,
        ctq.to_networkx,
        ctq.to_linkage,
        ctq.to_treedata,
        ctq.format_newick,
        lambda wrong: ctq.fit_branch_lengths(wrong, TABLE),
        lambda wrong: ctq.place_leaves(wrong, TABLE),
        lambda wrong: ctq.find_placements(wrong, [[1, 1, 1, 1]], ["new"]),
        lambda wrong: ctq.clade_frequencies([TREE, wrong]),
        lambda wrong: ctq.with_support(wrong, [TREE]),
        lambda wrong: ctq.common_refinement([TREE, wrong]),
        lambda wrong: ctq.quartet_topology_in(wrong, [[0, 1, 2, 3]]),
        lambda wrong: ctq.neighbor_joining(TABLE, prior=wrong),
        ctq.count_known_quartets,
    ],
)
@pytest.mark.parametrize("wrong", ["tree.nwk", 5])
def test_what_is_no_tree_is_refused(call, wrong):
    with pytest.raises(TypeError, match=r"a Tree(, a sequence of Trees or None)? was needed"):
        call(wrong)


@pytest.mark.parametrize("call", [ctq.clade_frequencies, ctq.majority_consensus, ctq.common_refinement])
def test_a_generator_of_trees_is_refused(call):
    with pytest.raises(TypeError, match="A generator was given; a sequence of trees was needed"):
        call(tree for tree in [TREE])


@pytest.mark.parametrize(
    "call",
    [
        lambda names: ctq.neighbor_joining(TREE.distances(), names),
        lambda names: ctq.prior_from_clades([1, 1, 2, 2], names),
        lambda names: ctq.find_placements(TREE, np.ones((4, 4)), names),
        lambda names: ctq.KnownQuartets(TREE, names),
        lambda names: ctq.quartet_topology_in(TREE, [[0, 1, 2, 3]], leaves=names),
        lambda names: ctq.quartet_class_counts(TREE, names),
        lambda names: ctq.from_linkage(ctq.to_linkage(TREE), names),
        TREE.reorder,
    ],
)
@pytest.mark.parametrize(
    "names, sentence",
    [(set(ABCD), "is a set, which has no order"), ("abcd", "is the single string 'abcd'"), (4, "is of type int")],
)
def test_names_come_in_an_order(call, names, sentence):
    with pytest.raises(TypeError, match=sentence):
        call(names)


def test_names_in_another_order_than_the_table_are_refused():
    assert ctq.neighbor_joining(TABLE, ABCD) == ctq.neighbor_joining(TABLE)
    with pytest.raises(ValueError, match="in another order than the rows of the DataFrame"):
        ctq.neighbor_joining(TABLE, ABCD[::-1])


@pytest.mark.parametrize("build", [ctq.neighbor_joining, ctq.upgma, ctq.ward])
def test_distances_whose_sums_would_overflow_are_refused(build):
    with pytest.raises(ValueError, match=r"is 1\.7e\+308, too large to calculate with\. Scale"):
        build((1 - np.eye(6)) * 1.7e308, list("abcdef"), prior=Tree([6] * 6 + [-1], list("abcdef")))


def test_complex_distances_are_refused():
    with pytest.raises(ValueError, match="cannot be read as numbers: they are complex"):
        ctq.neighbor_joining(TREE.distances() + 1j, ABCD)


@pytest.mark.parametrize("values", ["x", ["x", 1, 1]])
def test_lengths_that_are_no_numbers_are_refused(values):
    with pytest.raises(ValueError, match="lengths cannot be read as numbers"):
        Tree([2, 2, -1], ["a", "b"], values)


@pytest.mark.parametrize("level", [0.5, float("nan"), "1", None, -1])
def test_a_level_is_a_whole_number(level):
    with pytest.raises(ValueError, match="levels start at 0"):
        TREE.clade_labels(level)


def test_outside_may_be_one_label_or_a_generator():
    clades = {"a": "AB", "b": "AB", "c": "other", "d": "other"}
    listed = ctq.prior_from_clades(clades, outside=["other"])
    assert listed.clades(1) == (("a", "b"), ("c",), ("d",))
    assert ctq.prior_from_clades(clades, outside="other") == listed
    assert ctq.prior_from_clades(clades, outside=(label for label in ["other"])) == listed
    assert ctq.prior_from_clades({"a": "AB", "b": "AB", "c": "A", "d": "B"}, outside="A").clades(1)[0] == ("a", "b")


@pytest.mark.parametrize(
    "clades, leaves, sentence",
    [
        (TABLE, None, "Pass one column of a table"),
        (TABLE, ABCD, "Pass one column of a table"),
        ([["x"], ["x"]], ["a", "b"], "The clade label of 'a' is \\['x'\\]"),
        (pd.Series(["x", "y"], index=["a", "a"]), ["a"], "name some leaves more than once"),
    ],
)
def test_labels_that_are_no_labels_are_refused(clades, leaves, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        ctq.prior_from_clades(clades, leaves)


@pytest.mark.parametrize("missing", [float("nan"), None, pd.NA])
def test_a_missing_label_beside_strings_is_not_a_clade(missing):
    with pytest.raises(ValueError, match="Leaf 3 has no label"):
        ctq.partition_types(["x", "x", "y", missing], [[0, 1, 2, 3]])


def test_labels_of_different_types_are_different_clades():
    assert ctq.partition_types(np.array([1, "1", "y", "y"], dtype=object), [[0, 1, 2, 3]]).tolist() == [3]


@pytest.mark.parametrize(
    "call",
    [
        lambda: ctq.partition_counts([2.7, 2]),
        lambda: ctq.partition_proportions(2.5),
        lambda: ctq.unrank_quartets([0], 6.7),
        lambda: next(ctq.all_quartets(6, chunk=2.5)),
        lambda: next(ctq.all_quartets("6")),
        lambda: ctq.sample_known_quartets(TREE, 2.5),
        lambda: ctq.root_at(TREE, 1.0),
    ],
)
def test_numbers_are_whole(call):
    with pytest.raises(ValueError, match=r"(2\.7|2\.5|6\.7|'6'|1\.0)"):
        call()


def test_leaf_names_may_come_from_a_generator():
    names = ["x", *ABCD]
    known = ctq.KnownQuartets(TREE, (name for name in names))
    assert np.array_equal(known.sample(9, seed=0).leaves, ctq.KnownQuartets(TREE, names).sample(9, seed=0).leaves)
    assert ctq.quartet_class_counts(TREE, (name for name in names)) == ctq.quartet_class_counts(TREE, names)


def test_graphs_that_are_no_trees_or_hold_no_numbers_are_refused():
    with pytest.raises(TypeError, match="A multigraph came"):
        ctq.from_networkx(nx.MultiDiGraph([("r", "a"), ("r", "b")]))
    graph = nx.DiGraph([("r", "a")])
    graph.edges["r", "a"]["length"] = None
    with pytest.raises(ValueError, match="The length at node 'a' of the graph is None; a number was needed"):
        ctq.from_networkx(graph)


def test_a_table_is_no_anndata():
    with pytest.raises(TypeError, match="A DataFrame came as the data; an AnnData was needed"):
        ctq.to_treedata(TREE, TABLE)


def test_text_with_a_byte_order_mark_is_read():
    assert ctq.parse_newick("\ufeff((a,b),c);").leaves == ("a", "b", "c")


def test_a_drawing_keeps_one_line_a_leaf_whatever_the_names_are():
    assert str(Tree([2, 2, -1], ["a\r\nb", "\x1b[31mc"])).splitlines() == ["┬─a\\r\\nb", "└─\\x1b[31mc"]


# Each of these came through silently, or ended in a traceback from deep inside, before it had a sentence.
SHUFFLED = pd.DataFrame(TREE.distances(), index=ABCD, columns=ABCD[::-1])


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: Tree([2, 2, -1], ["a", "b"], rooted="no"), "rooted='no' was given; True or False was needed"),
        (lambda: ctq.parse_newick("(a,b,c);", rooted="yes"), "rooted='yes' was given; True or False was needed"),
        (lambda: Tree([2, 2, -1], ["a", "b"], node_names="x"), "node_names is the single string 'x'"),
        (lambda: Tree([2, 2, -1], ["a", "b"], node_names=7), "node_names is of type int"),
        (lambda: Tree([2, 2, -1], ["a", "b"], node_names=[5]), "name of internal node 2 is 5 .*a string or None"),
        (lambda: TREE.rename(["x", "y", "z", "w"]), "names is of type list; a mapping from old to new was needed"),
        (lambda: TREE.same_topology("x"), "A str came as the other tree; a Tree was needed"),
        (lambda: TREE.restrict([["a"]]), "leaves holds \\['a'\\], which is no name"),
        (lambda: ctq.write_newick("tree.nwk", TREE), "A str came as the tree; a Tree was needed"),
        (lambda: ctq.write_newick(TREE, None), "NoneType came where the path of a file was needed"),
        (lambda: ctq.prior_from_lineage_names(None), "names is of type NoneType; a sequence of names was needed"),
        (lambda: ctq.prior_from_lineage_names({"ABa", "ABp"}), "names is a set, which has no order"),
        (lambda: ctq.check_priors(TREE, "abcd"), "leaves is the single string 'abcd'"),
        (lambda: ctq.root_by_outgroup(TREE, 5), "outgroup is of type int; a name or several were needed"),
        (lambda: ctq.root_by_prior(TREE, 5), "A prior of type int was given; a Tree"),
        (lambda: ctq.to_treedata(TREE, key=5), "key=5 was given; the name of the tree, a string, was needed"),
        (lambda: ctq.partition_counts(5), "sizes is of type int; a number of leaves for each clade was needed"),
        (lambda: ctq.sample_known_quartets(TREE, 5, seed="x"), "seed='x' \\(str\\) was given; a whole number"),
        (lambda: ctq.parallel_map(5, [1, 2], workers=2), "function=5 was given; something to call was needed"),
        (lambda: ctq.parallel_map(abs, 5), "items is of type int; something to iterate over was needed"),
        (lambda: ctq.pl.tree(TREE, color={"a": ["x"]}), "The group of 'a' is \\['x'\\]; a string or a number"),
        (lambda: ctq.pl.tree(TREE, ax=5), "ax is of type int; matplotlib axes were needed"),
    ],
)
def test_what_is_of_another_kind_is_told_in_a_sentence(call, sentence):
    with pytest.raises(TypeError, match=sentence):
        call()


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: Tree([2, 2, -1], ["a", "b"], support=[np.inf, 1, 1]), "support .* node 0 is inf; .*finite, or NaN"),
        (lambda: TREE.clades(True), "Level True was asked for"),
        (lambda: ctq.format_newick(TREE, digits=2.5), "digits=2.5 was given; a whole number"),
        (lambda: ctq.format_newick(TREE, digits="3"), "digits='3' was given; a whole number"),
        (lambda: ctq.neighbor_joining(SHUFFLED), "columns .* in another order than its rows"),
        (lambda: ctq.neighbor_joining(TABLE, list("wxyz")), "other leaf names than the rows of the DataFrame"),
        (lambda: ctq.prior_from_clades(pd.Series([1, 1], ["x", "y"]), ["a", "b"]), "2 leaves have no entry"),
        (lambda: ctq.prior_from_clades([1, 1, 2], list("abc"), outside=7), "outside names '7', which no leaf bears"),
        (lambda: ctq.prior_from_clades([1, 1, 2], list("abc"), outside=[[7]]), "outside names '\\[7\\]', which no"),
        (lambda: ctq.find_placements(TREE, [["x", 1, 1, 1]], ["n"]), "The distances cannot be read as numbers"),
        (lambda: ctq.find_placements(TREE, np.ones((1, 4)) * 1j, ["n"]), "The distances .*: they are complex"),
        (lambda: ctq.clade_frequencies([TREE], weights=["x"]), "The weights cannot be read as numbers"),
        (lambda: ctq.majority_consensus([TREE], threshold="x"), "threshold='x' was given"),
        (lambda: ctq.from_linkage("x", ABCD), "The linkage cannot be read as numbers"),
        (lambda: ctq.root_at(TREE, 0, distance_above="x"), "distance_above='x' was given; a number was needed"),
        (lambda: ctq.quartet_distance(TREE, TREE, unresolved=["same"]), "unresolved=\\['same'\\] was given"),
        (lambda: ctq.quartet_topology(TREE.distances() * 1j, [[0, 1, 2, 3]]), "The distances .*: they are complex"),
        (lambda: ctq.quartet_topology(np.triu(TREE.distances()), [[0, 1, 2, 3]]), "not the same both ways"),
        (lambda: ctq.quartet_topology([["x"] * 4] * 4, [[0, 1, 2, 3]]), "The distances cannot be read as numbers"),
        (lambda: ctq.quartet_topology(TREE.distances(), [[0, 1, 2, 3]], tolerance="x"), "tolerance='x' was given"),
        (lambda: ctq.Quartets([[0, 1, 2, 3], [0, 1]], [0, 0]), "The quartets cannot be read as rows of four"),
        (lambda: ctq.sample_known_quartets(TREE, 5, seed=-1), "seed=-1 was given"),
        (lambda: ctq.parallel_map(abs, [1], workers=True), "workers=True was given"),
        (lambda: ctq.pl.tree(TREE, color={"A": "one", "B": "two"}), "None of the 2 names in color is a leaf"),
        (lambda: ctq.pl.tree(TREE, truth=TREE.restrict(["a", "b", "c"])), "1 is only in the first: 'd'"),
    ],
)
def test_what_makes_no_sense_is_told_in_a_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: Tree([2, 2, -1], ["a", "a"]), "unique; 1 occurs more than once"),
        (lambda: ctq.fit_branch_lengths(TREE, np.zeros((3, 3)), list("abc")), "1 leaf of the tree has no row"),
        (lambda: ctq.place_leaves(TREE, np.zeros((3, 3)), list("abc")), "1 leaf of the backbone has no row"),
        (lambda: ctq.find_placements(TREE, [[1] * 4], ["a"]), "1 of the new names is a leaf"),
        (lambda: ctq.root_by_outgroup(TREE, "x"), "1 name of the outgroup is no leaf"),
        (lambda: ctq.prior_from_clades({"a": 1}, ["a", "b"]), "1 leaf has no entry"),
        (lambda: ctq.from_networkx(nx.DiGraph([("a", "c"), ("b", "c")])), "1 node of the graph has more than"),
    ],
)
def test_one_is_told_as_one(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
