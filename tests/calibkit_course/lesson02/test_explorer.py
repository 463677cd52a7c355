"""The explorer *distort me* and its panels. Lesson 02."""

from functools import lru_cache

import numpy as np
import pytest

from calibkit_course import lesson02


@lru_cache
def seen(**values):
    """Return the view of one state: many tests look at the same."""
    return lesson02.distort_me_view(**values)


def ends():
    """Return the states with one control at one of its ends."""
    controls = lesson02.distort_me().controls
    return [{c.name: value} for c in controls for value in (c.values[0], c.values[-1])]


class TestView:
    def test_the_ranking_and_two_of_the_parts_never_move(self):
        still = seen()
        for state in (state for state in ends() if "start" not in state):
            moved = seen(**state)
            assert np.array_equal(moved.false_alarms, still.false_alarms)
            assert np.array_equal(moved.hits, still.hits) and moved.area == still.area
            for part in ("discrimination", "uncertainty"):
                same = pytest.approx(getattr(still.parts, part), abs=1e-12)
                assert getattr(moved.parts, part) == same
            assert moved.parts.miscalibration > 5 * still.parts.miscalibration

    def test_only_the_bias_moves_the_threshold(self):
        still, hot = (seen(temperature=t) for t in (1.0, 3.0))
        high = seen(bias=1.0)
        assert hot.at_half == still.at_half and hot.accuracy == still.accuracy
        assert high.at_half[0] > still.at_half[0] and high.at_half[1] > still.at_half[1]

    def test_two_of_over_confident_is_about_calibrated(self):
        offered = lesson02.distort_me().controls[0].values
        assert {1.75, 2.0, 2.25, 2.5} <= set(offered)  # the log loss is convex in 1 / T
        losses = {t: seen(temperature=t, start="over-confident").log_loss for t in offered[6:11]}
        assert {1.75, 2.0, 2.25, 2.5} <= set(losses)
        assert min(losses, key=losses.get) in (2.0, 2.25)
