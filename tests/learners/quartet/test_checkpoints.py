"""Checkpoints: a training stopped at any moment ends with the same bytes, and nothing else is taken for one."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

import celltreeqm.learners.quartet as quartet
from celltreeqm.learners.quartet import _checkpoints, _fitting, _trainer
from celltreeqm.learners.quartet._checkpoints import read_checkpoint, write_checkpoint
from celltreeqm.seeds import recorded_seed

from .small import HALF, LEAVES, REPLICATE, SETTINGS, TEST, TRUTH, X, at_step, fitted, written

VALIDATION = {"validation": (REPLICATE, TRUTH)}
RICH = {"gate": "gumbel", "data_dropout": 0.1, "noise": 0.1, "weight_average": 0.9, "gate_learning_rate": 0.3}
BATCH_NORM = {"encoder": "fc", "norm": "batch"}
ONE = [{"select": "last"}, {"monitor": VALIDATION, **RICH}, {"monitor": VALIDATION, "patience": 4, **BATCH_NORM}]
TENSORS = {"one": torch.arange(6.0).view(2, 3), "two": torch.tensor(7), "none": torch.zeros(0)}
STATE = {"done": 3, "history": [{"step": 0.0, "loss": float("nan")}], "best_found": None}


class StoppedError(Exception):
    """What ends a training from outside, as a crash would."""


def stop():
    raise StoppedError


@pytest.fixture
def each_look(monkeypatch):
    """A checkpoint at each look, not every 20 seconds."""
    monkeypatch.setattr(_trainer, "_WRITE_EVERY", 0.0)


# Carrying on


def assert_same(one, other, tmp_path):
    assert written(one, tmp_path / "one") == written(other, tmp_path / "other")
    assert one.distances().tobytes() == other.distances().tobytes()
    assert one.ended == other.ended


@pytest.mark.usefixtures("each_look")
@pytest.mark.parametrize("changes", ONE)
def test_one_training_carries_on_to_the_same_bytes(changes, monkeypatch, tmp_path):
    whole = fitted(**changes)
    file = tmp_path / "training.ckpt"
    for number in (3, 5, 6, 14, 25):  # before the first checkpoint, at one, and between
        with monkeypatch.context() as patch:
            at_step(patch, number, stop)
            try:
                fitted(checkpoint=file, **changes)
            except StoppedError:
                assert file.exists() == (number > 5)
    assert_same(whole, fitted(checkpoint=file, **changes), tmp_path)


@pytest.mark.usefixtures("each_look")
@pytest.mark.parametrize("changes", [{}, RICH, {"gate_start": "heritable", "draws": 0.5, "permute": True}])
def test_two_trainings_carry_on_to_the_same_bytes(changes, monkeypatch, tmp_path):
    monkeypatch.setattr(_fitting, "chosen_step", lambda steps, wrong: 25)  # so that there is a second one
    whole = fitted(**changes)
    assert whole.selection == "validation: 3 known leaves held out"
    file = tmp_path / "training.ckpt"
    first, second = tmp_path / "training.ckpt.1", tmp_path / "training.ckpt.2"
    for training, number in [(1, 7), (1, 23), (2, 4), (2, 12), (2, 19)]:
        with monkeypatch.context() as patch:
            at_step(patch, number, stop, training=training)
            with pytest.raises(StoppedError):
                fitted(checkpoint=file, **changes)
        assert first.exists()
        assert second.exists() == (training == 2 and number > 5)
    assert_same(whole, fitted(checkpoint=file, **changes), tmp_path)
    assert second.exists()
    assert not file.exists()


@pytest.mark.usefixtures("each_look")
@pytest.mark.parametrize("stopped", [1, 3, 5, 8])
def test_a_stop_while_a_checkpoint_is_written_leaves_the_one_before(stopped, monkeypatch, tmp_path):
    file = tmp_path / "training.ckpt"
    whole = fitted(select="last")
    replaced = []

    def crash(*arguments):
        replaced.append(arguments)
        if len(replaced) == stopped:
            raise OSError("no space left on device")
        os.rename(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(_checkpoints.os, "replace", crash)
        if stopped <= 6:
            with pytest.raises(OSError, match="no space left on device"):
                fitted(select="last", checkpoint=file)
        else:
            fitted(select="last", checkpoint=file)
    assert [left.name for left in tmp_path.iterdir()] == ([file.name] if stopped > 1 else [])
    assert_same(whole, fitted(select="last", checkpoint=file), tmp_path)


@pytest.mark.parametrize(
    "changes", [{"select": "last"}, {"monitor": VALIDATION, "patience": 1, "learning_rate": 0.5}, {}]
)
def test_a_training_that_ended_is_not_trained_again(changes, monkeypatch, tmp_path):
    file = tmp_path / "training.ckpt"
    whole = fitted(checkpoint=file, **changes)
    monkeypatch.setattr(_trainer._Loop, "_step", lambda loop: stop())
    assert_same(whole, fitted(checkpoint=file, **changes), tmp_path)


def test_without_a_look_there_is_one_checkpoint_at_the_end(tmp_path, monkeypatch):
    names = []
    replace = os.replace
    monkeypatch.setattr(_checkpoints.os, "replace", lambda part, file: (names.append(file.name), replace(part, file)))
    fitted(select="last", checkpoint=tmp_path / "c")
    assert names == ["c"]


KILLED = """
    import os, signal, sys
    from celltreeqm.learners.quartet import _checkpoints, _fitting, _trainer
    from tests.learners.quartet.small import at_step, fitted

    _trainer._WRITE_EVERY = 0.0
    _fitting.chosen_step = lambda steps, wrong: 25

    def kill():
        os.kill(os.getpid(), signal.SIGKILL)

    def while_writing(number):
        replace, count = os.replace, [0]
        def replaced(*arguments):
            count[0] += 1
            if count[0] == number:
                kill()
            replace(*arguments)
        _checkpoints.os.replace = replaced

    class Patch:
        setattr = staticmethod(setattr)

    moments = [
        lambda: at_step(Patch, 3, kill),
        lambda: at_step(Patch, 12, kill),
        lambda: while_writing(2),
        lambda: at_step(Patch, 29, kill),
        lambda: at_step(Patch, 7, kill, training=2),
        lambda: while_writing(3),
        lambda: at_step(Patch, 24, kill, training=2),
    ]
    fitted(steps=1)  # loads everything once; then a process for each moment
    for moment in moments:
        child = os.fork()
        if not child:
            moment()
            fitted(checkpoint=sys.argv[1], gate="gumbel")
            os._exit(0)
        print(os.WTERMSIG(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.mark.usefixtures("each_look")
def test_a_training_that_is_killed_carries_on_to_the_same_bytes(monkeypatch, tmp_path):
    root = Path(__file__).parents[3]
    code = textwrap.dedent(KILLED)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])}
    file = tmp_path / "training.ckpt"
    command = [sys.executable, "-c", code, str(file)]
    run = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=120)
    assert run.stdout.split() == [str(int(signal.SIGKILL))] * 7, run.stderr
    monkeypatch.setattr(_fitting, "chosen_step", lambda steps, wrong: 25)
    assert read_done(tmp_path / "training.ckpt.1") == 30
    assert read_done(tmp_path / "training.ckpt.2") == 20
    assert_same(fitted(gate="gumbel"), fitted(checkpoint=file, gate="gumbel"), tmp_path)


def read_done(file):
    with safe_open(file, framework="pt") as opened:
        return json.loads(opened.metadata()["state"])["done"]


# Another run's


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 1},
        {"width": 32},
        {"learning_rate": 2e-3},
        {"select": "train"},
        {"X": X + 1e-9},
        {"X": X[::-1].copy()},
        {"leaves": LEAVES[::-1]},
        {"prior": HALF},
        {"monitor": {"test": (TEST, TRUTH)}},
        {"monitor": {"test": (TEST, None)}},
    ],
)
def test_a_checkpoint_of_another_run_is_refused(changes, tmp_path):
    file = tmp_path / "training.ckpt"
    fitted(select="last", steps=5, checkpoint=file)
    before = file.read_bytes()
    with pytest.raises(ValueError, match=f"{file} belongs to another run: features, prior, settings, seed or versions"):
        fitted(**({"select": "last", "steps": 5, "checkpoint": file} | changes))
    assert file.read_bytes() == before


def test_a_checkpoint_of_another_version_is_refused(monkeypatch, tmp_path):
    file = tmp_path / "training.ckpt"
    fitted(select="last", steps=5, checkpoint=file)
    made = quartet._learner.provenance_of

    def later(*arguments, **more):
        provenance = made(*arguments, **more)
        return dataclasses.replace(provenance, versions=dict(provenance.versions) | {"torch": "9.0"})

    monkeypatch.setattr(quartet._learner, "provenance_of", later)
    with pytest.raises(ValueError, match="belongs to another run"):
        fitted(select="last", steps=5, checkpoint=file)


def test_the_second_training_does_not_take_the_first_ones(tmp_path):
    file = tmp_path / "training.ckpt"
    fitted(checkpoint=file, steps=10)
    first, second = tmp_path / "training.ckpt.1", tmp_path / "training.ckpt.2"
    second.write_bytes(first.read_bytes())
    with pytest.raises(ValueError, match=r"training.ckpt.2 belongs to another run"):
        fitted(checkpoint=file, steps=10)


def test_a_rerooted_prior_carries_on(tmp_path, monkeypatch):
    file = tmp_path / "training.ckpt"
    whole = fitted(select="last", checkpoint=file)
    monkeypatch.setattr(_trainer._Loop, "_step", lambda loop: stop())
    again = fitted(select="last", checkpoint=file, prior=TRUTH.unroot())
    assert again.parameters.tobytes() == whole.parameters.tobytes()


# Files that are no checkpoints


def damaged(packed, kind):
    if kind == "changed":  # one bit of the last tensor
        return packed[:-1] + bytes([packed[-1] ^ 1])
    if kind == "state":
        assert b'\\"done\\": 5' in packed
        return packed.replace(b'\\"done\\": 5', b'\\"done\\": 4')
    return {
        "empty": b"",
        "truncated": packed[: len(packed) // 2],
        "one byte short": packed[:-1],
        "header only": packed[:8],
        "text": b"step,loss\n1,0.5\n",
        "zeros": bytes(len(packed)),
        "pickle": b"\x80\x04cos\nsystem\n(S'touch executed'\ntR.",
    }[kind]


CANNOT = "cannot be read as a checkpoint: .* Remove it, or name another file, to start anew"
IS_DAMAGED = "is damaged: its contents are not what was written. Remove it to start anew"


@pytest.mark.parametrize(
    "kind, sentence",
    [
        *(
            (kind, CANNOT)
            for kind in ("empty", "truncated", "one byte short", "header only", "text", "zeros", "pickle")
        ),
        ("changed", IS_DAMAGED),
        ("state", IS_DAMAGED),
    ],
)
def test_damaged_files_are_refused_and_left_alone(kind, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "training.ckpt"
    fitted(select="last", steps=5, checkpoint=file)
    bad = damaged(file.read_bytes(), kind)
    file.write_bytes(bad)
    with pytest.raises(ValueError, match=f"{re.escape(str(file))} {sentence}"):
        fitted(select="last", steps=5, checkpoint=file)
    assert file.read_bytes() == bad
    assert [left.name for left in tmp_path.iterdir()] == [file.name]  # nothing in it was executed


@pytest.mark.parametrize("metadata", [None, {"format": "pt"}, {"format": "celltreeqm checkpoint 2"}])
def test_safetensors_of_others_are_refused(metadata, tmp_path):
    file = tmp_path / "model.safetensors"
    save_file({"weight": torch.ones(3)}, file, metadata=metadata)
    with pytest.raises(
        ValueError, match=f"{file} is no checkpoint of celltreeqm. Name another file for the checkpoint"
    ):
        fitted(select="last", checkpoint=file)


def test_a_fit_on_disk_is_no_checkpoint(tmp_path):
    fitted(steps=2).save(tmp_path / "fit")
    with pytest.raises(ValueError, match="arrays.safetensors is no checkpoint of celltreeqm"):
        fitted(select="last", checkpoint=tmp_path / "fit" / "arrays.safetensors")


def test_folders_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(_fitting, "train", lambda training: stop())
    with pytest.raises(
        IsADirectoryError, match=f"The checkpoint {tmp_path} is a folder; the name of a file was needed"
    ):
        fitted(checkpoint=tmp_path)
    with pytest.raises(FileNotFoundError, match=f"There is no folder {tmp_path}/no for the checkpoint. Make it first"):
        fitted(checkpoint=tmp_path / "no" / "training.ckpt")
    monkeypatch.undo()
    (tmp_path / "training.ckpt.1").mkdir()
    with pytest.raises(ValueError, match=r"training.ckpt.1 cannot be read as a checkpoint"):
        fitted(checkpoint=tmp_path / "training.ckpt")


# One file


def test_what_was_written_is_read(tmp_path):
    file = tmp_path / "c"
    write_checkpoint(file, "mark", TENSORS, STATE)
    tensors, state = read_checkpoint(file, "mark")
    assert tensors.keys() == TENSORS.keys()
    assert all(torch.equal(tensors[name], TENSORS[name]) for name in TENSORS)
    assert tensors["two"].dtype == torch.int64
    assert json.dumps(state, sort_keys=True) == json.dumps(STATE, sort_keys=True)


@pytest.mark.parametrize("where", ["replace", "fsync"])
@pytest.mark.parametrize("problem", [OSError("disk full"), KeyboardInterrupt("Ctrl-C")])
def test_writing_is_all_or_nothing(where, problem, tmp_path, monkeypatch):
    file = tmp_path / "c"
    write_checkpoint(file, "mark", TENSORS, STATE)
    before = file.read_bytes()

    def fail(*arguments):
        raise problem

    monkeypatch.setattr(_checkpoints.os, where, fail)
    with pytest.raises(type(problem), match=str(problem)):
        write_checkpoint(file, "mark", {"one": torch.zeros(2)}, {})
    monkeypatch.undo()
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


def test_nothing_is_ever_unpickled():
    package = Path(quartet.__file__).parent
    files = [*package.rglob("*.py"), *package.parent.glob("*.py")]
    assert len(files) > 20
    forbidden = re.compile(
        r"pickle\.\w|import \w*pickle|torch\.load|joblib|allow_pickle|marshal|shelve|[^.]eval\(|exec\("
    )
    for file in files:
        assert not forbidden.search(file.read_text()), file


def test_settings_that_only_look_alike_have_one_run(tmp_path):
    """Numbers of numpy, a seed of numpy: the same training, the same checkpoint."""
    file = tmp_path / "c"
    one = fitted(select="last", checkpoint=file)
    settings = {name: np.int64(value) if isinstance(value, int) else value for name, value in SETTINGS.items()}
    other = fitted(**settings | {"select": "last", "checkpoint": file, "seed": np.int64(recorded_seed(0))})
    assert other.parameters.tobytes() == one.parameters.tobytes()
