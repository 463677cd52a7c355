"""Judges of lesson 08: test calibration."""

from functools import lru_cache, partial
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import stats

from calibkit.bins import Binning, EqualMass, Pava, PavaBC
from calibkit.chance import null_level
from calibkit.errors import expected_calibration_error
from calibkit.fakes import LogitDistortion
from calibkit.hypothesis_tests import binomial_p_values, test_based_calibration_error
from calibkit.inputs import FloatVector
from calibkit.results import spell
from calibkit_course.learn import answers
from calibkit_course.learn.answers import Almost, WrongKind, same
from calibkit_course.learn.words import read_words

SAY = read_words("08").say


# --- 8.1 ---------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _files() -> dict[str, tuple[Any, FloatVector]]:
    """Return outcomes and predictions of an honest model, of one far off, and of a sure one."""
    fair = LogitDistortion(scores=(2, 18)).sample(400, rng=861)
    off = LogitDistortion(slope=0).sample(2000, rng=862)
    sure = np.tile([0, 1], 20)
    return {
        "fair": (fair.y_true, fair.y_prob),
        "off": (off.y_true, off.y_prob),
        "sure": (sure, sure.astype(np.float64)),
    }


@lru_cache(maxsize=1)
def _fair_p() -> float:
    rows = _files()["fair"]
    return float(
        null_level(expected_calibration_error, *rows, bins=10, n_draws=2000, rng=86).p_value
    )


def _with(function: Any, rng: np.random.Generator, label: Any, prob: Any) -> Any:
    return function(label, prob, rng)


def judge_test(answer: Any) -> str | None:
    """Judge exercise 8.1: a function that redraws outcomes and returns a p-value."""
    function, found, unused = answers.as_function(answer), {}, []
    for name, (label, prob) in _files().items():
        rng = np.random.default_rng(86)  # a learner's function may use it up
        result = answers.call(partial(_with, function, rng), label, prob, shown=SAY[name])
        found[name] = answers.as_number(result, SAY["a p"])
        unused.append(rng.random() == np.random.default_rng(86).random())
    if max(found.values()) > 1.5:
        return SAY["number"]
    if found["off"] > 0.9 and found["fair"] < 0.95:
        return SAY["better"]
    if not same(found["fair"], _fair_p(), 0.17):  # five standard deviations of 199 redraws
        return SAY["unlike"].format(**answers.apart(found["fair"], _fair_p(), 2))
    if found["off"] == 0 or found["sure"] > 1:
        return SAY["plus one"]
    if found["sure"] < 1:
        return SAY["as bad"]
    if found["off"] > 1 / 150:
        return SAY["rounds"].format(found=f"{found['off']:.3f}")
    return SAY["own rng"] if all(unused) else None


# --- 8.2 ---------------------------------------------------------------------------------------

_CAUGHT = 118 / 200  # what the lesson prints


def judge_share(answer: Any) -> str | None:
    """Judge exercise 8.2: how many of the rejected models are honest."""
    found, honest, others = answers.as_number(answer), 97 * 0.05, 3 * _CAUGHT
    wanted = honest / (honest + others)
    if same(found, wanted, 0.005):
        return None
    slips = {
        "models": honest,
        "level": 0.05,
        "power": _CAUGHT,
        "others": 1 - wanted,
        "all": (honest + others) / 100,
        "counts": 12 / (12 + 118),
        "alike": 0.05 / (0.05 + _CAUGHT),
        "all caught": honest / (honest + 3),
        "measured": 1.2 * honest / (1.2 * honest + others),
    }
    slip = "percent" if same(found / 100, wanted, 0.005) else answers.slip_of(found, slips, 0.005)
    return SAY[slip or "share off"].format(**answers.apart(found, wanted, 2))


# --- 8.3 ---------------------------------------------------------------------------------------

_FOUR_DIGITS = 5.1e-5  # an answer may be rounded to them
# The last case has ties: at 1/2, k and N - k events are equally likely.
_TRIALS = ((3, 15, (0.02, 0.1, 0.3, 0.6)), (18, 20, (0.4, 0.75, 0.9, 0.99)), (3, 10, (0.2, 0.5)))


def judge_p_values(answer: Any) -> str | None:
    """Judge exercise 8.3: a function that returns exact two-sided p-values."""
    function = answers.as_function(answer)
    for hits, count, probs in _TRIALS:
        given = np.array(probs)
        shown = SAY["case"].format(hits=hits, count=count)
        result = answers.call(function, hits, count, given, shown=shown)
        found = answers.as_numbers(result, SAY["each"], len(given))
        if problem := _p_value_problem(found, hits, count, given):
            return problem
    return None


def _p_value_problem(found: FloatVector, hits: int, count: int, prob: FloatVector) -> str | None:
    wanted = binomial_p_values(hits, count, prob)
    if np.allclose(found, wanted, rtol=0, atol=_FOUR_DIGITS):
        return None
    law = stats.binom(count, prob)
    lower, upper, own = law.cdf(hits), law.sf(hits - 1), law.pmf(hits)
    z = (hits - count * prob) / np.sqrt(count * prob * (1 - prob))
    slips = {
        "doubled": np.minimum(1, 2 * np.minimum(lower, upper)),
        "lower tail": lower,
        "upper tail": upper,
        "one tail": np.minimum(lower, upper),
        "one outcome": own,
        "strict": wanted - own,
        "normal": 2 * stats.norm.sf(np.abs(z)),
    }
    if slip := answers.slip_of(found, slips, _FOUR_DIGITS):
        return SAY[slip].format(hits=hits, count=count)
    worst = int(np.abs(found - wanted).argmax())
    p = float(prob[worst])
    if p == 0.5 and same(found[worst], wanted[worst] - own[worst], _FOUR_DIGITS):
        return SAY["tie"].format(p=p, hits=hits)
    shown = answers.apart(float(found[worst]), float(wanted[worst]), 4)
    return SAY["test off"].format(hits=hits, count=count, p=p, **shown)


# --- 8.4 ---------------------------------------------------------------------------------------

LABELS = (0, 1, 0, 0, 1, 1, 0, 1)


def judge_fit(answer: Any) -> str | None:
    """Judge exercise 8.4: PAVA by hand."""
    if not isinstance(answer, str) and hasattr(answer, "__len__") and len(answer) == 4:
        sizes = answers.as_numbers(answer, SAY["eight"])
        if sizes.sum() == len(LABELS):
            return SAY["sizes"]
    found = answers.as_numbers(answer, SAY["eight"], len(LABELS))
    wanted = _fit()
    if np.allclose(found, wanted, rtol=0, atol=5e-3):
        return None
    if np.array_equal(found, LABELS):
        return SAY["labels"]
    falls = np.flatnonzero(np.diff(found) < -1e-9)
    if len(falls):
        return SAY["falls"].format(place=int(falls[0]) + 1)
    if np.ptp(found) < 1e-9:
        return SAY["one value"]
    for start, stop in _runs(found):
        where = {"start": start + 1, "stop": stop}
        if not same(found[start], float(np.mean(LABELS[start:stop])), 5e-3):
            return SAY["not a mean"].format(**where)
        if np.ptp(wanted[start:stop]) > 0:
            return SAY["too much"].format(**where)
    return SAY["eight"]


def _fit() -> FloatVector:
    label = np.array(LABELS)
    bounds = Pava().bounds(np.arange(len(label)) / 10, label)
    means = [label[a:b].mean() for a, b in pairwise(bounds)]
    return np.repeat(means, np.diff(bounds))


def _runs(values: FloatVector) -> list[tuple[int, int]]:
    """Return start and stop of each stretch of equal values."""
    cuts = np.flatnonzero(np.abs(np.diff(values)) > 1e-9) + 1
    ends = [0, *cuts.tolist(), len(values)]
    return list(pairwise(ends))


# --- 8.5 ---------------------------------------------------------------------------------------

_SIZES = (
    ((0, 6, 13, 20), 5, 9, "positions"),
    ((0, 5, 11, 20), 5, 9, "ends"),
    ((0, 4, 12, 20), 5, 9, "too small"),
    ((0, 8, 12, 20), 5, 9, "too small"),
    ((0, 5, 10, 20), 5, 9, "too large"),
    ((0, 5, 11, 14), 5, 9, "too small"),  # the last block alone
    ((0, 12, 17, 22), 5, 9, "not all"),
)


def judge_sizes(answer: Any) -> str | None:
    """Judge exercise 8.5: a function that tells whether all bins keep their bounds."""
    function = answers.as_function(answer)
    for bounds, low, high, slip in _SIZES:
        shown = SAY["bounds"].format(bounds=list(bounds), low=low, high=high)
        result = answers.call(function, np.array(bounds), low, high, shown=shown)
        said, sizes = answers.as_truth(result), np.diff(bounds)
        if said != bool(np.all((low <= sizes) & (sizes <= high))):
            return SAY[slip].format(call=shown)
    return None


# --- 8.6 ---------------------------------------------------------------------------------------

_LEVEL, _LEAST_SIGHT = 0.10, 0.09
_SAMPLES = {500: 12, 2000: 8, 8000: 4}
# Where bins grow more slowly than the cube root of n, the test outruns them in the end. There,
# no multiple of log n that passes up to 8,000 is enough any more.
_MANY = 10**12


def judge_bins(answer: Any) -> str | None:
    """Judge exercise 8.6: a rule for bins that spares a perfect model and sees a bad one."""
    function = answers.as_function(answer)
    for n in _SAMPLES:
        value = _mean_share(_as_binning(function, n), n, slope=1.0)
        if value > _LEVEL:
            return SAY["perfect"].format(n=n, value=value)
    seen = _mean_share(_as_binning(function, 2000), 2000, slope=0.7)
    if seen < _LEAST_SIGHT:
        return SAY["blind"].format(value=seen)
    number = getattr(_as_binning(function, _MANY), "n_bins", None)
    if number is not None and number**3 < _MANY:
        return SAY["stays"].format(n=_MANY, bins=spell(number, "bin"))
    return None


def _as_binning(function: Any, n: int) -> Binning:
    shown = SAY["call"].format(n=n)
    result = answers.call(function, n, shown=shown)
    if isinstance(result, EqualMass | Pava | PavaBC) or hasattr(result, "edges"):
        return result  # type: ignore[no-any-return]
    try:
        number = answers.as_number(result, SAY["binning"])
    except WrongKind:
        raise answers.wrong_kind(result, SAY["binning"]) from None
    if number != round(number) or not 1 <= number <= n:
        raise Almost(SAY["whole"].format(found=number, n=n))
    return EqualMass(int(number))


def _mean_share(binning: Binning, n: int, *, slope: float) -> float:
    """Return the mean test-based error of fresh samples, always the same ones."""
    rng, model = np.random.default_rng(85), LogitDistortion(slope=slope)
    samples = (model.sample(n, rng) for _ in range(_SAMPLES[n]))
    errors = [
        test_based_calibration_error(s.y_true, s.y_prob, bins=binning, n_draws=0) for s in samples
    ]
    return float(np.mean([error.value for error in errors]))


# --- 8.7 ---------------------------------------------------------------------------------------

_FORMULA = ((stats.norm.ppf(0.975) * 0.16**0.5 + stats.norm.ppf(0.8) * 0.21**0.5) / 0.1) ** 2


def judge_rows(answer: Any) -> str | None:
    """Judge exercise 8.7: the rows from which on a bin's test has a power of 80 %."""
    found = answers.as_number(answer, SAY["rows"])
    first, needed = _rows_needed("exact")
    if found == needed:
        return None
    if first <= found < needed:
        return SAY["first"].format(found=f"{found:g}")
    if found in _rows_needed("one-sided"):
        return SAY["one-sided"]
    if found in _rows_needed("normal law") or abs(found - _FORMULA) < 1:
        return SAY["normal law"]
    return SAY["too few" if found < first else "too many"].format(found=f"{found:g}")


@lru_cache(maxsize=3)
def _rows_needed(test: str) -> tuple[int, int]:
    """Return the first number of rows with a power of 80 %, and that from which on it stays."""
    powers = np.zeros(301)
    for n in range(1, 301):
        k = np.arange(n + 1)
        chance = stats.binom.pmf(k, n, 0.8)
        p_value = {
            "exact": (chance <= chance[:, None] * (1 + 1e-7)) @ chance,  # ties up to rounding
            "one-sided": np.cumsum(chance),
            "normal law": 2 * stats.norm.sf(np.abs(k - 0.8 * n) / (0.16 * n) ** 0.5),
        }[test]
        powers[n] = stats.binom.pmf(k, n, 0.7)[p_value <= 0.05].sum()
    return int(np.argmax(powers >= 0.8)), 1 + int(np.flatnonzero(powers < 0.8).max())


JUDGES = {
    "8.1": judge_test,
    "8.2": judge_share,
    "8.3": judge_p_values,
    "8.4": judge_fit,
    "8.5": judge_sizes,
    "8.6": judge_bins,
    "8.7": judge_rows,
}
