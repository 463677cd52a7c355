"""Two patients against their definitions; maps of straight pieces by what their artists hold."""

from typing import Any

import numpy as np
import pytest
from scipy.integrate import trapezoid

from calibkit import plot
from calibkit.calibrators import PiecewiseLinear, SlopeOneBinning
from calibkit.fakes import LogitDistortion
from calibkit.inputs import logit
from calibkit_course import lesson07
from calibkit_course.lesson07 import draw_map
from calibkit_course.lesson07.view import FAKE, PATIENTS
from tests.drawn import area, assert_nothing_is_cut_off, assert_points, find, labels, one


def test_numbers_are_those_of_their_definitions():
    view = lesson07.two_patients_view(drawn=4, n=300, n_bins=5)
    sample = FAKE.sample(300, 3)
    bins = SlopeOneBinning(5).fit(sample.y_prob, sample.y_true)
    np.testing.assert_allclose(view.means[0], bins.curve(PATIENTS), rtol=0, atol=1e-12)


@pytest.mark.slow
def test_an_edge_lies_between_the_patients_and_no_knot_jumps():
    """What Play shows: on the bins their order turns around, on the pieces it never does."""
    views = [lesson07.two_patients_view(drawn=k) for k in range(1, 13)]
    bins, pieces = (np.diff([view.means[k] for view in views])[:, 0] for k in (0, 1))
    assert 2 <= np.sum(bins < 0) <= 10 and np.abs(bins).max() > 0.1
    assert np.all((pieces > 0) & (pieces < 0.03))


BOLD = LogitDistortion(slope=0.4)
SAMPLE = BOLD.sample(400, rng=1)
EVERYTHING = {"filling", "knots", "members", "truth"}


def fitted(*arguments: Any, **options: Any) -> PiecewiseLinear:
    return PiecewiseLinear(*arguments, **options).fit(SAMPLE.y_prob, SAMPLE.y_true)


def test_elements_stand_where_the_model_says():
    model = fitted(n_pieces=3)
    ax, knots, heights = draw_map(model, truth=BOLD.true_map), model.knots_, model.heights_
    inner, across = knots[1:-1], one(ax, "truth").get_xdata()
    elements = {
        "map": model.polyline(),
        "knots": (knots, heights),
        "verticals": (inner, 0, inner, heights[1:-1]),
        "truth": (across, BOLD.true_map(across)),
    }
    assert_points(ax, elements)
    below = area(draw_map(model, show={"filling"}), "filling")
    assert below == pytest.approx(trapezoid(heights, knots))
    assert find(draw_map(model), "truth") == []


@pytest.mark.parametrize("space", ["probability", "logit"])
def test_members_are_the_maps_of_the_folds(space):
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


def test_pl3_is_straight_on_logit_axes():
    model = fitted("logit", 1)
    ax = draw_map(model, scale="logit")
    assert ax.get_xscale() == ax.get_yscale() == "logit"
    z, v = logit(one(ax, "map").get_xydata()).T
    straight = np.abs(v) < 7  # beyond, the line lies on the frame
    across, up = np.diff(z[straight]), np.diff(v[straight])
    slopes = (up / across)[across > 1e-6]
    np.testing.assert_allclose(slopes, slopes[0], rtol=1e-6)


def test_knots_beyond_logit_axes_are_left_out():
    model = fitted(n_pieces=3)
    knots = one(draw_map(model, scale="logit"), "knots").get_xdata()
    np.testing.assert_allclose(knots, model.knots_[1:-1])
    assert find(draw_map(fitted(n_pieces=1), scale="logit"), "knots") == []


def test_bins_are_drawn_with_their_gaps_and_without_knots():
    bins = SlopeOneBinning(5).fit(SAMPLE.y_prob, SAMPLE.y_true)
    ax = draw_map(bins, truth=BOLD.true_map, show=EVERYTHING)
    assert np.isnan(one(ax, "map").get_ydata()).sum() == 4
    assert find(ax, "knots") == [] and find(ax, "members") == []
    assert plot.alt_text(ax).startswith("Fitted map, predicted probability across")


@pytest.mark.slow
@pytest.mark.parametrize("scale", ["linear", "logit"])
def test_nothing_is_cut_off(scale):
    model = fitted("logit", 3, outcome="fold-ensemble", cv=3)
    ax = draw_map(model, truth=BOLD.true_map, show=EVERYTHING, scale=scale, title="T")
    assert_nothing_is_cut_off(ax)
    assert set(labels(ax)) >= {"maps of the folds", "true map", "fitted map", "knot"}


def test_what_does_not_exist_is_named():
    with pytest.raises(ValueError, match="show has no element 'bars'"):
        draw_map(fitted(n_pieces=1), show={"bars"})
    with pytest.raises(ValueError, match='scale must be "linear" or "logit"'):
        draw_map(fitted(n_pieces=1), scale="log")
