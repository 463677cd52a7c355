"""Checks and predictions of lesson 09: handle rare events."""

import math
from functools import lru_cache
from typing import Any

import numpy as np

from calibkit.calibrators import shift_prior
from calibkit.inputs import FloatVector
from calibkit_course.learn import answers
from calibkit_course.learn.answers import agree, apart, same
from calibkit_course.learn.drawing import Drawing
from calibkit_course.learn.exercises import Check, Prediction, Rubric
from calibkit_course.lesson09.gaussian import GaussianDiscriminant

SAY = {
    # 9.1
    "three": "three numbers: the ratio, and both ends of the range by chance",
    "ratio": "the ratio should be {wanted}, but here it is {found}.",
    "upside": "this is expected over observed. Put the observed number on top.",
    "mean": "this is the share of events. Divide it by the mean prediction.",
    "order": "the lower end comes before the upper one.",
    "around": "this range lies around the measured ratio. By chance, ratios lie around 1.",
    "outer": "this range holds 95 % of calibrated models. Take 1.645, not 1.96.",
    "observed": "this takes the root of what came. Chance is measured by what was expected: √E.",
    "rows": "this takes the root of the number of rows. Chance is measured by expected events: √E.",
    "chance": "each end is off. They are 1 minus and plus 1.645 / √E; √E is the root of `p.sum()`.",
    # 9.2
    "needed call": "`events_needed({factor:g})`",
    "events": "a whole number of expected events",
    "no square": "for {call} this is a root. Square it: chance shrinks with the root of E.",
    "two sides": "for {call} this takes 1.96. One end of the range counts here: take 1.645.",
    "not minus": "for {call} this squares 1.645 / factor. How far above 1 is the factor?",
    "not whole": "for {call} this is right before rounding. Events are whole: round up.",
    "needed": "for {call} it takes {wanted} expected events, not {found:g}.",
    # 9.3
    "call": "`shift(p, {train}, {test})`",
    "per p": "one probability per prediction",
    "logit": "these are logits. Go back to probabilities at the end.",
    "scaled": "this multiplies probabilities. Multiply the odds, p / (1 - p).",
    "backwards": "this moves from `test` to `train`. Exchange the two.",
    "one side": "from {train:g} to {test:g} nothing may change, but p = {p:g} becomes {found}. "
    "Do both prevalences play their parts?",
    "leaves": "p = {p:g} becomes {found:.3f}. Probabilities stay between 0 and 1.",
    "value": "p = {p:g} should become {wanted} from {train:g} to {test:g}, not {found}.",
    # 9.5
    "em call": "`em_step(p, {train}, {now})`",
    "number": "one number, the next prevalence",
    "plain mean": "this is the mean prediction. First move the predictions to `now`.",
    "from now": "this moves from `now` to `train`. The predictions were made for `train`.",
    "em": "from {now:g} the next step is {wanted}, not {found}.",
    "vector": "this returns {count} numbers. Average them.",
}


# --- 9.1 ---------------------------------------------------------------------------------------


_ROWS = 10_000
_COUNTED = 246  # events in the data of the exercise
_QUANTILES = (0.05, 0.95, 0.025, 0.975)  # those that are asked for, and those of a slip


@lru_cache(maxsize=1)
def _counts() -> FloatVector:
    """Return ratio and quantiles by chance for the data of the exercise, with the same seed."""
    sample = GaussianDiscriminant(0.02, deployed=0.025, scale=1).sample(_ROWS, 92)
    rng, expected = np.random.default_rng(0), float(sample.y_prob.sum())
    by_chance = [np.sum(rng.random(_ROWS) < sample.y_prob) / expected for _ in range(2000)]
    return np.array([sample.y_true.sum() / expected, *np.quantile(by_chance, _QUANTILES)])


def judge_ratio(answer: Any) -> str | None:
    """Judge exercise 9.1: observed over expected, and its range by chance."""
    ratio, low, high = answers.as_numbers(answer, SAY["three"], 3).tolist()
    wanted = _counts()
    if not same(ratio, wanted[0], 0.002):
        if same(ratio, 1 / wanted[0], 0.002):
            return SAY["upside"]
        if 0 < ratio < 0.1:
            return SAY["mean"]
        return SAY["ratio"].format(**apart(ratio, wanted[0]))
    if low > high:
        return SAY["order"]
    if same((low + high) / 2, wanted[0], 0.04):
        return SAY["around"]
    if not (same(low, wanted[1], 0.02) and same(high, wanted[2], 0.02)):
        if same(low, wanted[3], 0.02) and same(high, wanted[4], 0.02):
            return SAY["outer"]
        of_rows = same((high - low) / 2, 1.645 / np.sqrt(_ROWS), 0.001)
        return SAY["rows" if of_rows else "chance"]
    root = 1.645 / np.sqrt(_COUNTED)
    return SAY["observed"] if same((high - low) / 2, root, 0.001) else None


# --- 9.2 ---------------------------------------------------------------------------------------


def judge_needed(answer: Any) -> str | None:
    """Judge exercise 9.2: a function that returns how many expected events a factor takes."""
    function = answers.as_function(answer)
    for factor in (1.2, 1.5, 1.05):
        call = SAY["needed call"].format(factor=factor)
        found = answers.as_number(answers.call(function, factor, shown=call), SAY["events"])
        root = 1.645 / (factor - 1)
        slips = {
            "no square": root,
            "two sides": (1.96 / (factor - 1)) ** 2,
            "not minus": (1.645 / factor) ** 2,
            "not whole": root**2,
        }
        if found != math.ceil(root**2):
            slip = answers.slip_of(found, slips, 1.0) or "needed"
            return SAY[slip].format(call=call, wanted=math.ceil(root**2), found=found)
    return None


# --- 9.3 ---------------------------------------------------------------------------------------

_P = np.array([0.0005, 0.02, 0.3, 0.5, 0.9, 0.99])
_ROUNDED = 1e-6
_MOVES = ((0.5, 0.5), (0.5, 0.01), (0.01, 0.02), (0.2, 0.7))


def judge_shift(answer: Any) -> str | None:
    """Judge exercise 9.3: a function that moves probabilities to another prevalence."""
    function = answers.as_function(answer)
    for train, test in _MOVES:
        shown = SAY["call"].format(train=train, test=test)
        result = answers.call(function, _P.copy(), train, test, shown=shown)
        found = answers.as_numbers(result, SAY["per p"], len(_P))
        if problem := _shift_problem(found, train, test):
            return problem
    return None


def _shift_problem(found: FloatVector, train: float, test: float) -> str | None:
    wanted = shift_prior(_P, train_prevalence=train, test_prevalence=test)
    if agree(found, wanted, _ROUNDED):
        return None
    slips = {
        "logit": np.log(wanted / (1 - wanted)),
        "scaled": _P * test / train,
        "backwards": shift_prior(_P, train_prevalence=test, test_prevalence=train),
    }
    if slip := answers.slip_of(found, slips, _ROUNDED):
        return SAY[slip]
    wrong = int(np.abs(found - wanted).argmax())
    words = {"p": _P[wrong], "train": train, "test": test}
    if not 0 <= found[wrong] <= 1:
        return SAY["leaves"].format(found=found[wrong], **words)
    slip = "one side" if train == test else "value"
    return SAY[slip].format(**words, **apart(found[wrong], wanted[wrong], 4))


# --- 9.5 ---------------------------------------------------------------------------------------

_STEPS = ((0.5, 0.5), (0.5, 0.2), (0.1, 0.3), (0.02, 0.01))


def judge_em_step(answer: Any) -> str | None:
    """Judge exercise 9.5: a function that returns the next prevalence."""
    function = answers.as_function(answer)
    for train, now in _STEPS:
        shown = SAY["em call"].format(train=train, now=now)
        result = answers.call(function, _P.copy(), train, now, shown=shown)
        if np.size(result) == len(_P):
            return SAY["vector"].format(count=len(_P))
        found = answers.as_number(result, SAY["number"])
        wanted = float(shift_prior(_P, train_prevalence=train, test_prevalence=now).mean())
        if same(found, wanted, _ROUNDED):
            continue
        if same(found, float(_P.mean()), _ROUNDED):
            return SAY["plain mean"]
        back = float(shift_prior(_P, train_prevalence=now, test_prevalence=train).mean())
        if same(found, back, _ROUNDED):
            return SAY["from now"]
        return SAY["em"].format(now=now, **apart(found, wanted, 4))
    return None


# --- what the lesson asks ----------------------------------------------------------------------

TITLE = "Handle rare events: imbalance"
SECOND = "9.3 9.4 9.5 9d 9e 9f"  # what the second notebook asks

CHECKS = {
    "9.1": Check(
        task="Compare observed and expected counts",
        variable="my_ratio",
        judge=judge_ratio,
        hints=(
            "The predictions add up to the expected number of events: `p.sum()`.",
            "With `E = p.sum()`, the lower end is `1 - 1.645 / np.sqrt(E)`.",
        ),
        praise="there are 23 % too many events, and chance alone rarely reaches that.",
        tolerance=0.02,
    ),
    "9.2": Check(
        task="Count the events that a factor takes",
        variable="events_needed",
        judge=judge_needed,
        hints=(
            "Set the factor equal to 1 + 1.645 / √E, and solve for E.",
            "E is the square of 1.645 / (factor - 1), and `math.ceil` rounds it up.",
        ),
        praise="a factor of 1.2 takes 68 expected events: 6,800 rows of an event of 1 %, or 68,000 "
        "of one of 0.1 %.",
    ),
    "9.3": Check(
        task="Shift probabilities to another prevalence",
        variable="shift",
        judge=judge_shift,
        hints=(
            "In logits, add logit(test) and subtract logit(train). Then go back.",
            "Without logits, let `event = p * test / train` and `other = (1 - p) * (1 - test)"
            " / (1 - train)`. The answer is the share of `event` in both.",
        ),
        praise="this is `calibkit.calibrators.shift_prior`.",
    ),
    "9.4": Check(
        task="Choose a measure for a dashboard",
        variable="my_choice",
        rubric=Rubric(
            points=(
                "It names a measure that can tell a good model from one that always says 0. "
                "O/E can, for example; accuracy, AUC or the ECE alone cannot.",
                "It says why this measure suits events of 0.5 %.",
                "It says what chance alone would show: a range, control limits or a test.",
                "It sees that ten expected events a month are few, and does something about it, "
                "such as adding up several months.",
                "It names a fault that the number does not show.",
            ),
            model="I show observed over expected, because a factor of two means the same at "
            "every prevalence. Beside it stands the range by chance: with ten expected events it "
            "reaches from about 0.5 to 1.5. So I also show the last twelve months together. The "
            "ratio is blind to errors that cancel, too high for some patients and too low for "
            "others. A yearly diagram on log axes shows those.",
        ),
        hints=(
            "Begin with “I show … because …” Then say what chance would show.",
            "Every measure is blind to something. Opposite errors cancel in O/E, for example.",
        ),
    ),
    "9.5": Check(
        task="Take one step of EM",
        variable="em_step",
        judge=judge_em_step,
        hints=(
            "There are two steps: move the predictions from `train` to `now`, then average.",
            "Return `shift_prior(p, train_prevalence=train, test_prevalence=now).mean()`.",
        ),
        praise="repeat this step and the prevalence climbs to its estimate.",
    ),
}

PREDICTIONS = {
    "9a": Prediction(
        question="An event has a share of 0.005. One model always says 0, one always says 0.005, "
        "and one states the true chance of every case. Which has the smallest ECE on average, "
        "from 6,000 predictions?",
        options=("the right one", "always 0", "always 0.005"),
        outcome="always 0.005",
        why="Whoever says one number has one bin, and chance moves a single bin little. A sharp "
        "model uses more bins, and each strays on its own. The ECE does not reward knowledge.",
        tells=(
            r"(errors?|distances?) (near zero )?(is|are) short|looks harmless|ECE shrinks",
            r"useless, and its ECE|beats even|knows nothing has the smallest",
        ),
    ),
    "9d": Prediction(
        question="The model is exactly right and expects ten events in ten bins. The drawing "
        "leaves out all bins without an event. What is the O/E of the others, on average?",
        options=("about 1.03", "about 1.3", "about 3"),
        outcome="about 1.3",
        why="Empty bins take their expected events with them, and none of the observed ones. "
        "Whoever looks at the survivors alone sees more bad luck than there was.",
        tells=(r"survivors|bad luck|rest looks too high|O/E (is|of) 1\.3",),
    ),
    "9c": Prediction(
        question="478 bets should have brought 135 dollars, and lost 82. How many times as many "
        "upsets came as the forecasts said?",
        options=("about 3", "about 1.6", "about 1.1"),
        outcome="about 1.6",
        why="You can count it: 478 - 10 E = 135 makes 34 upsets expected, and 478 - 10 O = -82 "
        "makes 56 observed. That is more than chance explains.",
        tells=(r"factor of 1\.6|4\.5 points|ECE 0\.045|56 upsets",),
    ),
    "9b": Drawing(
        question="The data have 5 % events, and weights balance the classes. Draw the share of "
        "events among the cases to which the model gives about 0.05, 0.15, … 0.95.",
        x=tuple(place / 100 for place in range(5, 100, 10)),
        axes=("prediction", "share of events"),
        why="Each event counted 17 times, so that both classes count as half of the data. So all "
        "odds are 17 times too large: 0.5 stands for 0.06, and 0.9 for 0.35. The few cases of the "
        "last bin say 0.92 on average, which stands for 0.41.",
        tells=(
            r"weights are a change of prevalence|half of the (data|weight)|world with 50 %",
            r"half of the cases",
        ),
    ),
    "9e": Prediction(
        question="How precisely can 6,000 weak predictions tell a prevalence of 2 %?",
        options=("± 0.1 points", "± 0.5 points", "± 2 points"),
        outcome="± 2 points",
        why="About 120 events hide among 6,000 rows that look much like them. No label says which. "
        "With a stronger model the same 6,000 rows suffice.",
        tells=(
            r"about 120 events|± ?2 points|estimate overshoots",
            r"estimated (one|prevalence)[^.]{0,40}(worse|half)",
        ),
    ),
    "9f": Prediction(
        question=(
            "One method is tested on twelve random splits of the same data. How far apart are the "
            "TCEs?"
        ),
        options=("hardly", "by half", "several-fold"),
        outcome="several-fold",
        why="A test set of 1,254 rows has about 117 events. TCE turns small differences into "
        "rejected bins or none. The p-values say that chance explains all twelve.",
        tells=(r"ranking is chance|several-fold|splits[^.]{0,60}(far apart|differ|disagree)",),
    ),
}
