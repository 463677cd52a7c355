"""Judges of lesson 12: go multi-class."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import special

from calibkit.calibrators import TemperatureScaling, VectorScaling
from calibkit.errors import class_wise_calibration_error, expected_calibration_error
from calibkit.fakes import DirichletFake, FakeSample, KnobClassifier, Power
from calibkit.inputs import FloatVector, binary_problem
from calibkit.scores import log_loss
from calibkit_course import finite
from calibkit_course.learn import answers
from calibkit_course.learn.answers import Almost, same
from calibkit_course.learn.words import read_words

SAY = read_words("12").say


# --- 12.1 --------------------------------------------------------------------------------------

# The last row has a tie between classes 0 and 2.
_LABELS = np.array([2, 0, 1, 3, 2])
_PROBS = np.array(
    [
        [0.10, 0.20, 0.55, 0.15],
        [0.25, 0.05, 0.10, 0.60],
        [0.15, 0.50, 0.25, 0.10],
        [0.30, 0.20, 0.05, 0.45],
        [0.40, 0.15, 0.40, 0.05],
    ]
)
_GROUP = (0, 2)
_SINGLE = 1e-6  # single precision is precise enough


def judge_views(answer: Any) -> str | None:
    """Judge exercise 12.1: a function that reduces K classes to a probability and an event."""
    function = answers.as_function(answer)
    for view in ("top-label", 2, 0, list(_GROUP), [1]):
        shown = f'"{view}"' if isinstance(view, str) else str(view)
        call = SAY["view call"].format(view=shown)
        try:
            result = answers.call(function, _LABELS, _PROBS, view, shown=call)
        except answers.WrongKind as error:
            hint = f" {SAY['a list']}" if isinstance(view, list) else ""
            raise answers.WrongKind(f"{error}{hint}") from None
        if _is_table(result):
            return SAY["no pair"].format(view=shown)
        pair = answers.as_list(result, SAY["pair"], 2)
        wanted = _view(view)
        found = [
            answers.as_numbers(part, SAY["per row"].format(part=name), len(_LABELS))
            for part, name in zip(pair, ("probability", "event"), strict=True)
        ]
        if problem := _view_problem((found[0], found[1]), wanted, shown):
            return problem
    return None


def _is_table(result: Any) -> bool:
    """Tell whether there is one array or data frame with a row per prediction."""
    return hasattr(result, "__array__") and np.shape(result)[:1] == _LABELS.shape


def _view(view: Any) -> tuple[FloatVector, FloatVector]:
    if isinstance(view, list):
        return _PROBS[:, view].sum(axis=1), np.isin(_LABELS, view).astype(np.float64)
    problem = binary_problem(_LABELS, _PROBS, view=view)
    return problem.prob.astype(np.float64), problem.label.astype(np.float64)


def _view_problem(
    found: tuple[FloatVector, FloatVector], wanted: tuple[FloatVector, FloatVector], view: str
) -> str | None:
    off = np.flatnonzero(np.abs(found[0] - wanted[0]) > _SINGLE)
    if len(off):
        row = int(off[0])
        if np.allclose(found[1], wanted[0]) and np.array_equal(found[0], wanted[1]):
            return SAY["swapped"].format(view=view)
        if view.startswith("[") and np.allclose(found[0], _PROBS[:, list(_GROUP)].max(axis=1)):
            return SAY["largest"].format(view=view)
        if np.allclose(found[0], _PROBS[:, 1]):
            return SAY["one class"].format(view=view)
        numbers = answers.apart(found[0][row], wanted[0][row], 2)
        return SAY["probability"].format(view=view, row=row, **numbers)
    off = np.flatnonzero(found[1] != wanted[1])
    if len(off) == 0:
        return None
    predicted = _PROBS.argmax(axis=1)
    slips = {"the label": _LABELS, "the answer": predicted}
    if view.isdigit():
        slips["predicted"] = predicted == int(view)
    for slip, event in slips.items():
        if np.array_equal(found[1], event):
            return SAY[slip].format(view=view)
    row = int(off[0])
    if view == '"top-label"' and off.tolist() == [len(_LABELS) - 1]:
        return SAY["tie"].format(view=view, row=row)
    did = SAY["did" if wanted[1][row] else "did not"]
    return SAY["event"].format(view=view, row=row, did=did)


# --- 12.2 --------------------------------------------------------------------------------------

_PRINTED = 6e-4  # three digits are enough, of what is stated and of what is true
_ATOMS = {
    "the slides with one label changed": "slides, one label changed",
    "three vectors": "three atoms",
    "four other vectors": "four atoms",
}


def judge_seen_map(answer: Any) -> str | None:
    """Judge exercise 12.2: the true frequency behind each stated number, in one view."""
    function = answers.as_function(answer)
    for name, key in _ATOMS.items():
        fake = finite.example(key)
        stated = np.array(fake.confidence, dtype=np.float64).round(3)
        true = np.array(fake.truth, dtype=np.float64)
        for view in (0, 1, "top-label"):
            shown = SAY["map call"].format(view=repr(view).replace("'", '"'), name=name)
            result = answers.call(function, stated, true, view, shown=shown)
            largest = 0 * true + true.max(axis=1, keepdims=True)
            pairs, best = (_pairs(stated, of, view) for of in (true, largest))
            if problem := _map_problem(_plain(result), pairs, best, shown):
                return problem
    return None


def _plain(result: Any) -> dict[float, float]:
    """Return the dict with numbers for keys and values, keys rounded."""
    found = answers.as_mapping(result, SAY["map"])
    return {
        round(answers.as_number(key), 3): answers.as_number(value, SAY["numbers"])
        for key, value in found.items()
    }


def _pairs(stated: FloatVector, true: FloatVector, view: Any) -> list[tuple[float, float]]:
    """Return stated number and truth of each vector, in a view."""
    place = stated.argmax(axis=1) if view == "top-label" else np.full(len(stated), view)
    row = np.arange(len(stated))
    said = stated[row, place].round(3).tolist()
    return list(zip(said, true[row, place].tolist(), strict=True))


def _map_problem(
    found: dict[float, float],
    pairs: Sequence[tuple[float, float]],
    best: Sequence[tuple[float, float]],
    call: str,
) -> str | None:
    groups = _by_number(pairs)
    if set(found) != set(groups):
        shown = [", ".join(f"{key:g}" for key in sorted(keys)) for keys in (groups, found)]
        return SAY["keys"].format(call=call, wanted=shown[0], found=shown[1] or "none")
    wanted = {said: float(np.mean(truths)) for said, truths in groups.items()}
    wrong = [said for said in wanted if not same(found[said], wanted[said], _PRINTED)]
    if not wrong:
        return None
    slips: dict[str, dict[float, Any]] = {
        "best truth": {said: np.mean(truths) for said, truths in _by_number(best).items()},
        "last": {said: truths[-1] for said, truths in groups.items()},
        "sum": {said: sum(truths) for said, truths in groups.items()},
        "stated": {said: said for said in groups},
        "all rows": {said: sum(truths) / len(pairs) for said, truths in groups.items()},
    }
    key = wrong[0]
    for slip, values in slips.items():
        if all(same(found[said], values[said], _PRINTED) for said in groups):
            return SAY[slip].format(call=call, key=key)
    numbers = answers.apart(found[key], wanted[key])
    return SAY["map off"].format(call=call, key=key, **numbers)


def _by_number(pairs: Sequence[tuple[float, float]]) -> dict[float, list[float]]:
    groups: dict[float, list[float]] = {}
    for said, true in pairs:
        groups.setdefault(said, []).append(true)
    return groups


# --- 12.3 --------------------------------------------------------------------------------------

_LEAST_HARM = 0.06


@lru_cache(maxsize=1)
def honest() -> FakeSample:
    """Return the calibrated model whose ECE the fraud must beat."""
    return KnobClassifier(4, 0.75, budget_share=0).sample(2000, rng=12)


def judge_fraud(answer: Any) -> str | None:
    """Judge exercise 12.3: the same predictions, no larger ECE, and useless other classes."""
    data = honest()
    shape = data.y_prob.shape
    try:
        found = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        raise answers.wrong_kind(answer, SAY["table"].format(shape=shape)) from None
    if found.shape != shape:
        raise answers.wrong_kind(answer, SAY["table"].format(shape=shape))
    if np.array_equal(found, data.y_prob):
        return SAY["honest"]
    total, least = found.sum(axis=1), found.min(axis=1)
    fine = (np.abs(total - 1) <= 1e-6) & (least >= 0)
    if not fine.all():
        row = int(np.flatnonzero(~fine)[0])
        raise Almost(SAY["rows"].format(row=row, total=total[row], least=least[row]))
    kept, given = found.argmax(axis=1), data.y_prob.argmax(axis=1)
    if np.any(kept != given):
        row = int(np.flatnonzero(kept != given)[0])
        return SAY["other class"].format(row=row, found=kept[row], wanted=given[row])
    ece, wanted = (
        expected_calibration_error(data.y_true, p, view="top-label").value
        for p in (found, data.y_prob)
    )
    if ece > wanted + 1e-9:
        return SAY["ece"].format(**answers.apart(ece, wanted, 4))
    harm = class_wise_calibration_error(data.y_true, found).value
    if harm >= _LEAST_HARM:
        return None
    return SAY["harmless"].format(**answers.apart(harm, _LEAST_HARM, 2))


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


JUDGES = {"12.1": judge_views, "12.2": judge_seen_map, "12.3": judge_fraud, "12.4": judge_vector}
