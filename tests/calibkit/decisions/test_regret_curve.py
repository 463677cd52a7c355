"""The regret for all ratios of costs: against the regret of one ratio, and its area."""

import numpy as np
import pytest

from calibkit.decisions import regret_curve, trust_regret

RNG = np.random.default_rng(13)
SAID, TRUE = RNG.random(300), RNG.random(300)


def test_it_is_trust_regret_at_each_threshold_and_below_its_bound() -> None:
    curve = regret_curve(SAID, TRUE)
    assert len(curve.threshold) == 99
    for t, found in zip(curve.threshold[::7], curve.regret[::7], strict=True):
        wanted = trust_regret(SAID, TRUE, benefit=1 - t, harm=t)
        assert found == pytest.approx(wanted.value, abs=1e-12)
    assert (curve.regret <= curve.error + 1e-12).all() and (curve.regret >= 0).all()


def test_its_area_is_half_the_squared_distance() -> None:
    grid = (np.arange(4000) + 0.5) / 4000
    curve = regret_curve(SAID, TRUE, thresholds=grid)
    assert curve.regret.mean() == pytest.approx(np.mean((SAID - TRUE) ** 2) / 2, rel=1e-3)


def test_the_order_of_rows_does_not_matter() -> None:
    order = np.random.default_rng(0).permutation(300)
    one, other = regret_curve(SAID, TRUE), regret_curve(SAID[order], TRUE[order])
    assert np.allclose(one.regret, other.regret, rtol=0, atol=1e-13)
    assert one.error == pytest.approx(other.error, abs=1e-13)


@pytest.mark.parametrize("bad", [[0.0], [1.0], [np.nan], [], [[0.2, 0.3]]])
def test_bad_thresholds_are_named(bad: list[float]) -> None:
    with pytest.raises(ValueError, match="thresholds"):
        regret_curve(SAID, TRUE, thresholds=bad)


def test_it_speaks() -> None:
    curve = regret_curve([0.8, 0.6], [0.5, 0.6], thresholds=[0.4, 0.75])
    assert "0.1250 per prediction (threshold 0.75" in curve.describe()
    assert list(curve.to_frame()["threshold"]) == [0.4, 0.75]
