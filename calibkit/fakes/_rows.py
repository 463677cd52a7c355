"""Draw the rows of a knob classifier: no loop over rows, every number a fixed order of draws.

The order is predicted classes, true confidences, right or wrong, which wrong class. Neither the
error budget nor the direction consumes randomness. So, with equal shares, the same seed gives the
same labels for every strength of miscalibration.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibkit._validation import BLOCK_ROWS, as_count, as_generator
from calibkit.fakes._sample import FakeSample, FloatVector, fake_sample

EPS = float(np.finfo(np.float64).eps)
# The predicted class must be the only largest one, also after rounding: the confidence stays
# this far above 1/K, and random shares stay this fraction away from a tie.
CONFIDENCE_MARGIN = 4 * EPS
SHARE_MARGIN = 1e-9
SMALLEST_EXCESS = 1e-6


@dataclass(frozen=True, slots=True)
class RowPlan:
    """How to draw rows; the arrays hold one value, or one per predicted class.

    Parameters
    ----------
    n_classes : int
        Number of classes, K.
    class_weights : tuple of float or None
        How often each class is predicted; None is equally often.
    a, b : ndarray
        Beta parameters of the true confidence.
    share, anchor : ndarray
        The confidence moves by `share` of the way to `anchor`.
    spread : {"equal", "random"}
        How the rest of the probability is divided among the other classes.
    """

    n_classes: int
    class_weights: tuple[float, ...] | None
    a: FloatVector
    b: FloatVector
    share: FloatVector
    anchor: FloatVector
    spread: str

    def draw(self, n: int, rng: int | np.random.Generator | None) -> FakeSample:
        """Draw `n` rows."""
        n, generator, k = as_count(n, "n"), as_generator(rng), self.n_classes
        predicted = self._predicted(n, generator)
        unit = generator.beta(self._own(self.a, predicted), self._own(self.b, predicted), n)
        true = 1 / k + (1 - 1 / k) * unit
        rest = (1 - 1 / k) * (1 - unit)
        correct = generator.random(n) < true
        share, anchor = self._own(self.share, predicted), self._own(self.anchor, predicted)
        confidence = (1 - share) * true + share * anchor
        confidence = np.clip(confidence, 1 / k + CONFIDENCE_MARGIN, 1)
        said_rest = (1 - share) * rest + share * (1 - anchor)  # keeps digits near certainty
        if self.spread == "random" and k > 2:
            shares = generator.standard_exponential((k, n))
            level = 1 - generator.random(n)  # in (0, 1]: never a class of probability 0
            said, truth = np.empty((n, k)), np.empty((n, k))
            wrong = np.empty(n, dtype=np.int64)
            for start in range(0, n, BLOCK_ROWS):
                rows = slice(start, start + BLOCK_ROWS)
                own = limit_shares(shares[:, rows], predicted[rows], confidence[rows])
                wrong[rows] = choose(own, level[rows])
                fill(said[rows], predicted[rows], confidence[rows], (said_rest[rows] * own).T)
                fill(truth[rows], predicted[rows], true[rows], (rest[rows] * own).T)
        else:
            wrong = (predicted + generator.integers(1, k, n)) % k
            said = fill(np.empty((n, k)), predicted, confidence, said_rest[:, None] / (k - 1))
            truth = fill(np.empty((n, k)), predicted, true, rest[:, None] / (k - 1))
        return fake_sample(np.where(correct, predicted, wrong), said, truth)

    def _predicted(self, n: int, generator: np.random.Generator) -> NDArray[np.int64]:
        if self.class_weights is None:
            return generator.integers(0, self.n_classes, n)
        return np.asarray(generator.choice(self.n_classes, n, p=self.class_weights))

    @staticmethod
    def _own(values: FloatVector, predicted: NDArray[np.int64]) -> FloatVector:
        """Return the value of each row's predicted class; a single value stays a scalar."""
        return values[0] if len(values) == 1 else values[predicted]


def fill(
    rows: FloatVector, predicted: NDArray[np.int64], top: FloatVector, others: FloatVector
) -> FloatVector:
    """Write `others` everywhere and `top` on the predicted class."""
    rows[:] = others
    rows[np.arange(len(rows)), predicted] = top
    return rows


def limit_shares(
    draws: FloatVector, predicted: NDArray[np.int64], confidence: FloatVector
) -> FloatVector:
    """Turn exponential draws, one row per class, into shares of the wrong classes.

    They are uniform on the simplex as far as allowed. Some draws would lift a wrong class above
    the predicted one; these are pulled towards equal shares until they do not.
    """
    own = predicted, np.arange(len(predicted))
    equal = 1 / (len(draws) - 1)
    draws[own] = 0
    total = draws.sum(axis=0)
    excess = confidence - (1 - confidence) * equal
    room = (1 - confidence) * (draws.max(axis=0) / total - equal)
    with np.errstate(divide="ignore", invalid="ignore"):
        pull = np.minimum(1, (1 - SHARE_MARGIN) * excess / room)
    pull = np.where(room > 0, pull, 1)
    pull = np.where(excess > SMALLEST_EXCESS, pull, 0)
    shares = draws * (pull / total)
    shares += (1 - pull) * equal
    shares[own] = 0
    return np.asarray(shares)


def choose(shares: FloatVector, level: FloatVector) -> NDArray[np.int64]:
    """Return the class at which the running sum of each column reaches `level`, in (0, 1]."""
    running = np.cumsum(shares, axis=0)
    return np.asarray((running < level * running[-1]).sum(axis=0))


def true_rows(y_prob: FloatVector, top: FloatVector) -> FloatVector:
    """Give the largest entry of each row its true value and scale the others to fit."""
    rows = np.arange(len(y_prob))
    predicted = y_prob.argmax(axis=1)
    others = np.array(y_prob)
    others[rows, predicted] = 0
    total = others.sum(axis=1)
    equal = 1 / (y_prob.shape[1] - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        others = np.where(total[:, None] > 0, others / total[:, None], equal)
    others *= (1 - top)[:, None]
    others[rows, predicted] = top
    return np.asarray(others)
