"""One state of the thermostat: a network at one epoch and one temperature. Lesson 10.

It reads the stored training, so that it needs no torch and says the same on every computer.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from calibkit.calibrators import TemperatureScaling
from calibkit.errors import CalibrationError, expected_calibration_error
from calibkit.inputs import FloatMatrix, FloatVector, as_number
from calibkit.reliability import BinTable, reliability_table
from calibkit.results import Described, read_only
from calibkit_course.lesson10 import runs

GRID = np.geomspace(0.25, 8.0, 121)
_BINS = 15
_SURE, _UNSURE = 0.9, 0.6


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Thermostat(Described):
    """One network at one epoch, with its logits divided by one temperature."""

    epoch: int  # passes through the training data so far
    temperature: float
    best_temperature: float  # where the log loss is lowest
    best_log_loss: float
    accuracy: float  # no temperature changes it
    log_loss: float  # at `temperature`, in nats
    error: CalibrationError  # of the confidence at `temperature`, with its null level
    table: BinTable  # what the reliability diagram shows
    chances: FloatMatrix  # of three examples, right and sure, wrong and sure, unsure: (3, K)
    labels: NDArray[np.intp]  # their true classes
    temperatures: FloatVector  # a range of them: (121,)
    log_losses: FloatVector  # at each of them
    errors: FloatVector

    def describe(self) -> str:
        """Give accuracy, log loss and error at this temperature, and the best temperature."""
        error = self.error
        return (
            f"At epoch {self.epoch} and T = {self.temperature:g}, the accuracy is "
            f"{self.accuracy:.2f}, the log loss {self.log_loss:.2f}, and the ECE {error.value:.3f} "
            f"from {error.n:,} predictions; a "
            f"calibrated model would show {error.null_mean:.3f} ± {error.null_sd:.3f}. The log "
            f"loss is lowest at T = {self.best_temperature:.2f}, with {self.best_log_loss:.2f}."
        )


def thermostat_view(*, epoch: int = 40, temperature: float = 1.0, n: int = 500) -> Thermostat:
    """Divide the logits of a network by a temperature, at some epoch of its training."""
    temperature = as_number(
        temperature, "temperature", "a positive number", lambda t: 0 < t < np.inf
    )
    now, labels = _rows(epoch, n)
    chances = softmax(now / temperature, axis=1)
    best, losses, errors = _curves(epoch, n)
    chosen = _examples(n)
    return Thermostat(
        epoch=int(epoch),
        temperature=temperature,
        best_temperature=best,
        best_log_loss=_loss_and_confidence(now / best, labels)[0],
        accuracy=float(np.mean(now.argmax(axis=1) == labels)),
        log_loss=_loss_and_confidence(now / temperature, labels)[0],
        error=expected_calibration_error(labels, chances, view="top-label", bins=_BINS),
        table=reliability_table(labels, chances, view="top-label", bins=_BINS),
        chances=chances[chosen],
        labels=labels[chosen],
        temperatures=GRID,
        log_losses=losses,
        errors=errors,
    )


def _rows(epoch: int, n: int) -> tuple[FloatMatrix, NDArray[np.intp]]:
    """Return the logits after an epoch of the first n validation images, and their labels."""
    if epoch not in runs.KEPT:
        raise ValueError(f"epoch must be one of {', '.join(map(str, runs.KEPT))}, got {epoch!r}.")
    run = runs.stored()
    labels = run.history.labels
    if n not in range(50, len(labels) + 1):
        raise ValueError(f"n must be a whole number from 50 to {len(labels):,}, got {n!r}.")
    logits = run.kept[runs.KEPT.index(epoch)]
    return logits[:n].astype(np.float64), labels[:n].astype(np.intp)


@lru_cache(maxsize=128)
def _curves(epoch: int, n: int) -> tuple[float, FloatVector, FloatVector]:
    """Return the best temperature, and log loss and error over the grid of temperatures."""
    now, labels = _rows(epoch, n)
    hit = now.argmax(axis=1) == labels
    losses, confidences = zip(*(_loss_and_confidence(now / t, labels) for t in GRID), strict=True)
    # The confidence alone is the same binary problem as the view "top-label", and faster.
    errors = [expected_calibration_error(hit, p, bins=_BINS).value for p in confidences]
    best = TemperatureScaling("logits").fit(now, labels).temperature_
    return best, read_only(np.array(losses)), read_only(np.array(errors))


def _examples(n: int) -> NDArray[np.intp]:
    """Return three rows: right and sure at the end of the training, wrong and sure, unsure."""
    logits, labels = _rows(runs.KEPT[-1], n)
    last = softmax(logits, axis=1)
    confidence, hit = last.max(axis=1), last.argmax(axis=1) == labels
    kinds = (hit & (confidence > _SURE), ~hit & (confidence > _SURE), confidence < _UNSURE)
    # Each mask has a True row in any real training; if not, row 0 stands in.
    return np.array([int(np.argmax(kind)) for kind in kinds], dtype=np.intp)


def _loss_and_confidence(
    logits: FloatMatrix, labels: NDArray[np.intp]
) -> tuple[float, FloatVector]:
    """Return the log loss, from logits so that no chance is rounded to 0, and the confidences."""
    shifted = logits - logits.max(axis=1, keepdims=True)
    own = shifted[np.arange(len(labels)), labels]
    total = np.exp(shifted).sum(axis=1)
    return float(np.mean(np.log(total) - own)), 1 / total  # the largest entry is exp(0)
