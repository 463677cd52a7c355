"""Judges of lesson 04: read a reliability diagram."""

import warnings
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.chance import consistency_band
from calibkit.reliability import BinTable, reliability_table
from calibkit_course.learn import answers
from calibkit_course.learn.answers import Almost, WrongKind
from calibkit_course.learn.words import read_words

SAY = read_words("04").say


# The first case has a bin whose mean is not its median. The second has p = 0, p = 1, a prediction
# on an edge, and empty bins; the third has the edges that `np.linspace` misses; the last bins of
# the fourth are empty.
_CASES = (
    ([1, 0, 1, 0, 1, 1, 1, 0], [0.01, 0.13, 0.18, 0.31, 0.44, 0.57, 0.72, 0.93], 5),
    ([0, 1, 0, 1, 1, 1], [0.0, 0.12, 0.21, 0.5, 0.58, 1.0], 8),
    ([0, 1, 0, 1, 1, 1, 0], [0.05, 0.3, 0.3, 0.6, 0.7, 0.9, 1.0], 10),
    ([0, 1, 1, 0], [0.1, 0.12, 0.2, 0.5], 10),
)


def judge_bin_statistics(answer: Any) -> str | None:
    """Judge exercise 4.1: a function that returns count, mean prediction and frequency."""
    function = answers.as_function(answer)
    for y_true, y_prob, n_bins in _CASES:
        where = SAY["call"].format(n=len(y_prob), bins=n_bins)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # 0 / 0 in an empty bin is what is asked for
            given = np.array(y_true), np.array(y_prob), n_bins
            result = answers.call(function, *given, shown=where)
        table = reliability_table(y_true, y_prob, bins=n_bins)
        if problem := _table_problem(_three_arrays(result, table), table, np.array(y_prob)):
            return problem
    return None


def _three_arrays(result: Any, table: BinTable) -> list[NDArray[np.float64]]:
    wanted, n_bins = SAY["three arrays"], table.n_bins
    parts = answers.as_list(result, wanted)
    if len(parts) != 3:
        raise answers.wrong_kind(result, wanted)
    arrays = []
    for name, part in zip(("count", "mean", "frequency"), parts, strict=True):
        try:
            array = np.asarray(part, dtype=np.float64).ravel()
        except (TypeError, ValueError):
            raise WrongKind(SAY["numbers"].format(name=name)) from None
        if len(array) != n_bins:
            few = "bin missing" if len(array) < n_bins else "other number"
            words = SAY["extra bin" if len(array) == n_bins + 1 else few]
            raise Almost(words.format(bins=n_bins, name=name, found=len(array)))
        arrays.append(array)
    return arrays


def _table_problem(
    arrays: list[NDArray[np.float64]], table: BinTable, prob: NDArray[np.float64]
) -> str | None:
    count, mean, frequency = arrays
    if not _equal(count, table.count):
        if _equal(mean, table.count) or _equal(frequency, table.count):
            return SAY["order"]
        return _count_problem(count, table, prob)
    if _equal(mean, table.frequency) and _equal(frequency, table.mean_prob):
        return SAY["swapped"]
    if _equal(mean[table.occupied], table.centre[table.occupied]):
        return SAY["centres"]
    return _column_problem("mean", mean, table.mean_prob, table) or _column_problem(
        "frequency", frequency, table.frequency, table
    )


def _count_problem(
    count: NDArray[np.float64], table: BinTable, prob: NDArray[np.float64]
) -> str | None:
    if _equal(count, table.weight):
        return SAY["count shares"]
    if _equal(np.nan_to_num(count), table.count):
        return SAY["empty count"]
    n_bins, missing = table.n_bins, table.count - count
    if missing[-1] > 0 and not missing[:-1].any():
        return SAY["lost"].format(found=f"{count.sum():g}", n=table.n)
    if _equal(count, table.count[::-1]):
        return SAY["reversed"]
    if _equal(count[table.occupied], (table.count * table.frequency)[table.occupied]):
        return SAY["positives"]
    found = ", ".join(f"{entry:g}" for entry in count)
    wanted = ", ".join(f"{entry:d}" for entry in table.count)
    near = np.clip(np.digitize(prob, np.linspace(0, 1, n_bins + 1)) - 1, 0, n_bins - 1)
    closed = np.clip(np.ceil(prob * n_bins).astype(int) - 1, 0, n_bins - 1)
    for key, index in (("linspace", near), ("edge", closed)):
        if _equal(count, np.bincount(index, minlength=n_bins)):
            return SAY[key].format(found=found, wanted=wanted)
    return SAY["counts"].format(found=found, wanted=wanted)


def _column_problem(
    column: str, found: NDArray[Any], wanted: NDArray[Any], table: BinTable
) -> str | None:
    what, used = SAY[column], table.occupied
    if _equal(found[used], (wanted * table.count)[used]):
        return SAY["sums"].format(what=what)
    if _equal(found[used], (wanted * table.weight)[used]):
        return SAY["shares"]
    for b in np.flatnonzero(used):
        if not _equal(found[b], wanted[b]):
            numbers = answers.apart(found[b], wanted[b])
            return SAY["off"].format(what=what, number=b, **numbers)
    if not np.isnan(found[~used]).all():
        return SAY["empty"].format(what=what)
    return None


def _equal(left: Any, right: Any) -> bool:
    return answers.agree(left, right, 1e-6)  # single precision will do


# Of the left seller: what a thousand redraws show, to within what another thousand may show.
NULL, P_VALUE, OWN = 0.0705, 0.287, 0.0780
_NULL_ROOM, _P_ROOM = 0.002, 0.06


def judge_null(answer: Any) -> str | None:
    """Judge exercise 4.2: null level and p-value of the left seller."""
    level, p_value = answers.as_numbers(answer, SAY["null"], length=2)
    if abs(p_value - NULL) <= _NULL_ROOM and abs(level - P_VALUE) <= _P_ROOM:
        return SAY["turned"]
    if abs(level - NULL) > _NULL_ROOM:
        slips = {"own": (OWN, 1e-4), "complement": (0.515, 0.01), "one chance": (0.266, 0.01)}
        slips |= {"one number": (0.32, 0.04), "bootstrap": (0.104, 0.006)}
        near = (key for key, (value, room) in slips.items() if abs(level - value) <= room)
        return SAY[next(near, "redraw")].format(**answers.apart(level, NULL))
    if abs(p_value - P_VALUE) <= _P_ROOM:
        # Rounded numbers, as the page prints them, do not show by what the count was divided.
        three, two = (_equal(k * p_value, round(k * p_value)) for k in (1000, 100))  # digits
        rounded = two or _equal(10_000 * level, round(10_000 * level))
        return SAY["no own"] if three and not rounded else None
    below = "below" if abs(1 - p_value - P_VALUE) <= _P_ROOM else "p"
    return SAY["count" if p_value > 1 else below].format(**answers.apart(p_value, P_VALUE, 2))


@lru_cache(maxsize=1)
def _expected_band() -> NDArray[np.float64]:
    """Return the band for the predictions of the exercise, which come from the same seed."""
    prob = np.random.default_rng(43).choice([0.02, 0.48, 0.52, 0.98], size=2000)
    # Fixed predictions: the band does not look at the labels, so any will do.
    band = consistency_band(prob > 0.5, prob, bins=2, n_draws=4000, rng=0)
    return np.stack([band.lower, band.upper])


# Of 1,000 rounds, the middle of the band moves by 0.002 at most, its width by 4 %. A redraw with
# the means of the bins is 13 to 25 % wider.
_MIDDLE, _WIDTH, _WIDEST = 0.004, 0.07, 0.15


def judge_band(answer: Any) -> str | None:
    """Judge exercise 4.4: lower and upper ends of a consistency band."""
    rows = _two_rows(answer)
    if not np.isfinite(rows).all():
        return SAY["nan"].format(count=int(np.sum(~np.isfinite(rows))))
    if rows.max() > 1:
        return SAY["events"]
    for key, other in (("upside down", rows[::-1]), ("columns", rows.T)):
        if _band_problem(rows) and not _band_problem(other):
            return SAY[key]
    return _band_problem(rows)


def _band_problem(rows: NDArray[np.float64]) -> str | None:
    expected = _expected_band()
    if (rows[1] - rows[0] > _WIDEST).all():
        return SAY["predictions"]
    middle, wanted = rows.mean(axis=0), expected.mean(axis=0)
    far = np.flatnonzero(np.abs(middle - wanted) > _MIDDLE)
    if len(far):
        b = far[0]
        return SAY["centre"].format(number=b, **answers.apart(middle[b], wanted[b]))
    factor = float(np.diff(rows, axis=0).mean() / np.diff(expected, axis=0).mean())
    if abs(factor - 1) > _WIDTH:
        return SAY["wide" if factor > 1 else "narrow"].format(factor=factor)
    return None


def _two_rows(answer: Any) -> NDArray[np.float64]:
    answers.as_list(answer, SAY["band"])
    try:
        rows = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        raise answers.wrong_kind(answer, SAY["band"]) from None
    if rows.shape != (2, 2):
        raise answers.wrong_kind(answer, SAY["band"])
    return rows


JUDGES = {"4.1": judge_bin_statistics, "4.2": judge_null, "4.4": judge_band}
