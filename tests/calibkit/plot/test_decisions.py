"""Figures of decisions: what their artists hold, and that nothing is cut off."""

import numpy as np
import pytest

from calibkit import plot
from calibkit.decisions import murphy_curve, regret_curve
from calibkit.fakes import LogitDistortion
from tests.drawn import assert_nothing_is_cut_off, find, one

SAMPLE = LogitDistortion(slope=0.5).sample(300, 13)
CURVE = murphy_curve(SAMPLE.y_true, SAMPLE.y_prob)
TRUTH = murphy_curve(SAMPLE.y_true, SAMPLE.true_prob)
REGRET = regret_curve(SAMPLE.y_prob, SAMPLE.true_prob)


class TestMurphy:
    @pytest.mark.slow
    def test_lines_are_the_pieces_and_the_tent_is_ignoring(self, subtests):
        ax = plot.murphy({"model": CURVE, "truth": TRUTH}, marks=[0.2])
        for line, curve in zip(find(ax, "curve"), (CURVE, TRUTH), strict=True):
            with subtests.test(line=line, curve=curve):
                x, y = line.get_data()
                assert np.allclose(np.interp(0.333, x, y), curve.cost(0.333), atol=1e-12)
                wanted = curve.line()
                assert np.array_equal(x, wanted[0]) and np.array_equal(y, wanted[1])
        x, y = one(ax, "ignoring").get_data()
        assert np.array_equal(y, CURVE.ignoring(x))
        assert one(ax, "mark").get_xdata()[0] == 0.2
        assert [f"{tick:.1f}" for tick in ax.get_xticks()] == [
            "0.0",
            "0.2",
            "0.4",
            "0.6",
            "0.8",
            "1.0",
        ]
        assert_nothing_is_cut_off(ax)

    def test_each_curve_has_two_codes(self):
        ax = plot.murphy(dict.fromkeys("abcde", CURVE))
        lines = find(ax, "curve")
        assert len({line.get_color() for line in lines}) == 5
        assert len({str(line._unscaled_dash_pattern) for line in lines}) == 5

    def test_bad_curves_are_named(self):
        other = murphy_curve([0, 1], [0.2, 0.7])
        with pytest.raises(ValueError, match="base rates"):
            plot.murphy({"A": CURVE, "B": other})
        with pytest.raises(ValueError, match="0 curves"):
            plot.murphy({})
        with pytest.raises(ValueError, match="6 curves"):
            plot.regret(dict.fromkeys("abcdef", REGRET))


class TestRegret:
    def test_line_and_marks(self):
        ax = plot.regret(REGRET, marks=[0.25, 0.5])
        x, y = one(ax, "curve").get_data()
        assert np.array_equal(x, REGRET.threshold) and np.array_equal(y, REGRET.regret)
        assert len(find(ax, "mark")) == 2
        assert_nothing_is_cut_off(ax)
