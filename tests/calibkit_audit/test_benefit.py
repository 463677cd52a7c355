"""Net benefit at the given prices: its value, and what its interval holds."""

from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit

from calibkit.decisions import decision_curve
from calibkit.decisions.costs import as_costs
from calibkit_audit.auditing import AuditSettings, audit
from calibkit_audit.auditing.costs import consequences_of
from calibkit_audit.auditing.rows import drop_weightless, rows_of
from tests.helpers import binary_data

PLAIN = AuditSettings()


def benefits(label: Any, prob: Any, t: float, repaired: Any = None, **told: Any) -> Any:
    """Return net benefits with the ends of their intervals: as it is, repaired, of treating all."""
    rows = drop_weightless(rows_of(label, prob, **told))
    fixed = None if repaired is None else repaired(rows.prob)
    found = consequences_of(rows, fixed, 1, as_costs((t, 1 - t), 2), PLAIN, None)
    names = [f"net_benefit{of}" for of in ("", "_repaired", "_of_all")]
    return np.array(
        [[found.numbers[name + end] for end in ("", "_low", "_high")] for name in names]
    )


@pytest.mark.parametrize("t", [0.1, 0.3, 0.5, 0.77])
def test_values_are_those_of_the_curve_and_intervals_are_students(t: float) -> None:
    labels, prob = binary_data(300)
    curve, root = (decision_curve(labels, p, thresholds=[t]) for p in (prob, np.sqrt(prob)))
    (value, low, high), repaired, every = benefits(labels, prob, t, np.sqrt)
    assert value == pytest.approx(curve.net_benefit[0], abs=1e-12)
    assert repaired[0] == pytest.approx(root.net_benefit[0], abs=1e-12)
    assert every[0] == pytest.approx(curve.treat_all[0], abs=1e-12)
    worth = (prob >= t) * (labels - t / (1 - t) * (1 - labels))
    law = stats.t.interval(0.9, 299, worth.mean(), stats.sem(worth))
    assert (low, high) == pytest.approx(law)


def test_weights_and_clusters() -> None:
    labels, prob = binary_data(300)
    weight = (np.arange(300) % 3).astype(float)
    again = np.repeat(np.arange(300), np.arange(300) % 3)
    weighted = benefits(labels, prob, 0.3, sample_weight=weight)
    repeated = benefits(labels[again], prob[again], 0.3)
    assert weighted[:, 0] == pytest.approx(repeated[:, 0], abs=1e-12)
    twice = np.tile(np.arange(300), 2)  # each row is there twice: its copies are one cluster
    both = benefits(labels[twice], prob[twice], 0.3, cluster=twice)
    assert both == pytest.approx(benefits(labels, prob, 0.3), abs=1e-12)


def test_where_fewer_than_ten_rows_decide_there_is_no_interval() -> None:
    labels = np.arange(100) % 2
    for acted in (0, 9, 10):
        prob = np.where(np.arange(100) < acted, 0.9, 0.1)
        assert np.isfinite(benefits(labels, prob, 0.5)[0]).all() == (acted != 9)
    prob = np.where(np.arange(100) < 30, 0.9, 0.1)  # thirty rows, but of six patients
    assert np.isnan(benefits(labels, prob, 0.5, cluster=np.arange(100) // 5)[0, 1:]).all()
    report = audit(labels, np.where(np.arange(100) < 9, 0.9, 0.1), costs=(1, 1), independent=True)
    assert "(too few rows, or clusters, decide for an interval)" in report["costs"].sentence


def test_rows_that_all_decide_one_way_and_could_be_turned_by_five_have_no_interval() -> None:
    """At 1:50 a repair leaves out 60 rows without an event: two events would have turned it."""
    labels, prob = (np.arange(3000) % 40 == 0) * 1, np.where(np.arange(3000) % 40 == 0, 0.3, 0.001)
    prob[(labels == 0) & (np.arange(3000) < 62)] = 0.03
    rows, costs = rows_of(labels, prob), as_costs((1, 50), 2)
    found = consequences_of(
        rows, np.where(rows.prob == 0.03, 0.01, rows.prob), 1, costs, PLAIN, None
    )
    assert found.numbers["regret"] == pytest.approx(60 / 3000)
    assert np.isnan(found.numbers["regret_low"])


def test_a_repair_that_is_worse_is_not_called_better_where_events_are_rare() -> None:
    """In 2 of 600 files of calibrated rows; by Student's interval alone in 86, nominal are 30."""
    rng, costs, better = np.random.default_rng(30), as_costs((1, 50), 2), 0
    for _ in range(60):
        prob = expit(rng.normal(-6, 1.5, 3000))
        rows = rows_of((rng.random(3000) < prob) * 1, prob)
        for shift in (-0.2, 0.2):
            worse = expit(logit(rows.prob) + shift)
            found = consequences_of(rows, worse, 1, costs, PLAIN, None).numbers
            better += found["regret_low"] > 0
    assert better <= 3


@pytest.mark.long
def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """500 sets of 2,400 rows in 800 clusters of one outcome: nominal 90 %, error 1.3."""
    rng, held, levels = np.random.default_rng(29), np.zeros((2, 2)), np.array([0.3, 0.7])
    law = np.linspace(0.0005, 0.9995, 1000)  # the true probability is uniform
    worth = law - (levels / (1 - levels))[:, np.newaxis] * (1 - law)
    for _ in range(500):
        true = rng.random(800)
        label = np.repeat((rng.random(800) < true) * 1, 3)
        prob, cluster = np.repeat(expit(logit(true) * 1.5), 3), np.repeat(np.arange(800), 3)
        for place, t in enumerate(levels):
            found = benefits(label, prob, t, lambda p: expit(logit(p) / 1.5), cluster=cluster)
            for row, slope in enumerate((1.5, 1.0)):
                benefit = np.mean((expit(logit(law) * slope) >= t) * worth[place])
                held[row, place] += found[row, 1] <= benefit <= found[row, 2]
    assert (held > 0.86 * 500).all() and (held < 0.94 * 500).all(), held
