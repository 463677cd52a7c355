"""Diagrams on stretched axes and measures beside their null levels: what their artists hold."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import calibkit as ck
from calibkit import plot
from calibkit.bins import FixedEdges
from calibkit_course import lesson09
from calibkit_course.lesson09 import figures as figures09
from calibkit_course.lesson09.gaussian import GaussianDiscriminant
from tests.drawn import assert_nothing_is_cut_off, assert_points, find, one

SAMPLE = GaussianDiscriminant(0.01, deployed=0.02, scale=1).sample(20_000, 4)
BAND = ck.consistency_band(SAMPLE.y_true, SAMPLE.y_prob, bins=ck.EqualMass(10), rng=9, n_draws=200)
TABLE = BAND.table
# Four bins: the second has no event, the last but one no prediction.
GAPPED = ck.reliability_table(
    [0, 1, 0, 0, 0, 1], [0.01, 0.02, 0.12, 0.14, 0.9, 0.95], bins=FixedEdges((0, 0.1, 0.2, 0.8, 1))
)


class TestRareEvents:
    def test_points_bands_and_guides_stand_where_they_should(self):
        ax = figures09.rare_events(TABLE, band=BAND)
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
        mean, low = TABLE.mean_prob, ax.get_ylim()[0]
        lower, upper = np.maximum(BAND.lower, low), np.maximum(BAND.upper, low)
        assert_points(ax, {"means": (mean, TABLE.frequency), "band": (mean, lower, mean, upper)})
        ratios = [line.get_ydata() / line.get_xdata() for line in find(ax, "guide")]
        assert [ratio.mean() for ratio in ratios] == pytest.approx([2, 0.5])
        assert max(np.ptp(ratio) for ratio in ratios) < 1e-9
        assert "bins outside" in plot.alt_text(ax)
        assert_nothing_is_cut_off(ax)

    def test_bins_without_events_stand_on_the_frame_and_empty_ones_are_left_out(self):
        ax = figures09.rare_events(GAPPED)
        assert len(one(ax, "means").get_xdata()) == 2
        assert_points(ax, {"none": (0.13, ax.get_ylim()[0])})
        assert "1 of them without an event" in plot.alt_text(ax)
        assert_nothing_is_cut_off(ax)
        ax = figures09.rare_events(ck.reliability_table([0, 0], [0.0, 0.0], bins=2))
        assert len(one(ax, "none").get_xdata()) == 1
        assert_nothing_is_cut_off(ax)

    def test_the_true_map_is_drawn_where_the_frame_shows_it(self):
        ax = figures09.rare_events(TABLE, truth=lambda p: 2 * p, ends=(0.01, 0.5))
        x, y = one(ax, "truth").get_data()
        assert np.nanmax(y) <= 0.5 and y[~np.isnan(y)] == pytest.approx(2 * x[~np.isnan(y)])

    def test_given_ends_are_kept_and_what_lies_beyond_stands_on_them(self):
        ax = figures09.rare_events(TABLE, ends=(0.01, 0.05))
        assert ax.get_xlim() == ax.get_ylim() == (0.01, 0.05)
        x, y = one(ax, "means").get_data()
        assert (min(x), max(y)) == (0.01, 0.05)

    def test_bad_options_are_named(self):
        with pytest.raises(ValueError, match="0 < low < high"):
            figures09.rare_events(GAPPED, ends=(0.5, 0.1))
        with pytest.raises(ValueError, match="belongs to other bins"):
            figures09.rare_events(GAPPED, band=BAND)


def three(values: Any = (0.01, 0.5, 0.0)) -> SimpleNamespace:
    """Return three measures: within chance, above it, and zero."""
    low, high = np.array([0.0, 0.001, 0.0]), np.array([0.02, 0.1, 0.0])
    return SimpleNamespace(names="ABC", values=np.array(values), null_low=low, null_high=high)


def test_marks_stand_at_the_values_and_tell_chance_from_fault():
    ax = figures09.measures(three())
    assert one(ax, "measured, above chance").get_xydata().tolist() == [[50.0, 1]]
    assert one(ax, "measured, within chance").get_xdata().tolist() == [1.0, 0.005]
    ends = [segment[:, 0].tolist() for segment in one(ax, "null").get_segments()]
    assert ends == [[0.005, 2.0], [0.1, 10.0], [0.005, 0.005]]
    assert [text.get_text() for text in ax.texts] == ["1 %", "50 %", "0 %"]
    assert "B 50 % (by chance 0.1 to 10 %)" in plot.alt_text(ax)
    assert_nothing_is_cut_off(ax)


@pytest.mark.slow
def test_the_dial_fits_and_tiny_values_stay_on_the_axis():
    view = lesson09.prevalence_dial_view(made_for=0.5, times=1, n=1000)
    ax = figures09.measures(view)
    assert [label.get_text() for label in ax.get_yticklabels()] == list(view.names)
    assert_nothing_is_cut_off(ax)
    written = [text.get_text() for text in figures09.measures(three([1e-7, 0.5, 20.0])).texts]
    assert written == ["1e-05 %", "50 %", "2,000 %"]
