"""The test-based diagram and binnings side by side, tested by what their artists hold."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes

from calibkit import plot
from calibkit.bins import EqualMass, FixedEdges, Pava
from calibkit.fakes import LogitDistortion
from calibkit.hypothesis_tests import binomial_p_values, test_based_calibration_error
from calibkit_course.lesson08 import figures as figures08
from calibkit_course.lesson08.diagram import SIDE, STRIP, acceptance_region, draw_test_based
from tests.drawn import (
    assert_drawn_inside,
    assert_manners,
    assert_nothing_is_cut_off,
    assert_points,
    assert_title_legend_and_words,
    corners,
    drawn,
    find,
    one,
)

FAKE = LogitDistortion(slope=0.6)
TILTED = FAKE.sample(600, rng=8)
RARE = LogitDistortion(scores=(0.6, 20)).sample(400, rng=8)


def test_acceptance_regions_hold_the_accepted_predictions():
    sample = LogitDistortion(slope=0.7).sample(3000, rng=4)
    error = test_based_calibration_error(sample.y_true, sample.y_prob, n_draws=0)
    (low, high), verdict = acceptance_region(error), error.verdicts[0]
    accepted, prob = ~verdict.rejected, verdict.prob
    inside = (prob >= low[verdict.bin] - 1e-9) & (prob <= high[verdict.bin] + 1e-9)
    assert 0.2 < accepted.mean() < 0.8 and inside[accepted].all()
    assert (inside & ~accepted).mean() < 0.005  # gaps of the exact test are rare and narrow
    counted = binomial_p_values(verdict.hits, verdict.table.count, np.clip(high + 1e-6, 0, 1))
    assert (counted <= 0.05).all()


def error_of(sample, **options):
    options = {"n_draws": 5, "rng": 0} | options
    return test_based_calibration_error(sample.y_true, sample.y_prob, **options)


def child(ax: Axes, label: str) -> Axes:
    (found,) = [inner for inner in ax.child_axes if inner.get_label() == label]
    return found


@pytest.mark.slow
def test_manners_title_legend_words_and_what_is_drawn(subtests):
    error = error_of(TILTED)
    assert_manners(subtests, {"TCE": lambda ax: draw_test_based(error, ax)})
    assert_title_legend_and_words(lambda **o: draw_test_based(error, **o), error.describe())
    ax, table, (low, high) = draw_test_based(error), error.table, acceptance_region(error)
    for each in (ax, *ax.child_axes):
        assert_drawn_inside(each)
    left, right, thirty = table.edges[:-1], table.edges[1:], np.linspace(0, 1.03, 31)
    side, beside = np.histogram(TILTED.y_prob, thirty)[0], 0.03 * np.ptp(table.edges)
    first, last = left[0] - beside, right[-1] + beside
    elements = {
        "acceptance": (left, low, right, high), "count": (left, 0, right, table.count),
        "frequency": (left, table.frequency, right, table.frequency),
        "rejected-count": (left, 0, right, error.verdicts[0].rejected_count),
        "marginal": (0, thirty[:-1], side, thirty[1:]), "diagonal": ([0, 1], [0, 1]),
        "frame": (
            [first, first, 0], [-0.03, 0, -0.03],
            [last, last, 1.08 * side.max()], [1.03, 1.5 * table.count.max(), 1.03],
        ),
    }  # fmt: skip
    assert_points(ax, elements)
    one_bin = test_based_calibration_error([0, 1], [0.3, 0.3], bins=EqualMass(1), n_draws=0)
    draw_test_based(one_bin).figure.canvas.draw()


@pytest.mark.parametrize("n_bins", [1, 12])
def test_each_violin_spans_its_predictions(n_bins):
    same = test_based_calibration_error([0, 1], [0.3, 0.3], bins=EqualMass(1), n_draws=0)
    error = same if n_bins == 1 else error_of(TILTED, bins=EqualMass(12))
    ax, verdict = draw_test_based(error), error.verdicts[0]
    parts = np.array(drawn(ax, "accepted") + drawn(ax, "rejected"))
    for b, (left, right) in enumerate(pairwise(error.table.edges)):
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


def test_the_strip_counts_predictions_and_rejections():
    error = error_of(TILTED, bins=EqualMass(8))
    strip = child(draw_test_based(error), "counts")
    assert strip.get_yticks().tolist() == [0, error.table.count.max()]
    shares = [text.get_text() for text in find(strip, "share")]
    assert shares == [f"{100 * share:.0f}" for share in error.verdicts[0].share]


@pytest.mark.slow
@pytest.mark.parametrize(("n_bins", "n_printed"), [(16, 14), (17, 13), (116, 0)])
def test_printed_shares_fit_their_bars(n_bins, n_printed):
    ax = draw_test_based(error_of(TILTED, bins=EqualMass(n_bins)))
    ax.figure.canvas.draw()
    strip, side = child(ax, "counts"), child(ax, "predictions")
    frame, below, beside = (inner.get_window_extent() for inner in (ax, strip, side))
    assert below.height == pytest.approx(STRIP * (frame.y1 - below.y0))
    assert beside.width == pytest.approx(SIDE * (beside.x1 - frame.x0))
    assert (len(find(strip, "share")), len(ax.figure.legends)) == (n_printed, 1)
    assert ("% rejected" in strip.get_xlabel()) == (n_printed > 0)
    assert ("from left to right" in plot.alt_text(ax)) == (n_bins == 16)
    for text in find(strip, "share"):
        x = text.xy[0]
        bar = next(b for b in corners(strip, "count") if b[:, 0].min() <= x <= b[:, 0].max())
        ends = strip.transData.transform(np.column_stack([bar[:, 0], bar[:, 0]]))[:, 0]
        assert np.ptp(ends) >= text.get_window_extent().width - 1


@pytest.mark.slow
def test_empty_bins_survive():
    bins = FixedEdges([0, 0.2, 0.4, 0.6, 0.8, 1])
    error = error_of(RARE, bins=bins)
    used = int(error.table.occupied.sum())
    assert used < 5
    ax = draw_test_based(error)
    assert len(corners(ax, "acceptance")) == used
    assert len(corners(child(ax, "counts"), "count")) == 5
    top = 1.25 * max(np.nanmax(error.table.frequency), RARE.y_prob.max())
    assert ax.get_ylim() == pytest.approx((-0.03 * top, 1.03 * top))
    assert f"{5 - used} of 5 bins are empty." in plot.alt_text(ax)
    assert_nothing_is_cut_off(ax)


def test_what_was_measured_class_by_class_is_refused():
    prob = np.full((6, 2), 0.5)
    error = test_based_calibration_error([0, 1] * 3, prob, view="class-wise", n_draws=0)
    with pytest.raises(ValueError, match="2 tables, one per class"):
        draw_test_based(error)
    assert not plt.get_fignums()


def test_a_violin_is_as_wide_as_its_histogram_is_high():
    spread, dense = np.linspace(0.1, 0.3, 40), np.linspace(0.17, 0.23, 60)
    prob = np.concatenate((spread, dense))
    labels = np.arange(100) % 5 == 0
    error = test_based_calibration_error(labels, prob, bins=EqualMass(1), n_draws=0)
    ax = draw_test_based(error)
    outline = np.concatenate(corners(ax, "accepted") + corners(ax, "rejected"))
    level, width = outline[:, 1], np.abs(outline[:, 0] - 0.5) / 0.44
    assert (level.min(), level.max()) == (0.1, 0.3)
    assert width.max() == pytest.approx(1)
    middle, end = width[np.abs(level - 0.2) < 0.02], width[level < 0.11]
    assert middle.min() > 0.9 and end.max() < 0.5


def test_each_panel_counts_its_bins_and_rejections_and_draws_the_true_map():
    errors = {}
    for rule in (EqualMass(6), Pava()):
        errors[str(rule)] = test_based_calibration_error(
            TILTED.y_true, TILTED.y_prob, bins=rule, n_draws=0
        )
    axes = figures08.compare_bins(errors, truth=FAKE.true_map)
    for ax, (name, error) in zip(axes, errors.items(), strict=True):
        assert ax.get_title() == name
        assert len(one(ax, "rejected").get_xdata()) == error.rejected.sum()
        assert len(one(ax, "accepted").get_xdata()) == (~error.rejected).sum()
        assert len(corners(ax, "acceptance")) == error.table.n_bins
        share = f"{100 * error.value:.1f} % rejected"
        assert one(ax, "words").get_text() == f"{error.table.n_bins} bins\n{share}"
        across, up = one(ax, "truth").get_data()
        assert up == pytest.approx(FAKE.true_map(np.asarray(across)))
    assert_nothing_is_cut_off(axes[0])
