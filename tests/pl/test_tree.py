"""Drawn trees: every branch once, in its colour, with what the truth does not have marked."""

import sys

import numpy as np
import pytest

from celltreeqm import Tree, pl, random_tree

matplotlib = pytest.importorskip("matplotlib")
plt = pytest.importorskip("matplotlib.pyplot")
to_rgba = matplotlib.colors.to_rgba

BLUE, ORANGE, GREY = to_rgba("#0072B2"), to_rgba("#E69F00"), to_rgba("#8a8a8a")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture
def quartet_tree():
    return Tree([4, 4, 5, 5, 6, 6, -1], ["a", "b", "c", "d"], [1, 2, 1, 1, 1, 1, 0], rooted=True)


def branches(ax):
    """The lines of the branches that the truth has, and of those that it does not have."""
    right, wrong = ax.collections[:2]
    return right, wrong


def written(ax):
    return [text.get_text() for text in ax.texts]


@pytest.mark.parametrize("layout", ["rectangular", "circular"])
def test_every_branch_is_drawn_once_from_its_parent_to_its_node(quartet_tree, layout):
    right, wrong = branches(pl.tree(quartet_tree, layout=layout))
    lines = right.get_segments()
    assert len(lines) == quartet_tree.n_nodes - 1
    assert wrong.get_segments() == []
    ends = [line[-1] for line in lines]
    for node, up in enumerate(quartet_tree.parent[:-1]):
        reach = np.hypot(*lines[node].T) if layout == "circular" else lines[node][:, 0]
        assert reach[-1] - reach[0] == pytest.approx(quartet_tree.lengths[node]), "as long as the branch"
        if up != quartet_tree.root:
            distance = np.hypot(*(lines[node][0] - ends[up]))
            assert distance == pytest.approx(0, abs=1e-9), "starts where its parent is"


def test_a_branch_has_the_colour_that_all_leaves_below_it_share(quartet_tree):
    ax = pl.tree(quartet_tree, color={"a": "one", "b": "one", "c": "two", "d": None})
    colors = [tuple(color) for color in branches(ax)[0].get_colors()]
    assert colors == [BLUE, BLUE, ORANGE, GREY, BLUE, GREY]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["one", "two"]


def test_colours_may_be_given_themselves(quartet_tree):
    ax = pl.tree(quartet_tree, color={"a": "#ff0000", "b": (0.0, 0.0, 1.0)})
    colors = [tuple(color) for color in branches(ax)[0].get_colors()]
    assert colors[:4] == [to_rgba("#ff0000"), to_rgba("#0000ff"), GREY, GREY]
    assert ax.get_legend() is None


def test_many_groups_have_different_colours():
    tree = random_tree(32, seed=0)
    ax = pl.tree(tree, color={leaf: i for i, leaf in enumerate(tree.leaves)})
    assert len({tuple(color) for color in branches(ax)[0].get_colors()[:32]}) == 32


def test_branches_that_the_truth_does_not_have_are_marked(quartet_tree):
    truth = Tree([4, 5, 4, 5, 6, 6, -1], ["a", "b", "c", "d"], rooted=True)
    ax = pl.tree(quartet_tree, truth=truth)
    assert len(branches(ax)[1].get_segments()) == 2, "both halves of the branch ab|cd"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["not in the truth"]
    same = pl.tree(quartet_tree, truth=quartet_tree.reorder(["d", "c", "b", "a"]))
    assert branches(same)[1].get_segments() == []
    assert same.get_legend() is None


def test_names_are_written_where_they_can_be_read(quartet_tree):
    assert set("abcd") <= set(written(pl.tree(quartet_tree)))
    assert set("abcd").isdisjoint(written(pl.tree(quartet_tree, labels=False)))
    many = random_tree(128, seed=0)
    assert "t001" not in written(pl.tree(many))
    assert "t001" in written(pl.tree(many, labels=True))


def test_support_is_written_in_per_cent_where_there_is_some(quartet_tree):
    nan = np.nan
    supported = Tree(quartet_tree.parent, quartet_tree.leaves, None, None, [nan] * 4 + [0.87, nan, nan], rooted=True)
    assert sorted(written(pl.tree(supported))) == ["87", "a", "b", "c", "d"]
    assert sorted(written(pl.tree(supported, support=False))) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("layout", ["rectangular", "circular"])
def test_polytomies_single_leaves_and_unrooted_trees_can_be_drawn(layout):
    for tree in (
        Tree([3, 3, 3, -1], ["a", "b", "c"]),
        Tree([-1], ["a"], rooted=True),
        Tree([1, 2, -1], ["a"], [0, 0, 0], rooted=True),
        Tree([3, 3, 4, 4, -1], ["a", "b", "c"], [1, -0.5, 1, 0, 0]),
    ):
        ax = pl.tree(tree, layout=layout)
        assert len(branches(ax)[0].get_segments()) == tree.n_nodes - 1
        ax.figure.canvas.draw()


def test_it_draws_into_the_axes_given(quartet_tree):
    _, ax = plt.subplots()
    assert pl.tree(quartet_tree, ax=ax) is ax
    assert len(plt.get_fignums()) == 1


def test_bad_input_is_told_in_a_sentence(quartet_tree, monkeypatch):
    with pytest.raises(ValueError, match="layout='round' was given; it is 'rectangular' or 'circular'"):
        pl.tree(quartet_tree, layout="round")
    with pytest.raises(ValueError, match="The trees have 4 and 2 leaves, and they are not the same"):
        pl.tree(quartet_tree, truth=Tree([2, 2, -1], ["a", "x"]))
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(
        ImportError, match=r'Drawing needs matplotlib, which is missing: pip install "celltreeqm\[plot\]"'
    ):
        pl.tree(quartet_tree)


def test_names_and_groups_are_written_as_they_are_and_never_as_formulas():
    names = ["$^$", "$x$", "a_b"]
    ax = pl.tree(Tree([3, 3, 3, -1], names), color={"$^$": "$_$"})
    ax.figure.canvas.draw()
    assert sorted(written(ax)) == sorted(names)
    assert not any(text.get_parse_math() for text in [*ax.texts, *ax.get_legend().get_texts()])


@pytest.mark.parametrize("support", [0.97, 97])
def test_support_is_written_in_per_cent_whichever_way_it_came(support):
    ax = pl.tree(Tree([3, 3, 4, 4, -1], ["a", "b", "c"], support=[0, 0, 0, support, 0]), labels=False)
    assert written(ax) == ["97"]


def test_a_missing_group_is_grey_whatever_stands_for_missing(quartet_tree):
    pd = pytest.importorskip("pandas")
    right, _ = branches(pl.tree(quartet_tree, color={"a": "x", "b": None, "c": float("nan"), "d": pd.NA}))
    assert [tuple(color) for color in right.get_colors()[:4]] == [BLUE, GREY, GREY, GREY]


def test_what_is_no_tree_or_no_mapping_is_refused(quartet_tree):
    with pytest.raises(TypeError, match="A str came as the tree; a Tree was needed"):
        pl.tree("tree.nwk")
    with pytest.raises(TypeError, match="A str came as the truth; a Tree was needed"):
        pl.tree(quartet_tree, truth="truth.nwk")
    with pytest.raises(TypeError, match="A str came as color; a mapping from leaf name"):
        pl.tree(quartet_tree, color="founder")
