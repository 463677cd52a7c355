"""Checks and predictions of lesson 05: look inside the ECE."""

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
from calibkit_course.learn import answers
from calibkit_course.learn.answers import Almost, WrongKind, same
from calibkit_course.learn.exercises import Check, Prediction

TITLE = "Look inside the ECE"
SECOND = "5.3 5.4 5c 5d 5e"  # what the second notebook asks

SAY = {
    # 5.1
    "call": "{n} predictions in {bins} bins",
    "shifts": "an array with one shift per bin",
    "bins": "there are {found} shifts for {bins} bins. An empty bin has a shift too: 0.",
    "each": "this is one shift per prediction. One per bin is asked for: {bins} of them.",
    "extra": "there are {found} shifts for {bins} bins. p = 1.0 belongs to the last bin.",
    "sign": "the signs are reversed. The shift is added to the prediction: frequency minus mean.",
    "distances": "this averages |y - p|, each case by itself. Average y - p, with its sign.",
    "size": "these have lost their signs. A shift goes up or down; the ECE drops the sign later.",
    "frequency": "this is the frequency, the height of a flat piece. How far is it from the mean?",
    "left": "this is the height at the left edge. The shift is what is added to each prediction.",
    "sums": "these are sums. The least squares want the mean of y - p in the bin.",
    "shares": "divide by the number in the bin, not by the number of all predictions.",
    "median": "this is the median of y - p. It minimises absolute residuals, not squared ones.",
    "centres": "this compares with the centre of the bin. Take the mean of its predictions.",
    "empty": "the shift of an empty bin is 0: no label speaks, so the predictions stay.",
    "linspace": "these are shifts of other bins: 0.3 starts the fourth of ten, but `np.linspace` "
    "has the edge 0.30000000000000004. Round `y_prob * n_bins` down.",
    "closed": "these are shifts of other bins. A prediction on an edge belongs to the bin above.",
    "off": "the shift of bin {number} should be {wanted}, but here it is {found}.",
    # 5.3
    "map": "an array with one value of the map per prediction",
    "length": (
        "there are {found} values for {n} predictions. The map has one value for each of them."
    ),
    "distance": "these are the shifts. The map itself is prediction plus shift.",
    "flat": "these are flat pieces. Add the bin's shift to each prediction instead.",
    "cut": "this is cut to [0, 1]. Slanted pieces may leave it, and so does Theorem 2.",
    "sorted": "the values are right, their order is not. Keep that of `y_prob`.",
    "edge": "p = {p} gets the shift of another bin. Bins hold their left edge; 1.0 is in the last.",
    "value": "at p = {p} the map should be {wanted}, but here it is {found}.",
    "digits": "the mean distance misses the ECE by {miss:.1e}. Theorem 2 holds to 1e-12. Use "
    "means, not a search, in double precision.",
    # 5.2
    "four": "four predictions, one for each of the labels 0, 0, 1 and 1",
    "range": "predictions lie between 0 and 1.",
    "shift": "the predictions have the mean {mean:.3f} and the labels 0.5, so the ECE is "
    "{ece:.3f}.",
    "close": "the ECE is 0, and the flat piece reports {flat:.3f}. Move the predictions further "
    "from it, on both sides.",
    # 5.4
    "letters": 'a list of letters, e.g. `["A", "E"]`',
    "no letter": "`{letter}` is no statement here. Use the letters A to E.",
    "missing A": "A is true. It is the theorem itself, averaged over the predictions.",
    "missing C": "C is true. The rest, c (1 - c), is the same for both maps and cancels.",
    "wrong B": "B speaks of the labels that the maps were fitted to. Look at the 300 bins again.",
    "wrong D": "D mixes two losses. The log loss shrinks another distance, not the squared one.",
    "wrong E": "E speaks of one number. Errors of a map may cancel in its mean distance.",
}


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
        raise Almost(SAY[key].format(found=len(found), bins=table.n_bins))
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
            raise Almost(SAY["length"].format(found=len(found), n=len(y_prob)))
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


CHECKS = {
    "5.1": Check(
        task="Find the best shift of each bin",
        variable="best_shifts",
        judge=judge_shifts,
        hints=(
            "In one bin, set the derivative of the sum of (p + s - y)² to zero. You find that"
            " s is a mean.",
            "With `index = bin_of(y_prob, n_bins)`, divide `np.bincount(index, weights=y_true - "
            "y_prob, minlength=n_bins)` by the count, `np.bincount(index, minlength=n_bins)`; "
            "`np.maximum(count, 1)` spares an empty bin.",
        ),
        praise="this is frequency minus mean prediction: the gap of the bin, with its sign turned.",
    ),
    "5.2": Check(
        task="Drive the two maps apart",
        variable="my_four",
        judge=judge_four,
        hints=(
            "In one bin the ECE compares two means. That of the labels is 0.5, and the flat piece "
            "lies there, too.",
            "Put two predictions near 0 and two near 1, as far below 0.5 as above it.",
        ),
        praise="the flat piece crosses the diagonal between your predictions, and the ECE does not "
        "see it. It would be 0 even if all four were wrong.",
    ),
    "5.3": Check(
        task="Build the slanted map",
        variable="slanted_map",
        judge=judge_map,
        hints=(
            "The map at a prediction is the prediction plus the shift of its bin.",
            "Return `y_prob + best_shifts(y_true, y_prob, n_bins)[bin_of(y_prob, n_bins)]`.",
        ),
        praise="its mean distance from the diagonal is the ECE, but for rounding.",
    ),
    "5.4": Check(
        task="Read Theorem 1 with care",
        variable="true_statements",
        judge=judge_statements,
        hints=(
            "The theorem speaks of expected scores: labels that the map has not seen.",
            "It ties each loss to its own distance. The Brier score belongs to the squared one.",
        ),
        praise="the theorem is about maps, expected scores, and one distance per loss.",
    ),
}

PREDICTIONS = {
    "5a": Prediction(
        question="Which pieces, fitted to the test labels, have the ECE as mean distance?",
        options=("flat", "slanted", "both"),
        outcome="slanted",
        why="The bars look flat, but the ECE compares two means per bin. A slanted piece keeps "
        "one distance from the diagonal in its bin, and this distance is the gap.",
        tells=(
            r"not of the bars|(constant|flat) maps are the wrong|fits? .{0,30}(of slope 1|slanted)",
            r"ECE is .{0,60}(slope 1|slanted)|slanted .{0,40}(move|go) together",
        ),
    ),
    "5b": Prediction(
        question="Chance alone gives a perfect model with these predictions an ECE of 0.054. How "
        "much does chance add to the ECE of her model, on average?",
        options=("about 0.1", "about 0.05", "about 0.015"),
        outcome="about 0.015",
        why="Where the model errs much, chance lifts the gap of a bin in one sample and lowers it "
        "in the next. Only a gap near 0 has nowhere to go but up.",
        tells=(r"0\.01[4-6]\b|null level is no part|(do not|never) subtract",),
    ),
    "5c": Prediction(
        question="Which family is right about both models, to within 0.02?",
        options=("Platt", "15 bins", "50 bins", "none"),
        outcome="none",
        why="Two parameters cannot draw stairs, and fifty bins draw chance. Fifteen bins draw "
        "the stairs, and invent 0.057 for the perfect model. No family is right for all.",
        tells=(r"no family|risks of every such fit|every family (errs|fails|is wrong)",),
    ),
    "5d": Prediction(
        question="From 15 to 300 bins, what happens to the distance from the true map?",
        options=("falls", "stays", "rises"),
        outcome="rises",
        why="Each new bin brings the map closer to the labels of this test set. New labels of "
        "the same model do not follow it, so the expected score rises, and the distance with it.",
        tells=(
            r"(distance|map)[^.]{0,60}(rises|farther|further away|moves away)",
            r"more bins[^.]{0,60}(chance|noise|worse|labels of)|what a lower score does promise",
            r"follows fewer labels",
        ),
    ),
    "5e": Prediction(
        question="One forecaster states the true chances, one only 0.33 or 0.67, and one always "
        "0.5. Whose ECE in 15 bins is the lowest on average?",
        options=("the chances", "0.33 or 0.67", "always 0.5"),
        outcome="always 0.5",
        why="Each bin that holds predictions adds chance. Who always says 0.5 fills one bin, and "
        "who states the chances fills fifteen.",
        tells=(r"honest[^.]{0,40}loses|says? least|fills (one bin|fifteen)",),
    ),
}
