"""What every fake classifier gives back: a sample with its truth, and exact true values."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.inputs import FloatVector
from calibkit.results import Frozen, Result


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FakeSample(Frozen):
    """Labels, predictions and the true probabilities behind the labels.

    Parameters
    ----------
    y_true : ndarray of shape (n,)
        Labels, drawn with probability `true_prob`.
    y_prob, true_prob : ndarray of shape (n,) or (n, K)
        What the fake classifier reports, P(y = 1) or one column per class, and what it should have
        reported.
    """

    y_true: NDArray[np.int64]
    y_prob: FloatVector
    true_prob: FloatVector

    @property
    def n(self) -> int:
        """Number of predictions."""
        return len(self.y_true)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FakeTruth(Result):
    """The true values of a fake classifier, without any data; NaN where no closed form exists.

    They are errors of the distribution, not of a sample (Panchenko, 2021, sections 1 and 2).
    Lesson 03.

    Parameters
    ----------
    model : str, the classifier in words
    accuracy, mean_confidence : float
        Chance that the predicted label is right, and its mean predicted probability.
    expected, root_mean_square, maximum : float
        True calibration error of the predicted label without bins (ECE), with norm 2, and its
        largest value.
    label_conditional, class_wise : float
        As `expected`, but given the predicted class too; mean error of every class's probability.
    strong : float
        Mean L1 distance between the predicted and the true probability vector.
    brier, top_label_brier, log_loss : float
        Brier score summed over classes, of the predicted label alone; log loss in nats.
    """

    model: str
    accuracy: float = np.nan
    mean_confidence: float = np.nan
    expected: float = np.nan
    root_mean_square: float = np.nan
    maximum: float = np.nan
    label_conditional: float = np.nan
    strong: float = np.nan
    class_wise: float = np.nan
    brier: float = np.nan
    top_label_brier: float = np.nan
    log_loss: float = np.nan

    def describe(self) -> str:
        """Say accuracy, mean confidence and error, as far as they are known."""
        values = {
            "accuracy": self.accuracy,
            "mean confidence": self.mean_confidence,
            "expected calibration error": self.expected,
        }
        known = [f"{name} {value:.4f}" for name, value in values.items() if not np.isnan(value)]
        return f"{self.model}: exactly, {', '.join(known) or 'nothing is known'}."

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        names = [field.name for field in fields(self)[1:]]
        return {
            "quantity": np.array([name.replace("_", " ") for name in names]),
            "true value": np.array([float(getattr(self, name)) for name in names]),
        }


class InfeasibleTarget(ValueError):
    """A wanted calibration error that no classifier of this kind can have; it says which can.

    Lemma 1 of Panchenko (2021, section 7) limits it, given the accuracy.
    """
