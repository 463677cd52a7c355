"""Fake classifiers from Dirichlet distributions and distortions of the simplex.

The published package for such fakes mixes two readings of a distortion: its sampler follows the
first, its integrals the second. Here the reading is explicit.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from calibkit.fakes._beta import ScaledBeta
from calibkit.fakes._sample import FakeSample, FakeTruth
from calibkit.fakes.mixtures import DirichletMixture, as_alpha, expected_maximum
from calibkit.fakes.simplex import Distortion, Identity, Power, Temperature
from calibkit.inputs import FloatVector, Rng, as_choice, as_count, data_generator

ONE_TO_ONE = (Power, Temperature)
READINGS = ("truth-is-base", "confidence-is-base")


@dataclass(frozen=True, slots=True)
class DirichletFake:
    """A fake classifier whose true or reported probabilities follow a Dirichlet distribution.

    ========================  ===================  ===================  ========================
    reading                   truth R              report C             so the exponent 2 is
    ========================  ===================  ===================  ========================
    ``"truth-is-base"``       ``R ~ Dirichlet``    ``C = h(R)``         over-confident
    ``"confidence-is-base"``  ``R = h(C)``         ``C ~ Dirichlet``    under-confident
    ========================  ===================  ===================  ========================

    Parameters
    ----------
    alpha : sequence of K floats, or DirichletMixture
        The base distribution: K positive parameters, or a mixture.
    distortion : Distortion
        The map h from base to the other vector; by default nothing is distorted.
    reading : {"truth-is-base", "confidence-is-base"}

    Notes
    -----
    Labels are drawn from R. *Truth is the base*: if h keeps the order, accuracy is ``E max R`` for
    every h: the same accuracy with another error. *Confidence is the base*: mean confidence is
    ``E max C``, and accuracy moves with h. This reading can clone a network, whose confidences are
    known and whose truth is not. Section 6 of the review of notions of calibration. Taught in
    lesson 03.

    Examples
    --------
    >>> from calibkit.fakes import Power
    >>> fakes = [DirichletFake((1, 1), Power(2), reading) for reading in READINGS]
    >>> [round(fake.truth().accuracy - fake.truth().mean_confidence, 4) for fake in fakes]
    [-0.0966, 0.0966]
    """

    alpha: "tuple[float, ...] | DirichletMixture"
    distortion: Distortion = Identity()
    reading: str = "truth-is-base"

    def __post_init__(self) -> None:
        if not isinstance(self.alpha, DirichletMixture):
            object.__setattr__(self, "alpha", as_alpha(self.alpha))
        if not isinstance(self.distortion, Distortion):
            raise ValueError(
                f"distortion must be one of calibkit.fakes (Power, Temperature, …), got "
                f"{self.distortion!r}."
            )
        as_choice(self.reading, "reading", READINGS)
        centre = np.full((1, self.n_classes), 1 / self.n_classes)
        self.distortion(centre)  # a wrong number of exponents shows here, not in the sample

    @property
    def base(self) -> DirichletMixture:
        """The base distribution as a mixture."""
        if isinstance(self.alpha, DirichletMixture):
            return self.alpha
        return DirichletMixture((1.0,), (self.alpha,))

    @property
    def n_classes(self) -> int:
        """Number of classes, K."""
        return self.base.n_classes

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
        generator = data_generator(rng)
        true, said = self._pair(self.base.draw(as_count(n, "n"), generator))
        running = np.cumsum(true, axis=1)
        level = (1 - generator.random(n)) * running[:, -1]  # in (0, sum]
        label = (running < level[:, None]).sum(axis=1, dtype=np.int64)
        return FakeSample(y_true=label, y_prob=said, true_prob=true)

    def truth(self) -> FakeTruth:
        """Return the true values that are exact; NaN for the others.

        Errors without distortion, and for two classes those of norm 1 if it is invertible; else
        accuracy (truth is the base, order kept) or mean confidence.
        """
        if isinstance(self.distortion, Identity):
            return self._calibrated()
        if self.n_classes == 2 and isinstance(self.distortion, ONE_TO_ONE):
            return self._binary()
        top = expected_maximum(self.base)
        if self.reading == "confidence-is-base":
            return FakeTruth(model=self.describe(), mean_confidence=top)
        kept = top if self.distortion.keeps_order else np.nan
        return FakeTruth(model=self.describe(), accuracy=kept)

    def _calibrated(self) -> FakeTruth:
        top = expected_maximum(self.base)
        errors = "expected root_mean_square maximum label_conditional strong class_wise"
        return FakeTruth(
            model=self.describe(),
            accuracy=top,
            mean_confidence=top,
            top_label_brier=top - expected_maximum(self.base, 2),
            **dict.fromkeys(errors.split(), 0.0),
        )

    def _binary(self) -> FakeTruth:
        def mean(of: Callable[[FloatVector, FloatVector], FloatVector]) -> float:
            def value(x: float, rest: float) -> float:
                return float(of(*self._pair(np.array([[x, rest]])))[0])

            return sum(
                weight * ScaledBeta(0, a / (a + b), a + b).expectation(value)
                for weight, (a, b) in zip(self.base.weights, self.base.alphas, strict=True)
            )

        distance = mean(lambda true, said: np.abs(true - said).sum(axis=1) / 2)
        return FakeTruth(
            model=self.describe(),
            accuracy=mean(lambda true, said: np.where(said[:, 0] > 0.5, true[:, 0], true[:, 1])),
            mean_confidence=mean(lambda true, said: said.max(axis=1)),
            expected=distance if self.distortion.keeps_order else np.nan,
            label_conditional=distance,
            strong=2 * distance,
            class_wise=distance,
        )

    def _pair(self, base: FloatVector) -> tuple[FloatVector, FloatVector]:
        other = self.distortion._apply(base)
        return (base, other) if self.reading == READINGS[0] else (other, base)

    def describe(self) -> str:
        """Say in words what is drawn and what is distorted."""
        if isinstance(self.alpha, DirichletMixture):
            kind = f"mixture of {len(self.alpha.alphas)} Dirichlets"
        else:
            kind = f"Dirichlet({', '.join(f'{a:.3g}' for a in self.alpha)})"
        if isinstance(self.distortion, Identity):
            return f"{kind} with {self.n_classes} classes, calibrated"
        drawn, made = ("truth", "report") if self.reading == READINGS[0] else ("report", "truth")
        return f"{drawn} from {kind} with {self.n_classes} classes, {made} by {self.distortion!r}"
