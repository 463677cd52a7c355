"""Repair predictions after a change of prevalence, known or estimated. Lesson 09.

If only the share of positives changes, and the features within each class stay as they were, all
true logits move by one constant (*label shift*): Saerens, Latinne and Decaestecker (2002),
*Adjusting the outputs of a classifier to new a priori probabilities*.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import bisect

from calibkit.calibrators.base import as_column
from calibkit.inputs import FloatVector, as_count, as_level
from calibkit.results import Number, listed, plus_minus, spell


def shift_prior(p: Any, *, train_prevalence: float, test_prevalence: float) -> FloatVector:
    """Move probabilities from one prevalence to another, both known; 0 and 1 stay what they are.

    Parameters
    ----------
    p : array-like of shape (n,)
        Predicted probabilities of the event, right for `train_prevalence`.
    train_prevalence, test_prevalence : float
        Share of events that the model was made for, and where it is used (unknown? see
        `estimate_prevalence`), strictly between 0 and 1. For a model that was trained with class
        weights the first is the *weighted* share: 1/2 if they balance the classes.

    Returns
    -------
    ndarray of shape (n,)
        Probabilities that are right for `test_prevalence`.

    Notes
    -----
    ``logit p' = logit p + logit(test) - logit(train)`` (Saerens et al., 2002, equation 2.4). The
    order of the predictions stays, so AUC does too. No other fault is repaired: if `p` was not
    calibrated before, it is not afterwards. Taught in lesson 09.

    Examples
    --------
    >>> shift_prior([.1, .5, .9], train_prevalence=.5, test_prevalence=.01).round(4).tolist()
    [0.0011, 0.01, 0.0833]
    """
    prob = as_column(p)
    train = as_level(train_prevalence, "train_prevalence")
    test = as_level(test_prevalence, "test_prevalence")
    if train == test:
        return prob.copy()
    event, other = prob * (test / train), (1 - prob) * ((1 - test) / (1 - train))
    return np.asarray(event / (event + other))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PrevalenceEstimate(Number):
    """An estimate of the share of events from predictions alone.

    Parameters
    ----------
    value, standard_error : float
        The most likely prevalence, in [0, 1]; NaN for the error where it is 0 or 1.
    train_prevalence, n : float, int
        Share of events that the predictions were made for, and their number.
    path : ndarray
        Steps of EM from `train_prevalence` on.
    """

    value: float
    standard_error: float
    train_prevalence: float
    n: int
    path: FloatVector

    def describe(self) -> str:
        """Give both prevalences, the standard error and the number of predictions."""
        return (
            f"Estimated prevalence {plus_minus(self.value, self.standard_error)} from "
            f"{spell(self.n, 'prediction')} that were made for {self.train_prevalence:.4f}."
        )

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        return listed(self, ("value", "standard_error", "train_prevalence", "n"), ("what", "value"))


def estimate_prevalence(
    p: Any, *, train_prevalence: float, em_steps: int = 100
) -> PrevalenceEstimate:
    """Estimate the share of events from predictions without labels; pass it to `shift_prior`.

    Parameters
    ----------
    p, train_prevalence : array-like of shape (n,), float
        Predictions on the new data, by a model that was calibrated for this share of events,
        strictly between 0 and 1.
    em_steps : int
        How many steps of EM to record in ``path``; they do not change the value.

    Returns
    -------
    PrevalenceEstimate

    Raises
    ------
    ValueError
        If the input is not valid, or all predictions equal `train_prevalence` and thus say nothing.

    Notes
    -----
    EM (Saerens et al., 2002, equation 2.9) moves the predictions to the current prevalence and
    takes their mean as the next one. Each step raises the concave likelihood
    ``sum_i log(s p_i / t + (1 - s) (1 - p_i) / (1 - t))`` of the prevalence s, for a training
    prevalence t. Rare events can need thousands of steps, so where they end is found by
    halving.
    Nothing here can see whether the model *is* calibrated for `train_prevalence`, or whether
    features changed within a class: then the estimate is wrong, and its standard error does not
    tell. Taught in lesson 09.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.random(2000) < .2
    >>> y_prob = 1 / (1 + np.exp(2 - 4 * rng.normal(y_true, .5)))  # right for a prevalence of .5
    >>> estimate = estimate_prevalence(y_prob, train_prevalence=.5)
    >>> round(estimate.value, 3), round(float(y_true.mean()), 3)
    (0.21, 0.209)
    """
    prob = np.sort(as_column(p))  # sorted, so that the order of the rows does not matter
    train = as_level(train_prevalence, "train_prevalence")
    steps = as_count(em_steps, "em_steps", minimum=0)
    event, other = prob / train, (1 - prob) / (1 - train)
    if np.abs(event - other).max() < 1e-12:
        raise ValueError(
            f"All predictions equal train_prevalence={train:g}, so they cannot show a change of "
            "it. Pass the model's predictions, not the base rate."
        )
    value = _most_likely(event, other)
    information = len(prob) * _slopes(event, other, value)[1]
    error = 1 / np.sqrt(information) if 0 < value < 1 else np.nan
    path = [train]
    for _ in range(steps):
        now = path[-1]
        path.append(now * float(np.mean(event / (now * event + (1 - now) * other))))
    return PrevalenceEstimate(
        value=value,
        standard_error=float(error),
        train_prevalence=train,
        n=len(prob),
        path=np.array(path),
    )


def _slopes(event: FloatVector, other: FloatVector, at: float) -> tuple[float, float]:
    """Return the first and minus the second derivative of the mean log-likelihood."""
    with np.errstate(divide="ignore", over="ignore"):
        ratio = (event - other) / (at * event + (1 - at) * other)
        return float(np.mean(ratio)), float(np.mean(ratio**2))


def _most_likely(event: FloatVector, other: FloatVector) -> float:
    def slope(at: float) -> float:
        return _slopes(event, other, at)[0]

    if slope(0.0) <= 0:
        return 0.0
    if slope(1.0) >= 0:
        return 1.0
    return float(bisect(slope, 0.0, 1.0, xtol=1e-15))  # slopes at the ends may be infinite
