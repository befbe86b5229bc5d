"""The fallback: whether what was learned is used outside the prior, or direct reconstruction is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ._signal import SignalTest, short_number

__all__ = ["Evidence", "Verdict", "decide"]

Evidence: TypeAlias = Literal["strong", "weak", "none", "untested"]

# Of simulations alone: see `decide`
_FEWEST_LABELLED = 30
_LEAST_Z = 2.5
_LEAST_ERROR = 0.4

_DISTRUST = "the tree outside your prior is direct reconstruction and not to be trusted"


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What :func:`decide` came to.

    Parameters
    ----------
    use
        Whose distances make the tree outside the prior: "learned" or "direct".
    evidence
        Of lineage signal in the features: "strong", "weak" or "none", or "untested" where nothing is known.
    reason
        Why, in words: to be shown with the tree.
    """

    use: Literal["learned", "direct"]
    evidence: Evidence
    reason: str


def decide(test: SignalTest) -> Verdict:
    """Whether to use what was learned outside the prior, or direct reconstruction under the prior.

    Signal that can be told from none is not yet signal that can be learned from, and where direct reconstruction does
    well, learning can only lose. Where a tree of some leaves is known, what was learned is used if

    - the signal test is significant, and its z at least 2.5;
    - at least 30 leaves are known;
    - direct reconstruction of the known leaves misses at least 40% of their splits.

    These limits come from simulations with graded heritability and from nothing else. With the Robinson-Foulds and the
    quartet distance of the leaves without labels averaged, they are the lowest limits from which on learning was better
    than direct reconstruction under the prior in each band of z, and of the number of known leaves, by a one-sided 95%
    interval of the mean difference; where direct reconstruction missed fewer splits, learning was worse on average.

    Where only clades are known, or nothing, there is nothing to learn from but the agreement of features with each
    other; what was learned is used if the test is significant, and the reason says what that does not show.

    Parameters
    ----------
    test
        What :func:`signal_test` found.

    Examples
    --------
    >>> from celltreeqm.reconstruct import signal_test
    >>> from celltreeqm.simulate import simulate_scenario
    >>> simulation = simulate_scenario("weak", leaves=64, seed=0)
    >>> prior = simulation.truth.restrict(simulation.leaves[::2])
    >>> decide(signal_test(simulation.features, simulation.leaves, prior=prior, seed=0)).use
    'learned'
    """
    if not isinstance(test, SignalTest):
        raise TypeError(f"A {type(test).__name__} came; what signal_test returns was needed.")
    figures = f"(p = {short_number(test.p)}, z = {short_number(test.z)})"
    if test.kind == "genes":
        return _nothing_known(test, figures)
    if not test.significant:
        return Verdict(
            use="direct",
            evidence="none",
            reason=f"no evidence of lineage signal in these features {figures}: {_DISTRUST}",
        )
    if test.kind == "clades":
        return Verdict(
            use="learned",
            evidence="weak",
            reason=f"these features separate the known clades {figures}, which is no evidence of lineage signal inside "
            "them: the tree there is learned from what features agree on, and only its support can be relied on",
        )
    if test.z < _LEAST_Z:
        return Verdict(
            use="direct",
            evidence="weak",
            reason=f"weak evidence of lineage signal in these features {figures}: {_DISTRUST}",
        )
    if test.leaves < _FEWEST_LABELLED:
        return Verdict(
            use="direct",
            evidence="weak",
            reason=f"evidence of lineage signal in these features {figures}, but {test.leaves} known leaves are too "
            f"few to learn from ({_FEWEST_LABELLED} are needed): {_DISTRUST}",
        )
    if test.direct_error is not None and test.direct_error < _LEAST_ERROR:
        return Verdict(
            use="direct",
            evidence="strong",
            reason=f"strong evidence of lineage signal in these features {figures}, and direct reconstruction of the "
            f"{test.leaves} known leaves finds {1 - test.direct_error:.0%} of their splits: learning does not improve "
            "on this, and the tree outside your prior is direct reconstruction",
        )
    return Verdict(
        use="learned",
        evidence="strong",
        reason=f"strong evidence of lineage signal in these features {figures} from {test.leaves} known leaves: the "
        "tree outside your prior is learned",
    )


def _nothing_known(test: SignalTest, figures: str) -> Verdict:
    if not test.significant:
        return Verdict(
            use="direct",
            evidence="none",
            reason=f"nothing is known of the lineage, and no structure was found in these features {figures}: the "
            "tree is direct reconstruction and not to be trusted",
        )
    return Verdict(
        use="learned",
        evidence="untested",
        reason=f"nothing is known of the lineage, so that lineage signal cannot be tested: these features share "
        f"structure {figures}, which cell types, batches and the cell cycle make as well, and the tree is learned from "
        "that",
    )
