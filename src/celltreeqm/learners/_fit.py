"""``Fit``: what every learner returns."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..trees import Tree, neighbor_joining, upgma, ward
from ._features import FeatureMatrix, check_features, features_like, own_row_names
from ._provenance import Provenance
from ._saving import save_fit

__all__ = ["BUILDERS", "Builder", "Fit"]

Builder: TypeAlias = Literal["neighbor_joining", "upgma", "ward"]
BUILDERS: Mapping[str, Callable[..., Tree]] = MappingProxyType(
    {"neighbor_joining": neighbor_joining, "upgma": upgma, "ward": ward}
)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Fit(ABC):
    """A fitted learner: immutable; gives distances, and builds trees from them.

    A learner's own kind of fit is a frozen dataclass that adds what it has learned as fields: arrays, and whatever JSON
    can hold. Arrays are made read-only; saving and loading need nothing more.

    Parameters
    ----------
    leaves
        The names of the leaves it was fitted on.
    feature_names
        The names of the features, or None if they had none.
    prior
        The prior's trees.
    builder
        The tree builder that the learner chose: "neighbor_joining", "upgma" or "ward".
    provenance
        With what learner, settings, seed, data and versions it was made.
    """

    leaves: tuple[str, ...]
    feature_names: tuple[str, ...] | None
    prior: tuple[Tree, ...]
    builder: Builder
    provenance: Provenance

    def __post_init__(self) -> None:
        if self.builder not in BUILDERS:
            raise ValueError(f"builder={self.builder!r} was given; it is one of {', '.join(map(repr, BUILDERS))}.")
        self._freeze()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._freeze()  # a copy's arrays are read-only too

    def _freeze(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray) and value.flags.writeable:
                value = value.copy()
                value.flags.writeable = False
                object.__setattr__(self, field.name, value)

    @property
    @abstractmethod
    def feature_scores(self) -> NDArray[np.float64]:
        """float[g], how much each feature counts: 0 not at all, larger more; the scale is the learner's own."""

    @abstractmethod
    def distances(self, X: FeatureMatrix | None = None) -> NDArray[np.float64]:
        """float[n, n], the distances between the leaves it was fitted on, or between the rows of a new matrix.

        Parameters
        ----------
        X
            float[n, g], the same features of other rows. Columns that have names are put into the fit's order.
        """

    @abstractmethod
    def embed(self, X: FeatureMatrix | None = None) -> NDArray[np.float64]:
        """float[n, d], coordinates of the leaves it was fitted on, or of the rows of a new matrix."""

    @abstractmethod
    def refit(self, X: FeatureMatrix, seed: int | np.random.Generator | None = None) -> Self:
        """The fit repeated on other, for instance resampled, features of the same leaves with every choice kept."""

    def tree(
        self, X: FeatureMatrix | None = None, *, leaves: Sequence[str] | None = None, honor_prior: bool = True
    ) -> Tree:
        """The tree of the leaves it was fitted on, or of the rows of a new matrix.

        Parameters
        ----------
        X
            float[n, g], the same features in another replicate of the same leaves, or in others.
        leaves
            The names of the new rows. By default those of a DataFrame's index, and else the leaves of the fit, in the
            same order.
        honor_prior
            Whether the tree has to display the prior, as far as that speaks of these leaves.

        Returns
        -------
        Tree
            As the builder makes it: unrooted by neighbour joining, rooted by UPGMA and Ward.
        """
        if X is None:
            if leaves is not None:
                raise ValueError(
                    "leaves came without a new matrix X, whose rows they would name. Pass both or neither."
                )
            names = self.leaves
        else:
            given = leaves if leaves is not None else own_row_names(X)
            names = check_features(X, self.leaves if given is None else given).leaves
        prior: list[Tree] = []
        if honor_prior:
            prior = [tree.restrict(names) for tree in self.prior if any(name in tree.index for name in names)]
        return BUILDERS[self.builder](self._distances_for(X, names, prior), names, prior=prior or None)

    def _distances_for(
        self, X: FeatureMatrix | None, names: tuple[str, ...], prior: Sequence[Tree]
    ) -> NDArray[np.float64]:
        """The distances for a tree under a prior; for fits whose distances depend on it."""
        return self.distances(X)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the fit to a new folder: ``fit.json`` and ``arrays.safetensors``, both or nothing.

        A folder that exists is refused. :func:`load_fit` reads it back.
        """
        save_fit(self, folder)

    def new_features(self, X: FeatureMatrix) -> NDArray[np.float64]:
        """float[n, g], a new matrix of the fit's features, checked and with its columns in the fit's order."""
        return features_like(X, len(self.feature_scores), self.feature_names)

    def __repr__(self) -> str:
        known = f", {len(self.prior)} prior tree{'' if len(self.prior) == 1 else 's'}" if self.prior else ""
        return (
            f"{type(self).__name__}({len(self.leaves)} leaves, {len(self.feature_scores)} features{known}, "
            f"{self.builder}, seed {self.provenance.seed})"
        )
