"""Fit on some folds, measure on the others: a calibration error that is bounded from below."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm as normal
from sklearn.base import clone

from calibkit.calibrators import BetaCalibrator, VectorScaling
from calibkit.calibrators.base import AnyCalibrator
from calibkit.calibrators.folds import assign_folds
from calibkit.fit_on_test.evaluate import as_evaluator
from calibkit.inputs import (
    FloatMatrix,
    FloatVector,
    Rng,
    View,
    as_level,
    as_number,
    as_predictions,
    binary_problem,
)
from calibkit.results import Number, listed, spell

Gains = Callable[[FloatMatrix, FloatMatrix], FloatVector]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CrossFittedError(Number):
    """What a map gains on rows that it has not seen: at most the calibration error, on average.

    Parameters
    ----------
    value, standard_error : float
        Mean gain per row, which chance can make negative, and its standard error over rows.
    gain : ndarray of shape (n,)
        Gain of each row, in the order given; means over groups bound the errors of groups.
    name : str; loss, side, event and family of maps
    """

    value: float
    standard_error: float
    gain: FloatVector
    name: str

    def interval(self, level: float = 0.9) -> tuple[float, float]:
        """Return the normal interval of the expected gain; its lower end bounds the error."""
        reach = float(normal.ppf((1 + as_level(level)) / 2)) * self.standard_error
        return self.value - reach, self.value + reach

    def describe(self) -> str:
        """Say the bound and its standard error."""
        return (
            f"{self.name[0].upper()}{self.name[1:]}: at least {self.value:.4f} ± "
            f"{self.standard_error:.4f} ({spell(len(self.gain), 'prediction')})."
        )

    def _columns(self) -> dict[str, NDArray[Any]]:
        return listed(self, ("value", "standard_error"), ("quantity", "number"))


def cross_fitted_error(
    y_true: Any,
    y_prob: Any,
    *,
    evaluator: Any = None,
    loss: float | str = 1,
    view: View = None,
    cv: Any = 5,
    rng: Rng = 0,
) -> CrossFittedError:
    """Bound the calibration error from below: how much maps gain on rows they have not seen.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or the class numbers ``0 .. K-1``.
    y_prob : array-like of shape (n,) or (n, K)
        Predicted probabilities of the event, or of each class.
    evaluator : Calibrator, MulticlassCalibrator or scikit-learn estimator, optional
        The family of maps. By default `BetaCalibrator` for one event; isotonic regression bounds
        wild maps more closely. ``VectorScaling("probabilities")`` for whole rows.
    loss : float or "brier"
        A norm p from 1 on, `inf` included: bounds ``E ||f - c||_p`` of the predictions f and the
        true probabilities c. ``"brier"`` bounds ``E ||f - c||_2^2``.
    view : "top-label" or int, optional
        Of K classes: the event that the predicted class is right, or that this class occurs. None
        takes whole rows, without bins.
    cv : int or scikit-learn splitter
        Folds over the sorted predictions, so that the order of rows plays no part.
    rng : int, numpy.random.Generator or None
        What draws a number of folds.

    Returns
    -------
    CrossFittedError
        The mean gain with its standard error and interval, and the gain of each row.

    Raises
    ------
    ValueError
        If the input is not valid, or the evaluator does not suit its shape.

    Notes
    -----
    A map g is fitted without the row (f, y). With ``d = g(f) - f`` the row gains
    ``<s, y - f>``, where ``s = sign(d) |d|^(p-1) / ||d||_p^(p-1)``. As ``||s||_q = 1`` for
    ``1/p + 1/q = 1``, Hölder gives ``E <s, y - f> = E <s, c - f> <= E ||c - f||_p``, with equality
    for g = c. It is the drop of the proper loss ``-||g - f||_p - <s, y - g>`` from f to g, the
    variational estimator of Berta and others (2026), arXiv 2602.24230. `fit_on_test` errs to the
    other side: it measures a map on the rows that it was fitted to.

    For a calibrated model the expectation is 0, whatever the family;
    ``null_level(cross_fitted_error, y, p)`` gives spread and p-value. The interval takes the fitted
    maps as given, though folds share rows. A bootstrap would put copies of a row on both
    sides of a fold. Builds on `fit_on_test`. Taught in lesson 07.

    Examples
    --------
    >>> p, u = np.random.default_rng(0).random((2, 500))
    >>> round(cross_fitted_error(u < p**1.5, p).value, 3), round(float(np.mean(p - p**1.5)), 3)
    (0.088, 0.099)
    """
    prob, label, words = _rows(y_true, y_prob, view)
    model, gain_of = _family(evaluator, prob), _gain_of(loss)
    order = np.lexsort((label, *prob.T))
    said, hit = prob[order], label[order]
    fold, n_folds = assign_folds(said[:, 0], hit.astype(np.float64), cv, rng)
    scores, after = said if prob.shape[1] > 1 else said[:, 0], np.empty_like(said)
    for held in (fold == k for k in range(n_folds)):
        fitted = clone(model).fit(scores[~held], hit[~held])
        after[held] = fitted.calibrate(scores[held]).reshape(-1, prob.shape[1])
    happened = hit[:, np.newaxis] == (np.arange(prob.shape[1]) if prob.shape[1] > 1 else 1)
    gain = np.empty(len(prob))
    gain[order] = gain_of(after - said, happened - said)
    norm = "Brier score" if loss == "brier" else f"L{loss:g}"
    return CrossFittedError(
        value=float(gain.mean()),
        standard_error=float(gain.std(ddof=1) / np.sqrt(len(gain))),
        gain=gain,
        name=f"calibration error by cross-fitted {model.family} ({norm}, {words})",
    )


def _rows(y_true: Any, y_prob: Any, view: View) -> tuple[FloatMatrix, NDArray[Any], str]:
    """Return probabilities of shape (n, 1) for one event or (n, K), labels, and the view."""
    if view is None and np.ndim(y_prob) == 2:
        label, prob = as_predictions(y_true, y_prob)
        return prob.astype(np.float64), label.astype(np.int64), "whole rows"
    problem = binary_problem(y_true, y_prob, view=view)
    prob = problem.prob.astype(np.float64)[:, np.newaxis]
    return prob, problem.label.astype(np.int64), problem.view


def _family(evaluator: Any, prob: FloatMatrix) -> AnyCalibrator:
    """Return a calibrator that suits the shape."""
    if prob.shape[1] == 1:
        return as_evaluator(BetaCalibrator() if evaluator is None else evaluator)
    model: AnyCalibrator = VectorScaling("probabilities") if evaluator is None else evaluator
    if getattr(model, "input", None) != "probabilities":
        raise ValueError(
            "for whole rows the evaluator is one of calibkit.calibrators with "
            f'input="probabilities", got {evaluator!r}; or name a view.'
        )
    return model


def _gain_of(loss: float | str) -> Gains:
    """Return what maps d = g(f) - f and y - f to the gain of each row."""
    if isinstance(loss, str) and loss == "brier":
        return lambda d, left: np.asarray((d * (2 * left - d)).sum(axis=1))
    norm = as_number(loss, "loss", '"brier" or a norm from 1 on', lambda p: p >= 1)
    return lambda d, left: np.asarray((_direction(d, norm) * left).sum(axis=1))


def _direction(d: FloatMatrix, norm: float) -> FloatMatrix:
    """Return the derivative of ``||d||_p`` by rows: of length 1 in the dual norm, or 0."""
    size, length = np.abs(d), np.linalg.norm(d, norm, axis=1, keepdims=True)
    if norm == np.inf:  # the first of equal entries
        share = (np.arange(d.shape[1]) == size.argmax(axis=1)[:, np.newaxis]).astype(np.float64)
    else:
        share = (size / np.where(length > 0, length, 1)) ** (norm - 1)
    return np.asarray(np.sign(d) * share)
