"""How a fit was made: learner, settings, seed, data and versions."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from types import MappingProxyType
from typing import Any

from ..seeds import Seed, recorded_seed
from ._features import CheckedFeatures

__all__ = ["Provenance", "provenance_of"]

_LIBRARIES = ("celltreeqm", "numpy", "scipy", "numba")


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """With what a fit was made.

    Parameters
    ----------
    learner
        The name under which the learner is registered.
    settings
        Its settings.
    seed
        The seed, drawn if none was given; with it the fit can be made again.
    data_hash
        SHA-256 of the features' values, their shape and the names of rows and columns.
    versions
        Python and the libraries that the numbers depend on.
    """

    learner: str
    settings: Mapping[str, Any]
    seed: int
    data_hash: str
    versions: Mapping[str, str]

    def __post_init__(self) -> None:
        for name in ("settings", "versions"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __reduce__(self) -> tuple[object, ...]:
        return _made_again, (self.learner, dict(self.settings), self.seed, self.data_hash, dict(self.versions))


def provenance_of(
    learner: str,
    settings: Mapping[str, Any],
    *,
    seed: Seed,
    features: CheckedFeatures,
    libraries: tuple[str, ...] = (),
) -> Provenance:
    """The provenance of a fit that is about to be made; ``libraries`` are recorded besides the usual ones."""
    versions = {"python": platform.python_version()} | {name: version(name) for name in (*_LIBRARIES, *libraries)}
    return Provenance(
        learner=learner,
        settings=settings,
        seed=recorded_seed(seed),
        data_hash=_hash(features),
        versions=versions,
    )


def _hash(features: CheckedFeatures) -> str:
    digest = hashlib.sha256()
    for part in (features.values.shape, features.leaves, features.names):
        digest.update(repr(part).encode())
    digest.update(features.values.astype("<f8", copy=False).data)
    return digest.hexdigest()


def _made_again(
    learner: str, settings: dict[str, Any], seed: int, data_hash: str, versions: dict[str, str]
) -> Provenance:
    return Provenance(learner=learner, settings=settings, seed=seed, data_hash=data_hash, versions=versions)
