"""What happened while a network was trained, epoch by epoch."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibkit._result import Result, spell
from calibkit.errors import expected_calibration_error
from calibkit.multiclass.temperature import fit_slope

_BOUNDS = 1e-6, 1e6  # of 1/T, as in TemperatureScaling
MEASURED = (
    *("train_loss", "accuracy", "log_loss"),
    *("calibration_error", "temperature", "refined_log_loss"),
)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class TrainingHistory(Result):
    """One row per epoch; all but the training loss is measured on the validation data.

    Parameters
    ----------
    epoch, train_loss : ndarray of shape (E,)
        1 to E; mean over the epoch of the loss that was asked for, in nats; different losses do not
        compare.
    accuracy, log_loss, calibration_error : ndarray of shape (E,)
        Share of right predictions; log loss in nats; top-label ECE, 15 bins of equal width.
    temperature, refined_log_loss : ndarray of shape (E,)
        The temperature of least log loss (above 1: over-confident), and the log loss after scaling
        with it, never above `log_loss`.
    stop, chosen_epoch, n_validation : str, int, int
        The rule that chose the epoch, and the epoch whose weights were kept; validation rows, with
        0 the columns measured there are NaN.
    logits, labels : ndarray of shape (E, n_validation, K), (n_validation,), or None
        Validation logits after each epoch, and labels, where they were asked for.

    Notes
    -----
    Between the epoch of least `log_loss` and that of least `refined_log_loss` the network still
    learns to tell the classes apart, while it grows over-confident; temperature scaling repairs the
    second. Guo, Pleiss, Sun and Weinberger (2017) section 3. Taught in lesson 10.
    """

    epoch: NDArray[np.int64]
    train_loss: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    log_loss: NDArray[np.float64]
    calibration_error: NDArray[np.float64]
    temperature: NDArray[np.float64]
    refined_log_loss: NDArray[np.float64]
    stop: str
    chosen_epoch: int
    n_validation: int
    logits: NDArray[np.float32] | None = None
    labels: NDArray[np.int64] | None = None

    def describe(self) -> str:
        """Say how long the training was, which epoch was kept and what it was worth."""
        text = f"{spell(len(self.epoch), 'epoch')}, weights of epoch {self.chosen_epoch} kept"
        if self.n_validation == 0:
            return f"{text}; no validation data."
        row = self.chosen_epoch - 1
        return (
            f"{text}: accuracy {self.accuracy[row]:.3f}, log loss {self.log_loss[row]:.3f}, "
            f"{self.refined_log_loss[row]:.3f} after temperature scaling "
            f"(T = {self.temperature[row]:.2f}), expected calibration error "
            f"{self.calibration_error[row]:.3f} (top label, 15 bins of equal width), on "
            f"{spell(self.n_validation, 'validation row')}."
        )

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        return {name: getattr(self, name) for name in ("epoch", *MEASURED)}


def measure(logits: NDArray[np.float32], label: NDArray[np.intp]) -> tuple[float, ...]:
    """Return accuracy, log loss, calibration error, temperature and refined log loss."""
    table, row = logits.astype(np.float64), np.arange(len(label))
    slope = fit_slope(logits, label, *_BOUNDS).slope
    prob = special.softmax(table, axis=1)
    return (
        float(np.mean(logits.argmax(axis=1) == label)),
        -float(special.log_softmax(table, axis=1)[row, label].mean()),
        float(expected_calibration_error(label, prob, view="top-label")),
        1 / slope,
        -float(special.log_softmax(table * slope, axis=1)[row, label].mean()),
    )
