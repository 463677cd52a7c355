"""Lesson 02: what its checks refuse and accept, and the numbers that its text relies on."""

from fractions import Fraction as F
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

import calibkit as ck
from calibkit import fakes, scores
from calibkit_course import lesson02, open_lesson
from calibkit_course.lesson02 import checks
from tests.paths import lesson_text

PREDICTIONS = open_lesson("02", keep=False).predictions


def parts(rain: Any, said: Any, repaired: Any) -> Any:
    best, base = np.mean((repaired - rain) ** 2), np.mean((rain.mean() - rain) ** 2)
    return np.mean((said - rain) ** 2) - best, base - best, base


def without_unc(rain: Any, said: Any, repaired: Any, unc: float) -> Any:
    """Return the parts with a wrong UNC, which spoils DSC."""
    mended = np.mean((repaired - rain) ** 2)
    return np.mean((said - rain) ** 2) - mended, unc - mended, unc


def by_the_package(rain: Any, said: Any, repaired: Any) -> Any:
    found = scores.corp_decomposition(rain, said)
    return found.miscalibration, found.discrimination, found.uncertainty


def turned(signs: Any) -> Any:
    return lambda *three: np.multiply(parts(*three), signs)


RECORD = fakes.LogitDistortion().sample(3000, rng=22)
LABELS, LOGITS = RECORD.y_true, logit(RECORD.y_prob) / 0.33  # of the bold one


def loss_at(t: float) -> float:
    return ck.log_loss(LABELS, expit(LOGITS / t)).value


def wet_loss_at(t: float) -> float:
    return -float(np.mean(LABELS * np.log(expit(LOGITS / t))))


BEST = minimize_scalar(loss_at, bounds=(0.2, 10)).x

WRONG: dict[str, list[tuple[Any, str]]] = {
    "2.1": [
        (lambda *three: np.array(parts(*three)) * len(three[0]), "sums over the days"),
        (lambda *three: np.array(parts(*three))[[0, 2, 1]], "the other way round"),
        (lambda *three: np.array(parts(*three))[[1, 0, 2]], "MCB and DSC stand the other way"),
        (lambda y, p, r: (np.mean((p - r) ** 2), *parts(y, p, r)[1:]), "difference of two scores"),
        (lambda y, p, r: without_unc(y, p, r, y.mean()), "the overall frequency itself"),
        (lambda y, p, r: without_unc(y, p, r, np.mean((0.5 - y) ** 2)), "not one half"),
        (lambda y, p, r: without_unc(y, p, r, np.mean((p.mean() - y) ** 2)), "the mean of `said`"),
        (turned([1, -1, 1]), "DSC has the wrong sign"),
        (turned([-1, 1, 1]), "MCB has the wrong sign"),
        (lambda y, p, r: (parts(y, p, r)[0], parts(y, p, p)[1], y.var()), "the *repaired*"),
        (lambda y, p, r: (np.mean((p - y) ** 2), *parts(y, p, r)[1:]), "the whole score"),
        (lambda y, p, r: (parts(y, p, r)[0], np.mean((r - y) ** 2), y.var()), "minus that score"),
        (lambda *three: np.add(parts(*three), [0, 1e-5, 0]), "DSC should be 0.09722"),
        (lambda y, p, r: (0, 0, 0), "UNC should be 0.2222 here, but it is 0.0000"),
        (lambda y: 0.5, "TypeError"),
    ],
    "2.2": [
        (3.0, "T = 3 is close, but not within 0.005"),
        (3.06, "makes the Brier score smallest"),
        (minimize_scalar(wet_loss_at, bounds=(0.2, 10)).x, "rainy days only"),
        (1 / BEST, "this is 1 / T"),
        (np.log(BEST), "this is ln T"),
        (1.0, "The log loss there is 0.7161"),
        (1 / 0.33, "which the owner does not know"),
        (loss_at(BEST), "this is the smallest log loss"),
        (1.5, "a larger T is better"),
        (4, "a smaller T is better"),
        (-BEST, "is positive"),
    ],
    "2.3": [
        ("ABC", "by Brier score, log loss, accuracy and ECE"),
        ("BAC", "backwards"),
        (["C", "B", "A"], "B and A should change places"),
        ("CAAB", "each of A, B and C once"),
        ([0.07, 0.05, 0.04], "the three letters in order"),
    ],
    "2.4": [
        ([0, 1, 2], "predicts already, with accuracy 2/5"),
        (
            [2, 0, 2],
            "reaches the accuracy 8/15, and more is possible. Look again at the true "
            "probabilities of the third vector",
        ),
        ([0.6, 0.6, 0.6], "is not a class"),
    ],
}
RIGHT: dict[str, list[Any]] = {
    "2.1": [parts, by_the_package, lambda *three: np.array(parts(*three)).round(7)],
    "2.2": [BEST, round(BEST, 2), np.array([BEST]), f"{BEST:.3f}", F(BEST).limit_denominator(200)],
    "2.3": ["cab", "C > A > B", ["C", "A", "B"], np.array(["C", "A", "B"]), pd.Series(list("CAB"))],
    "2.4": [(2, 0, 1), [2.0, 0.0, 1.0], {0: 2, 1: 0, 2: 1}.values()],
}


def test_the_slide_used_base_ten() -> None:
    losses = [ck.log_loss([2], [row]).value for row in ([1 / 3] * 3, [0, 1 / 3, 2 / 3])]
    assert [round(loss / np.log(10), 3) for loss in losses] == [0.477, 0.176]
    assert [round(loss, 3) for loss in losses] == [1.099, 0.405]
    assert "0.477 and 0.176" in lesson_text("02")


def test_the_brier_scores_of_the_slide() -> None:
    rows = ([1 / 3] * 3, [0, 1 / 3, 2 / 3], [0, 0, 1])
    found = [ck.brier_score([2], [row]).value for row in rows]
    assert found == pytest.approx([2 / 3, 2 / 9, 0], abs=1e-15)


def test_the_best_temperature_is_found_by_another_route() -> None:
    grid = np.arange(2.8, 3.3, 0.001)
    assert grid[np.argmin([loss_at(t) for t in grid])] == pytest.approx(BEST, abs=0.001)
    assert round(BEST) == 3  # what the vineyard divides by
    # Without penalty and intercept, the slope of logistic regression is 1 / T.
    one_slope = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-8)
    one_slope.fit(LOGITS[:, None], LABELS)
    assert 1 / one_slope.coef_[0, 0] == pytest.approx(BEST, abs=1e-4)


def test_the_orders_of_the_three_classifiers() -> None:
    rng = np.random.default_rng(23)
    dials: list[dict[str, Any]] = [
        {"scores": (2, 2)},
        {"slope": 1.3, "scores": (4, 4)},
        {"slope": 0.5, "shift": 1.3, "scores": (0.35, 0.9)},
    ]
    samples = [fakes.LogitDistortion(**dial).sample(5000, rng) for dial in dials]
    pairs = [(s.y_true, s.y_prob) for s in samples]
    won = [scores.corp_decomposition(*pair).discrimination for pair in pairs]
    assert [round(value, 3) for value in won] == [0.053, 0.043, 0.075]  # the last hint
    fines: list[list[float]] = [
        [ck.brier_score(*pair).value for pair in pairs],
        [ck.log_loss(*pair).value for pair in pairs],
        [ck.expected_calibration_error(*pair).value for pair in pairs],
        [np.mean((p > 0.5) != y) for y, p in pairs],
    ]
    assert "".join("ABC"[i] for i in np.argsort(won)[::-1]) == checks.BY_DISCRIMINATION
    for fine in fines:
        assert "".join("ABC"[i] for i in np.argsort(fine)) == checks.BY_SCORE


@pytest.mark.slow
def test_the_texts_of_the_figures_have_the_numbers_that_are_drawn() -> None:
    prose = " ".join(lesson_text("02").split())
    rain, honest = LABELS, RECORD.y_prob
    said = honest, expit(LOGITS), expit(logit(honest) / 2.5)
    splits = [scores.corp_decomposition(rain, prob) for prob in said]
    numbers = [f"{one.miscalibration:.4f}" for one in splits]
    known, all_there_is = splits[1].discrimination, splits[1].uncertainty
    assert f"a discrimination of {all_there_is:.4f}. It has {known:.4f}, a third." in prose
    biased = scores.corp_decomposition(rain, expit(logit(honest) + 1)).miscalibration
    words = "There the miscalibration is {}; bold has {}, timid {}, and the bias {:.4f}."
    assert words.format(*numbers, biased) in prose
    null = ck.null_level(scores.miscalibration, rain, honest, n_draws=500, rng=1)
    words = "The observed {:.4f} lies inside, a little below the null level of {:.4f}."
    assert words.format(null.value, null.mean) in prose
    assert null.draws.min() > 0.001


# --- the outcome is not one seed's luck ---------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_a_constant_moves_the_accuracy_and_not_the_auc(seed: int) -> None:
    sample = fakes.LogitDistortion().sample(3000, rng=seed)
    high = expit(logit(sample.y_prob) + 1)
    low, up = (np.mean((p > 0.5) == sample.y_true) for p in (high, sample.y_prob))
    assert low < up - 0.03
    assert roc_auc_score(sample.y_true, high) == roc_auc_score(sample.y_true, sample.y_prob)
    undo = minimize_scalar(
        lambda t: ck.log_loss(sample.y_true, expit(logit(sample.y_prob) / 0.33 / t)).value,
        bounds=(0.2, 10),
        method="bounded",
    ).x
    assert round(undo) == 3  # so that the vineyard is told the same by each record
    sold, repaired = (
        np.where(said >= 0.15, 6_000, 40_000 * sample.y_true).mean()
        for said in (expit(logit(sample.y_prob) / t) for t in (0.33, 0.33 * 3))
    )
    assert repaired < 5_700 < 6_300 < sold  # and 6,000 without any forecast


def test_the_three_forecasters() -> None:
    wet = np.array([1] * 6 + [0] * 54 + [1] * 24 + [0] * 16)
    shy, expert = np.where(wet == 1, 0.51, 0.49), np.array([0.10] * 60 + [0.60] * 40)
    scores = [ck.brier_score(wet, said).value for said in (np.full(100, 0.3), shy, expert)]
    assert scores == pytest.approx([0.21, 0.2401, 0.15], abs=1e-12)
    assert PREDICTIONS["2a"].outcome == ["climate", "shy", "expert"][np.argmax(scores)]
    assert ck.brier_score(wet, (shy > 0.5).astype(float)).value == 0
    best = min(ck.brier_score(wet, np.full(100, p)).value for p in np.linspace(0, 1, 101))
    assert best == pytest.approx(scores[0], abs=1e-12)


# --- the explorer --------------------------------------------------------------------------------


@lru_cache
def seen(**values):
    """Return the view of one state: many tests look at the same."""
    return lesson02.distort_me_view(**values)


def ends():
    """Return the states with one control at one of its ends."""
    controls = lesson02.distort_me().controls
    return [{c.name: value} for c in controls for value in (c.values[0], c.values[-1])]


class TestView:
    def test_the_ranking_and_two_of_the_parts_never_move(self):
        still = seen()
        for state in (state for state in ends() if "start" not in state):
            moved = seen(**state)
            assert np.array_equal(moved.false_alarms, still.false_alarms)
            assert np.array_equal(moved.hits, still.hits) and moved.area == still.area
            for part in ("discrimination", "uncertainty"):
                same = pytest.approx(getattr(still.parts, part), abs=1e-12)
                assert getattr(moved.parts, part) == same
            assert moved.parts.miscalibration > 5 * still.parts.miscalibration

    def test_only_the_bias_moves_the_threshold(self):
        still, hot = (seen(temperature=t) for t in (1.0, 3.0))
        high = seen(bias=1.0)
        assert hot.at_half == still.at_half and hot.accuracy == still.accuracy
        assert high.at_half[0] > still.at_half[0] and high.at_half[1] > still.at_half[1]

    def test_two_of_over_confident_is_about_calibrated(self):
        offered = lesson02.distort_me().controls[0].values
        assert {1.75, 2.0, 2.25, 2.5} <= set(offered)  # the log loss is convex in 1 / T
        losses = {t: seen(temperature=t, start="over-confident").log_loss for t in offered[6:11]}
        assert {1.75, 2.0, 2.25, 2.5} <= set(losses)
        assert min(losses, key=losses.get) in (2.0, 2.25)
