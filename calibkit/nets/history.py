"""What happened while a network was trained, epoch by epoch."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit._result import Result, spell
from calibkit.errors import expected_calibration_error
from calibkit.multiclass._cooling import fit_slope
from calibkit.multiclass._scores import log_softmax, softmax

# 1/T stays in these bounds, as in TemperatureScaling.
_LOWEST, _HIGHEST = 1e-6, 1e6
_COLUMNS = (
    "epoch",
    "train_loss",
    "accuracy",
    "log_loss",
    "calibration_error",
    "temperature",
    "refined_log_loss",
)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class TrainingHistory(Result):
    """One row per epoch; all but the training loss is measured on the validation data.

    Parameters
    ----------
    epoch : ndarray of int, shape (E,)
        1 to E.
    train_loss : ndarray of shape (E,)
        Mean of the training loss over the batches of the epoch, in nats. It is the loss that
        was asked for, so those of different losses do not compare.
    accuracy : ndarray of shape (E,)
        Share of right predictions after the epoch, in [0, 1].
    log_loss : ndarray of shape (E,)
        Log loss in nats.
    calibration_error : ndarray of shape (E,)
        Expected calibration error of the top label, 15 bins of equal width.
    temperature : ndarray of shape (E,)
        The temperature of least log loss. Above 1: over-confident.
    refined_log_loss : ndarray of shape (E,)
        Log loss after scaling with that temperature, never above `log_loss`.
    stop : str
        The rule that chose the epoch.
    chosen_epoch : int
        The epoch whose weights were kept.
    n_validation : int
        Rows of the validation data; with 0 the columns measured there are NaN.
    logits : ndarray of float32, shape (E, n_validation, K), or None
        Validation logits after each epoch, where they were asked for.
    labels : ndarray of int, shape (n_validation,), or None
        Validation labels as numbers of classes, where logits were asked for.

    Notes
    -----
    Between the epoch of least `log_loss` and that of least `refined_log_loss` the network still
    learns to tell the classes apart, while it grows over-confident; temperature scaling repairs
    the second. Guo, Pleiss, Sun and Weinberger (2017) section 3. Taught in lesson 10.
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
        return {name: getattr(self, name) for name in _COLUMNS}


def measure(logits: NDArray[np.float32], label: NDArray[np.intp]) -> tuple[float, ...]:
    """Return accuracy, log loss, calibration error, temperature and refined log loss."""
    log_prob = log_softmax(logits)
    slope = fit_slope(logits, label, _LOWEST, _HIGHEST).slope
    refined = log_softmax(logits.astype(np.float64) * slope)
    row = np.arange(len(label))
    return (
        float(np.mean(logits.argmax(axis=1) == label)),
        -float(log_prob[row, label].mean()),
        float(expected_calibration_error(label, softmax(logits), view="top-label")),
        1 / slope,
        -float(refined[row, label].mean()),
    )
