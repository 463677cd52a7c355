"""Mean and weak calibration and net benefit, as an audit and a comparison say them."""

import json

import numpy as np
import pytest

from calibkit.decisions import policy_cost
from calibkit_audit import AuditSettings, audit, compare
from calibkit_audit.clinic import calibration_slope, observed_expected_ratio
from tests.helpers import binary_data, class_data

Y, P = binary_data(400)
QUICK = AuditSettings(n_draws=99)


def test_an_audit_says_them() -> None:
    how = {"level": 0.9, "cluster": np.arange(400) // 4}
    report = audit(Y, P, cluster=how["cluster"], settings=QUICK)
    slope = calibration_slope(Y, P, **how)
    last = [float(report.weak.columns[name][-1]) for name in ("value", "low", "high")]
    assert last == pytest.approx([slope.value, slope.low, slope.high], rel=1e-12)
    for page in (" ".join(report.text().split()), report.to_html()):
        assert f"slope {slope.value:.3f}" in page
    assert json.loads(report.to_json())["weak calibration"][0]["quantity"] == "O/E"


def test_a_comparison_says_them() -> None:
    found = compare(Y, {"old": P, "new": P**1.3})
    new = list(found.weak.columns["model"]).index("new")
    assert found.weak.columns["value"][new] == float(observed_expected_ratio(Y, P**1.3))
    assert "Weak calibration: Ideal are 1, 0 and 1" in found.text()


def test_where_there_is_none_the_reason_is_said() -> None:
    labels, prob = class_data(200)
    report = audit(labels, prob, settings=QUICK)
    assert report.weak.columns["model"][0] == "top-label"
    for free in ((0, 1), (1, 0)):  # the threshold is 0, or 1, which has no odds
        assert "net_benefit" not in audit(Y, P, costs=free, settings=QUICK)["costs"].numbers
    sure = audit([0, 1] * 30, [0.0, 0.9] * 30, settings=QUICK)
    assert np.isnan(sure.weak.columns["value"]).tolist() == [False, True, True]
    assert "no slope, for the event always happened" in " ".join(sure.text().split())
    assert "nan" not in " ".join(audit(Y, P, costs=(999, 1), settings=QUICK).text().split())


@pytest.mark.slow
def test_the_audit_the_policy_and_the_figure_name_one_number() -> None:
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
