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

SAY = {
    # 12.4
    "two": "a pair (w, b) with three numbers each",
    "matrix": "this is a matrix. Vector scaling has one weight per class.",
    "swapped": "this fits if the two are swapped: first the weights, then the biases.",
    "temperature": "one weight for all classes is temperature scaling. Give each its own.",
    "no bias": "equal biases do nothing: the log loss is {found}, and {wanted} is possible. Fit "
    "the biases too.",
    "no logs": "these weights fit the probabilities better than their logarithms. Scale the "
    "logarithms.",
    "inverse": "these are the inverse weights. The logits are multiplied by w.",
    "flat": "these are six numbers in one list. Give them as a pair of three weights and three "
    "biases.",
    "not there": "the log loss is {found}, but {wanted} is possible. Is there a penalty left, or "
    "did the optimiser stop early?",
}


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
        return SAY["swapped"]
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
