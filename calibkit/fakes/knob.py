"""The knob classifier: accuracy, calibration error and sharpness as three independent dials.

It knows the true chance Q of being right and reports ``Z = (1 - t) Q + t x``, a share t of the way
towards an anchor x. Anchor 1 makes it over-confident, 1/K under-confident, a pivot in between both.
Everything follows from the beta distribution of Q, in closed form.
"""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from scipy import integrate, special

from calibkit.fakes.sample import FakeSample, FakeTruth, InfeasibleTarget
from calibkit.inputs import (
    FloatVector,
    IntVector,
    Rng,
    as_choice,
    as_count,
    as_finite,
    as_number,
    as_positive,
    data_generator,
)

# A target may miss its limit, and a prediction the range of predictions, by rounding.
ROUNDING = 1e-9
# The predicted class must be the only largest one, also after rounding: the confidence stays
# this far above 1/K.
CONFIDENCE_MARGIN = 1e-15


@dataclass(frozen=True, slots=True)
class ScaledBeta:
    """``Q = low + (1 - low) B`` with ``B ~ Beta(m s, (1 - m) s)`` and ``E Q = mean``."""

    low: float
    mean: float  # strictly between `low` and 1
    concentration: float  # s: large is narrow, small is spread to both ends

    @property
    def a(self) -> float:
        """First parameter of the beta distribution."""
        return self.concentration * (self.mean - self.low) / (1 - self.low)

    @property
    def b(self) -> float:
        """Second parameter of the beta distribution."""
        return self.concentration * (1 - self.mean) / (1 - self.low)

    @property
    def variance(self) -> float:
        """Variance of Q."""
        return (self.mean - self.low) * (1 - self.mean) / (self.concentration + 1)

    def unit(self, q: Any) -> FloatVector:
        """Map [low, 1] to [0, 1], and what lies outside to the nearer end."""
        return np.asarray(np.clip((np.asarray(q) - self.low) / (1 - self.low), 0, 1))

    def cdf(self, q: Any) -> FloatVector:
        """Return ``F(q) = P(Q <= q)``."""
        return np.asarray(special.betainc(self.a, self.b, self.unit(q)))

    def partial_mean(self, q: Any) -> FloatVector:
        """``M(q) = E[Q; Q <= q]``: low times the share of rows, plus the beta's own part."""
        above = special.betainc(self.a + 1, self.b, self.unit(q))
        return np.asarray(self.low * self.cdf(q) + (self.mean - self.low) * above)

    def quantile(self, level: Any) -> FloatVector:
        """Return the q with ``F(q) = level``."""
        return np.asarray(self.low + (1 - self.low) * special.betaincinv(self.a, self.b, level))

    def mean_distance(self, point: float) -> float:
        """``E |Q - point|``, by F and M."""
        if point >= 1:
            return point - self.mean
        if point <= self.low:
            return self.mean - point
        below = point * self.cdf(point) - self.partial_mean(point)
        return float(2 * below + self.mean - point)

    def expectation(self, function: Callable[[float, float], float]) -> float:
        """``E function(Q, 1 - Q)`` by adaptive quadrature, for a bounded function with few kinks.

        It gets both Q and 1 - Q because the difference would lose its digits where Q is nearly 1.
        """

        def at_level(level: float) -> float:
            rest = (1 - self.low) * special.betaincinv(self.b, self.a, 1 - level)
            return function(float(self.quantile(level)), float(rest))

        # For small concentrations nearly all change happens where mass jumps to the other end.
        jump = min(max(self.b / (self.a + self.b), 1e-3), 1 - 1e-3)
        cuts = [jump / 2, jump, (1 + jump) / 2]
        # With full output quad warns about rounding in its result, not on the screen.
        value, doubt, *_ = integrate.quad(
            at_level, 0, 1, points=cuts, limit=800, epsabs=1e-12, epsrel=1e-12, full_output=1
        )
        if not doubt <= 1e-8 * (1 + abs(value)):
            raise RuntimeError(f"the quadrature is unsure by {doubt:.1g}; the dials are extreme.")
        return float(value)


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

    Raises
    ------
    ValueError
        If a dial is outside its range; the message says what is possible.

    See Also
    --------
    ClassKnobs : other dials for each predicted class.

    Notes
    -----
    ``Q = 1/K + (1 - 1/K) B`` with ``B ~ Beta(m s, (1 - m) s)``. Lemma 1 (section 7 of Panchenko,
    2021) bounds the error: at most ``1 - accuracy`` when over-confident, ``accuracy - 1/K`` when
    under-confident. At ``budget_share=1`` all predictions are equal. A pivot is calibrated then:
    its error grows with the share, and falls to 0 there. Of over and under `truth` gives the limit
    from below, which the mean errors attain and larger norms do not. Fake classifiers: section 6;
    the construction is our own. Lesson 03.

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
        as_choice(self.direction, "direction", ("over", "under", "pivot"))
        low = 1 / n_classes
        possible = f"strictly between 1/K = {low:.6g} (guessing) and 1 (never wrong)"
        checked = {
            "n_classes": n_classes,
            # The beta distribution needs both sides, also after rounding.
            "accuracy": as_number(
                self.accuracy, "accuracy", possible, lambda a: (a - low) / (1 - low) > 0 and a < 1
            ),
            "budget_share": as_finite(self.budget_share, "budget_share", 0, 1),
            "concentration": as_positive(self.concentration, "concentration"),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @classmethod
    def with_error(
        cls, n_classes: int, accuracy: float, error: float, direction: str = "over", **dials: Any
    ) -> Self:
        """Build the classifier with exactly this expected error, from 0 to `room` (pivot: below).

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
        beyond = wanted >= room if direction == "pivot" else wanted > room + ROUNDING
        if wanted < 0 or beyond:
            formulas = {"over": " = 1 - accuracy", "under": " = accuracy - 1/K"}
            raise InfeasibleTarget(
                f"error={error!r} is impossible: a classifier that is {fake.kind} with accuracy "
                f"{accuracy:g} and {n_classes} classes can have an error from 0 to "
                f"{room:.6g}{formulas.get(direction, ', not included')}."
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
        """The largest expected calibration error in this direction (Lemma 1); no pivot has it."""
        return self.law.mean_distance(self.anchor)

    @property
    def law(self) -> ScaledBeta:
        """Law of the true confidence Q, with ``cdf(q)`` and ``partial_mean(q)``, E[Q; Q <= q]."""
        return ScaledBeta(1 / self.n_classes, self.accuracy, self.concentration)

    @property
    def kind(self) -> str:
        """The direction in words."""
        if self.direction == "pivot":
            return f"drawn towards {self.anchor:.4g}"
        return f"{self.direction}-confident"

    def report(self, q: Any) -> FloatVector:
        """Return the confidence that is reported where the true one is q."""
        return np.asarray((1 - self.budget_share) * q + self.budget_share * self.anchor)

    def true_map(self, confidence: Any) -> FloatVector:
        """Return the true confidence behind each reported one; NaN where none is ever reported.

        At ``budget_share=1`` only the anchor is, and the true confidence there is the accuracy.
        """
        z, low = np.asarray(confidence, dtype=np.float64), 1 / self.n_classes
        if self.budget_share == 1:
            return np.where(np.abs(z - self.anchor) <= ROUNDING, self.accuracy, np.nan)
        q = (z - self.budget_share * self.anchor) / (1 - self.budget_share)
        possible = (z >= self.report(low) - ROUNDING) & (z <= self.report(1) + ROUNDING)
        return np.where(possible, np.clip(q, low, 1), np.nan)

    def truth(self) -> FakeTruth:
        """Return all true values: errors and scores of the distribution, without any data."""
        share, anchor, k, law = self.budget_share, self.anchor, self.n_classes, self.law
        error, furthest = share * self.room, share * max(anchor - 1 / k, 1 - anchor)
        square = share**2 * (law.variance + (self.accuracy - anchor) ** 2)
        sharp = law.variance + law.mean**2  # E Q^2
        brier = k / (k - 1) * square + 1 - sharp - (1 - 2 * self.accuracy + sharp) / (k - 1)
        norm = float(np.sqrt(square))
        if share == 1 and self.direction == "pivot":  # all say the accuracy, and keep this promise
            error = norm = furthest = 0.0
        return FakeTruth(
            model=self.describe(),
            accuracy=self.accuracy,
            mean_confidence=float(self.report(self.accuracy)),
            expected=error,
            root_mean_square=norm,
            maximum=furthest,
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
            other = ((1 - share) * rest + share * (1 - anchor)) / (k - 1)
            return float(-special.xlogy(q, self.report(q)) - special.xlogy(rest, other))

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
            With ``y_true``, ``y_prob`` and ``true_prob``, the last two of shape (n, K).
        """
        if self.budget_share == 1 and self.anchor == 1 / self.n_classes:
            raise ValueError(
                f"budget_share=1 towards 1/K = {self.anchor:.6g} makes every class equally likely "
                "in every row: all rows are ties and no class is predicted. truth() gives the "
                "limit; for a sample choose budget_share from 0 to 0.999999."
            )
        return draw_rows([self], n, rng)

    def describe(self) -> str:
        """Say in words how good, how wrong and how this classifier is."""
        base = f"knob classifier with {self.n_classes} classes and accuracy {self.accuracy:.4g}"
        if self.budget_share == 0:
            return base + ", calibrated"
        return f"{base}, {self.kind} ({100 * self.budget_share:.3g} % of the error budget)"


def draw_rows(knobs: Sequence[KnobClassifier], n: int, rng: Rng) -> FakeSample:
    """Draw rows of one knob classifier, or of one per predicted class.

    Every number has a fixed order of draws: predicted classes, true confidences, right or wrong,
    which wrong class. Neither the error budget nor the direction consumes randomness.
    """
    n, generator, k = as_count(n, "n"), data_generator(rng), knobs[0].n_classes
    predicted = generator.integers(0, k, n)

    dials = [(knob.law.a, knob.law.b, knob.budget_share, knob.anchor) for knob in knobs]
    own = predicted if len(knobs) > 1 else np.zeros_like(predicted)
    a, b, share, anchor = np.array(dials)[own].T
    unit = generator.beta(a, b, n)
    true, rest = 1 / k + (1 - 1 / k) * unit, (1 - 1 / k) * (1 - unit)
    correct = generator.random(n) < true
    confidence = np.clip((1 - share) * true + share * anchor, 1 / k + CONFIDENCE_MARGIN, 1)
    reported_rest = (1 - share) * rest + share * (1 - anchor)  # keeps digits near certainty
    wrong = (predicted + generator.integers(1, k, n)) % k
    return FakeSample(
        y_true=np.where(correct, predicted, wrong),
        y_prob=_table(predicted, confidence, reported_rest, k),
        true_prob=_table(predicted, true, rest, k),
    )


def _table(predicted: IntVector, top: FloatVector, rest: FloatVector, k: int) -> FloatVector:
    """Return rows in which the predicted class has `top`, and the others share the rest equally."""
    rows = np.empty((len(top), k))
    rows[:] = rest[:, np.newaxis] / (k - 1)
    rows[np.arange(len(top)), predicted] = top
    return rows
