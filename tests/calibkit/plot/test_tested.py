"""Test-based diagrams and cumulative differences, tested by what their artists hold."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes

from calibkit import plot
from calibkit.bins import EqualMass, FixedEdges, Pava, PavaBC
from calibkit.fakes import LogitDistortion
from calibkit.hypothesis_tests import cumulative_differences, test_based_calibration_error
from calibkit.hypothesis_tests.cumulative import brownian_supremum_tail
from calibkit.plot._cumulative import _CRITICAL
from calibkit.plot._tested import _SIDE, _STRIP, _outline
from tests.drawn import assert_nothing_is_cut_off, corners, drawn, find, heights, one

TILTED = LogitDistortion(slope=0.6).sample(600, rng=8)
RARE = LogitDistortion(scores=(0.6, 20)).sample(400, rng=8)


def error_of(sample, **options):
    options = {"n_draws": 5, "rng": 0} | options
    return test_based_calibration_error(sample.y_true, sample.y_prob, **options)


def child(ax: Axes, label: str) -> Axes:
    (found,) = [inner for inner in ax.child_axes if inner.get_label() == label]
    return found


class TestTestBased:
    @pytest.mark.parametrize("n_bins", [1, 12])
    def test_each_violin_spans_its_predictions(self, n_bins, subtests):
        same = test_based_calibration_error([0, 1], [0.3, 0.3], bins=EqualMass(1), n_draws=0)
        error = same if n_bins == 1 else error_of(TILTED, bins=EqualMass(12))
        ax, verdict = plot.test_based(error), error.verdicts[0]
        parts = np.array(drawn(ax, "accepted") + drawn(ax, "rejected"))
        for b, (left, right) in enumerate(pairwise(error.table.edges)):
            with subtests.test(b=b):
                mine = parts[(parts[:, 0] > left) & (parts[:, 2] < right)]
                prob, (middle, half) = verdict.prob[verdict.bin == b], (right + left, right - left)
                across = [middle / 2 - 0.44 * half, middle / 2 + 0.44 * half]
                assert [mine[:, 0].min(), mine[:, 2].max()] == pytest.approx(across)
                assert [mine[:, 1].min(), mine[:, 3].max()] == [prob.min(), prob.max()]
                assert (mine[:, 3] - mine[:, 1]).sum() == pytest.approx(np.ptp(prob))
                assert len(mine) == 1 or (mine[:, 3] > mine[:, 1]).all()
        boxes = np.array(drawn(ax, "acceptance"))
        for gid in ("accepted", "rejected"):
            for left, low, right, high in drawn(ax, gid):
                ((_, bottom, _, top),) = boxes[(boxes[:, 0] < left) & (boxes[:, 2] > right)]
                inside = bottom - 1e-12 <= low and high <= top + 1e-12
                assert inside if gid == "accepted" else high <= bottom or low >= top

    def test_the_strip_counts_predictions_and_rejections(self):
        error = error_of(TILTED, bins=EqualMass(8))
        strip = child(plot.test_based(error), "counts")
        assert strip.get_yticks().tolist() == [0, error.table.count.max()]
        shares = [text.get_text() for text in find(strip, "share")]
        assert shares == [f"{100 * share:.0f}" for share in error.verdicts[0].share]

    @pytest.mark.slow
    @pytest.mark.parametrize(("n_bins", "n_printed"), [(16, 14), (17, 13), (80, 1), (116, 0)])
    def test_printed_shares_fit_their_bars(self, n_bins, n_printed):
        ax = plot.test_based(error_of(TILTED, bins=EqualMass(n_bins)))
        ax.figure.canvas.draw()
        strip, side = child(ax, "counts"), child(ax, "predictions")
        frame, below, beside = (inner.get_window_extent() for inner in (ax, strip, side))
        assert below.height == pytest.approx(_STRIP * (frame.y1 - below.y0))
        assert beside.width == pytest.approx(_SIDE * (beside.x1 - frame.x0))
        assert (len(find(strip, "share")), len(ax.figure.legends)) == (n_printed, 1)
        assert ("% rejected" in strip.get_xlabel()) == (n_printed > 0)
        assert ("from left to right" in plot.alt_text(ax)) == (n_bins == 16)
        for text in find(strip, "share"):
            x = text.xy[0]
            bar = next(b for b in corners(strip, "count") if b[:, 0].min() <= x <= b[:, 0].max())
            ends = strip.transData.transform(np.column_stack([bar[:, 0], bar[:, 0]]))[:, 0]
            assert np.ptp(ends) >= text.get_window_extent().width - 1

    @pytest.mark.slow
    def test_empty_bins_survive(self):
        bins = FixedEdges([0, 0.2, 0.4, 0.6, 0.8, 1])
        error = error_of(RARE, bins=bins)
        used = int(error.table.occupied.sum())
        assert used < 5
        ax = plot.test_based(error)
        assert len(corners(ax, "acceptance")) == used
        assert len(corners(child(ax, "counts"), "count")) == 5
        top = 1.25 * max(np.nanmax(error.table.frequency), RARE.y_prob.max())
        assert ax.get_ylim() == pytest.approx((-0.03 * top, 1.03 * top))
        assert f"{5 - used} of 5 bins are empty." in plot.alt_text(ax)
        assert_nothing_is_cut_off(ax)

    def test_what_was_measured_class_by_class_is_refused(self):
        prob = np.full((6, 2), 0.5)
        error = test_based_calibration_error([0, 1] * 3, prob, view="class-wise", n_draws=0)
        with pytest.raises(ValueError, match="2 tables, one per class"):
            plot.test_based(error)
        assert not plt.get_fignums()

    @pytest.mark.slow
    @pytest.mark.parametrize("rule", [PavaBC(), Pava(), EqualMass(60)])
    def test_nothing_is_cut_off(self, rule):
        assert_nothing_is_cut_off(plot.test_based(error_of(TILTED, bins=rule)))


class TestViolin:
    def test_an_outline_is_as_wide_as_its_histogram_is_high(self):
        spread, dense = np.linspace(0.1, 0.3, 40), np.linspace(0.17, 0.23, 60)
        level, half = _outline(np.concatenate((spread, dense)))
        assert len(level) == 12  # ten cells for a hundred predictions, and both ends
        assert level[0] == 0.1 and level[-1] == 0.3 and level == pytest.approx(0.4 - level[::-1])
        assert half.max() == 1 and half[len(half) // 2] > 0.9
        assert half[0] < 0.5 and half == pytest.approx(half[::-1], abs=0.05)


class TestCumulativeDifferences:
    def test_line_strip_and_extremes(self):
        curve = cumulative_differences(TILTED.y_true, TILTED.y_prob)
        ax = plot.cumulative_differences(curve)
        reach = _CRITICAL * curve.scale
        assert heights(ax, "strip") == pytest.approx((-reach, reach))
        assert ax.lines[0].get_ydata() == [0, 0]
        ticks = [text.get_text().split("≤ ")[-1] for text in ax.get_xticklabels()]
        assert ticks == ["0 %", *(f"{p:.2g}" for p in np.sort(TILTED.y_prob)[[149, 299, 449, 599]])]
        assert np.ptp(one(ax, "extremes").get_ydata()) == pytest.approx(curve.ecce_r)
        assert plot.alt_text(ax) == curve.describe()
        assert_nothing_is_cut_off(ax)

    def test_the_strip_is_left_by_one_calibrated_model_in_twenty(self):
        assert float(brownian_supremum_tail(_CRITICAL)) == pytest.approx(0.05, abs=1e-5)

    def test_the_line_leaves_the_strip_exactly_if_the_test_rejects(self, subtests):
        for slope in (1.0, 0.8, 0.4):
            with subtests.test(slope=slope):
                sample = LogitDistortion(slope=slope, shift=slope - 1).sample(500, rng=1)
                curve = cumulative_differences(sample.y_true, sample.y_prob)
                ax = plot.cumulative_differences(curve)
                top = heights(ax, "strip")[1]
                leaves = np.abs(one(ax, "differences").get_ydata()).max() > top
                assert leaves == (curve.mad_test.p_value < 0.05)
