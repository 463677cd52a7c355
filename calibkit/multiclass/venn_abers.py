"""Venn-Abers: two probabilities in place of one, and how far they are apart."""

from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from calibkit._validation import FloatArray
from calibkit.multiclass._base import FloatMatrix
from calibkit.multiclass._venn import Brackets, merged
from calibkit.multiclass.wrappers import Wrapper, normalised

IntVector = NDArray[np.intp]


class VennAbers(Wrapper):
    """Fit an isotonic map twice for every new score: as if its label were 0, and as if it were 1.

    One of the two fits contains the new point as it is, so both are given: an interval
    ``[p0, p1]``. The probability that hedges best between them is ``p1 / (1 - p0 + p1)``.

    Parameters
    ----------
    input : {"logits", "probabilities"}
        What is passed as scores; it has no default. Of logits of shape (n, K) the softmax is
        used; of shape (n,) only the order matters.
    scheme : {"one-vs-rest", "pairwise"}
        How many classes become binary problems: each class against all others, or each pair of
        classes among its own rows. Rows are then divided by their sum.

    Attributes
    ----------
    n_classes_, n_parameters_ : int, None
        K, and that the maps are not parametric.

    Raises
    ------
    ValueError
        By ``fit``, as in `MulticlassCalibrator`, and for an unknown `scheme`.

    Notes
    -----
    Validity: let P be that end of the interval which belongs to the true label. Then the event
    has probability P given P, exactly, for data in random order and any number of them. No
    single map has such a guarantee. Of many classes each has it on its own, before rows are
    divided by their sum. The width shows how little data there are near a score.

    Between two scores that were fitted to, the interval is the same: the fits are steps, in exact
    arithmetic. ``Calibrated(model, VennAbers("probabilities"), cv="prefit")`` is the inductive
    form, `CrossVennAbers` the cross form.

    Taught in lessons 10 and 11. Vovk, Petej and Fedorova (2015) sections 2 to 4; Price, Knerr,
    Personnaz and Dreyfus (1994) for pairs.

    Examples
    --------
    >>> model = VennAbers("probabilities").fit([0.1, 0.3, 0.4, 0.6, 0.9], [0, 0, 1, 0, 1])
    >>> lower, upper = model.interval([0.5])
    >>> lower.round(3).tolist(), upper.round(3).tolist()
    ([0.333], [0.667])
    >>> model.calibrate([0.5]).round(3).tolist()
    [0.5]
    """

    family: ClassVar[str] = "Venn-Abers"
    takes_one_event: ClassVar[bool] = True

    brackets_: list[Brackets]
    _pairs: list[tuple[int, int]] | None

    def __init__(self, input: str, scheme: str = "one-vs-rest"):
        self.input = input
        self.scheme = scheme

    def _prepared(self, scores: FloatArray) -> FloatMatrix:
        return np.asarray(scores, np.float64) if scores.ndim == 1 else super()._prepared(scores)

    def _fit(self, prob: FloatArray, label: IntVector) -> None:
        if not isinstance(self.scheme, str) or self.scheme not in ("one-vs-rest", "pairwise"):
            raise ValueError(f'scheme must be "one-vs-rest" or "pairwise", got {self.scheme!r}.')
        self.n_parameters_ = None
        self._pairs = None
        if prob.ndim == 1:
            self.brackets_ = [Brackets.fit(prob, label == 1)]
        elif self.scheme == "one-vs-rest":
            self.brackets_ = [Brackets.fit(p, label == c) for c, p in enumerate(prob.T)]
        else:
            self._pairs = list(combinations(range(prob.shape[1]), 2))
            rows = [np.isin(label, pair) for pair in self._pairs]
            self.brackets_ = [
                Brackets.fit(_share(prob[mine], pair), label[mine] == pair[1])
                for mine, pair in zip(rows, self._pairs, strict=True)
            ]

    def _calibrate(self, prob: FloatArray) -> FloatMatrix:
        if self._pairs is None:
            new = merged(*self._ends(prob))
            return new if prob.ndim == 1 else normalised(new)
        # Join the probabilities of pairs: 1 / p_i = sum_j 1 / p_ij - (K - 2).
        inverse = np.full(prob.shape, 2.0 - prob.shape[1])
        for one, (first, second) in zip(self.brackets_, self._pairs, strict=True):
            share = merged(*one.at(_share(prob, (first, second))))
            inverse[:, first] += 1 / (1 - share)
            inverse[:, second] += 1 / share
        return normalised(1 / inverse)

    def _ends(self, prob: FloatArray) -> tuple[FloatMatrix, FloatMatrix]:
        if prob.ndim == 1:
            return self.brackets_[0].at(prob)
        ends = [one.at(column) for one, column in zip(self.brackets_, prob.T, strict=True)]
        lower, upper = zip(*ends, strict=True)
        return np.column_stack(lower), np.column_stack(upper)

    def interval(self, scores: Any) -> tuple[FloatMatrix, FloatMatrix]:
        """Return both fits: the probability if the label were 0, and if it were 1.

        They have the shape of `scores`, with ``p0 <= p1`` of each class against the others; rows
        need not sum to 1. Pairs of classes leave no interval per class, a `ValueError`.
        """
        prob = self._ready(scores)
        if self._pairs is not None:
            raise ValueError(
                'interval needs scheme="one-vs-rest": pairs of classes give an interval per pair, '
                "none per class."
            )
        return self._ends(prob)

    def width(self, scores: Any) -> FloatMatrix:
        """Return ``p1 - p0``, of the shape of `scores`: how much one more label could change."""
        lower, upper = self.interval(scores)
        return np.asarray(upper - lower)


def _share(prob: FloatArray, pair: tuple[int, int]) -> FloatMatrix:
    """Return the share of the second of two classes; a half where neither has any."""
    first, second = prob[:, pair[0]], prob[:, pair[1]]
    total = first + second
    share = np.full(len(prob), 0.5)
    np.divide(second, total, out=share, where=total > 0)
    return share
