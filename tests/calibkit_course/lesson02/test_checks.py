"""Lesson 02: what its checks refuse and accept, and the numbers that its text relies on."""

from fractions import Fraction as F
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

import calibkit as ck
from calibkit import corp, fakes
from calibkit_course.lesson02 import checks as lesson02
from tests.paths import ROOT

LESSON = ROOT / "notebooks" / "02_separate_two_virtues.md"


def distances(labels: Any, rows: Any) -> Any:
    return np.asarray(rows) - np.eye(np.shape(rows)[1])[labels]


def brier(labels: Any, rows: Any) -> Any:
    return np.mean(np.sum(distances(labels, rows) ** 2, axis=1))


def by_a_loop(labels: Any, rows: Any) -> float:
    total = 0.0
    for label, row in zip(labels.tolist(), rows.tolist(), strict=True):
        total += sum((p - (k == label)) ** 2 for k, p in enumerate(row))
    return total / len(labels)


def only_own(labels: Any, rows: Any) -> Any:
    return np.mean((1 - rows[np.arange(len(labels)), labels]) ** 2)


BEST = lesson02._best()

WRONG: dict[str, list[tuple[Any, str]]] = {
    "2.1": [
        (lambda y, p: np.mean(distances(y, p) ** 2), "average over the classes"),
        (lambda y, p: np.sum(distances(y, p) ** 2), "mean of the 2 rows"),
        (lambda y, p: brier(y, p) / 2, "half of the score"),
        (only_own, "A row has 3 squares"),
        (lambda y, p: brier(y, p) + 1e-6, "should be 0.320000, but here it is 0.320001"),
        (lambda y, p: None, "one number, the score"),
        (lambda y, p: np.sqrt(brier(y, p)), "this is the root"),
        (lambda y, p: np.mean(np.abs(distances(y, p)).sum(axis=1)), "absolute"),
        (lambda y, p: np.mean((p**2).sum(axis=1)), "forget to subtract 1"),
        (lambda y, p: -brier(y, p), "cannot be negative"),
        (lambda y, p: 0.5, "should be"),
        (lambda y, p: distances(y, p) ** 2, "one number"),
        (lambda y: 0.5, "TypeError"),
        (0.42, "a number"),
    ],
    "2.2": [
        (2.0, "T = 2 is close, but not within 0.01"),
        (2.25, "Let the minimiser find it"),
        ("2.0", "T = 2 is close"),
        (minimize_scalar(lesson02._loss, bounds=(0.2, 10), method="bounded"), ".x"),
        (1 / BEST, "this is 1 / T"),
        (np.log(BEST), "this is ln T"),
        (1.0, "The log loss there is 0.6760"),
        (lesson02._best(squares=True), "minimises the Brier score"),
        (lesson02._loss(BEST), "this is the smallest log loss"),
        (1.5, "a larger T is better"),
        (4, "a smaller T is better"),
        (-BEST, "is positive"),
        ("two", "text"),
        ([2.1, 2.2], "a list of 2"),
    ],
    "2.3": [
        ("ABC", "by Brier score, log loss, accuracy and ECE"),
        ("BAC", "backwards"),
        (["C", "B", "A"], "B and A should change places"),
        ("ACB", "A and C should change places"),
        ("CA", "each of A, B and C once"),
        ("CAAB", "each of A, B and C once"),
        ([0.07, 0.05, 0.04], "the three letters in order"),
        ({"C": 1, "A": 2, "B": 3}, "a dict of 3"),
    ],
    "2.4": [
        ([0, 1, 2], "predicts already, with accuracy 2/5"),
        ([1, 2, 0], "reaches the accuracy 0"),
        (
            [2, 0, 2],
            "reaches the accuracy 8/15, and more is possible. Look again at the true "
            "probabilities of the third vector",
        ),
        ([3, 1, 2], "3 is not a class"),
        ([2, 0], "there are 2 values"),
        ([0.6, 0.6, 0.6], "is not a class"),
        (F(3, 5), "a list of three class numbers"),
    ],
}
RIGHT: dict[str, list[Any]] = {
    "2.1": [
        brier,
        by_a_loop,
        lambda y, p: np.array([brier(y, p)]),
        lambda y, p: ck.brier_score(y, p),
        lambda y, p: np.mean([np.dot(row, row) for row in distances(y, p)]),
    ],
    "2.2": [BEST, round(BEST, 2), np.array([BEST]), f"{BEST:.3f}", F(BEST).limit_denominator(200)],
    "2.3": ["cab", "C > A > B", ["C", "A", "B"], np.array(["C", "A", "B"]), pd.Series(list("CAB"))],
    "2.4": [(2, 0, 1), [2.0, 0.0, 1.0], {0: 2, 1: 0, 2: 1}.values()],
}


@pytest.fixture(scope="module")
def prose() -> str:
    """The lesson's text with line ends as spaces."""
    return " ".join(LESSON.read_text(encoding="utf-8").split())


@pytest.fixture(scope="module")
def forecasters() -> tuple[Any, dict[str, Any]]:
    sample = fakes.LogitDistortion().sample(3000, rng=22)
    logits = logit(sample.y_prob)
    said = {"honest": sample.y_prob, "bold": expit(logits / 0.33), "timid": expit(logits / 2.5)}
    return sample.y_true, said


def test_the_slide_used_base_ten() -> None:
    losses = [ck.log_loss([2], [row]).value for row in ([1 / 3] * 3, [0, 1 / 3, 2 / 3])]
    assert [round(loss / np.log(10), 3) for loss in losses] == [0.477, 0.176]
    assert [round(loss, 3) for loss in losses] == [1.099, 0.405]
    assert "1.099 and 0.405" in lesson02.PREDICTIONS["2a"].why


def test_the_best_temperature_is_found_by_another_route() -> None:
    net = fakes.LogitDistortion(slope=0.5).sample(3000, rng=22)
    grid = np.arange(1.9, 2.4, 0.001)
    losses = [ck.log_loss(net.y_true, expit(logit(net.y_prob) / t)).value for t in grid]
    assert grid[np.argmin(losses)] == pytest.approx(BEST, abs=0.001)
    # Without penalty and intercept, the slope of logistic regression is 1 / T.
    one_slope = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-8)
    one_slope.fit(logit(net.y_prob)[:, None], net.y_true)
    assert 1 / one_slope.coef_[0, 0] == pytest.approx(BEST, abs=1e-4)


def test_the_orders_of_the_three_classifiers(subtests: pytest.Subtests) -> None:
    rng = np.random.default_rng(23)
    dials: list[dict[str, Any]] = [
        {"scores": (2, 2)},
        {"slope": 1.3, "scores": (4, 4)},
        {"slope": 0.5, "shift": 1.3, "scores": (0.35, 0.9)},
    ]
    samples = [fakes.LogitDistortion(**dial).sample(5000, rng) for dial in dials]
    pairs = [(s.y_true, s.y_prob) for s in samples]
    won = [corp.corp_decomposition(*pair).discrimination for pair in pairs]
    assert [round(value, 3) for value in won] == [0.053, 0.043, 0.075]  # the last hint
    fines: list[list[float]] = [
        [ck.brier_score(*pair).value for pair in pairs],
        [ck.log_loss(*pair).value for pair in pairs],
        [ck.expected_calibration_error(*pair).value for pair in pairs],
        [np.mean((p > 0.5) != y) for y, p in pairs],
    ]
    assert "".join("ABC"[i] for i in np.argsort(won)[::-1]) == lesson02.BY_DISCRIMINATION
    for fine in fines:
        with subtests.test(fine=fine):
            assert "".join("ABC"[i] for i in np.argsort(fine)) == lesson02.BY_SCORE


@pytest.mark.slow
def test_the_texts_of_the_figures_have_the_numbers_that_are_drawn(
    forecasters: Any, prose: str
) -> None:
    rain, said = forecasters
    parts = [corp.corp_decomposition(rain, prob) for prob in said.values()]
    numbers = [f"{one.miscalibration:.4f}" for one in parts]
    fines = [f"{one.score:.4f}" for one in parts]
    words = "The miscalibration is {}, {} and {}, and the score {}, {} and {}."
    assert words.format(*numbers, *fines) in prose
    assert f"the uncertainty is {parts[0].uncertainty:.4f}" in prose
    assert f"the discrimination {parts[0].discrimination:.4f}" in prose
    biased = corp.corp_decomposition(rain, expit(logit(said["honest"]) + 1)).miscalibration
    words = "There the miscalibration is {}; bold has {}, timid {}, and the bias {:.4f}."
    assert words.format(*numbers, biased) in prose
    null = ck.null_level(corp.miscalibration, rain, said["honest"], n_draws=500, rng=1)
    words = "The observed {:.4f} lies inside, a little below the null level of {:.4f}."
    assert words.format(null.value, null.mean) in prose
    assert null.draws.min() > 0.001
