"""A small convolutional network, the step that trains it, and the loop around the step."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.inputs import as_choice, as_count, as_finite, data_generator
from calibkit_course.lesson10.nets._torch import need_torch, on_processor, one_thread
from calibkit_course.lesson10.nets.history import TrainingHistory, history_of, measure
from calibkit_course.lesson10.nets.images import SIDE, Split

FloatMatrix = NDArray[np.float32]
Step = Callable[[Any, Any, Any, Any], Any]
# The usual strength of each loss beside cross-entropy.
STRENGTH = {"label-smoothing": 0.1, "focal": 3.0, "mixup": 0.4}
LOSSES = ("cross-entropy", *STRENGTH)
BATCH, _RATE = 50, 0.001  # images of a step, and the learning rate
_ROWS = 500  # images at a time for predictions
_CLASSES = 10


def image_network(
    channels: Sequence[int] = (16, 32),
    hidden: int = 64,
    *,
    batch_norm: bool = False,
    rng: int | np.random.Generator | None = 0,
) -> Any:
    """Return a small network of our own, untrained: 56,970 weights.

    That of the hands-on session of Galdran and Riera is a ResNet18 for images of skin (DermaMNIST),
    too large to be trained within a lesson. Two convolutions of stride 2 (5 x 5 and 3 x 3), one
    hidden layer, ten logits; ReLU in between: images of shape (n, 1, 28, 28) become logits of shape
    (n, 10). With `batch_norm` a batch normalisation follows each convolution (Ioffe and Szegedy,
    2015). `rng` draws the weights.
    """
    torch = need_torch()
    if len(channels) != 2:
        raise ValueError(f"channels must be two whole numbers, got {channels!r}.")
    first, second = (as_count(size, f"channels[{k}]") for k, size in enumerate(channels))
    units, nn, made = as_count(hidden, "hidden"), torch.nn, []
    kind = {"device": "cpu", "dtype": torch.float32}
    seed = int(data_generator(rng).integers(2**62))
    with torch.random.fork_rng(devices=[]):  # the caller's generator stays as it was
        torch.manual_seed(seed)
        for inputs, outputs, width in ((1, first, 5), (first, second, 3)):
            made.append(nn.Conv2d(inputs, outputs, width, stride=2, **kind))
            made += [nn.BatchNorm2d(outputs, **kind)] if batch_norm else []
            made.append(nn.ReLU())
        made += [nn.Flatten(), nn.Linear(25 * second, units, **kind), nn.ReLU()]
        return nn.Sequential(*made, nn.Linear(units, _CLASSES, **kind))


def training_step(network: Any, optimiser: Any, images: Any, labels: Any) -> float:
    """Move the weights once, against the slope of the cross-entropy; return the loss before.

    Forward, loss, backward, step, on tensors of shape (n, 1, 28, 28) and (n,). The hands-on session
    of Galdran and Riera.
    """
    loss = need_torch().nn.functional.cross_entropy(network(images), labels)
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    return float(loss.detach())


def train_network(
    network: Any,
    split: Split,
    *,
    step: Step | None = None,
    loss: str = "cross-entropy",
    strength: float | None = None,
    weight_decay: float = 0.0,
    epochs: int = 40,
    keep_logits: bool = False,
    rng: int | np.random.Generator | None = 0,
) -> TrainingHistory:
    """Train a network on images by Adam, in place, and follow it on the validation images.

    A training whose weights are no finite numbers any more is a ValueError.

    Parameters
    ----------
    step : callable or None
        ``step(network, optimiser, images, labels)`` trains on one batch and returns its loss.
        None: the step of the loss that is named.
    loss : {"cross-entropy", "label-smoothing", "focal", "mixup"}
        Label smoothing spreads a share of each label, usually 0.1. The exponent of focal loss is
        usually 3, and the mixing weight of mixup from Beta(0.4, 0.4).
    strength : float or None
        That share, exponent or parameter; None: the usual one.
    weight_decay : float
        Decoupled weight decay, in units of the learning rate; 0.3 is much.
    keep_logits : bool
        Whether the history keeps the validation logits of each epoch.
    rng : int, numpy.random.Generator or None
        Source of the order of images and of mixing weights.

    Notes
    -----
    A network with more weights than images ends up right about those it learnt from and far too
    sure about others. Guo, Pleiss, Sun and Weinberger (2017); Szegedy et al. (2016); Zhang et al.
    (2018); Lin et al. (2017); Loshchilov and Hutter (2019).
    """
    source = data_generator(rng)
    chosen = _step_of(loss, source, strength)
    decay, count = as_finite(weight_decay, "weight_decay", 0), as_count(epochs, "epochs")
    rows: list[tuple[float, ...]] = []
    kept: list[FloatMatrix] = []
    with one_thread() as torch, torch.enable_grad():
        optimiser = torch.optim.AdamW(network.parameters(), lr=_RATE, weight_decay=decay)
        x, y = _tensor(split.train_x), on_processor(split.train_y)
        for epoch in range(1, count + 1):
            order = on_processor(source.permutation(len(y)))
            batches = [(x[part], y[part]) for part in order.split(BATCH)]
            train_loss = _epoch(network, optimiser, step or chosen, batches)
            _check_weights(network, epoch)
            logits = logits_of(network, split.validation_x)
            rows.append((train_loss, *measure(logits, split.validation_y)))
            kept += [logits] if keep_logits else []
    return history_of(rows, split.validation_y, kept)


def _epoch(network: Any, optimiser: Any, step: Step, batches: list[tuple[Any, Any]]) -> float:
    """Train on each batch once; return the mean loss of an image."""
    network.train()
    total = 0.0
    for images, labels in batches:
        value = step(network, optimiser, images, labels)
        total += len(labels) * float(value.detach() if hasattr(value, "detach") else value)
    return total / sum(len(labels) for _, labels in batches)


def _check_weights(network: Any, epoch: int) -> None:
    if not all(bool(weight.isfinite().all()) for weight in network.parameters()):
        raise ValueError(
            f"Training diverged: in epoch {epoch} a weight is no finite number any more. Look "
            "at the step, and begin with a new network."
        )


def logits_of(network: Any, images: Any) -> FloatMatrix:
    """Return the logits of images of shape (n, 28, 28), float32 of shape (n, 10)."""
    with one_thread() as torch, torch.no_grad():
        network.eval()
        parts = [
            network(_tensor(images[start : start + _ROWS])).numpy()
            for start in range(0, len(images), _ROWS)
        ]
    return np.concatenate(parts)


def _tensor(images: Any) -> Any:
    found = np.asarray(images, dtype=np.float32)
    if found.ndim != 3 or found.shape[1:] != (SIDE, SIDE):
        raise ValueError(f"images must have shape (n, {SIDE}, {SIDE}), got {found.shape}.")
    return on_processor(found[:, np.newaxis])


def _step_of(loss: str, rng: np.random.Generator, strength: float | None) -> Step:
    """Return the training step of a loss."""
    if as_choice(loss, "loss", LOSSES) == "cross-entropy":
        return training_step
    amount = STRENGTH[loss] if strength is None else as_finite(strength, "strength", 0)

    def step(network: Any, optimiser: Any, images: Any, labels: Any) -> float:
        value = _LOSS[loss](network, images, labels, amount, rng)
        optimiser.zero_grad()
        value.backward()
        optimiser.step()
        return float(value.detach())

    return step


def smoothed(network: Any, images: Any, labels: Any, share: float, rng: Any) -> Any:
    """Szegedy et al. (2016): a share of each label is spread over all classes."""
    entropy = need_torch().nn.functional.cross_entropy
    return entropy(network(images), labels, label_smoothing=share)


def focal(network: Any, images: Any, labels: Any, gamma: float, rng: Any) -> Any:
    """Lin et al. (2017): ``-(1 - p)^gamma ln p``, which gives less weight to what is right."""
    log_p = network(images).log_softmax(1).gather(1, labels[:, None])
    return -((-need_torch().expm1(log_p)) ** gamma * log_p).mean()


def mixed(network: Any, images: Any, labels: Any, alpha: float, rng: Any) -> Any:
    """Zhang et al. (2018): images and labels are mixed with those of another order."""
    entropy = need_torch().nn.functional.cross_entropy
    share, order = float(rng.beta(alpha, alpha)), on_processor(rng.permutation(len(labels)))
    logits = network(share * images + (1 - share) * images[order])
    return share * entropy(logits, labels) + (1 - share) * entropy(logits, labels[order])


_LOSS: dict[str, Callable[..., Any]] = {"label-smoothing": smoothed, "focal": focal, "mixup": mixed}
