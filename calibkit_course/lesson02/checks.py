"""Lesson 02, Separate two virtues: checks and predictions."""

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_expit, logit

from calibkit.fakes import LogitDistortion
from calibkit.scores import brier_score, log_loss
from calibkit_course.finite import example
from calibkit_course.learn.answers import (
    agree,
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
SECOND = "2.3 2.4 2c 2d"  # what the second notebook asks

WANTED = {
    "2.1": "three numbers: MCB, DSC and UNC",
    "2.2": "the temperature as a number, such as `2.5`",
    "2.3": 'the three letters in order, such as `"BAC"` or `["B", "A", "C"]`',
    "2.4": "a list of three class numbers, one per stated vector",
}

SAY = {
    # 2.1
    "call": "`my_parts(rain, said, repaired)` with six days",
    "sums": "these are sums over the days. A score is the mean.",
    "swapped": "DSC and UNC stand the other way round: the order is MCB, DSC, UNC.",
    "exchanged": "MCB and DSC stand the other way round: the order is MCB, DSC, UNC.",
    "Murphy": "MCB is the difference of two scores. The mean square of stated minus repaired is "
    "the same only where all days of a group state one number.",
    "minus": "DSC has the wrong sign. Take UNC minus the score of `repaired`.",
    "gain": "MCB has the wrong sign. Take the score of `said` minus that of `repaired`.",
    "unrepaired": "DSC is what the *repaired* forecasts win against the overall frequency.",
    "whole": "MCB is not the whole score of `said`: take the score of `repaired` away from it.",
    "left over": "this is the score of `repaired`. DSC is what it wins against the overall "
    "frequency: UNC minus that score.",
    "frequency": "UNC is here the overall frequency itself. Take its score, as that of `said`.",
    "stated": "UNC is here the score of the mean of `said`. Take that of `rain.mean()`.",
    "part": "{part} should be {wanted} here, but it is {found}.",
    # 2.2
    "no temperature": "a temperature is positive.",
    "inverse": "this is 1 / T. Divide the logits by the temperature instead of multiplying them.",
    "logarithm": "this is ln T. Take `np.exp` of it.",
    "start": "at T = 1 nothing changes. The log loss there is {loss:.4f}, and less is possible.",
    "known": "this is 1 / 0.33, which only we know. Ask the record: the owner has nothing else.",
    "loss": "this is the smallest log loss. Give the temperature where it is reached.",
    "Brier": "this makes the Brier score smallest. Take the log loss.",
    "wet": "this looks at rainy days only. On a dry day, what happened had the chance 1 - p.",
    "near": "T = {found:g} is close, but not within 0.005 of the best. Let the minimiser find it.",
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

# What happened, what was stated, and the increasing curve that fits it best.
_RAIN = np.array([0, 0, 1, 1, 0, 1])
_SAID = np.array([0.2, 0.4, 0.3, 0.9, 0.6, 0.8])
_REPAIRED = np.array([0, 1 / 3, 1 / 3, 1, 1 / 3, 1])


def judge_parts(answer: Any) -> str | None:
    """Judge exercise 2.1: a function that splits a Brier score into its three parts."""
    columns = (column.copy() for column in (_RAIN, _SAID, _REPAIRED))
    result = call(as_function(answer), *columns, shown=SAY["call"])
    found = as_numbers(result, WANTED["2.1"], length=3)
    score, mended, base = (
        float(np.mean((p - _RAIN) ** 2)) for p in (_SAID, _REPAIRED, np.full(6, _RAIN.mean()))
    )
    wanted = np.array([score - mended, base - mended, base])
    if agree(found, wanted, 1e-6):
        return None
    patterns = {
        "sums": len(_RAIN) * wanted,
        "swapped": wanted[[0, 2, 1]],
        "exchanged": wanted[[1, 0, 2]],
        "Murphy": np.array([np.mean((_SAID - _REPAIRED) ** 2), base - mended, base]),
        "minus": wanted * [1, -1, 1],
        "gain": wanted * [-1, 1, 1],
        "unrepaired": wanted - [0, score - mended, 0],
        "whole": np.array([score, base - mended, base]),
        "left over": np.array([score - mended, mended, base]),
    }
    uncertain = {"frequency": _RAIN.mean(), "stated": np.mean((_SAID.mean() - _RAIN) ** 2)}
    patterns |= {name: np.array([score - mended, u - mended, u]) for name, u in uncertain.items()}
    if slip := slip_of(found, patterns, 1e-6):
        return SAY[slip]
    # UNC first, for DSC is made from it
    i = next(i for i in (2, 0, 1) if not agree(found[i], wanted[i], 1e-6))
    return SAY["part"].format(part=("MCB", "DSC", "UNC")[i], **apart(found[i], wanted[i], 4))


@lru_cache(maxsize=1)
def _bold() -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return labels and logits of the forecaster of exercise 2.2."""
    honest = LogitDistortion().sample(3000, rng=22)
    return honest.y_true, logit(honest.y_prob) / 0.33


def _loss(temperature: float) -> float:
    labels, logits = _bold()
    with np.errstate(over="ignore"):  # a tiny temperature makes every forecast 0 or 1
        return log_loss(labels, expit(logits / temperature)).value


def _brier(temperature: float) -> float:
    labels, logits = _bold()
    return brier_score(labels, expit(logits / temperature)).value


def _of_wet_days(temperature: float) -> float:
    labels, logits = _bold()
    return -float(np.mean(log_expit(logits[labels == 1] / temperature)))


@cache
def _best(loss: Callable[[float], float] = _loss) -> float:
    options = {"bounds": (0.2, 10), "method": "bounded", "options": {"xatol": 1e-8}}
    return float(minimize_scalar(loss, **options).x)


def judge_temperature(answer: Any) -> str | None:
    """Judge exercise 2.2: the temperature with the smallest log loss."""
    found, best = as_number(answer, WANTED["2.2"]), _best()
    if same(found, best, 0.005):
        return None
    patterns = {
        "inverse": 1 / best,
        "logarithm": np.log(best),
        "start": 1.0,
        "known": 1 / 0.33,
        "loss": _loss(best),
        "Brier": _best(_brier),
        "wet": _best(_of_wet_days),
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
        task="Split a Brier score",
        variable="my_parts",
        judge=judge_parts,
        praise="MCB − DSC + UNC is the score of what was said, whatever the repair.",
        hints=(
            "A small function helps: `def score(p): return np.mean((p - rain) ** 2)`. The overall "
            "frequency is `rain.mean()`.",
            "MCB is the score of `said` minus that of `repaired`. UNC is the score of the overall "
            "frequency.",
            "DSC is UNC minus the score of `repaired`. End with `return mcb, dsc, unc`.",
        ),
    ),
    "2.2": Check(
        task="The temperature with the smallest log loss",
        variable="best_temperature",
        judge=judge_temperature,
        tolerance=0.005,
        praise="by its record alone, bold is found to exaggerate by a factor of three.",
        hints=(
            "Write `def loss(t): return ck.log_loss(rain, distort(bold, t)).value`.",
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
            "`ck.corp_decomposition(one.y_true, one.y_prob).discrimination` is one number each.",
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
        question="Which forecaster gets the worst (largest) Brier score?",
        options=("climate", "shy", "expert"),
        outcome="shy",
        why="Shy is right on all days but gives the truth a mere 51 %, and pays almost a quarter "
        "each day. The one who always states the climate pays less.",
        tells=(r"shy.{0,60}(worst|largest|loses|pays)|(worst|largest).{0,40}shy",),
    ),
    "2b": Prediction(
        question="Bold exaggerates, and honest does not. Which part of bold's Brier score is the "
        "price of the exaggeration, so that honest does not pay it?",
        options=("a seventh", "a half", "five sixths"),
        outcome="a seventh",
        why="On average, a number that is off by d costs d² more. Bold's d is 0.23 at most, and "
        "the mean of its d² is 0.025. That is little beside what honest pays, too: the price of "
        "weather that neither foresaw.",
        tells=(r"a seventh of|\b0\.(1885|0279)\b|here by little", r"what it did not know"),
    ),
    "2c": Prediction(
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
    "2d": Prediction(
        question="The confidence and every single class are calibrated exactly. Can renaming "
        "still raise the accuracy?",
        options=("yes", "no"),
        outcome="yes",
        why="Both notions look at one stated number at a time. The whole vector tells more than "
        "its numbers one by one, and renaming may use all of it.",
        tells=(r"leaves? room|renam[^.]{0,40}(raises|improves|gains)",),
    ),
}
