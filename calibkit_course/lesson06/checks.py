"""Judges of lesson 06: choose the number of bins."""

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.bins import EqualMass
from calibkit.calibrators import CrossValidatedBinning
from calibkit.errors import expected_calibration_error
from calibkit.fakes import LogitDistortion, SyntheticShape
from calibkit.inputs import FloatMatrix
from calibkit.results import spell
from calibkit_course.learn import answers
from calibkit_course.learn.answers import Almost, same
from calibkit_course.learn.words import read_words

SAY = read_words("06").say


@lru_cache(maxsize=1)
def _shown() -> FloatMatrix:
    """Return the ECEs of 2,000 pairs of perfect programs on 1,000 images, those of the page."""
    network, rng = LogitDistortion(scores=(0.085, 0.085)), np.random.default_rng(6)
    samples = (network.sample(1000, rng) for _ in range(4000))
    found = [expected_calibration_error(s.y_true, s.y_prob).value for s in samples]
    return np.reshape(found, (2, 2000))


def judge_images(answer: Any) -> str | None:
    """Judge exercise 6.1: images for each program until the difference strays by 0.001."""
    found = answers.as_number(answer, SAY["images"])
    if found <= 0:
        raise answers.wrong_kind(answer, SAY["images"])
    shown = _shown()
    level, one, two = shown.mean(), shown.std(), np.std(shown[0] - shown[1])
    wanted, log = 1e9 * two**2, np.log(found)
    printed = 1e9 * round(two, 4) ** 2
    if same(found, printed, 0.15 * printed):  # from any line that the page prints
        return None
    slips = {"one": 1e9 * one**2, "gap": wanted / 4, "both": 2 * wanted, "level": 1e9 * level**2}
    slips |= {"factor": 1e6 * two, "bare": wanted / 1000}
    names = {name: np.log(number) for name, number in slips.items()}
    slip = answers.slip_of(log, names, 0.08) or "stray"
    return SAY[slip].format(n=found, stray=two * (1000 / found) ** 0.5)


_TOLERANCE = 0.0004  # three standard errors of a mean of 1,000 rounds
_ROUNDS = 1000


# --- 6.5 ---------------------------------------------------------------------------------------

# Nearly all predictions of the exercise lie in one bin, so the ECE is nearly the size of one normal
# deviation: its median lies 12 % below its mean, and other bins or predictions lie farther away.
_BINS = 5
_OTHER_BINS = (EqualMass(5), 10, 15, 20)


@lru_cache(maxsize=1)
def _levels() -> dict[str, float]:
    """Return the right number of 6.5, and what slips would give."""
    data = LogitDistortion(slope=0.6, scores=(20, 1)).sample(1000, rng=61)
    rng = np.random.default_rng(0)

    def errors(chance: Any, bins: Any = _BINS, n_rounds: int = 300) -> NDArray[np.float64]:
        rows = (rng.random(1000) < chance for _ in range(n_rounds))
        found = (expected_calibration_error(y, data.y_prob, bins=bins).value for y in rows)
        return np.array(list(found))

    right = errors(data.y_prob, n_rounds=4000)
    return {
        "null": float(right.mean()),
        "observed": expected_calibration_error(data.y_true, data.y_prob, bins=_BINS).value,
        "true labels": float(errors(data.true_prob).mean()),
        "coins": float(errors(0.5).mean()),
        **{str(b): float(errors(data.y_prob, b).mean()) for b in _OTHER_BINS},
    }


_NEAR = {"observed": 1e-4, "true labels": 0.003, "coins": 0.01}


def judge_null(answer: Any) -> str | None:
    """Judge exercise 6.5: the errors of 1,000 rounds of redrawn outcomes."""
    if np.ndim(answer) == 0 and not isinstance(answer, str):
        answers.as_number(answer, SAY["rounds"])
        raise Almost(SAY["mean"])
    rounds = answers.as_numbers(answer, SAY["rounds"])
    if len(rounds) < _ROUNDS:
        return SAY["few"].format(found=spell(len(rounds), "round"))
    found, levels = float(rounds.mean()), _levels()
    wanted = levels["null"]
    if same(found, wanted, _TOLERANCE):
        return None
    if abs(found) < 0.002:
        return SAY["zero"]
    for slip, tolerance in _NEAR.items():
        if same(found, levels[slip], tolerance):
            return SAY[slip]
    if any(same(found, levels[str(bins)], 2 * _TOLERANCE) for bins in _OTHER_BINS):
        return SAY["bins"]
    return SAY["null"].format(**answers.apart(found, wanted))


# --- 6.6 ---------------------------------------------------------------------------------------

N_BINS = 15
_MOST_COMPUTED = 200_000  # from there on, the level falls like one over the root of n


def _uniform_null(n: int) -> float:
    prob = (np.arange(n) + 0.5) / n
    return float(expected_calibration_error(prob > 0.5, prob, bins=N_BINS).null_mean)


def judge_enough(answer: Any) -> str | None:
    """Judge exercise 6.6: a sample size at which the null level is just below 0.01."""
    found = answers.as_number(answer)
    if found < N_BINS:
        return SAY["no n"]
    n = math.ceil(found)
    computed = min(n, _MOST_COMPUTED)
    level = _uniform_null(computed) * (computed / n) ** 0.5
    if level > 0.01:
        return SAY["too few"].format(n=n, level=level)
    if level < 0.0094:
        return SAY["too many"].format(n=n, level=level)
    return None


# --- 6.3 ---------------------------------------------------------------------------------------

REFINED = (1, 2, 4, 8, 16, 32)


@lru_cache(maxsize=1)
def _gaps() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    true_prob = (np.arange(64_000) + 0.5) / 64_000
    prob = SyntheticShape.with_error("stairs", 0.05).predict(true_prob)
    return prob, prob - true_prob


def _bin_means(n_bins: int) -> NDArray[np.float64]:
    return np.asarray(_gaps()[1].reshape(n_bins, -1).mean(axis=1))


def _equal_width(n_bins: int) -> float:
    prob, gap = _gaps()
    index = np.minimum((prob * n_bins).astype(int), n_bins - 1)
    return float(np.abs(np.bincount(index, gap)).sum() / len(gap))


def judge_refined(answer: Any) -> str | None:
    """Judge exercise 6.3: the errors that are left in finer and finer bins."""
    found = answers.as_numbers(answer, SAY["six"], len(REFINED))
    means = [_bin_means(n_bins) for n_bins in REFINED]
    wanted = np.array([np.abs(mean).mean() for mean in means])
    slips = {
        "backwards": wanted[::-1],
        "inside": np.full(len(REFINED), np.abs(_gaps()[1]).mean()),
        "signed": np.full(len(REFINED), _gaps()[1].mean()),
        "sums": np.array([np.abs(mean).sum() for mean in means]),
        "width": np.array([_equal_width(n_bins) for n_bins in REFINED]),
    }
    if _close(found, wanted):
        return None
    for key, slip in slips.items():
        if _close(found, slip) or (key == "signed" and _close(-found, slip)):
            return SAY[key]
    square = np.array([np.square(mean).mean() for mean in means])
    if _close(found, square) or _close(found, np.sqrt(square)):
        return SAY["squares"]
    place = int(np.argmax(np.abs(found - wanted)))
    values = {"bins": REFINED[place], "wanted": wanted[place], "found": found[place]}
    return SAY["bin off"].format(**values)


def _close(found: NDArray[np.float64], wanted: NDArray[np.float64]) -> bool:
    return bool(np.abs(found - wanted).max() <= 2e-4)


# --- 6.4 ---------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _choice() -> CrossValidatedBinning:
    sample = SyntheticShape.with_error("square", 0.1).sample(3000, seed=4)
    return CrossValidatedBinning(max_bins=40, rng=10).fit(sample.y_prob, sample.y_true)


def judge_choice(answer: Any) -> str | None:
    """Judge exercise 6.4: the number of bins by the 0.1 % rule."""
    found, choice = answers.as_number(answer, SAY["range"]), _choice()
    if found not in choice.candidates_:
        raise answers.wrong_kind(answer, SAY["range"])
    number, scores = int(found), np.asarray(choice.scores_)
    wanted = choice.n_bins_
    if number == wanted:
        return None
    if number == choice.best_n_bins_:
        return SAY["argmin"].format(found=spell(number, "bin"))
    if number == wanted - 1:
        return SAY["position"].format(found=number)
    excess = float(scores[np.asarray(choice.candidates_) == number][0] / scores.min() - 1)
    if excess <= choice.tolerance:
        return SAY["loosest"].format(found=spell(number, "bin"))
    return SAY["too strict"].format(found=spell(number, "bin"), excess=excess)


# --- 6.7 ---------------------------------------------------------------------------------------

# The second table comes from a model that is nearly calibrated: its answer is negative.
_TABLES = (
    ([10, 30, 60], [0.1, 0.45, 0.8], [0.3, 0.5, 0.65]),
    ([20, 50, 25, 5], [0.12, 0.36, 0.61, 0.9], [0.1, 0.4, 0.6, 1.0]),
)


def _square(count: Any, mean: Any, rate: Any) -> float:
    return float(count @ ((mean - rate) ** 2 - rate * (1 - rate) / (count - 1)) / count.sum())


def _slips(count: Any, mean: Any, rate: Any) -> dict[str, float]:
    gap, chance, share = (mean - rate) ** 2, rate * (1 - rate), count / count.sum()
    wanted = _square(count, mean, rate)
    return {
        "plain": share @ gap,
        "n": share @ (gap - chance / count),
        "weights": np.mean(gap - chance / (count - 1)),
        "wrong spread": share @ (gap - mean * (1 - mean) / (count - 1)),
        "once": share @ gap - np.sum(chance / (count - 1)),
        "clipped": max(wanted, 0),
        "root": np.sqrt(max(wanted, 0)),
    }


def judge_debiased(answer: Any) -> str | None:
    """Judge exercise 6.7: a function that returns a debiased squared error."""
    function = answers.as_function(answer)
    for table in _TABLES:
        count, mean, rate = (np.array(column, dtype=np.float64) for column in table)
        where = SAY["case"].format(bins=len(count))
        result = answers.call(function, count.astype(int), mean, rate, shown=where)
        found, wanted = answers.as_number(result), _square(count, mean, rate)
        if same(found, wanted, 1e-7):
            continue
        if slip := answers.slip_of(found, _slips(count, mean, rate), 1e-7):
            return SAY[slip].format(wanted=wanted)
        return SAY["square off"].format(bins=len(count), **answers.apart(found, wanted, 6))
    return None


JUDGES = {
    "6.1": judge_images,
    "6.3": judge_refined,
    "6.4": judge_choice,
    "6.5": judge_null,
    "6.6": judge_enough,
    "6.7": judge_debiased,
}
