"""The forecaster's bench: its interval, its runs, and what its artists hold."""

import numpy as np
import pytest
from scipy import stats

from calibkit_course import lesson01


def test_the_interval_is_wilsons():
    record = lesson01.forecaster_view(days=30, truth=0.3)
    hits = np.cumsum(record.outcome)
    for day in (1, 7, 30):
        golden = stats.binomtest(int(hits[day - 1]), day).proportion_ci(method="wilson")
        assert record.low[day - 1] == pytest.approx(golden.low, abs=1e-12)
        assert record.high[day - 1] == pytest.approx(golden.high, abs=1e-12)


def test_more_days_prolong_the_same_run():
    short, long = (lesson01.forecaster_view(days=d).outcome for d in (20, 200))
    assert np.array_equal(short, long[:20])


@pytest.mark.parametrize("truth", [0.0, 1.0])
def test_certain_weather(truth):
    record = lesson01.forecaster_view(truth=truth, days=10)
    assert (record.share == truth).all()
    assert 0 <= record.low[-1] <= truth <= record.high[-1] <= 1
