"""Checks and predictions of lesson 04: read a reliability diagram."""

import warnings
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.chance import consistency_band
from calibkit.reliability import BinTable, reliability_table
from calibkit_course.learn import answers
from calibkit_course.learn.answers import Almost, WrongKind
from calibkit_course.learn.drawing import Drawing
from calibkit_course.learn.exercises import Check, Prediction, Rubric

TITLE = "Read a reliability diagram without being fooled"
SECOND = "4.3 4.4 4f 4d 4e 4g"  # what the second notebook asks

SAY = {
    # 4.1
    "three arrays": "three arrays: count, mean prediction, frequency",
    "call": "{n} predictions in {bins} bins",
    "numbers": "`{name}` is not an array of numbers.",
    "extra bin": "`{name}` has {found} bins instead of {bins}. p = 1.0 must not open its own bin.",
    "bin missing": "`{name}` has {found} bins instead of {bins}. Empty bins count too: "
    "`np.bincount` needs `minlength=n_bins`, and scikit-learn drops them.",
    "other number": "`{name}` has {found} bins instead of {bins}. Use the argument `n_bins`.",
    "lost": "the counts add up to {found}, not {n}. p = 1.0 is in no bin.",
    "count shares": "these are shares. The first array holds whole numbers: how many there are.",
    "edge": (
        "the counts are {found}, not {wanted}. A prediction on an edge belongs to the bin above."
    ),
    "linspace": "0.3 falls into the third of ten bins: `np.linspace` has the edge "
    "0.30000000000000004 there. Round `y_prob * n_bins` down, or divide `np.arange` by `n_bins`.",
    "reversed": "the bins stand in reverse order here. Bin 0 holds the predictions near 0.",
    "positives": "these are the events in each bin. Count the predictions, whatever happened.",
    "counts": "the counts are {found}, not {wanted}. Round `y_prob * n_bins` down.",
    "swapped": "mean prediction and frequency have changed places. The mean comes second.",
    "empty": "an empty bin has no {what}. It is `nan`; a number would look like a real bar.",
    "centres": "this is the centre of each bin. Take the mean of the predictions that lie in it.",
    "sums": "the {what} of a bin is a sum divided by the bin's count. The division is missing.",
    "shares": "divide by the count of the bin, not by the number of all predictions.",
    "off": "the {what} of bin {number} should be {wanted}, but here it is {found}.",
    "mean": "mean prediction",
    "frequency": "frequency",
    # 4.2
    "null": "two numbers: the null level and the p-value",
    "turned": "the null level comes first, and then the p-value.",
    "own": "this is the seller's own ECE. The null level is the mean over perfect models.",
    "complement": "`rng.random(n) < p` happens with the chance p; `>` makes it happen with 1 - p.",
    "one chance": "each patient comes back with his own p, and not with one chance for all.",
    "one number": "draw a random number for each patient, and not one for all: `rng.random(300)`.",
    "bootstrap": "these are the seller's own rows, drawn again. A perfect model has new outcomes.",
    "redraw": "the null level should be about {wanted}, but here it is {found}. Draw new outcomes "
    "in each round, `rng.random(300) < p`, keep p, and take the mean of the ECEs.",
    "count": "the p-value is a share of the rounds, from 0 to 1. Divide the count by 1,000.",
    "below": "this is the share of smaller errors. Count those at least as large.",
    "p": "the p-value should be about {wanted}, but here it is {found}. It is the share of perfect "
    "models whose ECE is at least the seller's.",
    # 4.4
    "band": "two rows of two numbers, lower ends and upper ends",
    "nan": "{count} of these ends are not numbers. Is a frequency 0 / 0, or a round empty?",
    "columns": "the rows are the bins here. Put lower ends into row one, upper ends into row two.",
    "upside down": "the upper ends stand in the first row. The lower ends (5 %) come first.",
    "events": "these are numbers of events. Divide by the number of forecasts in the bin.",
    "predictions": "these are quantiles of the predictions. Take those of the redrawn frequencies.",
    "centre": "the band of bin {number} is around {found}, not {wanted}. Each event has its own p.",
    "wide": (
        "this is {factor:.2f} times as wide as a 90 % band. Take the 5 % and 95 % quantiles. Each "
        "event happens with its own p, not with the mean or the centre of its bin."
    ),
    "narrow": (
        "this is only {factor:.2f} times as wide as a 90 % band. Take the 5 % and 95 % quantiles."
    ),
}


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
        return None
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


CHECKS = {
    "4.1": Check(
        task="Compute the bin table",
        variable="bin_statistics",
        judge=judge_bin_statistics,
        hints=(
            "`np.bincount(index, minlength=n_bins)` counts; with `weights=y_prob` it adds up.",
            "With `index = bin_of(y_prob, n_bins)`, the mean prediction is `np.bincount(index, "
            "weights=y_prob, minlength=n_bins)` divided by the count. The frequency is the same "
            "with `y_true`, and 0 / 0 is `nan` by itself.",
        ),
        praise="your table is that of `calibkit.reliability_table`, edges and empty bins included.",
    ),
    "4.2": Check(
        task="Write the null level",
        variable="my_null",
        judge=judge_null,
        hints=(
            "One perfect model: `happened = rng.random(len(p)) < p`. Its error is "
            "`ece(happened, p).value`.",
            "All of them: `redrawn = [ece(rng.random(len(p)) < p, p).value for _ in range(1000)]`.",
            "`np.mean(redrawn)` is the null level. With `as_large = np.array(redrawn) >= "
            "ece(left.y_true, p).value`, the p-value is `(1 + as_large.sum()) / 1001`.",
        ),
        praise="a perfect model with these predictions shows about as much: chance explains it.",
    ),
    "4.3": Check(
        task="Write the alt text of a diagram",
        variable="my_alt_text",
        rubric=Rubric(
            points=(
                "It names both axes: confidence runs across, accuracy runs up.",
                "It says how many predictions the diagram shows: 899.",
                "It says where most predictions lie: nearly all of them above 0.9.",
                "It gives the direction: the point lies below the diagonal, over-confident.",
                "It ends with a verdict against chance: far outside the band, so chance is no "
                "explanation.",
            ),
            model="Top-label reliability diagram of naive Bayes, with confidence on the "
            "horizontal axis, accuracy on the vertical axis, and 899 predictions in ten bins. "
            "Nearly all confidences exceed 0.9. Their point lies far below the diagonal: the "
            "model is over-confident. It is far outside the consistency band too, so chance "
            "does not explain the gap.",
        ),
        hints=(
            "Begin with “Reliability diagram, confidence across, accuracy up, … predictions.”",
            "Then compare the points with the diagonal, and with the band. End with the verdict.",
        ),
    ),
    "4.4": Check(
        task="Draw a consistency band",
        variable="my_band",
        judge=judge_band,
        hints=(
            "The true labels play no part. The band is about a perfect model.",
            "Collect two frequencies in each round: `np.quantile(rounds, [0.05, 0.95], axis=0)`.",
        ),
        praise="`calibkit.consistency_band` finds the same band.",
    ),
}

PREDICTIONS = {
    "4a": Prediction(
        question="Cat has the bars of Bob, whose ECE is 0.080, and states the same five numbers. "
        "How large is Cat's ECE?",
        options=("0.013", "0.080", "0.100"),
        outcome="0.013",
        why="In four of the five bins both say nearly ten points too much, and in the fifth one "
        "point. But of Cat's 1,040 predictions 1,000 lie in the fifth, and the ECE averages over "
        "predictions, not over bars.",
        tells=(r"only half", r"half of the story|Cat has 1,?000|over predictions, not"),
    ),
    "4b": Drawing(
        question="A perfect model is measured on 100, 200, … 1,000 predictions, in 15 bins. Draw "
        "its mean ECE.",
        x=tuple(range(100, 1001, 100)),
        axes=("predictions", "mean ECE"),
        top=0.2,
        why="In each bin chance moves the frequency away from what was stated, and the ECE counts "
        "that as an error. With four times as many predictions chance does half as much, and "
        "never nothing.",
        tells=(r"chance makes it|null level .{0,40}0\.0[67]|centred near 0\.07",),
    ),
    "4f": Prediction(
        question="A p of at most 0.05 catches a seller. The right one of the lesson was caught "
        "with 10,000 predictions. With only 300, how often would it be?",
        options=("about 5 %", "about 35 %", "about 80 %"),
        outcome="about 35 %",
        why="Its ECE is larger than a perfect model's on average, but with 300 patients chance "
        "often hides the difference. A test that finds nothing in them has said little.",
        tells=(r"often have hidden|caught.{0,60}\b3\d ?(%|of 100)",),
    ),
    "4c": Prediction(
        question="Of 100 perfect models with 300 predictions each, how many have at least one of "
        "15 points outside its band?",
        options=("about 10", "about 25", "about 50", "about 80"),
        outcome="about 50",
        why="Each band misses its point now and then, and fifteen points give chance fifteen "
        "occasions. Fifty is fewer than 79 = 100 · (1 − 0.9¹⁵), because counts are whole and a "
        "band holds nine in ten at least. A point outside is no accusation; ask for the p-value of "
        "the whole diagram.",
        tells=(r"every second|about half of all", r"\b5\d of 100", r"often puts one or two"),
    ),
    "4d": Prediction(
        question="Naive Bayes counts 64 related pixels as independent. What will it be?",
        options=("over-confident", "calibrated", "under-confident"),
        outcome="over-confident",
        why="It multiplies the same evidence many times over. The product is close to 0 or 1, so "
        "the confidence exceeds the accuracy.",
        tells=(
            r"naive Bayes.{0,80}(over-confident|too (bold|sure))",
            r"same evidence",
            r"repeat each other",
        ),
    ),
    "4e": Prediction(
        question="Bob and Cat have the same shaded area. Whose ECE equals it?",
        options=("Bob", "Cat", "both"),
        outcome="Bob",
        why="The area gives every bin the same weight, because all bins are equally wide. Bob's "
        "bins hold equally many predictions, so the weights agree. Cat's do not.",
        tells=(r"areas are equal: 0\.08", r"only if all bins weigh", r"Cat's large areas"),
    ),
    "4g": Prediction(
        question="For one of the three files, chance does not explain the ECE. Which one?",
        options=("MLB", "NBA", "World Cup"),
        outcome="NBA",
        why="The World Cup has the largest ECE, but with 176 games a perfect model shows as much. "
        "The NBA forecasts are too high on average, and thousands of games leave no doubt.",
        tells=(
            r"NBA.{0,80}(too high|miscalibrated|rejected|doubt)",
            r"World Cup.{0,80}(chance|explain)",
        ),
    ),
}
