"""What happened while a network was trained, epoch by epoch."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibkit.calibrators.linear import fit_slope
from calibkit.errors import expected_calibration_error
from calibkit.results import Described, read_only, spell

_BOUNDS = 1e-6, 1e6  # of 1/T, as in TemperatureScaling
MEASURED = (
    *("train_loss", "accuracy", "log_loss"),
    *("calibration_error", "temperature", "refined_log_loss"),
)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class TrainingHistory(Described):
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
    labels, logits : ndarray of shape (n_validation,), and (E, n_validation, K) or None
        Labels of the validation rows, and their logits after each epoch where they were asked for.

    Notes
    -----
    Between the epoch of least `log_loss` and that of least `refined_log_loss` the network still
    learns to tell the classes apart, while it grows over-confident; temperature scaling repairs the
    second. Guo, Pleiss, Sun and Weinberger (2017) section 3.
    """

    epoch: NDArray[np.int64]
    train_loss: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    log_loss: NDArray[np.float64]
    calibration_error: NDArray[np.float64]
    temperature: NDArray[np.float64]
    refined_log_loss: NDArray[np.float64]
    labels: NDArray[np.int64]
    logits: NDArray[np.float32] | None = None

    def describe(self) -> str:
        """Say how long the training was and what its last epoch was worth."""
        return (
            f"{spell(len(self.epoch), 'epoch')}: accuracy {self.accuracy[-1]:.3f}, log loss "
            f"{self.log_loss[-1]:.3f}, {self.refined_log_loss[-1]:.3f} after temperature scaling "
            f"(T = {self.temperature[-1]:.2f}), expected calibration error "
            f"{self.calibration_error[-1]:.3f} (top label, 15 bins of equal width), on "
            f"{spell(len(self.labels), 'validation row')}."
        )


def history_of(
    rows: Sequence[tuple[float, ...]], labels: NDArray[np.int64], logits: Sequence[Any] = ()
) -> TrainingHistory:
    """Put together one row per epoch: training loss, then what `measure` returns."""
    columns = np.array(rows, dtype=np.float64).T
    return TrainingHistory(
        epoch=np.arange(1, len(rows) + 1),
        **{name: read_only(column) for name, column in zip(MEASURED, columns, strict=True)},
        labels=labels,
        logits=read_only(np.stack(logits)) if len(logits) else None,
    )


def measure(logits: NDArray[np.float32], label: NDArray[np.int64]) -> tuple[float, ...]:
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
