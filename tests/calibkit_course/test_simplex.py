"""The simplex, tested by what its artists hold."""

import math

import matplotlib.pyplot as plt
import numpy as np
import pytest

from calibkit.fakes import KnobClassifier
from calibkit_course import finite, simplex
from tests.drawn import find, one

CORNERS = np.array([[0, 0], [1, 0], [0.5, math.sqrt(3) / 2]])


def sample(n: int):
    return KnobClassifier(3, 0.7, budget_share=0.5).sample(n, 0)


def test_rows_are_points_by_their_largest_class_and_grid_lines_are_level():
    table = np.vstack([np.eye(3), np.random.default_rng(0).dirichlet([1, 1, 1], 50)])
    ax = simplex.draw(table)
    for k in range(3):
        rows = table[table.argmax(axis=1) == k]
        assert np.allclose(one(ax, f"points-{k}").get_offsets(), rows @ CORNERS)
    assert [text.get_text() for text in find(ax, "corner")] == ["class 0", "class 1", "class 2"]
    segments = np.array(one(ax, "grid").get_segments())
    flat = [segment for segment in segments if segment[0, 1] == pytest.approx(segment[1, 1])]
    assert np.allclose([s[0, 1] / CORNERS[2, 1] for s in flat], [0.2, 0.4, 0.6, 0.8])
    assert len(segments) == 12
    ax.figure.canvas.draw()
    corners = ax.transData.transform(CORNERS)
    sides = np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1)
    assert np.allclose(sides, sides[0])  # on the page


def test_arrows_run_from_the_stated_to_the_true_vector():
    fake = finite.example("three atoms")
    ax = simplex.draw(fake)
    arrows = one(ax, "arrows")
    start, end = (np.array(rows, dtype=float) @ CORNERS for rows in (fake.confidence, fake.truth))
    assert np.allclose(arrows.XY, start)
    assert np.allclose(np.column_stack([arrows.U, arrows.V]), end - start)
    assert (arrows.scale, arrows.scale_units, arrows.angles) == (1, "xy", "xy")
    artists = [one(ax, f"points-{k}") for k in range(3)]  # told apart in two ways
    assert len({tuple(artist.get_facecolor()[0]) for artist in artists}) == 3
    assert len({artist.get_paths()[0].vertices.tobytes() for artist in artists}) == 3
    calibrated = simplex.draw(finite.example("slides"))
    assert not find(calibrated, "arrows") and len(find(calibrated, "points-0")) == 1


def test_heavier_atoms_are_larger():
    stated, true = [[0.5, 0.3, 0.2], [0.7, 0.2, 0.1]], [[1, 0, 0], [0, 1, 0]]
    fake = finite.FiniteClassifier([0.1, 0.9], stated, true)
    sizes = one(simplex.draw(fake), "points-0").get_sizes()
    assert sizes[1] > 2 * sizes[0] > 0


def test_arrows_by_default_only_where_they_can_be_told_apart():
    assert find(simplex.draw(sample(60)), "arrows")
    assert not find(simplex.draw(sample(500)), "arrows")
    assert find(simplex.draw(sample(500), show="arrows"), "arrows")
    assert not find(simplex.draw(sample(60).y_prob), "arrows")


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        (np.eye(4), {}, "needs three classes.*\\(4, 4\\)"),
        (np.eye(3), {"truth": np.eye(3)[:2]}, "truth has shape"),
        (np.eye(3), {"classes": ("a", "b")}, "must name 3 classes, got 2"),
    ],
)
def test_what_cannot_be_drawn_is_refused(source, options, message):
    with pytest.raises(ValueError, match=message):
        simplex.draw(source, **options)
    assert not plt.get_fignums()
