"""The simplex lens: its view against the package, its words, and what its artists hold."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from sklearn.base import clone

from calibkit.calibrators import (
    BetaCalibrator,
    DirichletCalibrator,
    HistogramBinning,
    IsotonicCalibrator,
    PlattCalibrator,
)
from calibkit.fakes import DirichletFake
from calibkit_course import finite, lesson12
from calibkit_course.lesson12 import ByPredictedClass, LogLinear, Reduced
from calibkit_course.lesson12.figures import light, stated_and_true
from calibkit_course.lesson12.models import FAKES, centred
from calibkit_course.lesson12.view import VIEWS
from tests.helpers import class_data, refuses

lens_of = lesson12.simplex_lens_view


def test_what_each_calibrator_straightens():
    """The table of the lesson, in the frames of the explorer."""
    wanted = {
        ("bold", "none"): set(),
        ("bold", "temperature"): set(VIEWS),
        ("per class", "none"): set(),
        ("per class", "temperature"): {"top-label"},
        ("per class", "vector"): set(VIEWS),
        ("cyclic", "temperature"): {"top-label", "class"},
        ("cyclic", "vector"): {"top-label", "class"},
        ("cyclic", "Dirichlet"): set(VIEWS),
        ("hidden", "none"): {"top-label", "class"},
        ("hidden", "Dirichlet"): set(),
    }
    for (model, calibrator), notions in wanted.items():
        for k in (0, 2):
            lens = lens_of(model=model, calibrator=calibrator, k=k)
            found = {name for name, straight in lens.straight.items() if straight}
            assert found == notions, (model, calibrator, k)


def test_strong_arrows_lead_to_the_truth():
    stated, seen = lens_of(model="cyclic").arrows
    assert np.allclose(seen, FAKES["cyclic"].distortion(stated), atol=1e-14)
    assert np.allclose(stated.sum(axis=1), 1) and np.allclose(seen.sum(axis=1), 1)


@pytest.mark.parametrize(("view", "model"), [("class", "per class"), ("top-label", "bold")])
def test_arrows_move_one_class_to_the_frequency_of_its_bin_and_keep_the_ratio_of_others(
    view, model
):
    lens = lens_of(view=view, k=1, model=model)
    stated, seen = lens.arrows
    table = lens.measured[view == "class"].tables[0]
    row = np.arange(len(stated))
    k = np.ones(len(row), int) if view == "class" else stated.argmax(axis=1)
    b = np.searchsorted(table.edges[1:-1], stated[row, k], side="right")
    assert np.allclose(seen[row, k], table.frequency[b], rtol=0, atol=1e-12)
    one, other = (k + 1) % 3, (k + 2) % 3
    assert np.allclose(seen[row, one] * stated[row, other], seen[row, other] * stated[row, one])
    assert np.allclose(seen.sum(axis=1), 1)


def test_what_hides_has_no_arrows_in_the_reduced_views():
    lengths = {view: lens_of(view=view, model="hidden").moved for view in VIEWS}
    assert lengths["strong"] == pytest.approx(0.8)
    assert max(lengths["top-label"], lengths["class"]) < 0.03


def test_the_matrix_is_fitted_in_another_gauge():
    table = centred(np.array([[0.7, 0.2, 0.1]]))
    assert table.sum() == pytest.approx(0)
    assert np.exp(table[0, 0] - table[0, 1]) == pytest.approx(3.5)


def test_freedom_costs_data():
    """What the lesson says about 50 predictions."""
    few, cooled = (
        lens_of(model="bold", calibrator=name, n_fit=50).errors["strong"]
        for name in ("Dirichlet", "temperature")
    )
    assert f"{cooled:.2f}" == "0.07" and f"{few:.2f}" == "0.24"


SIX = finite.example("six atoms")
STATED, TRUE = (np.array(table, dtype=float) for table in (SIX.confidence, SIX.truth))


@pytest.mark.parametrize("straight", [True, False])
@pytest.mark.parametrize("chosen", [True, False])
def test_colour_line_and_width_say_verdict_and_choice(straight, chosen):
    ax = light(stated_and_true(STATED, TRUE), straight, chosen)
    for spine in ax.spines.values():
        assert (spine.get_linestyle() == "solid") == straight
        assert (spine.get_linewidth() > 2) == chosen
    assert (ax.title.get_fontweight() == "bold") == chosen
    assert to_hex(ax.title.get_color()).upper() == ("#007A5A" if straight else "#D55E00")


# --- calibrators of the confidence ---------------------------------------------------------------


Y, P = class_data(600, 4)
ROW = np.arange(len(Y))
TOP, CONFIDENCE = P.argmax(axis=1), P.max(axis=1)
ONE_DIMENSIONAL = [PlattCalibrator(), BetaCalibrator(), IsotonicCalibrator(), HistogramBinning(6)]


@pytest.mark.parametrize("inner", ONE_DIMENSIONAL, ids=lambda c: type(c).__name__)
class TestWhatTheyDo:
    def test_reduced_calibrates_the_confidence(self, inner):
        expected = clone(inner).fit(CONFIDENCE, Y == TOP)
        new = Reduced("probabilities", inner).fit(P, Y).calibrate(P)
        np.testing.assert_array_equal(new[ROW, TOP], expected.calibrate(CONFIDENCE))

    def test_by_predicted_class_has_a_map_per_predicted_class(self, inner):
        new = ByPredictedClass("probabilities", inner).fit(P, Y).calibrate(P)
        for c in range(4):
            mine = np.equal(TOP, c)
            expected = clone(inner).fit(CONFIDENCE[mine], Y[mine] == c)
            np.testing.assert_array_equal(new[mine, c], expected.calibrate(CONFIDENCE[mine]))


def test_it_keeps_its_ratios():
    new = Reduced("probabilities").fit(P, Y).calibrate(P)
    odds = np.delete(P[0], TOP[0])
    np.testing.assert_allclose(
        np.delete(new[0], TOP[0]) / (1 - new[0, TOP[0]]), odds / odds.sum(), atol=1e-12
    )


def test_certain_predictions_share_alike():
    p = np.vstack([P, np.eye(4)])
    new = Reduced("probabilities").fit(P, Y).calibrate(p)
    assert np.ptp(new[-1, :3]) < 1e-15 and np.isfinite(new).all()


def test_logits_and_probabilities():
    for family in (Reduced, ByPredictedClass):
        a = family("probabilities").fit(P, Y).calibrate(P)
        b = family("logits").fit(np.log(P) + 3, Y).calibrate(np.log(P) + 3)
        np.testing.assert_allclose(a, b, atol=1e-9)


def test_rare_classes_use_the_map_of_all():
    model = ByPredictedClass("probabilities", fewest=10**6).fit(P, Y)
    assert model.own_ == [] and len(model.calibrators_) == 1
    np.testing.assert_array_equal(
        model.calibrate(P), Reduced("probabilities").fit(P, Y).calibrate(P)
    )
    predicted = np.bincount(P.argmax(axis=1))
    for k, n in enumerate(predicted):  # as many rows as wanted are enough
        model = ByPredictedClass("probabilities", fewest=n).fit(P, Y)
        assert model.own_ == np.flatnonzero(predicted >= n).tolist() and k in model.own_


def test_fewest_is_a_count():
    with pytest.raises(ValueError, match="fewest"):
        ByPredictedClass("probabilities", fewest=0).fit(P, Y)


CONFUSED = LogLinear([[0.6, 0.4, 0.0], [0.4, 0.6, 0.0], [0.0, -0.2, 0.7]])


def rows(n: int = 200) -> np.ndarray:
    return np.random.default_rng(0).dirichlet([1, 1, 1], n)


@pytest.mark.parametrize("row", rows(5))
def test_it_is_its_formula_row_by_row(row: np.ndarray) -> None:
    power = [np.prod(row ** np.array(w)) for w in CONFUSED.weights]
    assert CONFUSED(row[None])[0] == pytest.approx(np.array(power) / sum(power), abs=1e-14)


def test_probability_zero_gives_no_nan() -> None:
    found = CONFUSED(np.array([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]]))
    assert np.isfinite(found).all() and found.sum(axis=1) == pytest.approx([1, 1])


def test_a_dirichlet_calibrator_finds_the_true_map() -> None:
    sample = DirichletFake((1, 1, 1), CONFUSED, "confidence-is-base").sample(40_000, 1)
    model = DirichletCalibrator("probabilities").fit(sample.y_prob, sample.y_true)
    distance = np.abs(model.calibrate(sample.y_prob) - sample.true_prob).sum(axis=1).mean()
    before = np.abs(sample.y_prob - sample.true_prob).sum(axis=1).mean()
    assert distance < 0.012 < 0.3 < before


test_bad_values_are_named = refuses(
    (lambda: LogLinear([[1, 0]]), "K rows of K finite numbers"),
    (lambda: LogLinear([[1, 0], [0]]), "weights is ragged"),
    (lambda: LogLinear([[1, 0], [0, np.inf]]), "weights must be K rows of K finite numbers.* inf"),
    (lambda: CONFUSED(np.array([[0.5, 0.5]])), "for 3 classes, but the probabilities have"),
)
