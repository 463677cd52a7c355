"""The judge of exercise 12.4, and what it says."""

from functools import lru_cache
from typing import Any

import numpy as np
from scipy import special

from calibkit.calibrators import TemperatureScaling, VectorScaling
from calibkit.fakes import DirichletFake, FakeSample, Power
from calibkit.inputs import FloatVector
from calibkit.scores import log_loss
from calibkit_course.learn import answers
from calibkit_course.learn.words import read_words

SAY = read_words("12").say


# --- 12.4 --------------------------------------------------------------------------------------

_CLOSE = 2e-5


@lru_cache(maxsize=1)
def uneven() -> FakeSample:
    """Return predictions of three classes, each bold in its own way."""
    return DirichletFake((1, 1, 1), Power((0.3, 0.6, 1.2)), "confidence-is-base").sample(3000, 124)


@lru_cache(maxsize=1)
def _optima() -> dict[str, float]:
    """Return the log losses of the best maps: vector, and temperature."""
    data = uneven()
    maps = {
        "vector": VectorScaling("probabilities", penalty=0),
        "temperature": TemperatureScaling("probabilities"),
    }
    return {
        name: log_loss(data.y_true, m.fit(data.y_prob, data.y_true).calibrate(data.y_prob)).value
        for name, m in maps.items()
    }


def judge_vector(answer: Any) -> str | None:
    """Judge exercise 12.4: weights and biases of vector scaling, without a penalty."""
    shape = np.shape(_array(answer))
    if shape in ((3, 3), (6,)):
        return SAY["matrix" if shape == (3, 3) else "flat"]
    pair = answers.as_list(answer, SAY["two"], 2)
    if np.ndim(_array(pair[0])) == 2:
        return SAY["matrix"]
    first = pair[0] if np.ndim(_array(pair[0])) == 1 else [pair[0]] * 3
    w, b = (answers.as_numbers(part, SAY["two"], 3) for part in (first, pair[1]))
    found, wanted = _loss(w, b), _optima()["vector"]
    if abs(found - wanted) <= _CLOSE:
        return None
    if abs(_loss(b, w) - wanted) <= 10 * _CLOSE:
        return SAY["weights swapped"]
    if np.ptp(w) <= 1e-3:
        return SAY["temperature"]
    if np.all(w != 0) and abs(_loss(1 / w, b) - wanted) <= 10 * _CLOSE:
        return SAY["inverse"]
    if np.ptp(b) <= 1e-9:
        return SAY["no bias"].format(**answers.apart(found, wanted, 4))
    if _loss(w, b, logs=False) < found - 0.05:
        return SAY["no logs"]
    return SAY["not there"].format(**answers.apart(found, wanted, 5))


def _array(answer: Any) -> Any:
    """Return the answer as an array if it has one shape, else None."""
    try:
        return np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        return None


def _loss(w: FloatVector, b: FloatVector, logs: bool = True) -> float:
    """Return the log loss of ``softmax(w z + b)`` on the data of 12.4."""
    data = uneven()
    z = np.log(data.y_prob) if logs else data.y_prob
    with np.errstate(over="ignore", invalid="ignore"):  # a wild guess is wrong, not an accident
        rows = special.log_softmax(z * w + b, axis=1)
        return -float(rows[np.arange(data.n), data.y_true].mean())
