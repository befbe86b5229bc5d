"""Devices by name."""

from __future__ import annotations

import torch

__all__ = ["chosen_device"]


def chosen_device(name: str) -> torch.device:
    """The device of a name; "auto" is cuda or mps where there is one.

    Raises
    ------
    ValueError
        If it does not exist here.
    """
    there = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if name == "auto":
        return torch.device(next(kind for kind in ("cuda", "mps", "cpu") if there[kind]))
    try:
        device = torch.device(name)
    except RuntimeError:
        device = None
    if device is None or not there.get(device.type, False) or (device.index or 0) >= _number_of(device.type):
        here = ", ".join(repr(kind) for kind, found in there.items() if found)
        raise ValueError(f"device={name!r} was given, and there is no such device here; there is {here}, or 'auto'.")
    return device


def _number_of(kind: str) -> int:
    return torch.cuda.device_count() if kind == "cuda" else 1
