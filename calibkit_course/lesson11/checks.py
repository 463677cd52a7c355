"""Checks and predictions of lesson 11: choose a calibrator, and verify it."""

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
from calibkit_course.learn.drawing import Drawing
from calibkit_course.learn.exercises import Check, Prediction

SAY = {
    # 11.1
    "optimism": "one number, a mean of differences",
    "sign": "this has the sign turned. Take test minus validation.",
    "by test": "this chooses by the test rows. Choose by `scores[seed, 0]`; only then look at "
    "`scores[seed, 1]`.",
    "two winners": "this takes the lowest score on each part, of two different maps. Follow the "
    "one map that the validation rows chose.",
    "once": "this chooses one map for all draws. Choose anew in each draw.",
    "alone": "this is the score on the validation rows. Subtract it from that on the test rows.",
    "optimism off": "the mean difference is {wanted}, not {found}.",
    # 11.2
    "case": "{n} calibration rows",
    "nearly": "for {call} you count what is nearly 0 or 1. Only exact outputs lose infinitely.",
    "zeros only": "for {call} you count outputs of 0. Outputs of 1 are as risky: count both.",
    "ones only": "for {call} you count outputs of 1. Outputs of 0 are as risky: count both.",
    "outside": "for {call} your map gives no number (NaN) outside the range of its calibration "
    'set, so these outputs are not counted. Take `IsotonicCalibrator`, or `out_of_bounds="clip"`.',
    "own outputs": "for {call} this counts rows of the calibration set. Count new predictions.",
    "number": "for {call} this is a number of rows. Give the share.",
    "others": "for {call} this is the share of the outputs that are neither 0 nor 1.",
    "percent": "for {call} this is in per cent. Give a share between 0 and 1.",
    "share off": "for {call} the share is {wanted}, not {found}.",
    "a share": "one share, a number",
    # 11.3
    "bins": "{n} scaled predictions and {bins} bins",
    "length": "for {call} give one output per prediction: {n} numbers, not {found}.",
    "in order": "for {call} these are the right outputs in sorted order. Put each back in its row.",
    "medians": "for {call} these are the medians of the bins. Output the mean of the members.",
    "width": "for {call} these bins have equal width. Give every bin the same number of rows.",
    "middle": "for {call} these are the middles of the bins. Output the mean of the members.",
    "unsorted": "for {call} the bins hold rows as they come. Sort the predictions first.",
    "distinct": "for {call} there must be {bins} different outputs, not {found}.",
    "output off": "for {call} row {row} should become {wanted}, not {found}.",
    "outputs": "one output per prediction, an array",
}


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


# --- what the lesson asks ----------------------------------------------------------------------

TITLE = "Choose a calibrator"
SECOND = "11.2 11.3 11e 11f 11g 11h 11i 11j"  # what the second notebook asks

CHECKS = {
    "11.1": Check(
        task="Choose on validation rows, report on test rows",
        variable="optimism",
        judge=judge_optimism,
        hints=(
            "`best = scores[seed, 0].argmin()` is the map that the validation rows choose.",
            "In each draw the difference is `scores[seed, 1, best] - scores[seed, 0, best]`.",
        ),
        praise="nothing was wrong with any row. Choosing the lowest is enough to be too good.",
        tolerance=0.0005,
    ),
    "11.2": Check(
        task="Count the certain outputs",
        variable="certain_share",
        judge=judge_certain,
        hints=(
            "`IsotonicCalibrator().fit(p, y).calibrate(p_new)` are the outputs.",
            "`np.mean((out == 0) | (out == 1))` is the share of the two together.",
        ),
        praise="one surprise among these rows makes the log loss infinite. A run of equal labels "
        "at one end is enough.",
    ),
    "11.3": Check(
        task="Write the discretisation",
        variable="discretise",
        judge=judge_discretise,
        hints=(
            "`order = np.argsort(scaled)` sorts. `np.array_split(order, n_bins)` gives the rows "
            "of each bin.",
            "For the rows of each bin, set `out[rows] = scaled[rows].mean()` in an empty array "
            "`out`.",
        ),
        praise="no label was looked at. So more bins cost no labels.",
    ),
}

PREDICTIONS = {
    "11a": Prediction(
        question="There are 100 rows. Which of the five comes closest to the true map?",
        options=("left as it is", "Platt", "beta", "isotonic", "histogram"),
        outcome="left as it is",
        why="The error is 0.04, and 100 rows cannot show its shape. Every map adds more noise than "
        "it removes error.",
        tells=(r"rigid map wins|few rows[^.]{0,60}(left|leave|nothing)|adds more noise than",),
    ),
    "11b": Prediction(
        question="Which of the five comes closest with 1,000 rows?",
        options=("left as it is", "Platt", "beta", "isotonic", "histogram"),
        outcome="beta",
        why="Platt's two numbers cannot bend with this truth, and steps still follow chance. Three "
        "numbers are a middle. With 10,000 rows isotonic regression follows every bend.",
        tells=(r"free map wins|(beta|isotonic)[^.]{0,60}(wins|closest|every bend)|follow any",),
    ),
    "11c": Drawing(
        question="Histograms with 1, 2, 3, 5, 8, 12, 20, 35, 60 and 100 bins are fitted to 2,000 "
        "rows. Draw how far each map is from the truth, on average.",
        x=(1, 2, 3, 5, 8, 12, 20, 35, 60, 100),
        axes=("number of bins", "distance from the truth"),
        top=0.2,
        why="Few bins average what differs, and that costs most. Many bins follow chance: the "
        "distance rises again, but slowly. The log loss turns at the same place, without knowing "
        "the truth.",
        tells=(r"\b12 bins|\btwelve bins",),
    ),
    "11e": Prediction(
        question="There are 1,000 calibration rows. In which share of predictions does the "
        "Venn-Abers interval hold the true probability?",
        options=("about 20 %", "about 50 %", "about 90 %", "all"),
        outcome="about 20 %",
        why="It is no confidence interval. It says what one more label could change, and with "
        "1,000 rows one label changes little.",
        tells=(r"no confidence interval|(one|another) label (changes|could change)",),
    ),
    "11f": Prediction(
        question="8,000 rows lie in 512 bins. The plain error is how many times the true one?",
        outcome=4.4,
        unit="times",
        why="A bin of 16 rows strays far from its chance. With 512 bins nearly all of what is "
        "measured is such noise.",
        tells=(r"\b4\.4\b",),
    ),
    "11g": Prediction(
        question="You have 1,000 rows. From 5 bins to 50, the calibration error left by "
        "scaling-binning…",
        options=("stays", "doubles", "grows tenfold"),
        outcome="stays",
        why="Its labels fit two numbers, Platt's. The bins average what these two have said, and "
        "averages of predictions have little noise.",
        tells=(r"not with labels|B ?\+ ?1/ε|labels fit two numbers|no label is used",),
    ),
    "11h": Prediction(
        question="There are 60 data sets of a calibrated model. How often does the 90 % "
        "percentile interval of its ECE hold the true error?",
        options=("about 90 %", "about 50 %", "never"),
        outcome="never",
        why="The measured ECE is too large, and resampling adds more chance on top. No redraw "
        "comes near the truth, which is 0.",
        tells=(r"deserves its name|(keeps|adds) (the upward|more chance)|never holds",),
    ),
    "11i": Prediction(
        question="1,000 predictions of a model that nobody calibrated. Which map is closest to "
        "the truth?",
        options=("15 equal-width bins", "15 equal-mass bins", "isotonic", "PL", "PL3"),
        outcome="PL3",
        why="Between logits the truth is a line here, and nearly one in many networks. Bins "
        "need a number each, and isotonic regression follows chance.",
        tells=(r"PL3[^.]{0,60}(closest|best|wins)|between logits[^.]{0,40}\bline\b",),
    ),
    "11d": Prediction(
        question="Three seasons of games fit four repairs. Which of them breaks its promise for "
        "2020 to 2022 by more than two standard deviations?",
        options=("Platt", "beta", "isotonic", "histogram", "none"),
        outcome="isotonic",
        why="It promised 52 and lost 17, as far off as forecasts that nobody repaired. She bets at "
        "the top, where few games lie, and a free map says what these few happened to do. New "
        "seasons may be a second cause.",
        tells=(r"isotonic[^.]{0,60}(loses money|pays less|lost 17)",),
    ),
    "11j": Prediction(
        question="Six calibrators repair a network, and you want the one that leaves the least "
        "calibration error. You have 10,000 test rows. Whose pick is right more often?",
        options=("that of the log loss", "that of a PL3 fit", "both alike"),
        outcome="that of a PL3 fit",
        why="The log loss also charges a calibrator for what it merges, and the calibration error "
        "does not. So the log loss looks for another best.",
        tells=(r"PL3[^.]{0,60}(more often|finds the least|least calibration error)",),
    ),
}
