"""Training: what chooses the step, what never may, and how a training ends."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from celltreeqm.learners.quartet import _fitting, _trainer
from celltreeqm.learners.quartet._held_out import chosen_step, without_some

from .small import HALF, LEAVES, REPLICATE, TEST, TRUTH, X, at_step, fitted

VALIDATION = {"validation": (REPLICATE, TRUTH)}
BOTH = VALIDATION | {"test": (TEST, TRUTH)}
NOISE = np.random.default_rng(0).normal(size=TEST.shape)
HELD_OUT = "validation: 3 known leaves held out"


# What chooses


def best(history, *columns):
    """The step of the first row with the smallest values."""
    rows = history[list(columns)].apply(tuple, axis=1)
    return history["step"][min(rows.index, key=lambda i: rows[i])]


@pytest.mark.parametrize(
    "select, monitor, words",
    [
        ("validation", BOTH, "validation: replicate"),
        ("train", BOTH, "train"),
        ("train", None, "train"),
        ("test", BOTH, "best on the test"),
        ("test", {"test": (TEST, None)}, "best on the test"),
    ],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_best_look_is_kept(select, monitor, words, seed):
    fit = fitted(select=select, monitor=monitor, look_every=2, seed=seed)
    columns = [name for name in (f"{select} RF", f"{select} wrong") if name in fit.history]
    assert columns
    assert fit.step == best(fit.history, *columns)
    assert fit.selection == words
    assert fit.ended == "completed"
    again = fitted(select="last", steps=30, look_every=2, seed=seed, monitor=monitor)
    assert fit.history.equals(again.history)  # whatever chooses, the training is the same


def test_the_kept_parameters_are_those_of_the_step(monkeypatch):
    fit = fitted(monitor=VALIDATION, look_every=3)
    assert 0 < fit.step < 30
    step = _trainer._Loop._step
    monkeypatch.setattr(_trainer._Loop, "_step", lambda loop: step(loop) if loop.done < fit.step else end(loop))

    def end(loop):
        raise KeyboardInterrupt

    assert fitted(select="last", look_every=3).parameters.tobytes() == fit.parameters.tobytes()


def test_the_last_is_kept_where_it_is_asked_for():
    fit = fitted(select="last", monitor=BOTH)
    assert (fit.selection, fit.step) == ("last", 30)


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"prior": None}, "last: nothing is known"),
        ({"prior": HALF}, "last: too little is known to hold any out"),
        ({"prior": None, "select": "train"}, "last: nothing to select by train with"),
        ({"prior": None, "monitor": {"validation": (REPLICATE, None)}}, "last: nothing to select by validation with"),
        ({"prior": None, "select": "test", "monitor": {"test": (TEST, None)}}, "last: nothing to select by test with"),
    ],
)
def test_where_nothing_can_choose_the_last_is_kept_and_said_so(changes, words):
    fit = fitted(**changes)
    assert (fit.selection, fit.step) == (words, 30)


def test_leaves_held_out_choose_the_length_of_a_second_training_on_all(monkeypatch):
    chosen, trainings = [], []
    choose, train = _fitting.chosen_step, _fitting.train
    monkeypatch.setattr(_fitting, "chosen_step", lambda *given: chosen.append((given, choose(*given))) or 15)
    monkeypatch.setattr(_fitting, "train", lambda training: trainings.append(training) or train(training))
    fit = fitted()
    (steps, wrong), _ = chosen[0]
    assert steps == [0, 5, 10, 15, 20, 25, 30]
    assert wrong.shape == (7, 3)
    assert ((wrong >= 0) & (wrong <= 1)).all()
    assert (fit.selection, fit.step) == (HELD_OUT, 15)
    assert fit.history["step"].tolist() == [0, 5, 10, 15]
    first, second = trainings
    assert first.stop is None
    assert second.stop == 15
    assert [watch.name for watch in first.watches] == ["train", "held-out"]
    assert [watch.name for watch in second.watches] == ["train"]
    rng = np.random.default_rng(0)
    assert len(np.unique(first.draw(5000, rng))) == 13  # those held out are not learned from
    assert len(np.unique(second.draw(5000, rng))) == 16
    held_out = set(range(16)) - set(np.unique(first.draw(5000, rng)).tolist())
    quartets = first.watches[1].quartets
    assert np.isin(quartets, list(held_out)).any(axis=1).all()  # each of them has one of those held out


def test_the_second_training_is_the_beginning_of_a_whole_one(monkeypatch):
    monkeypatch.setattr(_fitting, "chosen_step", lambda steps, wrong: 15)
    stopped = fitted()
    monkeypatch.undo()
    step = _trainer._Loop._step

    def until_15(loop):
        if loop.done == 15:
            raise KeyboardInterrupt
        step(loop)

    monkeypatch.setattr(_trainer._Loop, "_step", until_15)
    assert fitted(select="last").parameters.tobytes() == stopped.parameters.tobytes()


def test_held_out_leaves_are_a_fifth_of_those_known():
    fewer, out = without_some((TRUTH,), [0, 1])
    assert len(out) == 3
    assert set(fewer[0].leaves) == set(TRUTH.leaves) - out
    assert without_some((TRUTH,), [0, 1])[1] == out != without_some((TRUTH,), [1, 1])[1]
    assert without_some((HALF,), [0, 1]) == ((HALF,), frozenset())


@pytest.mark.parametrize(
    "wrong, step",
    [
        ([[0.5, 0.5], [0.1, 0.1], [0.1, 0.1], [0.3, 0.3]], 10),  # the earliest of the best
        ([[0.9, 0.9], [0.2, 0.9], [0.6, 0.2]], 10),  # worse, but not beyond the leaves' differences
        ([[0.4, 0.9], [0.31, 0.81], [0.3, 0.8]], 20),  # hard leaves are hard at all steps and do not count
        ([[0.4], [0.3], [0.3]], 10),  # a leaf alone
        ([[0.2, 0.2]], 0),
    ],
)
def test_the_earliest_step_that_is_not_worse_by_a_standard_error(wrong, step):
    assert chosen_step([0, 10, 20, 30][: len(wrong)], np.array(wrong)) == step


# What never may


@pytest.mark.parametrize("select", ["validation", "train", "last"])
def test_test_data_never_matter(select):
    ways = [VALIDATION, BOTH, VALIDATION | {"test": (NOISE, TRUTH)}, VALIDATION | {"test": (TEST, None)}]
    fits = [fitted(select=select, monitor=monitor, look_every=2) for monitor in ways]
    assert len({fit.parameters.tobytes() for fit in fits}) == 1
    assert len({fit.step for fit in fits}) == 1
    wrong = [fit.history["test wrong"].tolist() for fit in fits[1:3]]
    assert wrong[0] != wrong[1]


def test_test_data_do_not_matter_where_leaves_are_held_out():
    ways = [None, {"test": (TEST, TRUTH)}, {"test": (NOISE, TRUTH)}]
    fits = [fitted(monitor=monitor, gate_start="heritable", look_every=2) for monitor in ways]
    assert len({fit.parameters.tobytes() for fit in fits}) == 1
    assert {fit.selection for fit in fits} == {HELD_OUT}


def test_only_select_test_follows_the_test(monkeypatch):
    steps = {fitted(select="test", monitor={"test": (values, TRUTH)}, look_every=1).step for values in (TEST, NOISE)}
    assert len(steps) == 2


def test_validation_data_do_not_matter_but_for_the_step():
    ways = [{"validation": (values, TRUTH)} for values in (REPLICATE, NOISE)]
    assert len({fitted(select="last", monitor=monitor).parameters.tobytes() for monitor in ways}) == 1


# How it ends


def test_without_improvement_training_ends():
    fit = fitted(monitor={"validation": (NOISE, TRUTH)}, patience=2, look_every=1, steps=60)
    assert fit.ended == "patience"
    assert fit.step == fit.history["step"].iloc[-3]
    found = fit.history[["validation RF", "validation wrong"]].apply(tuple, axis=1).tolist()
    assert min(found) == found[-3]
    assert fitted(monitor={"validation": (NOISE, TRUTH)}, patience=60, look_every=1, steps=60).ended == "completed"


def test_the_average_is_an_exponential_mean(monkeypatch):
    seen = []
    step = _trainer._Loop._step

    def recorded(loop):
        if not seen:
            seen.append(loop.parameters.encoder.detach().numpy().copy())
        step(loop)
        seen.append(loop.parameters.encoder.detach().numpy().copy())

    monkeypatch.setattr(_trainer._Loop, "_step", recorded)
    fit = fitted(select="last", weight_average=0.5, steps=20, gate="none")
    mean = seen[0]
    for number, now in enumerate(seen[1:]):
        decay = min(0.5, (1 + number) / (10 + number))
        mean = decay * mean + (1 - decay) * now
    np.testing.assert_allclose(fit.parameters, mean, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    "changes",
    [
        {"monitor": VALIDATION},
        {"select": "last"},
        {},
        {"prior": None},
        {"select": "last", "encoder": "fc", "clip": 0.0},
        {"gate": "gumbel", "gate_learning_rate": 1e30, "select": "last", "clip": 0.0},
    ],
)
def test_training_that_diverges_keeps_the_last_finite_parameters(changes, caplog):
    with caplog.at_level(logging.WARNING, logger="celltreeqm"):
        fit = fitted(learning_rate=1e30, look_every=1, warm_up=0, **changes)
    assert fit.ended == "diverged"
    assert fit.step < 30
    assert np.isfinite(fit.parameters).all()
    assert np.isfinite(fit.distances()).all()
    assert fit.tree().n_leaves == 16
    assert "Training diverged at step" in caplog.text


@pytest.mark.parametrize("number", [1, 5, 12, 29])
@pytest.mark.parametrize("changes", [{"select": "last"}, {"monitor": VALIDATION}, {"prior": None}])
def test_ctrl_c_returns_the_best_so_far(number, changes, monkeypatch, caplog):
    at_step(monkeypatch, number, lambda: signal.raise_signal(signal.SIGINT))
    with caplog.at_level(logging.WARNING, logger="celltreeqm"):
        fit = fitted(**changes)
    assert fit.ended == "interrupted"
    assert (
        f"Training was interrupted after {number} of 30 steps; the best parameters until then are kept" in caplog.text
    )
    assert fit.step <= number
    assert fit.history["step"].tolist() == list(range(0, number if number % 5 == 0 else number + 1, 5))
    assert len(fit.gate_changes) == number
    assert fit.tree().n_leaves == 16
    monkeypatch.undo()
    if "monitor" not in changes:
        kept = fitted(**changes)
        assert kept.history.iloc[: len(fit.history)].equals(fit.history)


def test_ctrl_c_in_a_look_returns_the_best_before(monkeypatch):
    looks = []
    look = _trainer.Watch.look

    def interrupted(watch, network):
        looks.append(watch.name)
        if len(looks) == 8:  # the second table of the fourth look
            raise KeyboardInterrupt
        return look(watch, network)

    monkeypatch.setattr(_trainer.Watch, "look", interrupted)
    fit = fitted(monitor=VALIDATION, weight_average=0.9)
    assert (fit.ended, fit.history["step"].tolist()) == ("interrupted", [0, 5, 10])
    assert fit.step == best(fit.history, "validation RF", "validation wrong")
    monkeypatch.undo()
    whole = fitted(monitor=VALIDATION, weight_average=0.9)
    assert whole.history.iloc[:3].equals(fit.history)


def test_ctrl_c_while_a_checkpoint_is_written_returns_the_best_so_far(monkeypatch, tmp_path):
    from celltreeqm.learners.quartet import _checkpoints

    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(_trainer, "_WRITE_EVERY", 0.0)
    monkeypatch.setattr(_checkpoints.os, "replace", interrupt)
    fit = fitted(select="last", checkpoint=tmp_path / "c")
    assert (fit.ended, fit.step) == ("interrupted", 5)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("training, words", [(1, "first"), (2, "second")])
def test_ctrl_c_in_one_of_two_trainings_returns_what_it_made(training, words, monkeypatch):
    monkeypatch.setattr(_fitting, "chosen_step", lambda steps, wrong: 25)
    at_step(monkeypatch, 12, lambda: signal.raise_signal(signal.SIGINT), training=training)
    fit = fitted()
    assert (fit.ended, fit.step) == ("interrupted", 10)
    assert fit.selection == f"last: interrupted in the {words} of two trainings"
    assert fit.prior == (TRUTH,)
    assert ("held-out wrong" in fit.history) == (training == 1)


def test_ctrl_c_between_two_trainings_returns_what_the_first_made(monkeypatch, caplog):
    session = _fitting._Fitting._session
    made = []

    def interrupted(self, trees):
        made.append(trees)
        if len(made) == 2:
            raise KeyboardInterrupt
        return session(self, trees)

    monkeypatch.setattr(_fitting._Fitting, "_session", interrupted)
    fit = fitted(gate_start="heritable")
    assert (fit.ended, fit.step, fit.selection) == ("interrupted", 30, "last: interrupted between two trainings")
    assert "what the first one made is kept" in caplog.text


def test_an_interrupted_training_is_carried_on(monkeypatch, tmp_path):
    monkeypatch.setattr(_trainer, "_WRITE_EVERY", 0.0)
    whole = fitted(monitor=VALIDATION)
    with monkeypatch.context() as patch:
        at_step(patch, 17, lambda: signal.raise_signal(signal.SIGINT))
        assert fitted(monitor=VALIDATION, checkpoint=tmp_path / "c").ended == "interrupted"
    carried_on = fitted(monitor=VALIDATION, checkpoint=tmp_path / "c")
    assert carried_on.ended == "completed"
    assert carried_on.parameters.tobytes() == whole.parameters.tobytes()
    assert carried_on.history.equals(whole.history)


def test_ctrl_c_before_anything_was_trained_is_ctrl_c(monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(_fitting, "start_of", interrupt)
    with pytest.raises(KeyboardInterrupt, match="^$"):
        fitted()


@pytest.mark.slow
def test_a_process_that_gets_ctrl_c_says_so_and_goes_on():
    code = """
        import logging, sys, threading
        from celltreeqm.learners.quartet import _trainer
        from tests.learners.quartet.small import fitted
        logging.basicConfig(level=logging.WARNING)
        look = _trainer._Loop._look
        def spoken(loop, bar):
            look(loop, bar)
            print("at", loop.done, flush=True)
        _trainer._Loop._look = spoken
        fit = fitted(select="last", steps=10**6, look_every=20, warm_up=0)
        print(fit.ended, fit.step % 20, fit.step < 10**6, fit.tree().n_leaves, flush=True)
    """
    root = Path(__file__).parents[3]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-c", textwrap.dedent(code)]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            while process.stdout.readline() not in ("at 40\n", ""):
                pass
            process.send_signal(signal.SIGINT)
            said, complained = process.communicate(timeout=60)
        finally:
            process.kill()
    assert said.splitlines()[-1] == "interrupted 0 True 16", complained
    assert process.returncode == 0
    assert "Training was interrupted after" in complained


# The bar


def test_a_bar_shows_loss_and_distances(monkeypatch):
    bars = []

    class Bar:
        def __init__(self, **settings):
            self.settings, self.steps, self.shown = settings, 0, []
            bars.append(self)

        def __enter__(self):
            return self

        def __exit__(self, *problem):
            pass

        def update(self):
            self.steps += 1

        def set_postfix(self, shown, refresh):
            self.shown.append(shown)

    monkeypatch.setattr(_trainer, "tqdm", Bar)
    monkeypatch.setattr(_fitting, "chosen_step", lambda steps, wrong: 20)
    from .small import learner

    learner().fit(X, LEAVES, prior=TRUTH, seed=0, progress=True)
    assert [bar.settings["desc"] for bar in bars] == ["choosing the number of steps", "training"]
    assert [bar.settings["total"] for bar in bars] == [30, 20]
    assert [bar.steps for bar in bars] == [30, 20]
    assert not bars[0].settings["disable"]
    assert bars[1].shown[-1].keys() == {"loss", "train RF"}
    learner().fit(X, LEAVES, prior=TRUTH, seed=0, progress=False)
    assert bars[-1].settings["disable"]


def test_nothing_is_printed(capfd):
    fitted(monitor=BOTH)
    assert capfd.readouterr() == ("", "")
