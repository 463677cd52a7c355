"""Gaussian discriminant data: a model that is exactly right until the prevalence shifts."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import integrate, special

from calibkit.fakes import FakeSample
from calibkit.inputs import (
    FloatVector,
    Rng,
    as_count,
    as_number,
    as_positive,
    data_generator,
    legacy_generator,
)

# Standard normal tails beyond this hold no digit of double precision.
LARGEST_NORMAL = 12.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GaussianSample(FakeSample):
    """A `FakeSample` with the feature x that the predictions were made from, shape (n,)."""

    feature: FloatVector


@dataclass(frozen=True, slots=True)
class GaussianDiscriminant:
    """A correct model for normal classes, used where the prevalence may have changed.

    ``logit P(y=1|x) = logit(prevalence) + (m1 - m0) x / s^2 - (m1^2 - m0^2) / (2 s^2)``. A shift
    adds ``logit(deployed) - logit(prevalence)`` everywhere. The error has one sign, so its mean is
    ``|E p - deployed|``. The defaults are section 4 (simulated data) of the paper on the test-based
    calibration error, its formula corrected: the slope is ``(m1 - m0) / s^2``, here 1/4, and the
    exponent of the logistic function is negative.
    """

    prevalence: float = 0.5  # share of positives that the model was made for, in (0, 1)
    deployed: float | None = None  # where it is used, in [0, 1]; by default unchanged
    means: tuple[float, float] = (-0.5, 0.5)  # of the feature, for class 0 and class 1
    scale: float = 2.0  # its standard deviation in both (not the variance)

    def __post_init__(self) -> None:
        feasible = "strictly between 0 and 1"
        prevalence = as_number(self.prevalence, "prevalence", feasible, lambda v: 0 < v < 1)
        if self.deployed is not None:
            as_number(self.deployed, "deployed", "between 0 and 1", lambda v: 0 <= v <= 1)
        scale = as_positive(self.scale, "scale")
        if len(self.means) != 2 or not np.all(np.isfinite(self.means)):
            raise ValueError(f"means must be two finite numbers, got {self.means!r}.")
        if self.means[0] == self.means[1]:
            raise ValueError(
                f"means must differ, got {self.means!r}: the feature would say nothing."
            )
        means = (float(self.means[0]), float(self.means[1]))
        for name, value in (("prevalence", prevalence), ("scale", scale), ("means", means)):
            object.__setattr__(self, name, value)

    @property
    def share(self) -> float:
        """Share of positives where the model is used."""
        return self.prevalence if self.deployed is None else float(self.deployed)

    @property
    def slope(self) -> float:
        """Coefficient of the feature in the model's logit."""
        return (self.means[1] - self.means[0]) / self.scale**2

    @property
    def intercept(self) -> float:
        """Constant of the model's logit."""
        squares = self.means[1] ** 2 - self.means[0] ** 2
        return float(special.logit(self.prevalence)) - squares / (2 * self.scale**2)

    @property
    def shift(self) -> float:
        """How far the true logit lies above the model's, everywhere; infinite for 0 and 1."""
        return float(special.logit(self.share) - special.logit(self.prevalence))

    def predict(self, feature: Any) -> FloatVector:
        """Return the model's probability of class 1 for each value of the feature."""
        x = np.asarray(feature, dtype=np.float64)
        return np.asarray(special.expit(self.intercept + self.slope * x))

    def true_map(self, prob: Any) -> FloatVector:
        """Return the true probability of class 1 behind each prediction in [0, 1]."""
        p = np.asarray(prob, dtype=np.float64)
        if self.shift == 0:
            return p.copy()
        if np.isinf(self.shift):  # only one class is left, whatever the prediction
            return np.full_like(p, self.share)
        return np.asarray(special.expit(special.logit(p) + self.shift))

    def true_error(self) -> float:
        """Return the true calibration error ``E |p - c(p)|``, without bins."""
        if self.shift == 0:
            return 0.0
        value = 0.0
        for weight, mean in zip((1 - self.share, self.share), self.means, strict=True):

            def density_times_distance(t: float, mean: float = mean) -> float:
                p = self.predict(mean + self.scale * t)
                size = np.abs(p - self.true_map(p))
                return float(size * np.exp(-(t**2) / 2) / np.sqrt(2 * np.pi))

            half = -self.intercept / self.slope  # where the model says 1/2
            middle = min(max((half - mean) / self.scale, -LARGEST_NORMAL), LARGEST_NORMAL)
            for low, high in ((-LARGEST_NORMAL, middle), (middle, LARGEST_NORMAL)):
                part, _ = integrate.quad(
                    density_times_distance, low, high, limit=400, epsabs=1e-12, epsrel=1e-11
                )
                value += weight * part
        return value

    def sample(self, n: int, rng: Rng = None) -> GaussianSample:
        """Draw `n` predictions with labels, true probabilities and features."""
        generator = data_generator(rng)
        y_true = (generator.random(as_count(n, "n")) < self.share).astype(np.int64)
        feature = generator.normal(np.asarray(self.means)[y_true], self.scale)
        y_prob = self.predict(feature)
        return GaussianSample(
            y_true=y_true, y_prob=y_prob, true_prob=self.true_map(y_prob), feature=feature
        )

    def source_data(
        self, seed: int = 0, n_train: int = 14_000, n_test: int = 6_000
    ) -> tuple[FloatVector, NDArray[np.int64], FloatVector, NDArray[np.int64]]:
        """Draw the paper's data for a model still to be fitted: training x and y, test x and y.

        Training data have the share `prevalence`, test data `deployed`. NumPy's legacy generator is
        used in the order of the source; the global one is left alone.
        """
        generator = legacy_generator(as_count(seed, "seed", minimum=0))
        sizes = as_count(n_train, "n_train"), as_count(n_test, "n_test")
        y_train = generator.binomial(1, self.prevalence, sizes[0])
        y_test = generator.binomial(1, self.share, sizes[1])
        x_train = generator.normal(np.asarray(self.means)[y_train], self.scale)
        x_test = generator.normal(np.asarray(self.means)[y_test], self.scale)
        return x_train, y_train, x_test, y_test

    def describe(self) -> str:
        """Say in words what the model was made for and where it is used."""
        made = f"Gaussian discriminant model for a prevalence of {self.prevalence:g}"
        if self.share == self.prevalence:
            return made + ", calibrated"
        return f"{made}, used at {self.share:g} (true logits differ by {self.shift:.4g})"
