"""Knob classifiers with other dials for each predicted class: our own construction."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy import optimize, special

from calibkit.fakes.knob import KnobClassifier, draw_rows
from calibkit.fakes.sample import FakeSample, FakeTruth
from calibkit.inputs import FloatVector, Rng

# The grid only has to separate the sign changes, and each is then found to rounding.
TAIL = np.array([1e-12, 1e-9, 1e-6, 1e-4, 1e-3])
LEVELS = np.concatenate([TAIL, np.linspace(0, 1, 1_000), 1 - TAIL])
# Densities are infinite or zero at the ends of a range; logarithms must stay finite.
SMALLEST_LOG, LARGEST_LOG = -1e300, 700.0


@dataclass(frozen=True, slots=True)
class ClassKnobs:
    """A fake classifier that is wrong in another way for each class that it predicts.

    Parameters
    ----------
    knobs : sequence of K `KnobClassifier`
        The behaviour when class 0, 1, … is predicted. All have K classes and a `budget_share`
        below 1. All classes are predicted equally often.

    See Also
    --------
    KnobClassifier : the same dials for all classes.

    Notes
    -----
    The label-conditional error is ``sum_k e_k / K`` with the error e_k of each knob. The confidence
    error is at most that: over- and under-confidence cancel where both report the same confidence.
    It is the total variation of ``integral sum_k f_k(z) (q_k(z) - z) / K``, exact between the
    points where they balance. Sections 1.4 and 2 of Panchenko (2021). Lesson 03.

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
        if len(knobs) < 2:
            raise ValueError(f"knobs must have one entry per class, at least 2, got {len(knobs)}.")
        for k, knob in enumerate(knobs):
            if not isinstance(knob, KnobClassifier):
                raise ValueError(f"knobs[{k}] must be a KnobClassifier, got {knob!r}.")
            if knob.n_classes != len(knobs):
                raise ValueError(
                    f"knobs[{k}] has n_classes={knob.n_classes}, but there are {len(knobs)} "
                    "knobs; one knob per class is needed."
                )
            if knob.budget_share == 1:
                raise ValueError(
                    f"knobs[{k}] has budget_share=1, where all its predictions coincide; choose 0 "
                    "up to but not including 1, e.g. 0.999."
                )
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

    def true_map(self, confidence: Any) -> FloatVector:
        """Return the true confidence behind each reported one; NaN where none is ever reported."""
        z = np.asarray(confidence, dtype=np.float64)
        density, gap = self._gaps(z.ravel())
        with np.errstate(invalid="ignore"):  # 0 / 0
            mean_gap = (density * gap).sum(axis=1) / density.sum(axis=1)
        return np.asarray(z + mean_gap.reshape(z.shape))

    def truth(self) -> FakeTruth:
        """Return the true values; NaN for other norms than 1, the classes, and as in the knobs."""
        known = [knob.truth() for knob in self.knobs]
        mean = {
            name: float(np.mean([getattr(truth, name) for truth in known]))
            for name in ("accuracy", "mean_confidence", "brier", "top_label_brier", "log_loss")
        }
        label_conditional = float(np.mean([truth.expected for truth in known]))
        return FakeTruth(
            model=self.describe(),
            expected=min(self._expected(), label_conditional),
            label_conditional=label_conditional,
            strong=2 * label_conditional,
            **mean,
        )

    def sample(self, n: int, rng: Rng = None) -> FakeSample:
        """Draw `n` predictions with labels and true probabilities, as `KnobClassifier.sample`."""
        return draw_rows(self.knobs, n, rng)

    def describe(self) -> str:
        """Say in words how this classifier is wrong, class by class."""
        kinds = [
            f"{k}: {knob.kind} by {100 * knob.budget_share:.3g} % of the budget"
            for k, knob in enumerate(self.knobs[:4])
        ]
        more = "; …" if self.n_classes > 4 else ""
        return f"knobs per class, {self.n_classes} classes ({'; '.join(kinds)}{more})"

    def _gaps(self, z: FloatVector) -> tuple[FloatVector, FloatVector]:
        """Return the density of each knob's reports at z, the largest as 1, and the gap q - z."""
        logs, gaps = [], []
        for knob in self.knobs:
            law, q = knob.law, knob.true_map(z)
            u = law.unit(q)
            log = special.xlogy(law.a - 1, u) + special.xlog1py(law.b - 1, -u)
            log -= special.betaln(law.a, law.b) + np.log1p(-knob.budget_share)
            logs.append(np.where(np.isnan(q), -np.inf, np.clip(log, SMALLEST_LOG, LARGEST_LOG)))
            gaps.append(np.nan_to_num(q - z))
        table = np.column_stack(logs)
        largest = np.maximum(table.max(axis=1, keepdims=True), SMALLEST_LOG)
        return np.exp(table - largest), np.column_stack(gaps)

    def _balance(self, z: FloatVector) -> FloatVector:
        """Return ``sum_k f_k(z) (q_k(z) - z)``, where the largest density at each point is 1."""
        density, gap = self._gaps(z)
        return np.asarray((density * gap).sum(axis=1))

    def _primitive(self, z: FloatVector) -> FloatVector:
        """Return the integral of the balance up to z, with the true densities."""
        total = np.zeros_like(z)
        for knob in self.knobs:
            share, anchor = knob.budget_share, knob.anchor
            q = (z - share * anchor) / (1 - share)
            total += share * (knob.law.partial_mean(q) - anchor * knob.law.cdf(q))
        return total / self.n_classes

    def _expected(self) -> float:
        z = np.unique([knob.report(knob.law.quantile(LEVELS)) for knob in self.knobs])
        balance = self._balance(z)
        changes = np.flatnonzero(balance[:-1] * balance[1:] < 0)
        crossings = [
            optimize.brentq(lambda x: self._balance(np.array([x]))[0], z[i], z[i + 1], xtol=1e-15)
            for i in changes
        ]
        path = self._primitive(np.insert(z, changes + 1, crossings))
        return float(np.abs(np.diff(path)).sum())
