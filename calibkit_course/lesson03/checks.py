"""Lesson 03, Make miscalibration to order: checks and predictions."""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.fakes import ClassKnobs, KnobClassifier, Power
from calibkit_course.finite import FiniteClassifier
from calibkit_course.learn import answers
from calibkit_course.learn.answers import Almost, same, wrong_kind
from calibkit_course.learn.drawing import Drawing
from calibkit_course.learn.exercises import Check, Prediction
from calibkit_course.lesson03.machine import judge_machine

TITLE = "Make miscalibration to order: fake classifiers"
SECOND = "3.3 3.4 3.5 3e 3f 3g"  # what the second notebook asks

SAY = {
    # 3.4
    "map": "an array with one true probability per report",
    "map call": "`true_map(said, {a:g})`",
    "forward": "this distorts once more. The report is `h(true)`: you have to undo h.",
    "mirrored": "this is the probability of the other class.",
    "no sum": "the probabilities of the two classes do not sum to 1. Divide by their sum.",
    "identity": "this returns the reports. With a = {a:g} they are not the truth.",
    "outside": "{found:.3f} is not a probability.",
    "fixed": (
        "this is right for a = {first:g}, but not for a = {a:g}. Does it use the argument `a`?"
    ),
    "off": (
        "where {said:.2f} is said with a = {a:g}, the truth is {wanted}, but here it is {found}."
    ),
    # 3.2
    "knob": "a classifier such as `fakes.KnobClassifier(10, …)`",
    "classes": "this has {found} classes, but the order is for 10.",
    "accuracy": "the accuracy is {found}, but {wanted} was ordered.",
    "seen": "the program reports {found}, for all gaps have one sign. Use the third direction.",
    "partly seen": "the program still reports {found}. The gaps must cancel.",
    "error": "the true ECE is {found}, but {wanted} was ordered. It grows with the share.",
    "share for error": "you took the error for the share. A share of 0.6 makes an error of 0.106.",
    "inverse": "this is 0.6 · 0.106 / 0.15, upside down. More error takes a larger share than 0.6.",
    "concentration": "the share is right for the concentration 2. Set `concentration=2`.",
    # 3.3
    "breaker": "a `finite.FiniteClassifier`, or `fakes.ClassKnobs`",
    "one class": "it always predicts the same class. Let it predict two.",
    "no over": "no predicted class is over-confident on average. Let one promise too much.",
    "no under": "no predicted class is under-confident on average. Let one promise too little.",
    "one-sided": "the bound is broken, but no predicted class is {side}-confident on average.",
    "cancel": "both sides are off, but where they state the same confidence they cancel.",
    "equal": "the error is {found}, exactly the bound. It must exceed it.",
    "below": (
        "the error is {found} and the bound {wanted}: it still holds. Make the modest class more "
        "modest."
    ),
    # 3.5
    "atom": "three probabilities that sum to 1",
    "sum": "these sum to {found}, not to {wanted}.",
    "sign": "{found} is not a probability.",
    "honest": "this atom would then be true, and nothing would make up for the other two.",
    "class off": "class {k} is stated as 0.3 twice, so {wanted} is wanted on average, not {found}.",
}


_POWERS = (2.0, 0.5, 3.0)
_GRID_ROUNDING = 1e-4


def judge_map(answer: Any) -> str | None:
    """Judge exercise 3.4: the inverse of the binary power distortion, on a grid."""
    function = answers.as_function(answer)
    said = np.arange(1, 50) / 50
    for a in _POWERS:
        with np.errstate(all="ignore"):
            result = answers.call(function, said, a, shown=SAY["map call"].format(a=a))
        found = answers.as_numbers(result, SAY["map"], len(said))
        problem = _map_problem(found, said, a)
        if problem is not None:
            return problem if a == _POWERS[0] else SAY["fixed"].format(first=_POWERS[0], a=a)
    return None


def _map_problem(found: NDArray[np.float64], said: NDArray[np.float64], a: float) -> str | None:
    wanted = _powered(said, 1 / a)
    if answers.agree(found, wanted, _GRID_ROUNDING):
        return None
    known = {
        "forward": _powered(said, a),
        "mirrored": 1 - wanted,
        "no sum": said ** (1 / a),
        "identity": said,
    }
    if slip := answers.slip_of(found, known, _GRID_ROUNDING):
        return SAY[slip].format(a=a)
    outside = found[(found < 0) | (found > 1)]
    if len(outside):
        return SAY["outside"].format(found=outside[0])
    i = int(np.abs(found - wanted).argmax())
    return SAY["off"].format(said=said[i], a=a, **answers.apart(found[i], wanted[i]))


def _powered(prob: NDArray[np.float64], a: float) -> NDArray[np.float64]:
    return Power(a)(np.column_stack([prob, 1 - prob]))[:, 0]


def judge_order(answer: Any) -> str | None:
    """Judge exercise 3.2: ten classes, accuracy 0.8, an error of 0.15 that no mean shows."""
    if not isinstance(answer, KnobClassifier | ClassKnobs | FiniteClassifier):
        raise wrong_kind(answer, SAY["knob"])
    if answer.n_classes != 10:
        return SAY["classes"].format(found=answer.n_classes)
    accuracy, said, error = _values(answer)
    if not same(accuracy, 0.8, 0.01):
        return SAY["accuracy"].format(**answers.apart(accuracy, 0.8))
    seen = abs(said - accuracy)
    if seen >= 0.0005:  # what prints as 0.000 is not seen
        key = "seen" if same(error, seen, 1e-6) else "partly seen"
        return SAY[key].format(found=f"{seen:.3f}")
    if same(error, 0.15, 0.01):
        return None
    per_share = KnobClassifier(10, 0.8, direction="pivot", concentration=2).room
    wide = KnobClassifier(10, 0.8, direction="pivot").room
    slips = {
        "share for error": per_share * 0.15,
        "inverse": per_share * 0.6 * 0.106 / 0.15,
        "concentration": wide * 0.15 / per_share,
    }
    slip = answers.slip_of(error, slips, 1e-3) or "error"
    return SAY[slip].format(**answers.apart(error, 0.15))


def _values(fake: KnobClassifier | ClassKnobs | FiniteClassifier) -> tuple[float, float, float]:
    """Return accuracy, mean confidence and expected calibration error."""
    if isinstance(fake, FiniteClassifier):
        return float(fake.accuracy), float(fake.mean_confidence), float(fake.expected_error())
    truth = fake.truth()
    return truth.accuracy, truth.mean_confidence, truth.expected


def judge_breaker(answer: Any) -> str | None:
    """Judge exercise 3.3: over- and under-confident by class, above the bound."""
    if not isinstance(answer, FiniteClassifier | ClassKnobs):
        raise wrong_kind(answer, SAY["breaker"])
    gaps = _gaps_by_class(answer)
    accuracy, _, error = _values(answer)
    if len(gaps) < 2:
        return SAY["one class"]
    broken = error > 1 - accuracy + 1e-12
    for side, found in (("over", max(gaps) > 1e-12), ("under", min(gaps) < -1e-12)):
        if not found:
            return SAY["one-sided" if broken else f"no {side}"].format(side=side)
    return None if broken else _below(answer, error, 1 - accuracy)


def _below(answer: FiniteClassifier | ClassKnobs, error: float, bound: float) -> str:
    if isinstance(answer, FiniteClassifier):
        by_class = float(answer.label_conditional_error())
    else:
        by_class = answer.truth().label_conditional
    if error < by_class - 1e-9:
        return SAY["cancel"]
    if same(error, bound, 1e-12):
        return SAY["equal"].format(found=f"{error:.3g}")
    return SAY["below"].format(**answers.apart(error, bound))


def _gaps_by_class(fake: FiniteClassifier | ClassKnobs) -> list[float]:
    """Return mean confidence minus accuracy for each class that is predicted."""
    if isinstance(fake, ClassKnobs):
        known = [knob.truth() for knob in fake.knobs]
        return [truth.mean_confidence - truth.accuracy for truth in known]
    gaps: dict[int, Fraction] = {}
    rows = zip(fake.mass, fake.confidence, fake.truth, fake.predicted, strict=True)
    for mass, said, true, k in rows:
        gaps[k] = gaps.get(k, Fraction(0)) + mass * (said[k] - true[k])
    return [float(gap) for gap in gaps.values()]


_STATED = tuple(
    tuple(Fraction(text) for text in row)
    for row in (("0.4", "0.3", "0.3"), ("0.3", "0.4", "0.3"), ("0.3", "0.3", "0.4"))
)
_TRUE = tuple(
    tuple(Fraction(text) for text in row) for row in (("0.4", "0.6", "0"), ("0", "0.4", "0.6"))
)
_ROUNDING = 1e-6  # single precision


def judge_third_truth(answer: Any) -> str | None:
    """Judge exercise 3.5: the truth of the third atom that hides the error of all classes."""
    entries = answers.as_list(answer, SAY["atom"], 3)
    row = [answers.as_probability(entry, SAY["atom"]) for entry in entries]
    if min(row) < 0 or max(row) > 1:
        raise Almost(SAY["sign"].format(found=f"{min(row) if min(row) < 0 else max(row):g}"))
    if not same(sum(row), 1, _ROUNDING):
        return SAY["sum"].format(**answers.apart(sum(row), 1, 1))
    if np.allclose(row, [float(p) for p in _STATED[2]], rtol=0, atol=_ROUNDING):
        return SAY["honest"]
    # Classes 0 and 1 state 3/10 twice, in the third atom and in one of the others.
    for k, other in ((0, 1), (1, 0)):
        mean = (float(_TRUE[other][k]) + row[k]) / 2
        if not same(mean, 0.3, _ROUNDING):
            return SAY["class off"].format(k=k, **answers.apart(mean, 0.3, 2))
    return None


CHECKS = {
    "3.1": Check(
        task="Build the machine",
        variable="make_fake",
        judge=judge_machine,
        hints=(
            "`rng.random(len(q))` draws a number from 0 to 1 for each prediction. How often is it "
            "below 0.8?",
            "`right = rng.random(len(q)) < q`. What is said is `(1 - t) * q + t`, and it plays no "
            "part in the draw.",
        ),
        praise="the outcomes come from the truth. What is said about it is another matter.",
    ),
    "3.2": Check(
        task="Fool the program, to order",
        variable="my_fake",
        judge=judge_order,
        hints=(
            "At a share of 0.6 the true ECE is 0.106. How much is that per unit of the share?",
            "It is 0.106 / 0.6 per unit, and 0.15 is wanted. The share is 0.6 · 0.15 / 0.106.",
        ),
        praise="it is delivered as ordered: 15 points off, and the program reports 0.000.",
        tolerance=0.01,
    ),
    "3.3": Check(
        task="Break the bound",
        variable="bound_breaker",
        judge=judge_breaker,
        hints=(
            "Keep the accuracy high, so that the bound 1 − accuracy is low. Who can be far off?",
            "A class that is always right and says 0.6 adds 0.4 of its mass to the error. Let "
            "the other class be over-confident, at another confidence.",
        ),
        praise="modesty counts as error too, and the bound only limits boasting.",
    ),
    "3.4": Check(
        task="Derive the true map of a power",
        variable="true_map",
        judge=judge_map,
        tolerance=_GRID_ROUNDING,
        hints=(
            "On the odds `p / (1 - p)`, the distortion is a plain power a. How do you undo that?",
            "The power 1/a undoes it: the same formula, with 1/a in place of a.",
        ),
        praise="the true map is the inverse distortion, because the truth came first.",
    ),
    "3.5": Check(
        task="Hide a miscalibration",
        variable="third_truth",
        judge=judge_third_truth,
        hints=(
            "Class 0 states 3/10 in the second and third atoms. Its truth must be 3/10 on average.",
            "In the second atom the truth of class 0 is 0, so in the third it is 0.6. Now do "
            "class 1.",
        ),
        praise="every class is right on average, and every vector is wrong.",
        tolerance=_ROUNDING,
    ),
}

PREDICTIONS = {
    "3e": Prediction(
        question="You turn up the concentration. What happens to the line on which the points lie?",
        options=("it rises", "it falls", "it stays"),
        outcome="it stays",
        why="The concentration does not occur in the true map. The chances of being right huddle "
        "around their mean, and the points with them, along the same line.",
        tells=(r"does not touch the line|huddle along|line (stays|does not move)|same line",),
    ),
    "3g": Prediction(
        question="The reports come first, and the truth is their square, rescaled. Are the reports "
        "over-confident or under-confident?",
        options=("over-confident", "under-confident"),
        outcome="under-confident",
        why="Squaring moves a vector towards the corners. Here the truth is the squared one, so it "
        "is the more extreme of the two, and the reports are too modest.",
        tells=(
            r"reports .{0,40}too modest|truth .{0,30}(bolder|more extreme)",
            r"(comes|is) second.{0,60}under-confident|under-confident.{0,60}second",
        ),
    ),
    "3f": Prediction(
        question="A classifier of five classes with an accuracy of 80 % is always "
        "under-confident. What is its largest possible error?",
        outcome=60,
        unit="percentage points",
        why="The largest of five probabilities is at least a fifth, so the mean confidence falls "
        "short of the accuracy by at most 60 points. For a classifier that is always "
        "under-confident, this distance is the error.",
        tells=(
            r"at most 60|at least a fifth|times the room|room for (boasting|modesty)|\\le 1 - ",
            r"pure guessing|accuracy [−-] 1/K",
        ),
    ),
    "3a": Drawing(
        question="A boaster with a share of one half says what lies half-way from its chance to 1. "
        "Draw how often it is right where it says about 0.55, 0.6, … 0.95.",
        x=tuple(twentieths / 20 for twentieths in range(11, 20)),
        axes=("confidence", "share right"),
        why="Who says Z has the chance Q = 2 Z − 1. So the line is twice as steep as the diagonal, "
        "and meets it at 1. The lower its confidence, the larger its gap.",
        tells=(r"twice as steep|2 ?Z [−-] 1",),
    ),
    "3b": Prediction(
        question="The bank's program compares two numbers, mean confidence and accuracy. In how "
        "many of six trials does it hit the true error?",
        options=("one", "three", "six"),
        outcome="six",
        why="Each of these fakes errs to one side only: it always says too much, or always too "
        "little. Then the mean of its gaps is as large as the mean of their sizes, which is the "
        "ECE.",
        tells=(r"last (printed )?digit|same sign|all six|right in six",),
    ),
    "3c": Prediction(
        question="The program reports 0.000 for a fake with a share of 60 %. How large is its true "
        "ECE?",
        unit="percentage points",
        outcome=10.6,
        why="Low confidences are too high, high ones too low. The signed gaps cancel in the mean, "
        "and the error adds up their sizes.",
        tells=(
            r"is not calibration|prove nothing|gaps? cancel|cancel in the mean|fools them",
            r"\b0\.106\b|\b10\.6\b|opposite sign",
        ),
    ),
    "3d": Prediction(
        question="The program now compares confidence and accuracy in two bins, below one half and "
        "above. What does it report of the pivot, whose true ECE is 0.106?",
        options=("about 0", "about 0.05", "about 0.11"),
        outcome="about 0",
        why="The pivot says 0.48 + 0.4 Q, which lies between 0.52 and 0.88. So all customers fall "
        "into the upper bin, and there the gaps cancel as before. What parts them is an edge near "
        "0.8, where they change sign.",
        tells=(r"upper bin|inside a bin|edge parts|an edge (near|at) 0\.8",),
    ),
}
