"""Each figure, tested by what its artists hold."""

from dataclasses import dataclass

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes

import calibkit as ck
from calibkit import plot
from calibkit.bins import Pava
from calibkit.calibrators import HistogramBinning, IsotonicCalibrator, SlopeOneBinning
from calibkit.decisions import murphy_curve
from calibkit.fakes import LogitDistortion, SyntheticShape
from calibkit.fit_on_test import fit_on_test
from calibkit.hypothesis_tests import cumulative_differences
from calibkit.hypothesis_tests.cumulative import brownian_supremum_tail
from calibkit.scores import corp_decomposition
from tests.drawn import area, assert_nothing_is_cut_off, corners, drawn, find, heights, labels, one

SAMPLE = LogitDistortion(slope=0.5).sample(400, 3)
Y, P = SAMPLE.y_true, SAMPLE.y_prob
TABLE = ck.reliability_table(Y, P, bins=10)
BAND = ck.consistency_band(Y, P, bins=10, n_draws=100, rng=1)
# Predictions only below .2 and above .7, so that ten bins leave five empty.
GAPPY = ck.reliability_table([0, 1, 0, 1, 1, 0], [0.05, 0.15, 0.17, 0.75, 0.95, 1.0], bins=10)


def strip_of(ax: Axes) -> Axes:
    return next(child for child in ax.child_axes if child.get_label() == "counts")


# --- reliability --------------------------------------------------------------------------------


def test_a_band_with_other_bins_and_what_is_no_table_are_refused():
    with pytest.raises(ValueError, match="10 equal-width bins.*15 equal-width bins"):
        plot.reliability(ck.reliability_table(Y, P), band=BAND)
    with pytest.raises(ValueError, match=r"there is plot\.reliability_diagram"):
        plot.reliability(Y, P)


def test_over_and_under_differ_in_colour_and_in_line_style():
    over, under = (one(plot.reliability(TABLE), f"gaps-{s}") for s in ("over", "under"))
    assert not np.array_equal(over.get_color(), under.get_color())
    assert over.get_linestyle() != under.get_linestyle()
    ax = plot.reliability(TABLE, show="filling")
    assert one(ax, "filling-over").get_hatch() != one(ax, "filling-under").get_hatch()


def test_the_slanted_tops_are_the_slope_1_fit():
    shape = np.array(corners(plot.reliability(TABLE, show="filling"), "filling"))
    left, right = TABLE.edges[:-1], TABLE.edges[1:]
    shift = TABLE.frequency - TABLE.mean_prob
    assert np.allclose(shape[:, 1], np.column_stack([left, left + shift]), atol=1e-15)
    assert np.allclose(shape[:, 2], np.column_stack([right, right + shift]), atol=1e-15)
    # At the mean prediction the slanted top crosses the flat one.
    assert np.allclose(shape[:, 1, 1] + (TABLE.mean_prob - left), TABLE.frequency)


def test_the_shaded_area_is_the_error_when_bins_weigh_the_same():
    y_prob = (np.arange(500) + 0.5) / 500
    y_true = np.random.default_rng(0).random(500) < y_prob**2
    error = ck.expected_calibration_error(y_true, y_prob, bins=10)
    ax = plot.reliability(error.tables[0], show="filling")
    shaded = area(ax, "filling-over") + area(ax, "filling-under")
    assert shaded == pytest.approx(error.value, abs=1e-12)


def test_empty_bins_stay_empty():
    ax = plot.reliability(GAPPY, show={"bars", "means", "gaps", "filling", "counts"})
    seen = GAPPY.occupied
    assert seen.sum() == 4
    for gid in ("bars", "filling", "counts"):
        assert [c[0, 0] for c in corners(ax, gid)] == GAPPY.edges[:-1][seen].tolist()
    assert one(ax, "means").get_linestyle() == "None"
    assert len(drawn(ax, "means")) == len(drawn(ax, "gaps-over") + drawn(ax, "gaps-under")) == 4


def test_a_gap_of_rounding_size_is_no_gap():
    ax = plot.reliability(ck.reliability_table([0, 1], [0.5, 0.5], bins=1))
    assert not find(ax, "gaps-over") and not find(ax, "gaps-under")


@pytest.mark.parametrize(("bins", "turned"), [(16, 0), (17, 90), (21, 90), (22, None)])
def test_counts_are_printed_upright_turned_or_on_the_scale(bins, turned):
    table = ck.reliability_table(Y, P, bins=bins)
    ax = plot.reliability(table)
    counts = [str(count) for count in table.count if count]
    printed = [(text.get_text(), text.get_rotation()) for text in find(ax, "count")]
    assert printed == [(count, turned) for count in counts if turned is not None]
    ticks = [text.get_text() for text in strip_of(ax).get_yticklabels()]
    assert ticks == ([] if printed else ["0", str(table.count.max())])


@pytest.mark.parametrize(("most", "base"), [(100, 0), (101, 0.5)])
def test_a_wide_range_that_cannot_be_printed_gets_a_log_scale(most, base):
    y_prob = np.r_[np.full(most - 2, 0.995), np.arange(100) / 99]  # all others: 1 or 2 per bin
    strip = strip_of(plot.reliability(ck.reliability_table(np.round(y_prob), y_prob, bins=60)))
    assert (strip.get_yscale() == "log") == ("log" in strip.get_ylabel()) == (base > 0)
    assert strip.get_yticks().tolist() == [float(base > 0), most]
    top = base * (most / base) ** 1.08 if base else 1.08 * most
    assert strip.get_ylim() == pytest.approx((base, top))


def test_the_strip_shares_the_axis_and_carries_its_label():
    ax = plot.reliability(TABLE, band=BAND, show="counts")
    strip = strip_of(ax)
    assert strip.get_xlim() == ax.get_xlim() and strip.get_xlabel() == "predicted probability"
    assert not ax.xaxis.label.get_visible()
    assert plot.alt_text(ax).removesuffix(TABLE.describe()).endswith("counts per bin below. ")


# --- reliability diagram ------------------------------------------------------------------------


def test_labels_and_probabilities_give_table_band_and_null_level():
    ax = plot.reliability_diagram(Y, P, bins=10)
    band = ck.consistency_band(Y, P, bins=10, rng=0)
    wanted = plot.reliability(TABLE, band=band)
    for gid in ("bars", "band"):
        assert np.array_equal(corners(ax, gid), corners(wanted, gid))
    null = ck.null_level(ck.expected_calibration_error, Y, P, bins=10, rng=0)
    title = f"ECE {null.value:.4f}; by chance {null.mean:.4f} (95 % below {null.high:.4f})"
    assert ax.get_title() == title
    assert null.describe() in plot.alt_text(ax.figure)
    assert strip_of(ax)


def test_views_words_as_labels_and_what_is_refused():
    prob = np.random.default_rng(0).dirichlet(np.ones(3), 200)
    label = prob.argmax(axis=1)
    ax = plot.reliability_diagram(label, prob, view="top-label", bins=5)
    assert ax.get_ylabel() == "accuracy"
    with pytest.raises(ValueError, match="view must be stated"):
        plot.reliability_diagram(label, prob)
    words = np.where(Y, "yes", "no")
    ax = plot.reliability_diagram(words, P, positive="yes")
    assert ax.get_title() == plot.reliability_diagram(Y, P).get_title()
    with pytest.raises(ValueError, match="y_true has 3 entries"):
        plot.reliability_diagram(Y[:3], P)
    with pytest.raises(ValueError, match="labels"):
        plot.reliability_diagram(Y, P, bins=Pava())


# --- manners ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_small_multiples_share_a_style_and_one_legend():
    figure, axes = plt.subplots(1, 3, layout="constrained", figsize=(7.5, 3.4))
    for ax, table in zip(axes, (TABLE, GAPPY, TABLE), strict=True):
        assert plot.reliability(table, ax=ax, title="t") is ax
        assert ax.get_legend() is None
    assert [bool(ax.get_ylabel()) for ax in axes] == [True, False, False]
    plot.legend(figure)
    entries = [text.get_text() for text in figure.legends[0].get_texts()]
    assert len(entries) == len(set(entries)) == 5
    figure.canvas.draw()
    legend = figure.legends[0].get_window_extent()
    boxes = [a.get_tightbbox() for a in axes]
    assert all(box.y0 >= legend.y1 and box.y1 <= figure.bbox.height for box in boxes)
    assert legend.x0 >= 0 and legend.x1 <= figure.bbox.width
    assert boxes[0].x1 <= boxes[1].x0 and boxes[1].x1 <= boxes[2].x0


def test_rc_params_are_restored_after_an_error():
    before = dict(mpl.rcParams)
    with pytest.raises(ZeroDivisionError), plot.style():
        raise ZeroDivisionError
    assert dict(mpl.rcParams) == before


def test_what_a_backend_sets_while_it_loads_survives():
    """Otherwise the first figure of a notebook would not be shown."""
    with mpl.rc_context():
        mpl.interactive(False)
        with plot.style():
            mpl.interactive(True)
        assert mpl.is_interactive()


def test_a_figure_lists_its_panels_and_a_foreign_axes_is_refused():
    figure, axes = plt.subplots(1, 2)
    plot.reliability(TABLE, ax=axes[0], title="First")
    plot.reliability(GAPPY, ax=axes[1])
    words = plot.alt_text(figure)
    assert words == plot.alt_text(axes)
    assert words.startswith("Panel 1 (First): ") and "Panel 2: " in words
    with pytest.raises(ValueError, match="drawn by calibkit"):
        plot.alt_text(plt.subplots()[1])


# --- corp ---------------------------------------------------------------------------------------


def test_few_predictions_are_points_over_sticks_and_many_are_not():
    few = corp_decomposition([0, 1, 0, 1, 1, 1], [0.2, 0.2, 0.3, 0.7, 0.7, 0.9])
    ax, value = plot.corp(few), few.prediction
    tops = -0.2 + 0.15 * few.prediction_count / 2
    sticks = np.column_stack([value - 0.009, np.full(4, -0.2), value + 0.009, tops])
    assert np.allclose(drawn(ax, "counts"), sticks)
    points = [[0.2, 1 / 3], [0.3, 1 / 3], [0.7, 1], [0.9, 1]]
    assert np.allclose(drawn(ax, "predictions"), points)
    for n in (40, 41):
        ax = plot.corp(corp_decomposition(np.arange(n) % 2, np.linspace(0.1, 0.9, n)))
        assert bool(find(ax, "predictions")) == (n == 40)
        assert len(drawn(ax, "counts")) == 40


@dataclass(frozen=True)
class Toy:
    """A choice among five numbers of bins; 4 has the lowest score, 2 is within 1 %."""

    candidates_: tuple[int, ...] = (1, 2, 3, 4, 5)
    scores_: tuple[float, ...] = (0.2500, 0.2018, 0.2030, 0.2000, 0.2050)
    best_n_bins_: int = 4
    n_bins_: int = 2
    tolerance: float = 0.01


# --- choice -------------------------------------------------------------------------------------


def test_lowest_and_chosen_are_marked_in_two_ways():
    ax = plot.choice(Toy())
    assert np.array_equal(one(ax, "scores").get_xydata().T, [Toy.candidates_, Toy.scores_])
    assert one(ax, "lowest").get_xydata().tolist() == [[4, 0.2000]]
    assert one(ax, "chosen").get_xydata().tolist() == [[2, 0.2018]]
    assert one(ax, "lowest").get_marker() != one(ax, "chosen").get_marker()
    assert {"lowest: 4", "chosen: 2", "within 1 % of the lowest"} <= set(labels(ax))
    assert "Lowest: 0.20000 with 4 bins. Chosen: 0.20180 with 2 bins" in plot.alt_text(ax)
    assert heights(ax, "strip") == pytest.approx((0.2, 0.202))


# --- murphy -------------------------------------------------------------------------------------


def test_each_curve_has_two_codes_and_bad_ones_are_named():
    curve = murphy_curve([0, 1, 1], [0.2, 0.7, 0.4])
    lines = find(plot.murphy(dict.fromkeys("abcde", curve)), "curve")
    assert len({line.get_color() for line in lines}) == 5
    assert len({str(line._unscaled_dash_pattern) for line in lines}) == 5
    with pytest.raises(ValueError, match="base rates"):
        plot.murphy({"A": curve, "B": murphy_curve([0, 1], [0.2, 0.7])})
    for n in (0, 6):
        with pytest.raises(ValueError, match=f"{n} curves"):
            plot.murphy(dict.fromkeys("abcdef"[:n], curve))


# --- chance -------------------------------------------------------------------------------------


@pytest.mark.parametrize("calibrated", [True, False])
def test_title_and_legend_say_p_value_and_observed_value(calibrated):
    prob = SAMPLE.true_prob if calibrated else P
    null = ck.null_level(ck.expected_calibration_error, Y, prob, n_draws=200, rng=2)
    often = f"{100 * (null.draws >= null.value).mean():.0f} %" if calibrated else "fewer than 1 %"
    title = f"p = {null.p_value:.3f}: a calibrated model is as bad or worse in {often} of draws"
    ax = plot.null_level(null)
    assert (ax.get_title(loc="left"), ax.get_xlabel()) == (title, null.name)
    assert f"observed {null.value:.3f}" in labels(ax)


@pytest.mark.parametrize("slope", [1.0, 0.8, 0.4])
def test_line_strip_ticks_and_extremes_of_cumulative_differences(slope):
    sample = LogitDistortion(slope=slope, shift=slope - 1).sample(600, rng=1)
    curve = cumulative_differences(sample.y_true, sample.y_prob)
    ax = plot.cumulative_differences(curve)
    low, high = heights(ax, "strip")
    assert low == pytest.approx(-high)
    # 5 % of Brownian motions leave the strip.
    assert float(brownian_supremum_tail(high / curve.scale)) == pytest.approx(0.05, abs=1e-5)
    leaves = np.abs(one(ax, "differences").get_ydata()).max() > high
    assert leaves == (curve.mad_test.p_value < 0.05)
    assert ax.lines[0].get_ydata() == [0, 0]
    ticks = [text.get_text().split("≤ ")[-1] for text in ax.get_xticklabels()]
    reached = np.sort(sample.y_prob)[[149, 299, 449, 599]]
    assert ticks == ["0 %", *(f"{p:.2g}" for p in reached)]
    assert np.ptp(one(ax, "extremes").get_ydata()) == pytest.approx(curve.ecce_r)
    assert plot.alt_text(ax) == curve.describe()
    assert_nothing_is_cut_off(ax)


@pytest.fixture(scope="module")
def isotonic():
    sample = SyntheticShape("beta2").sample(600, seed=2)
    return fit_on_test(sample.y_true, sample.y_prob, evaluator=IsotonicCalibrator())


@pytest.fixture(scope="module")
def six():
    p, y = [0.1, 0.3, 0.4, 0.6, 0.7, 0.9], [0, 1, 0, 1, 1, 1]
    families = {"flat": HistogramBinning(2), "slope-1": SlopeOneBinning(2)}
    return {name: fit_on_test(y, p, evaluator=family) for name, family in families.items()}


def filled(ax: Axes) -> float:
    return area(ax, "filling-over") + area(ax, "filling-under")


# --- fit on test --------------------------------------------------------------------------------


@pytest.mark.parametrize("element", ["bars", "means"])
def test_elements_that_need_bins_are_refused(isotonic, element):
    with pytest.raises(ValueError, match='"isotonic" has no bins'):
        plot.fit_on_test(isotonic, show=element)


def test_of_many_predictions_some_get_a_line(isotonic):
    ax = plot.fit_on_test(isotonic, show="distances")
    assert "Lines stand at 120 of 600 predictions." in plot.alt_text(ax)


# Dense predictions: the mean over them is the area, up to their spacing.
@pytest.mark.parametrize("kind", [SlopeOneBinning, HistogramBinning])
def test_the_area_of_tops_is_their_own_error(kind):
    y_prob = (np.arange(20_000) + 0.5) / 20_000
    y_true = np.random.default_rng(0).random(20_000) < y_prob
    result = fit_on_test(y_true, y_prob, evaluator=kind(4))
    assert filled(plot.fit_on_test(result)) == pytest.approx(result.value, abs=1e-4)
    ece = ck.expected_calibration_error(y_true, y_prob, bins=4).value
    assert (result.value > ece + 0.05) == (kind is HistogramBinning)


def test_the_frame_grows_with_a_map_that_leaves_it(six):
    flat, slanted = (plot.fit_on_test(six[name]).get_ylim() for name in ("flat", "slope-1"))
    assert flat == pytest.approx((-0.025, 1.025))
    assert slanted == pytest.approx((-0.025, six["slope-1"].fitted.max() + 0.025))


def test_a_map_without_bins_gets_twenty_columns_of_counts(isotonic):
    ax = plot.fit_on_test(isotonic)
    count = np.histogram(isotonic.prob, 20, (0, 1))[0]
    assert np.array(drawn(ax, "counts"))[:, 3].tolist() == count[count > 0].tolist()
