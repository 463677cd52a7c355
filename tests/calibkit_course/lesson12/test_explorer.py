"""The simplex lens: its view against the package, its words, and what its artists hold."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from calibkit.bins import EqualMass
from calibkit.errors import expected_calibration_error
from calibkit_course import finite, lesson12
from calibkit_course.lesson12.figures import light, stated_and_true
from calibkit_course.lesson12.models import FAKES, calibrated, centred
from calibkit_course.lesson12.view import VIEWS

lens_of = lesson12.simplex_lens_view


def test_it_is_the_errors_of_the_package_and_the_distance_to_the_truth():
    lens = lens_of(model="cyclic", calibrator="vector", k=2, n_fit=1000)
    sample, _, _ = calibrated("cyclic", "vector", 1000, 12)
    given = sample.y_true, sample.y_prob
    for view, name in (("top-label", "top-label"), (2, "class")):
        error = expected_calibration_error(*given, view=view, bins=EqualMass(10))
        assert lens.errors[name] == error.value
    distance = np.abs(sample.y_prob - sample.true_prob).sum(axis=1).mean()
    assert lens.errors["strong"] == pytest.approx(distance, abs=1e-12)


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


def test_arrows_of_a_class_move_that_class_to_the_frequency_of_its_bin():
    lens = lens_of(view="class", k=1, model="per class")
    stated, seen = lens.arrows
    table = lens.measured[1].tables[0]
    b = np.searchsorted(table.edges[1:-1], stated[:, 1], side="right")
    assert np.allclose(seen[:, 1], table.frequency[b], rtol=0, atol=1e-12)
    assert np.allclose(seen[:, 0] / seen[:, 2], stated[:, 0] / stated[:, 2])
    assert np.allclose(seen.sum(axis=1), 1)


def test_arrows_of_the_confidence_move_the_predicted_class():
    lens = lens_of(view="top-label", model="bold")
    stated, seen = lens.arrows
    table = lens.measured[0].tables[0]
    row, top = np.arange(len(stated)), stated.argmax(axis=1)
    b = np.searchsorted(table.edges[1:-1], stated[row, top], side="right")
    assert np.allclose(seen[row, top], table.frequency[b])
    assert seen[row, top].mean() < stated[row, top].mean() - 0.1


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
