"""Checkpoints: one safetensors file with the state as JSON in its header; written as a whole, read with suspicion."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

__all__ = ["read_checkpoint", "write_checkpoint"]

_FORMAT = "celltreeqm checkpoint 1"


def write_checkpoint(file: Path, mark: str, tensors: Mapping[str, Tensor], state: Mapping[str, Any]) -> None:
    """Put a checkpoint in the place of the one before, so that there is always a whole one.

    Parameters
    ----------
    file
        Where to; its folder exists.
    mark
        Which run it belongs to.
    tensors, state
        What to write; ``state`` is anything that JSON holds.
    """
    plain = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    text = json.dumps(state)
    header = {"format": _FORMAT, "mark": mark, "state": text, "sha256": _digest(plain, text)}
    packed = save(plain, metadata=header)
    partial = file.with_name(f".{file.name}.{secrets.token_hex(4)}.part")
    try:
        with partial.open("wb") as out:
            out.write(packed)
            out.flush()
            os.fsync(out.fileno())
        os.replace(partial, file)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def read_checkpoint(file: Path, mark: str) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors and the state of a checkpoint.

    Raises
    ------
    ValueError
        If the file is no checkpoint, is damaged, or belongs to another run.
    """
    try:
        with safe_open(file, framework="pt") as opened:
            header = opened.metadata() or {}
            tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118 (no mapping)
    except (SafetensorError, OSError, ValueError) as problem:
        raise ValueError(
            f"{file} cannot be read as a checkpoint: {problem}. Remove it, or name another file, to start anew."
        ) from None
    if header.get("format") != _FORMAT:
        raise ValueError(f"{file} is no checkpoint of celltreeqm. Name another file for the checkpoint.")
    if header.get("sha256") != _digest(tensors, header.get("state", "")):
        raise ValueError(f"{file} is damaged: its contents are not what was written. Remove it to start anew.")
    if header.get("mark") != mark:
        raise ValueError(
            f"{file} belongs to another run: features, prior, settings, seed or versions differ. Name another file for "
            "the checkpoint, or remove this one to start anew."
        )
    state: dict[str, Any] = json.loads(header["state"])
    return tensors, state


def _digest(tensors: Mapping[str, Tensor], text: str) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        value = tensors[name]
        digest.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
        digest.update(value.reshape(-1).view(torch.uint8).numpy().data if value.numel() else b"")
    return digest.hexdigest()
