"""The training loop: layers, losses, Adam, and the choice of the epoch whose weights are kept."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit._progress import track
from calibkit._result import read_only
from calibkit.nets._torch import need_torch, on_processor, one_thread
from calibkit.nets.history import MEASURED, TrainingHistory, measure

FloatMatrix = NDArray[np.float32]
# Rows at a time for predictions: the working set stays small.
_ROWS = 2048
ARCHITECTURES = ("mlp", "cnn")
_KERNEL, _STRIDE = 5, 2
# The usual strength of each loss, and the value that it must stay below.
LOSSES = {
    "cross-entropy": (0.0, float("inf")),
    "label-smoothing": (0.1, 1.0),
    "focal": (3.0, float("inf")),
    "mixup": (0.4, float("inf")),
}


def shapes(architecture: str, n_inputs: int, hidden: Sequence[int], n_classes: int) -> list[Any]:
    """Return the weight shapes: (outputs, inputs) or (channels out, channels in, kernel)."""
    if architecture == "mlp":
        sizes = [n_inputs, *hidden, n_classes]
        return [(out, inputs) for inputs, out in zip(sizes[:-1], sizes[1:], strict=True)]
    channels, length = [1, *hidden], n_inputs
    for _ in hidden:
        length = (length + _STRIDE - 1) // _STRIDE
    layers: list[Any] = [
        (out, inputs, _KERNEL) for inputs, out in zip(channels[:-1], channels[1:], strict=True)
    ]
    return [*layers, (n_classes, channels[-1] * length)]


def draw_weights(layers: Sequence[Any], generator: Any) -> list[Any]:
    """Draw weights and biases uniformly within 1 / sqrt(number of inputs), layer by layer."""
    torch = need_torch()
    weights = []
    for shape in layers:
        bound = math.prod(shape[1:]) ** -0.5
        for part in (shape, shape[:1]):
            weight = torch.empty(part, dtype=torch.float32, device="cpu")
            weights.append(weight.uniform_(-bound, bound, generator=generator))
    return weights


def forward(weights: Sequence[Any], x: Any) -> Any:
    torch = need_torch()
    functional = torch.nn.functional
    if weights[0].ndim == 3:
        x = x[:, None, :]
    for weight, bias in zip(weights[0:-2:2], weights[1:-2:2], strict=True):
        if weight.ndim == 3:
            x = functional.conv1d(x, weight, bias, stride=_STRIDE, padding=_KERNEL // 2)
        else:
            x = functional.linear(x, weight, bias)
        x = torch.relu(x)
    return functional.linear(x.flatten(1), weights[-2], weights[-1])


def one_hot(label: Any, n_classes: int) -> Any:
    return need_torch().nn.functional.one_hot(label, n_classes).float()


def smooth(target: Any, share: float) -> Any:
    return (1 - share) * target + share / target.shape[1]


def mix(x: Any, target: Any, weight: float, order: Any) -> tuple[Any, Any]:
    """Return ``weight`` times each row plus the rest of another row; of targets the same."""
    rest = 1 - weight
    return weight * x + rest * x[order], weight * target + rest * target[order]


def cross_entropy(logits: Any, target: Any) -> Any:
    return -(target * logits.log_softmax(1)).sum(1).mean()


def focal(logits: Any, target: Any, gamma: float) -> Any:
    log_p = logits.log_softmax(1)
    rest = -need_torch().expm1(log_p)
    return -(target * rest**gamma * log_p).sum(1).mean()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
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
    x: FloatMatrix
    label: NDArray[np.intp]


def train(
    recipe: Recipe, rows: Rows, validation: Rows | None, rng: np.random.Generator
) -> tuple[list[FloatMatrix], TrainingHistory]:
    """Return the weights of the chosen epoch, and what happened; all chance comes from `rng`."""
    with one_thread() as torch, torch.enable_grad():
        generator = torch.Generator("cpu").manual_seed(int(rng.integers(2**62)))
        weights = draw_weights(recipe.layers, generator)
        for weight in weights:
            weight.requires_grad_()
        # Adam, Kingma and Ba (2015); its decay stands apart: Loshchilov and Hutter (2019).
        optimiser = torch.optim.AdamW(
            weights, lr=recipe.learning_rate, weight_decay=recipe.weight_decay
        )
        x = on_processor(rows.x)
        target = one_hot(on_processor(rows.label), recipe.layers[-1][0])
        if recipe.loss == "label-smoothing":
            target = smooth(target, recipe.strength)
        log = _Log(recipe, validation)
        epochs = range(1, recipe.epochs + 1)
        for epoch in track(epochs, recipe.epochs, show=recipe.progress, label="epochs"):
            losses = []
            order = torch.randperm(len(x), generator=generator, device="cpu")
            for part in order.split(recipe.batch_size):
                loss = _loss(recipe, weights, (x[part], target[part]), (generator, rng))
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                losses.append((loss.detach(), len(part)))
            train_loss = sum(float(value) * count for value, count in losses) / len(x)
            if not all(bool(torch.isfinite(weight).all()) for weight in weights):
                raise ValueError(
                    f"Training diverged: in epoch {epoch} a weight is no finite number any more. "
                    "Use a smaller learning_rate, and bring the features to a spread of about 1."
                )
            log.note(epoch, train_loss, weights)
        return log.result()


def _loss(recipe: Recipe, weights: list[Any], batch: tuple[Any, Any], source: Any) -> Any:
    x, target = batch
    generator, rng = source
    if recipe.loss == "mixup" and recipe.strength > 0:
        order = need_torch().randperm(len(x), generator=generator, device="cpu")
        x, target = mix(x, target, rng.beta(recipe.strength, recipe.strength), order)
    logits = forward(weights, x)
    if recipe.loss == "focal":
        return focal(logits, target, recipe.strength)
    return cross_entropy(logits, target)


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
        columns = np.array(self.table, dtype=np.float64).T
        kept = bool(self.logits) and self.validation is not None
        return self.kept, TrainingHistory(
            epoch=read_only(np.arange(1, len(self.table) + 1)),
            **{name: read_only(column) for name, column in zip(MEASURED, columns, strict=True)},
            stop=self.recipe.stop,
            chosen_epoch=self.chosen,
            n_validation=0 if self.validation is None else len(self.validation.x),
            logits=read_only(np.stack(self.logits)) if kept else None,
            labels=read_only(self.validation.label) if kept and self.validation else None,
        )


def predict_logits(weights: Sequence[Any], x: FloatMatrix, *, precise: bool = True) -> FloatMatrix:
    """Return float32 logits; sums in double precision make them independent of the other rows."""
    with one_thread() as torch, torch.no_grad():
        kind = torch.float64 if precise else torch.float32
        cast = [torch.as_tensor(weight, device="cpu").detach().to(kind) for weight in weights]
        parts = [
            forward(cast, on_processor(x[start : start + _ROWS]).to(kind)).float().numpy()
            for start in range(0, len(x), _ROWS)
        ]
    return np.concatenate(parts)
