"""Learning curves, maps and intervals of lesson 11, tested by what their artists hold."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from calibkit import plot
from calibkit_course.lesson11 import figures as figures11
from calibkit_course.lesson11.race import METHODS
from tests.drawn import assert_nothing_is_cut_off, find, one


@dataclass(frozen=True)
class Race:
    methods: tuple[str, ...] = ("Platt", "isotonic")
    sizes: Any = field(default_factory=lambda: np.array([100, 1000, 3500]))
    measure: str = "excess log loss"
    low: Any = field(default_factory=lambda: np.array([[0.02, 0.01, 0.01], [0.1, 0.02, 0.001]]))
    middle: Any = field(
        default_factory=lambda: np.array([[0.04, 0.03, 0.02], [np.inf, 0.05, 0.002]])
    )
    high: Any = field(default_factory=lambda: np.array([[0.06, 0.05, 0.03], [np.inf, 0.2, 0.01]]))
    untouched: float = 0.03
    n: int = 1000
    prob: Any = field(default_factory=lambda: np.array([0.1, 0.5, 0.9]))
    truth: Any = field(default_factory=lambda: np.array([0.2, 0.5, 0.8]))
    maps: Any = field(default_factory=lambda: np.array([[0.2, 0.5, 0.8], [0.0, 0.5, 1.0]]))

    def describe(self) -> str:
        return "Two racers."


def race_of(*methods: str) -> Race:
    low, middle, high = (np.full((len(methods), 3), value) for value in (0.1, 0.2, 0.3))
    return Race(methods=methods, low=low, middle=middle, high=high)


class TestLearningCurves:
    def test_medians_marks_and_the_model_as_it_is(self):
        ax = figures11.learning_curves(Race())
        assert one(ax, "curve-0").get_ydata()[:2].tolist() == [0.04, 0.03]
        assert np.isnan(one(ax, "curve-0").get_ydata()[2])  # the race has not come so far
        assert figures11.learning_curves(Race(n=3500)).get_lines()[-1].get_ydata()[2] == 0.002
        assert one(ax, "curve-1").get_xdata().tolist() == [100, 1000, 3500]
        assert one(ax, "untouched").get_ydata()[0] == 0.03
        assert one(ax, "chosen").get_xdata()[0] == 1000
        assert ax.get_xscale() == ax.get_yscale() == "log"
        assert [text.get_text() for text in ax.get_xticklabels()] == ["100", "1k", "3500"]
        assert plot.alt_text(ax) == "Learning curves from 100 rows on. Two racers."
        assert_nothing_is_cut_off(ax)

    def test_infinite_medians_are_written_and_not_drawn(self):
        ax = figures11.learning_curves(Race())
        assert np.isnan(one(ax, "curve-1").get_ydata()[0])
        assert one(ax, "infinite-1").get_text() == "∞"
        assert one(ax, "infinite-1").get_position()[0] == 100
        assert not find(ax, "infinite-0")

    def test_strips_for_few_calibrators_only(self):
        ax = figures11.learning_curves(Race())
        assert len(find(ax, "strip-0")) == len(find(ax, "strip-1")) == 1
        ax = figures11.learning_curves(race_of("Platt", "beta", "isotonic", "histogram"))
        assert not find(ax, "strip-0") and len(find(ax, "curve-3")) == 1

    def test_calibrators_differ_in_more_than_colour(self):
        ax = figures11.learning_curves(race_of(*METHODS))
        lines = [one(ax, f"curve-{m}") for m in range(6)]
        codes = [(ln.get_color(), ln.get_marker(), str(ln._unscaled_dash_pattern)) for ln in lines]
        assert [len(set(code)) for code in zip(*codes, strict=True)] == [6, 6, 6]


def test_maps_and_truth():
    ax = figures11.race_maps(Race())
    assert one(ax, "truth").get_ydata().tolist() == [0.2, 0.5, 0.8]
    assert one(ax, "map-1").get_ydata().tolist() == [0.0, 0.5, 1.0]
    assert one(ax, "map-0").get_linestyle() != one(ax, "map-1").get_linestyle()
    words = plot.alt_text(ax)
    assert "1,000 rows" in words and "Platt 0.000, isotonic 0.133" in words
    assert_nothing_is_cut_off(ax)
