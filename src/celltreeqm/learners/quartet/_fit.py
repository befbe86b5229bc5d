"""``QuartetFit``: a trained network, and the distances between the points it places leaves at."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from .._features import FeatureMatrix
from .._fit import Fit
from ._preparation import Preparation
from ._settings import Settings

if TYPE_CHECKING:
    import pandas as pd

    from ._network import Network

__all__ = ["QuartetFit"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class QuartetFit(Fit):
    """A trained network.

    With the transformer a leaf's point depends on the whole set of leaves that it is embedded with: embed sets, not
    leaves one by one. Features are standardised over the set that is given as well.

    Parameters
    ----------
    features
        float[n, g], the features of the leaves.
    kept, scale, rotation
        How features become the network's inputs: which the network sees, what they are multiplied by once they are
        standardised, and the directions they are rotated into (k x 0 if they are not).
    parameters
        float32[p], all of the network.
    start
        float[g], how heritable each feature was held to be at the start; 1 where nothing was.
    resolved
        Every setting of the training, those that the preset or the data decided among them.
    record
        The history by column; see :attr:`history`.
    selection
        By what the parameters were chosen, in words.
    step
        After how many steps.
    ended
        "completed", "patience", "interrupted" or "diverged".
    gate_changes
        int[steps], how many features went on or off at each step.
    columns
        int[d], the columns of the embedding that count; all of them, once each, unless this is a bootstrap.
    """

    features: NDArray[np.float64]
    kept: NDArray[np.int64]
    scale: NDArray[np.float64]
    rotation: NDArray[np.float64]
    parameters: NDArray[np.float32]
    start: NDArray[np.float64]
    resolved: Mapping[str, Any]
    record: Mapping[str, Sequence[float | None]]
    selection: str
    step: int
    ended: str
    gate_changes: NDArray[np.int64]
    columns: NDArray[np.int64]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_network", "preparation")}

    @cached_property
    def preparation(self) -> Preparation:
        """How features become the network's inputs."""
        return Preparation(self.kept, self.scale, self.rotation)

    @cached_property
    def _network(self) -> Network:
        from ._restoring import restored_network

        return restored_network(self.preparation.columns, self.settings, self.parameters)

    @property
    def settings(self) -> Settings:
        """The settings of the training."""
        values: dict[str, Any] = dict(self.resolved)
        return Settings(**(values | {"temperature": tuple(values["temperature"])}))

    @property
    def history(self) -> pd.DataFrame:
        """A row for each look: the parts of the loss (means since the look before), and what was found.

        "validation RF", "test RF" and "train RF" are distances to the tree given with the table; "... wrong" is the
        share of known quartets that the distances get wrong.
        """
        import pandas as pd

        return pd.DataFrame({name: np.array(values, dtype=float) for name, values in self.record.items()})

    @property
    def feature_scores(self) -> NDArray[np.float64]:
        """float[g], the gate's score of each feature times what it started with; 0 for features never shown."""
        scores = np.zeros(self.features.shape[1])
        scores[self.kept] = self._of_gate("scores") * self.start[self.kept]
        return scores

    @property
    def selected(self) -> NDArray[np.bool_]:
        """bool[g], the features that the network is shown and its gate keeps."""
        selected = np.zeros(self.features.shape[1], dtype=bool)
        selected[self.kept] = self._of_gate("selected")
        return selected

    @property
    def gate_change_sd(self) -> float:
        r"""The paper's :math:`\Delta g`: the sd of the number of gates that change at a step, over the last third."""
        last = self.gate_changes[-(len(self.gate_changes) // 3) :] if len(self.gate_changes) > 2 else self.gate_changes
        return float(last.std()) if len(last) else 0.0

    def distances(self, X: FeatureMatrix | None = None) -> NDArray[np.float64]:
        """float[n, n], Euclidean distances of the points of the set of leaves given."""
        from scipy.spatial.distance import pdist, squareform

        return np.asarray(squareform(pdist(self.embed(X))))

    def embed(self, X: FeatureMatrix | None = None) -> NDArray[np.float64]:
        """float[n, d], the points of the leaves it was fitted on, or of another set of leaves.

        With the transformer each point depends on the set.
        """
        from ._restoring import embedded_set

        features = self.features if X is None else self.new_features(X)
        return embedded_set(self._network, self.preparation(features))[:, self.columns]

    def refit(self, X: FeatureMatrix, seed: int | np.random.Generator | None = None) -> Self:
        """A bootstrap of the columns of the embedding: the network is not trained again, so that X does not matter.

        Support from these fits says how much the tree depends on few directions of the embedding; of how far another
        sample of features would have led the network elsewhere it says nothing.
        """
        self.new_features(X)
        d = len(self.columns)
        return replace(self, columns=np.random.default_rng(seed).integers(d, size=d))

    def _of_gate(self, what: str) -> NDArray[Any]:
        if self.rotation.shape[1]:  # directions of the features have no gate
            return np.ones(len(self.kept), dtype=bool if what == "selected" else float)
        from ._restoring import gate_values

        return gate_values(self._network, what)
