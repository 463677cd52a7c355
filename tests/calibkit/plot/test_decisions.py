"""Figures of decisions: what their artists hold, and that nothing is cut off."""

import pytest

from calibkit import plot
from calibkit.decisions import murphy_curve, regret_curve
from tests.drawn import find

CURVE = murphy_curve([0, 1, 1], [0.2, 0.7, 0.4])
REGRET = regret_curve([0.2, 0.7], [0.3, 0.6])


class TestMurphy:
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
