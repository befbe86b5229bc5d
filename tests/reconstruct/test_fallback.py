"""The verdict: which way it goes, and that it says why."""

from __future__ import annotations

import dataclasses

import pytest

from celltreeqm.reconstruct import SignalTest, Verdict, decide, signal_test
from celltreeqm.simulate import simulate_scenario

STRONG = SignalTest(
    kind="labels",
    p=0.005,
    z=17.0,
    representation="standardised",
    statistic="kernel-target agreement, path lengths",
    leaves=95,
    permutations=199,
    seed=0,
    message="",
    direct_error=0.8,
)


def with_(**changes) -> Verdict:
    return decide(dataclasses.replace(STRONG, **changes))


@pytest.mark.parametrize(
    "changes, use, evidence, words",
    [
        ({}, "learned", "strong", "strong evidence of lineage signal in these features (p = .005, z = 17) from 95"),
        (
            {"p": 0.03, "z": 2.0},
            "direct",
            "weak",
            "weak evidence of lineage signal in these features (p = .03, z = 2): the tree outside your prior is direct "
            "reconstruction and not to be trusted",
        ),
        ({"p": 0.4, "z": 0.2}, "direct", "none", "no evidence of lineage signal in these features (p = .4, z = .2)"),
        ({"p": 0.06, "z": 9.0}, "direct", "none", "no evidence"),
        ({"leaves": 12}, "direct", "weak", "12 known leaves are too few to learn from"),
        ({"direct_error": 0.1}, "direct", "strong", "finds 90% of their splits: learning does not improve on this"),
        ({"kind": "clades", "direct_error": None}, "learned", "weak", "no evidence of lineage signal inside them"),
        ({"kind": "clades", "direct_error": None, "p": 0.2}, "direct", "none", "not to be trusted"),
        ({"kind": "genes", "direct_error": None}, "learned", "untested", "lineage signal cannot be tested"),
        ({"kind": "genes", "direct_error": None, "p": 0.3}, "direct", "none", "no structure was found"),
    ],
)
def test_the_verdict_and_its_reason(changes, use, evidence, words):
    verdict = with_(**changes)
    assert (verdict.use, verdict.evidence) == (use, evidence)
    assert words in verdict.reason


def test_structure_alone_is_never_called_lineage_signal():
    for p in (0.005, 0.5):
        assert "evidence of lineage" not in with_(kind="genes", direct_error=None, p=p).reason


def test_limits_belong_to_what_is_learned():
    assert with_(z=2.5, leaves=30, direct_error=0.4, p=0.05).use == "learned"
    for nearly in ({"z": 2.49}, {"leaves": 29}, {"direct_error": 0.39}, {"p": 0.0501}):
        assert with_(**nearly).use == "direct"


def test_where_direct_reconstruction_does_well_it_is_kept():
    simulation = simulate_scenario("weak", leaves=64, seed=0)
    prior = simulation.truth.restrict(simulation.leaves[:48])
    test = signal_test(simulation.features, simulation.leaves, prior=prior, seed=0)
    assert test.direct_error > 0.8  # few of these features follow the lineage
    assert decide(test).use == "learned"
    signal = simulation.features[:, simulation.signal]
    clean = signal_test(signal, simulation.leaves, prior=prior, seed=0)
    assert clean.direct_error < 0.4
    assert decide(clean).use == "direct"


def test_something_else_than_a_signal_test_is_refused():
    with pytest.raises(TypeError, match="A float came; what signal_test returns was needed"):
        decide(0.05)
