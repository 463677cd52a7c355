"""Net benefit with intervals: loops, weights, clusters, coverage."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit

from calibkit.decisions import decision_curve, policy_cost
from calibkit_audit.benefit import NetBenefit, net_benefit
from calibkit_audit.clusters import clusters_of
from tests.helpers import binary_data

LEVELS = np.arange(1, 100) / 100


def over_thresholds(label, prob, against, **options) -> NetBenefit:
    """Return net benefits at all thresholds, each field as an array."""
    found = [net_benefit(label, prob, against, threshold=t, **options) for t in LEVELS.tolist()]
    return NetBenefit(*np.transpose(found))


def test_values_are_those_of_the_curve_and_intervals_are_students() -> None:
    labels, prob = binary_data(300)
    other = np.sqrt(prob)
    curve, apart, found = (
        *(decision_curve(labels, p) for p in (prob, other)),
        over_thresholds(labels, prob, other),
    )
    assert found.value == pytest.approx(curve.net_benefit, abs=1e-12)
    assert found.treat_all == pytest.approx(curve.treat_all, abs=1e-12)
    assert found.avoided == pytest.approx(curve.avoided, abs=1e-9)
    assert found.difference == pytest.approx(curve.net_benefit - apart.net_benefit, abs=1e-12)
    few = net_benefit(labels[:20], prob[:20], prob[:20], threshold=0.2, level=0.9)
    worth = (prob[:20] >= 0.2) * (labels[:20] - 0.25 * (1 - labels[:20]))
    law = stats.t.interval(0.9, 19, worth.mean(), stats.sem(worth))
    assert (few.low, few.high) == pytest.approx(law)


def test_weights_and_clusters() -> None:
    labels, prob = binary_data(300)
    other, weight = np.sqrt(prob), (np.arange(300) % 3).astype(float)
    again = np.repeat(np.arange(300), np.arange(300) % 3)
    one = over_thresholds(labels, prob, other, weight=weight)
    many = over_thresholds(labels[again], prob[again], other[again])
    for name in ("value", "difference", "treat_all"):
        assert getattr(one, name) == pytest.approx(getattr(many, name), abs=1e-12)
    twice = np.tile(np.arange(300), 2)  # each row is there twice: its copies are one cluster
    rows = labels[twice], prob[twice], other[twice]
    both = over_thresholds(*rows, clusters=clusters_of(twice, 600))
    plain = over_thresholds(labels, prob, other)
    for name in ("low", "high", "difference_low", "difference_high"):
        known = np.isfinite(getattr(plain, name))
        assert known.sum() > 30
        assert getattr(both, name)[known] == pytest.approx(getattr(plain, name)[known], abs=1e-12)


def test_where_too_few_rows_decide_there_is_no_interval() -> None:
    labels, prob = binary_data(300)
    for equal_or_worse in (prob, np.where(labels == 1, prob / 2, prob)):  # it never wins
        assert np.isnan(over_thresholds(labels, prob, equal_or_worse).difference_low).all()
    for won in (4, 5):  # of fifteen rows that decide
        model = np.where(np.arange(15) < won, 0.9, 0.1)
        found = net_benefit([1] * 15, model, 1 - model, threshold=0.5)
        assert np.isfinite(found.difference_low) == (won == 5)


@pytest.mark.long
def test_intervals_of_net_benefit_hold_the_truth_as_often_as_they_say() -> None:
    """500 sets of 2,400 rows in 800 clusters of one outcome: nominal 90 %, error 1.3."""
    rng, held = np.random.default_rng(29), np.zeros(4)
    law = np.linspace(0.0005, 0.9995, 1000)  # the true probability is uniform
    clusters = clusters_of(np.repeat(np.arange(800), 3), 2400)
    for _ in range(500):
        true = rng.random(800)
        label = np.repeat((rng.random(800) < true).astype(int), 3)
        rows = label, np.repeat(expit(logit(true) * 1.5), 3), np.repeat(true, 3)
        for k, t in enumerate((0.3, 0.7)):
            found = net_benefit(*rows, threshold=t, level=0.9, clusters=clusters)
            worth = law - t / (1 - t) * (1 - law)
            benefit = np.mean((expit(logit(law) * 1.5) >= t) * worth)
            held[k] += found.low <= benefit <= found.high
            gain = benefit - np.mean((law >= t) * worth)
            held[2 + k] += found.difference_low <= gain <= found.difference_high
    assert (held > 0.86 * 500).all() and (held < 0.94 * 500).all(), held


@pytest.mark.slow
def test_the_audit_the_policy_and_the_figure_name_one_number() -> None:
    from calibkit_audit.auditing import AuditSettings, audit

    plot = pytest.importorskip("calibkit.plot")
    labels, prob = binary_data(300)
    settings = AuditSettings(n_draws=99, n_resamples=50, repairs=())
    report = audit(labels, prob, costs={"fp": 1, "fn": 20}, settings=settings)
    paid = policy_cost(labels, prob, costs=(1, 20)).value
    assert report["costs"].numbers["cost"] == paid
    ax = report.figures()["costs"].axes[0]
    (line,) = (one for one in ax.lines if one.get_gid() == "curve")
    (mark,) = (one for one in ax.lines if one.get_gid() == "mark")
    assert mark.get_xdata()[0] == pytest.approx(1 / 21)
    assert np.interp(1 / 21, *line.get_data()) == pytest.approx(paid, abs=1e-9)
    assert "(prices sum to 21)" in ax.get_ylabel()
    assert "sum to 21" in plot.alt_text(ax)
