"""Diagrams on stretched axes and measures beside their null levels: what their artists hold."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from matplotlib.axes import Axes
from numpy.typing import NDArray

import calibkit as ck
from calibkit import plot
from calibkit.bins import FixedEdges
from calibkit_course import lesson09
from calibkit_course.lesson09 import figures as figures09
from calibkit_course.lesson09.gaussian import GaussianDiscriminant
from tests.drawn import assert_nothing_is_cut_off, find, labels, one

SAMPLE = GaussianDiscriminant(0.01, deployed=0.02, scale=1).sample(20_000, 4)
BAND = ck.consistency_band(SAMPLE.y_true, SAMPLE.y_prob, bins=ck.EqualMass(10), rng=9, n_draws=200)
# Four bins: the second has no event, the last but one no prediction.
GAPPED = ck.reliability_table(
    [0, 1, 0, 0, 0, 1], [0.01, 0.02, 0.12, 0.14, 0.9, 0.95], bins=FixedEdges((0, 0.1, 0.2, 0.8, 1))
)


def points(ax: Axes, gid: str = "means") -> list[tuple[float, float]]:
    return list(zip(*one(ax, gid).get_data(), strict=True))


class TestRareEvents:
    def test_points_are_the_bins(self):
        ax = figures09.rare_events(BAND.table)
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
        table = BAND.table
        wanted = list(zip(table.mean_prob, table.frequency, strict=True))
        assert points(ax) == [pytest.approx(point, abs=1e-12) for point in wanted]
        assert_nothing_is_cut_off(ax)

    def test_bins_without_events_stand_on_the_frame_and_empty_ones_are_left_out(self):
        ax = figures09.rare_events(GAPPED)
        assert len(points(ax)) == 2
        (triangle,) = points(ax, "none")
        assert triangle == pytest.approx((0.13, ax.get_ylim()[0]))
        assert "1 of them without an event" in plot.alt_text(ax)
        assert "bin without events" in labels(ax)
        assert_nothing_is_cut_off(ax)

    def test_guides_stand_at_twice_and_half(self, subtests):
        ax = figures09.rare_events(BAND.table)
        factors = []
        for line in find(ax, "guide"):
            with subtests.test(line=line):
                x, y = line.get_data()
                assert np.ptp(y / x) < 1e-9 * (y / x)[0]
                factors.append((y / x)[0])
        assert factors == pytest.approx([2, 0.5])

    def test_the_true_map_is_drawn_where_the_frame_shows_it(self):
        ax = figures09.rare_events(BAND.table, truth=lambda p: 2 * p, ends=(0.01, 0.5))
        x, y = one(ax, "truth").get_data()
        assert np.nanmax(y) <= 0.5 and y[~np.isnan(y)] == pytest.approx(2 * x[~np.isnan(y)])

    def test_bands_are_upright_lines_at_the_bin_means(self, subtests):
        ax = figures09.rare_events(BAND.table, band=BAND)
        segments = one(ax, "band").get_segments()
        low = ax.get_ylim()[0]
        for b, segment in enumerate(segments):
            with subtests.test(b=b, segment=segment):
                assert segment[:, 0] == pytest.approx(BAND.table.mean_prob[b])
                wanted = [max(BAND.lower[b], low), max(BAND.upper[b], low)]
                assert segment[:, 1] == pytest.approx(wanted)
        assert "bins outside" in plot.alt_text(ax)
        assert_nothing_is_cut_off(ax)

    def test_given_ends_are_kept_and_what_lies_beyond_stands_on_them(self):
        ax = figures09.rare_events(BAND.table, ends=(0.01, 0.05))
        assert ax.get_xlim() == ax.get_ylim() == (0.01, 0.05)
        assert min(x for x, _ in points(ax)) == 0.01
        assert max(y for _, y in points(ax)) == 0.05

    def test_all_bins_without_events_still_make_a_figure(self):
        table = ck.reliability_table([0, 0], [0.0, 0.0], bins=2)
        ax = figures09.rare_events(table)
        assert len(points(ax, "none")) == 1
        assert_nothing_is_cut_off(ax)

    def test_bad_options_are_named(self):
        with pytest.raises(ValueError, match="0 < low < high"):
            figures09.rare_events(GAPPED, ends=(0.5, 0.1))
        with pytest.raises(ValueError, match="belongs to other bins"):
            figures09.rare_events(GAPPED, band=BAND)


@dataclass(frozen=True)
class Found:
    """Three measures: within chance, above it, and zero."""

    names: tuple[str, ...] = ("A", "B", "C")
    values: NDArray[np.float64] = field(default_factory=lambda: np.array([0.01, 0.5, 0.0]))
    null_low: NDArray[np.float64] = field(default_factory=lambda: np.array([0.0, 0.001, 0.0]))
    null_high: NDArray[np.float64] = field(default_factory=lambda: np.array([0.02, 0.1, 0.0]))


class TestMeasures:
    def test_marks_stand_at_the_values_and_tell_chance_from_fault(self):
        ax = figures09.measures(Found())
        above, within = one(ax, "measured, above chance"), one(ax, "measured, within chance")
        assert above.get_xdata().tolist() == [50.0] and above.get_ydata().tolist() == [1]
        assert within.get_xdata().tolist() == [1.0, 0.005]
        assert above.get_marker() != within.get_marker()
        assert [text.get_text() for text in ax.texts] == ["1 %", "50 %", "0 %"]
        assert "B 50 % (by chance 0.1 to 10 %)" in plot.alt_text(ax)
        assert_nothing_is_cut_off(ax)

    def test_grey_lines_are_the_null_levels(self):
        ax = figures09.measures(Found())
        ends = [segment[:, 0].tolist() for segment in one(ax, "null").get_segments()]
        assert ends == [[0.005, 2.0], [0.1, 10.0], [0.005, 0.005]]

    @pytest.mark.slow
    def test_the_dial_fits_and_tiny_values_stay_on_the_axis(self):
        view = lesson09.prevalence_dial_view(made_for=0.5, times=1, n=1000)
        ax = figures09.measures(view)
        assert [label.get_text() for label in ax.get_yticklabels()] == list(view.names)
        assert_nothing_is_cut_off(ax)
        tiny = Found(values=np.array([1e-7, 0.5, 20.0]))
        written = [text.get_text() for text in figures09.measures(tiny).texts]
        assert written == ["1e-05 %", "50 %", "2,000 %"]
