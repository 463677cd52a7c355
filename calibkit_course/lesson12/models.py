"""The fake classifiers of the simplex lens, and what their calibrators make of them. Lesson 12.

Source: the review of calibration notions, sections 1.1, 1.4 (notions) and 5 (calibrators).
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import special

from calibkit.calibrators import (
    DirichletCalibrator,
    MatrixScaling,
    MulticlassCalibrator,
    TemperatureScaling,
    VectorScaling,
)
from calibkit.fakes import DirichletFake, FakeSample, Power
from calibkit.inputs import FloatMatrix, as_array
from calibkit_course import finite

CALIBRATORS = ("none", "temperature", "vector", "matrix", "Dirichlet")
# Six stated vectors, one per order of the classes, and the truth behind each of them.
SIX_STATED = ((1, 3, 6), (1, 6, 3), (3, 1, 6), (3, 6, 1), (6, 1, 3), (6, 3, 1))
SIX_TRUE = ((0, 0, 10), (2, 2, 6), (6, 2, 2), (0, 10, 0), (10, 0, 0), (2, 6, 2))
# Rows of the sample that is looked at; vectors of a grid have steps of 1/9.
_TEST, _STEPS = 20_000, 9


def hidden() -> finite.FiniteClassifier:
    """Return six atoms that are calibrated for every class and for confidence, and all wrong.

    Found by integer linear programming: of all truths with straight diagrams for these stated
    vectors, one that lies farthest from them.
    """
    stated, true = (
        [[f"{part}/10" for part in row] for row in table] for table in (SIX_STATED, SIX_TRUE)
    )
    return finite.FiniteClassifier(None, stated, true)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class LogLinear:
    """Mix log-probabilities and normalise, ``softmax(W ln p)``: confusions between classes.

    The family of Dirichlet calibration, whose calibrator can find the true map. Probabilities count
    as at least 1e-300.

    Parameters
    ----------
    weights : sequence of K rows of K floats
        W: on the diagonal boldness per class, off it confusions.
    """

    weights: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        weights = as_array(self.weights, "weights").astype(np.float64)
        k = len(weights)
        if k < 2 or weights.shape != (k, k) or not np.isfinite(weights).all():
            raise ValueError(
                "weights must be K rows of K finite numbers, K at least 2, got "
                f"{weights.tolist()!r}."
            )
        object.__setattr__(self, "weights", tuple(map(tuple, weights.tolist())))

    def __call__(self, prob: FloatMatrix) -> FloatMatrix:
        """Distort probabilities of shape (n, K)."""
        if prob.shape[1:] != (len(self.weights),):
            raise ValueError(
                f"LogLinear has weights for {len(self.weights)} classes, but the probabilities "
                f"have shape {prob.shape}; give one row and one column per class."
            )
        logits = np.log(np.maximum(prob, 1e-300)) @ np.array(self.weights).T
        return np.asarray(special.softmax(logits, axis=1))


# The truth of each class mixes its own number with that of the next class. Seen class by class,
# nothing but boldness is wrong.
CYCLE = ((0.6, 0.4, 0.0), (0.0, 0.6, 0.4), (0.4, 0.0, 0.6))
FAKES: dict[str, Any] = {
    "bold": DirichletFake((1, 1, 1), Power(0.45), "confidence-is-base"),
    "per class": DirichletFake((1, 1, 1), Power((0.3, 0.6, 1.2)), "confidence-is-base"),
    "cyclic": DirichletFake((1, 1, 1), LogLinear(CYCLE), "confidence-is-base"),
    "hidden": hidden(),
}


@lru_cache(maxsize=64)
def calibrated(
    model: str, calibrator: str, n_fit: int, seed: int
) -> tuple[FakeSample, FloatMatrix, FloatMatrix]:
    """Return a calibrated sample, and the vectors of a grid with their truth."""
    fake = FAKES[model]
    rng = np.random.default_rng(seed)
    fit, test = fake.sample(n_fit, rng), fake.sample(_TEST, rng)
    stated, true = _grid(model)
    if calibrator == "none":
        return test, stated, true
    change = _fitted(calibrator, fit)
    return replace(test, y_prob=change(test.y_prob)), change(stated), true


def _fitted(name: str, fit: FakeSample) -> Any:
    """Return a fitted map from probabilities to probabilities."""
    if name == "matrix":
        matrix = MatrixScaling("logits").fit(centred(fit.y_prob), fit.y_true)
        return lambda prob: matrix.calibrate(centred(prob))
    families: dict[str, type[MulticlassCalibrator]] = {
        "temperature": TemperatureScaling,
        "vector": VectorScaling,
        "Dirichlet": DirichletCalibrator,
    }
    model = families[name](input="probabilities")
    return model.fit(fit.y_prob, fit.y_true).calibrate


def centred(y_prob: Any) -> FloatMatrix:
    """Return logits of probabilities in the gauge in which the logits of a row sum to 0."""
    logs = np.log(np.asarray(y_prob, dtype=np.float64))
    return np.asarray(logs - logs.mean(axis=1, keepdims=True))


def _grid(model: str) -> tuple[FloatMatrix, FloatMatrix]:
    """Return stated and true vectors to draw: the atoms, or points all over the simplex."""
    fake = FAKES[model]
    if isinstance(fake, finite.FiniteClassifier):
        return np.array(fake.confidence, dtype=float), np.array(fake.truth, dtype=float)
    inner = [(i, j, _STEPS - i - j) for i in range(1, _STEPS) for j in range(1, _STEPS - i)]
    stated = np.array(inner) / _STEPS
    return stated, fake.distortion(stated)
