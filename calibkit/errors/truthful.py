"""The averaged two-bin error of Hartline, Hu and Wu: nobody gains by a lie."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from calibkit.errors.family import view_of
from calibkit.inputs import FloatArray, FloatVector, IntArray, View, binary_problems
from calibkit.results import Number, listed, spell


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TwoBinError(Number):
    """An averaged two-bin error, beside what a calibrated model with these predictions shows.

    Parameters
    ----------
    value, null_mean : float
        The error, and its expectation if every prediction is right; over classes, means.
    per_view : ndarray of shape (V,)
        The error of each view, of which there is one or, in the class-wise view, one per class.
    view, n : str, int
        Which event or events; the predictions.
    """

    name: ClassVar[str] = "averaged two-bin error"

    value: float
    null_mean: float
    per_view: FloatVector
    view: str
    n: int

    def describe(self) -> str:
        """Say the error, its view and its null level."""
        return (
            f"Averaged two-bin error {self.value:.2g} ({self.view}, "
            f"{spell(self.n, 'prediction')}); a calibrated model would show {self.null_mean:.2g} "
            "on average."
        )

    def _columns(self) -> dict[str, Any]:
        return listed(self, ("value", "null_mean"), ("quantity", "value"))


def averaged_two_bin_error(
    y_true: Any, y_prob: Any, *, view: View = None, positive: Any = None
) -> TwoBinError:
    """Cut the predictions in two, square both sums of residuals, average over all cuts (ATB).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    view : {"top-label", "class-wise"}, int or list of int, optional
        Which event, or each class in turn; needed when `y_prob` has columns.
    positive : optional
        The label that `y_prob` is about, e.g. ``"yes"``.

    Returns
    -------
    TwoBinError
        The error with its null level.

    Raises
    ------
    ValueError
        If labels, probabilities or view are not valid; the message names row and value.

    Notes
    -----
    ``ATB = ∫ [(sum_{p_i < q} (p_i - y_i))² + (sum_{p_i >= q} (p_i - y_i))²] dq / n²`` over q from 0
    to 1: between neighbouring predictions the integrand is constant. Let c be the true chances.
    Whatever the cut, the two squares have the variance ``sum c_i (1 - c_i)`` between them, and what
    a forecaster can change is the squared sums of ``p_i - c_i`` alone, which are 0 for ``p = c``.
    So the error is *truthful*: no statement has a lower expectation than the true chances, whose
    own is ``sum p_i (1 - p_i) / n²``, the null level. Statements that merge these n cases into
    groups with their mean chance have the same; but where the cases are drawn, too, the expectation
    is the Brier score / n, plus ``1 - 1/n`` times the integral of two squared means, so that the
    truth alone is lowest (*strictly* truthful). The ECE is not truthful: a forecaster with fewer
    different predictions can have a smaller one. Hartline, Hu and Wu (2026), whose name for it is
    averaged two-bin calibration error. Lesson 05.

    Examples
    --------
    >>> error = averaged_two_bin_error([0, 1, 1, 1], [.1, .4, .8, .9])
    >>> round(error.value, 4), round(error.null_mean, 4)
    (0.035, 0.0362)
    """
    problems = binary_problems(y_true, y_prob, view=view, positive=positive)
    error, null = np.transpose([_two_bins(problem.label, problem.prob) for problem in problems])
    return TwoBinError(
        value=float(error.mean()),
        null_mean=float(null.mean()),
        per_view=error,
        view=view_of(problems),
        n=problems[0].n,
    )


def _two_bins(label: IntArray, prob: FloatArray) -> FloatVector:
    """Return the error, of sums below each gap between predictions and above it, and its mean."""
    order, prob = np.argsort(prob), prob.astype(float)
    below = np.append(0.0, np.cumsum((label - prob)[order]))
    squares = (below**2 + (below[-1] - below) ** 2) @ np.diff(prob[order], prepend=0, append=1)
    return np.array([squares, prob @ (1 - prob)]) / prob.size**2
