"""The choice of the number of bins, tested by what its artists hold."""

from dataclasses import dataclass

import numpy as np
import pytest

from calibkit import plot
from calibkit.calibrators import CrossValidatedBinning
from calibkit.fakes import SyntheticShape
from tests.drawn import assert_nothing_is_cut_off, heights, labels, one


@dataclass(frozen=True)
class Toy:
    """A choice among five numbers of bins; 4 has the lowest score, 2 is within 1 %."""

    candidates_: tuple[int, ...] = (1, 2, 3, 4, 5)
    scores_: tuple[float, ...] = (0.2500, 0.2018, 0.2030, 0.2000, 0.2050)
    best_n_bins_: int = 4
    n_bins_: int = 2
    tolerance: float = 0.01


class TestBinChoice:
    def test_lowest_and_chosen_are_marked_in_two_ways(self):
        ax = plot.choice(Toy())
        assert one(ax, "lowest").get_xydata().tolist() == [[4, 0.2000]]
        assert one(ax, "chosen").get_xydata().tolist() == [[2, 0.2018]]
        assert one(ax, "lowest").get_marker() != one(ax, "chosen").get_marker()
        assert {"lowest: 4", "chosen: 2", "within 1 % of the lowest"} <= set(labels(ax))
        assert "Lowest: 0.20000 with 4 bins. Chosen: 0.20180 with 2 bins" in plot.alt_text(ax)

    def test_the_strip_holds_the_scores_that_are_as_good(self):
        assert heights(plot.choice(Toy()), "strip") == pytest.approx((0.2, 0.202))

    def test_a_fitted_binning_can_be_drawn(self):
        sample = SyntheticShape.with_error("stairs", 0.1).sample(500, seed=1)
        choice = CrossValidatedBinning(max_bins=20).fit(sample.y_prob, sample.y_true)
        ax = plot.choice(choice)
        assert one(ax, "chosen").get_xdata()[0] == choice.n_bins_
        assert np.array_equal(one(ax, "scores").get_xdata(), choice.candidates_)
        assert np.array_equal(one(ax, "scores").get_ydata(), choice.scores_)
        assert_nothing_is_cut_off(ax)
