"""Networks and tables of lesson 10: the one behind the thermostat is trained once per session."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.errors import expected_calibration_error
from calibkit.multiclass import TemperatureScaling
from calibkit.scores import log_loss

EPOCHS = 60
_ROWS = 1500
_SEED = 10


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Followed:
    """Logits of held-out rows after each epoch of a training."""

    logits: NDArray[np.float32]  # after epoch 1 to E: (E, n, K)
    labels: NDArray[np.int64]  # 0 .. K-1


@lru_cache(maxsize=1)
def followed_network() -> Followed:
    """Train a small network on 1,500 signals and follow it on 2,000 others.

    It takes some seconds, and is kept in memory.
    """
    from calibkit import nets

    data = nets.mnist1d()
    net = nets.NetClassifier(epochs=EPOCHS, keep_logits=True, rng=_SEED)
    net.fit(
        data.train_x[:_ROWS],
        data.train_y[:_ROWS],
        validation=(data.validation_x, data.validation_y),
    )
    history = net.history_
    assert history.logits is not None and history.labels is not None  # asked for above
    return Followed(logits=history.logits, labels=history.labels)


def table(head: str, form: str, rows: Iterable[Sequence[Any]]) -> str:
    """Return a head and one line per row, each in the given form."""
    return "\n".join([head, *(form.format(*row) for row in rows)])


def epochs(history: Any, which: Iterable[int]) -> str:
    """Return a table of a training: accuracy, log loss, ECE, T, log loss after scaling."""
    names = "accuracy", "log_loss", "calibration_error", "temperature", "refined_log_loss"
    rows = [(k, *(getattr(history, name)[k - 1] for name in names)) for k in which]
    head = "epoch  accuracy  log loss    ECE     T  log loss after scaling"
    return table(head, "{:>5} {:>9.2f} {:>9.2f} {:>6.2f} {:>5.2f} {:>23.2f}", rows)


def measured(prob: Any, label: Any) -> tuple[float, float, float]:
    """Return the ECE of the confidence, its null level, and the log loss."""
    error = expected_calibration_error(label, prob, view="top-label")
    return error.value, error.null_mean, log_loss(label, prob).value


def _cooled(model: Any, split: Any) -> tuple[TemperatureScaling, Any]:
    """Fit T to the validation rows; return it, and the scaled test predictions."""
    scaling = TemperatureScaling("logits")
    scaling.fit(model.logits(split.validation_x), split.validation_y)
    return scaling, scaling.calibrate(model.logits(split.test_x))


def row(model: Any, split: Any) -> tuple[float, ...]:
    """Measure a network: accuracy, ECE, log loss, T; scaled: ECE, its null level, log loss."""
    raw, (scaling, scaled) = model.predict_proba(split.test_x), _cooled(model, split)
    accuracy = float(np.mean(raw.argmax(axis=1) == split.test_y))
    ece, _, loss = measured(raw, split.test_y)
    return accuracy, ece, loss, scaling.temperature_, *measured(scaled, split.test_y)


def compared(rows: Mapping[str, Sequence[float]]) -> str:
    """Return a table of networks, each as measured by `row`."""
    head = (
        "                          as trained         after temperature scaling\n"
        "training             accuracy    ECE  loss      T    ECE (null)   loss"
    )
    form = "{:20} {:>8.2f} {:>6.3f} {:>5.2f} {:>6.2f} {:>6.3f}  {:.3f} {:>6.2f}"
    return table(head, form, [(name, *numbers) for name, numbers in rows.items()])


def gap(one: Any, other: Any, split: Any) -> tuple[float, float]:
    """Return how far the other is ahead in log loss after scaling, and its standard error."""
    place = np.arange(len(split.test_y)), split.test_y
    ahead = np.log(_cooled(other, split)[1][place]) - np.log(_cooled(one, split)[1][place])
    return float(ahead.mean()), float(ahead.std(ddof=1) / np.sqrt(len(ahead)))
