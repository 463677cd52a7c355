"""Maps of straight pieces and the choice of their number, tested by what their artists hold."""

from typing import Any

import numpy as np
import pytest

from calibkit import plot
from calibkit.calibrators import PiecewiseLinear, SlopeOneBinning
from calibkit.fakes import LogitDistortion
from calibkit.inputs import logit
from calibkit_course.lesson07 import draw_map
from tests.drawn import assert_nothing_is_cut_off, find, labels, one

FAKE = LogitDistortion(slope=0.4)
SAMPLE = FAKE.sample(400, rng=1)
EVERYTHING = {"filling", "knots", "members", "truth"}


def fitted(*arguments: Any, **options: Any) -> PiecewiseLinear:
    return PiecewiseLinear(*arguments, **options).fit(SAMPLE.y_prob, SAMPLE.y_true)


class TestPiecewise:
    def test_the_line_is_the_polyline_and_the_knots_lie_on_it(self):
        model = fitted(n_pieces=3)
        ax = draw_map(model)
        np.testing.assert_allclose(one(ax, "map").get_xydata(), np.transpose(model.polyline()))
        drawn = one(ax, "knots").get_xydata()
        np.testing.assert_allclose(drawn, np.transpose([model.knots_, model.heights_]), atol=1e-12)

    @pytest.mark.slow
    def test_dotted_verticals_stand_at_the_inner_knots(self):
        model = fitted(n_pieces=3)
        segments = one(draw_map(model), "verticals").get_segments()
        feet, tops = (np.array([segment[end] for segment in segments]) for end in (0, 1))
        np.testing.assert_allclose(feet[:, 0], model.knots_[1:-1])
        assert (feet[:, 1] == 0).all()
        np.testing.assert_allclose(tops[:, 1], model.heights_[1:-1], atol=1e-12)

    def test_the_filling_is_a_trapezoid_per_piece(self):
        model = fitted(n_pieces=3)
        ax = draw_map(model, show={"filling"})
        outline = one(ax, "filling").get_paths()[0].vertices
        corners = set(map(tuple, np.round(outline, 9)))
        tops = zip(model.knots_, model.heights_, strict=True)
        assert {(round(x, 9), round(y, 9)) for x, y in tops} <= corners
        assert {(round(x, 9), 0.0) for x in model.knots_} <= corners

    @pytest.mark.parametrize("space", ["probability", "logit"])
    def test_members_are_the_maps_of_the_folds(self, space):
        model = fitted(space, 2, outcome="fold-ensemble", cv=4)
        lines = find(draw_map(model, show={"members"}), "members")
        assert len(lines) == 4 * 3  # folds times starts
        x = lines[0].get_xdata()
        values = [np.interp(x, *line.get_data()) for line in lines]
        inside = (x > max(line.get_xdata()[0] for line in lines)) & (
            x < min(line.get_xdata()[-1] for line in lines)
        )
        mean = np.mean(values, axis=0)[inside]
        off = np.abs(mean - model.curve(x[inside]))
        # `interp` cuts the corners of other members, so single places may differ a little.
        assert off.max() < 0.01 and np.median(off) < 5e-4

    def test_the_truth_is_drawn_where_it_is_known(self):
        line = one(draw_map(fitted(n_pieces=1), truth=FAKE.true_map), "truth")
        np.testing.assert_allclose(line.get_ydata(), FAKE.true_map(line.get_xdata()))
        assert find(draw_map(fitted(n_pieces=1)), "truth") == []

    def test_pl3_is_straight_on_logit_axes(self):
        model = fitted("logit", 1)
        ax = draw_map(model, scale="logit")
        assert ax.get_xscale() == ax.get_yscale() == "logit"
        z, v = logit(one(ax, "map").get_xydata()).T
        straight = np.abs(v) < 7  # beyond, the line lies on the frame
        across, up = np.diff(z[straight]), np.diff(v[straight])
        slopes = (up / across)[across > 1e-6]
        np.testing.assert_allclose(slopes, slopes[0], rtol=1e-6)

    def test_knots_beyond_logit_axes_are_left_out(self):
        model = fitted(n_pieces=3)
        knots = one(draw_map(model, scale="logit"), "knots").get_xdata()
        np.testing.assert_allclose(knots, model.knots_[1:-1])
        assert find(draw_map(fitted(n_pieces=1), scale="logit"), "knots") == []

    def test_bins_are_drawn_with_their_gaps_and_without_knots(self):
        bins = SlopeOneBinning(5).fit(SAMPLE.y_prob, SAMPLE.y_true)
        ax = draw_map(bins, truth=FAKE.true_map, show=EVERYTHING)
        assert np.isnan(one(ax, "map").get_ydata()).sum() == 4
        assert find(ax, "knots") == [] and find(ax, "members") == []
        assert plot.alt_text(ax).startswith("Fitted map, predicted probability across")

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("space", "scale"), [("probability", "linear"), ("logit", "linear"), ("logit", "logit")]
    )
    def test_nothing_is_cut_off(self, space, scale):
        model = fitted(space, 3, outcome="fold-ensemble", cv=3)
        ax = draw_map(model, truth=FAKE.true_map, show=EVERYTHING, scale=scale, title="T")
        assert_nothing_is_cut_off(ax)
        assert labels(ax) == [
            "perfect calibration",
            "maps of the folds",
            "true map",
            "fitted map",
            "knot",
        ]

    def test_what_does_not_exist_is_named(self):
        with pytest.raises(ValueError, match="show has no element 'bars'"):
            draw_map(fitted(n_pieces=1), show={"bars"})
        with pytest.raises(ValueError, match='scale must be "linear" or "logit"'):
            draw_map(fitted(n_pieces=1), scale="log")
