"""The forecaster's record, tested by what its artists hold."""

import numpy as np

from calibkit_course import lesson01
from calibkit_course.lesson01 import figures as figures01
from tests.drawn import assert_manners, one


class TestForecaster:
    def test_one_dot_per_day_on_its_side(self):
        record = lesson01.forecaster_view(days=40)
        ax = figures01.forecaster(record)
        days = np.arange(1, 41)
        assert np.array_equal(one(ax, "a-rainy-day").get_xdata(), days[record.outcome == 1])
        assert np.array_equal(one(ax, "a-dry-day").get_xdata(), days[record.outcome == 0])

    def test_the_running_share_and_both_levels(self):
        record = lesson01.forecaster_view(stated=0.8, truth=0.6, days=40)
        ax = figures01.forecaster(record)
        assert np.array_equal(one(ax, "share").get_ydata(), record.share)
        assert one(ax, "stated").get_ydata()[0] == 0.8
        assert one(ax, "truth").get_ydata()[0] == 0.6


def test_manners(subtests):
    record = lesson01.forecaster_view(days=30)
    assert_manners(subtests, {"forecaster": lambda ax: figures01.forecaster(record, ax)})
