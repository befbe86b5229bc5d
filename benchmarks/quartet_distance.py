"""How long comparing two trees takes: ``python benchmarks/quartet_distance.py``.

Medians of five after a warm-up, CPU time of the one thread. To show: the exact quartet distance of two 295-leaf trees
in under 50 ms; of two 10,000-leaf trees in under 10 s, also with a node of degree 2,500 in one or both; by class of a
wrong prior of 300 leaves in under 1 s. Peers: every quartet one by one, sets of leaf sets, tqDist where installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import measure
import numpy as np
from measure import cpu_seconds, keep, names

from celltreeqm.trees import (
    Tree,
    format_newick,
    prior_from_clades,
    quartet_agreement,
    quartet_agreement_by_class,
    quartet_distance,
    robinson_foulds,
)


def milliseconds(call: Callable[[], object], repeats: int = 5) -> float:
    return 1000 * cpu_seconds(call, repeats=repeats)


def random_tree(n: int, seed: int) -> Tree:
    """An unrooted one, its leaves in random order."""
    tree = measure.random_tree(n, seed).unroot()
    order = np.random.default_rng(seed).permutation(n)
    return tree.rename({old: f"cell{i}" for old, i in zip(tree.leaves, order.tolist(), strict=True)})


def caterpillar(n: int, seed: int) -> Tree:
    """A caterpillar with its leaves in random order: the slowest binary shape."""
    order = np.random.default_rng(seed).permutation(n)
    return Tree([n, *range(n, 2 * n - 1), *range(n + 1, 2 * n - 1), -1], [f"cell{i}" for i in order]).unroot()


def with_polytomy(tree: Tree, degree: int) -> Tree:
    """The tree with edges around its root contracted until the root has so many children."""
    gone, children = [], list(tree.children[tree.root])
    while len(children) < degree:
        widest = max(children, key=tree.n_below.__getitem__)
        children.remove(widest)
        children.extend(tree.children[widest])
        gone.append(widest)
    return tree.collapse(gone)


def enumerated_distance(first: Tree, second: Tree) -> float:
    """The quartet distance of two binary trees from the four-point sums of every quartet."""
    tables = [tree.reorder(first.leaves).distances(by="topology").tolist() for tree in (first, second)]
    apart = total = 0
    for a, b, c, d in combinations(range(first.n_leaves), 4):
        said = []
        for t in tables:
            sums = (t[a][b] + t[c][d], t[a][c] + t[b][d], t[a][d] + t[b][c])
            said.append(sums.index(min(sums)))
        apart += said[0] != said[1]
        total += 1
    return apart / total


def enumerated_splits(tree: Tree) -> set[frozenset[str]]:
    everything = frozenset(tree.leaves)
    sides = [frozenset(tree.leaves_below(node)) for node in range(tree.n_leaves, tree.n_nodes)]
    sides = [side if tree.leaves[0] not in side else everything - side for side in sides]
    return {min(side, everything - side, key=lambda s: (len(s), sorted(s))) for side in sides if len(side) > 1}


def measurements() -> Iterator[tuple[str, float]]:
    """Name and milliseconds of every comparison."""
    a, b = random_tree(295, 0), random_tree(295, 1)
    yield "quartet distance, 295 leaves", milliseconds(lambda: quartet_distance(a, b))
    c, d = random_tree(10_000, 2), random_tree(10_000, 3)
    yield "quartet distance, 10,000 leaves", milliseconds(lambda: quartet_distance(c, d))
    e, f = with_polytomy(c, 2500), with_polytomy(d, 2500)
    yield "  degree 2,500 in one", milliseconds(lambda: quartet_distance(c, f))
    yield "  degree 2,500 in both", milliseconds(lambda: quartet_distance(e, f))
    g, h = caterpillar(10_000, 4), caterpillar(10_000, 5)
    yield "  two caterpillars", milliseconds(lambda: quartet_distance(g, h))
    star = Tree([10_000] * 10_000 + [-1], names(10_000))
    yield "  a star", milliseconds(lambda: quartet_distance(c, star))

    rng = np.random.default_rng(0)
    i, j = random_tree(300, 6), random_tree(300, 7)
    for k in (10, 50):
        wrong = prior_from_clades(rng.integers(k, size=300), names(300))
        yield (
            f"by class, 300 leaves, {k} wrong clades",
            milliseconds(lambda w=wrong: quartet_agreement_by_class(i, j, w)),
        )
    yield (
        "by class, 300 leaves, a wrong tree",
        milliseconds(lambda: quartet_agreement_by_class(i, j, random_tree(300, 8))),
    )
    k, l = random_tree(2000, 9), random_tree(2000, 10)
    wrong = prior_from_clades(rng.integers(10, size=2000), names(2000))
    yield "by class, 2,000 leaves, 10 wrong clades", milliseconds(lambda: quartet_agreement_by_class(k, l, wrong), 1)

    yield "Robinson-Foulds, 295 leaves", milliseconds(lambda: robinson_foulds(a, b))
    yield "Robinson-Foulds, 10,000 leaves", milliseconds(lambda: robinson_foulds(c, d))


def peers() -> Iterator[tuple[str, float, float]]:
    """Name, milliseconds of the peer and of celltreeqm on the same trees."""
    a, b = random_tree(40, 0), random_tree(40, 1)
    assert abs(enumerated_distance(a, b) - quartet_distance(a, b)) < 1e-12
    yield (
        "every quartet, 40 leaves",
        milliseconds(lambda: enumerated_distance(a, b)),
        milliseconds(lambda: quartet_distance(a, b)),
    )
    c, d = random_tree(1000, 2), random_tree(1000, 3)
    assert len(enumerated_splits(c) ^ enumerated_splits(d)) == robinson_foulds(c, d, normalized=False)
    yield (
        "sets of leaf sets (RF), 1,000 leaves",
        milliseconds(lambda: enumerated_splits(c) ^ enumerated_splits(d)),
        milliseconds(lambda: robinson_foulds(c, d)),
    )
    try:
        import tqdist
    except ImportError:
        return
    for n in (295, 10_000):
        e, f = random_tree(n, 4), random_tree(n, 5)
        texts = [format_newick(tree) for tree in (e, f)]
        assert abs(tqdist.quartet_distance(*texts) - quartet_distance(e, f)) < 1e-12
        yield (
            f"tqDist, {n:,} leaves",
            milliseconds(lambda texts=texts: tqdist.quartet_distance(*texts)),
            milliseconds(lambda e=e, f=f: quartet_distance(e, f)),
        )


def main() -> None:
    rows: list[dict[str, Any]] = []
    quartet_agreement(random_tree(10, 0), random_tree(10, 1))
    print(f"{'comparison':<44}{'ms':>10}")
    for name, time_taken in measurements():
        print(f"{name:<44}{time_taken:>10.2f}")
        rows.append({"task": name.strip(), "ms": time_taken})
    print(f"\n{'peer':<44}{'its ms':>10}{'ours, ms':>10}{'ratio':>10}")
    for name, theirs, ours in peers():
        print(f"{name:<44}{theirs:>10.2f}{ours:>10.2f}{theirs / ours:>10.1f}")
        rows.append({"task": name, "ms": ours, "peer's ms": theirs})
    keep("quartet_distance", rows)


if __name__ == "__main__":
    main()
