"""Priors from lineage names, against the published lineage."""

from __future__ import annotations

import logging
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celltreeqm.trees._lineage_names import prior_from_lineage_names
from celltreeqm.trees._newick import format_newick, read_newick

MOTHERS = {"AB": ["P0"], "MS": ["P0", "P1", "EMS"], "E": ["P0", "P1", "EMS"], "C": ["P0", "P1", "P2"]}
MOTHERS |= {"D": ["P0", "P1", "P2", "P3"], "P4": ["P0", "P1", "P2", "P3"]}


def line(name: str) -> list[str]:
    """Every cell from P0 to the one of this name."""
    founder = next(founder for founder in sorted(MOTHERS, key=len, reverse=True) if name.startswith(founder))
    return MOTHERS[founder] + [name[:i] for i in range(len(founder), len(name) + 1)]


@st.composite
def paths(draw):
    """Cells of which none is another's ancestor; every cell divides along one axis, given by how deep it is."""
    axes = draw(st.lists(st.sampled_from(["ap", "lr", "dv"]), min_size=4, max_size=4))
    cell = st.builds(
        lambda founder, steps: founder + "".join(axis[step] for axis, step in zip(axes, steps, strict=False)),
        st.sampled_from(sorted(MOTHERS)),
        st.lists(st.integers(0, 1), max_size=4),
    )
    cells = draw(st.lists(cell, min_size=1, max_size=12, unique=True))
    return [cell for cell in cells if not any(cell in line(other)[:-1] for other in cells)]


@given(paths())
def test_distances_count_the_divisions_between_two_cells(cells):
    prior = prior_from_lineage_names(cells)
    assert prior.rooted
    assert prior.leaves == tuple(cells)
    assert not (prior.degree == 1).any()
    for i, first in enumerate(cells):
        for j, second in enumerate(cells):
            assert prior.distances()[i, j] == len(set(line(first)) ^ set(line(second)))


@given(paths())
def test_internal_nodes_are_the_last_common_ancestors_by_name(cells):
    prior = prior_from_lineage_names(cells)
    for node in range(prior.n_leaves, prior.n_nodes):
        lines = [line(name) for name in prior.leaves_below(node)]
        assert prior.name(node) == [cell for cell in lines[0] if all(cell in other for other in lines)][-1]


@given(paths(), st.randoms(use_true_random=False))
def test_case_does_not_matter_and_names_are_kept_as_given(cells, random):
    written = ["".join(random.choice([c.upper(), c.lower()]) for c in cell) for cell in cells]
    prior = prior_from_lineage_names(written)
    assert prior.leaves == tuple(written)
    plain = prior_from_lineage_names(cells)
    assert prior.node_names == plain.node_names
    assert prior.rename(dict(zip(written, cells, strict=True))) == plain


def test_the_first_divisions():
    prior = prior_from_lineage_names(["AB", "MS", "E", "C", "D", "Z2", "Z3"])
    assert format_newick(prior) == "(AB:1,((MS:1,E:1)EMS:1,(C:1,(D:1,(Z2:1,Z3:1)P4:1)P3:1)P2:1)P1:1)P0;"


def test_cells_inside_the_lineage_may_be_leaves():
    assert format_newick(prior_from_lineage_names(["ABp", "ems", "P2"])) == "(ABp:2,(ems:1,P2:1)P1:1)P0;"
    assert prior_from_lineage_names(["P0"]).leaves == ("P0",)


def test_daughters_of_p4_have_two_names_that_are_not_mixed():
    assert prior_from_lineage_names(["P4a", "P4p", "D"]).n_nodes == 5
    with pytest.raises(ValueError, match=r"P4 would divide into P4a, Z2, but a cell divides once"):
        prior_from_lineage_names(["P4a", "Z2"])


@pytest.mark.parametrize("names", [["ABala", "ABall"], ["ABalal", "ABald", "MS"], ["ABalv", "ABalpp"]])
def test_a_cell_that_would_divide_along_two_axes_is_refused(names):
    with pytest.raises(ValueError, match=r"ABal would divide into ABal\w, ABal\w, but a cell divides once"):
        prior_from_lineage_names(names)


def test_names_that_are_no_path_are_listed_and_refused():
    names = ["ABala", "V5.pa", "hyp7", "ABxp", "P1a", "", " AB", float("nan")]
    message = r"7 names are no path in the C. elegans lineage: 'V5.pa', 'hyp7', 'ABxp' and 4 more. .*unknown='skip'"
    with pytest.raises(ValueError, match=message):
        prior_from_lineage_names(names)
    with pytest.raises(ValueError, match=r"1 name is no path in the C. elegans lineage: 'hyp7'"):
        prior_from_lineage_names(["AB", "hyp7"])


def test_names_that_are_no_path_are_skipped_when_asked_and_counted_in_the_log(caplog):
    with caplog.at_level(logging.WARNING):
        prior = prior_from_lineage_names(["ABala", "V5.pa", "MS", "hyp7"], unknown="skip")
    assert prior == prior_from_lineage_names(["ABala", "MS"])
    assert "2 names are no path in the C. elegans lineage and left out of the prior: 'V5.pa', 'hyp7'." in caplog.text


def test_nothing_to_build_from_is_refused():
    with pytest.raises(ValueError, match="None of the 1 names is a path"):
        prior_from_lineage_names(["hyp7"], unknown="skip")
    with pytest.raises(ValueError, match="None of the 0 names is a path"):
        prior_from_lineage_names([])


def test_an_ancestor_of_another_leaf_is_refused_with_the_pairs():
    message = re.escape("ancestors of others: 'ab' of 'ABala'; 'ab' of 'ABp'; 'P1' of 'E' and 1 more. A leaf cannot be")
    with pytest.raises(ValueError, match=message):
        prior_from_lineage_names(["ABala", "ab", "ABp", "E", "MS", "P1"])


def test_the_same_cell_twice_is_refused():
    with pytest.raises(
        ValueError, match=r"names are those of the same cell: 'ABala' and 'abALA'; 'MS' and 'MS'\. Each"
    ):
        prior_from_lineage_names(["ABala", "abALA", "MS", "".join(["M", "S"]), "E"])


def test_a_single_string_and_an_unknown_choice_are_refused():
    with pytest.raises(TypeError, match="names is the single string 'ABala'"):
        prior_from_lineage_names("ABala")
    with pytest.raises(ValueError, match="unknown='drop' was given; it is 'error' or 'skip'"):
        prior_from_lineage_names(["AB"], unknown="drop")


def test_numpy_strings_are_names():
    assert prior_from_lineage_names(np.array(["ABa", "MS"])).leaves == ("ABa", "MS")


def test_the_embryonic_cells_of_the_published_lineage(shared_data: Path):
    path = shared_data / "sulston/embryonic_and_postembryonic.nwk"
    if not path.exists():
        pytest.skip("the shared data are not here")
    published = read_newick(path)
    prior = prior_from_lineage_names(published.leaves, unknown="skip")
    assert prior.n_leaves == 672  # the others are descendants of blast cells, named after those
    known = published.restrict(prior.leaves)
    assert prior.same_topology(known)
    assert prior == known
    named = {name for name in prior.node_names if not re.match("P[01]|AB", name)}
    assert named <= {"EMS"} | {
        re.sub("^(p.|ms|[ecd])", lambda m: m[0].upper(), name) for name in known.node_names if name
    }


def test_the_tree_of_epic190(shared_data: Path):
    path = shared_data / "epic190/tree.nwk"
    if not path.exists():
        pytest.skip("the shared data are not here")
    published = read_newick(path)
    assert prior_from_lineage_names(published.leaves) == published
