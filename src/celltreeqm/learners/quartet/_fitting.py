"""A fit from beginning to end: the start, what is held out, one training or two."""

from __future__ import annotations

import hashlib
import json
import logging
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from ...quartets import KnownQuartets, unrank_quartets
from ...trees import Tree, format_newick
from ...trees._paths import leaf_distances
from .._features import CheckedFeatures
from .._learner import Monitor
from .._provenance import Provenance
from ._devices import chosen_device
from ._draws import BrownianDraws, brownian_draws
from ._edge_quartets import edge_quartets
from ._fit import QuartetFit
from ._held_out import chosen_step, without_some
from ._looks import Watch
from ._losses import pairwise_distances
from ._network import FlatParameters, Network
from ._objective import Objective
from ._preparation import Preparation, prepare
from ._restoring import kept_parameters, torch_threads
from ._same_prior import in_one_form
from ._settings import Settings
from ._start import Start, start_of
from ._tables import Table, checked_tables
from ._trainer import Draw, Trained, Training, train

if TYPE_CHECKING:
    from ._learner import QuartetLearner

__all__ = ["fit_network"]

_log = logging.getLogger(__name__)

_WATCHED = 4096  # known quartets that a look counts
_LEAST_KEPT = 4  # features


def fit_network(
    learner: QuartetLearner,
    checked: CheckedFeatures,
    trees: tuple[Tree, ...],
    *,
    provenance: Provenance,
    monitor: Monitor,
    checkpoint: Path | None,
    progress: bool | None,
) -> QuartetFit:
    """Do what :meth:`QuartetLearner.fit` says; features and prior are checked already."""
    device = chosen_device(learner.device)
    known = tuple(in_one_form(tree) for tree in trees)
    tables = checked_tables(monitor, checked)
    if learner.select == "test" and "test" not in tables:
        raise ValueError("select='test' came without monitor={'test': (X, truth)}. Pass it, or select otherwise.")
    if checkpoint is not None and not checkpoint.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {checkpoint.parent} for the checkpoint. Make it first.")
    if checkpoint is not None and checkpoint.is_dir():
        raise IsADirectoryError(f"The checkpoint {checkpoint} is a folder; the name of a file was needed.")
    fitting = _Fitting(
        learner=learner,
        checked=checked,
        seed=provenance.seed,
        device=device,
        tables=tables,
        checkpoint=checkpoint,
        mark=_mark(provenance, known, tables),
        progress=progress,
    )
    with torch_threads(learner.threads):
        result, session, selection = fitting.run(known)
        return QuartetFit(
            leaves=checked.leaves,
            feature_names=checked.names,
            prior=trees,
            builder=session.settings.builder,
            provenance=provenance,
            features=checked.values,
            kept=session.preparation.kept,
            scale=session.preparation.scale,
            rotation=session.preparation.rotation,
            parameters=kept_parameters(FlatParameters.of(session.network)),
            start=np.ones(checked.values.shape[1]) if session.start is None else session.start.weights,
            resolved=asdict(session.settings),
            record=_columns(result.history),
            selection=selection,
            step=result.step,
            ended=result.ended,
            gate_changes=result.gate_changes,
            columns=np.arange(session.network.outputs),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class _Session:
    """A network with its first parameters, and what stands around it.

    Parameters
    ----------
    trees
        What is learned from.
    rows
        Which rows of the features the network sees in training; ``names`` are theirs.
    inputs
        float32[n, r], these rows as the network sees them.
    """

    trees: tuple[Tree, ...]
    rows: list[int]
    names: tuple[str, ...]
    start: Start | None
    settings: Settings
    preparation: Preparation
    network: Network
    inputs: torch.Tensor


@dataclass(frozen=True, eq=False, kw_only=True)
class _Fitting:
    learner: QuartetLearner
    checked: CheckedFeatures
    seed: int
    device: torch.device
    tables: Mapping[str, Table]
    checkpoint: Path | None
    mark: str
    progress: bool | None
    generator: torch.Generator = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "generator", torch.Generator(device=self.device))

    def run(self, trees: tuple[Tree, ...]) -> tuple[Trained, _Session, str]:
        """One training, or two where known leaves are held out of the first; with how it was chosen, in words."""
        select = self.learner.select
        if select == "validation" and "validation" not in self.tables:
            return self._without_replicate(trees)
        session = self._session(trees)
        watches = self._watches(session)
        if select == "last":
            return self._train(session, watches), session, "last"
        if not any(watch.name == select and watch.counts for watch in watches):
            _log.info("There is nothing to select by %s with: the last parameters are kept.", select)
            return self._train(session, watches), session, f"last: nothing to select by {select} with"
        result = self._train(session, watches, criterion=(f"{select} RF", f"{select} wrong"))
        words = {"validation": "validation: replicate", "test": "best on the test"}.get(select, select)
        return result, session, words

    def _without_replicate(self, trees: tuple[Tree, ...]) -> tuple[Trained, _Session, str]:
        fewer, held_out = without_some(trees, [self.seed, 1])
        stop, number, words = None, 0, "last: nothing is known"
        if held_out:
            session = self._session(fewer)
            watches = [*self._watches(session), self._watch_of_held_out(session, trees, held_out)]
            first = self._train(session, watches, number=1)
            if first.ended == "interrupted":
                return first, session, "last: interrupted in the first of two trainings"
            stop = chosen_step([int(row["step"]) for row in first.history], np.array(first.by_leaf))
            number, words = 2, f"validation: {len(held_out)} known leaves held out"
        elif trees:
            words = "last: too little is known to hold any out"
            _log.info("Too few leaves are known to hold any out: the last parameters are kept.")
        try:
            last = self._session(trees)
        except KeyboardInterrupt:
            if not held_out:
                raise
            first.ended = "interrupted"
            _log.warning("Interrupted between two trainings; what the first one made is kept.")
            return first, session, "last: interrupted between two trainings"
        result = self._train(last, self._watches(last), stop=stop, number=number)
        if held_out and result.ended == "interrupted":
            words = "last: interrupted in the second of two trainings"
        elif held_out and first.ended == "diverged":
            result.ended = "diverged"
        return result, last, words

    def _session(self, trees: tuple[Tree, ...]) -> _Session:
        """A network to train on these trees; the start, too, is learned from them alone."""
        rows = self._rows(trees)
        values = self.checked.values[rows]
        names = tuple(self.checked.leaves[row] for row in rows)
        start = start_of(self.learner, CheckedFeatures(values, names, self.checked.names), trees, self.seed)
        kept, scale = _kept(values, start)
        settings = self.learner.settings(n=len(rows), g=len(kept), prior=bool(trees))
        if self.learner.builder is None and start is not None and start.builder is not None:
            settings = replace(settings, builder=start.builder)
        one_by_one = settings.gate != "none" or settings.encoder == "diagonal"
        augmented = bool(settings.noise or settings.draws or (settings.permute and start is not None))
        preparation = prepare(values, kept, scale, rotate=not (one_by_one or augmented))
        network = Network(preparation.columns, settings, self.generator)
        network.draw(self.seed, None if start is None else start.probability[kept].tolist())
        inputs = preparation(values)
        if settings.skip:
            network.start_with_components(inputs, preparation.unit)
        return _Session(
            trees=trees,
            rows=rows,
            names=names,
            start=start,
            settings=settings,
            preparation=preparation,
            network=network.to(self.device),
            inputs=self._on_device(inputs),
        )

    def _train(
        self,
        session: _Session,
        watches: Sequence[Watch],
        *,
        criterion: Sequence[str] = (),
        number: int = 0,
        stop: int | None = None,
    ) -> Trained:
        """Train the network of a session; ``number`` tells the first and the second of two trainings apart."""
        settings, preparation = session.settings, session.preparation
        draws = self._draws(session)
        checkpoint = self.checkpoint
        if checkpoint is not None and number:
            checkpoint = checkpoint.with_name(f"{checkpoint.name}.{number}")
        training = Training(
            settings=settings,
            network=session.network,
            inputs=session.inputs,
            objective=Objective(
                settings,
                pairwise_distances(session.inputs) * preparation.unit,
                unit=preparation.unit,
                features=len(preparation.kept),
                lengths=self._lengths(session),
            ),
            draw=_drawing(session.trees, session.names),
            seed=self.seed,
            generator=self.generator,
            permute=self._shuffled(session),
            synthetic=draws,
            synthetic_draw=None if draws is None else _drawing((session.start.tree,), session.names),  # type: ignore[union-attr, arg-type]
            watches=watches,
            criterion=criterion,
            stop=stop,
            checkpoint=checkpoint,
            mark=f"{self.mark} {number} {stop}",
            progress=_bar_title(self.progress, number),
            amp=self.learner.amp and self.device.type == "cuda",
        )
        return train(training)

    def _rows(self, trees: Sequence[Tree]) -> list[int]:
        """The set of leaves that the network sees."""
        if self.learner.context == "all" or not trees:
            return list(range(len(self.checked.leaves)))
        inside = {name for tree in trees for name in tree.leaves}
        return [row for row, name in enumerate(self.checked.leaves) if name in inside]

    def _watches(self, session: _Session) -> list[Watch]:
        """The known part of the leaves themselves, and the monitor's tables."""
        builder, trees = session.settings.builder, session.trees
        watches = []
        if trees:
            resolved = trees[0] if len(trees) == 1 and trees[0].unroot().is_binary else None
            known = KnownQuartets(trees, session.names).sample(_WATCHED, seed=0).leaves
            watches.append(Watch("train", session.inputs, session.names, builder, resolved, known))
        for table in self.tables.values():
            inputs = self._on_device(session.preparation(table.values))
            quartets = table.known(trees, _WATCHED, self.seed)
            watches.append(Watch(table.name, inputs, table.leaves, builder, table.truth, quartets))
        return watches

    def _watch_of_held_out(self, session: _Session, trees: tuple[Tree, ...], held_out: frozenset[str]) -> Watch:
        rows = self._rows(trees)
        leaves = tuple(self.checked.leaves[row] for row in rows)
        quartets = edge_quartets(trees, leaves, _WATCHED, among=held_out, seed=self.seed)
        out = np.array([name in held_out for name in leaves])
        first_out = np.take_along_axis(quartets, out[quartets].argmax(axis=1)[:, None], axis=1)[:, 0]
        inputs = self._on_device(session.preparation(self.checked.values[rows]))
        of = np.unique(first_out, return_inverse=True)[1]
        return Watch("held-out", inputs, leaves, session.settings.builder, None, quartets, of)

    def _lengths(self, session: _Session) -> torch.Tensor | None:
        """Path lengths, where one tree with lengths knows them for all quartets that are drawn."""
        trees = session.trees
        if len(trees) != 1 or trees[0].lengths is None or not trees[0].unroot().is_binary:
            return None
        index = {name: row for row, name in enumerate(session.names)}
        at = np.array([index[name] for name in trees[0].leaves])
        lengths = np.zeros((len(session.names), len(session.names)), dtype=np.float32)
        lengths[np.ix_(at, at)] = leaf_distances(trees[0])
        return self._on_device(lengths)

    def _shuffled(self, session: _Session) -> torch.Tensor | None:
        if session.start is None or not session.settings.permute:
            return None
        return self._on_device((1 - session.start.probability[session.preparation.kept]).astype(np.float32))

    def _draws(self, session: _Session) -> BrownianDraws | None:
        if not session.settings.draws:
            return None
        if session.start is None or session.start.tree is None:
            raise ValueError(
                f"draws={session.settings.draws} came without a tree to draw along. Use gate_start='heritable', which "
                "makes one, or draws=0."
            )
        preparation = session.preparation
        heritability = session.start.weights[preparation.kept]
        scale = preparation.scale / preparation.unit
        return brownian_draws(session.start.tree, session.names, heritability, scale, self.device)

    def _on_device(self, values: NDArray[np.float32]) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(values)).to(self.device)


def _kept(values: NDArray[np.float64], start: Start | None) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Numbers of the features that the network is shown, and what each is multiplied by."""
    varied = np.ptp(values, axis=0) > 0
    if start is None:
        kept = np.flatnonzero(varied)
        return kept, np.ones(len(kept))
    chosen = varied & (start.probability > 0.5)
    if chosen.sum() < min(_LEAST_KEPT, varied.sum()):  # nothing is left to learn from without any
        best = np.argsort(-np.where(varied, start.probability, -1.0), kind="stable")[:_LEAST_KEPT]
        chosen = np.isin(np.arange(len(varied)), best) & varied
    kept = np.flatnonzero(chosen)
    return kept, np.sqrt(np.maximum(start.weights[kept], 1e-3))


def _drawing(trees: tuple[Tree, ...], names: tuple[str, ...]) -> Draw:
    """How quartets are drawn: of what is known, or any."""
    if not trees:
        n = len(names)
        return lambda count, rng: unrank_quartets(rng.integers(comb(n, 4), size=count), n)
    known = KnownQuartets(trees, names)
    return lambda count, rng: known.sample(count, seed=rng).leaves


def _mark(provenance: Provenance, trees: Sequence[Tree], tables: Mapping[str, Table]) -> str:
    """What tells a training from every other: data, prior, settings, seed, versions and what is watched."""
    digest = hashlib.sha256()
    for part in (
        provenance.data_hash,
        json.dumps(dict(provenance.settings), sort_keys=True, default=str),
        str(provenance.seed),
        json.dumps(dict(provenance.versions), sort_keys=True),
        *(format_newick(tree) for tree in trees),
    ):
        digest.update(part.encode() + b"\0")
    for name, table in sorted(tables.items()):
        digest.update(f"{name} {table.leaves} {table.truth and format_newick(table.truth)}".encode())
        digest.update(np.ascontiguousarray(table.values).data)
    return digest.hexdigest()


def _columns(history: Sequence[Mapping[str, float]]) -> dict[str, list[float | None]]:
    names = list(dict.fromkeys(name for row in history for name in row))
    return {
        name: [None if (value := row.get(name)) is None or np.isnan(value) else float(value) for row in history]
        for name in names
    }


def _bar_title(progress: bool | None, number: int) -> str | None:
    if progress is False or (progress is None and not sys.stderr.isatty()):
        return None
    return {0: "training", 1: "choosing the number of steps", 2: "training"}[number]
