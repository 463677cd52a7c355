"""The Brier score, its parts by bins, and the log loss."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.bins import Bins, Distinct, as_bins
from calibkit.inputs import (
    FloatArray,
    FloatVector,
    View,
    as_choice,
    as_predictions,
    as_weights,
    binary_problem,
)
from calibkit.reliability import table_of
from calibkit.results import Number, listed, spell


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Score(Number):
    """A mean score, or a part of one; smaller is better.

    Parameters
    ----------
    value, name, n : float, str, int
        The mean, its name with convention or unit, and the number of predictions.
    impossible : int
        How many of them gave probability 0 to what happened.
    view : str
        Of which event, in words; empty where all classes count.
    """

    value: float
    name: str
    n: int
    impossible: int = 0
    view: str = ""

    def describe(self) -> str:
        """Say the score, and whether something happened that was called impossible."""
        of = f"{self.view}, " if self.view else ""
        text = f"{self.name} {self.value:.4f} ({of}{spell(self.n, 'prediction')})"
        if self.impossible:
            text += f"; {spell(self.impossible, 'event')} had been given probability 0"
        return text + "."

    def _columns(self) -> dict[str, NDArray[Any]]:
        return {"score": np.array([self.name]), "value": np.array([self.value])}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class BrierDecomposition(Number):
    """The parts of a Brier score.

    ``score = miscalibration - discrimination + uncertainty + within_bin``, exactly.

    Parameters
    ----------
    score, miscalibration : float
        The latter is ``sum_b w_b (m_b - f_b)^2``: what recalibrating the bins would win.
    discrimination : float
        ``sum_b w_b (f_b - f)^2``: how far the bins' frequencies spread. Large is best.
    uncertainty, within_bin : float
        ``f (1 - f)`` with the overall frequency f: what the problem brings along. What the bins
        hide: predictions that differ inside a bin; 0 for `Distinct` bins.
    view, bins, n
    """

    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float
    within_bin: float
    view: str
    bins: str
    n: int

    @property
    def value(self) -> float:
        """The score itself."""
        return self.score

    @property
    def skill(self) -> float:
        """Brier skill score, ``1 - score / uncertainty``; NaN where one outcome is missing."""
        return 1 - self.score / self.uncertainty if self.uncertainty else float("nan")

    def describe(self) -> str:
        """Say the score as the sum of its parts."""
        return (
            f"Brier score {self.score:.4f} = {self.miscalibration:.4f} miscalibration "
            f"- {self.discrimination:.4f} discrimination + {self.uncertainty:.4f} uncertainty "
            f"{'-' if self.within_bin < 0 else '+'} {abs(self.within_bin):.4f} within bins "
            f"({self.view}, {self.bins}, {spell(self.n, 'prediction')})."
        )

    def _columns(self) -> dict[str, NDArray[Any]]:
        parts = ("score", "miscalibration", "discrimination", "uncertainty", "within_bin")
        return listed(self, parts, ("part", "value"))


def brier_score(
    y_true: Any,
    y_prob: Any,
    *,
    classes: str = "sum",
    positive: Any = None,
    sample_weight: Any = None,
) -> Score:
    """Mean squared distance between the probabilities and what happened.

    ``(1/n) sum_i sum_k (p_ik - [y_i = k])^2``, or ``(1/n) sum_i (p_i - y_i)^2`` (Panchenko 2021,
    section 1.2). Lesson 02.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    classes : {"sum", "mean"}
        For K columns: sum the squares over classes (Brier's own form, 0 to 2) or average them
        (0 to 2/K). For one-dimensional `y_prob` only the event y = 1 counts (0 to 1): half of
        the sum over both classes.
    positive, sample_weight : optional
        The label that `y_prob` is about, e.g. ``"yes"``; what each row counts, at least 0.

    Returns
    -------
    Score
        The mean, and how many events had been given probability 0.

    Raises
    ------
    ValueError
        If labels, probabilities, view or options are not valid; the message names row and value.

    See Also
    --------
    brier_decomposition, log_loss

    Examples
    --------
    >>> float(brier_score([1, 0], [1.0, 0.5])), float(brier_score([1, 0], [[0, 1], [.5, .5]]))
    (0.125, 0.25)
    """
    as_choice(classes, "classes", ("sum", "mean"))
    prob, own, weight = _probability_of_label(y_true, y_prob, positive, sample_weight)
    if prob.ndim == 1:
        value, name = np.average((1 - own) ** 2, weights=weight), "Brier score"
    else:
        squares = np.einsum("ik,ik->i", prob, prob, dtype=np.float64, casting="same_kind")
        value = np.average(squares - own**2 + (1 - own) ** 2, weights=weight)
        value = value / prob.shape[1] if classes == "mean" else value
        name = f"Brier score ({classes} over {prob.shape[1]} classes)"
    impossible = int(np.count_nonzero(own == 0))
    return Score(value=float(value), name=name, n=len(own), impossible=impossible)


def log_loss(y_true: Any, y_prob: Any, *, positive: Any = None, sample_weight: Any = None) -> Score:
    """Mean negative logarithm of the probability that was given to what happened, in nats.

    ``-(1/n) sum_i ln p_i[y_i]``; also called cross-entropy or negative log-likelihood (Panchenko
    2021, section 1.2). Nothing is clipped: infinite if any event had been given probability 0;
    the result's ``impossible`` counts such events. Lesson 02.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    positive, sample_weight : optional
        The label that `y_prob` is about, e.g. ``"yes"``; what each row counts, at least 0.

    Returns
    -------
    Score
        The mean, and how many events had been given probability 0.

    Raises
    ------
    ValueError
        If labels, probabilities, view or options are not valid; the message names row and value.

    Examples
    --------
    >>> round(float(log_loss([1, 0], [0.5, 0.5])), 6)
    0.693147
    """
    _, own, weight = _probability_of_label(y_true, y_prob, positive, sample_weight)
    with np.errstate(divide="ignore"):  # ln 0: reported in the result, not hidden
        value = float(np.average(-np.log(own), weights=weight)) + 0.0
    impossible = int(np.count_nonzero(own == 0))
    return Score(value=value, name="Log loss (nats)", n=len(own), impossible=impossible)


def _probability_of_label(
    y_true: Any, y_prob: Any, positive: Any, sample_weight: Any
) -> tuple[FloatArray, FloatVector, FloatVector | None]:
    """Return probabilities, that of what happened in each row, and weights; none of them 0."""
    label, prob = as_predictions(y_true, y_prob, positive, sample_weight)
    weight = None if sample_weight is None else as_weights(sample_weight, len(prob))
    if weight is not None:
        label, prob, weight = label[weight > 0], prob[weight > 0], weight[weight > 0]
    if prob.ndim == 2:
        return prob, prob[np.arange(len(prob)), label].astype(np.float64), weight
    return prob, np.abs(prob - (label == 0).astype(np.float64)), weight


def brier_decomposition(
    y_true: Any,
    y_prob: Any,
    *,
    view: View = None,
    bins: Bins | None = None,
    positive: Any = None,
    sample_weight: Any = None,
) -> BrierDecomposition:
    """Split the Brier score of an event into miscalibration and discrimination.

    ``score = sum_b w_b (m_b - f_b)^2 - sum_b w_b (f_b - f)^2 + f (1 - f) + within_bin`` with
    ``within_bin = (1/n) sum_i (p_i - m_b)^2 - (2/n) sum_i (p_i - m_b) y_i``. Murphy (1973) has
    it for distinct values; the last term makes it exact for any bins. Lesson 02.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    view : {"top-label", "confidence"}, int or list of int, optional
        Which event; needed when `y_prob` has columns.
    bins : int, Binning or edges, optional
        By default one bin per distinct prediction (Murphy's own form); choose a number of bins
        for continuous predictions.
    positive, sample_weight : optional
        The label that `y_prob` is about, e.g. ``"yes"``; what each row counts, at least 0.

    Returns
    -------
    BrierDecomposition
        The score and its parts, which add up exactly.

    Raises
    ------
    ValueError
        If labels, probabilities, view or options are not valid; the message names row and value.

    Examples
    --------
    >>> parts = brier_decomposition([0, 0, 1, 1, 1], [.2, .2, .2, .9, .9])
    >>> round(parts.miscalibration, 4), round(parts.discrimination, 4), parts.within_bin
    (0.0147, 0.1067, 0.0)
    """
    problem = binary_problem(
        y_true, y_prob, view=view, positive=positive, sample_weight=sample_weight
    )
    table = table_of(problem, Distinct() if bins is None else as_bins(bins))
    weight, mean_prob, frequency = (
        part[table.occupied] for part in (table.weight, table.mean_prob, table.frequency)
    )
    overall = np.average(problem.label, weights=problem.weight)
    within = 0.0
    if not isinstance(table.binning, Distinct):
        centred = problem.prob - table.mean_prob[table.assign(problem.prob)]
        hidden = centred**2 - 2 * centred * problem.label
        within = float(np.average(hidden, weights=problem.weight))
    score = np.average((problem.prob.astype(float) - problem.label) ** 2, weights=problem.weight)
    return BrierDecomposition(
        score=float(score),
        miscalibration=float((weight * (mean_prob - frequency) ** 2).sum()),
        discrimination=float((weight * (frequency - overall) ** 2).sum()),
        uncertainty=float(overall * (1 - overall)),
        within_bin=within,
        view=problem.view,
        bins=table.bins,
        n=problem.n,
    )
