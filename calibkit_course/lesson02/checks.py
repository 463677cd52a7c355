"""Lesson 02, Separate two virtues: the judges."""

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_expit, logit

from calibkit.fakes import LogitDistortion
from calibkit.scores import brier_score, log_loss
from calibkit_course.finite import example
from calibkit_course.learn.answers import (
    agree,
    apart,
    as_function,
    as_list,
    as_number,
    as_numbers,
    call,
    same,
    slip_of,
    wrong_kind,
)
from calibkit_course.learn.words import read_words

SAY = read_words("02").say


THREE_ATOMS = "three atoms"
_ORDINALS = ("first", "second", "third")

# What happened, what was stated, and the increasing curve that fits it best.
_RAIN = np.array([0, 0, 1, 1, 0, 0])  # not half of the days, lest 0.5 pass for their frequency
_SAID = np.array([0.2, 0.4, 0.3, 0.9, 0.6, 0.8])
_REPAIRED = np.array([0, 1 / 4, 1 / 4, 1, 1 / 4, 1 / 4])


def judge_parts(answer: Any) -> str | None:
    """Judge exercise 2.1: a function that splits a Brier score into its three parts."""
    columns = (column.copy() for column in (_RAIN, _SAID, _REPAIRED))
    result = call(as_function(answer), *columns, shown=SAY["call"])
    found = as_numbers(result, SAY["three parts"], length=3)
    score, mended, base = (
        float(np.mean((p - _RAIN) ** 2)) for p in (_SAID, _REPAIRED, np.full(6, _RAIN.mean()))
    )
    wanted = np.array([score - mended, base - mended, base])
    if agree(found, wanted, 1e-6):
        return None
    patterns = {
        "sums": len(_RAIN) * wanted,
        "swapped": wanted[[0, 2, 1]],
        "exchanged": wanted[[1, 0, 2]],
        "Murphy": np.array([np.mean((_SAID - _REPAIRED) ** 2), base - mended, base]),
        "minus": wanted * [1, -1, 1],
        "gain": wanted * [-1, 1, 1],
        "unrepaired": wanted - [0, score - mended, 0],
        "whole": np.array([score, base - mended, base]),
        "left over": np.array([score - mended, mended, base]),
    }
    uncertain = {
        "half": 0.25,
        "frequency": _RAIN.mean(),
        "stated": np.mean((_SAID.mean() - _RAIN) ** 2),
    }
    patterns |= {name: np.array([score - mended, u - mended, u]) for name, u in uncertain.items()}
    if slip := slip_of(found, patterns, 1e-6):
        return SAY[slip]
    # UNC first, for DSC is made from it
    i = next(i for i in (2, 0, 1) if not agree(found[i], wanted[i], 1e-6))
    return SAY["part"].format(part=("MCB", "DSC", "UNC")[i], **apart(found[i], wanted[i], 4))


@lru_cache(maxsize=1)
def _bold() -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return labels and logits of the forecaster of exercise 2.2."""
    honest = LogitDistortion().sample(3000, rng=22)
    return honest.y_true, logit(honest.y_prob) / 0.33


def _loss(temperature: float) -> float:
    labels, logits = _bold()
    with np.errstate(over="ignore"):  # a tiny temperature makes every forecast 0 or 1
        return log_loss(labels, expit(logits / temperature)).value


def _brier(temperature: float) -> float:
    labels, logits = _bold()
    return brier_score(labels, expit(logits / temperature)).value


def _of_wet_days(temperature: float) -> float:
    labels, logits = _bold()
    return -float(np.mean(log_expit(logits[labels == 1] / temperature)))


@cache
def _best(loss: Callable[[float], float] = _loss) -> float:
    options = {"bounds": (0.2, 10), "method": "bounded", "options": {"xatol": 1e-8}}
    return float(minimize_scalar(loss, **options).x)


def judge_temperature(answer: Any) -> str | None:
    """Judge exercise 2.2: the temperature with the smallest log loss."""
    found, best = as_number(answer, SAY["temperature"]), _best()
    if same(found, best, 0.005):
        return None
    patterns = {
        "inverse": 1 / best,
        "logarithm": np.log(best),
        "start": 1.0,
        "known": 1 / 0.33,
        "loss": _loss(best),
        "Brier": _best(_brier),
        "wet": _best(_of_wet_days),
    }
    if slip := slip_of(found, patterns, 0.005):
        return SAY[slip].format(loss=_loss(1.0))
    if found <= 0:
        return SAY["no temperature"]
    if abs(found - best) < 0.2:
        return SAY["near"].format(found=found)
    return SAY["cold" if found < best else "hot"].format(found=found, loss=_loss(found))


# Of the three classifiers of exercise 2.3: by discrimination, and by Brier score, log loss, ECE
# and accuracy alike. A test recomputes them.
BY_DISCRIMINATION, BY_SCORE = "CAB", "ABC"


def judge_order(answer: Any) -> str | None:
    """Judge exercise 2.3: three classifiers, from the largest to the smallest discrimination."""
    given, right = _letters(answer), BY_DISCRIMINATION
    if sorted(given) != sorted(right):
        return SAY["letters"]
    if given == right:
        return None
    if given in (right[::-1], BY_SCORE):
        return SAY["backwards" if given != BY_SCORE else "by score"]
    place = next(i for i in range(3) if given[i] != right[i])
    return SAY["swap"].format(first=given[place], second=right[place])


def _letters(answer: Any) -> str:
    text = answer if isinstance(answer, str) else None
    if text is None:
        entries = as_list(answer, SAY["order"])
        if not all(isinstance(entry, str) for entry in entries):
            raise wrong_kind(answer, SAY["order"])
        text = "".join(entries)
    letters = "".join(letter for letter in text.upper() if letter.isalpha())
    if not letters or len(letters) > 12:
        raise wrong_kind(answer, SAY["order"])
    return letters


def judge_renaming(answer: Any) -> str | None:
    """Judge exercise 2.4: the class to name for each of three stated vectors."""
    fake = example(THREE_ATOMS)
    given = as_numbers(answer, SAY["three classes"], length=fake.n_atoms)
    for value in given.tolist():
        if value not in range(fake.n_classes):
            return SAY["class"].format(value=value)
    names = tuple(int(value) for value in given)
    chances = [row[name] for row, name in zip(fake.truth, names, strict=True)]
    accuracy = sum(m * chance for m, chance in zip(fake.mass, chances, strict=True))
    if accuracy == fake.best_postprocessing().accuracy:
        return None
    if names == fake.predicted:
        return SAY["same as before"].format(accuracy=accuracy)
    number = next(
        i for i, (row, c) in enumerate(zip(fake.truth, chances, strict=True)) if c != max(row)
    )
    return SAY["renamed"].format(accuracy=accuracy, ordinal=_ORDINALS[number])


JUDGES = {"2.1": judge_parts, "2.2": judge_temperature, "2.3": judge_order, "2.4": judge_renaming}
