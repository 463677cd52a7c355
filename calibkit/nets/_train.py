"""The training loop: batches, losses, Adam, and the choice of the epoch whose weights are kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from calibkit._progress import track
from calibkit._result import read_only
from calibkit.nets import _losses
from calibkit.nets._layers import draw_weights, forward
from calibkit.nets._torch import on_processor, one_thread, shuffled, torch_generator
from calibkit.nets.history import TrainingHistory, measure

FloatMatrix = NDArray[np.float32]
# Rows at a time for predictions: the working set stays small.
_ROWS = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How to train: checked settings of a `NetClassifier`."""

    layers: Sequence[Any]
    loss: str
    strength: float
    weight_decay: float
    epochs: int
    batch_size: int
    learning_rate: float
    stop: str
    keep_logits: bool
    progress: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Features, and labels as numbers of classes."""

    x: FloatMatrix
    label: NDArray[np.intp]


def train(
    recipe: Recipe, rows: Rows, validation: Rows | None, rng: np.random.Generator
) -> tuple[list[FloatMatrix], TrainingHistory]:
    """Return the weights of the chosen epoch, and what happened on the way.

    Every random number comes from `rng`: initial weights and the order of rows through a
    generator of torch that is seeded by it, the weights of MixUp directly.
    """
    with one_thread() as torch, torch.enable_grad():
        generator = torch_generator(int(rng.integers(2**62)))
        weights = draw_weights(recipe.layers, generator)
        for weight in weights:
            weight.requires_grad_()
        # Adam, Kingma and Ba (2015); its decay stands apart: Loshchilov and Hutter (2019).
        optimiser = torch.optim.AdamW(
            weights, lr=recipe.learning_rate, weight_decay=recipe.weight_decay
        )
        x = on_processor(rows.x)
        target = _losses.one_hot(on_processor(rows.label), recipe.layers[-1][0])
        if recipe.loss == "label-smoothing":
            target = _losses.smooth(target, recipe.strength)
        log = _Log(recipe, validation)
        epochs = range(1, recipe.epochs + 1)
        for epoch in track(epochs, recipe.epochs, show=recipe.progress, label="epochs"):
            losses = []
            order = shuffled(len(x), generator)
            for part in order.split(recipe.batch_size):
                loss = _loss(recipe, weights, (x[part], target[part]), (generator, rng))
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                losses.append((loss.detach(), len(part)))
            train_loss = sum(float(value) * count for value, count in losses) / len(x)
            if not all(bool(torch.isfinite(weight).all()) for weight in weights):
                _report_divergence(epoch)
            log.note(epoch, train_loss, weights)
        return log.result()


def _report_divergence(epoch: int) -> NoReturn:
    raise ValueError(
        f"Training diverged: in epoch {epoch} a weight is no finite number any more. Use a smaller "
        "learning_rate, and bring the features to a spread of about 1."
    )


def _loss(recipe: Recipe, weights: list[Any], batch: tuple[Any, Any], source: Any) -> Any:
    x, target = batch
    generator, rng = source
    if recipe.loss == "mixup" and recipe.strength > 0:
        order = shuffled(len(x), generator)
        x, target = _losses.mix(x, target, rng.beta(recipe.strength, recipe.strength), order)
    logits = forward(weights, x)
    if recipe.loss == "focal":
        return _losses.focal(logits, target, recipe.strength)
    return _losses.cross_entropy(logits, target)


class _Log:
    """Measurements after each epoch, and the best weights so far."""

    def __init__(self, recipe: Recipe, validation: Rows | None):
        self.recipe, self.validation = recipe, validation
        self.table: list[tuple[float, ...]] = []
        self.logits: list[FloatMatrix] = []
        self.best = float("inf")
        self.chosen = 0
        self.kept: list[FloatMatrix] = []

    def note(self, epoch: int, train_loss: float, weights: list[Any]) -> None:
        """Measure, and keep the weights if they are the best ones or the last."""
        found: tuple[float, ...] = (np.nan,) * 5
        if self.validation is not None:
            logits = predict_logits(weights, self.validation.x, precise=False)
            found = measure(logits, self.validation.label)
            if self.recipe.keep_logits:
                self.logits.append(logits)
        self.table.append((train_loss, *found))
        loss = {"loss": found[1], "refined": found[4]}.get(self.recipe.stop, -float(epoch))
        if loss < self.best:
            self.best, self.chosen = loss, epoch
            self.kept = [weight.detach().numpy().copy() for weight in weights]

    def result(self) -> tuple[list[FloatMatrix], TrainingHistory]:
        """Return the kept weights and the history."""
        columns = [read_only(column) for column in np.array(self.table, dtype=np.float64).T]
        kept = bool(self.logits) and self.validation is not None
        return self.kept, TrainingHistory(
            epoch=read_only(np.arange(1, len(self.table) + 1)),
            train_loss=columns[0],
            accuracy=columns[1],
            log_loss=columns[2],
            calibration_error=columns[3],
            temperature=columns[4],
            refined_log_loss=columns[5],
            stop=self.recipe.stop,
            chosen_epoch=self.chosen,
            n_validation=0 if self.validation is None else len(self.validation.x),
            logits=read_only(np.stack(self.logits)) if kept else None,
            labels=read_only(self.validation.label) if kept and self.validation else None,
        )


def predict_logits(weights: Sequence[Any], x: FloatMatrix, *, precise: bool = True) -> FloatMatrix:
    """Return logits as float32, computed in double precision or, quicker, in single precision.

    Sums in double precision make the rounded result independent of which other rows there are.
    """
    with one_thread() as torch, torch.no_grad():
        kind = torch.float64 if precise else torch.float32
        cast = [torch.as_tensor(weight, device="cpu").detach().to(kind) for weight in weights]
        parts = [
            forward(cast, on_processor(x[start : start + _ROWS]).to(kind)).float().numpy()
            for start in range(0, len(x), _ROWS)
        ]
    return np.concatenate(parts)
