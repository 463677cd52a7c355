"""Net benefit with intervals: loops, weights, clusters, coverage."""

from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit

from calibkit.decisions import decision_curve, policy_cost
from calibkit.decisions.costs import as_costs
from calibkit_audit.auditing.costs import net_benefits
from calibkit_audit.auditing.rows import drop_weightless, rows_of
from tests.helpers import binary_data

LEVELS = np.arange(1, 100) / 100
ENDS = ("low", "high", "above low", "above high")


def benefits(label: Any, prob: Any, other: Any, levels: Any = LEVELS, **given: Any) -> Any:
    """Return columns of net benefits at thresholds; `other` makes the first model, of rows."""
    rows = drop_weightless(rows_of(label, prob, **given))
    models = {"other": other(rows), "one": rows.prob}
    found = [net_benefits(rows, models, as_costs((t, 1 - t), 2), 0.9) for t in levels]
    names = ("net benefit", *ENDS, "above other", "treatments avoided")
    return {name: np.array([one.columns[name][1] for one in found]) for name in names}


def root(rows: Any) -> Any:
    return np.sqrt(rows.prob)


def test_values_are_those_of_the_curve_and_intervals_are_students() -> None:
    labels, prob = binary_data(300)
    curve, apart = (decision_curve(labels, p, thresholds=LEVELS) for p in (prob, np.sqrt(prob)))
    found = benefits(labels, prob, root)
    assert found["net benefit"] == pytest.approx(curve.net_benefit, abs=1e-12)
    assert found["treatments avoided"] == pytest.approx(curve.avoided, abs=1e-9)
    gain = curve.net_benefit - apart.net_benefit
    assert found["above other"] == pytest.approx(gain, abs=1e-12)
    few = benefits(labels[:20], prob[:20], root, [0.2])
    worth = (prob[:20] >= 0.2) * (labels[:20] - 0.25 * (1 - labels[:20]))
    law = stats.t.interval(0.9, 19, worth.mean(), stats.sem(worth))
    assert (few["low"][0], few["high"][0]) == pytest.approx(law)


def test_weights_and_clusters() -> None:
    labels, prob = binary_data(300)
    weight = (np.arange(300) % 3).astype(float)
    again = np.repeat(np.arange(300), np.arange(300) % 3)
    one = benefits(labels, prob, root, sample_weight=weight)
    many = benefits(labels[again], prob[again], root)
    for name in ("net benefit", "above other", "treatments avoided"):
        assert one[name] == pytest.approx(many[name], abs=1e-12)
    twice = np.tile(np.arange(300), 2)  # each row is there twice: its copies are one cluster
    both = benefits(labels[twice], prob[twice], root, cluster=twice)
    plain = benefits(labels, prob, root)
    for name in ENDS:
        known = np.isfinite(plain[name])
        assert known.sum() > 30
        assert both[name][known] == pytest.approx(plain[name][known], abs=1e-12)


def test_where_too_few_rows_decide_there_is_no_interval() -> None:
    labels, prob = binary_data(300)

    def worse(rows: Any) -> Any:  # it never wins
        return np.where(rows.label == 1, rows.prob / 2, rows.prob)

    for other in (lambda rows: rows.prob, worse):
        assert np.isnan(benefits(labels, prob, other)["above low"]).all()
    for won in (4, 5):  # of fifteen rows that decide
        model, label = np.where(np.arange(16) < won, 0.9, 0.1), np.append(np.ones(15), 0)
        model[15] = 0.5
        found = benefits(label, model, lambda rows: 1 - rows.prob, [0.5])
        assert np.isfinite(found["above low"][0]) == (won == 5)


@pytest.mark.long
def test_intervals_of_net_benefit_hold_the_truth_as_often_as_they_say() -> None:
    """500 sets of 2,400 rows in 800 clusters of one outcome: nominal 90 %, error 1.3."""
    rng, held, levels = np.random.default_rng(29), np.zeros((2, 2)), np.array([0.3, 0.7])
    law = np.linspace(0.0005, 0.9995, 1000)  # the true probability is uniform
    worth = law - (levels / (1 - levels))[:, np.newaxis] * (1 - law)
    benefit = np.mean((expit(logit(law) * 1.5) >= levels[:, np.newaxis]) * worth, axis=1)
    gain = benefit - np.mean((law >= levels[:, np.newaxis]) * worth, axis=1)
    for _ in range(500):
        true = rng.random(800)
        label = np.repeat((rng.random(800) < true).astype(int), 3)
        prob, cluster = np.repeat(expit(logit(true) * 1.5), 3), np.repeat(np.arange(800), 3)
        true_of = lambda rows: expit(logit(rows.prob) / 1.5)  # noqa: E731
        found = benefits(label, prob, true_of, levels, cluster=cluster)
        held[0] += (found["low"] <= benefit) & (benefit <= found["high"])
        held[1] += (found["above low"] <= gain) & (gain <= found["above high"])
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
