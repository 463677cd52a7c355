"""Learning curves, maps and intervals of lesson 11, tested by what their artists hold."""

from dataclasses import dataclass, field, replace
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.text import Text

import calibkit as ck
from calibkit import plot
from calibkit_course.lesson11 import figures as figures11
from tests.drawn import find, one


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


def assert_nothing_is_cut_off(ax: Axes) -> None:
    figure = ax.figure
    figure.canvas.draw()
    box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height
    visible = [text for text in figure.findobj(Text) if text.get_text().strip()]
    assert min(text.get_fontsize() for text in visible if "math" not in text.get_text()) >= 9


class TestLearningCurves:
    def test_medians_marks_and_the_model_as_it_is(self):
        ax = figures11.learning_curves(Race())
        assert one(ax, "curve-0").get_ydata().tolist() == [0.04, 0.03, 0.02]
        assert one(ax, "curve-1").get_xdata().tolist() == [100, 1000, 3500]
        assert one(ax, "untouched").get_ydata()[0] == 0.03
        assert one(ax, "chosen").get_xdata()[0] == 1000
        assert ax.get_xscale() == ax.get_yscale() == "log"
        assert [text.get_text() for text in ax.get_xticklabels()] == ["100", "1k", "3500"]
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
        four = Race(
            methods=("Platt", "beta", "isotonic", "other"),
            low=np.full((4, 3), 0.1),
            middle=np.full((4, 3), 0.2),
            high=np.full((4, 3), 0.3),
        )
        ax = figures11.learning_curves(four)
        assert not find(ax, "strip-0") and len(find(ax, "curve-3")) == 1

    def test_calibrators_differ_in_more_than_colour(self):
        codes = {}
        ax = figures11.learning_curves(
            Race(
                methods=("Platt", "beta", "isotonic", "Venn-Abers", "histogram", "scaling-binning"),
                low=np.full((6, 3), 0.1),
                middle=np.full((6, 3), 0.2),
                high=np.full((6, 3), 0.3),
            )
        )
        for m in range(6):
            line = one(ax, f"curve-{m}")
            codes[m] = (line.get_color(), line.get_marker(), str(line._unscaled_dash_pattern))
        for place in range(3):
            assert len({code[place] for code in codes.values()}) == 6

    @pytest.mark.parametrize("value", [0.0, np.inf])
    def test_what_a_logarithm_cannot_show_is_left_out(self, value):
        assert not find(figures11.learning_curves(replace(Race(), untouched=value)), "untouched")

    def test_its_words(self):
        assert plot.alt_text(figures11.learning_curves(Race())) == (
            "Learning curves from 100 rows on. Two racers."
        )


class TestRaceMaps:
    def test_maps_and_truth(self):
        ax = figures11.race_maps(Race())
        assert one(ax, "truth").get_ydata().tolist() == [0.2, 0.5, 0.8]
        assert one(ax, "map-1").get_ydata().tolist() == [0.0, 0.5, 1.0]
        assert one(ax, "map-0").get_linestyle() != one(ax, "map-1").get_linestyle()
        assert_nothing_is_cut_off(ax)

    def test_its_words(self):
        words = plot.alt_text(figures11.race_maps(Race()))
        assert words == (
            "Maps fitted to 1,000 rows. Distance from the true map: Platt 0.000, isotonic 0.133."
        )


def interval(low: float, high: float) -> Any:
    made = ck.bootstrap_interval(
        ck.brier_score, [0, 1, 1, 0], [0.2, 0.6, 0.7, 0.4], n_resamples=20, rng=0
    )
    return replace(made, low=low, high=high, value=(low + high) / 2)


class TestIntervals:
    FOUND = (interval(0.0, 0.2), interval(0.1, 0.3), interval(0.2, 0.4))

    def test_hits_and_misses_are_apart(self):
        ax = plot.intervals(self.FOUND, 0.15)
        hits, misses = one(ax, "holds the truth"), one(ax, "misses it")
        assert [path[:, 1].tolist() for path in hits.get_segments()] == [[0.0, 0.2], [0.1, 0.3]]
        assert [path[0, 0] for path in misses.get_segments()] == [3]
        assert hits.get_linewidth()[0] > misses.get_linewidth()[0]
        assert one(ax, "measured").get_ydata().tolist() == pytest.approx([0.1, 0.2, 0.3])
        assert_nothing_is_cut_off(ax)

    def test_each_may_have_its_own_truth(self):
        ax = plot.intervals(self.FOUND, [0.5, 0.2, 0.3])
        assert len(one(ax, "holds the truth").get_segments()) == 2
        assert plot.alt_text(ax) == (
            "3 intervals, reflected, nominal 90 %. 2 of them hold the truth."
        )

    @pytest.mark.parametrize(("found", "truths"), [((), 0.0), (FOUND, [0.1, 0.2])])
    def test_what_does_not_match_is_refused(self, found, truths):
        with pytest.raises(ValueError, match="at least one interval"):
            plot.intervals(found, truths)
        assert not plt.get_fignums()


class TestVennAbers:
    ENDS = ([0.0, 0.2, 0.5], [0.3, 0.4, 1.0])

    def test_both_ends_and_the_truth(self):
        ax = plot.venn_abers([0.1, 0.5, 0.9], self.ENDS, truth=[0.2, 0.5, 0.8])
        assert ax.get_xlim() == (0, 1)
        assert one(ax, "0").get_ydata().tolist() == self.ENDS[0]
        assert one(ax, "1").get_ydata().tolist() == self.ENDS[1]
        assert one(ax, "0").get_linestyle() != one(ax, "1").get_linestyle()
        assert one(ax, "truth").get_ydata().tolist() == [0.2, 0.5, 0.8]
        assert_nothing_is_cut_off(ax)

    def test_its_words(self):
        words = plot.alt_text(plot.venn_abers([0.1, 0.5, 0.9], self.ENDS))
        assert words == (
            "Two probabilities for each prediction, 0.333 apart on average and at most 0.500."
        )

    @pytest.mark.parametrize("prob", [[0.1, 0.5], [0.5, 0.1, 0.9]])
    def test_what_does_not_match_is_refused(self, prob):
        with pytest.raises(ValueError, match="prob must rise"):
            plot.venn_abers(prob, self.ENDS)
        assert not plt.get_fignums()


@pytest.mark.parametrize(
    "draw",
    [
        lambda ax: figures11.learning_curves(Race(), ax),
        lambda ax: figures11.race_maps(Race(), ax),
        lambda ax: plot.intervals(TestIntervals.FOUND, 0.1, ax),
        lambda ax: plot.venn_abers([0.1, 0.5, 0.9], TestVennAbers.ENDS, ax),
    ],
)
def test_a_given_axes_is_used_and_rc_params_are_unchanged(draw):
    _, axes = plt.subplots(1, 2, layout="constrained")
    with mpl.rc_context({"font.size": 17, "hatch.linewidth": 5}):
        before = dict(mpl.rcParams)
        assert draw(axes[1]) is axes[1]
        assert dict(mpl.rcParams) == before
    assert len(plt.get_fignums()) == 1 and axes[1].get_legend() is None
