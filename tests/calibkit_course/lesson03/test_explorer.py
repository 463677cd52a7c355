"""The fake-classifier factory, what each dial moves, and the plane of accuracy and error."""

from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes

from calibkit.fakes import KnobClassifier
from calibkit_course import lesson03
from calibkit_course.lesson03 import figures
from calibkit_course.lesson03.figures import accuracy_error
from tests.drawn import assert_points, find, one

OVER = {"share": 0.6, "direction": "over"}


class TestFactoryView:
    def test_share_moves_the_error_alone(self):
        shares = (0.0, 0.3, 0.95)
        views = [lesson03.fake_factory_view(**OVER | {"share": share}) for share in shares]
        assert [v.truth.accuracy for v in views] == [0.8] * 3
        assert [v.sample_accuracy for v in views] == [views[0].sample_accuracy] * 3
        assert [v.truth.expected for v in views] == pytest.approx([0, 0.06, 0.19])

    def test_concentration_moves_neither_accuracy_nor_error(self):
        dials = (0.5, 4.0, 50.0)
        truths = [lesson03.fake_factory_view(**OVER, concentration=c).truth for c in dials]
        assert {round(t.accuracy, 12) for t in truths} == {0.8}
        assert {round(t.expected, 12) for t in truths} == {0.12}
        assert len({round(t.brier, 6) for t in truths}) == 3

    def test_but_around_the_accuracy_concentration_lowers_the_error(self):
        views = [lesson03.fake_factory_view(share=0.6, concentration=c) for c in (0.5, 4.0, 50.0)]
        errors = [view.truth.expected for view in views]
        assert errors == sorted(errors, reverse=True) and errors[0] > 2 * errors[-1]


@pytest.mark.long
def test_every_offered_combination_exists():
    """All ends of all dials together, and the book's states: no combination may raise."""
    factory = lesson03.fake_factory()
    names = [control.name for control in factory.controls]
    ends = [
        c.values if c.name == "direction" else (c.values[0], c.values[-1]) for c in factory.controls
    ]
    states = [dict(zip(names, values, strict=True)) for values in product(*ends)]
    for state in [*states, *factory.states()]:
        view = lesson03.fake_factory_view(**state, n=50)
        most = figures.trial(view).get_xlim()[1]
        plt.close("all")
        assert 0 <= view.reported <= view.truth.expected + 1e-12 < most, state


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
