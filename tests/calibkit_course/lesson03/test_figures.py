"""The plane of accuracy and error, tested by what its artists hold."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.path import Path as Outline

from calibkit import plot
from calibkit.fakes import KnobClassifier
from calibkit_course.lesson03 import figures as figures03
from tests.drawn import assert_manners, assert_nothing_is_cut_off, find, one


def is_inside(ax: Axes, side: str, accuracy: float, error: float) -> bool:
    outline: Outline = one(ax, f"wedge-{side}").get_paths()[0]
    return bool(outline.contains_point((accuracy, error)))


class TestWedges:
    @pytest.mark.parametrize("n_classes", [2, 3, 10, 100])
    def test_the_bounds_are_lemma_1(self, n_classes):
        k = n_classes
        for gid, side, bound in (
            ("bound-over", "over", lambda acc: 1 - acc),
            ("bound-under", "under", lambda acc: acc - 1 / k),
            ("bound-any", "under", lambda acc: 1 - acc / k),
        ):
            ax = figures03.accuracy_error(n_classes=k, direction=side)
            across, up = one(ax, gid).get_data()
            assert np.allclose(across, [1 / k, 1]) and np.allclose(up, bound(np.array(across)))

    @pytest.mark.parametrize("direction", ["over", "under"])
    @pytest.mark.parametrize("share", [0.2, 0.97])
    def test_one_sided_fakes_lie_outside_their_wedge_whatever_the_dials(self, direction, share):
        ax = figures03.accuracy_error(n_classes=5, direction=direction)
        for accuracy in (0.25, 0.5, 0.9):
            truth = KnobClassifier(5, accuracy, budget_share=share, direction=direction).truth()
            assert not is_inside(ax, direction, truth.accuracy, truth.expected)
            room = truth.expected / share
            assert is_inside(ax, direction, truth.accuracy, room + 0.01)

    def test_a_direction_hatches_only_its_own(self):
        for direction, other in (("over", "under"), ("under", "over")):
            ax = figures03.accuracy_error(n_classes=3, direction=direction)
            assert find(ax, f"wedge-{direction}") and not find(ax, f"wedge-{other}")
            assert f"{other}-confident" not in plot.alt_text(ax)


class TestPoints:
    def test_what_cannot_be_drawn_is_named_and_leaves_no_figure(self):
        before = plt.get_fignums()
        no_pair = [{"p": bad} for bad in (0.5, (0.5,), (0.5, "x"), (0, 0.1, 0.2), None, object())]
        outside = [{"p": bad} for bad in ((1.2, 0.1), (0.5, -0.1), (np.nan, 0.1))]
        for option, values, named in (
            ("points", no_pair, "'p' must be a pair"),
            ("points", outside, r"must lie in \[0, 1\]"),
            ("n_classes", (1, 0, 2.5, True), "n_classes must be .* at least 2"),
            ("direction", ("up",), 'direction must be .*"under", got'),
        ):
            for value in values:
                with pytest.raises(ValueError, match=named):
                    figures03.accuracy_error(**({"n_classes": 3} | {option: value}))
        assert plt.get_fignums() == before


class TestPage:
    @pytest.mark.parametrize("n_classes", [2, 4, 1000])
    def test_nothing_is_cut_off_and_letters_are_readable(self, n_classes):
        ax = figures03.accuracy_error({"p": (0.9, 0.05)}, n_classes=n_classes, title="t")
        assert_nothing_is_cut_off(ax)
        ticks = [text.get_window_extent() for text in ax.get_xticklabels()]
        assert all(a.x1 < b.x0 for a, b in pairwise(ticks))
        assert ax.get_xticklabels()[0].get_text() == f"1/{n_classes}"

    def test_manners(self, subtests):
        drawn = {"plane": lambda ax: figures03.accuracy_error(n_classes=3, ax=ax)}
        assert_manners(subtests, drawn)
