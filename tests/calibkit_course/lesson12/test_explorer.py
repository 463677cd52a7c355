"""The simplex lens: its view against the package, its words, and what its artists hold."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from calibkit_course import finite, lesson12
from calibkit_course.lesson12.figures import light, stated_and_true
from calibkit_course.lesson12.models import FAKES, centred
from calibkit_course.lesson12.view import VIEWS

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
