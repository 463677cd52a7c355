"""The knob classifier: accuracy, calibration error and sharpness as three independent dials.

It knows the true chance Q of being right and reports ``Z = (1 - t) Q + t x``, a share t of the way
towards an anchor x. Anchor 1 makes it over-confident, 1/K under-confident, a pivot in between both.
Everything follows from the beta distribution of Q, in closed form.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import special

from calibkit.fakes._beta import ScaledBeta
from calibkit.fakes._sample import FakeSample, FakeTruth, InfeasibleTarget
from calibkit.inputs import (
    FloatVector,
    Rng,
    as_choice,
    as_count,
    as_number,
    as_positive,
    data_generator,
)

DIRECTIONS = ("over", "under", "pivot")
# A target may miss its limit, and a prediction the range of predictions, by rounding.
ROUNDING = 1e-12
MAP_ROUNDING = 1e-9
# The predicted class must be the only largest one, also after rounding: the confidence stays
# this far above 1/K.
CONFIDENCE_MARGIN = 4 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True)
class KnobClassifier:
    """A fake classifier with K classes whose true values are known exactly.

    Parameters
    ----------
    n_classes, accuracy : int, float
        K, at least 2; chance that the predicted class is right, strictly between 1/K and 1.
    budget_share : float
        Share of the largest possible calibration error, from 0 (calibrated) to 1.
    direction : {"over", "under", "pivot"}
        Over-confident, under-confident, or drawn towards the accuracy from both sides.
    concentration : float
        How alike the true confidences are: large is nearly one value, small is nearly only 1/K and
        1. Changes sharpness, neither accuracy nor the error of over and under.

    Notes
    -----
    ``Q = 1/K + (1 - 1/K) B`` with ``B ~ Beta(m s, (1 - m) s)``. Lemma 1 (section 7 of the review of
    notions) bounds the error: at most ``1 - accuracy`` when over-confident, at most
    ``accuracy - 1/K`` when under-confident. At ``budget_share=1`` all predictions are equal, and
    `truth` gives the limit. The mean errors of over and under attain it; larger norms and pivots
    jump. Fake classifiers: section 6; the construction is our own. Taught in lesson 03.

    Examples
    --------
    >>> fake = KnobClassifier(10, 0.9, budget_share=0.5, direction="over")
    >>> truth, sample = fake.truth(), fake.sample(1000, rng=0)
    >>> round(truth.mean_confidence, 4), round(truth.expected, 4), sample.y_prob.shape
    (0.95, 0.05, (1000, 10))
    """

    n_classes: int
    accuracy: float
    _: KW_ONLY
    budget_share: float = 0.0
    direction: str = "over"
    concentration: float = 4.0

    def __post_init__(self) -> None:
        n_classes = as_count(self.n_classes, "n_classes", 2)
        as_choice(self.direction, "direction", DIRECTIONS)
        feasible = "between 0 (calibrated) and 1 (the whole error budget)"
        checked = {
            "n_classes": n_classes,
            "accuracy": _as_accuracy(self.accuracy, n_classes),
            "budget_share": as_number(
                self.budget_share, "budget_share", feasible, lambda share: 0 <= share <= 1
            ),
            "concentration": as_positive(self.concentration, "concentration"),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @classmethod
    def with_error(
        cls, n_classes: int, accuracy: float, error: float, direction: str = "over", **dials: Any
    ) -> Self:
        """Build the classifier that has this expected calibration error, from 0 to `room`, exactly.

        Else `InfeasibleTarget` states what is possible; `dials` are further dials of
        `KnobClassifier`.

        >>> round(KnobClassifier.with_error(5, 0.8, 0.18, "over", concentration=3).budget_share, 9)
        0.9
        """
        wanted = as_number(error, "error", "a number from 0 on", lambda e: not np.isnan(e))
        if "budget_share" in dials:
            raise ValueError("with_error sets budget_share itself; give the error only.")
        fake = cls(n_classes, accuracy, direction=direction, **dials)
        room = fake.room
        if not 0 <= wanted <= room + ROUNDING:
            formulas = {"over": " = 1 - accuracy", "under": " = accuracy - 1/K"}
            raise InfeasibleTarget(
                f"error={error!r} is impossible: a classifier that is {fake._kind()} with accuracy "
                f"{accuracy:g} and {n_classes} classes can have an error from 0 to "
                f"{room:.6g}{formulas.get(direction, '')}."
            )
        share = min(wanted / room, 1.0) if room > 0 else 0.0
        return cls(n_classes, accuracy, budget_share=share, direction=direction, **dials)

    @property
    def anchor(self) -> float:
        """The confidence towards which predictions are moved."""
        if self.direction == "pivot":
            return self.accuracy
        return 1.0 if self.direction == "over" else 1 / self.n_classes

    @property
    def room(self) -> float:
        """The largest expected calibration error in this direction (Lemma 1)."""
        return self.law.mean_distance(self.anchor)

    @property
    def law(self) -> ScaledBeta:
        """Law of the true confidence Q, with ``cdf(q)`` and ``partial_mean(q)``, E[Q; Q <= q]."""
        return ScaledBeta(1 / self.n_classes, self.accuracy, self.concentration)

    def true_map(self, confidence: Any) -> FloatVector:
        """Return the true confidence behind each reported one; NaN where none is ever reported.

        At ``budget_share=1`` only the anchor is, and the true confidence there is the accuracy.
        """
        z = np.asarray(confidence, dtype=np.float64)
        low = 1 / self.n_classes
        if self.budget_share == 1:
            return np.where(np.abs(z - self.anchor) <= MAP_ROUNDING, self.accuracy, np.nan)
        start = low + self.budget_share * (self.anchor - low)
        end = 1 + self.budget_share * (self.anchor - 1)
        q = (z - self.budget_share * self.anchor) / (1 - self.budget_share)
        said = (z >= start - MAP_ROUNDING) & (z <= end + MAP_ROUNDING)
        return np.where(said, np.clip(q, low, 1), np.nan)

    def truth(self) -> FakeTruth:
        """Return all true values.

        Returns
        -------
        FakeTruth
            Errors and scores of the distribution, without any data.
        """
        share, anchor, k, true = self.budget_share, self.anchor, self.n_classes, self.law
        error = share * self.room
        square = share**2 * (true.variance + (self.accuracy - anchor) ** 2)
        sharp = true.variance + true.mean**2  # E Q^2
        brier = k / (k - 1) * square + 1 - sharp - (1 - 2 * self.accuracy + sharp) / (k - 1)
        return FakeTruth(
            model=self.describe(),
            accuracy=self.accuracy,
            mean_confidence=(1 - share) * self.accuracy + share * anchor,
            expected=error,
            root_mean_square=float(np.sqrt(square)),
            maximum=share * max(anchor - 1 / k, 1 - anchor),
            label_conditional=error,
            strong=2 * error,
            class_wise=2 * error / k,
            brier=brier,
            top_label_brier=square + self.accuracy - sharp,
            log_loss=self._log_loss(),
        )

    def _log_loss(self) -> float:
        share, anchor, k = self.budget_share, self.anchor, self.n_classes
        if share == 1 and anchor == 1:
            return np.inf  # certain, and wrong with positive probability

        def loss(q: float, rest: float) -> float:
            said = (1 - share) * q + share * anchor
            said_rest = (1 - share) * rest + share * (1 - anchor)
            return float(-special.xlogy(q, said) - special.xlogy(rest, said_rest / (k - 1)))

        return self.law.expectation(loss)

    def sample(self, n: int, rng: Rng = None) -> FakeSample:
        """Draw `n` predictions with labels, and the true rows that the labels were drawn from.

        Labels depend on the seed only, not on `budget_share` and `direction`.

        Parameters
        ----------
        n : int
            Number of rows, at least 1.
        rng : int, numpy.random.Generator or None
            Seed, generator, or fresh entropy.

        Returns
        -------
        FakeSample
            With ``y_true``, ``y_prob`` and ``true_prob``.
        """
        if self.budget_share == 1 and self.anchor == 1 / self.n_classes:
            raise ValueError(
                f"budget_share=1 towards 1/K = {self.anchor:.6g} makes every class equally likely "
                "in every row: all rows are ties and no class is predicted. truth() gives the "
                "limit; for a sample choose budget_share from 0 to 0.999999."
            )
        return draw_rows([self], n, rng)

    def _kind(self) -> str:
        if self.direction != "pivot":
            return f"{self.direction}-confident"
        return f"drawn towards {self.anchor:.4g}"

    def describe(self) -> str:
        """Say in words how good, how wrong and how this classifier is."""
        base = f"knob classifier with {self.n_classes} classes and accuracy {self.accuracy:.4g}"
        if self.budget_share == 0:
            return base + ", calibrated"
        return f"{base}, {self._kind()} ({100 * self.budget_share:.3g} % of the error budget)"


def _as_accuracy(value: Any, n_classes: int) -> float:
    low = 1 / n_classes
    feasible = (
        f"strictly between 1/K = {low:.6g} (guessing) and 1 (never wrong) for {n_classes} classes"
    )
    # The beta distribution needs both sides, also after rounding.
    return as_number(value, "accuracy", feasible, lambda a: (a - low) / (1 - low) > 0 and a < 1)


def draw_rows(knobs: Sequence[KnobClassifier], n: int, rng: Rng) -> FakeSample:
    """Draw rows of one knob classifier, or of one per predicted class.

    Every number has a fixed order of draws: predicted classes, true confidences, right or wrong,
    which wrong class. Neither the error budget nor the direction consumes randomness.
    """
    n, generator, k = as_count(n, "n"), data_generator(rng), knobs[0].n_classes
    predicted = generator.integers(0, k, n)

    def own(values: list[float]) -> Any:
        """Return the value of each row's predicted class; a single value stays a scalar."""
        return values[0] if len(values) == 1 else np.array(values)[predicted]

    laws = [knob.law for knob in knobs]
    unit = generator.beta(own([law.a for law in laws]), own([law.b for law in laws]), n)
    true = 1 / k + (1 - 1 / k) * unit
    rest = (1 - 1 / k) * (1 - unit)
    correct = generator.random(n) < true
    share, anchor = own([knob.budget_share for knob in knobs]), own([knob.anchor for knob in knobs])
    confidence = (1 - share) * true + share * anchor
    confidence = np.clip(confidence, 1 / k + CONFIDENCE_MARGIN, 1)
    said_rest = (1 - share) * rest + share * (1 - anchor)  # keeps digits near certainty
    wrong = (predicted + generator.integers(1, k, n)) % k
    return FakeSample(
        y_true=np.where(correct, predicted, wrong),
        y_prob=_table(predicted, confidence, said_rest, k),
        true_prob=_table(predicted, true, rest, k),
    )


def _table(
    predicted: NDArray[np.int64], top: FloatVector, rest: FloatVector, n_classes: int
) -> FloatVector:
    """Return rows in which the predicted class has `top`, and the others share the rest equally."""
    rows = np.empty((len(top), n_classes))
    rows[:] = rest[:, np.newaxis] / (n_classes - 1)
    rows[np.arange(len(top)), predicted] = top
    return rows
