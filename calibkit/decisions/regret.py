"""What it costs to act on wrong probabilities, where acting pays B if it was right, and costs H."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.decisions.murphy import as_levels
from calibkit.inputs import FloatVector, as_probabilities
from calibkit.results import Result, spell


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RegretCurve(Result):
    """What trusting loses for every ratio of costs, where B + H = 1.

    Parameters
    ----------
    threshold, regret : ndarray of shape (m,)
        Probability from which on to act, H; mean loss per prediction, never negative.
    error, n : float, int
        Mean distance between said and true probability, the bound everywhere; number of
        predictions.
    """

    threshold: FloatVector
    regret: FloatVector
    error: float
    n: int

    @property
    def worst(self) -> float:
        """Threshold at which trusting loses most, the lowest one of equals."""
        return float(self.threshold[self.regret.argmax()])

    def describe(self) -> str:
        """Say the largest loss, where it is, and the bound."""
        return (
            f"Trusting loses at most {self.regret.max():.4f} per prediction (threshold "
            f"{self.worst:.4g}, where B + H = 1); no more than the calibration error "
            f"{self.error:.4f} anywhere ({spell(self.n, 'prediction')})."
        )

    def _columns(self) -> dict[str, NDArray[Any]]:
        return {"threshold": self.threshold, "regret": self.regret}


def regret_curve(y_prob: Any, true_prob: Any, *, thresholds: Any = None) -> RegretCurve:
    """Loss from acting on `y_prob` where `true_prob` were right, for all ratios of costs.

    Parameters
    ----------
    y_prob, true_prob : array-like of shape (n,)
        Said and true probability that acting is right.
    thresholds : array-like of shape (m,), optional
        Strictly between 0 and 1; by default .01, .02, ..., .99.

    Returns
    -------
    RegretCurve
        The loss at each threshold, and the bound on all of them.

    Notes
    -----
    At threshold t, where acting rightly gains ``1 - t`` and acting in vain costs ``t``:
    ``(1/n) sum_i |q_i - t| [z_i and q_i on different sides of t]``; acting includes the threshold
    itself. Multiply by B + H for prices of any other sum. The area under the curve is half the mean
    of ``(z_i - q_i)^2``: the calibration part of the Brier score, halved. Lesson 13.

    Examples
    --------
    >>> curve = regret_curve([0.8, 0.6], [0.5, 0.6], thresholds=[0.4, 0.75])
    >>> curve.regret.round(4).tolist(), round(curve.error, 4)
    ([0.0, 0.125], 0.15)
    """
    prob, true = _as_pairs(y_prob, true_prob)
    levels = as_levels(thresholds)
    return RegretCurve(
        threshold=levels,
        regret=np.array([_regret(prob, true, t) for t in levels.tolist()]),
        error=float(np.sort(np.abs(prob - true)).mean()),
        n=len(prob),
    )


def _regret(prob: FloatVector, true: FloatVector, threshold: float) -> float:
    apart = (prob >= threshold) != (true >= threshold)
    return float(np.sort(np.abs(true - threshold) * apart).mean())


def _as_pairs(y_prob: Any, true_prob: Any) -> tuple[FloatVector, FloatVector]:
    prob = as_probabilities(y_prob).astype(np.float64)
    try:
        true = as_probabilities(true_prob).astype(np.float64)
    except ValueError as error:
        raise ValueError(str(error).replace("y_prob", "true_prob")) from None
    if prob.ndim != 1 or true.shape != prob.shape:
        raise ValueError(
            f"y_prob has shape {prob.shape} and true_prob {true.shape}; both must be (n,): the "
            "probability that acting is right. For K columns pass that of the predicted class."
        )
    return prob, true
