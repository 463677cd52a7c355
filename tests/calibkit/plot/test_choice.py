"""Choice of bins, replicates and drift, tested by what their artists hold."""

from dataclasses import dataclass, replace

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from calibkit import plot
from calibkit.calibrators import CrossValidatedBinning
from calibkit.fakes import SyntheticShape
from calibkit_course import lesson06
from calibkit_course.lesson06 import Replicates
from calibkit_course.lesson06 import figures as figures06
from tests.drawn import assert_nothing_is_cut_off, find, heights, labels, one


@dataclass(frozen=True)
class Toy:
    """A choice among five numbers of bins; 4 has the lowest score, 2 is within 1 %."""

    candidates_: tuple[int, ...] = (1, 2, 3, 4, 5)
    scores_: tuple[float, ...] = (0.2500, 0.2018, 0.2030, 0.2000, 0.2050)
    best_n_bins_: int = 4
    n_bins_: int = 2
    tolerance: float = 0.01


PLAIN = Replicates(name="plain", values=np.array([0.1, 0.2, 0.3, 0.3]), truth=0.15)
OTHER = Replicates(name="debiased", values=np.array([-0.1, 0.1, 0.2, 0.3]), truth=0.15)


class TestBinChoice:
    def test_the_line_holds_the_scores(self):
        ax = plot.choice(Toy())
        across, up = one(ax, "scores").get_data()
        assert list(across) == [1, 2, 3, 4, 5]
        assert list(up) == list(Toy.scores_)

    def test_lowest_and_chosen_are_marked_in_two_ways(self):
        ax = plot.choice(Toy())
        assert one(ax, "lowest").get_xydata().tolist() == [[4, 0.2000]]
        assert one(ax, "chosen").get_xydata().tolist() == [[2, 0.2018]]
        assert one(ax, "lowest").get_marker() != one(ax, "chosen").get_marker()
        assert {"lowest: 4", "chosen: 2", "within 1 % of the lowest"} <= set(labels(ax))

    def test_the_strip_holds_the_scores_that_are_as_good(self):
        assert heights(plot.choice(Toy()), "strip") == pytest.approx((0.2, 0.202))

    def test_without_a_tolerance_the_lowest_is_chosen(self):
        ax = plot.choice(replace(Toy(), n_bins_=4, tolerance=0.0))
        assert one(ax, "lowest").get_xydata().tolist() == one(ax, "chosen").get_xydata().tolist()

    def test_its_words(self):
        words = plot.alt_text(plot.choice(Toy()))
        assert words == (
            "Mean held-out Brier score for 1 to 5 bins. Lowest: 0.20000 with 4 bins. "
            "Chosen: 0.20180 with 2 bins."
        )

    def test_a_fitted_binning_can_be_drawn(self):
        sample = SyntheticShape.with_error("stairs", 0.1).sample(500, seed=1)
        choice = CrossValidatedBinning(max_bins=20).fit(sample.y_prob, sample.y_true)
        ax = plot.choice(choice)
        assert one(ax, "chosen").get_xdata()[0] == choice.n_bins_
        assert np.array_equal(one(ax, "scores").get_ydata(), choice.scores_)
        assert_nothing_is_cut_off(ax)


class TestReplicates:
    def test_truth_and_mean_stand_where_they_are(self):
        ax = figures06.replicates(PLAIN)
        assert one(ax, "truth").get_xdata()[0] == 0.15
        assert one(ax, "mean-0").get_xdata()[0] == pytest.approx(0.225)
        assert one(ax, "truth").get_linestyle() != one(ax, "mean-0").get_linestyle()

    def test_every_estimate_is_counted_once(self):
        ax = figures06.replicates([PLAIN, OTHER])
        for place in (0, 1):
            assert sum(one(ax, f"estimates-{place}").get_data().values) == 4

    def test_several_sets_share_the_columns_and_differ_in_hatch(self):
        ax = figures06.replicates([PLAIN, OTHER])
        one_set, other = (one(ax, f"estimates-{place}") for place in (0, 1))
        assert np.array_equal(one_set.get_data().edges, other.get_data().edges)
        assert one_set.get_hatch() != other.get_hatch()
        assert {"plain", "debiased", "mean, plain", "mean, debiased", "truth"} == set(labels(ax))

    def test_equal_estimates_still_make_a_column(self):
        flat = Replicates(name="flat", values=np.full(5, 0.2), truth=0.2)
        drawn = one(figures06.replicates(flat), "estimates-0").get_data()
        assert max(drawn.values) == 5 and np.ptp(drawn.edges) > 0

    def test_what_does_not_belong_together_is_refused(self):
        with pytest.raises(ValueError, match="same truth, got 2 with the truths"):
            figures06.replicates([PLAIN, replace(PLAIN, truth=0.2)])
        with pytest.raises(ValueError, match="1 to 3 sets"):
            figures06.replicates([])
        with pytest.raises(ValueError, match="got 4"):
            figures06.replicates([PLAIN] * 4)
        assert not plt.get_fignums()

    def test_its_words(self):
        words = plot.alt_text(figures06.replicates([PLAIN, OTHER]))
        assert words == f"2 histograms of estimates. {PLAIN.describe()} {OTHER.describe()}"
        assert plot.alt_text(figures06.replicates(PLAIN)).startswith(
            "Histogram of estimates. plain"
        )

    def test_nothing_is_cut_off(self):
        assert_nothing_is_cut_off(figures06.replicates([PLAIN, OTHER], title="Two estimates"))


class TestBinDrift:
    def test_the_lines_are_the_columns_of_the_view(self):
        view = lesson06.bin_tuner_view(n=500)
        ax = figures06.bin_drift(view)
        assert np.array_equal(one(ax, "plain-mean").get_xdata(), view.grid)
        assert np.array_equal(one(ax, "plain-mean").get_ydata(), view.plain_mean)
        assert np.array_equal(one(ax, "limit").get_ydata(), view.limit)
        assert one(ax, "truth").get_ydata()[0] == view.truth
        assert not find(ax, "points")

    def test_points_are_drawn_where_they_are_asked_for(self):
        ax = figures06.bin_drift(lesson06.bin_tuner_view(n=500), points=([3, 80], [0.1, 0.2]))
        assert one(ax, "points").get_xydata().tolist() == [[3, 0.1], [80, 0.2]]
        assert ax.get_xlim()[1] > 80 and ax.get_ylim()[0] <= 0

    def test_ticks_are_plain_numbers_that_do_not_touch(self):
        ax = figures06.bin_drift(lesson06.bin_tuner_view(n=500))
        assert_nothing_is_cut_off(ax)
        assert [text.get_text() for text in ax.get_xticklabels()] == [
            "1",
            "2",
            "5",
            "10",
            "20",
            "50",
        ]
        ticks = [text.get_window_extent() for text in ax.get_xticklabels()]
        assert all(a.x1 < b.x0 for a, b in zip(ticks[:-1], ticks[1:], strict=True))

    def test_its_words(self):
        view = lesson06.bin_tuner_view(n=500)
        words = plot.alt_text(figures06.bin_drift(view))
        assert words.startswith("Mean plain estimate against the number of bins, truth 0.0500.")
        assert f"With 1 bin: mean {view.plain_mean[0]:.4f}, endless data 0.0167." in words
        assert f"With 50 bins: mean {view.plain_mean[-1]:.4f}" in words


class TestPage:
    @pytest.mark.parametrize(
        "draw",
        [
            lambda ax: plot.choice(Toy(), ax),
            lambda ax: figures06.replicates(PLAIN, ax),
            lambda ax: figures06.bin_drift(lesson06.bin_tuner_view(n=100), ax),
        ],
    )
    def test_a_given_axes_is_used_and_rc_params_are_unchanged(self, draw):
        _, axes = plt.subplots(1, 2, layout="constrained")
        with mpl.rc_context({"font.size": 17, "hatch.linewidth": 5}):
            before = dict(mpl.rcParams)
            assert draw(axes[1]) is axes[1]
            assert dict(mpl.rcParams) == before
        assert len(plt.get_fignums()) == 1 and axes[1].get_legend() is None
