"""The simplex, tested by what its artists hold."""

import math

import matplotlib.pyplot as plt
import numpy as np
import pytest

from calibkit.fakes import KnobClassifier
from calibkit_course import finite, simplex
from tests.drawn import find, one

CORNERS = np.array([[0, 0], [1, 0], [0.5, math.sqrt(3) / 2]])


@pytest.fixture(scope="module")
def fake():
    return finite.example("three atoms")


def sample(n: int):
    return KnobClassifier(3, 0.7, budget_share=0.5).sample(n, 0)


class TestGeometry:
    def test_corners_are_the_certain_vectors(self):
        ax = simplex.draw(np.eye(3))
        for k in range(3):
            assert np.allclose(one(ax, f"points-{k}").get_offsets(), CORNERS[k])
        assert [text.get_text() for text in find(ax, "corner")] == ["class 0", "class 1", "class 2"]

    def test_the_distance_from_a_side_is_the_probability(self):
        table = np.random.default_rng(0).dirichlet([1, 1, 1], 50)
        ax = simplex.draw(table)
        for k in range(3):
            rows = table[table.argmax(axis=1) == k]
            height = one(ax, f"points-{k}").get_offsets()[:, 1]
            assert np.allclose(height / CORNERS[2, 1], rows[:, 2])

    def test_arrows_run_from_the_stated_to_the_true_vector(self, fake):
        ax = simplex.draw(fake)
        arrows = one(ax, "arrows")
        start = np.array(fake.confidence, dtype=float) @ CORNERS
        end = np.array(fake.truth, dtype=float) @ CORNERS
        assert np.allclose(arrows.XY, start)
        assert np.allclose(np.column_stack([arrows.U, arrows.V]), end - start)
        assert (arrows.scale, arrows.scale_units, arrows.angles) == (1, "xy", "xy")

    def test_a_strongly_calibrated_classifier_has_no_arrow(self):
        ax = simplex.draw(finite.example("slides"))
        assert not find(ax, "arrows") and len(find(ax, "points-0")) == 1

    @pytest.mark.slow
    def test_grid_lines_are_level_lines(self):
        segments = np.array(one(simplex.draw(np.eye(3)), "grid").get_segments())
        assert len(segments) == 12
        flat = [segment for segment in segments if segment[0, 1] == pytest.approx(segment[1, 1])]
        assert np.allclose([s[0, 1] / CORNERS[2, 1] for s in flat], [0.2, 0.4, 0.6, 0.8])

    def test_heavier_atoms_are_larger(self):
        fake = finite.FiniteClassifier(
            [0.1, 0.9], [[0.5, 0.3, 0.2], [0.7, 0.2, 0.1]], [[1, 0, 0], [0, 1, 0]]
        )
        sizes = one(simplex.draw(fake), "points-0").get_sizes()
        assert sizes[1] > 2 * sizes[0] > 0

    def test_the_triangle_is_equilateral_on_the_page(self, fake):
        ax = simplex.draw(fake)
        ax.figure.canvas.draw()
        corners = ax.transData.transform(CORNERS)
        sides = np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1)
        assert np.allclose(sides, sides[0])


class TestElements:
    def test_classes_differ_in_colour_and_in_marker(self, fake):
        ax = simplex.draw(fake)
        artists = [one(ax, f"points-{k}") for k in range(3)]
        assert len({tuple(artist.get_facecolor()[0]) for artist in artists}) == 3
        assert len({artist.get_paths()[0].vertices.tobytes() for artist in artists}) == 3

    def test_arrows_by_default_only_where_they_can_be_told_apart(self):
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
    def test_what_cannot_be_drawn_is_refused(self, source, options, message):
        with pytest.raises(ValueError, match=message):
            simplex.draw(source, **options)
        assert not plt.get_fignums()
