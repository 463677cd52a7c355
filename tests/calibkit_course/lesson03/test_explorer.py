"""The fake-classifier factory: a pure view, its words, and what each dial moves."""

from itertools import product

import matplotlib.pyplot as plt
import pytest

from calibkit_course import lesson03
from calibkit_course.lesson03 import figures

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
