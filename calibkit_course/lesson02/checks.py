"""Lesson 02, Separate two virtues: checks and predictions."""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit

from calibkit.fakes import LogitDistortion
from calibkit.scores import brier_score, log_loss
from calibkit_course.finite import example
from calibkit_course.learn.answers import (
    apart,
    as_function,
    as_list,
    as_number,
    as_numbers,
    call,
    same,
    slip_of,
    wrong_kind,
)
from calibkit_course.learn.exercises import Check, Prediction

TITLE = "Separate two virtues: calibration and discrimination"

WANTED = {
    "2.1": "one number, the score",
    "2.2": "the temperature as a number, such as `2.5`",
    "2.3": 'the three letters in order, such as `"BAC"` or `["B", "A", "C"]`',
    "2.4": "a list of three class numbers, one per stated vector",
}

SAY = {
    # 2.1
    "call": "`my_brier(labels, rows)` with {n} rows of {k} classes",
    "classes": "you average over the classes. Add up the squares of a row instead.",
    "total": "this is the sum over all rows. Take the mean of the {n} rows.",
    "half": "this is half of the score. Add up the squares of all classes, without dividing by 2.",
    "own": "the other classes are missing. A row has {k} squares, one per class.",
    "root": "this is the root. The score is the mean of the squares themselves.",
    "absolute": "these are absolute distances. Square them before you add them up.",
    "missed": "you forget to subtract 1 from the probability of the class that happened.",
    "negative": "a squared distance cannot be negative, but here the score is {found}.",
    "brier": "for {n} rows the score should be {wanted}, but here it is {found}.",
    # 2.2
    "no temperature": "a temperature is positive.",
    "inverse": "this is 1 / T. Divide the logits by the temperature instead of multiplying them.",
    "logarithm": "this is ln T. Take `np.exp` of it.",
    "start": "at T = 1 nothing changes. The log loss there is {loss:.4f}, and less is possible.",
    "squares": "this T minimises the Brier score. The exercise asks for the log loss.",
    "loss": "this is the smallest log loss. Give the temperature where it is reached.",
    "near": "T = {found:g} is close, but not within 0.01 of the best. Let the minimiser find it.",
    "cold": "with T = {found:g} the log loss is {loss:.4f}, and a larger T is better.",
    "hot": "with T = {found:g} the log loss is {loss:.4f}, and a smaller T is better.",
    # 2.3
    "letters": "name each of A, B and C once.",
    "by score": "this is the order by Brier score, log loss, accuracy and ECE alike. Look at the "
    "discrimination alone.",
    "backwards": "this is the right order backwards. The largest discrimination comes first.",
    "swap": "{first} and {second} should change places. Compare their discrimination again.",
    # 2.4
    "class": "{value:g} is not a class. The classes are 0, 1 and 2.",
    "same as before": "this is what the classifier predicts already, with accuracy {accuracy}.",
    "renamed": "this reaches the accuracy {accuracy}, and more is possible. Look again at the true "
    "probabilities of the {ordinal} vector.",
}


THREE_ATOMS = "three atoms"
_ORDINALS = ("first", "second", "third")

# Labels and rows; the second case has another number of classes.
_ROWS = (
    ([2, 0], [[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]),
    ([1, 3, 0, 1], [[0.1, 0.6, 0.1, 0.2], [0, 0.5, 0.25, 0.25], [1, 0, 0, 0], [0.7, 0, 0.2, 0.1]]),
)


def judge_brier(answer: Any) -> str | None:
    """Judge exercise 2.1: a function that computes the Brier score, summed over classes."""
    function = as_function(answer)
    for labels, rows in _ROWS:
        y_true, y_prob = np.array(labels), np.array(rows, dtype=float)
        shown = SAY["call"].format(n=len(y_true), k=y_prob.shape[1])
        found = as_number(call(function, y_true, y_prob, shown=shown), WANTED["2.1"])
        if problem := _brier_problem(found, y_true, y_prob):
            return problem
    return None


def _brier_problem(found: float, y_true: NDArray[Any], y_prob: NDArray[Any]) -> str | None:
    wanted = brier_score(y_true, y_prob).value
    if same(found, wanted, 1e-9):
        return None
    n, k = y_prob.shape
    distance = y_prob - np.eye(k)[y_true]
    own = distance[np.arange(n), y_true]
    patterns = {
        "classes": wanted / k,
        "total": wanted * n,
        "half": wanted / 2,
        "own": np.mean(own**2),
        "root": np.sqrt(wanted),
        "absolute": np.mean(np.abs(distance).sum(axis=1)),
        "missed": np.mean((y_prob**2).sum(axis=1)),
    }
    if slip := slip_of(found, patterns, 1e-9):
        return SAY[slip].format(n=n, k=k)
    key = "negative" if found < 0 else "brier"
    return SAY[key].format(n=n, **apart(found, wanted, 4))


@lru_cache(maxsize=1)
def _network() -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return labels and logits of the over-confident network of exercise 2.2."""
    sample = LogitDistortion(slope=0.5).sample(3000, rng=22)
    return sample.y_true, logit(sample.y_prob)


def _loss(temperature: float) -> float:
    labels, logits = _network()
    with np.errstate(over="ignore"):  # a tiny temperature makes every forecast 0 or 1
        return log_loss(labels, expit(logits / temperature)).value


def _squares(temperature: float) -> float:
    labels, logits = _network()
    return brier_score(labels, expit(logits / temperature)).value


@lru_cache(maxsize=2)
def _best(squares: bool = False) -> float:
    options = {"bounds": (0.2, 10), "method": "bounded", "options": {"xatol": 1e-8}}
    return float(minimize_scalar(_squares if squares else _loss, **options).x)


def judge_temperature(answer: Any) -> str | None:
    """Judge exercise 2.2: the temperature with the smallest log loss."""
    found, best = as_number(answer, WANTED["2.2"]), _best()
    if same(found, best, 0.01):
        return None
    patterns = {
        "inverse": 1 / best,
        "logarithm": np.log(best),
        "start": 1.0,
        "squares": _best(squares=True),
        "loss": _loss(best),
    }
    if slip := slip_of(found, patterns, 0.005):
        return SAY[slip].format(loss=_loss(1.0))
    if found <= 0:
        return SAY["no temperature"]
    if abs(found - best) < 0.2:
        return SAY["near"].format(found=found)
    return SAY["cold" if found < best else "hot"].format(found=found, loss=_loss(found))


# Of the three classifiers of exercise 2.3: by discrimination, and by Brier score, log loss, ECE
# and accuracy alike. A test recomputes them.
BY_DISCRIMINATION, BY_SCORE = "CAB", "ABC"


def judge_order(answer: Any) -> str | None:
    """Judge exercise 2.3: three classifiers, from the largest to the smallest discrimination."""
    given, right = _letters(answer), BY_DISCRIMINATION
    if sorted(given) != sorted(right):
        return SAY["letters"]
    if given == right:
        return None
    if given in (right[::-1], BY_SCORE):
        return SAY["backwards" if given != BY_SCORE else "by score"]
    place = next(i for i in range(3) if given[i] != right[i])
    return SAY["swap"].format(first=given[place], second=right[place])


def _letters(answer: Any) -> str:
    text = answer if isinstance(answer, str) else None
    if text is None:
        entries = as_list(answer, WANTED["2.3"])
        if not all(isinstance(entry, str) for entry in entries):
            raise wrong_kind(answer, WANTED["2.3"])
        text = "".join(entries)
    letters = "".join(letter for letter in text.upper() if letter.isalpha())
    if not letters or len(letters) > 12:
        raise wrong_kind(answer, WANTED["2.3"])
    return letters


def judge_renaming(answer: Any) -> str | None:
    """Judge exercise 2.4: the class to name for each of three stated vectors."""
    fake = example(THREE_ATOMS)
    given = as_numbers(answer, WANTED["2.4"], length=fake.n_atoms)
    for value in given.tolist():
        if value not in range(fake.n_classes):
            return SAY["class"].format(value=value)
    names = tuple(int(value) for value in given)
    chances = [row[name] for row, name in zip(fake.truth, names, strict=True)]
    accuracy = sum(m * chance for m, chance in zip(fake.mass, chances, strict=True))
    if accuracy == fake.best_postprocessing().accuracy:
        return None
    if names == fake.predicted:
        return SAY["same as before"].format(accuracy=accuracy)
    number = next(
        i for i, (row, c) in enumerate(zip(fake.truth, chances, strict=True)) if c != max(row)
    )
    return SAY["renamed"].format(accuracy=accuracy, ordinal=_ORDINALS[number])


CHECKS = {
    "2.1": Check(
        task="Write the Brier score",
        variable="my_brier",
        judge=judge_brier,
        praise="your score is that of `calibkit.brier_score`.",
        hints=(
            "Turn each label into a row of zeros with a single 1: `np.eye(K)[labels]`.",
            "Subtract that row from the stated one, square the differences, and add them up along "
            "the row.",
            "Return `np.mean(np.sum((rows - np.eye(rows.shape[1])[labels]) ** 2, axis=1))`.",
        ),
    ),
    "2.2": Check(
        task="The temperature with the smallest log loss",
        variable="best_temperature",
        judge=judge_temperature,
        tolerance=0.01,
        praise="the loss is flat near its minimum, so the slider comes close to the best loss.",
        hints=(
            "In the explorer, set *Start* to over-confident. Watch the log loss in the line below.",
            "Write `def loss(t): return ck.log_loss(net.y_true, distort(net.y_prob, t)).value`.",
            '`minimize_scalar(loss, bounds=(0.2, 10), method="bounded").x` is the temperature.',
        ),
    ),
    "2.3": Check(
        task="Three classifiers in the order of their discrimination",
        variable="order",
        judge=judge_order,
        praise="C has the largest discrimination, although its log loss is the worst.",
        hints=(
            "Accuracy and log loss mix the two virtues. Split the score of each classifier.",
            "`corp.corp_decomposition(one.y_true, one.y_prob).discrimination` is one number each.",
            "C has a discrimination of about 0.075, and B of about 0.043. Where does A belong?",
        ),
    ),
    "2.4": Check(
        task="A better name for each stated vector",
        variable="renamed",
        judge=judge_renaming,
        praise="the accuracy rises from 2/5 to 3/5. Nothing new was learnt about the cases.",
        hints=(
            "For each stated vector, find the class with the largest true probability.",
            "Stated (2/5, 3/10, 3/10) has the truth (2/5, 0, 3/5). Class 2 is the best name for "
            "it.",
            "The other two vectors are rotations of the first. So the answer is 2, then 0, then 1.",
        ),
    ),
}

PREDICTIONS = {
    "2a": Prediction(
        question="A slide gives the log losses 0.477 and 0.176. Which logarithm was used?",
        options=("base 2", "natural", "base 10"),
        outcome="base 10",
        why="The text around it does not say so, and most software uses the natural logarithm, "
        "with which the same forecasts cost 1.099 and 0.405. A log loss needs a unit.",
        tells=(r"(slide|used|uses|in|was) (base 10|log10)|decimal logarithm|\b1\.099\b",),
    ),
    "2b": Prediction(
        question="Bold and timid rename the numbers of honest. Which of these will differ?",
        options=("accuracy", "AUC", "log loss"),
        outcome="log loss",
        why="The renaming keeps the order of the forecasts, and their side of 0.5. Accuracy and "
        "AUC look at nothing else. The log loss looks at the numbers.",
        tells=(
            r"leaves the (ranking|order) alone",
            r"(accuracy|AUC).{0,40}(blind|stays?\b|unchanged|not change)|keeps the (order|ranking)",
        ),
    ),
    "2c": Prediction(
        question="You move the bias. Which panel stays exactly as it is?",
        options=("ROC", "reliability", "Brier parts"),
        outcome="ROC",
        why="The bias shifts all logits alike, so their order stays. Only the point of the "
        "threshold 0.5 wanders along the curve.",
        tells=(
            r"leaves the (ranking|order) alone",
            r"(AUC|ROC)[^.]{0,40}(blind|stays?\b|unchanged|not (change|move))",
        ),
    ),
    "2d": Prediction(
        question="Which part of the Brier score will differ between the three forecasters?",
        options=("miscalibration", "discrimination", "uncertainty"),
        outcome="miscalibration",
        why="The discrimination depends on the order of the forecasts, and the uncertainty on the "
        "outcomes. This renaming changes neither of them.",
        tells=(r"only (the )?miscalibration|discrimination (stays|does not|is the same)",),
    ),
    "2e": Prediction(
        question="Five bins replace the forecasts, and the ECE improves. What does the log loss "
        "do?",
        options=("improve", "stay", "worsen"),
        outcome="worsen",
        why="Inside a bin, all forecasts become one number. Honesty is won, but the differences "
        "between the cases of a bin are lost. The ECE does not see that loss.",
        tells=(
            r"ECE can be gamed|while a calibration error does not",
            r"log loss (worsens|rises|gets worse|pays)",
        ),
    ),
    "2f": Prediction(
        question="The confidence and every single class are calibrated exactly. Can renaming "
        "still raise the accuracy?",
        options=("yes", "no"),
        outcome="yes",
        why="Both notions look at one stated number at a time. The whole vector tells more than "
        "its numbers one by one, and renaming may use all of it.",
        tells=(r"leaves? room|renam[^.]{0,40}(raises|improves|gains)",),
    ),
}
