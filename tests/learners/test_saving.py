"""Fits on disk."""

from __future__ import annotations

import json
import os
from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest

from celltreeqm.learners import DirectLearner, _learner, load_fit, register_learner
from celltreeqm.simulate import random_tree, simulate_brownian
from celltreeqm.trees import prior_at_level

TRUTH = random_tree(16, seed=0)
X = pd.DataFrame(
    simulate_brownian(TRUTH, 5, seed=1), index=TRUTH.leaves, columns=["lin-12", "it's", "é", "a b", "(x,y);"]
)


@pytest.fixture
def fit():
    prior = [prior_at_level(TRUTH, 1), TRUTH.restrict(TRUTH.leaves[3:9]).unroot()]
    return DirectLearner(metric="squared", builder="upgma").fit(X, prior=prior, seed=2**62 + 1)


def test_a_fit_comes_back_as_it_was(fit, tmp_path):
    fit.save(tmp_path / "fit")
    again = load_fit(tmp_path / "fit")
    assert type(again) is type(fit)
    for field in fields(fit):
        mine, theirs = getattr(fit, field.name), getattr(again, field.name)
        if isinstance(mine, np.ndarray):
            assert mine.tobytes() == theirs.tobytes()
            assert not theirs.flags.writeable
        else:
            assert mine == theirs
    assert again.tree() == fit.tree()
    assert (again.distances(X + 1) == fit.distances(X + 1)).all()


def test_a_fit_without_names_and_prior_comes_back(tmp_path):
    fit = DirectLearner().fit(X.to_numpy(), TRUTH.leaves)
    fit.save(str(tmp_path / "fit"))
    again = load_fit(str(tmp_path / "fit"))
    assert again.feature_names is None
    assert again.prior == ()
    assert again.provenance == fit.provenance


def test_the_same_fit_is_the_same_bytes(fit, tmp_path):
    for name in "ab":
        fit.save(tmp_path / name)
    for file in ("fit.json", "arrays.safetensors"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_nothing_is_written_over(fit, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("mine")
    for name in ("empty", "file"):
        with pytest.raises(FileExistsError, match=f"{name} exists; a fit is saved to a new folder"):
            fit.save(tmp_path / name)
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        fit.save(tmp_path / "absent" / "fit")
    assert (tmp_path / "file").read_text() == "mine"
    assert sorted(os.listdir(tmp_path)) == ["empty", "file"]


def test_a_failed_write_leaves_nothing(fit, tmp_path, monkeypatch):
    def full(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "rename", full)
    with pytest.raises(OSError, match="No space left"):
        fit.save(tmp_path / "fit")
    assert os.listdir(tmp_path) == []


def test_a_foreign_or_absent_folder_is_refused(fit, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no fit\.json in .*nowhere"):
        load_fit(tmp_path / "nowhere")
    fit.save(tmp_path / "fit")
    (tmp_path / "fit" / "fit.json").write_text('{"format": "something else"}')
    with pytest.raises(ValueError, match="is not a fit of celltreeqm"):
        load_fit(tmp_path / "fit")
    (tmp_path / "fit" / "arrays.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match=r"There is no arrays\.safetensors"):
        load_fit(tmp_path / "fit")


@pytest.mark.parametrize("file", ["fit.json", "arrays.safetensors"])
@pytest.mark.parametrize("fault", ["cut", "flipped", "empty"])
def test_a_damaged_file_is_refused(fit, tmp_path, file, fault):
    fit.save(tmp_path / "fit")
    target = tmp_path / "fit" / file
    content = bytearray(target.read_bytes())
    if fault == "flipped":
        content[-30] ^= 1
    target.write_bytes(bytes(content) if fault == "flipped" else bytes(content[: len(content) // 2 * (fault == "cut")]))
    with pytest.raises(ValueError, match=r"is damaged: .* Save the fit again"):
        load_fit(tmp_path / "fit")


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("format_version", 99, "is in version 99 of the format"),
        ("seed", 1, "are not as they were written"),
        ("learner", "direct2", "are not as they were written"),
    ],
)
def test_an_edited_description_is_refused(fit, tmp_path, key, value, sentence):
    fit.save(tmp_path / "fit")
    file = tmp_path / "fit" / "fit.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {key: value}))
    with pytest.raises(ValueError, match=sentence):
        load_fit(tmp_path / "fit")


def test_the_fit_of_a_learner_of_ones_own_comes_back_once_it_is_registered(fit, tmp_path, monkeypatch):
    monkeypatch.setattr(_learner, "_registered", dict(_learner._registered))

    class Mine(DirectLearner):
        name = "mine"

    replace(fit, provenance=replace(fit.provenance, learner="mine")).save(tmp_path / "fit")
    with pytest.raises(ValueError, match="no learner called 'mine'.* made known with register_learner"):
        load_fit(tmp_path / "fit")
    register_learner(Mine)
    assert load_fit(tmp_path / "fit").tree() == fit.tree()
