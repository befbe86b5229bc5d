"""The paper's losses, one quartet, triplet or pair at a time, on nested lists of plain numbers."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

Matrix = Sequence[Sequence[float]]
Four = Sequence[int]


class QuartetLoss(NamedTuple):
    """The weighted sum, its two parts without their weights, and the share of quartets that are mis-ordered."""

    loss: float
    close: float
    push: float
    mismatched: float


def euclidean(points: Matrix) -> list[list[float]]:
    """D(z_i, z_j), the length of the difference."""
    return [[sqrt(sum((a - b) ** 2 for a, b in zip(p, q, strict=True))) for q in points] for p in points]


def squared_euclidean(points: Matrix) -> list[list[float]]:
    """The squared length of the difference."""
    return [[sum((a - b) ** 2 for a, b in zip(p, q, strict=True)) for q in points] for p in points]


def three_sums(distances: Matrix, four: Four) -> tuple[float, float, float]:
    """Sums of ab|cd, ac|bd and ad|bc."""
    a, b, c, d = four
    return (
        distances[a][b] + distances[c][d],
        distances[a][c] + distances[b][d],
        distances[a][d] + distances[b][c],
    )


def quartet_loss(
    distances: Matrix,
    quartets: Sequence[Four],
    *,
    margin: float,
    close_weight: float = 1.0,
    push_weight: float = 1.0,
    mode: str = "mismatched",
) -> QuartetLoss:
    """Close and push of known quartets ab|cd, S3 being the sum of the known topology; means over those that count.

    A quartet is matched if no other sum is below that of its known topology.
    """
    closes, pushes, mismatched = [], [], 0
    for four in quartets:
        known, one, other = three_sums(distances, four)
        wrong = one < known or other < known
        mismatched += wrong
        if mode == "all" or (mode == "mismatched" and wrong) or (mode == "matched" and not wrong):
            closes.append(abs(one - other))
            pushes.append(max(0.0, known - (one + other) / 2 + margin))
    close = sum(closes) / len(closes) if closes else 0.0
    push = sum(pushes) / len(pushes) if pushes else 0.0
    return QuartetLoss(close_weight * close + push_weight * push, close, push, mismatched / len(quartets))


def observed_close(distances: Matrix, quartets: Sequence[Four]) -> float:
    """The mean gap between the largest and the second largest sum."""
    total = 0.0
    for four in quartets:
        _, second, first = sorted(three_sums(distances, four))
        total += abs(first - second)
    return total / len(quartets)


def deviation(embedded: Matrix, original: Matrix, scale: tuple[float, float] = (1.0, 1.0)) -> float:
    """The squared Frobenius norm of the difference over the number of points, each side divided by its scale first."""
    n, total = len(embedded), 0.0
    for i in range(n):
        for j in range(n):
            total += (embedded[i][j] / scale[0] - original[i][j] / scale[1]) ** 2
    return total / n


def triplet(points: Matrix, triplets: Sequence[Sequence[int]], margin: float) -> float:
    """Mean over (A, P, N) of [|A - P|^2 - |A - N|^2 + m]_+."""
    squares, total = squared_euclidean(points), 0.0
    for a, p, n in triplets:
        total += max(0.0, squares[a][p] - squares[a][n] + margin)
    return total / len(triplets)


def quadruplet(points: Matrix, rows: Sequence[Four], alpha: float, beta: float) -> float:
    """Mean over (A, P, N, N') of [|A - P|^2 - |A - N|^2 + alpha]_+ + [|A - P|^2 - |N' - N|^2 + beta]_+."""
    squares, total = squared_euclidean(points), 0.0
    for a, p, n, m in rows:
        total += max(0.0, squares[a][p] - squares[a][n] + alpha)
        total += max(0.0, squares[a][p] - squares[m][n] + beta)
    return total / len(rows)


def sparsity(gates: Sequence[float]) -> float:
    """The sum of the gates over their number."""
    total = 0.0
    for gate in gates:
        total += gate
    return total / len(gates)


def distance_to_identity(matrix: Matrix) -> float:
    """The sum of |G - I| over entries."""
    total = 0.0
    for i, row in enumerate(matrix):
        for j, entry in enumerate(row):
            total += abs(entry - (1.0 if i == j else 0.0))
    return total


def rows_by_topology(quartets: Sequence[Four], distances: Matrix) -> list[tuple[int, int, int, int]]:
    """Anchor, positive, negative, second negative of ab|cd: both pairs as anchor and positive, and of the other pair
    the leaf farther from the anchor as negative."""
    found = []
    for a, b, c, d in quartets:
        for anchor, positive, one, other in ((a, b, c, d), (c, d, a, b)):
            if distances[anchor][one] >= distances[anchor][other]:
                found.append((anchor, positive, one, other))
            else:
                found.append((anchor, positive, other, one))
    return found


def closest_pair(four: Four, lengths: Matrix) -> float:
    """The least of the six distances among four leaves."""
    return min(lengths[i][j] for i in four for j in four if i != j)
