"""Knob classifiers with other dials for each predicted class: our own construction. Lesson 03."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy import optimize, special

from calibkit.fakes._beta import partial_mean, to_unit
from calibkit.fakes._sample import FakeSample, FakeTruth
from calibkit.fakes.knob import KnobClassifier, draw_rows
from calibkit.inputs import FloatVector, Rng

# The grid only has to separate the sign changes, and each is then found to rounding.
GRID_POINTS = 4_096
FEWEST_POINTS = 32
TAIL_LEVELS = np.array([1e-12, 1e-9, 1e-6, 1e-4, 1e-3])
# Densities are infinite or zero at the ends of a range; weights must stay finite.
SMALLEST_LOG, LARGEST_LOG = -1e300, 700.0


@dataclass(frozen=True, slots=True)
class ClassKnobs:
    """A fake classifier that is wrong in another way for each class that it predicts.

    Parameters
    ----------
    knobs : sequence of K `KnobClassifier`
        The behaviour when class 0, 1, … is predicted. All have K classes and a `budget_share`
        below 1. All classes are predicted equally often.

    Notes
    -----
    The label-conditional error is ``sum_k e_k / K`` with the error e_k of each knob. The confidence
    error is at most that: over- and under-confidence cancel where both report the same confidence.
    It is integrated exactly between the points where they balance. The review of notions of
    calibration, sections 1.4 and 2. Taught in lesson 03.

    Examples
    --------
    >>> fake = ClassKnobs.with_directions(0.8, ("over", "under"), (0.4, 0.3))
    >>> truth = fake.truth()
    >>> round(truth.label_conditional, 6), round(truth.expected, 6)
    (0.085, 0.046684)
    """

    knobs: tuple[KnobClassifier, ...]

    def __post_init__(self) -> None:
        knobs = tuple(self.knobs)
        for k, knob in enumerate(knobs):
            if not isinstance(knob, KnobClassifier):
                raise ValueError(f"knobs[{k}] must be a KnobClassifier, got {knob!r}.")
            _check_member(k, knob, knobs)
        if len(knobs) < 2:
            raise ValueError(f"knobs must have one entry per class, at least 2, got {len(knobs)}.")
        object.__setattr__(self, "knobs", knobs)

    @classmethod
    def with_directions(
        cls,
        accuracy: float,
        directions: Sequence[str],
        budget_shares: Sequence[float],
        *,
        concentration: float = 4.0,
    ) -> Self:
        """Build K knobs that differ in direction and share only, one of each per predicted class.

        Directions as in `KnobClassifier` (a pivot is the accuracy), shares below 1; other dials are
        alike.
        """
        if isinstance(directions, str) or len(directions) != len(budget_shares):
            raise ValueError(
                "directions and budget_shares need one entry per class each, got "
                f"{directions!r} and {budget_shares!r}."
            )
        base = KnobClassifier(len(directions), accuracy, concentration=concentration)
        pairs = zip(directions, budget_shares, strict=True)
        return cls(tuple(replace(base, direction=way, budget_share=t) for way, t in pairs))

    @property
    def n_classes(self) -> int:
        """Number of classes, K."""
        return len(self.knobs)

    @property
    def weights(self) -> FloatVector:
        """How often each class is predicted."""
        return np.full(self.n_classes, 1 / self.n_classes)

    def _shares(self) -> dict[KnobClassifier, float]:
        """Return the distinct knobs, each with its share of the predictions."""
        return {knob: count / self.n_classes for knob, count in Counter(self.knobs).items()}

    def true_map(self, confidence: Any) -> FloatVector:
        """Return the true confidence behind each reported one; NaN where none is ever reported."""
        return _PooledKnobs(self._shares()).true_map(np.asarray(confidence, dtype=np.float64))

    def truth(self) -> FakeTruth:
        """Return the true values; NaN for other norms than 1, the classes, and as in the knobs."""
        shares = self._shares()
        known = [(share, knob.truth()) for knob, share in shares.items()]

        def mean(name: str) -> float:
            return float(sum(share * getattr(truth, name) for share, truth in known))

        label_conditional = mean("expected")
        return FakeTruth(
            model=self.describe(),
            accuracy=mean("accuracy"),
            mean_confidence=mean("mean_confidence"),
            expected=min(_PooledKnobs(shares).error(), label_conditional),
            label_conditional=label_conditional,
            strong=2 * label_conditional,
            brier=mean("brier"),
            top_label_brier=mean("top_label_brier"),
            log_loss=mean("log_loss"),
        )

    def sample(self, n: int, rng: Rng = None) -> FakeSample:
        """Draw `n` predictions with labels and true probabilities, shape (n, K).

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
        return draw_rows(self.knobs, n, rng)

    def describe(self) -> str:
        """Say in words how this classifier is wrong, class by class."""
        kinds = []
        for k, knob in enumerate(self.knobs):
            how = f"{knob._kind()} by {100 * knob.budget_share:.3g} % of the budget"
            kinds.append(f"{k}: {how if knob.budget_share else 'calibrated'}")
        shown = kinds if len(kinds) <= 4 else [*kinds[:3], "…", kinds[-1]]
        return f"knobs per class, {self.n_classes} classes ({'; '.join(shown)})"


def _check_member(k: int, knob: KnobClassifier, knobs: Sequence[KnobClassifier]) -> None:
    if knob.n_classes != len(knobs):
        raise ValueError(
            f"knobs[{k}] has n_classes={knob.n_classes}, but there are {len(knobs)} knobs; one "
            "knob per class is needed."
        )
    if knob.budget_share == 1:
        raise ValueError(
            f"knobs[{k}] has budget_share=1, where all its predictions coincide; choose 0 up to "
            "but not including 1, e.g. 0.999."
        )


class _PooledKnobs:
    """What is left of several errors when only the confidence is looked at.

    Component j reports ``Z = (1 - t) Q + t x`` with weight w_j. The error
    ``integral |sum_j w_j f_j(z) (q_j(z) - z)|`` is the total variation of its primitive, which F
    and M give exactly.
    """

    def __init__(self, shares: Mapping[KnobClassifier, float]) -> None:
        knobs, self.weights = list(shares), np.array(list(shares.values()))
        self.laws = [knob.law for knob in knobs]  # all with the same lower end
        self.low = self.laws[0].low
        self.a, self.b, self.mean = np.array([(law.a, law.b, law.mean) for law in self.laws]).T
        # Each confidence moves by `share`, below 1, of the way to `anchor`.
        self.share, self.anchor = np.array([(knob.budget_share, knob.anchor) for knob in knobs]).T

    def _behind(self, z: FloatVector) -> FloatVector:
        """Return the q of each component that reports z, as (points, components)."""
        return np.asarray((z[:, None] - self.share * self.anchor) / (1 - self.share))

    def primitive(self, z: FloatVector) -> FloatVector:
        u = to_unit(self._behind(z), self.low)
        below = partial_mean(u, self.low, self.mean, self.a, self.b)
        below -= self.anchor * special.betainc(self.a, self.b, u)
        return np.asarray(self.share * below @ self.weights)

    def true_map(self, z: FloatVector) -> FloatVector:
        """Return the mean true confidence of all who report z; NaN if nobody does."""
        density, gap = self._gaps(z.ravel())
        with np.errstate(invalid="ignore"):  # 0 / 0
            mean_gap = (density * gap) @ self.weights / (density @ self.weights)
        return np.asarray(z + mean_gap.reshape(z.shape))

    def signed(self, z: FloatVector) -> FloatVector:
        """Return ``sum_j w_j f_j (q_j - z)``, where the largest density at each point counts 1."""
        density, gap = self._gaps(z)
        return np.asarray((density * gap) @ self.weights)

    def _gaps(self, z: FloatVector) -> tuple[FloatVector, FloatVector]:
        """Return the density of each component at z, the largest as 1, and its gap ``q_j - z``."""
        a, b, q = self.a, self.b, self._behind(z)
        u = to_unit(q, self.low)
        logs = special.xlogy(a - 1, u) + special.xlog1py(b - 1, -u) - special.betaln(a, b)
        logs = np.clip(logs - np.log1p(-self.share), SMALLEST_LOG, LARGEST_LOG)
        said = (q >= self.low) & (q <= 1)
        logs = np.where(said, logs, SMALLEST_LOG)
        relative = np.where(said, np.exp(logs - logs.max(axis=1, keepdims=True)), 0.0)
        return relative, np.clip(q, self.low, 1) - z[:, None]

    def grid(self) -> FloatVector:
        inner = max(FEWEST_POINTS, GRID_POINTS // len(self.laws))
        levels = np.concatenate([TAIL_LEVELS, np.linspace(0, 1, inner), 1 - TAIL_LEVELS])
        points = [
            (1 - share) * law.quantile(levels) + share * anchor
            for law, share, anchor in zip(self.laws, self.share, self.anchor, strict=True)
        ]
        return np.unique(np.concatenate(points))

    def error(self) -> float:
        """Return ``integral |sum_j w_j f_j (q_j - z)|``."""

        def gap(point: float) -> float:
            return float(self.signed(np.array([point]))[0])

        z = self.grid()
        found = self.signed(z)
        changes = np.flatnonzero(found[:-1] * found[1:] < 0)
        crossings = [optimize.brentq(gap, z[i], z[i + 1], xtol=1e-15) for i in changes]
        path = self.primitive(np.insert(z, changes + 1, crossings))
        return float(np.abs(np.diff(path)).sum())
