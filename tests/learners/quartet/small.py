"""Data and settings so small that a training takes a tenth of a second, shared by the tests of the training side."""

from __future__ import annotations

from celltreeqm.learners.quartet import QuartetLearner, _trainer
from celltreeqm.simulate import simulate_scenario

SMALL = simulate_scenario("A1", leaves=16, seed=0)
X, LEAVES, TRUTH = SMALL.features[:, ::4], SMALL.leaves, SMALL.truth
REPLICATE, TEST = SMALL.replicate(seed=1).features[:, ::4], SMALL.replicate(seed=2).features[:, ::4]
HALF = TRUTH.restrict(LEAVES[:8])

SETTINGS = {"gate_start": "none", "steps": 30, "layers": 1, "width": 16, "dimensions": 16, "batch": 64, "look_every": 5}


def learner(**changes):
    return QuartetLearner(**(SETTINGS | changes))


def fitted(X=X, leaves=LEAVES, *, prior=TRUTH, seed=0, monitor=None, checkpoint=None, **changes):
    return learner(**changes).fit(X, leaves, prior=prior, seed=seed, monitor=monitor, checkpoint=checkpoint)


def written(fit, folder):
    """What a fit is on disk, as bytes."""
    fit.save(folder)
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def at_step(monkeypatch, number, act, *, training=1):
    """Act when step ``number`` of a training has just been taken; ``training`` counts those that begin from here on."""
    begun = []
    before, step = _trainer._Loop.__init__, _trainer._Loop._step

    def counted(loop, *arguments):
        before(loop, *arguments)
        begun.append(loop)

    def watched(loop):
        step(loop)
        if loop.done == number and len(begun) == training:
            act()

    monkeypatch.setattr(_trainer._Loop, "__init__", counted)
    monkeypatch.setattr(_trainer._Loop, "_step", watched)
