"""Test-based diagrams and cumulative differences, tested by what their artists hold."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes

from calibkit import plot
from calibkit.bins import EqualMass, FixedEdges, Pava, PavaBC
from calibkit.fakes import LogitDistortion
from calibkit.plot._cumulative import _CRITICAL
from calibkit.plot._tested import _SIDE, _STRIP, _outline
from calibkit.significance import cumulative_differences, test_based_calibration_error
from calibkit.significance.cumulative import brownian_supremum_tail
from tests.drawn import assert_nothing_is_cut_off, corners, find, heights, one

TILTED = LogitDistortion(slope=0.6).sample(600, rng=8)
RARE = LogitDistortion(scores=(0.6, 20)).sample(400, rng=8)


def error_of(sample, **options):
    options = {"null_draws": 5, "rng": 0} | options
    return test_based_calibration_error(sample.y_true, sample.y_prob, **options)


def child(ax: Axes, label: str) -> Axes:
    (found,) = [inner for inner in ax.child_axes if inner.get_label() == label]
    return found


class TestTestBased:
    def test_accepted_parts_lie_in_their_boxes_and_rejected_ones_outside(self, subtests):
        error = error_of(TILTED, bins=EqualMass(8))
        ax = plot.test_based(error)
        boxes = corners(ax, "acceptance")
        for gid, inside in (("accepted", True), ("rejected", False)):
            with subtests.test(gid):
                for part in corners(ax, gid):
                    across, (low, high) = part[:, 0].mean(), (part[:, 1].min(), part[:, 1].max())
                    box = next(b for b in boxes if b[:, 0].min() <= across <= b[:, 0].max())
                    bottom, top = box[:, 1].min(), box[:, 1].max()
                    if inside:
                        assert bottom - 1e-12 <= low and high <= top + 1e-12
                    else:
                        assert high <= bottom + 1e-12 or low >= top - 1e-12

    def test_each_violin_spans_its_predictions(self, subtests):
        error = error_of(TILTED, bins=EqualMass(5))
        ax = plot.test_based(error)
        verdict = error.verdicts[0]
        parts = corners(ax, "accepted") + corners(ax, "rejected")
        heights = np.concatenate([part[:, 1] for part in parts])
        for b in range(5):
            with subtests.test(b=b):
                prob = verdict.prob[verdict.bin == b]
                for end in (prob.min(), prob.max()):
                    assert np.abs(heights - end).min() < 1e-12

    def test_the_strip_counts_predictions_and_rejections(self):
        error = error_of(TILTED)
        strip = child(plot.test_based(error), "counts")
        assert strip.get_yticks().tolist() == [0, error.table.count.max()]
        shares = {text.get_text() for text in find(strip, "share")}
        assert shares <= {f"{100 * share:.0f}" for share in error.verdicts[0].share}
        assert len(shares) > 2
        assert "% rejected" in strip.get_xlabel()

    @pytest.mark.slow
    @pytest.mark.parametrize("n_bins", [8, 20, 60])
    def test_printed_shares_fit_their_bars(self, n_bins):
        ax = plot.test_based(error_of(TILTED, bins=EqualMass(n_bins)))
        ax.figure.canvas.draw()
        strip, side = child(ax, "counts"), child(ax, "predictions")
        frame, below, beside = (inner.get_window_extent() for inner in (ax, strip, side))
        assert below.height == pytest.approx(_STRIP * (frame.y1 - below.y0))
        assert beside.width == pytest.approx(_SIDE * (beside.x1 - frame.x0))
        assert len(find(strip, "share")) >= {8: 8, 20: 10, 60: 0}[n_bins]
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
        assert f"{5 - used} of 5 bins are empty." in plot.alt_text(ax)
        assert_nothing_is_cut_off(ax)

    def test_what_was_measured_class_by_class_is_refused(self):
        prob = np.full((6, 3), 1 / 3)
        error = test_based_calibration_error(
            [0, 1, 2, 0, 1, 2], prob, view="class-wise", null_draws=0
        )
        with pytest.raises(ValueError, match="3 tables, one per class"):
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
