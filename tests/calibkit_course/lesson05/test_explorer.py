"""Two families: the theorem in every state, the words, both shells, and maps side by side."""

from itertools import product

import numpy as np
import pytest

from calibkit_course import lesson05

CONTROLS = {control.name: control for control in lesson05.two_families().controls}


@pytest.fixture(scope="module")
def views():
    """Return each state of data and edges with its view."""
    names = ("data", "n_bins", "moved")
    states = [
        dict(zip(names, values, strict=True))
        for values in product(*(CONTROLS[name].values for name in names))
    ]
    return [(state, lesson05.two_families_view(**state)) for state in states]


class TestView:
    def test_the_worked_example(self):
        view = lesson05.two_families_view()
        assert view.flat.value == pytest.approx(1.1333333333 / 6, abs=1e-9)
        assert view.slanted.value == pytest.approx(1 / 6, abs=1e-12)
        assert view.ece == pytest.approx(1 / 6, abs=1e-12) and view.crossed == 1

    @pytest.mark.slow
    def test_slanted_tops_give_the_ece_wherever_the_edges_stand(self, views):
        for state, view in views:
            assert abs(view.slanted.value - view.ece) < 1e-12, state

    @pytest.mark.slow
    def test_flat_tops_report_more_exactly_where_one_is_crossed(self, views):
        """By the triangle inequality: equality if and only if no bin has both signs."""
        for state, view in views:
            surplus = view.flat.value - view.slanted.value
            assert (surplus > 1e-12) == (view.crossed > 0), state
            assert surplus > -1e-12, state

    def test_squared_the_surplus_is_the_variance_inside_the_bins(self, views):
        for _, view in views:
            prob, edges = view.flat.prob, np.array(view.flat.evaluator.edges_)
            index = np.searchsorted(edges[1:-1], prob, side="right")
            inside = sum(
                np.sum((prob[index == b] - prob[index == b].mean()) ** 2) for b in np.unique(index)
            )
            wanted = inside / len(prob)
            assert view.flat.squared - view.slanted.squared == pytest.approx(wanted, abs=1e-12)

    def test_an_edge_on_a_prediction_is_exact(self):
        """The edge at 0.3 has 0.3 to its right, whatever arithmetic it came from."""
        view = lesson05.two_families_view(n_bins=2, moved=-0.4)
        assert view.flat.evaluator.edges_.tolist() == [0, 0.3, 1]
        assert view.flat.evaluator.table_.count.tolist() == [1, 5]

    def test_the_titles_of_its_states_say_what_they_hold(self):
        for title, values in lesson05.two_families().presets:
            view = lesson05.two_families_view(**values)
            assert title.endswith(f": {view.shown.value:.3f}, ECE {view.ece:.3f}")


def test_no_fitted_value_leaves_the_frame(views):
    for state, view in views:
        fitted = view.slanted.fitted
        assert fitted.min() > -0.2 and fitted.max() < 1.2, state
