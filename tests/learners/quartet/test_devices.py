"""Devices by name."""

from __future__ import annotations

import pytest
import torch

from celltreeqm.learners.quartet._devices import chosen_device


@pytest.fixture
def here(monkeypatch):
    def there_is(cuda=0, mps=False):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: cuda)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)

    return there_is


@pytest.mark.parametrize(
    "cuda, mps, chosen", [(0, False, "cpu"), (0, True, "mps"), (2, False, "cuda"), (1, True, "cuda")]
)
def test_auto_takes_what_is_there(here, cuda, mps, chosen):
    here(cuda, mps)
    assert chosen_device("auto") == torch.device(chosen)


def test_devices_that_are_there_are_taken(here):
    here(cuda=2)
    for name in ("cpu", "cpu:0", "cuda", "cuda:0", "cuda:1"):
        assert chosen_device(name) == torch.device(name)


@pytest.mark.parametrize("name", ["cuda", "cuda:0", "mps", "meta", "xpu", "cpu:3", "abacus", "", "cuda:x"])
def test_devices_that_are_not_there_are_refused(here, name):
    here()
    with pytest.raises(
        ValueError, match=f"device='{name}' was given, and there is no such device here; there is 'cpu', or"
    ):
        chosen_device(name)


def test_one_too_many_is_refused_and_those_there_are_named(here):
    here(cuda=2)
    with pytest.raises(ValueError, match="device='cuda:2' was given, .* there is 'cpu', 'cuda', or 'auto'"):
        chosen_device("cuda:2")
