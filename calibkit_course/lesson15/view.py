"""A judge whose errors are known, and a hundred studies that correct it. Lesson 15.

The judge is simulated. It passes 97 % of the right answers and 72 % of the wrong ones; Jain and
others (2025) measured above 96 % and above 75 % of language models that judge programs.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from calibkit.inputs import FloatMatrix, FloatVector, IntVector, as_choice, as_count
from calibkit.results import Described
from calibkit_audit.rate import corrected_by_rates

NOISES = {"sharp": 0.2, "as published": 1.0, "nearly blind": 6.0}
SOURCES = ("these answers", "an older model")
METHODS = ("judge alone", "two error rates", "prediction-powered", "people alone")
STUDIES, ROWS = 100, 4_000
QUALITY, SPREAD, BIAS = 1.46, 2.0, 1.36  # in logits
OLDER = {"quality": 2.0, "bias": 0.6}  # better answers, less flattering to the judge
_LEVEL, _Z = 0.95, 1.96


def answers(
    shape: Any,
    rng: np.random.Generator,
    *,
    quality: float = QUALITY,
    bias: float = BIAS,
    noise: float = 1.0,
) -> tuple[Any, Any]:
    """Return scores of a judge who sees the quality through noise, and what people say."""
    good = rng.normal(quality, SPREAD, shape)
    people = (rng.random(shape) < expit(good)).astype(np.float64)
    return expit(good + bias + noise * rng.normal(size=shape)), people


def true_rate(quality: float = QUALITY) -> float:
    """Return the rate that people would find in endless answers."""
    node, weight = np.polynomial.hermite_e.hermegauss(60)
    return float(expit(quality + SPREAD * node) @ weight / weight.sum())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Bench(Described):
    """A hundred studies of one judge: the intervals of four methods (one row each)."""

    low: FloatMatrix
    high: FloatMatrix
    truth: float
    judge: float  # mean of its scores
    labels: int

    @property
    def hits(self) -> IntVector:
        """How many studies of each method hold the truth."""
        held: IntVector = np.sum((self.low <= self.truth) & (self.truth <= self.high), axis=1)
        return held

    @property
    def half(self) -> FloatVector:
        """Half the typical width of each method."""
        return np.nanmedian(self.high - self.low, axis=1) / 2

    def describe(self) -> str:
        """Say how often each method holds the truth, and how wide it is."""
        each = "; ".join(
            f"{name} {count} (±{half:.3f})"
            for name, count, half in zip(METHODS, self.hits, self.half, strict=True)
        )
        return (
            f"The judge's mean is {self.judge:.2f}, people pass {self.truth:.2f}. Of {STUDIES} "
            f"studies with {self.labels:,} labels so many 95 % intervals hold the truth: {each}."
        )


def judge_bench_view(
    *, labels: int = 25, judge: str = "as published", source: str = "these answers", seed: int = 15
) -> Bench:
    """Repeat a study: rows that only the judge has graded, and labels of more such rows."""
    labels = as_count(labels, "labels", minimum=20)
    noise = NOISES[as_choice(judge, "judge", NOISES)]
    older = as_choice(source, "source", SOURCES) == "an older model"
    rng = np.random.default_rng(seed)
    score, _ = answers((STUDIES, ROWS), rng, noise=noise)
    more: Any = OLDER if older else {}
    checked, label = answers((STUDIES, labels), rng, noise=noise, **more)
    low, high = np.empty((2, len(METHODS), STUDIES))
    error, z2 = label - checked, _Z**2
    own = score.var(axis=1) / ROWS
    for place, rate, square in (
        (0, score.mean(axis=1), own),
        (2, score.mean(axis=1) + error.mean(axis=1), own + error.var(axis=1) / labels),
        (3, label.mean(axis=1), label.var(axis=1) / labels),
    ):
        half = np.sqrt(z2 * square)
        low[place], high[place] = rate - half, rate + half
    for k in range(STUDIES):
        low[1, k], high[1, k] = _two_rates(score[k] > 0.5, checked[k] > 0.5, label[k])
    low, high = np.clip(low, 0, 1), np.clip(high, 0, 1)
    mean = float(score.mean())
    return Bench(low=low, high=high, truth=true_rate(), judge=mean, labels=labels)


def _two_rates(verdict: Any, checked: Any, label: FloatVector) -> tuple[float, float]:
    right, wrong = checked[label == 1], ~checked[label == 0]
    if not len(right) or not len(wrong):
        return np.nan, np.nan
    shares = [(float(one.mean()), len(one)) for one in (verdict, wrong, right)]
    return corrected_by_rates(shares[0], shares[1], shares[2], _LEVEL)[1:]
