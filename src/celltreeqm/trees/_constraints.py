"""Which clusters may join so that the finished tree displays every prior tree.

A prior is unrooted here. While clusters join, each prior tree is contracted along: a cluster that holds some of its
leaves is one leaf of the contracted tree, attached to one of its internal nodes; a cluster that holds none is free.
Two clusters may join if, for every prior, one of them is free or both hang from the same node. With one prior tree
there is always such a pair: some node of a tree has all neighbours but one as leaves.

Several trees need more. Let a *safe* join be one where every tree that knows the one cluster knows the other too. It
spoils nothing: in a tree that displays all priors the first cluster can be moved beside the second. The others
*link* two trees: a cluster that only the first knows joins one that only the second knows, which makes a leaf that both
share, and on their shared leaves the two must stay without a contradicting quartet. For two trees that is necessary and
sufficient. If a third tree knows all the leaves of both (a partition of all cells, say), then the question falls apart
into one per node of that tree, where whole branches count as shared leaves; this is exact again. Beyond that it is only
necessary, and a link is made only if a way to the end is found from there: safe joins while there are any, then a link,
and so on, with a bounded number of second thoughts. The way that was found last is kept, so that there is always a pair
to join: where every other is turned down, the next one on that way. A first way is looked for alike, and if that fails,
among the trees that agree with the priors' roots too, of which one is found if there is any.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from itertools import islice

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ._priors import _in_order, contradiction, path_steps
from ._splits import leaf_intervals
from ._tree import Tree
from ._way import Way, way_by_roots

__all__ = ["Constraints"]

_SECOND_THOUGHTS = 15


class Constraints:
    """The prior trees, contracted to the present clusters; slots 0 ... n - 1 hold the clusters, at first the leaves.

    Attributes
    ----------
    attached
        int64[p, n], for each prior tree the node that a slot's cluster hangs from, -1 where the cluster is free.
    counts
        int64[p, 3, m], for each node of each prior tree the number of its neighbours, the number of those that are
        internal, and the exclusive or of their numbers: once one is left, it is that one's number.
    """

    def __init__(self, priors: Sequence[Tree], leaves: Sequence[str]) -> None:
        row = {name: i for i, name in enumerate(leaves)}
        self._trees = [_Unrooted(tree, row) for tree in priors if tree.n_leaves >= 4]
        self.attached = np.full((len(self._trees), len(leaves)), -1, dtype=np.int64)
        for own, tree in zip(self.attached, self._trees, strict=True):
            own[tree.rows] = tree.tree.parent[: tree.tree.n_leaves]
        self._some_leaf = np.full((len(self._trees), len(leaves)), -1, dtype=np.int64)
        for own, tree in zip(self._some_leaf, self._trees, strict=True):
            own[tree.rows] = np.arange(tree.tree.n_leaves)
        self._alive = np.ones(len(leaves), dtype=bool)
        most = max((tree.tree.n_nodes for tree in self._trees), default=1)
        self.counts = np.zeros((len(self._trees), 3, most), dtype=np.int64)
        for own, tree in zip(self.counts, self._trees, strict=True):
            own[:, : tree.tree.n_nodes] = tree.neighbor_counts()
        self._spanning = {
            (p, q): [s for s in range(len(self._trees)) if s not in (p, q) and self._trees[s].knows(p_tree, q_tree)]
            for p, p_tree in enumerate(self._trees)
            for q, q_tree in enumerate(self._trees)
            if p < q
        }
        spans = [s for s, tree in enumerate(self._trees) if tree.knows(*self._trees)]
        self._exact = len(self._trees) < 3 or (len(self._trees) == 3 and bool(spans))
        self._refuse_joint_conflict()
        self._way: Way | None = None
        self._next_way: Way | None = None
        if not self._exact:
            self._way = self._way_to_finish(30 * _SECOND_THOUGHTS) or way_by_roots(priors, row)
            if self._way is None:
                raise ValueError(
                    f"No way was found to satisfy the {len(self._trees)} prior trees together by joining one pair of "
                    "clusters at a time, though no two contradict each other. Root all of them if their roots are "
                    "known, merge some into one tree, or leave one out."
                )

    @property
    def needs_care(self) -> bool:
        """Whether joining needs :meth:`may_join`; with fewer than two trees ``attached`` says it all."""
        return len(self._trees) > 1

    def join(self, a: int, b: int) -> None:
        """Let slot a hold the union of the clusters in slots a and b; slot b is empty from now on."""
        if self._next_way is not None:
            self._way, self._next_way = self._next_way, None
        elif self._way is not None:
            self._way.join(a, b, moved=b if self._way.has_beside(a, b) or self._knows_all_of(b, a) else a)
        contract(self.attached, self.counts, a, b)
        for some in self._some_leaf:
            some[a] = some[a] if some[a] >= 0 else some[b]
            some[b] = -1
        self._alive[b] = False

    def may_join(self, a: int, b: int) -> bool:
        """Whether two clusters that hang together in every tree can join without setting two trees at odds."""
        self._next_way = None
        if self._way is not None and self._way.has_beside(a, b):
            return True
        of_a, of_b = (self.attached[:, [a, b]] >= 0).T.tolist()
        for (p, q), spanning in self._spanning.items():
            for x, y, of_x, of_y in ((a, b, of_a, of_b), (b, a, of_b, of_a)):
                if of_x[p] and of_y[q] and not of_x[q] and not of_y[p]:
                    z = (self._some_leaf[p, x], self._some_leaf[q, y])
                    for shared in self._shared_items(p, q, spanning, (a, b)):
                        if self._contradiction(p, q, [*shared, z]) is not None:
                            return False
        if self._exact or self._knows_all_of(a, b) or self._knows_all_of(b, a):
            return True
        after = self._copy()
        after.join(a, b)
        self._next_way = after._way_to_finish(_SECOND_THOUGHTS)
        return self._next_way is not None

    def allow_the_way(self, forbidden: NDArray[np.bool_]) -> bool:
        """Allow the pairs that the kept way can join now; False if there is no such way."""
        groups = self._way.groups() if self._way is not None else []
        for group in groups:
            forbidden[np.ix_(group, group)] = False
        return bool(groups)

    def _knows_all_of(self, a: int, b: int) -> bool:
        """Whether every tree that knows cluster a knows cluster b too."""
        return bool(((self.attached[:, a] >= 0) <= (self.attached[:, b] >= 0)).all())

    def _copy(self) -> Constraints:
        twin = copy(self)
        twin._way = twin._next_way = None
        twin.attached, twin.counts = self.attached.copy(), self.counts.copy()
        twin._some_leaf, twin._alive = self._some_leaf.copy(), self._alive.copy()
        return twin

    def _way_to_finish(self, tries: int) -> Way | None:
        """A way to a single cluster, if one is found with at most so many links tried."""
        stack: list[tuple[Constraints, list[tuple[int, int]]]] = [(self._copy(), [])]
        while stack and tries > 0:
            here, joins = stack.pop()
            tries -= 1
            made = np.empty((len(here._alive), 2), dtype=np.int64)
            count = _join_safely(here.attached, here.counts, here._some_leaf, here._alive, made)
            joins = joins + [(a, b) for a, b in made[:count].tolist()]
            left = np.flatnonzero(here._alive & (here.attached >= 0).any(axis=0)).tolist()
            if len(left) < 2:
                return Way.of_joins(len(here._alive), joins)
            whole, here._exact = here._exact, True  # only the quick part of may_join is wanted here
            pairs = ((a, b) for i, b in enumerate(left) for a in left[:i])
            links = list(islice((x for x in pairs if _hang_together(here.attached, *x) and here.may_join(*x)), 3))
            here._exact = whole
            for a, b in reversed(links):
                after = here._copy()
                after.join(a, b)
                stack.append((after, [*joins, (a, b)]))
        return None

    def _shared_items(
        self, p: int, q: int, spanning: list[int], pair: tuple[int, int]
    ) -> Iterator[list[tuple[int, int]]]:
        """Leaves of tree p and of tree q that stand for the items that both share, without the pair that may join."""
        in_p, in_q = self._some_leaf[p], self._some_leaf[q]
        others = self._alive.copy()
        others[list(pair)] = False
        if not spanning:
            both = np.flatnonzero(others & (in_p >= 0) & (in_q >= 0))
            yield list(zip(in_p[both].tolist(), in_q[both].tolist(), strict=True))
        for s in spanning:
            node = int(self.attached[s, pair[0]])
            slots = np.flatnonzero(others & (self.attached[s] >= 0))
            here = self.attached[s, slots] == node
            item = np.where(here, slots, -2 - self._trees[s].branch(node, self._some_leaf[s, slots]))
            yield _pairs_by_item(item, in_p[slots], in_q[slots])

    def _contradiction(self, p: int, q: int, pairs: list[tuple[int, int]]) -> tuple[int, int, int] | None:
        rows = np.array(pairs, dtype=np.int64)
        found = contradiction(self._trees[p].steps, self._trees[q].steps, rows[:, 0].copy(), rows[:, 1].copy())
        return None if found[0] < 0 else (int(found[0]), int(found[1]), int(found[2]))

    def _refuse_joint_conflict(self) -> None:
        for (p, q), spanning in self._spanning.items():
            one, two = self._trees[p].tree, self._trees[q].tree
            for s in spanning:
                tree = self._trees[s]
                in_s = self._some_leaf[s]
                slots = np.flatnonzero(in_s >= 0)
                for node in range(tree.tree.n_leaves, tree.tree.n_nodes):
                    item = tree.branch(node, in_s[slots])
                    pairs = _pairs_by_item(item, self._some_leaf[p, slots], self._some_leaf[q, slots])
                    found = self._contradiction(p, q, pairs) if len(pairs) > 3 else None
                    if found is not None:
                        z, (a, b, c) = len(pairs) - 1, found
                        first = _in_order(*(one.leaves[pairs[i][0]] for i in (a, b, c, z)))
                        second = _in_order(*(two.leaves[pairs[i][1]] for i in (a, c, b, z)))
                        raise ValueError(
                            "Three prior trees contradict each other taken together: one says {!r}, {!r} | {!r}, {!r}, "
                            "another {!r}, {!r} | {!r}, {!r}, and a third groups these leaves so that both cannot "
                            "hold. Correct one of them or leave it out.".format(*first, *second)
                        )


@njit(cache=True)
def contract(attached, counts, a, b):  # type: ignore[no-untyped-def]
    """Slots a and b become one, in slot a: two leaves at a node are one now, and a node of two neighbours is none."""
    for p in range(attached.shape[0]):
        if attached[p, a] < 0:
            attached[p, a] = attached[p, b]
        elif attached[p, b] >= 0:
            node = attached[p, a]
            counts[p, 0, node] -= 1
            if counts[p, 0, node] == 2 and counts[p, 1, node] == 1:
                beyond = counts[p, 2, node]
                counts[p, 1, beyond] -= 1
                counts[p, 2, beyond] ^= node
                attached[p, a] = beyond
        attached[p, b] = -1


@njit(cache=True)
def _hang_together(attached, a, b):  # type: ignore[no-untyped-def]
    for p in range(attached.shape[0]):
        if attached[p, a] >= 0 and attached[p, b] >= 0 and attached[p, a] != attached[p, b]:
            return False
    return True


@njit(cache=True)
def _join_safely(attached, counts, some_leaf, alive, made):  # type: ignore[no-untyped-def]
    """Make every safe join there is and say how many; a join makes new ones possible for the union only."""
    n = len(alive)
    count = 0
    for start in range(n):
        a = start
        b = 0
        while alive[a] and b < n:
            if b != a and alive[b] and _hang_together(attached, a, b):
                more = less = False
                for p in range(attached.shape[0]):
                    more = more or (attached[p, a] >= 0 and attached[p, b] < 0)
                    less = less or (attached[p, a] < 0 and attached[p, b] >= 0)
                if not (more and less):
                    contract(attached, counts, a, b)
                    for p in range(attached.shape[0]):
                        if some_leaf[p, a] < 0:
                            some_leaf[p, a] = some_leaf[p, b]
                        some_leaf[p, b] = -1
                    alive[b] = False
                    made[count, 0], made[count, 1] = a, b
                    count += 1
                    b = -1
            b += 1
    return count


class _Unrooted:
    """One prior tree, unrooted and without single-child nodes, and where its leaves stand among the data's."""

    def __init__(self, prior: Tree, row: dict[str, int]) -> None:
        tree = prior.collapse_unary().unroot()
        self.tree = tree
        self.rows = np.array([row[name] for name in tree.leaves], dtype=np.int64)
        self._order, self._start, self._stop = leaf_intervals(tree)
        self._steps: NDArray[np.int32] | None = None

    @property
    def steps(self) -> NDArray[np.int32]:
        if self._steps is None:
            self._steps = path_steps(self.tree)
        return self._steps

    def knows(self, *others: _Unrooted) -> bool:
        mine = set(self.rows.tolist())
        return all(mine.issuperset(other.rows.tolist()) for other in others)

    def neighbor_counts(self) -> NDArray[np.int64]:
        tree = self.tree
        counts = np.zeros((3, tree.n_nodes), dtype=np.int64)
        counts[0] = tree.degree + (tree.parent >= 0)
        for node in range(tree.n_leaves, tree.n_nodes - 1):
            up = tree.parent[node]
            for here, other in ((node, up), (up, node)):
                counts[1, here] += 1
                counts[2, here] ^= other
        return counts

    def branch(self, node: int, leaves: NDArray[np.int64]) -> NDArray[np.int64]:
        """The neighbour of an (original) node on the way to each leaf: a child, or the node itself for its parent."""
        below = np.array(self.tree.children[node], dtype=np.int64)
        below = below[np.argsort(self._start[below])]
        place = self._start[leaves]
        index = np.searchsorted(self._start[below], place, side="right") - 1
        inside = (place >= self._start[node]) & (place < self._stop[node])
        return np.where(inside, below[np.maximum(index, 0)], node)


def _pairs_by_item(item: NDArray[np.int64], in_p: NDArray[np.int64], in_q: NDArray[np.int64]) -> list[tuple[int, int]]:
    """For every item that has a leaf of tree p and one of tree q: such a leaf of each."""
    first: dict[int, int] = {}
    second: dict[int, int] = {}
    for key, x, y in zip(item.tolist(), in_p.tolist(), in_q.tolist(), strict=True):
        if x >= 0:
            first.setdefault(key, x)
        if y >= 0:
            second.setdefault(key, y)
    return [(x, second[key]) for key, x in first.items() if key in second]
