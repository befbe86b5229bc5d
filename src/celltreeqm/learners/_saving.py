"""Fits on disk: a folder with ``fit.json`` and ``arrays.safetensors``; never pickle."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..trees import format_newick, parse_newick
from ._learner import learner_class
from ._provenance import Provenance

if TYPE_CHECKING:
    from ._fit import Fit

__all__ = ["load_fit", "save_fit"]

_FORMAT = "celltreeqm fit"
_FORMAT_VERSION = 1
_JSON, _ARRAYS = "fit.json", "arrays.safetensors"


def save_fit(fit: Fit, folder: str | os.PathLike[str]) -> None:
    """Write a fit to a new folder, as a whole or not at all; see :meth:`Fit.save`."""
    from safetensors.numpy import save

    target = Path(folder)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {target.parent} to write {target.name} to. Make it first.")
    if target.exists():
        raise FileExistsError(f"{target} exists; a fit is saved to a new folder. Choose another name.")
    values = {field.name: getattr(fit, field.name) for field in fields(fit)}
    arrays = {name: np.ascontiguousarray(value) for name, value in values.items() if isinstance(value, np.ndarray)}
    packed = save(arrays)
    rest = {name: value for name, value in values.items() if name not in arrays}
    provenance = rest.pop("provenance")
    rest["prior"] = [format_newick(tree) for tree in rest["prior"]]
    described = {
        "format": _FORMAT,
        "format_version": _FORMAT_VERSION,
        "learner": provenance.learner,
        "settings": dict(provenance.settings),
        "seed": provenance.seed,
        "data_hash": provenance.data_hash,
        "versions": dict(provenance.versions),
        "fields": rest,
    }
    described["sha256"] = _checksum(described, packed)
    text = json.dumps(described, indent=1, allow_nan=False) + "\n"
    unfinished = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        unfinished.mkdir()
        (unfinished / _ARRAYS).write_bytes(packed)
        (unfinished / _JSON).write_text(text, encoding="utf-8")
        os.rename(unfinished, target)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


def load_fit(folder: str | os.PathLike[str]) -> Fit:
    """The fit that :meth:`Fit.save` wrote to a folder.

    Nothing in the folder is executed. The learner that made the fit must be registered; those of celltreeqm are.

    Parameters
    ----------
    folder
        A folder with ``fit.json`` and ``arrays.safetensors``.

    Raises
    ------
    ValueError
        If the files are not those of a fit, are damaged, or of a later version or an unknown learner.

    Examples
    --------
    >>> import tempfile
    >>> from celltreeqm.learners import DirectLearner
    >>> fit = DirectLearner().fit([[0.0], [1.0], [3.0]], ["a", "b", "c"], seed=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fit.save(f"{folder}/fit")
    ...     load_fit(f"{folder}/fit")
    DirectFit(3 leaves, 1 features, neighbor_joining, seed 0)
    """
    source = Path(folder)
    for name in (_JSON, _ARRAYS):
        if not (source / name).is_file():
            raise FileNotFoundError(f"There is no {name} in {source}. Give the folder that fit.save(folder) wrote.")
    described = _described(source / _JSON)
    packed = (source / _ARRAYS).read_bytes()
    if described.pop("sha256", None) != _checksum(described, packed):
        raise _damaged(source, f"{_JSON} and {_ARRAYS} are not as they were written")
    return _restored(learner_class(described["learner"]).fit_type, described, packed)


def _restored(fit_type: type[Fit], described: dict[str, Any], packed: bytes) -> Fit:
    from safetensors.numpy import load

    rest: dict[str, Any] = dict(described["fields"]) | load(packed)
    names = rest.pop("feature_names")
    return fit_type(
        leaves=tuple(rest.pop("leaves")),
        feature_names=None if names is None else tuple(names),
        prior=tuple(parse_newick(text) for text in rest.pop("prior")),
        provenance=Provenance(
            learner=described["learner"],
            settings=described["settings"],
            seed=described["seed"],
            data_hash=described["data_hash"],
            versions=described["versions"],
        ),
        **rest,
    )


def _described(file: Path) -> dict[str, Any]:
    try:
        described = json.loads(file.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as problem:
        raise _damaged(file, str(problem)) from None
    if not isinstance(described, dict) or described.get("format") != _FORMAT:
        raise ValueError(f"{file} is not a fit of celltreeqm. Give the folder that fit.save(folder) wrote.")
    if described.get("format_version") != _FORMAT_VERSION:
        raise ValueError(
            f"{file} is in version {described.get('format_version')} of the format; this celltreeqm reads version "
            f"{_FORMAT_VERSION}. Load it with the celltreeqm that wrote it."
        )
    return described


def _checksum(described: dict[str, Any], packed: bytes) -> str:
    """SHA-256 of the arrays and of all that the JSON says."""
    return hashlib.sha256(packed + json.dumps(described, sort_keys=True).encode()).hexdigest()


def _damaged(file: Path, what: str) -> ValueError:
    return ValueError(f"{file} is damaged: {what}. Save the fit again.")
