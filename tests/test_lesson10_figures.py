"""Curves over temperatures, bars of chances, and galleries, tested by what their artists hold."""

from dataclasses import dataclass, field, replace
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from drawn import assert_nothing_is_cut_off, find, one

from calibkit import plot
from calibkit.lessons.lesson10 import figures as figures10
from calibkit.lessons.lesson10 import pictures


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

    def test_between_two_points_the_mark_lies_on_the_line(self):
        ax = figures10.cooling(replace(Curve(), temperature=2.0**0.5), quantity="calibration error")
        assert one(ax, "set").get_ydata()[0] == pytest.approx(0.175)

    def test_a_huge_loss_leaves_the_valley_visible_and_the_mark_inside(self):
        ax = figures10.cooling(replace(Curve(), temperature=0.5))
        assert ax.get_ylim()[1] < 4
        assert one(ax, "set").get_ydata()[0] <= ax.get_ylim()[1]

    def test_its_words(self):
        assert plot.alt_text(figures10.cooling(Curve())) == (
            "Log loss against the temperature, lowest near T = 2 with 1.00. Set: T = 1. Lowest "
            "log loss at T = 2.10."
        )

    def test_another_quantity_is_refused(self):
        with pytest.raises(ValueError, match="quantity must be .*, got 'ECE'"):
            figures10.cooling(Curve(), quantity="ECE")
        assert not plt.get_fignums()


class TestClassChances:
    def test_a_bar_is_as_high_as_its_chance(self):
        ax = figures10.class_chances(CHANCES, labels=[0, 1])
        for row, shape in zip(CHANCES, find(ax, "chances"), strict=True):
            foot = shape.get_data().baseline
            assert shape.get_data().values[::2] - foot == pytest.approx(row)

    def test_a_strip_marks_the_true_class(self):
        ax = figures10.class_chances(CHANCES, labels=[0, 1])
        strips = find(ax, "true-class")
        assert [strip.get_x() + 0.5 for strip in strips] == [0, 1]
        assert all(strip.get_hatch() for strip in strips)

    def test_the_rows_do_not_overlap(self):
        feet = [s.get_data().baseline for s in find(figures10.class_chances(CHANCES, labels=[0, 1]),
                                                    "chances")]  # fmt: skip
        assert feet[0] - feet[1] > 1

    def test_its_words(self):
        ax = figures10.class_chances(CHANCES, labels=[0, 1], names=["sure", "wrong,\nsure"])
        assert plot.alt_text(ax) == (
            "Chances of 3 classes. Example sure: class 0 leads with 0.70, the true one. Example "
            "wrong, sure: class 2 leads with 0.90, the true class 1 has 0.00."
        )
        assert_nothing_is_cut_off(ax)


class TestGallery:
    IMAGES = np.random.default_rng(0).random((8, 28, 28))
    PROB = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.3, 0.7]] * 2)
    LABELS = np.array([0, 0, 1, 1, 1, 1, 0, 0])

    def test_the_surest_mistakes_come_first(self):
        assert pictures.surest_mistakes(self.PROB, self.LABELS).tolist() == [4, 1, 7, 2]
        assert pictures.surest_mistakes(self.PROB, self.LABELS, 2).tolist() == [4, 1]

    @pytest.mark.slow
    def test_it_shows_the_images_that_it_names(self):
        figure = pictures.gallery(self.IMAGES, self.LABELS, self.PROB)
        shown = [ax for ax in figure.axes if find(ax, "image")]
        assert [ax.get_title() for ax in shown] == [
            "says 0: 0.9000\nis a 1",
            "says 1: 0.8000\nis a 0",
            "says 1: 0.7000\nis a 0",
            "says 0: 0.6000\nis a 1",
        ]
        for ax, row in zip(shown, (4, 1, 7, 2), strict=True):
            np.testing.assert_array_equal(one(ax, "image").get_array(), self.IMAGES[row])
        assert_nothing_is_cut_off(figure.axes[0])
        words = plot.alt_text(figure)
        assert "4 images of digits" in words and "says 0: 0.9000, is a 1" in words

    def test_without_probabilities_it_shows_the_first(self):
        figure = pictures.gallery(self.IMAGES, self.LABELS, count=3)
        titles = [ax.get_title() for ax in figure.axes if find(ax, "image")]
        assert titles == ["a 0", "a 0", "a 1"]


@pytest.mark.parametrize(
    "draw",
    [
        lambda ax: figures10.cooling(Curve(), ax),
        lambda ax: figures10.class_chances(CHANCES, ax, labels=[0, 1]),
    ],
)
def test_a_given_axes_is_used_and_rc_params_are_unchanged(draw):
    _, axes = plt.subplots(1, 2, layout="constrained")
    with mpl.rc_context({"font.size": 17, "hatch.linewidth": 5}):
        before = dict(mpl.rcParams)
        assert draw(axes[1]) is axes[1]
        assert dict(mpl.rcParams) == before
    assert len(plt.get_fignums()) == 1 and axes[1].get_legend() is None
