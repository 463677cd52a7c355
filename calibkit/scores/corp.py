"""CORP: the reliability curve without bins, and the parts of a score that come with it.

Consistent, optimally binned, reproducible, PAV-based: Dimitriadis, Gneiting and Jordan (2021).
"""

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlog1py, xlogy

from calibkit.bins import isotonic_blocks
from calibkit.inputs import FloatVector, IntVector, RowOptions, View, as_choice, binary_problem
from calibkit.inputs.rows import as_probability_array
from calibkit.results import Number, spell
from calibkit.scores.proper import Score

_SCORES = {"brier": "Brier score of the event", "log": "log loss in nats"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CorpDecomposition(Number):
    """The CORP curve of a binary problem and the parts of its score.

    Parameters
    ----------
    score, miscalibration, discrimination, uncertainty : float
        ``score = miscalibration - discrimination + uncertainty``, exactly; the score is infinite
        where an impossible event happened and the log loss was asked for.
    scoring, view : str
        The score with its convention, and which event, in words.
    low, high, mean_prob, recalibrated, count : ndarray of shape (J,)
        Of each block: smallest, largest and mean prediction, frequency of the event (the height of
        the curve, strictly increasing), number of predictions.
    prediction, prediction_count : ndarray of shape (m,)
        The distinct predictions, in order, and how often each occurs.
    """

    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float
    scoring: str
    low: FloatVector
    high: FloatVector
    mean_prob: FloatVector
    recalibrated: FloatVector
    count: IntVector
    prediction: FloatVector
    prediction_count: IntVector
    view: str

    @property
    def value(self) -> float:
        """The score itself."""
        return self.score

    @property
    def n(self) -> int:
        """Number of predictions."""
        return int(self.count.sum())

    @property
    def n_blocks(self) -> int:
        """Number of blocks of the curve, J."""
        return len(self.count)

    def recalibrate(self, prob: Any) -> FloatVector:
        """Return the height of the curve: flat on a block and beyond the ends, linear between."""
        across = np.column_stack([self.low, self.high]).ravel()
        return np.interp(as_probability_array(prob), across, self.recalibrated.repeat(2))

    def describe(self) -> str:
        """Say the score as the sum of its parts, and how many blocks the curve has."""
        return (
            f"{self.scoring[0].upper()}{self.scoring[1:]} {self.score:.4f} = "
            f"{self.miscalibration:.4f} miscalibration - {self.discrimination:.4f} discrimination "
            f"+ {self.uncertainty:.4f} uncertainty ({self.view}, "
            f"{spell(self.n, 'prediction')}, isotonic curve with {spell(self.n_blocks, 'block')})."
        )

    def _columns(self) -> dict[str, NDArray[Any]]:
        return {
            "from": self.low,
            "to": self.high,
            "count": self.count,
            "mean_prob": self.mean_prob,
            "recalibrated": self.recalibrated,
        }


def _loss(score: str, prob: FloatVector, hits: NDArray[Any], misses: NDArray[Any]) -> FloatVector:
    """Return the summed loss of stating each probability, for its events and non-events."""
    if score == "brier":
        return np.asarray(hits * (1 - prob) ** 2 + misses * prob**2)
    # xlogy(0, 0) = 0: what never happened may have had probability 0. No clipping anywhere.
    return np.asarray(-xlogy(hits, prob) - xlog1py(misses, -prob))


def _excess(
    score: str, prob: FloatVector, better: FloatVector, hits: NDArray[Any], misses: NDArray[Any]
) -> FloatVector:
    """Return what stating `prob` costs more than stating `better`."""
    if score == "brier":  # without taking nearly equal numbers from each other
        return np.asarray((prob - better) * ((prob + better) * (hits + misses) - 2 * hits))
    return _loss(score, prob, hits, misses) - _loss(score, better, hits, misses)


def corp_decomposition(
    y_true: Any,
    y_prob: Any,
    *,
    view: View = None,
    score: str = "brier",
    positive: Any = None,
    sample_weight: Any = None,
) -> CorpDecomposition:
    """Fit the CORP reliability curve and split the score into its three parts.

    Isotonic regression finds the increasing step curve from predictions to frequencies that fits
    best; equal predictions are pooled first. With the curve f, the overall frequency and the mean
    score S: ``MCB = S(p) - S(f(p))``, ``DSC = S(frequency) - S(f(p))``, ``UNC = S(frequency)``.
    Increasing maps of the predictions leave discrimination and uncertainty as they are. Log loss
    needs no clipping: the curve is 0 or 1 only where all labels agree, and there it costs nothing.
    A prediction of exactly 0 or 1 that was wrong costs infinity. Lesson 02.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 0 and 1, or ``0 .. K-1``; two of any kind with `positive`.
    y_prob : array-like of shape (n,) or (n, K)
        P(y = 1), or one column per class with rows that sum to 1.
    view : {"top-label", "confidence"}, int or list of int, optional
        Which event, as in `binary_problem`; by default y = 1.
    score : {"brier", "log"}
        Brier score of the event, ``(p - y)^2`` (half of the sum over both classes), or log
        loss in nats.
    positive, sample_weight : optional
        The label that `y_prob` is about, e.g. ``"yes"``; what each row counts, at least 0.

    Returns
    -------
    CorpDecomposition
        The score, its three parts, and the curve block by block.

    Raises
    ------
    ValueError
        If labels, probabilities (the message names row and value), view or options are not valid.

    Examples
    --------
    >>> parts = corp_decomposition([0, 1, 0, 1, 1, 1], [.2, .2, .3, .7, .7, .9])
    >>> parts.recalibrated.round(3), round(parts.miscalibration, 4), round(parts.discrimination, 4)
    (array([0.333, 1.   ]), 0.0489, 0.1111)
    """
    as_choice(score, "score", _SCORES)  # named before the data are looked at
    problem = binary_problem(
        y_true, y_prob, view=view, positive=positive, sample_weight=sample_weight
    )
    # Equal predictions are pooled: the distinct ones, their events and how often each occurs.
    distinct, index, count = np.unique(problem.prob, return_inverse=True, return_counts=True)
    prediction, weight = distinct.astype(np.float64), problem.weight
    if weight is None:
        hits = np.bincount(index[problem.label == 1], minlength=len(count))
        return decompose_counts(prediction, hits, count, view=problem.view, score=score)
    sums = (np.bincount(index, w, len(count)) for w in (weight * problem.label, weight))
    hits, mass = (one.astype(float) for one in sums)
    return decompose_counts(prediction, hits, count, mass, view=problem.view, score=score)


def decompose_counts(
    prediction: FloatVector,
    hits: NDArray[Any],
    rows: IntVector,
    mass: FloatVector | None = None,
    *,
    view: str,
    score: str = "brier",
) -> CorpDecomposition:
    """Do the work of `corp_decomposition` for distinct predictions in order, counted or weighed."""
    as_choice(score, "score", _SCORES)
    count = rows if mass is None else mass
    n = count.sum()
    starts = isotonic_blocks(hits, count)
    block_hits, block_count = np.add.reduceat(hits, starts), np.add.reduceat(count, starts)
    curve = block_hits / block_count
    height = curve.repeat(np.diff(starts, append=len(count)))
    overall = np.full(len(curve), hits.sum() / n)
    misses, block_misses = count - hits, block_count - block_hits
    return CorpDecomposition(
        score=float(_loss(score, prediction, hits, misses).sum() / n),
        miscalibration=float(_excess(score, prediction, height, hits, misses).sum() / n),
        discrimination=float(_excess(score, overall, curve, block_hits, block_misses).sum() / n),
        uncertainty=float(_loss(score, overall, block_hits, block_misses).sum() / n),
        scoring=_SCORES[score],
        low=prediction[starts],
        high=prediction[np.append(starts[1:], len(count)) - 1],
        mean_prob=np.add.reduceat(prediction * count, starts) / block_count,
        recalibrated=curve,
        count=np.add.reduceat(rows, starts),
        prediction=prediction,
        prediction_count=rows,
        view=view,
    )


def miscalibration(
    y_true: Any, y_prob: Any, *, view: View = None, score: str = "brier", **rows: Unpack[RowOptions]
) -> Score:
    """Return the miscalibration part of a score (MCB): a measure without bins.

    A calibrated model does not have 0: `null_level` puts the value into proportion. A log loss
    with an event of stated probability 0 is infinite and has no null level. Lesson 02.

    Parameters
    ----------
    y_true, y_prob, view, score
        As in `corp_decomposition`.
    **rows
        `positive` and `sample_weight`, as there.

    Returns
    -------
    Score
        A number that describes itself.

    Examples
    --------
    >>> round(float(miscalibration([0, 1, 0, 1, 1, 1], [.2, .2, .3, .7, .7, .9])), 4)
    0.0489
    """
    parts = corp_decomposition(y_true, y_prob, view=view, score=score, **rows)
    name = f"CORP miscalibration ({parts.scoring})"
    return Score(value=parts.miscalibration, name=name, view=parts.view, n=parts.n)
