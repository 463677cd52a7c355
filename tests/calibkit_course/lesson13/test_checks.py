"""Answers to the exercises of lesson 13, wrong and right, and the numbers that it states."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import integrate, optimize
from scipy.special import expit, logit
from scipy.stats import beta

from calibkit import decisions
from calibkit.fakes import KnobClassifier
from calibkit.inputs import FloatVector
from calibkit_course import open_lesson
from calibkit_course.lesson13 import Ward, least_accuracy
from tests.paths import lesson_text

PREDICTIONS = open_lesson("13", keep=False).predictions

WARD = Ward(benefit=2, harm=6)


def knob(error: float, direction: str = "over", accuracy: float = 0.8, **dials: Any) -> Any:
    dials = {"concentration": 3} | dials
    return KnobClassifier.with_error(5, accuracy, error, direction, **dials)


# --- 13.2 --------------------------------------------------------------------------------------


def by_loop(y_true: Any, y_prob: Any, vain: float, miss: float) -> float:
    total = 0.0
    for y, p in zip(y_true, y_prob, strict=True):
        if p >= vain / (vain + miss):
            total += vain if y == 0 else 0
        elif y == 1:
            total += miss
    return total / len(y_true)


def by_package(y_true: Any, y_prob: Any, vain: float, miss: float) -> Any:
    return decisions.policy_cost(y_true, y_prob, costs=(vain, miss))


def by_actions(y_true: Any, y_prob: Any, vain: float, miss: float) -> Any:
    table = np.array([[0, miss], [vain, 0]])
    return table[decisions.best_actions(y_prob, costs=(vain, miss)), y_true].mean()


def bill(
    rule: Callable[[FloatVector, float], Any],
    prices: Callable[[float, float], Any] = lambda a, b: (a, b),
) -> Callable[..., Any]:
    def cost(y: Any, p: Any, vain: float, miss: float) -> float:
        done = rule(p, vain / (vain + miss))
        paid, lost = prices(vain, miss)
        return float(np.mean(np.where(done, paid * (y == 0), lost * (y == 1))))

    return cost


def from_t_on(p: FloatVector, t: float) -> Any:
    return p >= t


def with_right_treatments(y: Any, p: Any, vain: float, miss: float) -> Any:
    return np.mean(np.where(p >= vain / (vain + miss), vain, miss * y))


def announced(y: Any, p: Any, vain: float, miss: float) -> Any:
    return np.mean(np.minimum(vain * (1 - p), miss * p))


# --- 13.3 --------------------------------------------------------------------------------------


def budget(most: float, direction: str = "over") -> float:
    return float(
        optimize.brentq(lambda e: WARD.truth(knob(e, direction)).regret - most, 1e-6, 0.19)
    )


ORACLE = WARD.truth(knob(0.0)).oracle
BUDGET = budget(0.01 * ORACLE)

WRONG: dict[str, list[tuple[Any, str]]] = {
    "13.1": [
        (lambda s, w: w / (s + w), "the win over the sum"),
        (lambda s, w: s / w, "the odds"),
        (lambda s, w: 100 * s / (s + w), "per cent"),
        (lambda s, w: round(s / (s + w), 1), "is 0.75, not 0.80"),
    ],
    "13.2": [
        (bill(lambda p, t: p >= 0.5), "from 0.5 on"),
        (bill(lambda p, t: p >= 1 - t), "wrong way round"),
        (bill(lambda p, t: p >= t / (1 - t)), "takes the odds for the threshold"),
        (lambda y, p, a, b: len(y) * by_loop(y, p, a, b), "the sum"),
        (with_right_treatments, "charges right treatments too"),
        (bill(from_t_on, lambda a, b: (a, 0)), "missed patients are not paid"),
        (bill(from_t_on, lambda a, b: (0, b)), "in vain are not paid"),
        (bill(from_t_on, lambda a, b: (b, a)), "prices are swapped"),
        (announced, "what the model promises"),
        (bill(lambda p, t: p < t), "treats those below the threshold"),
        (lambda y, p, a, b: 1 - np.mean((p >= 0.5) == y), "the mean cost is"),
        (bill(lambda p, t: p > t), "exactly at it is treated"),
        (lambda y, p, a, b: 2 * by_loop(y, p, a, b), "by the healthy and by the sick"),  # 4 each
    ],
    "13.3": [
        (0.01 * ORACLE / 8, "the bound promises"),
        (budget(0.01), "below 0.01"),
        (budget(0.01 * ORACLE, "under"), "Take the direction `over`"),
        (2.67, "per cent"),
        (-1, "lies between 0 and 0.2 here"),
        (0.2, "of the oracle's value"),
        (BUDGET + 6e-4, "Only 1.00 % is allowed"),
        (BUDGET - 6e-4, "and 1.00 % is allowed"),
    ],
    "13.4": [
        ((knob(0.1), knob(0.1)), "at least 1.5 times"),
        ((knob(0.0), knob(0.0)), "both are calibrated"),
        ((knob(0.1), knob(0.1, accuracy=0.85)), "accuracy 0.85. Both must have 0.80"),
        ((knob(0.1), knob(0.1, accuracy=0.80001)), "accuracy 0.80001"),
        ((knob(0.1), knob(0.1002)), "errors are 0.1000 and 0.1002"),
        ((0.1, 0.1), "fake classifiers"),
    ],
    "13.5": [
        (lambda price, loss: price / loss, "the chance of a mistake"),
        (lambda price, loss: 1 - price, "only if a mistake costs 1"),
        (lambda price, loss: loss / (loss + price), "a right answer wins nothing"),
        (lambda price, loss: abs(1 - price / loss), "Always answer"),
        (lambda price, loss: 0.5, "answer from 0.875"),
    ],
}

RIGHT: dict[str, list[Any]] = {
    "13.1": [
        lambda stake, win: stake / (stake + win),
        lambda stake, win: 1 / (1 + win / stake),
        lambda stake, win: decisions.decision_threshold([[0, 0], [stake, -win]]),
    ],
    "13.2": [
        *(by_loop, by_package, by_actions, bill(lambda p, c: p >= c)),
        lambda *given: round(by_loop(*given), 4),
    ],
    "13.3": [BUDGET, 0.0267, 0.027],
    "13.4": [
        (knob(0.1), knob(0.1, "under")),
        [knob(0.1, "under"), knob(0.1)],
        # what hint 1 says, word by word, without a concentration
        [KnobClassifier.with_error(5, 0.8, 0.1, side) for side in ("over", "under")],
        (knob(0.15, concentration=1), knob(0.15, concentration=40)),
    ],
    "13.5": [
        lambda price, loss: 1 - price / loss,
        lambda price, loss: max(0.0, (loss - price) / loss),
        lambda price, loss: 1 - price / loss if price < loss else -np.inf,
    ],
}


# --- what the lesson says ----------------------------------------------------------------------


EXACT = {"calibrated": 0.5700, "over": 0.8665, "under": 0.6640}


@pytest.mark.slow
def test_the_first_experiment_has_these_exact_costs() -> None:
    """Integrated over Beta(.6, 1.4), without any sample; at one half all costs are equal."""
    law = beta(0.6, 1.4)
    said = {
        "calibrated": lambda q: q,
        "over": lambda q: expit(2 * logit(q)),
        "under": lambda q: expit(logit(q) / 2),
    }

    def cost(name: str, miss: float) -> float:
        c = 1 / (1 + miss)

        def of(u: float) -> float:
            q = float(law.ppf(u))
            return 1 - q if said[name](q) >= c else miss * q

        jump = float(law.cdf(optimize.brentq(lambda q: said[name](q) - c, 1e-9, 1 - 1e-9)))
        parts = (integrate.quad(of, 0, jump)[0], integrate.quad(of, jump, 1)[0])
        return float(sum(parts))

    assert {name: cost(name, 19) for name in said} == pytest.approx(EXACT, abs=6e-5)
    assert cost("over", 19) > 0.7 > cost("under", 19) > cost("calibrated", 19)
    assert np.ptp([cost(name, 1) for name in said]) < 1e-9
    assert cost("over", 1) == pytest.approx(0.2058, abs=2e-4)


def test_the_requirement_is_what_its_prediction_says() -> None:
    least = [least_accuracy(WARD, utility=1, error=e, concentration=3) for e in (0, 0.1)]
    assert 100 * (least[1] - least[0]) == pytest.approx(PREDICTIONS["13f"].outcome, abs=0.03)
    assert least_accuracy(WARD, utility=1, error=0.05, concentration=3) < 0.85


PRINTED = re.compile(r"([\w-]+) +0\.\d{4} +0\.\d{4} +(0\.\d{4}) +0\.\d{4}\\n")


def test_prose_and_printed_numbers_agree() -> None:
    text, stored = lesson_text("13"), lesson_text("13", ".ipynb")
    rows = dict(PRINTED.findall(stored)[:3])
    assert list(rows) == ["calibrated", "over-confident", "under-confident"]
    assert [float(cost) for cost in rows.values()] == pytest.approx([*EXACT.values()], abs=0.01)
    assert f"costs {float(rows['over-confident']):.2f}" in text
    assert f"ECE {BUDGET:.4f}" in stored
    for number in ("0.8378", "0.8480", "0.8750"):
        assert f"accuracy {number}" in stored
