"""The judge's bench against the formulas of the literature and against its own truth."""

import numpy as np
import pytest

from calibkit_audit.rate import two_error_rates
from calibkit_course.lesson15 import judge_bench_view, view


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
