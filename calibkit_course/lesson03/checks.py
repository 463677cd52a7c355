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
    slips = {"share for error": per_share * 0.15, "inverse": per_share * 0.6 * 0.106 / 0.15}
    slip = answers.slip_of(error, slips, 1e-3) or "error"
    if isinstance(answer, KnobClassifier) and answer.concentration != 2:
        slip = "concentration"
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


# Of 4,000 predictions of a kind, chance moves a share by 0.03 once in a thousand times.
_KINDS, _PER_KIND, _SLACK, _SHARES = np.array([0.2, 0.6, 0.9, 1.0]), 4000, 0.03, (0.25, 0.5)


def judge_machine(answer: Any) -> str | None:
    """Judge exercise 3.1: a function that draws who is right, and says something else."""
    function = answers.as_function(answer)
    first = _SHARES[0]
    for t in _SHARES:
        right, said = _made(function, t, seed=3)
        if problem := _pair_problem(right, said, t):
            return problem if t == first else SAY["fixed t"].format(first=first, t=t)
    again, other = (_made(function, first, seed)[0] for seed in (3, 4))
    if not np.array_equal(again, _made(function, first, seed=3)[0]):
        return SAY["seed"]
    return SAY["own seed"] if np.array_equal(again, other) else None


def _made(function: Any, t: float, seed: int) -> list[NDArray[np.float64]]:
    q = np.tile(_KINDS, _PER_KIND)

    def seeded(q: NDArray[np.float64], t: float) -> Any:
        return function(q, t, np.random.default_rng(seed))

    made = answers.call(seeded, q, t, shown=SAY["call"].format(t=t, n=len(q)))
    pair = answers.as_list(made, SAY["pair"])
    if len(pair) != 2:
        raise answers.wrong_kind(made, SAY["pair"])
    return [answers.as_numbers(part, SAY["pair"], len(q)) for part in pair]


def _pair_problem(right: NDArray[np.float64], said: NDArray[np.float64], t: float) -> str | None:
    if not np.isin(right, (0, 1)).all():
        if np.isin(said, (0, 1)).all():
            return SAY["swapped"]
        return SAY["binary"].format(found=right[~np.isin(right, (0, 1))][0])
    wanted, found = (1 - t) * _KINDS + t, said[: len(_KINDS)]
    if not answers.agree(said, np.tile(wanted, _PER_KIND), 1e-6):
        patterns = {"truth": _KINDS, "turned": t * _KINDS + 1 - t}
        if slip := answers.slip_of(found, patterns, 1e-6):
            return SAY[slip]
        return _furthest("said", found, wanted, t)
    shares = right.reshape(_PER_KIND, -1).mean(axis=0)
    if answers.agree(shares, _KINDS, _SLACK):
        return None
    patterns = {"from said": wanted, "opposite": 1 - _KINDS, "certain": _KINDS > 0.5}
    if slip := answers.slip_of(shares, patterns, _SLACK):
        return SAY[slip]
    if np.isin(shares, (0, 1)).all():
        return SAY["one draw"]
    return _furthest("share", shares, _KINDS, t)


def _furthest(key: str, found: NDArray[np.float64], wanted: NDArray[np.float64], t: float) -> str:
    i = int(np.abs(found - wanted).argmax())
    return SAY[key].format(q=_KINDS[i], t=t, **answers.apart(found[i], wanted[i]))


JUDGES = {
    "3.1": judge_machine,
    "3.2": judge_order,
    "3.3": judge_breaker,
    "3.4": judge_map,
    "3.5": judge_third_truth,
}
