"""Curves over temperatures and epochs, and bars of chances, tested by what their artists hold."""

from dataclasses import dataclass, field, replace
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.text import Text

from calibkit import plot
from calibkit.lessons.lesson10 import figures as figures10


@dataclass(frozen=True)
class Curve:
    temperatures: Any = field(default_factory=lambda: np.array([0.5, 1.0, 2.0, 4.0]))
    log_losses: Any = field(default_factory=lambda: np.array([9.0, 2.0, 1.0, 1.5]))
    errors: Any = field(default_factory=lambda: np.array([0.4, 0.3, 0.05, 0.2]))
    temperature: float = 1.0
    best_temperature: float = 2.1


@dataclass(frozen=True)
class History:
    epoch: Any = field(default_factory=lambda: np.arange(1, 6))
    accuracy: tuple[float, ...] = (0.2, 0.4, 0.6, 0.6, 0.6)
    log_loss: tuple[float, ...] = (2.0, 1.2, 1.1, 1.3, 1.6)
    refined_log_loss: tuple[float, ...] = (1.9, 1.2, 1.05, 0.95, 1.0)
    calibration_error: tuple[float, ...] = (0.1, 0.02, 0.05, 0.1, 0.2)
    temperature: tuple[float, ...] = (0.8, 1.0, 1.3, 2.0, 2.5)
    n_validation: int = 100


CHANCES = [[0.7, 0.2, 0.1], [0.1, 0.0, 0.9]]


def find(ax: Axes, gid: str) -> list[Any]:
    return [artist for artist in ax.findobj() if artist.get_gid() == gid]


def one(ax: Axes, gid: str) -> Any:
    (artist,) = find(ax, gid)
    return artist


def assert_nothing_is_cut_off(ax: Axes) -> None:
    figure = ax.figure
    figure.canvas.draw()
    box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height
    visible = [text for text in figure.findobj(Text) if text.get_text().strip()]
    assert min(text.get_fontsize() for text in visible) >= 9


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

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"labels": [0, 3]}, r"labels\[1\]=3"),
            ({"labels": [0]}, "1 labels"),
            ({"labels": [0, 1], "names": ["a"]}, "1 names"),
        ],
    )
    def test_what_does_not_match_is_refused(self, options, words):
        with pytest.raises(ValueError, match=words):
            figures10.class_chances(CHANCES, **options)
        with pytest.raises(ValueError, match="shape"):
            figures10.class_chances([0.5, 0.5], labels=[0, 1])
        assert not plt.get_fignums()


class TestTraining:
    def test_both_log_losses_with_their_lowest_points(self):
        ax = figures10.training(History())
        assert tuple(one(ax, "raw").get_ydata()) == History.log_loss
        assert tuple(one(ax, "refined").get_ydata()) == History.refined_log_loss
        assert one(ax, "least-raw").get_xydata().tolist() == [[3, 1.1]]
        assert one(ax, "least-refined").get_xydata().tolist() == [[4, 0.95]]
        assert one(ax, "raw").get_linestyle() != one(ax, "refined").get_linestyle()
        assert_nothing_is_cut_off(ax)

    @pytest.mark.parametrize("quantity", ["accuracy", "calibration error", "temperature"])
    def test_the_other_quantities(self, quantity):
        ax = figures10.training(History(), quantity=quantity)
        wanted = getattr(History, quantity.replace(" ", "_"))
        assert tuple(one(ax, "values").get_ydata()) == wanted
        assert bool(find(ax, "neutral")) == (quantity == "temperature")
        assert_nothing_is_cut_off(ax)

    def test_its_words(self):
        words = plot.alt_text(figures10.training(History()))
        assert words == (
            "Log loss on validation data against the epochs. It goes from 2.00 to 1.60, between "
            "1.10 and 2.00. It goes from 1.90 to 1.00 after temperature scaling, between 0.95 "
            "and 1.90."
        )

    def test_what_cannot_be_drawn_is_refused(self):
        with pytest.raises(ValueError, match="quantity must be .*, got 'loss'"):
            figures10.training(History(), quantity="loss")
        with pytest.raises(ValueError, match="no validation data"):
            figures10.training(replace(History(), n_validation=0))
        assert not plt.get_fignums()


@pytest.mark.parametrize(
    "draw",
    [
        lambda ax: figures10.cooling(Curve(), ax),
        lambda ax: figures10.class_chances(CHANCES, ax, labels=[0, 1]),
        lambda ax: figures10.training(History(), ax, quantity="temperature"),
    ],
)
def test_a_given_axes_is_used_and_rc_params_are_unchanged(draw):
    _, axes = plt.subplots(1, 2, layout="constrained")
    with mpl.rc_context({"font.size": 17, "hatch.linewidth": 5}):
        before = dict(mpl.rcParams)
        assert draw(axes[1]) is axes[1]
        assert dict(mpl.rcParams) == before
    assert len(plt.get_fignums()) == 1 and axes[1].get_legend() is None
