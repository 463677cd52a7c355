"""Mean and weak calibration and net benefit, as an audit and a comparison say them."""

import json

import numpy as np
import pytest

from calibkit.decisions import decision_curve
from calibkit_audit import AuditSettings, audit, compare
from calibkit_audit.clinic import calibration_slope, observed_expected_ratio
from tests.helpers import binary_data, class_data

Y, P = binary_data(400)
QUICK = AuditSettings(n_draws=99)


@pytest.mark.long
def test_an_audit_says_them(subtests) -> None:
    cluster = np.arange(400) // 4
    report = audit(Y, P, costs=(1, 4), cluster=cluster, settings=QUICK)
    how = {"level": 0.9, "cluster": cluster}
    slope = calibration_slope(Y, P, **how)
    last = [float(report.weak.columns[name][-1]) for name in ("value", "low", "high")]
    assert last == [slope.value, slope.low, slope.high]
    assert report.benefit is not None
    value, low, high = (report.benefit.columns[name][0] for name in ("net benefit", "low", "high"))
    worth = decision_curve(Y, P, thresholds=0.2).net_benefit[0]
    assert report["costs"].numbers["net_benefit"] == value == pytest.approx(worth, abs=1e-12)
    said = f"{value:.4f} (90 % interval {low:.4f} to {high:.4f})"
    text = " ".join(report.text().split())
    for words in (f"slope {slope.value:.3f}", "Net benefit: right treatments", said):
        for page in (text, report.to_html().replace("&nbsp;", " ")):
            with subtests.test(words):
                assert words in page
    found = json.loads(report.to_json())
    assert found["weak calibration"][0]["quantity"] == "O/E"
    assert found["net benefit"][0]["net benefit"] == value


def test_a_comparison_says_them() -> None:
    found = compare(Y, {"old": P, "new": P**1.3}, costs=(1, 4))
    new = list(found.weak.columns["model"]).index("new")
    assert found.weak.columns["value"][new] == float(observed_expected_ratio(Y, P**1.3))
    assert found.benefit is not None
    apart = found.benefit.columns["above old"]
    old, new = (decision_curve(Y, p, thresholds=0.2).net_benefit[0] for p in (P, P**1.3))
    assert apart[0] == 0 and apart[1] == pytest.approx(new - old, abs=1e-12)
    assert "Weak calibration: Ideal are 1, 0 and 1" in found.text()


def test_where_there_is_none_the_reason_is_said() -> None:
    labels, prob = class_data(200)
    report = audit(labels, prob, settings=QUICK)
    assert report.benefit is None and "Net benefit" not in report.tables
    assert report.weak.columns["model"][0] == "top-label"
    for free in ((0, 1), (1, 0)):  # the threshold is 0, or 1, which has no odds
        assert audit(Y, P, costs=free, settings=QUICK).benefit is None
        assert compare(Y, {"a": P, "b": P**2}, costs=free).benefit is None
    sure = audit([0, 1] * 30, [0.0, 0.9] * 30, settings=QUICK)
    assert np.isnan(sure.weak.columns["value"]).tolist() == [False, True, True]
    assert "nor slope, for the event always happened" in " ".join(sure.text().split())
    nobody = " ".join(audit(Y, P, costs=(999, 1), settings=QUICK).text().split())
    assert "too few rows decide for an interval" in nobody
    assert "nan" not in nobody
