"""The forecaster's record, tested by what its artists hold."""

import numpy as np

from calibkit_course import lesson01
from calibkit_course.lesson01 import figures as figures01
from tests.drawn import assert_manners, one


def test_one_dot_per_day_on_its_side():
    record = lesson01.forecaster_view(days=40)
    ax = figures01.forecaster(record)
    days = np.arange(1, 41)
    assert np.array_equal(one(ax, "a-rainy-day").get_xdata(), days[record.outcome == 1])
    assert np.array_equal(one(ax, "a-dry-day").get_xdata(), days[record.outcome == 0])


def test_manners(subtests):
    record = lesson01.forecaster_view(days=30)
    assert_manners(subtests, {"forecaster": lambda ax: figures01.forecaster(record, ax)})
