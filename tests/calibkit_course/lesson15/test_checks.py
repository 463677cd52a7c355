"""Answers to the exercises of lesson 15, wrong and right, and the numbers that it states."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, logit

from calibkit.inputs import FloatVector
from calibkit_audit.rate import two_error_rates
from calibkit_course import open_lesson
from calibkit_course.lesson15 import answers, judge_bench_view, view
from calibkit_course.lesson15.checks import shift_of
from tests.paths import lesson_text

PREDICTIONS = open_lesson("15", keep=False).predictions


def shifted(judge: FloatVector, checked: FloatVector, label: FloatVector, sign: int = 1) -> Any:
    return expit(logit(judge) + sign * shift_of(checked, label)).mean()


def by_means(judge: FloatVector, checked: FloatVector, label: FloatVector) -> Any:
    return expit(logit(judge) + logit(label.mean()) - logit(checked.mean())).mean()


def by_mean_logit(judge: FloatVector, checked: FloatVector, label: FloatVector) -> Any:
    return expit(logit(judge) + logit(label.mean()) - logit(checked).mean()).mean()


def weighted(weigh: Callable[[FloatVector], FloatVector], sign: int = 1) -> Callable[..., Any]:
    """Return an answer to 15.3 with weights from chances."""
    return lambda judge, checked, label, chance: (
        judge.mean() + sign * np.average(label - checked, weights=weigh(chance))
    )


def needed(error: float) -> Callable[..., Any]:
    """Return an answer to 15.4 for this standard error."""
    return lambda judge, s, y: (y - s).var() / (error**2 - judge.var() / len(judge))


def inverse(chance: FloatVector) -> FloatVector:
    return 1 / chance


WRONG: dict[str, list[tuple[Any, str]]] = {
    "15.1": [
        (lambda judge, checked, label: judge.mean(), "the judge's own scores"),
        (lambda judge, checked, label: label.mean(), "mean of the labels"),
        (lambda judge, checked, label: judge.mean() + (label - checked).mean(), "leave [0, 1]"),
        (lambda judge, checked, label: shifted(judge, checked, label, -1), "the wrong way"),
        (lambda judge, checked, label: shift_of(checked, label), "the shift b"),
        (by_means, "logits of two means"),
        (by_mean_logit, "mean of the *scores*"),
        (lambda *rows: round(shifted(*rows), 2), "should be 0.749, but here it is 0.750"),
    ],
    "15.2": [
        (0.18, "Divide by what is left"),
        (0.873, "good answers that fail alone"),
        (0.1856, "this divides by 0.97"),
        (0.62 / 0.69, "*fail*"),
        (0.28, "share of bad answers"),
        (72, "per cent"),
        (0.5, "0.50 is not the rate"),
    ],
    "15.3": [
        (lambda judge, checked, label, chance: judge.mean(), "the judge's own scores"),
        (weighted(np.ones_like), "takes all labels alike"),
        (weighted(np.asarray), "1 / chance"),
        (lambda j, s, y, chance: np.average(y, weights=1 / chance), "without the judge"),
        (weighted(inverse, -1), "other way round"),
        (lambda judge, checked, label, chance: 0.2, "should be"),
    ],
    "15.4": [
        (lambda judge, s, y: (y - s).var() / (0.02 / 1.96) ** 2, "which no label lowers"),
        (lambda judge, s, y: y.var() / (0.02 / 1.96) ** 2, "people alone"),
        (needed(0.01 / 1.96), "half of it"),
        (needed(0.02), "1.96 of them"),
        (lambda judge, s, y: 100, "should be"),
    ],
}  # fmt: skip

RIGHT: dict[str, list[Any]] = {
    "15.1": [shifted, lambda *rows: np.round(shifted(*rows), 4)],
    "15.2": [0.72, 0.18 / 0.25, np.float32(0.72)],
    "15.3": [
        weighted(inverse),
        lambda judge, s, y, chance: judge.mean() + ((y - s) / chance).sum() / len(judge),
    ],
    "15.4": [needed(0.02 / 1.96), lambda *rows: int(np.ceil(needed(0.02 / 1.96)(*rows)))],
}


def test_the_judge_errs_as_the_lesson_says() -> None:
    """And the room's answers are those of the page, which draws them in the open."""
    score, people = answers(400_000, np.random.default_rng(0))
    assert people.mean() == pytest.approx(0.71, abs=0.003)
    assert score.mean() == pytest.approx(0.84, abs=0.003)
    passed = [(score > 0.5)[people == kind].mean() for kind in (1, 0)]
    assert passed == pytest.approx([0.97, 0.72], abs=0.005)
    assert (score > 0.5).mean() == pytest.approx(0.90, abs=0.005)


def test_the_outcomes_are_what_the_lesson_prints() -> None:
    """All ways but the judge alone hold, even by nonsense; labels of another model seldom do."""
    page = lesson_text("15", ".ipynb")
    rows = re.findall(r'"([a-z -]+?) +(\d+) of 300, ± (0\.\d+)', page)
    held = {name: int(count) for name, count, _ in rows}
    half = {name: float(width) for name, _, width in rows}
    assert len(rows) == 4 and held.pop("judge alone") == 0
    assert all(275 <= count <= 295 for count in held.values())
    assert half["prediction-powered"] < half["people alone"] < half["with nonsense"]
    stale = re.findall(r'"([a-z -]+?) +(\d+) +(\d+) +(\d+)\\n', page)
    worse, fluent, both = ({name: int(row[k]) for name, *row in stale} for k in range(3))
    assert len(stale) == 4 and max(both.values()) < 200
    others = {*held} - {"people alone", "with nonsense"}
    assert all(worse[name] > 240 and fluent[name] < 100 for name in others)
    more = re.findall(r'"([a-z_]+) +± (0\.\d+), holds in (\d+) of 300', page)
    assert len(more) == 3 and all(275 <= int(count) <= 295 for *_, count in more)
    assert float(more[2][1]) > 2 * float(more[0][1]) == 2 * float(more[1][1])
    assert PREDICTIONS["15e"].outcome == "people alone"
    assert worse["people alone"] < 200 < 275 < fluent["people alone"]


def test_the_judge_sees_progress_where_people_see_a_fall() -> None:
    (old, passed_before), (new, passed) = (
        answers(400_000, np.random.default_rng(1), **more) for more in (view.OLDER, {})
    )
    assert new.mean() - old.mean() == pytest.approx(0.02, abs=0.004)
    assert passed.mean() - passed_before.mean() == pytest.approx(-0.067, abs=0.004)
    assert PREDICTIONS["15d"].outcome == "down"


@pytest.mark.slow
def test_other_answers_tell_more_than_other_readers() -> None:
    """As 15f says, with twenty other draws."""
    for seed in range(20):
        width = []
        for people in (5, 1):
            rng = np.random.default_rng(seed)
            good = rng.normal(view.QUALITY, view.SPREAD, 1000 // people)
            score = expit(good + view.BIAS + rng.normal(size=len(good)))
            gap = rng.binomial(people, expit(good)) / people - score
            width.append(gap.std() / np.sqrt(len(gap)))
        assert width[1] < width[0], seed


# --- the explorer --------------------------------------------------------------------------------


def test_the_true_rate_is_that_of_many_answers() -> None:
    _, people = view.answers(1_000_000, np.random.default_rng(1))
    assert people.mean() == pytest.approx(view.true_rate(), abs=0.002)


def test_intervals_by_two_error_rates_are_those_of_the_audit() -> None:
    score, people = view.answers(500, np.random.default_rng(2))
    verdict, label = (score > 0.5).astype(float), np.where(np.arange(500) < 90, people, np.nan)
    wanted = two_error_rates(verdict, label, 0.95)[1:]
    assert view._two_rates(score > 0.5, score[:90] > 0.5, people[:90]) == pytest.approx(wanted)
    assert np.isnan(view._two_rates(score > 0.5, score[:90] > 0.5, np.ones(90))).all()


def test_fresh_labels_hold_and_old_ones_do_not() -> None:
    """Over ten benches of 100 studies: nominal 95, less what a normal interval lacks."""
    fresh = sum(judge_bench_view(labels=200, seed=seed).hits for seed in range(10))
    assert fresh[0] == 0 and (fresh[1:] > 915).all() and (fresh[1:] < 980).all()
    stale = judge_bench_view(labels=200, source="an older model").hits
    assert (stale < 70).all()


def test_a_judge_who_sees_nothing_costs_more_than_no_judge() -> None:
    half = judge_bench_view(labels=200, judge="nearly blind").half
    assert half[2] > half[3] and judge_bench_view(labels=200).half[2] < half[3]
