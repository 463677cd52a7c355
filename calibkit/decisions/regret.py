"""What it costs to act on wrong probabilities, where acting pays B if it was right, and costs H."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.inputs import FloatVector, as_array, as_finite, as_positive, as_probabilities
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


def regret_bound(error: float, *, benefit: float, harm: float) -> float:
    """Bound on what trusting a model with this calibration error can lose, per prediction.

    Parameters
    ----------
    error : float
        Expected calibration error (ECE) of the confidence that decides, from 0 to 1.
    benefit, harm : float
        Gain B of acting rightly and cost H of acting in vain, positive.

    Returns
    -------
    float
        The bound, in the unit of the prices.

    Notes
    -----
    ``regret = (B + H) E[|Q - t|; Z and Q on different sides of t] <= (B + H) E|Z -
    Q|``, since there ``|Q - t| <= |Z - Q|``. With ``Q = E[Y | Z]`` the last mean is the ECE.
    Section 4 of the review of notions; lesson 13.

    Examples
    --------
    >>> round(regret_bound(0.1, benefit=2, harm=6), 4)
    0.8
    """
    total = as_positive(benefit, "benefit") + as_positive(harm, "harm")
    return total * as_finite(error, "error", 0, 1)


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
    of ``(z_i - q_i)^2``: the calibration part of the Brier score, halved. Taught in lesson 13.

    Examples
    --------
    >>> curve = regret_curve([0.8, 0.6], [0.5, 0.6], thresholds=[0.4, 0.75])
    >>> curve.regret.round(4).tolist(), round(curve.error, 4)
    ([0.0, 0.125], 0.15)
    """
    said, true = _as_pairs(y_prob, true_prob)
    levels = np.arange(1, 100) / 100 if thresholds is None else as_levels(thresholds)
    return RegretCurve(
        threshold=levels,
        regret=np.array([_lost(said, true, t) for t in levels.tolist()]),
        error=float(np.sort(np.abs(said - true)).mean()),
        n=len(said),
    )


def _lost(said: FloatVector, true: FloatVector, threshold: float) -> float:
    apart = (said >= threshold) != (true >= threshold)
    return float(np.sort(np.abs(true - threshold) * apart).mean())


def _as_pairs(y_prob: Any, true_prob: Any) -> tuple[FloatVector, FloatVector]:
    said = as_probabilities(y_prob).astype(np.float64)
    try:
        true = as_probabilities(true_prob).astype(np.float64)
    except ValueError as error:
        raise ValueError(str(error).replace("y_prob", "true_prob")) from None
    if said.ndim != 1 or true.shape != said.shape:
        raise ValueError(
            f"y_prob has shape {said.shape} and true_prob {true.shape}; both must be (n,): the "
            "probability that acting is right. For K columns pass that of the predicted class."
        )
    return said, true


def as_levels(thresholds: Any) -> FloatVector:
    """Check thresholds: numbers strictly between 0 and 1, in one row."""
    levels = as_array(np.atleast_1d(thresholds), "thresholds").astype(np.float64)
    bad = np.flatnonzero(~((levels > 0) & (levels < 1)))
    if levels.ndim != 1 or len(bad) or not len(levels):
        shown = (
            f"thresholds[{bad[0]}] = {float(levels.flat[bad[0]])!r}"
            if len(bad)
            else f"shape {levels.shape}"
        )
        raise ValueError(
            f"thresholds must be numbers strictly between 0 and 1 in one row ({shown})."
        )
    return levels
