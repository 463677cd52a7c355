"""A binary fake classifier with two dials: over- or under-confident, too high or too low."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import integrate, special

from calibkit.fakes._sample import FakeSample
from calibkit.inputs import (
    FloatVector,
    Rng,
    as_count,
    as_finite,
    as_norm,
    as_pair,
    as_probabilities,
    data_generator,
)


@dataclass(frozen=True, slots=True)
class LogitDistortion:
    """A binary fake classifier whose true map is a straight line between logits.

    Predictions come from a beta distribution, the event with
    ``c(p) = expit(slope * logit(p) + shift)``: the inverse of temperature and bias scaling (section
    6 of the review of notions). Lessons 03 and 04.

    Parameters
    ----------
    slope : float
        1 is calibrated; below 1 predictions are too extreme (over-confident), above 1
        under-confident. Not negative.
    shift, scores : float, tuple of two floats
        Above 0 the event happens more often than predicted; parameters of the beta distribution.

    Examples
    --------
    >>> fake = LogitDistortion(slope=0.5)
    >>> round(float(fake.true_map(0.9)), 3), round(fake.true_error(), 4)
    (0.75, 0.0966)
    """

    slope: float = 1.0
    shift: float = 0.0
    scores: tuple[float, float] = (1.0, 1.0)

    def __post_init__(self) -> None:
        as_finite(self.slope, "slope", 0)
        as_finite(self.shift, "shift", said="finite")
        object.__setattr__(self, "scores", as_pair(self.scores, "scores"))

    def true_map(self, prob: Any) -> FloatVector:
        """Return the true probability of the event for each prediction in [0, 1]."""
        prob = np.asarray(prob, dtype=np.float64)
        if self.slope == 1 and self.shift == 0:
            return np.array(prob)  # without the detour through logits, exactly calibrated
        if self.slope == 0:  # 0 * logit(0) would be NaN
            return np.full_like(prob, special.expit(self.shift))
        return np.asarray(special.expit(self.slope * special.logit(prob) + self.shift))

    def sample(self, n: int, rng: Rng = None) -> FakeSample:
        """Draw `n` predictions with their labels and true probabilities.

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

        Examples
        --------
        >>> LogitDistortion(slope=0.5).sample(1000, rng=0).y_prob.shape
        (1000,)
        """
        generator = data_generator(rng)
        y_prob = generator.beta(*self.scores, size=as_count(n, "n"))
        return self._labelled(y_prob, generator)

    def label(self, y_prob: Any, rng: Rng = None) -> FakeSample:
        """Draw labels for predictions that are given."""
        y_prob = as_probabilities(y_prob).astype(np.float64)
        if y_prob.ndim != 1:
            raise ValueError(f"y_prob must be one-dimensional, P(y = 1), got {y_prob.shape}.")
        return self._labelled(y_prob, data_generator(rng))

    def _labelled(self, y_prob: FloatVector, generator: np.random.Generator) -> FakeSample:
        true_prob = self.true_map(y_prob)
        y_true = (generator.random(len(y_prob)) < true_prob).astype(np.int64)
        return FakeSample(y_true=y_true, y_prob=y_prob, true_prob=true_prob)

    def true_error(self, norm: float = 1) -> float:
        """Return the true calibration error ``(E |p - c(p)|^norm)^(1/norm)``, without bins."""
        norm = as_norm(norm)

        def distance(u: float) -> float:
            prob = special.betaincinv(*self.scores, u)
            return float(np.abs(prob - self.true_map(prob)) ** norm)

        value, _ = integrate.quad(distance, 0, 1, limit=200, epsabs=1e-10, epsrel=1e-10)
        return float(value ** (1 / norm))
