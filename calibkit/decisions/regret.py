"""What it costs to act on wrong probabilities, where acting pays B if it was right, and costs H."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.decisions.costs import stakes
from calibkit.results import Number, Result, listed, spell
from calibkit.types import FloatVector
from calibkit.validation import as_array, as_finite, as_positive, as_probabilities


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TrustRegret(Number):
    """What is lost by trusting predictions whose true probabilities are known.

    Parameters
    ----------
    value, bound : float
        Mean loss per prediction, never negative, and the most that it can be: ``(B + H) error``.
    error, threshold : float
        Mean distance between said and true probability; probability from which on to act.
    acted_in_vain, missed : float
        Shares of predictions acted on though waiting was better, and the reverse.
    n : int
    """

    value: float
    bound: float
    error: float
    threshold: float
    acted_in_vain: float
    missed: float
    n: int

    def describe(self) -> str:
        """Say the loss, its bound and which way the decisions were wrong."""
        return (
            f"Trusting loses {self.value:.4f} per prediction, at most {self.bound:.4f}; acted in "
            f"vain on {100 * self.acted_in_vain:.3g} %, missed {100 * self.missed:.3g} % "
            f"(threshold {self.threshold:.4g}, {spell(self.n, 'prediction')})."
        )

    def _columns(self) -> dict[str, NDArray[Any]]:
        names = ("value", "bound", "error", "threshold", "acted_in_vain", "missed")
        return listed(self, names, ("quantity", "number"))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RegretCurve(Result):
    """What trusting loses for every ratio of costs, where B + H = `total`.

    Parameters
    ----------
    threshold, regret : ndarray of shape (m,)
        Probability from which on to act, ``H / total``; mean loss per prediction, never negative.
    error, total, n : float, float, int
        Mean distance between said and true probability: times `total` the bound everywhere. What
        both mistakes cost together. Number of predictions.
    """

    threshold: FloatVector
    regret: FloatVector
    error: float
    total: float
    n: int

    @property
    def bound(self) -> float:
        """The most that trusting can lose at any threshold: ``total`` times ``error``."""
        return self.total * self.error

    @property
    def worst(self) -> float:
        """Threshold at which trusting loses most, the lowest one of equals."""
        return float(self.threshold[self.regret.argmax()])

    def describe(self) -> str:
        """Say the largest loss, where it is, and the bound."""
        return (
            f"Trusting loses at most {self.regret.max():.4f} per prediction (threshold "
            f"{self.worst:.4g}, where B + H = {self.total:g}); no more than "
            f"{'' if self.total == 1 else f'{self.total:g} times '}the calibration error "
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


def trust_regret(y_prob: Any, true_prob: Any, *, benefit: float, harm: float) -> TrustRegret:
    """Loss from acting on `y_prob` where `true_prob` would have been right.

    Parameters
    ----------
    y_prob, true_prob : array-like of shape (n,)
        Said and true probability that acting is right.
    benefit, harm : float
        Gain of acting rightly and cost of acting in vain, positive: the prices of a false negative
        and of a false positive.

    Returns
    -------
    TrustRegret
        The loss, its bound, and which way the decisions were wrong.

    Notes
    -----
    ``(B + H) (1/n) sum_i |q_i - t| [z_i and q_i on different sides of t]``, ``t = H/(B + H)``;
    acting includes the threshold itself. Taught in lesson 13.

    Examples
    --------
    >>> regret = trust_regret([0.8, 0.6], [0.5, 0.6], benefit=2, harm=6)
    >>> round(regret.value, 4), round(regret.bound, 4)
    (1.0, 1.2)
    """
    benefit, harm = as_positive(benefit, "benefit"), as_positive(harm, "harm")
    said, true = _as_pairs(y_prob, true_prob)
    threshold = harm / (benefit + harm)
    lost, in_vain, missed = _lost(said, true, threshold)
    error = float(np.sort(np.abs(said - true)).mean())
    return TrustRegret(
        value=(benefit + harm) * lost,
        bound=regret_bound(error, benefit=benefit, harm=harm),
        error=error,
        threshold=threshold,
        acted_in_vain=in_vain,
        missed=missed,
        n=len(said),
    )


def regret_curve(
    y_prob: Any, true_prob: Any, *, thresholds: Any = None, costs: Any = None
) -> RegretCurve:
    """Loss from acting on `y_prob` for all ratios of costs: one number for each threshold.

    Parameters
    ----------
    y_prob, true_prob : array-like of shape (n,)
        Said and true probability that acting is right.
    thresholds : array-like of shape (m,), optional
        Strictly between 0 and 1; by default .01, .02, ..., .99.
    costs : array-like of shape (2, 2), pair of float, mapping or str, optional
        As in `policy_cost`: the unit of the curve. A pair (1, 20) makes both mistakes together cost
        21 at every threshold; by default they cost 1.

    Returns
    -------
    RegretCurve
        The loss at each threshold, and the bound on all of them.

    Notes
    -----
    `trust_regret` with ``benefit = (1 - t) total`` and ``harm = t total``, where `total` is what
    both mistakes cost together. Where it is 1, the area under the curve is half the mean of
    ``(z_i - q_i)^2``: the calibration part of the Brier score, halved. Taught in lesson 13.

    Examples
    --------
    >>> curve = regret_curve([0.8, 0.6], [0.5, 0.6], thresholds=[0.4, 0.75])
    >>> curve.regret.round(4).tolist(), round(curve.error, 4)
    ([0.0, 0.125], 0.15)
    """
    said, true = _as_pairs(y_prob, true_prob)
    levels = np.arange(1, 100) / 100 if thresholds is None else _as_levels(thresholds)
    total = 1.0 if costs is None else sum(stakes(costs))
    return RegretCurve(
        threshold=levels,
        regret=total * np.array([_lost(said, true, t)[0] for t in levels.tolist()]),
        total=total,
        error=float(np.sort(np.abs(said - true)).mean()),
        n=len(said),
    )


def _lost(said: FloatVector, true: FloatVector, threshold: float) -> tuple[float, float, float]:
    in_vain = (said >= threshold) & (true < threshold)
    missed = (said < threshold) & (true >= threshold)
    lost = np.sort(np.abs(true - threshold) * (in_vain | missed))
    return float(lost.mean()), float(in_vain.mean()), float(missed.mean())


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


def _as_levels(thresholds: Any) -> FloatVector:
    levels = as_array(np.atleast_1d(thresholds), "thresholds").astype(np.float64)
    bad = np.flatnonzero(~((levels > 0) & (levels < 1)))
    if levels.ndim != 1 or len(bad) or not len(levels):
        shown = f"thresholds[{bad[0]}] = {float(levels.flat[bad[0]])!r}" if len(bad) else "empty"
        raise ValueError(
            f"thresholds must be numbers strictly between 0 and 1 in one row ({shown})."
        )
    return levels
