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


def paid(label: Any, prob: Any, t: float, repaired: Any = None, **told: Any) -> Any:
    """Return the numbers of answer 5 for acting from t on."""
    rows = drop_weightless(rows_of(label, prob, **told))
    fixed = None if repaired is None else repaired(rows.prob)
    return consequences_of(rows, fixed, 1, as_costs((t, 1 - t), 2), PLAIN, None).numbers


@pytest.mark.parametrize("t", [0.1, 0.3, 0.5, 0.77])
def test_values_are_those_of_the_curve_and_intervals_are_students(t: float) -> None:
    labels, prob = binary_data(300)
    curve, root = (decision_curve(labels, p, thresholds=[t]) for p in (prob, np.sqrt(prob)))
    found = paid(labels, prob, t, np.sqrt)
    benefits = [found[f"net_benefit{of}"] for of in ("", "_repaired", "_of_all")]
    wanted = curve.net_benefit[0], root.net_benefit[0], curve.treat_all[0]
    assert benefits == pytest.approx(wanted, abs=1e-12)
    more = np.where(labels, 1 - t, -t) * ((np.sqrt(prob) >= t) * 1.0 - (prob >= t))
    law = stats.t.interval(0.9, 299, more.mean(), stats.sem(more))
    ends = found["regret"], found["regret_low"], found["regret_high"]
    if (more > 0).sum() >= 5 and (more < 0).sum() >= 5:
        assert ends == pytest.approx((more.mean(), *law))


def test_weights_and_clusters() -> None:
    labels, prob = binary_data(300)
    weight = (np.arange(300) % 3).astype(float)
    again = np.repeat(np.arange(300), np.arange(300) % 3)
    weighted = paid(labels, prob, 0.3, sample_weight=weight)
    repeated = paid(labels[again], prob[again], 0.3)
    for name in ("net_benefit", "net_benefit_of_all", "over_ignoring"):
        assert weighted[name] == pytest.approx(repeated[name], abs=1e-12)
    twice = np.tile(np.arange(300), 2)  # each row is there twice: its copies are one cluster
    both = paid(labels[twice], prob[twice], 0.3, cluster=twice)
    assert both == pytest.approx(paid(labels, prob, 0.3), abs=1e-12, nan_ok=True)


def test_where_fewer_than_ten_rows_decide_there_is_no_interval() -> None:
    labels = (np.arange(100) + 1) % 2
    for acted in (9, 10):
        prob = np.where(np.arange(100) < acted, 0.9, 0.1)
        low = paid(labels, prob, 0.5, lambda p: 0 * p)["regret_low"]
        assert np.isfinite(low) == (acted == 10)
    prob = np.where(np.arange(100) < 30, 0.9, 0.1)  # thirty rows, but of six patients
    few = paid(labels, prob, 0.5, lambda p: 0 * p, cluster=np.arange(100) // 5)
    assert np.isnan(few["regret_low"])
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
