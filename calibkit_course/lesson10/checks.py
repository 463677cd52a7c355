"""Checks and predictions of lesson 10. What is fitted is judged in `fitted`."""

import math
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import softmax

from calibkit.calibrators import TemperatureScaling
from calibkit.scores import log_loss
from calibkit_course.learn import answers
from calibkit_course.learn.answers import apart, same
from calibkit_course.learn.drawing import Drawing
from calibkit_course.learn.exercises import Check, Prediction
from calibkit_course.lesson10 import problems as problems
from calibkit_course.lesson10.fitted import judge_step, judge_temperature, judge_torch, temperature
from calibkit_course.lesson10.problems import Pair
from calibkit_course.lesson10.smoothing import undo_label_smoothing

SAY = {
    # 10.4
    "diagnosis": "a pair: a letter, and a number",
    "letters": "the letter of a file",
    "loud": "file {name} starts badly, but its log loss ends where the others' does. It holds "
    "logits, and a temperature repairs them.",
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
    # 10.5
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
    # 10.2
    "splits": "three splits, case {case}",
    "test": "T was fitted to the test split, which then judges it. Fit to the validation split.",
    "train": "T was fitted to the training split. The network knows those answers by heart.",
    "pooled": "the training split has no place in the fit, not even beside the validation split.",
    "no scaling": "this is the test log loss before scaling.",
    "reported on": "this is the log loss of the {split} split. Report the test split.",
    "report off": "for {case}, an honest report says {wanted}, not {found}.",
}

# --- 10.4: probabilities fed as logits ---------------------------------------------------------


def judge_diagnosis(answer: Any) -> str | None:
    """Judge exercise 10.4: which file was softmaxed twice, and its least log loss."""
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
    if slip := answers.slip_of(found, slips, 2e-3):
        return SAY[slip]
    reported = [value for losses in problems.losses_of_files().values() for value in losses]
    if any(same(found, value, 1e-3) for value in reported):
        return SAY["reported"]
    return SAY["floor off"].format(**apart(found, wanted, 4))


# --- 10.5: label smoothing ---------------------------------------------------------------------


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
    """Judge exercise 10.5: the temperature of a smoothed model, and two log losses."""
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


# --- 10.2: the right split ---------------------------------------------------------------------


def judge_report(answer: Any) -> str | None:
    """Judge exercise 10.2: a function that fits T to the right split and reports another."""
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
    prob = softmax(logits / temperature(*splits[fitted_to]), axis=1)
    return log_loss(label, prob).value


# --- what the lesson asks ----------------------------------------------------------------------

TITLE = "Take a network's temperature"
SECOND = "10.2 10.3 10.4 10.5 10.6 10d 10e"  # what the second notebook asks

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
    "10.2": Check(
        task="Report without a leak",
        variable="honest_report",
        judge=judge_report,
        hints=(
            "Each split has one job: to learn weights, to learn T, or to judge.",
            "Fit T to `validation`, divide the logits of `test` by it, and return their log loss.",
        ),
        praise="three splits, three jobs.",
        tolerance=0.0001,
    ),
    "10.3": Check(
        task="Write the training step",
        variable="training_step",
        judge=judge_step,
        hints=(
            "`network(images)` gives logits. `torch.nn.functional.cross_entropy(logits, labels)` "
            "is their mean loss.",
            "`optimiser.zero_grad()`, `loss.backward()`, `optimiser.step()`, and "
            "`return loss.item()`.",
        ),
        praise="forward, loss, backward, step. All networks of this lesson are trained so.",
    ),
    "10.4": Check(
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
        task="Repair a model with smoothed labels",
        variable="my_repair",
        judge=judge_smoothing,
        hints=(
            'Fit with `TemperatureScaling("probabilities")`. Is T above or below 1?',
            "Then call `lesson10.undo_label_smoothing(p_test, amount=0.1)`. Compute the log loss "
            "of both repairs.",
        ),
        praise="the exact inverse wins: dividing logits, here by less than 1, has the wrong shape "
        "for smoothed labels.",
        tolerance=0.0005,
    ),
    "10.6": Check(
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
    "10a": Drawing(
        question="From epoch 12 to 40 the loss on the training images falls to nearly 0, and the "
        "accuracy on validation images hardly moves. At epoch 4 the log loss on the validation "
        "images is 0.70. Draw it up to epoch 40.",
        x=tuple(range(4, 41, 4)),
        axes=("epoch", "log loss"),
        why="After epoch 3 the network reads ten fewer of a hundred digits, but says its wrong "
        "answers with doubt. After epoch 40 it says them with confidence, which costs more.",
        tells=(r"ten fewer of|believes itself|log loss[^.]{0,40}(rises|grows|climbs)",),
    ),
    "10b": Prediction(
        question="T is fitted to the very images that judge it. By how much does that make the "
        "log loss look better?",
        options=("about 0.001", "about 0.02", "about 0.1"),
        outcome="about 0.001",
        why="One number cannot learn 2,500 rows by heart. 110 numbers begin to: theirs looks "
        "better by 0.026.",
        tells=(r"hardly leaks|leak is small|by heart; 110",),
    ),
    "10c": Prediction(
        question="As trained, the network books 133 wrong digits unseen. Scaled by T, it gives the "
        "same answers. How many wrong ones does it book unseen now?",
        options=("about 10", "about 90", "about 2", "about 45"),
        outcome="about 10",
        why="As trained, these errors claimed over 95 %. With the logits divided by T, nearly all "
        "claim less, and go to the clerk. So do many right answers.",
        tells=(r"\b9 came|about 10 wrong|clerk; so do",),
    ),
    "10d": Prediction(
        question="Half of each label was spread over all classes. The T that repairs this network "
        "is…",
        options=("above 1", "about 1", "below 1"),
        outcome="below 1",
        why="Its labels told the network never to be surer than 0.55. It is right in 85 of 100 "
        "cases, so it is under-confident: too hot, and a T below 1 cools it.",
        tells=(r"smoothed[^.]{0,80}(too modest|under-confident|too hot)",),
    ),
    "10e": Prediction(
        question="As trained, focal loss has the lowest ECE of all nine ways. After temperature "
        "scaling, its log loss is…",
        options=("lower than plain training's", "the same", "higher than plain training's"),
        outcome="higher than plain training's",
        why="A low ECE as trained is what one temperature gives to every network. What is left "
        "after scaling is how well a network tells classes apart, and what one number cannot "
        "repair.",
        tells=(r"at a price|focal[^.]{0,60}(price|worse|higher|loses)",),
    ),
}
