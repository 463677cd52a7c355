"""Checks and predictions of lesson 06: choose the number of bins."""

import re
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.calibrators import CrossValidatedBinning
from calibkit.errors import expected_calibration_error
from calibkit.fakes import LogitDistortion, SyntheticShape
from calibkit.learn import answers
from calibkit.learn.answers import Almost, same
from calibkit.learn.exercises import Check, Prediction
from calibkit.significance import null_level

SAY = {
    # 6.1
    "observed": "this is the ECE of the outcomes in the file. Redraw them from `p` first.",
    "zero": "a perfect model does not show 0. Average the ECE over your redraws.",
    "true labels": "this is what the true model shows. Redraw the outcomes from `p` itself.",
    "coins": "this looks like outcomes from a coin. Let row i happen with probability `p[i]`.",
    "one round": "this is close, but further off than 500 rounds allow. Take the mean of all.",
    "null": "the null level here is close to {wanted:.3f}, not {found:.3f}.",
    # 6.2
    "no n": "an n is a whole number of predictions, at least 15.",
    "too few": "with n = {n:,}, 15 bins still show {level:.4f} on average. Take more.",
    "too many": "n = {n:,} is more than you need: the null level is {level:.4f} there.",
    # 6.3
    "six": "six numbers, for 1, 2, 4, 8, 16 and 32 bins",
    "inside": "all six are the true error. Average inside the bin first, then drop the sign.",
    "signed": "signs cancel across bins here. Take the absolute value of each bin's mean gap.",
    "squares": "these are squares or their roots. Average the absolute gaps of the bins.",
    "backwards": "the order is reversed. Begin with 1 bin.",
    "width": "these are equal-width bins. Give every bin the same number of rows.",
    "sums": "these are sums over bins. Average: every bin has the same weight.",
    "bin off": "with {bins} bins, {wanted:.4f} is left of the error, not {found:.4f}.",
    # 6.4
    "argmin": "{found} has the lowest score. The rule takes a smaller number that is as good.",
    "loosest": "{found} is within the tolerance, but not the smallest such number.",
    "too strict": "{found} scores {excess:.2%} above the lowest. Up to 0.10 % is as good.",
    "position": "{found} is the position in the list. Positions start at 0, bins at 1.",
    "range": "a whole number from 1 to 40",
    # 6.5
    "case": "a table of {bins} bins",
    "plain": "this is the plain squared error. Subtract what chance adds to each bin.",
    "n": "divide by the count minus one. Dividing by the count corrects too little.",
    "root": "this is the square root. Return the square itself; it may be negative.",
    "clipped": "the answer is {wanted:.6f} here. Below 0 is allowed: cutting brings bias back.",
    "weights": "weight each bin by its share of the predictions.",
    "wrong spread": "the spread of a bin comes from its frequency, not from its mean prediction.",
    "once": "subtract in each bin, before weighting. Your correction has the wrong weight.",
    "square off": "for {bins} bins the answer is {wanted:.6f}, not {found:.6f}.",
    # 6.6
    "text": "a string of two to five sentences",
    "short": "{count} words are few for a review. Aim at two to five sentences.",
    "long": "{count} words are many. Keep it below {most}.",
    "size": "name the sample size, and say what it does to an ECE.",
    "chance": "compare with chance: null level, spread, interval or a test.",
    "missing": "say what the sentence leaves out. Which bins? Which view?",
    "claim": "this repeats the claim. Does a gap of .002 stand out from its spread?",
    "verdict": "end with a verdict: what does the comparison show, or not show?",
}

N_BINS = 15


# --- 6.1 ---------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _levels() -> dict[str, float]:
    """Return the right number of 6.1, and what two slips would give."""
    data = LogitDistortion(slope=0.6).sample(1000, rng=61)
    null = null_level(expected_calibration_error, data.y_true, data.y_prob, n_draws=4000, rng=0)
    rng = np.random.default_rng(0)

    def mean_error(chance: NDArray[np.float64]) -> float:
        rows = (rng.random(len(chance)) < chance for _ in range(100))
        found = [expected_calibration_error(row, data.y_prob).value for row in rows]
        return float(np.mean(found))

    return {
        "null": null.mean,
        "observed": null.value,
        "true labels": mean_error(data.true_prob),
        "coins": mean_error(np.full(1000, 0.5)),
    }


def judge_null(answer: Any) -> str | None:
    """Judge exercise 6.1: the mean error of redrawn outcomes."""
    found, levels = answers.as_number(answer), _levels()
    wanted = levels["null"]
    if same(found, wanted, 0.0015):
        return None
    if abs(found) < 0.002:
        return SAY["zero"]
    if same(found, levels["observed"], 1e-4):
        return SAY["observed"]
    if same(found, levels["true labels"], 0.003):
        return SAY["true labels"]
    if same(found, levels["coins"], 0.01):
        return SAY["coins"]
    if same(found, wanted, 0.02):
        return SAY["one round"]
    return SAY["null"].format(wanted=wanted, found=found)


# --- 6.2 ---------------------------------------------------------------------------------------


_MOST_COMPUTED = 200_000  # from there on, the level falls like one over the root of n


def _uniform_null(n: int) -> float:
    prob = (np.arange(n) + 0.5) / n
    return float(expected_calibration_error(prob > 0.5, prob, bins=N_BINS).null_mean)


def judge_enough(answer: Any) -> str | None:
    """Judge exercise 6.2: a sample size at which the null level is about .01."""
    found = answers.as_number(answer)
    if found != round(found) or found < N_BINS:
        return SAY["no n"]
    n = int(found)
    computed = min(n, _MOST_COMPUTED)
    level = _uniform_null(computed) * (computed / n) ** 0.5
    if level > 0.0105:
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
    sample = SyntheticShape.with_error("square", 0.1).sample(3000, seed=1)
    return CrossValidatedBinning(max_bins=40).fit(sample.y_prob, sample.y_true)


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
        return SAY["argmin"].format(found=number)
    if number == wanted - 1:
        return SAY["position"].format(found=number)
    excess = float(scores[np.asarray(choice.candidates_) == number][0] / scores.min() - 1)
    if excess <= choice.tolerance:
        return SAY["loosest"].format(found=number)
    return SAY["too strict"].format(found=number, excess=excess)


# --- 6.5 ---------------------------------------------------------------------------------------

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
    """Judge exercise 6.5: a function that returns a debiased squared error."""
    function = answers.as_function(answer)
    for table in _TABLES:
        count, mean, rate = (np.array(column, dtype=np.float64) for column in table)
        where = SAY["case"].format(bins=len(count))
        result = answers.call(function, count.astype(int), mean, rate, shown=where)
        found, wanted = answers.as_number(result), _square(count, mean, rate)
        if same(found, wanted, 1e-9):
            continue
        for key, value in _slips(count, mean, rate).items():
            if same(found, float(value), 1e-9):
                return SAY[key].format(wanted=wanted)
        return SAY["square off"].format(bins=len(count), wanted=wanted, found=found)
    return None


# --- 6.6 ---------------------------------------------------------------------------------------

_FEWEST_WORDS, _MOST_WORDS = 15, 160
_SIZE = r"1[,. ]?000|\bthousand|sample size|\bn\b|number of (predictions|images|rows)"
_CHANCE = (
    r"\bchance\b|null level|\bnoise|\bspread|standard (deviation|error)|interval|\btest(ed)?\b|"
    r"p-?value|significan|resampl|bootstrap"
)
_MISSING = r"\bbins?\b|binning|\bview\b|top-?label|class-?wise|estimator"
_VERDICT = (
    r"\bno (evidence|reason|support|ground|proof|conclusion|ranking|difference|winner)|cannot|"
    r"can't|can not|\bnot\b|n't\b|undecided|nothing|inconclusive|too (small|few|little)|"
    r"within the noise|indistinguishable|a tie\b|unclear|unsupported"
)
_CLAIM = r"\b(is|are) (clearly |therefore |slightly )?(better|superior)"


def judge_review(answer: Any) -> str | None:
    """Judge exercise 6.6: whether a review names size, chance, what is missing, and a verdict."""
    if not isinstance(answer, str):
        raise answers.wrong_kind(answer, SAY["text"])
    words, text = len(answer.split()), " ".join(answer.lower().split())
    if words < _FEWEST_WORDS:
        raise Almost(SAY["short"].format(count=words))
    asked = {"size": _SIZE, "chance": _CHANCE, "missing": _MISSING}
    for key, pattern in asked.items():
        if not re.search(pattern, text):
            return SAY[key]
    if not re.search(_VERDICT, text):
        return SAY["claim" if re.search(_CLAIM, text) else "verdict"]
    if words > _MOST_WORDS:
        return SAY["long"].format(count=words, most=_MOST_WORDS)
    return None


# --- what the lesson asks ----------------------------------------------------------------------

TITLE = "Choose the number of bins"

CHECKS = {
    "6.1": Check(
        task="Compute a null level",
        variable="my_null",
        judge=judge_null,
        hints=(
            "One round: `happened = rng.random(1000) < p`. The file's outcomes play no part.",
            "Collect `ck.expected_calibration_error(happened, p).value` of 500 rounds; take "
            "`np.mean`.",
        ),
        praise="this is what `calibkit.null_level` gives.",
        tolerance=0.0015,
    ),
    "6.2": Check(
        task="Find a sufficient sample size",
        variable="enough",
        judge=judge_enough,
        hints=(
            "Four times as many predictions halve the null level. You know it for n = 1,000.",
            "Solve √(2 · 15 · v / (π n)) = .01 for n, with v = 1/6: the mean of p (1 − p).",
        ),
        praise="fifteen thousand predictions, and a perfect model still shows .01.",
    ),
    "6.3": Check(
        task="Refine bins on a known map",
        variable="my_errors",
        judge=judge_refined,
        hints=(
            "`(p - c).reshape(n_bins, -1)` has one row per bin, because the rows are sorted.",
            "Mean of each row, absolute value, mean over the bins. In this order.",
        ),
        praise="each split can only uncover error. No split hides any.",
        tolerance=2e-4,
    ),
    "6.4": Check(
        task="Apply the 0.1 % rule",
        variable="my_bins",
        judge=judge_choice,
        hints=(
            "A score counts as lowest if it is at most `scores.min() * 1.001`.",
            "`candidates[scores <= scores.min() * 1.001]` are the numbers in question. Which one?",
        ),
        praise="as good as the lowest score, with the simplest map.",
    ),
    "6.5": Check(
        task="Debias a squared error",
        variable="debiased_square",
        judge=judge_debiased,
        hints=(
            "In each bin: `(mean_prob - frequency) ** 2`, minus its surplus by chance.",
            "The surplus is `frequency * (1 - frequency) / (count - 1)`. Weight by "
            "`count / count.sum()`.",
        ),
        praise="on average this is the squared error of the bins, for any number of predictions.",
    ),
    "6.6": Check(
        task="Review a comparison",
        variable="my_review",
        judge=judge_review,
        hints=(
            "Begin with what is missing: with which bins, and in which view?",
            "Then put the gap of .002 beside the spread .0056, and say what follows.",
        ),
        praise="size, chance, missing details and verdict: a fair review.",
    ),
}

PREDICTIONS = {
    "6a": Prediction(
        question="1,000 predictions of a perfect model: how does the ECE grow from 5 to 50 bins?",
        options=("same", "threefold", "tenfold"),
        outcome="threefold",
        why="Ten times as many bins hold a tenth of the predictions each. Frequencies then stray "
        "√10 times as far, about 3.2. The mean ECE grows like √(bins / predictions).",
    ),
    "6b": Prediction(
        question="Endless data, a distorted model. You split each bin in two. The binned error…",
        options=("never falls", "never rises", "can do both"),
        outcome="never falls",
        why="In a bin, errors of opposite sign cancel. A split can separate them; it cannot "
        "create new cancellation. So with endless data, bins show at most the true error.",
    ),
    "6c": Prediction(
        question="Bins by cross-validation instead of 15. What comes closer to the truth?",
        options=("the map", "the ECE", "both", "neither"),
        outcome="the map",
        why="Cross-validation asks which map predicts held-out outcomes best, and finds a better "
        "map. The ECE sums its deviations. There the average error hardly changes.",
    ),
    "6d": Prediction(
        question="You halve the number of predictions. The best number of bins for plain ECE…",
        options=("rises", "falls", "stays"),
        outcome="falls",
        why="Fewer predictions make each bin noisier, and noise costs more the more bins there "
        "are. What the bins hide does not depend on n. So the balance moves to fewer bins.",
    ),
    "6e": Prediction(
        question="A perfect model, 1,000 data sets. How many debiased squares are negative?",
        options=("none", "about half", "nearly all"),
        outcome="about half",
        why="The truth is 0, and the estimates scatter around it. An estimate without bias must "
        "fall below as well as above. Setting these to 0 would bring bias back.",
    ),
}
