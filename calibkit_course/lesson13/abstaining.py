"""Abstaining: to hand a case on, at a price, where the model is not sure enough."""

from typing import Any, NamedTuple

import numpy as np

from calibkit.decisions.costs import as_fraction
from calibkit.inputs import as_finite, binary_problem


class Abstention(NamedTuple):
    """Share of cases that are answered, of wrong answers among them (promised, too); mean cost."""

    coverage: float
    risk: float
    promised_risk: float
    value: float


def abstention(y_true: Any, y_prob: Any, *, price: float) -> Abstention:
    """Return the cost of answering where the confidence reaches 1 - price, and handing on the rest.

    A wrong answer costs 1, handing a case on `price`, from 0 to 1. The answer is the predicted
    class. To answer iff ``z >= 1 - price`` is the rule of Chow (1970): answering costs ``1 - z``.
    In a larger problem, add a constant row to the table of `policy_cost`.

    Examples
    --------
    >>> abstention([1, 0, 0, 1], [.95, .9, .6, .55], price=0.25).value
    0.375
    """
    price = as_finite(price, "price", 0, 1)
    start = float(1 - as_fraction(price))  # the float nearest to .3 for a price of .7
    problem = binary_problem(y_true, y_prob, view="top-label")
    confidence, right = problem.prob.astype(np.float64), problem.label.astype(bool)
    answered = confidence >= start
    n, count = len(right), int(answered.sum())
    wrong = count - int(right[answered].sum())
    promised = float(np.sort(1 - confidence[answered]).sum())
    risk = (wrong / count, promised / count) if count else (np.nan, np.nan)
    return Abstention(count / n, *risk, (wrong + price * (n - count)) / n)
