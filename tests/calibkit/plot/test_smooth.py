"""The diagram of the smooth calibration error: what the artists hold."""

import numpy as np
import pytest

from calibkit import plot, smooth_ece
from calibkit.plot import frames
from calibkit_audit import plot as audit_plot
from calibkit_audit.clinic import smooth_curve
from tests.drawn import drawn, one
from tests.helpers import binary_data, class_data

LABELS, PROB = binary_data(600, 1, exponent=2)
ERROR = smooth_ece(LABELS, PROB)


def test_the_line_is_the_smoothed_frequency_and_as_broad_as_the_density():
    ax = plot.smooth(ERROR)
    assert ax.spines["left"].get_bounds() == (0, 1)
    mass = one(ax, "mass")
    widths, segments = mass.get_linewidths(), np.array(mass.get_segments())
    assert len(widths) == len(segments) == np.isfinite(ERROR.frequency[0]).sum() - 1
    share = ERROR.density[0] / ERROR.density[0].max()
    drawn_at = np.isfinite(ERROR.frequency[0][:-1] + ERROR.frequency[0][1:])
    assert widths == pytest.approx(5 * np.sqrt((share[:-1] + share[1:]) / 2)[drawn_at])


def test_no_predictions_no_line():
    ax = plot.smooth(smooth_ece([0, 1, 0, 1], [0.4, 0.5, 0.5, 0.6], bandwidth=0.01))
    across = np.array(one(ax, "mass").get_segments())[..., 0]
    assert 0.35 < across.min() < across.max() < 0.65
    assert np.ptp(across, axis=1).max() < 0.05  # and none across a gap


def test_one_view_is_drawn():
    labels, prob = class_data(100, 2)
    with pytest.raises(ValueError, match="draw one class"):
        plot.smooth(smooth_ece(labels, prob, view="class-wise"))


@pytest.mark.parametrize("scale", ["linear", "logit"])
def test_a_smooth_curve_has_both_bands_above_the_rows_of_each_outcome(scale: str):
    curve = smooth_curve(LABELS, PROB)
    ax = audit_plot.smooth_curve(curve, scale=scale)
    across, up = one(ax, "curve").get_data()
    np.testing.assert_array_equal(across, frames.inside(curve.prob, scale))
    np.testing.assert_array_equal(up, frames.inside(curve.frequency, scale))
    room = up.min() - 0.025, max(1, up.max()) + 0.025  # a loess may leave [0, 1]
    assert ax.get_ylim() == pytest.approx(room if scale == "linear" else frames.ends(scale))
    assert ax.child_axes[0].lines[0].get_ydata() == [0, 0]
    assert one(ax, "diagonal").get_xdata() == pytest.approx(ax.get_xlim(), abs=0.03)
    sums = np.ptp(np.reshape(drawn(ax, "outcomes"), (2, 40, 2, 2))[..., 1], axis=2).sum(axis=1)
    assert sums.tolist() == [LABELS.sum(), (1 - LABELS).sum()]
