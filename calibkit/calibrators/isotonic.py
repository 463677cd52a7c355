"""Isotonic regression: the best increasing map, and Venn-Abers, which fits it twice."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from calibkit.bins import isotonic_blocks
from calibkit.calibrators.base import Calibrator, Weights
from calibkit.calibrators.multiclass import Wrapper, normalised
from calibkit.inputs import FloatArray, FloatMatrix, FloatVector, IntVector


class IsotonicCalibrator(Calibrator):
    """Isotonic regression: of all increasing maps the one with the smallest Brier score.

    It has the smallest value of every proper loss, too. Adjacent violators are pooled: where labels
    decrease from one group of predictions to the next, both become one *block*.

    Attributes
    ----------
    low_, high_, height_, count_ : ndarray of shape (J,)
        Smallest and largest prediction of each block; its frequency, strictly increasing; its size,
        or the sum of its weights.

    Notes
    -----
    Constant on a block and beyond the ends, linear between blocks, as in scikit-learn. Equal
    predictions are pooled first. The blocks are those of `calibkit.scores.corp_decomposition`. Only
    ranks and labels count: any increasing distortion of the predictions leaves the heights alone.
    The outer blocks often say exactly 0 and 1, so one surprise makes the log loss infinite.
    Zadrozny and Elkan (2002). Taught in lessons 05 and 11; the blocks in lesson 04.

    Examples
    --------
    >>> model = IsotonicCalibrator().fit([0.1, 0.2, 0.6, 0.7, 0.9], [0, 1, 0, 1, 1])
    >>> model.calibrate([0.0, 0.4, 0.65, 1.0]).round(3).tolist()
    [0.0, 0.5, 0.75, 1.0]
    """

    family: ClassVar[str] = "isotonic"
    weighted: ClassVar[bool] = True
    can_say_zero: ClassVar[bool] = True

    def _fit(self, prob: FloatVector, label: FloatVector, weight: Weights = None) -> None:
        self.n_parameters_ = None
        if weight is None:
            low, high, hits, mass = _runs(prob, label)
        else:
            low, place = np.unique(prob, return_inverse=True)
            high, hits, mass = low, np.bincount(place, weight * label), np.bincount(place, weight)
        start = isotonic_blocks(hits, mass)
        hits, self.count_ = np.add.reduceat(hits, start), np.add.reduceat(mass, start)
        self.low_, self.high_ = low[start], high[np.append(start[1:], len(high)) - 1]
        self.height_ = hits / self.count_

    def _curve(self, prob: FloatVector) -> FloatVector:
        return np.interp(prob, *self._corners())

    def _corners(self) -> tuple[FloatVector, FloatVector]:
        return np.column_stack([self.low_, self.high_]).ravel(), self.height_.repeat(2)

    def polyline(self) -> tuple[FloatVector, FloatVector]:
        """Return the corners of the map, from 0 to 1."""
        self._check_fitted()
        x, y = self._corners()
        return np.concatenate(([0.0], x, [1.0])), np.concatenate((y[:1], y, y[-1:]))


def _runs(prob: FloatVector, label: FloatVector) -> tuple[NDArray[Any], ...]:
    """Return lowest and highest prediction, events and size of runs in which labels do not rise.

    Such a run is in one block in any case. One sort of whole numbers finds them: the bits of
    numbers from 0 on are in their order (adding 0 turns -0 into 0). Below the lowest bit comes 1
    for label 0: of equal predictions those with label 1 are first, so a run holds them all.
    """
    key = (prob + 0.0).view(np.int64)
    key <<= 1
    key |= label == 0
    key.sort()
    miss = key & 1
    key >>= 1
    value = key.view(np.float64)
    first = np.flatnonzero(np.diff(miss, prepend=2) < 0)
    size = np.diff(first, append=len(value))
    return value[first], value[first + size - 1], size - np.add.reduceat(miss, first), size


Scores = NDArray[np.floating]

# Part of a probability by which rounding may move it, as it does when a model is asked in another
# batch: the map is a step there.
_ROUNDING = 1e-12


class VennAbers(Wrapper):
    """Fit an isotonic map twice for every new score: as if its label were 0, and as if it were 1.

    One of the two fits contains the new point as it is, so both are given: an interval
    ``[p0, p1]``. The probability that hedges best between them is ``p1 / (1 - p0 + p1)``.

    Parameters
    ----------
    input : {"logits", "probabilities"}
        Of logits of shape (n, K) the softmax is used; of shape (n,) only the order matters. Of many
        classes each is one against all others, and rows are then divided by their sum.

    Attributes
    ----------
    n_classes_, n_parameters_ : int, None

    Notes
    -----
    Validity: let P be that end of the interval which belongs to the true label. Then the event has
    probability P given P, exactly, for data in random order and any number of them. No single map
    has such a guarantee. Of many classes each has it on its own, before rows are divided by their
    sum. The width shows how little data there are near a score. The fits are steps, in exact
    arithmetic; scores that differ by rounding are one score. Weights are counts.
    Fitted to held-out rows it is the inductive form; the
    package venn-abers has the cross form. Vovk, Petej and Fedorova (2015) sections 2 to 4. Taught
    in lesson 11.

    Examples
    --------
    >>> model = VennAbers("probabilities").fit([0.1, 0.3, 0.4, 0.6, 0.9], [0, 0, 1, 0, 1])
    >>> [end.round(3).tolist() for end in model.interval([0.5])]
    [[0.333], [0.667]]
    """

    family: ClassVar[str] = "Venn-Abers"
    can_say_zero = False
    takes_one_event: ClassVar[bool] = True

    brackets_: list["Brackets"]

    def __init__(self, input: str | None = None):
        self.input = input

    def _prepared(self, scores: FloatArray) -> FloatMatrix:
        return np.asarray(scores, np.float64) if scores.ndim == 1 else super()._prepared(scores)

    def _fit(self, prob: FloatArray, label: IntVector, weight: Weights = None) -> None:
        self.n_parameters_ = None
        if prob.ndim == 1:
            self.brackets_ = [Brackets.fit(prob, label == 1, weight)]
        else:
            self.brackets_ = [Brackets.fit(p, label == c, weight) for c, p in enumerate(prob.T)]

    def _calibrate(self, prob: FloatArray) -> FloatMatrix:
        new = merged(*self._ends(prob))
        return new if prob.ndim == 1 else normalised(new)

    def _ends(self, prob: FloatArray) -> tuple[FloatMatrix, FloatMatrix]:
        if prob.ndim == 1:
            return self.brackets_[0].at(prob)
        ends = [one.at(column) for one, column in zip(self.brackets_, prob.T, strict=True)]
        lower, upper = zip(*ends, strict=True)
        return np.column_stack(lower), np.column_stack(upper)

    def interval(self, scores: Any) -> tuple[FloatMatrix, FloatMatrix]:
        """Return the probability if the label were 0, and if it were 1, of the shape of `scores`.

        ``p0 <= p1`` of each class against the others; rows need not sum to 1.
        """
        return self._ends(self._ready(scores))

    def width(self, scores: Any) -> FloatMatrix:
        """Return ``p1 - p0``, of the shape of `scores`: how much one more label could change."""
        lower, upper = self.interval(scores)
        return np.asarray(upper - lower)


@dataclass(frozen=True, slots=True)
class Brackets:
    """The two isotonic fits of every new score: with label 0 (lower) and with label 1 (upper)."""

    distinct: Scores  # those that were fitted to, in increasing order
    lower: FloatMatrix  # by the number of distinct scores up to the new one
    upper: FloatMatrix  # by the number of distinct scores below the new one

    @classmethod
    def fit(cls, score: Scores, event: NDArray[np.bool_], weight: Weights = None) -> Self:
        """Fit to scores, whether the event happened, and how much each row counts."""
        distinct, group = np.unique(score, return_inverse=True)
        new = np.diff(distinct, prepend=-np.inf) > _reach(distinct)
        distinct, group = distinct[new], (np.cumsum(new) - 1)[group]
        rows = np.ones(len(group)) if weight is None else weight
        count, hits = np.bincount(group, rows), np.bincount(group, rows * event)
        if (rows == np.rint(rows)).all():  # whole numbers of any size are compared exactly
            count, hits = (np.array([*map(int, one)], dtype=object) for one in (count, hits))
        # With label 0 everything is as with label 1, seen from the other end.
        lower = 1 - _with_a_hit(count[::-1], (count - hits)[::-1])[::-1]
        return cls(distinct, lower, _with_a_hit(count, hits))

    def at(self, score: Scores) -> tuple[FloatMatrix, FloatMatrix]:
        """Return both fits at new scores."""
        reach = _reach(score)
        lower = self.lower[np.searchsorted(self.distinct, score + reach, "right")]
        upper = self.upper[np.searchsorted(self.distinct, score - reach, "left")]
        return lower, upper


def _reach(score: Scores) -> FloatMatrix:
    """Return by how much rounding may move a score: what is left to 1 has digits of its own."""
    return np.asarray(np.abs(_ROUNDING * score * (1 - score)) + 4e-16 * np.abs(score))


def merged(lower: FloatMatrix, upper: FloatMatrix) -> FloatMatrix:
    """Return the probability between the two whose largest regret of log loss is smallest."""
    return np.asarray(upper / (1 - lower + upper))


def _with_a_hit(count: NDArray[Any], hits: NDArray[Any]) -> FloatMatrix:
    """Return the isotonic fit at a new point with label 1, just before each group and at the end.

    It is the slope of the greatest convex minorant of the sums of labels against counts. The new
    point lifts all later sums by (1, 1): take the common tangent of the sums before, lowered by (1,
    1), and the sums after. Whole numbers: all comparisons are exact.
    """
    x = [0, *np.cumsum(count).tolist()]
    y = [0, *np.cumsum(hits).tolist()]

    def slope(before: int, after: int) -> tuple[float, float]:
        """Return run and rise from a lowered point to a point after the new one."""
        return x[after] - x[before] + 1, y[after] - y[before] + 1

    follower = _hulls(x, y)
    last = len(x) - 1
    before = touch = 0
    run, rise = 1.0, 1.0
    values = np.empty(last + 1)
    for i in range(last + 1):
        if i == 0 or (y[i] - y[before]) * run < rise * (x[i] - x[before]):
            before, touch = i, max(touch, i)
            run, rise = slope(before, touch)
            while touch < last:
                further = slope(before, follower[touch])
                if further[1] * run >= rise * further[0]:
                    break
                touch, (run, rise) = follower[touch], further
        values[i] = rise / run
    return values


def _hulls(x: list[float], y: list[float]) -> list[int]:
    """Return for each point the next corner of the convex minorant of it and all points after."""
    last = len(x) - 1
    follower = [last] * (last + 1)
    for i in range(last - 1, -1, -1):
        j = i + 1
        while j < last:
            k = follower[j]
            if (y[j] - y[i]) * (x[k] - x[i]) < (y[k] - y[i]) * (x[j] - x[i]):
                break
            j = k
        follower[i] = j
    return follower
