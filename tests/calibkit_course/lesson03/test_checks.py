"""Answers to the exercises of lesson 03: wrong ones with the hint they must get, and right ones."""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit, logit

import calibkit as ck
from calibkit import fakes
from calibkit.calibrators import TemperatureScaling
from calibkit_course import data, finite, lesson03, open_lesson
from calibkit_course.lesson03.checks import judge_third_truth

PREDICTIONS = open_lesson("03", keep=False).predictions

# --- 3.1 ---------------------------------------------------------------------------------------


def machine(q: Any, t: Any, rng: Any) -> Any:
    return rng.random(len(q)) < q, (1 - t) * q + t


def with_own(seed: int | None) -> Any:
    return lambda q, t, rng: machine(q, t, np.random.default_rng(seed))


def from_said(q: Any, t: Any, rng: Any) -> Any:
    said = (1 - t) * q + t
    return rng.random(len(q)) < said, said


def saying(rule: Any) -> Any:
    """Return a machine that draws as it should, and says something else."""
    return lambda q, t, rng: (rng.random(len(q)) < q, rule(q, t))


def right_where(rule: Any) -> Any:
    """Return a machine that says what it should, and is right where the rule has it."""
    return lambda q, t, rng: (rule(q, rng.random(len(q))), (1 - t) * q + t)


# --- 3.4 ---------------------------------------------------------------------------------------


def powered(p: NDArray[np.float64], a: float) -> Any:
    return p**a / (p**a + (1 - p) ** a)


def by_bisection(said: Any, a: float, steps: int = 15) -> Any:
    low, high = np.zeros(len(said)), np.ones(len(said))
    for _ in range(steps):
        middle = (low + high) / 2
        below = powered(middle, a) < said
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2


# --- 3.3 ---------------------------------------------------------------------------------------


def two_atoms(mass: Any, confidence: Any, truth: Any) -> finite.FiniteClassifier:
    """Build a classifier from what each atom says about class 0, and what is true of it."""
    rows = [[[Fraction(str(p)), 1 - Fraction(str(p))] for p in row] for row in (confidence, truth)]
    return finite.FiniteClassifier(mass, *rows)


# The review's counterexample: class 0 errs both ways, class 1 is right, and the bound is broken.
WITHIN_A_CLASS = finite.FiniteClassifier(
    ["3/10", "1/5", "1/2"], [["3/5", "2/5"], [1, 0], [0, 1]], [[1, 0], [0, 1], [0, 1]]
)


def order(share: float, k: int = 10, accuracy: float = 0.8, **dials: Any) -> fakes.KnobClassifier:
    """Build what exercise 3.2 asks for, or nearly."""
    dials = {"direction": "pivot", "concentration": 2.0} | dials
    return fakes.KnobClassifier(k, accuracy, budget_share=share, **dials)


WRONG: dict[str, list[tuple[Any, str]]] = {
    "3.1": [
        (lambda q, t, rng: machine(q, t, rng)[::-1], "the other way round: first `right`"),
        (lambda q, t, rng: (q, (1 - t) * q + t), "holds 0 and 1, but here 0.2"),
        (saying(lambda q, t: q), "it says its true chance"),
        (saying(lambda q, t: t * q + 1 - t), "the share works the other way round"),
        (saying(lambda q, t: 0.75 * q + 0.25), "not for t = 0.5"),
        (saying(lambda q, t: (1 - t) * q + t + 1e-4 * (q < 0.3)), "it should say 0.400"),
        (from_said, "Draw from `q`, the truth"),
        (right_where(lambda q, u: u > q), "right where it should be wrong"),
        (right_where(lambda q, u: q > 0.5), "Draw: 0.6"),
        (right_where(lambda q, u: u[0] < q), "Draw one for each"),
        (right_where(lambda q, u: u < q - 0.04 * (q == 0.9)), "where q is 0.9, it should be right"),
        (with_own(None), "Take all chance from `rng`"),
        (with_own(0), "another seed gives the same"),
    ],
    "3.4": [
        (powered, "distorts once more"),
        (lambda said, a: 1 - powered(said, 1 / a), "the other class"),
        (lambda said, a: said ** (1 / a), "Divide by their sum"),
        (lambda said, a: said, "returns the reports"),
        (lambda said, a: said * a, "is not a probability"),
        (lambda said, a: said**a, "the truth is"),
        (lambda said, a: powered(said, 0.5), "Does it use the argument `a`?"),
        (lambda said, a: powered(said, 2 if a < 1 else 0.5), "a = 2, but not for a = 3"),
    ],
    "3.2": [
        (fakes.KnobClassifier(10, 0.8, budget_share=0.75), "reports 0.150, for all gaps have one"),
        (order(0.849, 10, 0.81001), "is 0.810,"),
        (order(0.15), "error for the share"),
        (order(0.6), "but 0.15"),
        (order(0.424), "upside down"),
        (order(0.849, concentration=4.0), "with another concentration"),
        (order(0.849, 5), "5 classes"),
        (
            fakes.ClassKnobs.with_directions(0.8, 5 * ("over", "under"), 10 * (0.3,)),
            "still reports 0.075",
        ),
        (fakes.KnobClassifier, "the class `KnobClassifier` (call it to make one)"),
    ],
    "3.3": [
        (two_atoms(["1/2", "1/2"], [0.9, 0.2], [0.8, 0.3]), "under-confident on average"),
        (two_atoms(["4/5", "1/5"], [0.9, 0.45], [0.95, 0.3]), "over-confident on average"),
        (two_atoms(["4/5", "1/5"], [0.6, 0.45], [1, 0]), "no predicted class is over-confident"),
        (WITHIN_A_CLASS, "no predicted class is under-confident"),
        (two_atoms(["1/2", "1/2"], [0.8, 0.3], [0.6, 0.05]), "exactly the bound"),
        (two_atoms(["1/2", "1/2"], [0.8, 0.2], [1, 0.4]), "they cancel"),
        (two_atoms(["1/2", "1/2"], [0.9, 0.2], [1, 0.4]), "more modest"),
        (two_atoms(["4/5", "1/5"], [0.6, 0.9], [1, 0.5]), "Let it predict two"),
        (fakes.KnobClassifier(5, 0.8), "a `finite.FiniteClassifier`"),
    ],
    "3.5": [
        ([0.3, 0.3, 0.4], "this atom would then be true"),
        ([0.60001, 0, 0.39999], "so 0.30000 is wanted on average, not 0.30001"),
        ([0.6, 0, 0.40001], "these sum to 1.00001, not to 1.00000"),
        ([0, 0.6, 0.4], "class 0 is stated as 0.3 twice"),
        ([0.6, 0.3, 0.1], "class 1 is stated as 0.3 twice"),
        ([0, 0.6, 0.3], "sum to 0.9, not to 1"),
        ([-0.2, 0.6, 0.6], "is not a probability"),
        ([0, "x", 0.4], "three probabilities"),
    ],
}

RIGHT: dict[str, list[Any]] = {
    "3.1": [machine, lambda q, t, rng: (rng.binomial(1, q), (q * (1 - t) + t).tolist())],
    "3.4": [
        lambda said, a: expit(logit(said) / a),
        lambda said, a: 1 / (1 + ((1 - said) / said) ** (1 / a)),
        by_bisection,
        lambda said, a: powered(said, 1 / a).round(4),
    ],
    "3.2": [
        fakes.KnobClassifier.with_error(10, 0.8, 0.15, "pivot", concentration=1),
        order(0.85, 10, 0.8),
    ],
    "3.3": [
        two_atoms(["9/10", "1/10"], [0.6, 0.2], [1, 1]),
        fakes.ClassKnobs.with_directions(0.9, ("over", "under"), (0.5, 0.9)),
    ],
    "3.5": [[0.6, 0, 0.4], ("3/5", "0", Fraction(2, 5))],
}


@pytest.mark.parametrize(
    ("alpha", "accuracy", "error"),
    [(0.03, 0.927, 0.058), (0.1, 0.808, 0.150), (0.3, 0.637, 0.273), (1.0, 0.457, 0.371)],
)
def test_the_sharpened_nets_of_the_lesson(alpha: float, accuracy: float, error: float) -> None:
    net = fakes.DirichletFake(5 * (alpha,), fakes.Power(5))
    sample = net.sample(200_000, rng=4)  # another seed than the lesson's
    excess = sample.y_prob.max(axis=1) - sample.true_prob.max(axis=1)
    assert net.truth().accuracy == pytest.approx(accuracy, abs=0.001)
    assert excess.mean() == pytest.approx(error, abs=0.002)
    assert excess.min() > -1e-9
    estimate = ck.expected_calibration_error(sample.y_true, sample.y_prob, view="top-label")
    assert estimate.value == pytest.approx(error, abs=0.004)
    assert error < 1 - accuracy


def test_the_banks_program_sees_nothing_of_a_pivot() -> None:
    errors = {}
    for share in (0, 0.2, 0.4, 0.6, 0.8, 0.95, 1):
        fake = fakes.KnobClassifier(10, 0.8, budget_share=share, direction="pivot", concentration=2)
        truth = fake.truth()
        assert truth.mean_confidence == pytest.approx(truth.accuracy, abs=1e-12)
        errors[share] = truth.expected
    assert [*errors.values()][:-1] == sorted(errors.values())[1:] and errors[1] == 0
    asked = PREDICTIONS["3c"]
    assert asked.outcome == max(asked.options, key=lambda share: errors[float(share)])
    for side, share in product(("over", "under"), (0.25, 0.5, 0.75)):  # the six trials of 3b
        one = fakes.KnobClassifier(10, 0.8, budget_share=share, direction=side).truth()
        assert abs(one.mean_confidence - one.accuracy) == pytest.approx(one.expected, abs=1e-12)


def test_without_a_common_sign_only_the_general_bound_is_left() -> None:
    atoms = [["1/5"] * 5, [0, 1, 0, 0, 0]], [[1, 0, 0, 0, 0]] * 2
    mixed = finite.FiniteClassifier(["4/5", "1/5"], *atoms, ties="lowest")
    assert (mixed.accuracy, mixed.expected_error()) == (Fraction(4, 5), Fraction(21, 25))
    assert mixed.expected_error() == 1 - mixed.accuracy / 5 > 1 - mixed.accuracy


def test_the_two_readings_swap_accuracy_and_mean_confidence() -> None:
    truth_first, said_first = (
        fakes.DirichletFake((1, 1), fakes.Power(2), reading).truth()
        for reading in ("truth-is-base", "confidence-is-base")
    )
    assert truth_first.accuracy == pytest.approx(said_first.mean_confidence, abs=1e-9)
    assert truth_first.mean_confidence == pytest.approx(said_first.accuracy, abs=1e-9)
    assert truth_first.mean_confidence > truth_first.accuracy
    assert truth_first.expected == pytest.approx(said_first.expected, abs=1e-9)


def test_only_the_mirror_image_of_the_three_atoms_hides_the_error() -> None:
    """The judge looks at two classes; here all three errors are computed, on a grid."""
    atoms, hidden = finite.example("three atoms"), []
    *first, last = [tuple(atoms.truth[k][c] for c in (0, 2, 1)) for k in (0, 2, 1)]
    for i, j in product(range(11), repeat=2):
        row = (Fraction(i, 10), Fraction(j, 10), Fraction(10 - i - j, 10))
        if row[2] >= 0:
            fake = finite.FiniteClassifier(None, atoms.confidence, (*first, row))
            verdict = judge_third_truth([float(p) for p in row])
            assert any(fake.class_wise_errors()) == (verdict is not None), row
            hidden += [row] if verdict is None else []
    assert hidden == [last]


# --- the clone -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_clones_of_a_deep_network_are_as_the_text_says() -> None:
    net = data.load("cifar10-wideresnet")
    said = np.asarray(net.y_prob, dtype=float)
    repair = TemperatureScaling("probabilities").fit(said, net.y_true)
    mixture = lesson03.DirichletMixture.fit(said).draw(100_000, rng=3)
    truth = repair.calibrate(mixture)[np.arange(len(mixture)), mixture.argmax(axis=1)]
    assert round(mixture.max(axis=1).mean(), 3) == 0.959
    assert truth.mean() == pytest.approx(0.796, abs=0.003)
    winner = said.argmax(axis=1)
    right = repair.calibrate(said)[np.arange(len(said)), winner].mean()
    assert right == pytest.approx(0.914, abs=0.003)  # the text draws rows and labels
    assert round(np.mean(winner == net.y_true), 3) == 0.911
