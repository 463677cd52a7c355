"""Curves over temperatures and epochs, bars of chances, and galleries, tested by their artists."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes

import calibkit as ck
from calibkit import plot
from calibkit_course import lesson10
from calibkit_course.lesson10 import figures as figures10, over_epochs, pictures
from tests.drawn import assert_nothing_is_cut_off, find, one


@dataclass(frozen=True)
class Curve:
    temperatures: Any = field(default_factory=lambda: np.array([0.5, 1.0, 2.0, 4.0]))
    log_losses: Any = field(default_factory=lambda: np.array([9.0, 2.0, 1.0, 1.5]))
    errors: Any = field(default_factory=lambda: np.array([0.4, 0.3, 0.05, 0.2]))
    temperature: float = 1.0
    best_temperature: float = 2.1


CHANCES = [[0.7, 0.2, 0.1], [0.1, 0.0, 0.9]]


class TestCooling:
    @pytest.mark.parametrize(
        ("quantity", "column"), [("log loss", "log_losses"), ("calibration error", "errors")]
    )
    def test_the_line_holds_the_curve(self, quantity, column):
        ax = figures10.cooling(Curve(), quantity=quantity)
        across, up = one(ax, "curve").get_data()
        assert np.array_equal(across, Curve().temperatures)
        assert np.array_equal(up, getattr(Curve(), column))
        assert ax.get_xscale() == "log"
        assert_nothing_is_cut_off(ax)

    def test_best_and_set_temperature_are_marked_in_two_ways(self):
        ax = figures10.cooling(Curve(), quantity="calibration error")
        assert one(ax, "best").get_xdata()[0] == 2.1
        assert one(ax, "set").get_xydata().tolist() == [[1.0, 0.3]]
        assert one(ax, "best").get_linestyle() == "--"

    def test_a_huge_loss_leaves_the_valley_visible_and_the_mark_inside(self):
        ax = figures10.cooling(replace(Curve(), temperature=0.5))
        assert ax.get_ylim()[1] < 4
        assert one(ax, "set").get_ydata()[0] <= ax.get_ylim()[1]
        words = plot.alt_text(ax)
        assert "lowest near T = 2 with 1.00. Set: T = 0.5" in words and "T = 2.10" in words


def test_chances_are_bars_and_the_true_class_is_marked(subtests):
    ax = figures10.class_chances(CHANCES, labels=[0, 1], names=["sure", "wrong,\nsure"])
    bars, strips = find(ax, "chances"), find(ax, "true-class")
    for row, shape in zip(CHANCES, bars, strict=True):
        with subtests.test(shape=shape):
            assert shape.get_data().values[::2] - shape.get_data().baseline == pytest.approx(row)
    assert bars[0].get_data().baseline - bars[1].get_data().baseline > 1  # rows do not overlap
    assert [strip.get_x() + 0.5 for strip in strips] == [0, 1]
    assert all(strip.get_hatch() for strip in strips)
    words = plot.alt_text(ax)
    assert "sure: class 0 leads with 0.70, the true one" in words
    assert "wrong, sure: class 2 leads with 0.90, the true class 1 has 0.00" in words
    assert_nothing_is_cut_off(ax)


@dataclass(frozen=True)
class History:
    epoch: Any = field(default_factory=lambda: np.arange(1, 6))
    accuracy: tuple[float, ...] = (0.2, 0.4, 0.6, 0.6, 0.6)
    train_loss: tuple[float, ...] = (2.2, 1.0, 0.5, 0.2, 0.1)
    log_loss: tuple[float, ...] = (2.0, 1.2, 1.1, 1.3, 1.6)
    refined_log_loss: tuple[float, ...] = (1.9, 1.2, 1.05, 0.95, 1.0)
    calibration_error: tuple[float, ...] = (0.1, 0.02, 0.05, 0.1, 0.2)
    temperature: tuple[float, ...] = (0.8, 1.0, 1.3, 2.0, 2.5)


class TestTraining:
    def test_both_log_losses_with_their_lowest_points(self):
        ax = over_epochs(History())
        assert tuple(one(ax, "raw").get_ydata()) == History.log_loss
        assert tuple(one(ax, "refined").get_ydata()) == History.refined_log_loss
        assert tuple(one(ax, "own").get_ydata()) == History.train_loss
        assert one(ax, "least-raw").get_xydata().tolist() == [[3, 1.1]]
        assert one(ax, "least-refined").get_xydata().tolist() == [[4, 0.95]]
        assert one(ax, "raw").get_linestyle() != one(ax, "refined").get_linestyle()
        words = plot.alt_text(ax)
        assert "from 2.00 to 1.60, between 1.10 and 2.00" in words
        assert "from 1.90 to 1.00 after temperature scaling, between 0.95 and 1.90" in words
        assert_nothing_is_cut_off(ax)


class TestConfidences:
    Y = np.array([0, 0, 1, 2, 1, 0])
    PROB = np.array([[8, 1, 1], [9, 0.5, 0.5], [9, 0.5, 0.5], [2, 3, 5], [1, 8, 1], [1, 8, 1]]) / 10

    def table(self) -> Any:
        return ck.reliability_table(self.Y, self.PROB, view="top-label", bins=10)

    def heights(self, ax: Axes, gid: str) -> list[tuple[float, float]]:
        paths = one(ax, gid).get_paths()
        return [(path.vertices[:, 1].min(), path.vertices[:, 1].max()) for path in paths]

    def test_the_wrong_answers_stand_below_the_right_ones(self):
        ax = lesson10.confidences(self.table())
        low, high = self.heights(ax, "over-share"), self.heights(ax, "under-share")
        # Confidence 0.5: one, right. 0.8: three, one of them wrong. 0.9: two, one wrong.
        assert [round(6 * top) for _, top in low] == [0] * 8 + [1, 1]
        assert [round(6 * top) for _, top in high] == [0, 0, 0, 0, 0, 1, 0, 0, 3, 2]
        assert [foot for foot, _ in high] == [top for _, top in low]
        assert ax.get_xlabel() == "confidence"
        assert "Above 0.90 lie 0.33 of them; 0.17 are wrong" in plot.alt_text(ax)
        assert_nothing_is_cut_off(ax)


class TestGallery:
    IMAGES = np.random.default_rng(0).random((8, 28, 28))
    PROB = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.3, 0.7]] * 2)
    LABELS = np.array([0, 0, 1, 1, 1, 1, 0, 0])

    def test_the_surest_mistakes_come_first(self):
        assert pictures.surest_mistakes(self.PROB, self.LABELS).tolist() == [4, 1, 7, 2]
        assert pictures.surest_mistakes(self.PROB, self.LABELS, 2).tolist() == [4, 1]

    @pytest.mark.slow
    def test_it_shows_the_images_that_it_names(self, subtests):
        figure = pictures.gallery(self.IMAGES, self.LABELS, self.PROB)
        shown = [ax for ax in figure.axes if find(ax, "image")]
        assert [ax.get_title() for ax in shown] == [
            "says 0: 0.9000\nis a 1",
            "says 1: 0.8000\nis a 0",
            "says 1: 0.7000\nis a 0",
            "says 0: 0.6000\nis a 1",
        ]
        for ax, row in zip(shown, (4, 1, 7, 2), strict=True):
            with subtests.test(ax=ax):
                np.testing.assert_array_equal(one(ax, "image").get_array(), self.IMAGES[row])
        assert_nothing_is_cut_off(figure.axes[0])
        words = plot.alt_text(figure)
        assert "4 images of digits" in words and "says 0: 0.9000, is a 1" in words
