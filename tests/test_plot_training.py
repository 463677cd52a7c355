"""A training against its epochs, and histograms of confidences, tested by their artists."""

from dataclasses import dataclass, field
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from drawn import assert_nothing_is_cut_off, find, one
from matplotlib.axes import Axes

import calibkit as ck
from calibkit import plot


@dataclass(frozen=True)
class History:
    epoch: Any = field(default_factory=lambda: np.arange(1, 6))
    accuracy: tuple[float, ...] = (0.2, 0.4, 0.6, 0.6, 0.6)
    log_loss: tuple[float, ...] = (2.0, 1.2, 1.1, 1.3, 1.6)
    refined_log_loss: tuple[float, ...] = (1.9, 1.2, 1.05, 0.95, 1.0)
    calibration_error: tuple[float, ...] = (0.1, 0.02, 0.05, 0.1, 0.2)
    temperature: tuple[float, ...] = (0.8, 1.0, 1.3, 2.0, 2.5)


class TestTraining:
    def test_both_log_losses_with_their_lowest_points(self):
        ax = plot.training(History())
        assert tuple(one(ax, "raw").get_ydata()) == History.log_loss
        assert tuple(one(ax, "refined").get_ydata()) == History.refined_log_loss
        assert one(ax, "least-raw").get_xydata().tolist() == [[3, 1.1]]
        assert one(ax, "least-refined").get_xydata().tolist() == [[4, 0.95]]
        assert one(ax, "raw").get_linestyle() != one(ax, "refined").get_linestyle()
        assert_nothing_is_cut_off(ax)

    @pytest.mark.parametrize("quantity", ["accuracy", "calibration error", "temperature"])
    def test_the_other_quantities(self, quantity):
        ax = plot.training(History(), quantity=quantity)
        wanted = getattr(History, quantity.replace(" ", "_"))
        assert tuple(one(ax, "values").get_ydata()) == wanted
        assert bool(find(ax, "neutral")) == (quantity == "temperature")
        assert_nothing_is_cut_off(ax)

    def test_its_words(self):
        words = plot.alt_text(plot.training(History()))
        assert words == (
            "Log loss on validation data against the epochs. It goes from 2.00 to 1.60, between "
            "1.10 and 2.00. It goes from 1.90 to 1.00 after temperature scaling, between 0.95 "
            "and 1.90."
        )

    def test_what_cannot_be_drawn_is_refused(self):
        with pytest.raises(ValueError, match="quantity must be .*, got 'loss'"):
            plot.training(History(), quantity="loss")
        assert not plt.get_fignums()


class TestConfidences:
    Y = np.array([0, 0, 1, 2, 1, 0])
    PROB = np.array([[8, 1, 1], [9, 0.5, 0.5], [9, 0.5, 0.5], [2, 3, 5], [1, 8, 1], [1, 8, 1]]) / 10

    def table(self) -> Any:
        return ck.reliability_table(self.Y, self.PROB, view="top-label", bins=10)

    def heights(self, ax: Axes, gid: str) -> list[tuple[float, float]]:
        paths = one(ax, gid).get_paths()
        return [(path.vertices[:, 1].min(), path.vertices[:, 1].max()) for path in paths]

    def test_the_wrong_answers_stand_below_the_right_ones(self):
        ax = plot.confidences(self.table())
        low, high = self.heights(ax, "over-share"), self.heights(ax, "under-share")
        # Confidence 0.5: one, right. 0.8: three, one of them wrong. 0.9: two, one wrong.
        assert [round(6 * top) for _, top in low] == [0] * 8 + [1, 1]
        assert [round(6 * top) for _, top in high] == [0, 0, 0, 0, 0, 1, 0, 0, 3, 2]
        assert [foot for foot, _ in high] == [top for _, top in low]
        assert ax.get_xlabel() == "confidence"
        assert_nothing_is_cut_off(ax)

    def test_its_words(self):
        assert plot.alt_text(plot.confidences(self.table())) == (
            "Confidence of 6 predictions. Above 0.90 lie 0.33 of them; 0.17 are wrong."
        )

    def test_of_another_view_it_says_what_happened(self):
        ax = plot.confidences(ck.reliability_table([0, 1, 1], [0.2, 0.7, 0.9], bins=5))
        assert [text.get_text() for text in ax.get_legend().get_texts()] == [
            "did not happen",
            "happened",
        ]
        assert ax.get_xlabel() == "prediction"


@pytest.mark.parametrize(
    "draw",
    [
        lambda ax: plot.training(History(), ax, quantity="temperature"),
        lambda ax: plot.confidences(TestConfidences().table(), ax),
    ],
)
def test_a_given_axes_is_used_and_rc_params_are_unchanged(draw):
    _, axes = plt.subplots(1, 2, layout="constrained")
    with mpl.rc_context({"font.size": 17, "hatch.linewidth": 5}):
        before = dict(mpl.rcParams)
        assert draw(axes[1]) is axes[1]
        assert dict(mpl.rcParams) == before
    assert len(plt.get_fignums()) == 1 and axes[1].get_legend() is None
