"""The training loop: quartets drawn afresh at each step, looks, checkpoints, and the best parameters at the end."""

from __future__ import annotations

import hashlib
import logging
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from tqdm.auto import tqdm

from ._checkpoints import read_checkpoint, write_checkpoint
from ._draws import BrownianDraws
from ._gates import GumbelGate
from ._looks import Watch, better, check_finite, embedded_points
from ._losses import pairwise_distances
from ._network import FlatParameters, Network
from ._objective import Objective, Parts
from ._settings import Settings

__all__ = ["Draw", "Trained", "Training", "train"]

_log = logging.getLogger(__name__)

Draw = Callable[[int, np.random.Generator], NDArray[np.int32]]

_BLOCK = 64  # steps whose quartets are drawn at once and sent to the device together
_WRITE_EVERY = 20.0  # seconds between checkpoints


@dataclass(frozen=True, eq=False, kw_only=True)
class Training:
    """What :func:`train` needs.

    Parameters
    ----------
    settings
        All numbers.
    network
        With its first parameters, on its device.
    inputs
        float32[n, r], the set of leaves that it is trained on.
    objective
        The loss.
    draw
        ``(count, generator) -> int32[count, 4]``, quartets of the set, all ``ab|cd``.
    seed
        Of all that is drawn in training.
    generator
        The one that network and augmentation draw from; seeded anew at each step.
    permute
        float32[r], the probability with which a column is shuffled across leaves at a step, or None.
    synthetic, synthetic_draw
        Features drawn along a tree, which take the place of the inputs in a share ``settings.draws`` of the steps, and
        how quartets of that tree are drawn; or None.
    watches
        What is looked at every ``settings.look_every`` steps and at the end.
    criterion
        Names of the columns of a look that choose the best parameters, the one that counts most first; empty takes the
        last.
    stop
        After how many steps to stop; the rates are those of ``settings.steps`` all the same.
    checkpoint
        A file to carry on from, and to write now and then; None for none.
    mark
        What run this is: a checkpoint of another is refused.
    progress
        Words for the progress bar, or None for no bar.
    """

    settings: Settings
    network: Network
    inputs: Tensor
    objective: Objective
    draw: Draw
    seed: int
    generator: torch.Generator
    permute: Tensor | None = None
    synthetic: BrownianDraws | None = None
    synthetic_draw: Draw | None = None
    watches: Sequence[Watch] = ()
    criterion: Sequence[str] = ()
    stop: int | None = None
    checkpoint: Path | None = None
    mark: str = ""
    progress: str | None = None
    amp: bool = False


@dataclass(eq=False)
class Trained:
    """What came of it; the network has the chosen parameters.

    Parameters
    ----------
    history
        A row for each look: ``step``, the parts of the loss (means since the look before), ``selected`` features and
        what the watches found.
    step
        After how many steps the chosen parameters were reached.
    ended
        "completed", "patience", "interrupted" or "diverged".
    by_leaf
        For each look the share of quartets that are wrong, leaf by leaf, of a watch that counts them so.
    gate_changes
        int[steps], how many features went on or off at each step.
    """

    history: list[dict[str, float]] = field(default_factory=list)
    step: int = 0
    ended: str = "completed"
    by_leaf: list[list[float]] = field(default_factory=list)
    gate_changes: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


def train(training: Training) -> Trained:
    """Train until the steps are done, nothing improves for ``settings.patience`` looks, or Ctrl-C.

    Whatever is drawn at a step comes from the seed and the number of the step alone; a run that carries on from a
    checkpoint is therefore the run that was never stopped.
    """
    return _Loop(training).run()


class _Loop:
    def __init__(self, training: Training) -> None:
        self.training = training
        self.settings = training.settings
        self.network = training.network
        self.parameters = FlatParameters.of(self.network)
        self.steps = self.settings.steps if training.stop is None else min(training.stop, self.settings.steps)
        rates = (self.settings.gate_learning_rate, self.settings.learning_rate)
        self.rates = rates
        self.optimizer = torch.optim.AdamW(
            [
                {"params": [vector], "lr": rate, "weight_decay": decay}
                for vector, rate, decay in zip(
                    (self.parameters.gate, self.parameters.encoder),
                    rates,
                    (0.0, self.settings.weight_decay),
                    strict=True,
                )
            ],
            fused=True,
        )
        self.averaged = self.parameters.copy()
        self.best = self.parameters.copy()
        self.best_found: list[float] | None = None
        self.result = Trained()
        self.done = 0
        self.looks_without = 0
        self.changes = torch.zeros(self.settings.steps, dtype=torch.int64, device=training.inputs.device)
        self.sums = torch.zeros(len(Parts._fields), device=training.inputs.device)
        self.since = 0
        self.written = time.monotonic()
        self.blocks: dict[bool, tuple[int, Tensor]] = {kind: (-1, torch.empty(0)) for kind in (False, True)}
        self.gated = self.settings.gate in ("gumbel", "sigmoid")
        self.on = self.network.gate.selected()

    def run(self) -> Trained:
        self._resume()
        self.network.train()
        with tqdm(
            total=self.steps,
            initial=self.done,
            desc=self.training.progress,
            disable=self.training.progress is None,
            delay=2,
            leave=False,
        ) as bar:
            try:
                if not self.done:
                    self._look(bar)
                while self.done < self.steps and self.result.ended == "completed":
                    self._step()
                    bar.update()
                    if self.done % self.settings.look_every == 0 or self.done == self.steps:
                        self._look(bar)
                        self._write(final=self.done == self.steps or self.result.ended != "completed")
            except KeyboardInterrupt:
                self.result.ended = "interrupted"
                _log.warning(
                    "Training was interrupted after %d of %d steps; the best parameters until then are kept.",
                    self.done,
                    self.steps,
                )
        return self._conclude()

    def _step(self) -> None:
        settings, training = self.settings, self.training
        training.generator.manual_seed(_mixed(training.seed, self.done))
        rate = _rate(self.done, settings)
        for group, whole in zip(self.optimizer.param_groups, self.rates, strict=True):
            group["lr"] = whole * rate
        if isinstance(self.network.gate, GumbelGate):
            first, last = settings.temperature
            self.network.gate.temperature = first * (last / first) ** (self.done / max(1, settings.steps - 1))
        made_up = training.synthetic is not None and _falls(self.done, settings.draws)
        quartets = self._quartets(made_up)
        inputs = training.synthetic(training.generator) if made_up and training.synthetic else self._augmented()
        original = pairwise_distances(inputs) * training.objective.unit if made_up else None
        for gradient in self.parameters.gradients:
            gradient.zero_()
        with torch.autocast(inputs.device.type, enabled=training.amp):
            embedded = self.network(inputs)
        embedded = embedded._replace(points=embedded.points.float(), gated=embedded.gated.float())
        parts = training.objective(embedded, quartets, original)
        torch.autograd.backward(parts.loss)
        with torch.no_grad():
            if settings.clip:
                norm = torch.stack([torch.linalg.vector_norm(part) for part in self.parameters.gradients]).norm()
                for gradient in self.parameters.gradients:
                    gradient.mul_((settings.clip / (norm + 1e-12)).clamp(max=1.0))
            self.optimizer.step()
            self.sums += torch.stack([part.detach().float() for part in parts])
            self.since += 1
            if settings.weight_average:
                decay = min(settings.weight_average, (1 + self.done) / (10 + self.done))
                for mean, value in zip(self.averaged, self.parameters.copy(), strict=True):
                    mean.lerp_(value, 1 - decay) if mean.is_floating_point() else mean.copy_(value)
            if self.gated:
                on = self.network.gate.selected()
                self.changes[self.done] = (on != self.on).sum()
                self.on = on
        self.done += 1

    def _quartets(self, made_up: bool) -> Tensor:
        """int64[batch, 4], those of this step."""
        number, within = divmod(self.done, _BLOCK)
        batch = self.settings.batch
        if self.blocks[made_up][0] != number:
            rng = np.random.default_rng([self.training.seed, number, made_up])
            draw = self.training.synthetic_draw if made_up else self.training.draw
            rows = draw(_BLOCK * batch, rng)  # type: ignore[misc]
            self.blocks[made_up] = number, torch.from_numpy(rows.astype(np.int64)).to(self.training.inputs.device)
        return self.blocks[made_up][1][within * batch : (within + 1) * batch]

    def _augmented(self) -> Tensor:
        """The inputs, some columns shuffled across leaves and noise added."""
        inputs, generator = self.training.inputs, self.training.generator
        if self.training.permute is not None:
            n, r = inputs.shape
            shuffled = torch.rand(r, generator=generator, device=inputs.device) < self.training.permute
            columns = shuffled.nonzero().squeeze(1)
            order = torch.rand(n, len(columns), generator=generator, device=inputs.device).argsort(dim=0)
            inputs = inputs.clone()
            inputs[:, columns] = self.training.inputs[:, columns].gather(0, order)
        if self.settings.noise:
            scale = self.settings.noise * self.training.inputs.std(dim=0, correction=0)
            drawn = torch.randn(inputs.shape, generator=generator, device=inputs.device)
            inputs = inputs + drawn * scale
        return inputs

    def _look(self, bar: Any) -> None:
        current = self.parameters.copy()
        if self.settings.weight_average:
            self.parameters.set(self.averaged)
        found: dict[str, float] = {}
        shares: list[list[float]] = []
        try:
            inputs = self.training.inputs
            if not any(watch.inputs is inputs for watch in self.training.watches):
                check_finite(embedded_points(self.network, inputs))
            for watch in self.training.watches:
                numbers, by_leaf = watch.look(self.network)
                found |= numbers
                if by_leaf is not None:
                    shares.append(by_leaf.tolist())
            for vector in (self.parameters.gate, self.parameters.encoder):
                if not bool(torch.isfinite(vector).all()):
                    raise FloatingPointError("parameters are not finite")
        except FloatingPointError as problem:
            self.result.ended = "diverged"
            _log.warning("Training diverged at step %d (%s); the best parameters before are kept.", self.done, problem)
            return
        finally:
            chosen = self.parameters.copy()
            self.parameters.set(current)
        means = (self.sums / max(1, self.since)).tolist() if self.since else [float("nan")] * len(Parts._fields)
        self.sums.zero_()
        self.since = 0
        row = {"step": float(self.done), **dict(zip(Parts._fields, means, strict=True))}
        if self.gated:
            row["selected"] = float(self.network.gate.selected().sum())
        self.result.history.append(row | found)
        self.result.by_leaf += shares
        criterion = [found[name] for name in self.training.criterion if name in found]
        if not criterion or better(criterion, self.best_found):
            self.best, self.best_found, self.result.step = chosen, criterion or None, self.done
            self.looks_without = 0
        else:
            self.looks_without += 1
            if self.settings.patience is not None and self.looks_without >= self.settings.patience:
                self.result.ended = "patience"
        shown = {name: f"{value:.3f}" for name, value in found.items() if name.endswith("RF")}
        bar.set_postfix({"loss": f"{row['loss']:.3f}"} | shown, refresh=False)

    def _conclude(self) -> Trained:
        self.parameters.set(self.best)
        self.network.eval()
        self.result.gate_changes = self.changes[: self.done].cpu().numpy()
        return self.result

    def _write(self, *, final: bool) -> None:
        if self.training.checkpoint is None or not (final or time.monotonic() - self.written >= _WRITE_EVERY):
            return
        tensors = {"changes": self.changes}
        for kind, values in (("now", self.parameters.copy()), ("averaged", self.averaged), ("best", self.best)):
            tensors |= {f"{kind}.{i}": value for i, value in enumerate(values)}
        for i, state in self.optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{i}.{name}": value for name, value in state.items()}
        state = {
            "done": self.done,
            "best_found": self.best_found,
            "looks_without": self.looks_without,
            "history": self.result.history,
            "step": self.result.step,
            "ended": self.result.ended,
            "by_leaf": self.result.by_leaf,
        }
        write_checkpoint(self.training.checkpoint, self.training.mark, tensors, state)
        self.written = time.monotonic()

    def _resume(self) -> None:
        if self.training.checkpoint is None or not self.training.checkpoint.exists():
            return
        device = self.training.inputs.device
        tensors, state = read_checkpoint(self.training.checkpoint, self.training.mark)
        tensors = {name: value.to(device) for name, value in tensors.items()}
        counts = range(len(self.best))
        self.parameters.set([tensors[f"now.{i}"] for i in counts])
        self.averaged = tuple(tensors[f"averaged.{i}"] for i in counts)
        self.best = tuple(tensors[f"best.{i}"] for i in counts)
        self.changes = tensors["changes"]
        described = self.optimizer.state_dict()
        described["state"] = {
            i: {name.split(".")[2]: value for name, value in tensors.items() if name.startswith(f"optimizer.{i}.")}
            for i in (0, 1)
        }
        self.optimizer.load_state_dict(described)
        self.done, self.best_found = state["done"], state["best_found"]
        self.looks_without = state["looks_without"]
        self.result = Trained(state["history"], state["step"], state["ended"], state["by_leaf"])
        if self.gated:
            self.on = self.network.gate.selected()
        _log.info("Training carries on from step %d of %s.", self.done, self.training.checkpoint)


def _falls(step: int, share: float) -> bool:
    """Whether a step is one of a share of all, spread evenly."""
    return math.floor((step + 1) * share) > math.floor(step * share)


def _rate(step: int, settings: Settings) -> float:
    """The learning rate's factor: a short rise, then half a cosine to 0."""
    rise = min(1.0, (step + 1) / max(1, settings.warm_up))
    return rise * 0.5 * (1 + math.cos(math.pi * step / max(1, settings.steps)))


def _mixed(seed: int, step: int) -> int:
    """A seed for a step, unlike those of other steps and seeds."""
    digest = hashlib.blake2b(f"{seed} {step}".encode(), digest_size=7).digest()
    return int.from_bytes(digest, "big")
