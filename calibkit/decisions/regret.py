"""What it costs to act on wrong probabilities, where acting pays B if it was right, and costs H."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.bins import isotonic_blocks
from calibkit.decisions.murphy import as_levels
from calibkit.inputs import FloatVector, View, as_probability_array, binary_problem
from calibkit.inputs.containers import refuse_other_order
from calibkit.results import Number, Result, listed, spell


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
        From 0 on and below 1; by default .01, .02, ..., .99.

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
    refuse_other_order(y_prob=y_prob, true_prob=true_prob)
    prob = as_probability_array(y_prob).astype(np.float64)
    true = as_probability_array(true_prob, "true_prob").astype(np.float64)
    if prob.ndim != 1 or true.shape != prob.shape:
        raise ValueError(
            f"y_prob has shape {prob.shape} and true_prob {true.shape}; both must be (n,): the "
            "probability that acting is right. For K columns pass that of the predicted class."
        )
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Saving(Number):
    """What another cut-off would have saved, at the costs where it saves most.

    Parameters
    ----------
    value : float
        Mean saving per prediction; acting in vain costs `threshold`, missing the rest of 1.
    threshold : float
        The best threshold for these costs, were the predictions calibrated.
    cutoff : float
        From which prediction on to act instead; infinite: never.
    view : str
    n : int
    """

    value: float
    threshold: float
    cutoff: float
    view: str
    n: int

    def describe(self) -> str:
        """Say what could have been saved, and how."""
        instead = f"from {self.cutoff:.4f} on" if self.cutoff < np.inf else "never"
        # Acting earlier saves most just above a prediction, acting later at one.
        near = "just above " if self.cutoff < self.threshold else ""
        return (
            f"At most {self.value:.4f} per prediction could have been saved, by acting {instead} "
            f"where costs ask to act from {near}{self.threshold:.4f} on, "
            f"{spell(self.n, 'prediction')}."
        )

    def _columns(self) -> dict[str, NDArray[Any]]:
        return listed(self, ("value", "threshold", "cutoff", "n"), ("quantity", "number"))


def largest_saving(
    y_true: Any, y_prob: Any, *, view: View = None, positive: Any = None, sample_weight: Any = None
) -> Saving:
    """Return the most that anybody, at any costs, could save by acting from another cut-off on.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    view : {"top-label"} or int, optional
        Which event; needed when `y_prob` has columns.
    positive : object, optional
        The label that `y_prob` is about, where labels are not 0 and 1.
    sample_weight : array-like of shape (n,), optional
        What each row counts, at least 0: a row of weight 2 is that row twice.

    Returns
    -------
    Saving
        The saving in [0, 1) with its costs and the better cut-off.

    Raises
    ------
    ValueError
        If labels, probabilities, view or options are not valid; the message names row and value.

    See Also
    --------
    calibkit.null_level : what a calibrated model shows by chance: this is fitted on the test set.

    Notes
    -----
    ``max over t, c of (1/n) sum (y_i - t)`` over ``c <= p_i < t``, or ``sum (t - y_i)`` over
    ``t <= p_i < c``, in the unit of `murphy_curve`: the largest gap between the curve of the
    predictions and that of their isotonic repair, which has the best cut-off for every t. Between
    two predictions the gap is convex in t, so that it is largest beside one. Lesson 13.

    Examples
    --------
    >>> saving = largest_saving([0, 0, 1, 0, 1], [.1, .4, .4, .6, .8])
    >>> round(saving.value, 4), saving.threshold, saving.cutoff
    (0.12, 0.6, 0.8)
    """
    how = {"positive": positive, "sample_weight": sample_weight}
    problem = binary_problem(y_true, y_prob, view=view, **how)
    stated, place = np.unique(problem.prob.astype(np.float64), return_inverse=True)
    weight: Any = 1 if problem.weight is None else problem.weight
    hits, counts = (
        np.bincount(place, weight * of, len(stated)) for of in (problem.label, np.ones(problem.n))
    )
    starts = isotonic_blocks(hits, counts)
    rows, events = (np.pad(x.cumsum(), (1, 0)) for x in (counts, hits))
    means = np.add.reduceat(hits, starts) / np.add.reduceat(counts, starts)
    best = np.append(starts, len(stated))[np.searchsorted(means, stated)]  # waiting, if repaired
    # Costs on either side of each prediction: those who state it act, or wait.
    waiting = np.arange(len(stated)) + np.array([[0], [1]])
    saved = (events[waiting] - events[best]) - stated * (rows[waiting] - rows[best])
    waits, at = np.unravel_index(saved.argmax(), saved.shape)
    return Saving(
        value=float(saved.max()) / float(rows[-1]),
        threshold=float(np.nextafter(stated[at], 1) if waits else stated[at]),
        cutoff=float(np.append(stated, np.inf)[best[at]]),
        view=problem.view,
        n=problem.n,
    )
