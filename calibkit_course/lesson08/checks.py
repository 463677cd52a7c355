"""Checks and predictions of lesson 08: test calibration."""

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
from calibkit_course.learn.exercises import Check, Prediction

SAY = {
    # 8.1
    "percent": "a share lies between 0 and 1, and this looks like one in per cent.",
    "models": "this is a number of models. Divide it by all that are rejected.",
    "level": "this is the share of the honest models that are rejected. Which share of the "
    "rejected models is honest?",
    "power": "this is the share of the over-confident models that are caught.",
    "others": "this is the share of the rejected models that are over-confident.",
    "all": "this is the share of all 100 models that are rejected. Of those, how many are honest?",
    "alike": "this takes as many honest models as others. There are 97 of the one and 3 of the "
    "other.",
    "all caught": "this takes all three as caught. The test catches a share `power` of them.",
    "counts": "this takes the two counts of the cell as they stand, as if there were as many "
    "honest models as others. Here 97 are honest and 3 are not.",
    "measured": "this takes the 12 of 200 honest models that chance gave above. The level promises "
    "5 %.",
    "share off": "{found} is not the share: divide the honest ones that are rejected by all that "
    "are rejected.",
    # 8.6
    "a p": "a p-value, one number",
    "fair": "400 predictions of an honest model",
    "off": "2,000 predictions of a model that is far off",
    "sure": "40 predictions of 0 and 1, all right",
    "number": "this is a number of redraws. Divide, so that it becomes a share.",
    "better": "this counts the redraws that do better than the data. Count those at least as bad.",
    "plus one": "the data count as one of the redraws: add 1 above and below the line.",
    "as bad": "a redraw that does exactly as badly as the data counts, too: `>=`.",
    "unlike": "for an honest model the p-value comes out as {found}, not near {wanted}. Does row i "
    "of each redraw happen with probability `p[i]`, by a random number of its own?",
    "rounds": "on a model that is far off no redraw does as badly, so 199 of them give 1/200. "
    "Here it is {found}.",
    # 8.2
    "case": "{hits} events in {count} trials",
    "each": "one p-value per probability",
    "lower tail": "this counts only outcomes up to {hits}. Unlikely ones lie on both sides.",
    "upper tail": "this counts only outcomes from {hits} on. Unlikely ones lie on both sides.",
    "one tail": "this is one tail. Add the outcomes of the other tail that are no more likely.",
    "doubled": "twice the smaller tail is another test. Add up all outcomes that are no more "
    "likely than the observed one.",
    "one outcome": "this is the probability of {hits} events alone. Add those of all outcomes that "
    "are no more likely.",
    "strict": "count the observed outcome, too, and those that are exactly as likely.",
    "normal": "this is the normal approximation. With {count} trials, sum the exact terms.",
    "tie": "at p = {p:g} an outcome of the other tail is exactly as likely as {hits}. Rounding "
    "hides the tie, so compare up to a factor of 1 + 1e-7.",
    "test off": "for {hits} events in {count} trials, p = {p:g} has the p-value {wanted}, not "
    "{found}.",
    # 8.3
    "eight": "eight fitted frequencies, one per label",
    "labels": "these are the labels. They fall, so something must be pooled.",
    "one value": "this pools everything. Pool only where a frequency is not below the next.",
    "falls": "your fit falls from place {place} to the next. Pool these two blocks.",
    "not a mean": "a block holds the mean of its labels. Look at places {start} to {stop}.",
    "too much": "this pools more than it must. Places {start} to {stop} need not be one block.",
    "sizes": "these are the sizes of the blocks. Give the fitted frequency of each place.",
    # 8.4
    "bounds": "bounds {bounds} with sizes {low} to {high}",
    "not all": "for {call}, one block breaks the rule, so the answer is False. Look at all blocks.",
    "too small": "for {call}, a block is smaller than allowed, so the answer is False.",
    "too large": "for {call}, a block is larger than allowed, so the answer is False.",
    "positions": "for {call}, the sizes are fine. Compare the differences of the bounds, not the "
    "bounds themselves.",
    "ends": "for {call}, both ends are allowed, so the answer is True.",
    # 8.5
    "binning": "a number of bins, or a binning of calibkit, for each n",
    "call": "n = {n:,}",
    "whole": "{found:g} is not a whole number of bins from 1 to {n:,}.",
    "perfect": "with n = {n:,}, {value:.1%} of a perfect model's predictions are still rejected. "
    "Narrower bins would help.",
    "stays": "this passes up to n = 8,000, but for {n:,} predictions your rule takes no more than "
    "{bins}. They are too wide for so sharp a test. Let the number grow with n.",
    "blind": "this keeps the perfect model, but it hardly sees an over-confident one either: "
    "{value:.1%} at n = 2,000. Make the bins larger.",
}


# --- 8.1 ---------------------------------------------------------------------------------------

_CAUGHT = 101 / 200  # what the lesson prints


def judge_share(answer: Any) -> str | None:
    """Judge exercise 8.1: how many of the rejected models are honest."""
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
        "counts": 12 / (12 + 101),
        "alike": 0.05 / (0.05 + _CAUGHT),
        "all caught": honest / (honest + 3),
        "measured": 1.2 * honest / (1.2 * honest + others),
    }
    slip = "percent" if same(found / 100, wanted, 0.005) else answers.slip_of(found, slips, 0.005)
    return SAY[slip or "share off"].format(**answers.apart(found, wanted, 2))


# --- 8.6 ---------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _files() -> dict[str, tuple[Any, FloatVector]]:
    """Return outcomes and predictions of an honest model, of one far off, and of a sure one."""
    fair = LogitDistortion(scores=(2, 18)).sample(400, rng=861)
    off = LogitDistortion(slope=0.3).sample(2000, rng=862)
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
    """Judge exercise 8.6: a function that redraws outcomes and returns a p-value."""
    function, found = answers.as_function(answer), {}
    for name, (label, prob) in _files().items():
        rng = np.random.default_rng(86)  # a learner's function may use it up
        result = answers.call(partial(_with, function, rng), label, prob, shown=SAY[name])
        found[name] = answers.as_number(result, SAY["a p"])
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
    if not same(found["off"], 1 / 200, 0.005):
        return SAY["rounds"].format(found=f"{found['off']:.3f}")
    return None


# --- 8.2 ---------------------------------------------------------------------------------------

_FOUR_DIGITS = 5.1e-5  # an answer may be rounded to them
# The last case has ties: at 1/2, k and N - k events are equally likely.
_TRIALS = ((3, 15, (0.02, 0.1, 0.3, 0.6)), (18, 20, (0.4, 0.75, 0.9, 0.99)), (3, 10, (0.2, 0.5)))


def judge_p_values(answer: Any) -> str | None:
    """Judge exercise 8.2: a function that returns exact two-sided p-values."""
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


# --- 8.3 ---------------------------------------------------------------------------------------

LABELS = (0, 1, 0, 0, 1, 1, 0, 1)


def judge_fit(answer: Any) -> str | None:
    """Judge exercise 8.3: PAVA by hand."""
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


# --- 8.4 ---------------------------------------------------------------------------------------

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
    """Judge exercise 8.4: a function that tells whether all bins keep their bounds."""
    function = answers.as_function(answer)
    for bounds, low, high, slip in _SIZES:
        shown = SAY["bounds"].format(bounds=list(bounds), low=low, high=high)
        result = answers.call(function, np.array(bounds), low, high, shown=shown)
        said, sizes = answers.as_truth(result), np.diff(bounds)
        if said != bool(np.all((low <= sizes) & (sizes <= high))):
            return SAY[slip].format(call=shown)
    return None


# --- 8.5 ---------------------------------------------------------------------------------------

_LEVEL, _LEAST_SIGHT = 0.10, 0.09
_SAMPLES = {500: 12, 2000: 8, 8000: 4}
# Where bins grow more slowly than the cube root of n, the test outruns them in the end. There,
# no multiple of log n that passes up to 8,000 is enough any more.
_MANY = 10**12


def judge_bins(answer: Any) -> str | None:
    """Judge exercise 8.5: a rule for bins that spares a perfect model and sees a bad one."""
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


# --- what the lesson asks ----------------------------------------------------------------------

TITLE = "Test calibration"

CHECKS = {
    "8.6": Check(
        task="Write the test",
        variable="p_value",
        judge=judge_test,
        hints=(
            "One redraw is `rng.random(len(p)) < p`: row i happens with probability `p[i]`. Its "
            "ECE is `ece(rng.random(len(p)) < p, p)`.",
            "Put 199 of them into an array `draws`. Add 1 to `np.sum(draws >= ece(y, p))`, and "
            "divide by 200.",
        ),
        praise="with another measure in place of the ECE, this tests that one.",
    ),
    "8.1": Check(
        task="Count the wrongly accused",
        variable="my_share",
        judge=judge_share,
        hints=(
            "Of 97 honest models the test rejects 5 %, and of the three others the share `power`. "
            "Both are averages, and need not be whole numbers.",
            "Divide the honest ones that are rejected by all that are rejected.",
        ),
        praise="three in four of the accused are honest, because nearly all suppliers are. Ask how "
        "common a fault is before you believe a test of it.",
        tolerance=0.005,
    ),
    "8.2": Check(
        task="Test all predictions of a bin",
        variable="p_values",
        judge=judge_p_values,
        hints=(
            "The binomial distribution with `count` draws and chance q gives each number of events "
            "a probability. Which of them are no larger than that of `hits`?",
            "`scipy.stats.binomtest(hits, count, q).pvalue` does this. Call it for each q in "
            "`probs`.",
        ),
        praise="one bin and one set of events give a verdict on each prediction.",
    ),
    "8.3": Check(
        task="Run PAVA by hand",
        variable="my_fit",
        judge=judge_fit,
        hints=(
            "Go from left to right. Compare each block with the one before it.",
            "Places 2 to 4 hold 1, 0, 0. Pooled they have the frequency 1/3, which is above the 0 "
            "before them.",
        ),
        praise="there are four blocks with rising frequencies: this is isotonic regression.",
        tolerance=0.005,
    ),
    "8.4": Check(
        task="Check the sizes of blocks",
        variable="keeps_sizes",
        judge=judge_sizes,
        hints=(
            "`np.diff(bounds)` holds the sizes.",
            "All sizes must be at least `n_min` and at most `n_max`; both ends are allowed.",
        ),
        praise=(
            "on the random labels of the solution, PAVA-BC always keeps sizes from 10 to 40. It "
            "keeps sizes from 30 to 40 in only 183 of 300 cases, because n_max is below 2 n_min."
        ),
    ),
    "8.5": Check(
        task="Design bins that spare a perfect model",
        variable="my_bins",
        judge=judge_bins,
        hints=(
            "Ten bins are too few for 8,000 predictions. Let their number grow with n.",
            "The number must grow at least like the cube root of n, and the bins must not get too "
            "few predictions. Try the square root.",
        ),
        praise="these bins are narrow enough to spare true predictions, and full enough to see "
        "false ones.",
    ),
}

PREDICTIONS = {
    "8a": Prediction(
        question="200 over-confident models, with 500 predictions each, are tested at the 5 % "
        "level. How many does the test catch?",
        options=("about 10", "about 50", "about 100", "nearly all"),
        outcome="about 100",
        why="The test promises to blame 10 of 200 honest models, and blamed 12. About the others "
        "it promises nothing: it caught 101, and the rest look like chance.",
        tells=(r"get away|about half of the over-confident|\b101\b",),
    ),
    "8g": Prediction(
        question="An honest model, 1,000 stays of 100 patients who tend to come back again. A test "
        "at the 5 % level takes the stays as independent. How many of 200 such models are accused?",
        options=("about 10", "about 25", "about 50"),
        outcome="about 50",
        why="Ten stays of one patient tell little more than a few. The sum of all gaps varies far "
        "more than that of 1,000 independent stays. Taken patient by patient, 9 are accused.",
        tells=(r"five times as often|repeats? (is|are) accused|patients? repeat",),
    ),
    "8b": Prediction(
        question="A perfect model with 500 predictions, spread evenly from 0 to 1, has a TCE of "
        "9 % in ten bins. How large is it with 8,000 predictions?",
        options=("about 2 %", "about 9 %", "about 20 %", "about 45 %"),
        outcome="about 45 %",
        why="The test compares each prediction with the frequency of its bin. Even a true one "
        "differs from it, for the bin is wide. With more data the test sees this, and it is no "
        "miscalibration.",
        tells=(
            r"more data makes? |grows with the data|TCE[^.]{0,40}(grows|rises)",
            r"\b4[56](\.\d)? ?%|nearly (a )?half of (them|its predictions)",
        ),
    ),
    "8c": Prediction(
        question="You test a perfect model in ten bins, and lower α from 5 % to 1 %. Its TCE…",
        options=("falls to a fifth", "falls by less", "stays"),
        outcome="falls by less",
        why="If the TCE were a rate of false alarms, it would fall to a fifth. But most rejections "
        "here are no alarms of chance: those predictions really differ from the mean chance of "
        "their bin.",
        tells=(r"is not α|no rate of false alarms|falls by less than",),
    ),
    "8d": Prediction(
        question="The MLB forecasts, 15,747 games, have a TCE of 13.7 % at α = 5 %. What would a "
        "calibrated model with these predictions show on average?",
        options=("about 1 %", "about 5 %", "about 11 %"),
        outcome="about 11 %",
        why="It shows 11.4 %, so the 13.7 % are no evidence. With 15,747 games the test is sharp, "
        "and the predictions of a bin differ among themselves.",
        tells=(r"MLB[^.]{0,60}(no evidence|not rejected|calibrated)|11\.4 %",),
    ),
    "8e": Prediction(
        question="All logits are shifted, and the predictions lie evenly about 1/2. "
        "Spiegelhalter's test…",
        options=("nearly always sees it", "sees it half the time", "hardly ever sees it"),
        outcome="hardly ever sees it",
        why="It looks at the Brier score alone. Compared with what the predictions promise, a "
        "shift makes that score worse on one side of 1/2 and better on the other. The two cancel.",
        tells=(r"no test sees everything|Spiegelhalter[^.]{0,80}(blind|not see|misses|hardly)",),
    ),
}
