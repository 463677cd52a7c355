"""Lesson 01, Play the forecaster: the judges."""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.results import spell
from calibkit_course.learn.answers import (
    as_list,
    as_mapping,
    as_numbers,
    as_probability,
    same,
    slip_of,
    wrong_kind,
)
from calibkit_course.learn.words import read_words

TOLERANCE = 0.005
EXACT = 1e-6  # where "exactly calibrated" is asked

# Stated probability: number of forecasts, number of rainy days.
GROUPS = {
    Fraction(1, 6): (5, 1),
    Fraction(1, 3): (3, 1),
    Fraction(1, 2): (2, 1),
    Fraction(3, 4): (4, 3),
    Fraction(1): (1, 1),
}


SAY = read_words("01").say


def _all_names() -> str:
    return ", ".join(map(str, GROUPS))


def _group_of(key: Any) -> Fraction | None:
    value = as_probability(key, SAY["group"])
    near = [prob for prob in GROUPS if same(value, float(prob), TOLERANCE)]
    return near[0] if near else None


def judge_frequencies(answer: Any) -> str | None:
    """Judge exercise 1.1: the frequency of rain in each group."""
    given: dict[Fraction, float] = {}
    for key, value in as_mapping(answer, SAY["frequencies"]).items():
        group = _group_of(key)
        if group is None:
            return SAY["no such group"].format(key=key, groups=_all_names())
        if group in given:
            return SAY["group twice"].format(key=group)
        given[group] = as_probability(value, SAY["frequencies"])
    for group in GROUPS:
        if group not in given:
            return SAY["group missing"].format(key=group)
    return _frequency_mistake(np.array([given[group] for group in GROUPS]))


def _frequency_mistake(given: NDArray[np.float64]) -> str | None:
    count, hits = np.array(list(GROUPS.values()), dtype=float).T
    right = np.abs(given - hits / count) <= TOLERANCE
    if right.all():
        return None
    stated = np.array([float(prob) for prob in GROUPS])
    patterns = {
        "hits": hits,
        "sizes": count,
        "stated": stated,
        "dry": 1 - hits / count,
        "of all": hits / count.sum(),
        "gaps": stated - hits / count,
        "overall": np.full(len(hits), hits.sum() / count.sum()),
    }
    per_cent, rounded = {"per cent": 100 * hits / count}, {"too coarse": hits / count}
    slip = slip_of(given, patterns, TOLERANCE) or slip_of(given, per_cent, 1)
    if slip := slip or slip_of(given, rounded, 0.05):
        return SAY[slip]
    group = list(GROUPS)[int(np.argmin(right))]
    size, rainy = GROUPS[group]
    return SAY["one group"].format(key=group, hits=rainy, days=spell(size, "day"))


def judge_accuracy(answer: Any) -> str | None:
    """Judge exercise 1.3: the accuracy of six rows, three of which are right."""
    value = as_probability(answer, SAY["accuracy"])
    if same(value, 0.5, TOLERANCE):
        return None
    slips = {"claim": 1 / 3, "count": 3, "confidence": 0.353, "percent": 50}
    return SAY[slip_of(value, slips, TOLERANCE) or "recount"]


def judge_six(answer: Any) -> str | None:
    """Judge exercise 1.2: six calibrated forecasts with one stated probability."""
    stated, rained = _six_pairs(answer)
    for value in stated:
        if not 0 <= value <= 1:
            return SAY["outside"].format(value=f"{value:g}")
    for value in rained:
        if value not in (0, 1):
            key = "swapped" if set(stated) <= {0.0, 1.0} else "not binary"
            return SAY[key].format(value=f"{value:g}")
    if np.ptp(stated) > EXACT:
        return SAY["not constant"]
    hits, share = int(rained.sum()), float(rained.mean())
    promise = float(stated.mean())
    if promise in (0.0, 1.0):
        return SAY["certain"].format(value=promise)
    if hits in (0, 6):
        return SAY["all or none"].format(hits=hits, share=share)
    if same(promise, share, EXACT):
        return None
    key = "rounded" if same(promise, share, 0.01) else "gap"
    return SAY[key].format(stated=promise, hits=hits, share=share)


def _six_pairs(answer: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return stated probabilities and outcomes from six pairs, or from two lists of six."""
    wanted = SAY["six pairs"]
    rows = as_list(answer, wanted)
    if any(np.ndim(row) == 0 for row in rows):  # numbers where pairs should be
        raise wrong_kind(answer, wanted)
    if len(rows) == 2 and all(len(as_list(row, wanted)) == 6 for row in rows):
        return as_numbers(rows[0], wanted), as_numbers(rows[1], wanted)
    pairs = [as_numbers(row, wanted) for row in as_list(answer, wanted, length=6)]
    if any(len(pair) != 2 for pair in pairs):
        raise wrong_kind(answer, wanted)
    stated, rained = np.array(pairs).T
    return stated, rained


JUDGES = {"1.1": judge_frequencies, "1.2": judge_six, "1.3": judge_accuracy}
