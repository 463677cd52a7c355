"""Histograms of confidences, tested by their artists."""

from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from drawn import assert_nothing_is_cut_off, one
from matplotlib.axes import Axes

import calibkit as ck
from calibkit import plot


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


def test_a_given_axes_is_used_and_rc_params_are_unchanged():
    _, axes = plt.subplots(1, 2, layout="constrained")
    with mpl.rc_context({"font.size": 17, "hatch.linewidth": 5}):
        before = dict(mpl.rcParams)
        assert plot.confidences(TestConfidences().table(), axes[1]) is axes[1]
        assert dict(mpl.rcParams) == before
    assert len(plt.get_fignums()) == 1 and axes[1].get_legend() is None
