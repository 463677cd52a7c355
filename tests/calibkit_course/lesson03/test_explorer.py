"""The fake-classifier factory, what each dial moves, and the plane of accuracy and error."""

from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from scipy import optimize, stats

from calibkit.fakes import KnobClassifier
from calibkit_course import lesson03
from calibkit_course.lesson03 import DirichletMixture, figures
from calibkit_course.lesson03.figures import accuracy_error
from tests.drawn import assert_points, find, one
from tests.helpers import refuses

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


# --- the clone -----------------------------------------------------------------------------------


def test_the_fit_is_the_constrained_maximum_of_the_likelihood() -> None:
    table = np.random.default_rng(3).dirichlet((9.0, 0.5, 0.4, 0.6), 300)
    own = table[table.argmax(axis=1) == 0]
    fitted = DirichletMixture.fit(own).alphas[0]
    assert fitted[1] == fitted[2] == fitted[3]
    best = optimize.minimize(
        lambda t: -stats.dirichlet.logpdf(own.T, np.exp(t)[[0, 1, 1, 1]]).sum(), np.zeros(2)
    )
    np.testing.assert_allclose(fitted[:2], np.exp(best.x), rtol=1e-5)


def test_a_clone_has_shares_and_means_of_the_original() -> None:
    original = DirichletMixture((0.5, 0.3, 0.2), ((30, 1, 1), (2, 20, 2), (3, 3, 25)))
    table = original.draw(20_000, rng=0)
    clone = DirichletMixture.fit(table)
    np.testing.assert_allclose(clone.weights, (0.5, 0.3, 0.2), atol=0.02)
    drawn = clone.draw(20_000, rng=1)
    np.testing.assert_allclose(drawn.mean(axis=0), table.mean(axis=0), atol=0.01)
    assert drawn.max(axis=1).mean() == pytest.approx(table.max(axis=1).mean(), abs=0.01)


def test_zeros_and_single_precision_can_be_fitted() -> None:
    p = np.random.default_rng(0).beta(0.5, 0.8, 1_000)
    rounded = np.round(np.column_stack([p, 1 - p]), 2)
    assert rounded.min() == 0
    clone = DirichletMixture.fit(rounded)
    assert len(clone.alphas) == 2 and np.all(np.isfinite(clone.alphas))
    single = DirichletMixture.fit(rounded.astype(np.float32))
    np.testing.assert_allclose(single.alphas, clone.alphas, rtol=1e-4)


test_what_has_no_maximum_is_refused = refuses(
    (lambda: DirichletMixture.fit([0.2, 0.8]), "one column per class"),
    (
        lambda: DirichletMixture.fit([[0.5, 0.5]] * 2),
        "class 0 is predicted 2 times without any variation",
    ),
    (
        lambda: DirichletMixture.fit([[0.2, 0.7, 0.1], [0.5, 0.25, 0.25]]),
        "class 0 is predicted 1 times",
    ),
)
