"""Abstaining: to hand a case on, at a price, where the model is not sure enough."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.decisions.costs import as_fraction
from calibkit.inputs import View, as_finite, binary_problem
from calibkit.results import Number, listed, spell


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Abstention(Number):
    """What it costs to answer only where the confidence is high enough.

    Parameters
    ----------
    price, threshold : float
        Cost of handing a case on (a wrong answer costs 1); confidence from which on the model
        answers.
    coverage, risk, promised_risk : float
        Share of cases that are answered, share of wrong answers among them (NaN if there are none),
        and the same as the confidences announce it.
    value, answering : float
        Mean cost per case: of wrong answers and handing on, of answering all.
    n : int
    """

    price: float
    threshold: float
    coverage: float
    risk: float
    promised_risk: float
    value: float
    answering: float
    n: int

    def describe(self) -> str:
        """Say how many are answered, how well, and at what cost."""
        answered = (
            f"{100 * self.risk:.3g} % of them wrong ({100 * self.promised_risk:.3g} % promised)"
            if self.coverage > 0
            else "so nothing is wrong"
        )
        return (
            f"Answered from confidence {self.threshold:.4g} on: {100 * self.coverage:.3g} % of "
            f"{spell(self.n, 'case')}, {answered}; mean cost {self.value:.4f} (answering all "
            f"{self.answering:.4f}, handing on all {self.price:.4f})."
        )

    def _columns(self) -> dict[str, NDArray[Any]]:
        names = ("threshold", "coverage", "risk", "promised_risk", "value", "answering", "price")
        return listed(self, names, ("quantity", "number"))


def abstention(
    y_true: Any,
    y_prob: Any,
    *,
    price: float,
    threshold: float | None = None,
    view: View = "top-label",
) -> Abstention:
    """Cost of answering where the confidence reaches a threshold, and handing on the rest.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    price : float
        Cost of handing a case on, from 0 to 1; a wrong answer costs 1.
    threshold : float, optional
        Confidence from which on to answer, in [0, 1]; by default ``1 - price``, which is best for
        calibrated confidences.
    view : {"top-label"} or int
        The answer: the predicted class, or always the class with this number.

    Returns
    -------
    Abstention
        Coverage, risk among the answers, and the mean cost.

    Raises
    ------
    ValueError
        If labels, probabilities, view or options are not valid; the message names row and value.

    Notes
    -----
    Answer iff ``z >= 1 - price`` (the rule of Chow, 1970): answering costs ``1 - z``, handing on
    `price`. To abstain in a larger problem, add a constant row to the table of `policy_cost`.

    Examples
    --------
    >>> result = abstention([1, 0, 0, 1], [.95, .9, .6, .55], price=0.25)
    >>> result.coverage, result.risk, result.value, result.answering
    (0.5, 0.5, 0.375, 0.5)
    """
    price = as_finite(price, "price", 0, 1)
    start = float(1 - as_fraction(price))  # the float nearest to .3 for a price of .7
    if threshold is not None:
        start = as_finite(threshold, "threshold", 0, 1)
    problem = binary_problem(y_true, y_prob, view=view)
    confidence, right = problem.prob.astype(np.float64), problem.label.astype(np.int64)
    answered = confidence >= start
    n, count = problem.n, int(answered.sum())
    wrong = count - int(right[answered].sum())
    promised = float(np.sort(1 - confidence[answered]).sum())
    return Abstention(
        price=price,
        threshold=start,
        coverage=count / n,
        risk=wrong / count if count else np.nan,
        promised_risk=promised / count if count else np.nan,
        value=(wrong + price * (n - count)) / n,
        answering=(n - int(right.sum())) / n,
        n=n,
    )
