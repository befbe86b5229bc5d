"""Shape statistics against their definitions, pair by pair and node by node."""

from __future__ import annotations

import math
from dataclasses import asdict
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celltreeqm.trees import Tree
from celltreeqm.trees._newick import parse_newick, read_newick
from celltreeqm.trees._shape import shape_statistics
from tests.oracles import leaves_below_each, path_distances
from tests.strategies import trees


def by_definition(tree: Tree, by: str) -> dict[str, float]:
    """Every statistic from the leaf sets below the nodes and the path lengths of all pairs."""
    n = len(tree.leaves)
    below = leaves_below_each(tree)
    degree = [list(tree.parent).count(node) for node in range(tree.n_nodes)]
    ancestors = [[i] for i in range(n)]
    for line in ancestors:
        while tree.parent[line[-1]] >= 0:
            line.append(int(tree.parent[line[-1]]))
    if by == "length":
        depth = [sum(float(tree.lengths[node]) for node in line[:-1]) for line in ancestors]
        total = float(sum(tree.lengths))
    else:
        depth = [sum(degree[node] > 1 for node in line[1:]) for line in ancestors]
        total = sum(degree[up] > 1 for up in tree.parent if up >= 0)
    distances = path_distances(tree, by)
    pairs = [float(distances[i, j]) for i, j in combinations(range(n), 2)]
    colless = math.nan
    if n > 2 and max(degree) <= 2:
        differences = []
        for node in range(tree.n_nodes):
            sizes = [len(below[child]) for child in range(tree.n_nodes) if tree.parent[child] == node]
            differences.append(abs(sizes[0] - sizes[1]) if len(sizes) == 2 else 0)
        colless = 2 * sum(differences) / ((n - 1) * (n - 2))
    return {
        "n_leaves": n,
        "colless": colless,
        "diameter": max(pairs, default=0.0),
        "depth_mean": np.mean(depth),
        "depth_sd": np.std(depth),
        "faith_pd": total,
        "mean_pairwise_distance": np.mean(pairs) if pairs else math.nan,
    }


@given(
    trees(rooted=True, unary=True, lengths="positive") | trees(rooted=True, binary=True, lengths="positive"), st.data()
)
def test_all_are_what_their_definitions_say(tree, data):
    by = data.draw(st.sampled_from(["length", "topology"]))
    expected = by_definition(tree, by)
    for name, value in asdict(shape_statistics(tree, by=by)).items():
        assert value == pytest.approx(expected[name], abs=1e-9, nan_ok=True), name


@given(trees(min_leaves=2, rooted=True, lengths="any").filter(lambda tree: tree.lengths is not None))
def test_the_diameter_of_a_tree_with_negative_lengths(tree):
    distances = tree.distances()[np.triu_indices(tree.n_leaves, 1)]
    assert shape_statistics(tree).diameter == pytest.approx(distances.max(), abs=1e-9)


@given(trees(rooted=True, unary=True))
def test_single_child_nodes_do_not_count_by_topology(tree):
    with_chains, without = (shape_statistics(t, by="topology") for t in (tree, tree.collapse_unary()))
    assert asdict(with_chains) == pytest.approx(asdict(without), nan_ok=True)


@pytest.mark.parametrize("n, diversity", [(102, 202), (183, 364), (295, 588)])
def test_topological_diversity_of_the_papers_binary_datasets(n, diversity):
    """Faith's PD of tbl:c_elegans_stats, "Based on Topology": 2n - 2."""
    rng = np.random.default_rng(0)
    parts = [f"x{i}" for i in range(n)]
    while len(parts) > 1:
        first, second = (parts.pop(rng.integers(len(parts))) for _ in range(2))
        parts.append(f"({first},{second})")
    assert shape_statistics(parse_newick(parts[0] + ";"), by="topology").faith_pd == diversity


@pytest.mark.parametrize("n", [3, 10, 1000, 50_000])
def test_a_caterpillar_has_colless_1_and_its_closed_forms(n):
    tree = Tree([n, *range(n, 2 * n - 1), *range(n + 1, 2 * n - 1), -1], [f"x{i}" for i in range(n)], rooted=True)
    shape = shape_statistics(tree, by="topology")
    assert shape.colless == 1.0
    assert shape.diameter == n
    assert shape.depth_mean == pytest.approx((n * (n + 1) / 2 - 1) / n)


def test_a_balanced_tree_has_colless_0_and_its_closed_forms():
    parent = [*(64 + np.arange(64) // 2), *(96 + np.arange(32) // 2), *(112 + np.arange(16) // 2)]
    parent += [*(120 + np.arange(8) // 2), *(124 + np.arange(4) // 2), 126, 126, -1]
    shape = shape_statistics(Tree(parent, [f"x{i}" for i in range(64)], rooted=True), by="topology")
    assert (shape.colless, shape.diameter, shape.depth_mean, shape.depth_sd) == (0, 12, 6, 0)
    assert shape.mean_pairwise_distance == pytest.approx(sum(2 * k * 2 ** (k - 1) for k in range(1, 7)) / 63)


def test_colless_is_nan_where_it_is_not_defined():
    assert math.isnan(shape_statistics(parse_newick("(a,b,(c,d));", rooted=True), by="topology").colless)
    assert math.isnan(shape_statistics(parse_newick("(a,b);"), by="topology").colless)


def test_a_stem_counts_by_length_and_not_by_topology():
    tree = parse_newick("((a:1,b:1):5);")
    assert (shape_statistics(tree).faith_pd, shape_statistics(tree).depth_mean) == (7, 6)
    assert shape_statistics(tree, by="topology").faith_pd == 2


def test_unrooted_trees_missing_lengths_and_unknown_kinds_are_refused():
    with pytest.raises(ValueError, match="This tree is unrooted; depth and the Colless index need a root"):
        shape_statistics(parse_newick("(a:1,b:1,c:1);"))
    with pytest.raises(ValueError, match="This tree has no branch lengths"):
        shape_statistics(parse_newick("(a,b);"))
    with pytest.raises(ValueError, match="by='depth' was given; it is 'length' or 'topology'"):
        shape_statistics(parse_newick("(a,b);"), by="depth")


def test_the_embryo_is_as_balanced_and_deep_as_the_papers_subsets_of_it(shared_data: Path):
    path = shared_data / "epic190/tree.nwk"
    if not path.exists():
        pytest.skip("the shared data are not here")
    shape = shape_statistics(read_newick(path))
    assert shape == shape_statistics(read_newick(path), by="topology")  # its tree is complete: every length is 1
    assert shape.n_leaves == 190
    assert shape.faith_pd == 378
    assert 0.005 < shape.colless < 0.047
    assert 6.5 < shape.depth_mean < 8.5
    assert 12 < shape.mean_pairwise_distance < 16
