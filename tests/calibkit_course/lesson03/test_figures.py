"""The plane of accuracy and error, tested by what its artists hold."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes

from calibkit.fakes import KnobClassifier
from calibkit_course.lesson03.figures import accuracy_error
from tests.drawn import assert_manners, assert_nothing_is_cut_off, assert_points, find, one


def is_inside(ax: Axes, side: str, accuracy: float, error: float) -> bool:
    return bool(one(ax, f"wedge-{side}").get_paths()[0].contains_point((accuracy, error)))


@pytest.mark.parametrize("k", [2, 3, 10, 100])
def test_the_bounds_are_lemma_1(k):
    across = np.array([1 / k, 1])
    assert_points(
        accuracy_error(n_classes=k, direction="over"), {"bound-over": (across, 1 - across)}
    )
    under = {"bound-under": (across, across - 1 / k), "bound-any": (across, 1 - across / k)}
    assert_points(accuracy_error(n_classes=k, direction="under"), under)


@pytest.mark.parametrize(("direction", "other"), [("over", "under"), ("under", "over")])
def test_one_sided_fakes_lie_outside_their_wedge_whatever_the_dials(direction, other):
    ax = accuracy_error(n_classes=5, direction=direction)
    assert not find(ax, f"wedge-{other}")
    for accuracy in (0.25, 0.5, 0.9):
        for share in (0.2, 0.97):
            truth = KnobClassifier(5, accuracy, budget_share=share, direction=direction).truth()
            assert not is_inside(ax, direction, truth.accuracy, truth.expected)
            assert is_inside(ax, direction, truth.accuracy, truth.expected / share + 0.01)


BAD = [
    *(({"points": {"p": p}}, "'p' must be a pair") for p in (0.5, (0.5,), (0.5, "x"), None)),
    *(({"points": {"p": p}}, r"must lie in \[0, 1\]") for p in ((1.2, 0.1), (np.nan, 0.1))),
    *(({"n_classes": k}, "n_classes must be .* at least 2") for k in (1, 2.5, True)),
    ({"direction": "up"}, 'direction must be .*"under", got'),
]


@pytest.mark.parametrize(("options", "words"), BAD)
def test_what_cannot_be_drawn_is_named_and_leaves_no_figure(options, words):
    with pytest.raises(ValueError, match=words):
        accuracy_error(**({"n_classes": 3} | options))
    assert not plt.get_fignums()


def test_manners_and_the_widest_labels(subtests):
    assert_manners(subtests, {"plane": lambda ax: accuracy_error(n_classes=3, ax=ax)})
    ax = accuracy_error({"p": (0.9, 0.05)}, n_classes=1000)
    assert_nothing_is_cut_off(ax)
    assert ax.get_xticklabels()[0].get_text() == "1/1000"
