"""Judges of lesson 05: look inside the ECE."""

import warnings
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.calibrators import HistogramBinning, SlopeOneBinning
from calibkit.errors import expected_calibration_error
from calibkit.fakes import LogitDistortion
from calibkit.inputs import FloatVector
from calibkit.reliability import BinTable, reliability_table
from calibkit.results import spell
from calibkit_course.learn import answers
from calibkit_course.learn.answers import Almost, WrongKind, same
from calibkit_course.learn.words import read_words

SAY = read_words("05").say


# Ties, predictions on edges, p = 0 and 1, an empty bin, maps that leave [0, 1].
_CASES: tuple[tuple[Any, Any, int], ...] = (
    ((0, 1, 0, 1, 1, 1), (0.1, 0.3, 0.4, 0.6, 0.7, 0.9), 2),
    ((1, 0, 0, 1, 1, 0, 1), (0.9, 0.12, 0.25, 0.5, 0.5, 0.0, 1.0), 4),
    ((0, 1, 0, 0, 1, 1, 1, 0), (0.05, 0.2, 0.2, 0.31, 0.4, 0.83, 0.97, 0.9), 5),
    ((1, 0, 1, 0, 1, 0, 1), (0.3, 0.25, 0.6, 0.55, 0.7, 0.9, 1.0), 10),
    ((1, 0, 1, 1), (0.1, 0.15, 0.35, 0.5), 8),  # nothing in the last bins
)
_EXACT = 1e-6
_SEARCHED = 1e-4  # what a numerical search for the shifts may miss
_SHOWN = 5e-4  # what the messages of 5.2 cannot show


def judge_shifts(answer: Any) -> str | None:
    """Judge exercise 5.1: a function that returns the best shift of each bin."""
    function = answers.as_function(answer)
    for y_true, y_prob, n_bins in _CASES:
        table = reliability_table(y_true, y_prob, bins=n_bins)
        found = _called(function, y_true, y_prob, n_bins, SAY["shifts"])
        if problem := _shift_problem(found, table, np.array(y_true), np.array(y_prob)):
            return problem
    return None


def _called(function: Any, y_true: Any, y_prob: Any, n_bins: int, wanted: str) -> FloatVector:
    where = SAY["call"].format(n=len(y_prob), bins=n_bins)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # 0 / 0 in an empty bin is judged below
        given = np.array(y_true), np.array(y_prob), n_bins
        result = answers.call(function, *given, shown=where)
    entries = answers.as_list(result, wanted)
    try:
        found = np.array(entries, dtype=np.float64)
    except (TypeError, ValueError):
        raise answers.wrong_kind(result, wanted) from None
    if found.ndim == 2 and found.shape[1] == 1:  # a column
        found = found[:, 0]
    if found.ndim != 1:
        raise answers.wrong_kind(result, wanted)
    return found


def _wrong_bins(prob: FloatVector, n_bins: int) -> dict[str, NDArray[np.intp]]:
    """Return the bins that two usual slips give: inexact edges, and bins closed on the right."""
    near = np.digitize(prob, np.linspace(0, 1, n_bins + 1)) - 1
    closed = np.ceil(prob * n_bins).astype(np.intp) - 1
    return {"linspace": near.clip(0, n_bins - 1), "closed": closed.clip(0, n_bins - 1)}


def _mean_shifts(index: NDArray[np.intp], rest: FloatVector, n_bins: int) -> FloatVector:
    count = np.bincount(index, minlength=n_bins)
    return np.bincount(index, rest, n_bins) / np.maximum(count, 1)


def _shift_problem(
    found: FloatVector, table: BinTable, label: NDArray[Any], prob: FloatVector
) -> str | None:
    if len(found) != table.n_bins:
        key = "extra" if len(found) > table.n_bins else "bins"
        key = "each" if len(found) == len(prob) else key
        shown = {"found": spell(len(found), "shift"), "bins": spell(table.n_bins, "bin")}
        raise Almost(SAY[key].format(**shown))
    used, wanted = table.occupied, -table.gap
    if answers.agree(found[used], wanted[used], _SEARCHED):
        empty = answers.agree(found[~used], np.zeros((~used).sum()), _SEARCHED)
        return None if empty else SAY["empty"]
    index = table.assign(prob)
    medians = [np.median((label - prob)[index == b]) if used[b] else 0.0 for b in range(len(used))]
    known = {
        "sign": -wanted,
        "size": np.abs(wanted),
        "frequency": table.frequency,
        "left": table.edges[:-1] + wanted,
        "sums": wanted * table.count,
        "distances": _mean_shifts(index, np.abs(label - prob), table.n_bins),
        "shares": wanted * table.weight,
        "median": np.array(medians),
        "centres": table.frequency - table.centre,
    }
    for key, guess in known.items():
        if answers.agree(found[used], guess[used], _SEARCHED):
            return SAY[key]
    for key, bins in _wrong_bins(prob, table.n_bins).items():
        if answers.agree(found, _mean_shifts(bins, label - prob, table.n_bins), _SEARCHED):
            return SAY[key]
    b = int(np.flatnonzero(used & ~np.isclose(found, wanted, rtol=0, atol=_SEARCHED))[0])
    return SAY["off"].format(number=b, **answers.apart(found[b], wanted[b]))


def judge_map(answer: Any) -> str | None:
    """Judge exercise 5.3: a function that returns the fitted slope-1 map at the predictions."""
    function = answers.as_function(answer)
    for y_true, y_prob, n_bins in (*_CASES, _random_case()):
        found = _called(function, y_true, y_prob, n_bins, SAY["map"])
        if len(found) != len(y_prob):
            raise Almost(SAY["length"].format(found=spell(len(found), "value"), n=len(y_prob)))
        if problem := _map_problem(found, np.array(y_true), np.array(y_prob), n_bins):
            return problem
        miss = float(np.mean(np.abs(found - y_prob)))
        miss -= expected_calibration_error(y_true, y_prob, bins=n_bins).value
        single = np.array_equal(found, found.astype(np.float32))
        if abs(miss) > (1e-6 if single else 1e-12):
            return SAY["digits"].format(miss=abs(miss))
    return None


@lru_cache(maxsize=1)
def _random_case() -> tuple[NDArray[Any], FloatVector, int]:
    """Return 400 predictions with many ties, in no order."""
    sample = LogitDistortion(slope=0.5).sample(400, 52)
    return sample.y_true, sample.y_prob.round(2), 10


def _map_problem(
    found: FloatVector, label: NDArray[Any], prob: FloatVector, n_bins: int
) -> str | None:
    model = SlopeOneBinning(n_bins).fit(prob, label)
    wanted = model.curve(prob)
    if answers.agree(found, wanted, _EXACT):
        return None
    known = {
        "distance": wanted - prob,
        "flat": HistogramBinning(n_bins).fit(prob, label).curve(prob),
        "cut": model.calibrate(prob),
        "sorted": wanted[np.argsort(prob, kind="stable")],
    }
    for key, bins in _wrong_bins(prob, n_bins).items():
        known[key] = prob + _mean_shifts(bins, label - prob, n_bins)[bins]
    if slip := answers.slip_of(found, known, _EXACT):
        return SAY[slip]
    i = int(np.flatnonzero(~np.isclose(found, wanted, rtol=0, atol=1e-6))[0])
    borrowed = np.isclose(model.shift_, found[i] - prob[i], rtol=0, atol=1e-6)
    words = SAY["edge" if borrowed.any() else "value"]
    return words.format(p=prob[i], **answers.apart(found[i], wanted[i], 4))


def judge_four(answer: Any) -> str | None:
    """Judge exercise 5.2: four predictions of one bin that part the two families."""
    found = answers.as_numbers(answer, SAY["four"], 4)
    if found.min() < 0 or found.max() > 1:
        return SAY["range"]
    ece, flat = abs(found.mean() - 0.5), float(np.abs(found - 0.5).mean())
    if not same(ece, 0, _SHOWN):
        return SAY["shift"].format(mean=found.mean(), ece=ece)
    return None if flat >= 0.4 - _SHOWN else SAY["close"].format(flat=flat)


_STATEMENTS, _TRUE = "ABCDE", "AC"
_SEPARATORS = str.maketrans("", "", " ,;.&+/[]()'\"")


def judge_statements(answer: Any) -> str | None:
    """Judge exercise 5.4: the letters of the true statements about Theorem 1."""
    if isinstance(answer, str):  # "AC", "A, C", "A and C"
        answer = list(answer.upper().replace("AND", " ").translate(_SEPARATORS))
    entries = list(answer) if isinstance(answer, set) else answers.as_list(answer, SAY["letters"])
    if not all(isinstance(entry, str) for entry in entries):
        raise answers.wrong_kind(answer, SAY["letters"])
    letters = {entry.strip().upper() for entry in entries} - {""}
    for letter in sorted(letters):
        if letter not in _STATEMENTS or len(letter) != 1:
            raise WrongKind(SAY["no letter"].format(letter=letter[:20]))
    for letter in sorted(letters - set(_TRUE)):
        return SAY[f"wrong {letter}"]
    for letter in sorted(set(_TRUE) - letters):
        return SAY[f"missing {letter}"]
    return None


JUDGES = {"5.1": judge_shifts, "5.2": judge_four, "5.3": judge_map, "5.4": judge_statements}
