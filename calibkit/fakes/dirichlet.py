"""Fake classifiers from a Dirichlet distribution and a distortion of the simplex.

The published package for such fakes mixes two readings of a distortion: its sampler follows the
first, its integrals the second. Here the reading is explicit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from calibkit.fakes.knob import ScaledBeta
from calibkit.fakes.sample import FakeSample, FakeTruth
from calibkit.inputs import (
    FloatMatrix,
    Rng,
    as_choice,
    as_count,
    as_positive,
    as_probabilities,
    data_generator,
)

READINGS = ("truth-is-base", "confidence-is-base")
# The integral over log x is cut where its integrand has lost all digits, then divided into
# panels in which it is smooth enough for Gauss-Legendre nodes to be exact.
TAIL = 1e-18
SMALLEST_LOG = float(np.log(1e-22))
PANELS, NODES = 24, 32


@dataclass(frozen=True, slots=True)
class Power:
    """Raise each probability to a power and divide by the sum: ``p_k^e_k / sum_j p_j^e_j``.

    A bijection of the simplex. The exponent 1/T divides logits by the temperature T.

    Parameters
    ----------
    exponents : float or sequence of K floats
        Positive. Above 1 pushes to the corners of the simplex, below 1 to its centre. Only equal
        exponents keep the order of the classes.

    Raises
    ------
    ValueError
        If an exponent is not positive, or their number is not that of the classes.

    Examples
    --------
    >>> Power(2)([[0.6, 0.3, 0.1]]).round(3).tolist()
    [[0.783, 0.196, 0.022]]
    """

    exponents: float | tuple[float, ...]

    def __post_init__(self) -> None:
        given = np.asarray(self.exponents)
        if given.ndim == 0:
            checked: Any = as_positive(given.item(), "exponents")
        else:
            checked = tuple(as_positive(e, f"exponents[{k}]") for k, e in enumerate(given.tolist()))
        object.__setattr__(self, "exponents", checked)

    @property
    def keeps_order(self) -> bool:
        """Whether all exponents are equal, so that the order of the classes stays."""
        return np.unique(self.exponents).size == 1

    def __call__(self, prob: Any) -> FloatMatrix:
        """Distort probabilities of shape (n, K)."""
        table = as_probabilities(prob).astype(np.float64)
        if table.ndim != 2:
            raise ValueError(
                f"a distortion needs one column per class, got shape {table.shape}; for P(y = 1) "
                "pass np.column_stack([1 - p, p])."
            )
        exponents = np.atleast_1d(self.exponents)
        if len(exponents) not in (1, table.shape[1]):
            raise ValueError(
                f"Power has {len(exponents)} exponents, but the probabilities have "
                f"{table.shape[1]} classes; give one exponent, or one per class."
            )
        with np.errstate(divide="ignore"):
            return np.asarray(special.softmax(exponents * np.log(table), axis=1))


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
    alpha : sequence of K floats
        The parameters of the base distribution, positive.
    distortion : callable or None
        The map h from base to the other vector: a `Power`, or any function of a table (n, K) that
        returns another one. None distorts nothing.
    reading : {"truth-is-base", "confidence-is-base"}

    Raises
    ------
    ValueError
        If a parameter is not positive, or the distortion takes no rows of K probabilities.

    Notes
    -----
    Labels are drawn from R. *Truth is the base*: if h keeps the order, accuracy is ``E max R`` for
    every h: the same accuracy with another error. *Confidence is the base*: mean confidence is
    ``E max C``, and accuracy moves with h. Section 6 of Panchenko (2021). Lesson 03.

    Examples
    --------
    >>> fakes = [DirichletFake((1, 1), Power(2), reading) for reading in READINGS]
    >>> [round(fake.truth().accuracy - fake.truth().mean_confidence, 4) for fake in fakes]
    [-0.0966, 0.0966]
    """

    alpha: tuple[float, ...]
    distortion: Callable[[FloatMatrix], FloatMatrix] | None = None
    reading: str = "truth-is-base"

    def __post_init__(self) -> None:
        alpha = np.atleast_1d(self.alpha).tolist()
        if len(alpha) < 2:
            raise ValueError(
                f"alpha must be a sequence of 2 or more positive numbers, got {self.alpha!r}."
            )
        checked = tuple(as_positive(value, f"alpha[{k}]") for k, value in enumerate(alpha))
        object.__setattr__(self, "alpha", checked)
        as_choice(self.reading, "reading", READINGS)
        if self.distortion is not None and not callable(self.distortion):
            raise ValueError(
                "distortion must be None or a function of a table of probabilities such as "
                f"calibkit.fakes.Power(2), got {self.distortion!r}."
            )
        # A distortion for another number of classes shows here, not in the sample.
        as_probabilities(self._both(np.full((1, self.n_classes), 1 / self.n_classes))[1])

    @property
    def n_classes(self) -> int:
        """Number of classes, K."""
        return len(self.alpha)

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
        n, generator = as_count(n, "n"), data_generator(rng)
        true, report = self._both(generator.dirichlet(self.alpha, n))
        running = np.cumsum(true, axis=1)
        level = (1 - generator.random(n)) * running[:, -1]  # in (0, sum]
        label = (running < level[:, None]).sum(axis=1, dtype=np.int64)
        return FakeSample(y_true=label, y_prob=report, true_prob=true)

    def _both(self, base: FloatMatrix) -> tuple[FloatMatrix, FloatMatrix]:
        """Return truth and report."""
        other = base if self.distortion is None else self.distortion(base)
        return (base, other) if self.reading == READINGS[0] else (other, base)

    def truth(self) -> FakeTruth:
        """Return the true values that are exact; NaN for the others.

        Errors without distortion, and those of norm 1 for two classes with a `Power`; else accuracy
        (truth is the base, order kept) or mean confidence.
        """
        power = self.distortion if isinstance(self.distortion, Power) else None
        if self.n_classes == 2 and power is not None:
            return self._binary(power.keeps_order)
        top = _expected_maximum(self.alpha)
        known: dict[str, float] = {}
        if self.distortion is None:
            errors = "expected root_mean_square maximum label_conditional strong class_wise"
            known |= {"accuracy": top, "mean_confidence": top, **dict.fromkeys(errors.split(), 0.0)}
        elif self.reading == READINGS[1]:
            known["mean_confidence"] = top
        elif power is not None and power.keeps_order:
            known["accuracy"] = top
        return FakeTruth(model=self.describe(), **known)

    def _binary(self, order_kept: bool) -> FakeTruth:
        a, b = self.alpha
        law = ScaledBeta(0, a / (a + b), a + b)

        def mean(function: Callable[[FloatMatrix, FloatMatrix], Any]) -> float:
            return law.expectation(
                lambda x, rest: float(function(*self._both(np.array([[x, rest]]))))
            )

        distance = mean(lambda true, report: np.abs(true - report).sum() / 2)
        return FakeTruth(
            model=self.describe(),
            accuracy=mean(lambda true, report: true[0, 0 if report[0, 0] > 0.5 else 1]),
            mean_confidence=mean(lambda true, report: report.max()),
            expected=distance if order_kept else np.nan,
            label_conditional=distance,
            strong=2 * distance,
            class_wise=distance,
        )

    def describe(self) -> str:
        """Say in words what is drawn and what is distorted."""
        kind = f"Dirichlet({', '.join(f'{a:.3g}' for a in self.alpha)})"
        if self.distortion is None:
            return f"{kind} with {self.n_classes} classes, calibrated"
        drawn, made = ("truth", "report") if self.reading == READINGS[0] else ("report", "truth")
        return f"{drawn} from {kind} with {self.n_classes} classes, {made} by {self.distortion!r}"


def _expected_maximum(alpha: tuple[float, ...]) -> float:
    """Return ``E max R`` of a Dirichlet vector R: ``E max G / E S`` for gammas G with sum S.

    R = G / S is independent of S, which leaves the integral of ``1 - prod_k F_k(x)``.
    """
    values, count = np.unique(alpha, return_counts=True)
    total = float(values @ count)
    with np.errstate(divide="ignore"):
        start = max(np.log(special.gammaincinv(values, TAIL).max()), SMALLEST_LOG + np.log(total))
    end = np.log(special.gammainccinv(values, TAIL * min(1.0, total)).max())
    edges = np.linspace(start, end, PANELS + 1)
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    half = np.diff(edges)[:, None] / 2
    x = np.exp((edges[:-1, None] + half + half * nodes).ravel())
    with np.errstate(divide="ignore"):
        log_cdf = np.log1p(-special.gammaincc(values[:, None], x))
    survival = -np.expm1(count @ log_cdf)
    return float((np.exp(start) + np.sum((half * weights).ravel() * x * survival)) / total)
