"""Judges of lesson 11: choose a calibrator, and verify it."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.bins import EqualMass, assign
from calibkit.calibrators import HistogramBinning, IsotonicCalibrator
from calibkit.fakes import SyntheticShape
from calibkit.inputs import FloatVector
from calibkit_course.learn import answers
from calibkit_course.learn.answers import Almost, apart, same
from calibkit_course.learn.words import read_words

SAY = read_words("11").say


# --- 11.1 --------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _scores() -> NDArray[Any]:
    """Return the Brier scores of the lesson: by draw, part (validation, test) and map."""
    fake, scores = SyntheticShape("square", 0.5), np.empty((100, 2, 50))
    for seed in range(100):
        fit, *parts = (fake.sample(n, 3 * seed + k) for k, n in enumerate((300, 100, 1000)))
        for b in range(50):
            one = HistogramBinning(b + 1).fit(fit.y_prob, fit.y_true)
            off = [one.calibrate(rows.y_prob) - rows.y_true for rows in parts]
            scores[seed, :, b] = [np.mean(each**2) for each in off]
    return scores


def judge_optimism(answer: Any) -> str | None:
    """Judge exercise 11.1: chosen on validation rows, reported on test rows."""
    found = answers.as_number(answer, SAY["optimism"])
    seen, new = _scores()[:, 0], _scores()[:, 1]
    draws, best, lucky = np.arange(len(seen)), seen.argmin(axis=1), new.argmin(axis=1)
    each, always = (new - seen)[draws, best], seen.mean(axis=0).argmin()
    wanted = each.mean()
    if same(found, wanted, 5e-4):
        return None
    slips = {
        "sign": -wanted,
        "by test": (new - seen)[draws, lucky].mean(),
        "two winners": (new.min(axis=1) - seen.min(axis=1)).mean(),
        "once": (new - seen)[:, always].mean(),
        "alone": seen.min(axis=1).mean(),
        "report": new[draws, best].mean(),
        "first": each[0],
    }
    slip = answers.slip_of(found, slips, 5e-4) or "optimism off"
    return SAY[slip].format(**apart(found, wanted, 4))


# --- 11.2 --------------------------------------------------------------------------------------


def _isotonic_cases() -> Iterator[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]:
    """Yield calibration predictions, their labels, and new predictions."""
    yield (
        np.array([0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9]),
        np.array([0, 0, 1, 0, 1, 0, 1, 1]),
        # Beyond both ends of the calibration set lie one and two: so no two slips look alike.
        np.array([0.05, 0.15, 0.24, 0.45, 0.5, 0.55, 0.62, 0.85, 0.87, 0.95, 0.99]),
    )
    # Two blocks of 200, the lower with one event, the upper with all but one: nothing is certain.
    rising = (np.arange(400) + 0.5) / 400
    yield rising, np.repeat([1, 0, 1, 0], [1, 199, 199, 1]), rising[::7]
    for seed in (1, 2):
        rng = np.random.default_rng(seed)
        said = rng.random(40)
        yield said, (rng.random(40) < said).astype(np.int64), rng.random(97)


def judge_certain(answer: Any) -> str | None:
    """Judge exercise 11.2: the share of new predictions that become exactly 0 or 1."""
    function = answers.as_function(answer)
    for p, y, new in _isotonic_cases():
        shown = SAY["case"].format(n=len(p))
        found = answers.as_number(answers.call(function, p, y, new, shown=shown), SAY["a share"])
        fitted = IsotonicCalibrator().fit(p, y)
        out, own = fitted.calibrate(new), fitted.calibrate(p)
        certain = (out == 0) | (out == 1)
        wanted = float(certain.mean())
        if same(found, wanted, 1e-3):  # one row more or less is 0.01 away
            continue
        inside = (new >= p.min()) & (new <= p.max())
        slips = {
            "outside": (certain & inside).mean(),
            "zeros only": (out == 0).mean(),
            "ones only": (out == 1).mean(),
            "own outputs": ((own == 0) | (own == 1)).mean(),
            "nearly": ((out < 0.01) | (out > 0.99)).mean(),
            "number": certain.sum(),
            "others": 1 - wanted,
            "percent": 100 * wanted,
        }
        if slip := answers.slip_of(found, slips, 1e-3):
            return SAY[slip].format(call=shown)
        return SAY["share off"].format(call=shown, **apart(found, wanted))
    return None


# --- 11.3 --------------------------------------------------------------------------------------


def judge_discretise(answer: Any) -> str | None:
    """Judge exercise 11.3: each scaled prediction becomes the mean of its bin."""
    function = answers.as_function(answer)
    for n, n_bins in ((12, 3), (60, 5), (40, 1)):
        shown = SAY["bins"].format(n=n, bins=n_bins)
        scaled = np.random.default_rng(n).beta(0.7, 0.9, n)
        result = answers.call(function, scaled, n_bins, shown=shown)
        found = answers.as_numbers(result, SAY["outputs"])
        if len(found) != n:
            raise Almost(SAY["length"].format(call=shown, n=n, found=len(found)))
        if problem := _discretised(scaled, n_bins, found, shown):
            return problem
    return None


def _discretised(scaled: FloatVector, n_bins: int, found: FloatVector, call: str) -> str | None:
    """Return what is wrong with the outputs of a call."""
    index = assign(scaled, EqualMass(n_bins).edges(scaled))
    wanted = _means(scaled, index, n_bins)[index]
    if np.allclose(found, wanted, rtol=0, atol=1e-4):
        return None
    slips = {"in order": np.sort(wanted), **_slips(scaled, index, n_bins)}
    if slip := answers.slip_of(found, slips, 1e-4):
        return SAY[slip].format(call=call)
    different = len(np.unique(found.round(9)))
    if different != n_bins:
        return SAY["distinct"].format(call=call, bins=n_bins, found=different)
    row = int(np.abs(found - wanted).argmax())
    return SAY["output off"].format(call=call, row=row, **apart(found[row], wanted[row]))


def _means(scaled: FloatVector, index: NDArray[np.intp], n_bins: int) -> FloatVector:
    count = np.maximum(np.bincount(index, minlength=n_bins), 1)
    return np.asarray(np.bincount(index, scaled, n_bins) / count)


def _slips(scaled: FloatVector, index: NDArray[np.intp], n_bins: int) -> dict[str, FloatVector]:
    """Return what usual slips would give."""
    parts = [scaled[index == b] for b in range(n_bins)]
    column = np.minimum((scaled * n_bins).astype(np.intp), n_bins - 1)
    as_they_come = np.arange(len(scaled)) * n_bins // len(scaled)
    return {
        "medians": np.array([np.median(part) for part in parts])[index],
        "middle": np.array([(part.min() + part.max()) / 2 for part in parts])[index],
        "width": _means(scaled, column, n_bins)[column],
        "unsorted": _means(scaled, as_they_come, n_bins)[as_they_come],
    }


JUDGES = {"11.1": judge_optimism, "11.2": judge_certain, "11.3": judge_discretise}
