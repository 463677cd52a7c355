"""Costs in a table, and what follows from them: the best action, the threshold, the bill.

What a table says is charged, no more and no less. Every function that takes costs takes them in
each of the ways that `policy_cost` lists.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.inputs import (
    TIE,
    FloatVector,
    as_array,
    as_finite,
    as_predictions,
    as_probabilities,
    as_weights,
)
from calibkit.results import Number, spell


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PolicyCost(Number):
    """What a way of deciding costs on labelled predictions.

    Parameters
    ----------
    value, promised : float
        Mean cost per prediction that was paid, and that the probabilities announced for these
        actions.
    ignoring : float
        Mean cost of the best single action for everybody.
    action, share, paid : ndarray of shape (A,)
        Number of each action, share of predictions that got it, and its part of `value`.
    n : int
    """

    value: float
    promised: float
    ignoring: float
    action: NDArray[np.intp]
    share: FloatVector
    paid: FloatVector
    n: int

    def describe(self) -> str:
        """Say what was paid, promised, and what ignoring the model would have cost."""
        worse = self.value - self.ignoring > TIE * (1 + abs(self.value))
        return (
            f"Mean cost {self.value:.4f} (the model promised {self.promised:.4f}); "
            f"{'more' if worse else 'not more'} than ignoring the model ({self.ignoring:.4f}), "
            f"{spell(self.n, 'prediction')}."
        )

    def _columns(self) -> dict[str, NDArray[Any]]:
        return {"action": self.action, "share": self.share, "part of the cost": self.paid}


# Names of the two prices in a mapping; marks between the words and capitals do not matter.
_PRICES = {"falsepositive": 0, "fp": 0, "falsenegative": 1, "fn": 1}
_PAIR = (
    "a pair (false positive, false negative), e.g. (1, 20) or "
    '{"false positive": 1, "false negative": 20}'
)


def as_costs(costs: Any, n_classes: int | None = None) -> FloatVector:
    """Return the table of costs that is meant: finite, a row per action, a column per class."""
    if isinstance(costs, Mapping):
        costs = _from_names(costs)
    elif isinstance(costs, str):
        costs = _from_text(costs)
    table = as_array(costs, "costs").astype(np.float64)
    if table.shape == (2,):
        table = _mistakes_only(table, n_classes)
    if table.ndim != 2 or table.shape[1] < 2:
        raise ValueError(
            f"costs has shape {table.shape}; it needs one row per action and one column per class. "
            f"For two classes {_PAIR} will do."
        )
    if not np.isfinite(table).all():
        action, k = np.argwhere(~np.isfinite(table))[0]
        raise ValueError(
            f"costs[{action}, {k}] = {float(table[action, k])!r} must be finite; to forbid an "
            "action, leave out its row."
        )
    if n_classes is not None and table.shape[1] != n_classes:
        hint = " Pass costs.T." if table.shape[0] == n_classes else ""
        raise ValueError(
            f"costs has {table.shape[1]} columns, but the predictions have {n_classes} classes."
            f"{hint}"
        )
    return table


def _mistakes_only(pair: FloatVector, n_classes: int | None) -> FloatVector:
    """Return the table in which a mistake costs its price and a right decision nothing."""
    if n_classes not in (None, 2):
        raise ValueError(
            f"costs = {pair.tolist()} is a pair of prices for two classes, but the predictions "
            f"have {n_classes}; pass a table with one row per action and one column per class."
        )
    for name, price in zip(("false positive", "false negative"), pair.tolist(), strict=True):
        as_finite(price, f"costs: the price of a {name}", 0)  # gains stand in a table
    if not pair.any():
        raise ValueError("both costs are 0, so every decision is right; one must be above 0.")
    return np.array([[0.0, pair[1]], [pair[0], 0.0]])


def _from_names(prices: Mapping[Any, Any]) -> list[Any]:
    pair: list[Any] = [None, None]
    for name, price in prices.items():
        place = _PRICES.get("".join(c for c in str(name).lower() if c.isalpha()))
        if place is None or pair[place] is not None:
            again = "unknown" if place is None else "there twice"
            raise ValueError(f"costs: the name {name!r} is {again}; pass {_PAIR}.")
        pair[place] = price
    if None in pair:
        missing = ("false positive", "false negative")[pair.index(None)]
        raise ValueError(f"costs: the price of a {missing} is missing; pass {_PAIR}.")
    return pair


def _from_text(text: str) -> list[float]:
    try:
        first, second = map(float, text.split(":"))
    except ValueError:
        raise ValueError(
            f"costs: {text!r} is not of the form FP:FN, e.g. 1:20 for a false positive that costs "
            "1 and a false negative that costs 20."
        ) from None
    return [first, second]


def as_fraction(number: float) -> Fraction:
    """Return the decimal that was written: 0.1 is a tenth, though no float is."""
    return Fraction(repr(float(number)))


def _against_waiting(table: FloatVector) -> tuple[Fraction, Fraction]:
    """Return the benefit and the harm of action 1 against action 0, exactly."""
    waits, acts = ([as_fraction(cost) for cost in row] for row in table)
    return waits[1] - acts[1], acts[0] - waits[0]


def stakes(costs: Any) -> tuple[float, float]:
    """Return the benefit of acting rightly and the harm of acting in vain, against waiting."""
    table = as_costs(costs, 2)
    if table.shape[0] != 2:
        raise ValueError(f"costs has {table.shape[0]} rows; a threshold needs two actions.")
    benefit, harm = map(float, _against_waiting(table))
    if not (harm >= 0 and benefit >= 0 and harm + benefit > 0):
        raise ValueError(
            f"no threshold: against action 0, action 1 costs {harm:g} more for class 0 and saves "
            f"{benefit:g} for class 1; both must be at least 0 and one above. Swap the rows, or "
            "use best_actions."
        )
    return benefit, harm


def _cheapest(prob: FloatVector, table: FloatVector) -> NDArray[np.intp]:
    """Return the action of least expected cost of each row."""
    if table.shape == (2, 2):
        benefit, harm = _against_waiting(table)
        total = benefit + harm
        if total:  # else no probability changes the better action
            above = prob[:, 1] >= float(harm / total)
            return np.where(above, int(total > 0), int(total < 0)).astype(np.intp)
    expected = prob @ table.T
    # Sums in another order differ in their last digits: what differs by no more is equal.
    rounding = 8 * np.finfo(np.float64).eps * (prob @ np.abs(table).T).max(axis=1, keepdims=True)
    best = expected <= expected.min(axis=1, keepdims=True) + rounding
    return np.asarray(best.argmax(axis=1))


def _by_class(y_prob: Any) -> FloatVector:
    """Return float64 rows, one column per class; P(y = 1) becomes two."""
    prob = as_probabilities(y_prob).astype(np.float64)
    return np.stack([1 - prob, prob], axis=1) if prob.ndim == 1 else prob


def best_actions(y_prob: Any, *, costs: Any) -> NDArray[np.intp]:
    """Return the action of least expected cost for every prediction.

    Best if the probabilities are calibrated; `regret_curve` says what it loses otherwise. Of two
    actions for two classes, the one meant for class 1 is taken from `decision_threshold` on,
    ``p >= t``. Of more, the lowest number of those that cost the same but for rounding.

    Parameters
    ----------
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    costs : array-like of shape (A, K), pair of float, mapping or str
        ``costs[a, k]`` of action a when the class is k, or for two classes the prices (false
        positive, false negative): see `policy_cost`.

    Returns
    -------
    ndarray of shape (n,)
        Numbers of rows of `costs`.

    Raises
    ------
    ValueError
        If probabilities or costs are not valid; see `policy_cost`.

    Notes
    -----
    Least ``sum_k p_k costs[a, k]`` over the actions a.

    Examples
    --------
    >>> best_actions([0.1, 0.2], costs=[[0, 8], [1, 1]]).tolist()
    [0, 1]
    """
    prob = _by_class(y_prob)
    return _cheapest(prob, as_costs(costs, prob.shape[1]))


def decision_threshold(costs: Any) -> float:
    """Probability in [0, 1] from which on action 1 is the cheaper of two actions, for two classes.

    Parameters
    ----------
    costs : array-like of shape (2, 2), pair of float, mapping or str
        A table, or the prices of the mistakes: ``(1, 20)``, ``"1:20"`` or names in a mapping, as
        in `policy_cost`. Action 1 is the one meant for class 1.

    Returns
    -------
    float
        The threshold, in [0, 1].

    Raises
    ------
    ValueError
        If costs are not valid, or if neither action is the better one for its class.

    Notes
    -----
    ``t = H / (B + H)`` with harm ``H = costs[1, 0] - costs[0, 0]`` of acting in vain and benefit
    ``B = costs[0, 1] - costs[1, 1]``; at t both cost the same. For a pair H is the price of a
    false positive, B that of a false negative. It exists if action 1 is better for class 1 and
    worse for class 0.

    At t itself action 1 is taken, here and everywhere in calibkit: ``p >= t``. That is exact also
    where neither number is a float, as .1 and (1, 9): prices are read as the decimals that were
    written, and t is the float nearest to their exact quotient, as p is the float nearest to its
    decimal. Rounding keeps order, so ``p >= t`` holds for the floats if it holds for the numbers;
    and only if, as long as different numbers are different floats. Predictions in single precision
    are compared as they are: .7 is .69999999 there. Lesson 13.

    Examples
    --------
    >>> decision_threshold((1, 19)), decision_threshold([[0, 1], [0.05, 0.05]])
    (0.05, 0.05)
    """
    stakes(costs)  # refuses what has no threshold
    benefit, harm = _against_waiting(as_costs(costs, 2))
    return float(harm / (benefit + harm))


def policy_cost(
    y_true: Any, y_prob: Any, *, costs: Any, positive: Any = None, sample_weight: Any = None
) -> PolicyCost:
    """Mean cost that was paid, beside the promised cost and that of ignoring the model.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    costs : array-like of shape (A, K), pair of float, mapping or str
        ``costs[a, k]``: what action a costs when the class is k. Gains are negative costs. For two
        classes the prices of the mistakes will do, and then right decisions cost nothing:
        ``(1, 20)``, ``{"false positive": 1, "false negative": 20}`` or ``"1:20"``, each short for
        ``[[0, 20], [1, 0]]``.
    positive : object, optional
        The label that `y_prob` is about, where labels are not 0 and 1.
    sample_weight : array-like of shape (n,), optional
        What each row counts, at least 0: a row of weight 2 is that row twice.

    Returns
    -------
    PolicyCost
        What was paid, promised, and what ignoring the model would have cost.

    Raises
    ------
    ValueError
        If labels or probabilities are not valid, or costs are not: a wrong shape, an unknown name,
        a price that is negative or not finite, or two prices of 0. The message names the entry.

    Notes
    -----
    ``(1/n) sum_i costs[a_i, y_i]``, promised ``(1/n) sum_i sum_k p_ik costs[a_i, k]``: equal on
    average if calibrated; then no model costs more than ignoring it. To hand a case on at a price
    (abstention) is an action whose row is constant. Lesson 13.

    Examples
    --------
    >>> cost = policy_cost([0, 0, 1, 1], [.01, .2, .02, .9], costs=[[0, 1], [.05, .05]])
    >>> round(cost.value, 4), round(cost.ignoring, 4), round(cost.promised, 4)
    (0.275, 0.05, 0.0325)
    >>> float(policy_cost([0, 0, 1, 1], [.01, .2, .02, .9], costs=(1, 20)))
    5.25
    """
    labels, _ = as_predictions(y_true, y_prob, positive, sample_weight)
    prob = _by_class(y_prob)
    table = as_costs(costs, prob.shape[1])
    action = _cheapest(prob, table)
    weight = np.ones(len(prob)) if sample_weight is None else as_weights(sample_weight, len(prob))
    # Counts of (action, class) make the sums independent of the order of rows.
    cell = action * table.shape[1] + labels.astype(np.intp)
    met = np.bincount(cell, weight, table.size).reshape(table.shape)
    total, promised = met.sum(), weight * (prob @ table.T)[np.arange(len(prob)), action]
    return PolicyCost(
        value=float((met * table).sum() / total),
        promised=float(np.sort(promised).sum() / total),
        ignoring=float((table @ met.sum(axis=0)).min() / total),
        action=np.arange(len(table)),
        share=met.sum(axis=1) / total,
        paid=(met * table).sum(axis=1) / total,
        n=len(prob),
    )
