"""The store: a result is there as a whole or not at all."""

import errno
import json
import os
import platform
import stat
import subprocess
import sys

import numpy as np
import pytest

from celltreeqm.benchmark import _store as store
from celltreeqm.benchmark._jobs import key_of

JOB = {"task": "t", "size": "tiny", "method": "m", "seed": 0}
RECORD = {"job": JOB, "status": "done", "rows": [{"metrics": {"b": 0.1 + 0.2, "a": float("nan")}}], "timings": {}}
PATH = f"t/tiny_m_0_{key_of(JOB)}.json"


def test_what_is_written_is_read_back(tmp_path):
    store.write_result(tmp_path, PATH, RECORD)
    (back,) = store.read_results(tmp_path).values()
    assert back["rows"][0]["metrics"] == {"b": 0.1 + 0.2, "a": None}
    assert [path.name for path in (tmp_path / "t").iterdir()] == [PATH.removeprefix("t/")]


@pytest.mark.skipif(os.name == "nt", reason="folders cannot be opened there")
def test_a_file_system_that_cannot_sync_folders_is_no_hindrance(tmp_path, monkeypatch):
    def sync(handle, original=os.fsync):
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        original(handle)

    monkeypatch.setattr(os, "fsync", sync)
    store.write_result(tmp_path, PATH, RECORD)
    assert list(store.read_results(tmp_path)) == [PATH]


def test_keys_are_sorted_and_floats_written_by_repr():
    text = store.format_result(RECORD)
    assert "0.30000000000000004" in text
    assert text.index('"a"') < text.index('"b"')
    assert text == store.format_result(json.loads(text))


def test_infinity_is_refused():
    with pytest.raises(ValueError, match="Out of range float"):
        store.format_result(RECORD | {"rows": [np.inf]})


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"job": {}}', store.format_result(RECORD).replace("tiny", "full")])
def test_a_file_that_is_no_result_is_told(tmp_path, text):
    (tmp_path / "t").mkdir()
    (tmp_path / PATH).write_text(text)
    with pytest.raises(ValueError, match="is no result of the benchmark, or was changed"):
        store.read_results(tmp_path)


def test_other_files_in_the_folder_do_not_disturb(tmp_path):
    (tmp_path / "README.json").write_text("not ours")
    store.write_result(tmp_path, PATH, RECORD)
    (tmp_path / "t" / ".hidden.json").write_text("{")
    assert list(store.read_results(tmp_path)) == [PATH]


def test_leftovers_are_swept_and_what_others_write_stays(tmp_path):
    folder = tmp_path / "t"
    folder.mkdir()
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    living = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    name = f".{PATH.removeprefix('t/')}"
    try:
        here = platform.node()
        of_ended, of_living, of_other, of_old = (
            folder / f"{name}.{writer}.partial"
            for writer in (f"{here}-{ended.pid}", f"{here}-{living.pid}", "elsewhere.org-17", "elsewhere.org-18")
        )
        for path in (of_ended, of_living, of_other, of_old):
            path.write_text("{")
        os.utime(of_old, (0, 0))
        assert store.read_results(tmp_path) == {}
        assert store.sweep_leftovers(tmp_path) == 2
        assert {path.name for path in folder.iterdir()} == {of_living.name, of_other.name}
    finally:
        living.communicate(b"\n")


def test_a_folder_of_the_name_of_a_result_is_told(tmp_path):
    (tmp_path / PATH).mkdir(parents=True)
    with pytest.raises(ValueError, match="is no result of the benchmark"):
        store.read_results(tmp_path)
