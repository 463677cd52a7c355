"""Checks and predictions of lesson 10: cool a network."""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import softmax

from calibkit.learn import answers
from calibkit.learn.answers import apart, same
from calibkit.learn.exercises import Check, Prediction
from calibkit.lessons.lesson10 import problems as problems
from calibkit.lessons.lesson10.problems import Floats, Pair
from calibkit.multiclass import TemperatureScaling, undo_label_smoothing
from calibkit.scores import log_loss

SAY = {
    # 10.1 and 10.2
    "bold": "logits of an over-confident model",
    "timid": "logits of an under-confident model",
    "lifted": "logits that were all raised by 1,000",
    "one number": "one temperature",
    "softmaxed": "for {case}, this is the T of softmaxed scores: the softmax was applied twice. "
    "Use the logits as they come.",
    "grid": "for {case}, {found} is close. The log loss is lowest between the points of your grid, "
    "at {wanted}: search on from there.",
    "inverse": "for {case}, this is 1/T. Divide the logits by T instead of multiplying them.",
    "logarithm": "for {case}, this is the logarithm of T.",
    "negative": "for {case}, T is negative. That would turn the ranking round: search above 0.",
    "unmoved": "for {case}, this is where the search began. Does it follow the log loss?",
    "brier": "for {case}, this minimises the Brier score. Minimise the log loss.",
    "halted": "for {case}, the search halted at T = {found}. The log loss still falls "
    "towards {wanted}. Allow more steps, or longer ones.",
    "bound": "for {case}, {found} is too far from {wanted}. Does the search reach both "
    "sides of 1, and end where it should?",
    "edge": "for {case}, this is the end of the search, {found}. Is it the log loss that is "
    "minimised, with its minus sign?",
    "not a number": "for {case}, this is not a number. Keep the search between 0.05 and 20, and "
    "subtract each row's largest logit before `exp`.",
    "overflow": "for {case}, {found} is too far from {wanted}. The softmax has not "
    "changed, but `exp` overflows: subtract each row's largest logit, or use `log_softmax`.",
    # 10.3
    "diagnosis": "a pair: a letter, and a number",
    "letters": "the letter of a file",
    "loud": "file {name} starts badly, but its log loss ends where the others' does. It holds "
    "logits, and cooling repairs them.",
    "fine": "file {name} ends at the same log loss as another one. Look for the file that "
    "scaling cannot bring there.",
    "floor of logits": "logits have no such floor: a bold right answer costs nearly 0. What is the "
    "largest probability that a softmax of probabilities can give?",
    "uniform": "this is the cost of ten equal probabilities. A softmax of (1, 0, …, 0) does "
    "slightly better.",
    "reported": "this number stands in the table. The question is how low it could be at best.",
    "two classes": "this is the floor of two classes. Here there are ten.",
    "probability": "this is the probability. The log loss is minus its logarithm.",
    "in bits": "this is in bits. calibkit uses the natural logarithm.",
    "in digits": "this is with the logarithm to base 10. calibkit uses the natural one.",
    "floor off": "the softmax of (1, 0, …, 0) gives the right class e / (e + 9). Your number is "
    "{found}.",
    # 10.4
    "three": "three numbers: T, log loss after scaling, log loss after undoing",
    "above one": "T = {found} is above 1. Smoothed labels make a model careful, so it must "
    "be made bolder.",
    "as logits": "this T treats probabilities as logits. Declare the input.",
    "fitted on test": "this T was fitted to the test half. Fit to `p_fit` and `y_fit`.",
    "temperature off": "T is {wanted} on the fitting half, not {found}.",
    "not scaled": "the second number is the log loss without any scaling.",
    "second": "with this T, the test half has the log loss {wanted}, not {found}.",
    "fitting half": "number {place} is the log loss on the fitting half. Report the test half.",
    "third": "undoing gives the log loss {wanted} on the test half, not {found}.",
    # 10.5
    "splits": "three splits, case {case}",
    "test": "T was fitted to the test split, which then judges it. Fit to the validation split.",
    "train": "T was fitted to the training split. The network knows those answers by heart.",
    "pooled": "the training split has no place in the fit, not even beside the validation split.",
    "no scaling": "this is the test log loss before scaling.",
    "reported on": "this is the log loss of the {split} split. Report the test split.",
    "report off": "for {case}, an honest report says {wanted}, not {found}.",
}

# --- 10.1 and 10.2: temperatures ---------------------------------------------------------------


_STEP = 0.02  # whoever moved less has stopped at the edge of the search
_ENDS = (0.05, 20.0)  # of the search that the exercise asks for
_NEAR = 0.06  # of the optimum, as the points of a grid are


def judge_temperature(answer: Any) -> str | None:
    """Judge exercise 10.1: a function that fits a temperature, to three digits."""
    return _judge_fits(answer, lambda wanted: 0.505 * 10 ** (np.floor(np.log10(wanted)) - 2))


def judge_torch(answer: Any) -> str | None:
    """Judge exercise 10.2: the same with an optimiser that may stop early."""
    return _judge_fits(answer, lambda wanted: 1e-2)


def _judge_fits(answer: Any, tolerance: Callable[[float], float]) -> str | None:
    function = answers.as_function(answer)
    for name, (logits, label) in problems.fitting_cases().items():
        result = answers.call(function, logits, label, shown=SAY[name])
        if _is_nan(result):
            return SAY["not a number"].format(case=SAY[name])
        found = answers.as_number(result, SAY["one number"])
        wanted = _temperature(logits, label)
        if not same(found, wanted, max(1e-3, tolerance(wanted))):
            return _temperature_slip(found, logits, label, SAY[name])
    return None


def _is_nan(result: Any) -> bool:
    try:
        return bool(np.isnan(float(result)))
    except Exception:  # not even a number, which is said elsewhere
        return False


def _temperature(logits: Floats, label: NDArray[np.intp]) -> float:
    return TemperatureScaling("logits").fit(logits, label).temperature_


def _temperature_slip(found: float, logits: Floats, label: NDArray[np.intp], case: str) -> str:
    wanted = _temperature(logits, label)
    slips = {
        "softmaxed": _temperature(softmax(logits, axis=1) + 1.0, label),
        "inverse": 1 / wanted,
        "logarithm": float(np.log(wanted)),
        "brier": _brier_temperature(logits, label),
    }
    nearest = min(slips, key=lambda slip: abs(slips[slip] - found))
    words = {"case": case, **apart(found, wanted, 4)}
    if same(found, slips[nearest], 2e-3):
        return SAY[nearest].format(**words)
    if found <= 0:
        return SAY["negative"].format(**words)
    if found in (1.0, 1.5):
        return SAY["unmoved"].format(**words)
    if any(same(found, end, 1e-3 * end) for end in _ENDS):
        return SAY["edge"].format(**words)
    if abs(found - wanted) < _NEAR and same(found, round(found, 2), 1e-9):
        return SAY["grid"].format(**words)
    if case == SAY["lifted"]:
        return SAY["overflow"].format(**words)
    start = 1.0 if wanted < 1 else 1.5
    moved = min(abs(found - 1), abs(found - start)) > _STEP
    between = min(start, wanted) < found < max(start, wanted)
    return SAY["halted" if moved and between else "bound"].format(**words)


def _brier_temperature(logits: Floats, label: NDArray[np.intp]) -> float:
    happened = np.eye(logits.shape[1])[label]

    def score(temperature: float) -> float:
        said = softmax(logits / temperature, axis=1)
        return float(((said - happened) ** 2).sum(axis=1).mean())

    return float(minimize_scalar(score, bounds=(0.05, 20), method="bounded").x)


# --- 10.3: probabilities fed as logits ---------------------------------------------------------


def judge_diagnosis(answer: Any) -> str | None:
    """Judge exercise 10.3: which file was softmaxed twice, and its least log loss."""
    letter, number = answers.as_list(answer, SAY["diagnosis"], 2)
    name = answers.as_option(letter, problems.three_files(20), SAY["letters"])
    if name != problems.CULPRIT:
        return SAY["loud" if name == "A" else "fine"].format(name=name)
    return _floor_slip(answers.as_number(number))


def _floor_slip(found: float) -> str | None:
    wanted = float(np.log(1 + 9 / math.e))
    slips = {
        "floor of logits": 0.0,
        "uniform": float(np.log(10)),
        "two classes": float(np.log(1 + 1 / math.e)),
        "probability": float(math.e / (math.e + 9)),
        "in bits": wanted / float(np.log(2)),
        "in digits": wanted / float(np.log(10)),
    }
    if same(found, wanted, 2e-3):
        return None
    for slip, value in slips.items():
        if same(found, value, 2e-3):
            return SAY[slip]
    reported = [value for losses in problems.losses_of_files().values() for value in losses]
    if any(same(found, value, 1e-3) for value in reported):
        return SAY["reported"]
    return SAY["floor off"].format(**apart(found, wanted, 4))


# --- 10.4: label smoothing ---------------------------------------------------------------------


@lru_cache(maxsize=1)
def _smoothed() -> dict[str, tuple[float, float, float]]:
    """Return T and both log losses on the test half, and what slips would give."""
    fit, test = problems.smoothed_model()
    scaling = TemperatureScaling("probabilities").fit(*fit)
    on_test = TemperatureScaling("probabilities").fit(*test)
    mistaken = TemperatureScaling("logits").fit(fit[0] + 1.0, fit[1])
    losses = [
        [
            log_loss(label, prob).value,
            log_loss(label, scaling.calibrate(prob)).value,
            log_loss(label, undo_label_smoothing(prob, amount=problems.AMOUNT)).value,
        ]
        for prob, label in (fit, test)
    ]
    (_, fit_scaled, fit_undone), (plain, scaled, undone) = losses
    return {
        "right": (scaling.temperature_, scaled, undone),
        "temperatures": (on_test.temperature_, mistaken.temperature_, plain),
        "fit": (0.0, fit_scaled, fit_undone),
    }


def judge_smoothing(answer: Any) -> str | None:
    """Judge exercise 10.4: the temperature of a smoothed model, and two log losses."""
    found = answers.as_numbers(answer, SAY["three"], 3)
    wanted, on_fit = _smoothed()["right"], _smoothed()["fit"]
    on_test, mistaken, plain = _smoothed()["temperatures"]
    if not same(found[0], wanted[0], 1e-3):
        if same(found[0], on_test, 1e-3):
            return SAY["fitted on test"]
        if same(found[0], mistaken, 1e-3):
            return SAY["as logits"]
        slip = "above one" if found[0] > 1 else "temperature off"
        return SAY[slip].format(**apart(found[0], wanted[0]))
    for place, slip in ((1, "second"), (2, "third")):
        if same(found[place], wanted[place], 5e-4):
            continue
        if same(found[place], on_fit[place], 5e-4):
            return SAY["fitting half"].format(place=place + 1)
        if place == 1 and same(found[place], plain, 5e-4):
            return SAY["not scaled"]
        return SAY[slip].format(**apart(found[place], wanted[place], 4))
    return None


# --- 10.5: the right split ---------------------------------------------------------------------


def judge_report(answer: Any) -> str | None:
    """Judge exercise 10.5: a function that fits T to the right split and reports another."""
    function = answers.as_function(answer)
    for case, seed in enumerate((106, 107), start=1):
        splits = problems.three_splits(seed)
        shown = SAY["splits"].format(case=case)
        result = answers.call(function, *splits.values(), shown=shown)
        found = answers.as_number(result)
        wanted = _loss_after(splits, "validation", "test")
        if not same(found, wanted, 1e-4):
            return _report_slip(found, splits, shown)
    return None


def _report_slip(found: float, splits: dict[str, Pair], case: str) -> str:
    logits, label = splits["test"]
    if same(found, log_loss(label, softmax(logits, axis=1)).value, 1e-4):
        return SAY["no scaling"]
    pooled = splits | {"pooled": _pool(splits["train"], splits["validation"])}
    for slip in ("test", "train", "pooled"):
        if same(found, _loss_after(pooled, slip, "test"), 1e-4):
            return SAY[slip]
    for split in ("train", "validation"):
        if same(found, _loss_after(splits, "validation", split), 1e-4):
            return SAY["reported on"].format(split=split)
    wanted = _loss_after(splits, "validation", "test")
    return SAY["report off"].format(case=case, **apart(found, wanted, 4))


def _pool(one: Pair, other: Pair) -> Pair:
    return np.concatenate([one[0], other[0]]), np.concatenate([one[1], other[1]])


def _loss_after(splits: dict[str, Pair], fitted_to: str, reported_on: str) -> float:
    logits, label = splits[reported_on]
    prob = softmax(logits / _temperature(*splits[fitted_to]), axis=1)
    return log_loss(label, prob).value


# --- what the lesson asks ----------------------------------------------------------------------

TITLE = "Cool a network"

CHECKS = {
    "10.1": Check(
        task="Fit the temperature",
        variable="fit_temperature",
        judge=judge_temperature,
        hints=(
            "First write a function of T that returns the log loss of `softmax(logits / T)` "
            "with the labels.",
            "`minimize_scalar(loss, bounds=(0.05, 20), method='bounded').x` does the search.",
        ),
        praise="you found one number where the log loss is lowest, above 1 and below.",
    ),
    "10.3": Check(
        task="Find the file that was softmaxed twice",
        variable="my_diagnosis",
        judge=judge_diagnosis,
        hints=(
            "All files hold scores of one network. Which one cannot reach the others' log loss?",
            "At best, probabilities are (1, 0, …, 0). Apply the softmax once more, and take -ln "
            "of it.",
        ),
        praise="no error was raised anywhere. The log loss alone gave it away.",
        tolerance=0.002,
    ),
    "10.5": Check(
        task="Report without a leak",
        variable="honest_report",
        judge=judge_report,
        hints=(
            "Each split has one job: to learn weights, to learn T, or to judge.",
            "Fit T to `validation`, divide the logits of `test` by it, and return their log loss.",
        ),
        praise="the three splits have three jobs.",
        tolerance=0.0001,
    ),
    "10.4": Check(
        task="Repair a model with smoothed labels",
        variable="my_repair",
        judge=judge_smoothing,
        hints=(
            'Fit with `TemperatureScaling("probabilities")`. Is T above or below 1?',
            "Then call `undo_label_smoothing(p_test, amount=0.1)`. Compute the log loss of both "
            "repairs.",
        ),
        praise="the exact inverse wins: cooling is the wrong shape for smoothed labels.",
        tolerance=0.0005,
    ),
    "10.2": Check(
        task="Fit it again, with torch",
        variable="torch_temperature",
        judge=judge_torch,
        hints=(
            "The parts are a tensor `log_t` with a gradient, `LBFGS([log_t], …)`, and a closure.",
            'Set `max_iter=100` and `line_search_fn="strong_wolfe"`. Return `log_t.exp().item()`.',
        ),
        praise="it went on until the slope was gone. Many published fits stop before.",
        tolerance=0.01,
    ),
}

PREDICTIONS = {
    "10a": Prediction(
        question="From epoch 20 on, the network learns its training data by heart. What does the "
        "log loss on validation data do until epoch 60?",
        options=("falls", "stays", "rises"),
        outcome="rises",
        why="Accuracy has nearly found its level, and each wrong answer is given with more "
        "confidence. What the network knows still grows a little: after scaling, the log loss "
        "falls.",
    ),
    "10b": Prediction(
        question="You divide all logits by T. What happens to the accuracy?",
        options=("it falls", "it stays exactly", "it rises"),
        outcome="it stays exactly",
        why="Dividing a row by one positive number keeps the order of its entries. The most "
        "probable class stays the most probable one.",
    ),
    "10c": Prediction(
        question="Label smoothing of 0.1 has the lowest ECE of all untreated networks. After "
        "temperature scaling its log loss is…",
        options=("the lowest", "in the middle", "the highest"),
        outcome="the highest",
        why="Smoothed labels pull the logits of a class together (Müller, Kornblith and Hinton, "
        "2019). They tell less about how sure the network should be, and no temperature brings "
        "this back.",
    ),
    "10d": Prediction(
        question=(
            "The network learns from 500 real digits. How does label smoothing fare against plain "
            "cross-entropy, by the log loss after scaling?"
        ),
        options=("it loses again", "it wins here"),
        outcome="it wins here",
        why="Its ECE is the highest and its log loss after scaling the lowest. What a loss costs "
        "depends on the data. The ECE foretold neither outcome.",
    ),
    "10e": Prediction(
        question="You fit T to the training data instead. It is…",
        options=("about the same", "smaller, above 1", "below 1"),
        outcome="below 1",
        why="The network has all training answers right. There, more boldness is always better, "
        "and T falls as far as you let it.",
    ),
}
