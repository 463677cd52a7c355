"""Lesson 03, Make miscalibration to order: the judges."""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.fakes import ClassKnobs, KnobClassifier, Power
from calibkit_course.finite import FiniteClassifier
from calibkit_course.learn import answers
from calibkit_course.learn.answers import Almost, same, wrong_kind
from calibkit_course.learn.words import read_words
from calibkit_course.lesson03.machine import judge_machine

SAY = read_words("03").say


_POWERS = (2.0, 0.5, 3.0)
_GRID_ROUNDING = 1e-4


def judge_map(answer: Any) -> str | None:
    """Judge exercise 3.4: the inverse of the binary power distortion, on a grid."""
    function = answers.as_function(answer)
    said = np.arange(1, 50) / 50
    for a in _POWERS:
        with np.errstate(all="ignore"):
            result = answers.call(function, said, a, shown=SAY["map call"].format(a=a))
        found = answers.as_numbers(result, SAY["map"], len(said))
        problem = _map_problem(found, said, a)
        if problem is not None:
            return problem if a == _POWERS[0] else SAY["fixed"].format(first=_POWERS[0], a=a)
    return None


def _map_problem(found: NDArray[np.float64], said: NDArray[np.float64], a: float) -> str | None:
    wanted = _powered(said, 1 / a)
    if answers.agree(found, wanted, _GRID_ROUNDING):
        return None
    known = {
        "forward": _powered(said, a),
        "mirrored": 1 - wanted,
        "no sum": said ** (1 / a),
        "identity": said,
    }
    if slip := answers.slip_of(found, known, _GRID_ROUNDING):
        return SAY[slip].format(a=a)
    outside = found[(found < 0) | (found > 1)]
    if len(outside):
        return SAY["outside"].format(found=outside[0])
    i = int(np.abs(found - wanted).argmax())
    return SAY["off"].format(said=said[i], a=a, **answers.apart(found[i], wanted[i]))


def _powered(prob: NDArray[np.float64], a: float) -> NDArray[np.float64]:
    return Power(a)(np.column_stack([prob, 1 - prob]))[:, 0]


def judge_order(answer: Any) -> str | None:
    """Judge exercise 3.2: ten classes, accuracy 0.8, an error of 0.15 that no mean shows."""
    if not isinstance(answer, KnobClassifier | ClassKnobs | FiniteClassifier):
        raise wrong_kind(answer, SAY["knob"])
    if answer.n_classes != 10:
        return SAY["classes"].format(found=answer.n_classes)
    accuracy, said, error = _values(answer)
    if not same(accuracy, 0.8, 0.01):
        return SAY["accuracy"].format(**answers.apart(accuracy, 0.8))
    seen = abs(said - accuracy)
    if seen >= 0.0005:  # what prints as 0.000 is not seen
        key = "seen" if same(error, seen, 1e-6) else "partly seen"
        return SAY[key].format(found=f"{seen:.3f}")
    if same(error, 0.15, 0.01):
        return None
    per_share = KnobClassifier(10, 0.8, direction="pivot", concentration=2).room
    wide = KnobClassifier(10, 0.8, direction="pivot").room
    slips = {
        "share for error": per_share * 0.15,
        "inverse": per_share * 0.6 * 0.106 / 0.15,
        "concentration": wide * 0.15 / per_share,
    }
    slip = answers.slip_of(error, slips, 1e-3) or "error"
    return SAY[slip].format(**answers.apart(error, 0.15))


def _values(fake: KnobClassifier | ClassKnobs | FiniteClassifier) -> tuple[float, float, float]:
    """Return accuracy, mean confidence and expected calibration error."""
    if isinstance(fake, FiniteClassifier):
        return float(fake.accuracy), float(fake.mean_confidence), float(fake.expected_error())
    truth = fake.truth()
    return truth.accuracy, truth.mean_confidence, truth.expected


def judge_breaker(answer: Any) -> str | None:
    """Judge exercise 3.3: over- and under-confident by class, above the bound."""
    if not isinstance(answer, FiniteClassifier | ClassKnobs):
        raise wrong_kind(answer, SAY["breaker"])
    gaps = _gaps_by_class(answer)
    accuracy, _, error = _values(answer)
    if len(gaps) < 2:
        return SAY["one class"]
    broken = error > 1 - accuracy + 1e-12
    for side, found in (("over", max(gaps) > 1e-12), ("under", min(gaps) < -1e-12)):
        if not found:
            return SAY["one-sided" if broken else f"no {side}"].format(side=side)
    return None if broken else _below(answer, error, 1 - accuracy)


def _below(answer: FiniteClassifier | ClassKnobs, error: float, bound: float) -> str:
    if isinstance(answer, FiniteClassifier):
        by_class = float(answer.label_conditional_error())
    else:
        by_class = answer.truth().label_conditional
    if error < by_class - 1e-9:
        return SAY["cancel"]
    if same(error, bound, 1e-12):
        return SAY["equal"].format(found=f"{error:.3g}")
    return SAY["below"].format(**answers.apart(error, bound))


def _gaps_by_class(fake: FiniteClassifier | ClassKnobs) -> list[float]:
    """Return mean confidence minus accuracy for each class that is predicted."""
    if isinstance(fake, ClassKnobs):
        known = [knob.truth() for knob in fake.knobs]
        return [truth.mean_confidence - truth.accuracy for truth in known]
    gaps: dict[int, Fraction] = {}
    rows = zip(fake.mass, fake.confidence, fake.truth, fake.predicted, strict=True)
    for mass, said, true, k in rows:
        gaps[k] = gaps.get(k, Fraction(0)) + mass * (said[k] - true[k])
    return [float(gap) for gap in gaps.values()]


_STATED = tuple(
    tuple(Fraction(text) for text in row)
    for row in (("0.4", "0.3", "0.3"), ("0.3", "0.4", "0.3"), ("0.3", "0.3", "0.4"))
)
_TRUE = tuple(
    tuple(Fraction(text) for text in row) for row in (("0.4", "0.6", "0"), ("0", "0.4", "0.6"))
)
_ROUNDING = 1e-6  # single precision


def judge_third_truth(answer: Any) -> str | None:
    """Judge exercise 3.5: the truth of the third atom that hides the error of all classes."""
    entries = answers.as_list(answer, SAY["atom"], 3)
    row = [answers.as_probability(entry, SAY["atom"]) for entry in entries]
    if min(row) < 0 or max(row) > 1:
        raise Almost(SAY["sign"].format(found=f"{min(row) if min(row) < 0 else max(row):g}"))
    if not same(sum(row), 1, _ROUNDING):
        return SAY["sum"].format(**answers.apart(sum(row), 1, 1))
    if np.allclose(row, [float(p) for p in _STATED[2]], rtol=0, atol=_ROUNDING):
        return SAY["honest"]
    # Classes 0 and 1 state 3/10 twice, in the third atom and in one of the others.
    for k, other in ((0, 1), (1, 0)):
        mean = (float(_TRUE[other][k]) + row[k]) / 2
        if not same(mean, 0.3, _ROUNDING):
            return SAY["class off"].format(k=k, **answers.apart(mean, 0.3, 2))
    return None


JUDGES = {
    "3.1": judge_machine,
    "3.2": judge_order,
    "3.3": judge_breaker,
    "3.4": judge_map,
    "3.5": judge_third_truth,
}
