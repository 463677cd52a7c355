"""Curves over temperatures and epochs, bars of chances, and galleries, tested by their artists."""

from types import SimpleNamespace

import numpy as np
import pytest

import calibkit as ck
from calibkit import plot
from calibkit_course import lesson10
from calibkit_course.lesson10 import figures as figures10, over_epochs, pictures
from tests.drawn import assert_nothing_is_cut_off, assert_points, find, one


def cooled(temperature: float = 1.0) -> SimpleNamespace:
    return SimpleNamespace(
        temperatures=np.array([0.5, 1.0, 2.0, 4.0]),
        log_losses=np.array([9.0, 2.0, 1.0, 1.5]),
        errors=np.array([0.4, 0.3, 0.05, 0.2]),
        temperature=temperature,
        best_temperature=2.1,
    )


def test_the_line_holds_the_curve_and_both_temperatures_are_marked():
    curve = cooled()
    for quantity, up in (("log loss", curve.log_losses), ("calibration error", curve.errors)):
        ax = figures10.temperature_curve(curve, quantity=quantity)
        assert_points(ax, {"curve": (curve.temperatures, up), "set": (1.0, up[1])})
        assert one(ax, "best").get_xdata()[0] == 2.1
        assert ax.get_xscale() == "log"
        assert_nothing_is_cut_off(ax)


def test_a_huge_loss_leaves_the_valley_visible_and_the_mark_inside():
    ax = figures10.temperature_curve(cooled(temperature=0.5))
    assert one(ax, "set").get_ydata()[0] <= ax.get_ylim()[1] < 4
    words = plot.alt_text(ax)
    assert "lowest near T = 2 with 1.00. Set: T = 0.5" in words and "T = 2.10" in words


def test_chances_are_bars_and_the_true_class_is_marked():
    chances = [[0.7, 0.2, 0.1], [0.1, 0.0, 0.9]]
    ax = figures10.class_chances(chances, labels=[0, 1], names=["sure", "wrong,\nsure"])
    bars = [bar.get_data() for bar in find(ax, "chances")]
    assert [bar.values[::2] - bar.baseline for bar in bars] == [pytest.approx(r) for r in chances]
    assert bars[0].baseline - bars[1].baseline > 1  # rows do not overlap
    assert [strip.get_x() + 0.5 for strip in find(ax, "true-class")] == [0, 1]
    words = plot.alt_text(ax)
    assert "sure: class 0 leads with 0.70, the true one" in words
    assert "wrong, sure: class 2 leads with 0.90, the true class 1 has 0.00" in words
    assert_nothing_is_cut_off(ax)


def test_both_log_losses_with_their_lowest_points():
    history = SimpleNamespace(
        epoch=np.arange(1, 6),
        accuracy=(0.2, 0.4, 0.6, 0.6, 0.6),
        train_loss=(2.2, 1.0, 0.5, 0.2, 0.1),
        log_loss=(2.0, 1.2, 1.1, 1.3, 1.6),
        refined_log_loss=(1.9, 1.2, 1.05, 0.95, 1.0),
        calibration_error=(0.1, 0.02, 0.05, 0.1, 0.2),
        temperature=(0.8, 1.0, 1.3, 2.0, 2.5),
    )
    ax = over_epochs(history)
    elements = {
        "raw": (history.epoch, history.log_loss),
        "refined": (history.epoch, history.refined_log_loss),
        "own": (history.epoch, history.train_loss),
        "least-raw": (3, 1.1),
        "least-refined": (4, 0.95),
    }
    assert_points(ax, elements)
    words = plot.alt_text(ax)
    assert "from 2.00 to 1.60, between 1.10 and 2.00" in words
    assert "from 1.90 to 1.00 after temperature scaling, between 0.95 and 1.90" in words
    assert_nothing_is_cut_off(ax)


def test_the_wrong_answers_stand_below_the_right_ones():
    """Confidence 0.5: one, right. 0.8: three, one of them wrong. 0.9: two, one wrong."""
    prob = np.array([[8, 1, 1], [9, 0.5, 0.5], [9, 0.5, 0.5], [2, 3, 5], [1, 8, 1], [1, 8, 1]]) / 10
    table = ck.reliability_table([0, 0, 1, 2, 1, 0], prob, view="top-label", bins=10)
    ax = lesson10.confidences(table)
    left, right = np.arange(10) / 10, np.arange(1, 11) / 10
    wrong, top = np.array([0] * 8 + [1, 1]) / 6, np.array([0, 0, 0, 0, 0, 1, 0, 0, 3, 2]) / 6
    for gid, foot, head in (("over-share", 0 * wrong, wrong), ("under-share", wrong, top)):
        paths = [path.get_extents() for path in one(ax, gid).get_paths()]
        np.testing.assert_allclose([box.intervaly for box in paths], np.transpose([foot, head]))
        assert all(a <= box.x0 < box.x1 <= b for a, box, b in zip(left, paths, right, strict=True))
    assert "Above 0.90 lie 0.33 of them; 0.17 are wrong" in plot.alt_text(ax)
    assert_nothing_is_cut_off(ax)


@pytest.mark.slow
def test_the_gallery_shows_the_surest_mistakes_first():
    images = np.random.default_rng(0).random((8, 28, 28))
    prob = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.3, 0.7]] * 2)
    labels = np.array([0, 0, 1, 1, 1, 1, 0, 0])
    assert pictures.surest_mistakes(prob, labels).tolist() == [4, 1, 7, 2]
    assert pictures.surest_mistakes(prob, labels, 2).tolist() == [4, 1]
    figure = pictures.gallery(images, labels, prob)
    shown = [ax for ax in figure.axes if find(ax, "image")]
    said = ["0: 0.9000\nis a 1", "1: 0.8000\nis a 0", "1: 0.7000\nis a 0", "0: 0.6000\nis a 1"]
    assert [ax.get_title() for ax in shown] == [f"says {words}" for words in said]
    for ax, row in zip(shown, (4, 1, 7, 2), strict=True):
        np.testing.assert_array_equal(one(ax, "image").get_array(), images[row])
    assert_nothing_is_cut_off(figure.axes[0])
    words = plot.alt_text(figure)
    assert "4 images of digits" in words and "says 0: 0.9000, is a 1" in words
