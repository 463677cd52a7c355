"""The knots explorer: its view, its words, its controls and its twin."""

from itertools import product

import numpy as np
import pytest

from calibkit.piecewise import PiecewiseLinear
from calibkit_course import lesson07
from calibkit_course.lesson07.view import FAKES

OVER = "over-confident"


class TestKnotsView:
    @pytest.mark.slow
    def test_numbers_are_those_of_their_definitions(self):
        view = lesson07.knots_view(model="stairs", space="logit", n=500, n_pieces=2, seed=3)
        sample = FAKES["stairs"].sample(500, 3)
        model = PiecewiseLinear("logit", 2).fit(sample.y_prob, sample.y_true)
        fitted = model.curve(sample.y_prob)
        assert view.error == pytest.approx(np.abs(fitted - sample.y_prob).mean(), abs=1e-12)
        assert view.true_error == pytest.approx(
            np.abs(sample.true_prob - sample.y_prob).mean(), abs=1e-12
        )
        p = FAKES["stairs"].predict(np.random.default_rng(0).random(40_000))
        away = np.abs(model.curve(p) - FAKES["stairs"].true_map(p)).mean()
        assert view.map_error == pytest.approx(away, abs=0.002)

    @pytest.mark.slow
    @pytest.mark.parametrize("model", FAKES)
    def test_the_number_is_never_further_off_than_the_map(self, model, subtests):
        """The triangle inequality; the map error is that of other predictions, hence the slack."""
        for space, n_pieces in product(("probability", "logit"), (1, 4)):
            view = lesson07.knots_view(model=model, space=space, n_pieces=n_pieces)
            with subtests.test(space, n_pieces=n_pieces):
                assert abs(view.error - view.true_error) <= view.map_error + 0.004

    @pytest.mark.slow
    def test_one_piece_between_logits_is_right_for_the_over_confident_model(self):
        """What *look for* says, and prediction 7b."""
        views = {
            (space, k): lesson07.knots_view(model=OVER, space=space, n=3000, n_pieces=k)
            for space in ("probability", "logit")
            for k in (1, 3)
        }
        assert views["logit", 1].map_error < 0.01
        assert views["logit", 1].search.n_pieces_ == 1
        assert views["probability", 1].map_error > 2 * views["logit", 1].map_error
        assert views["probability", 3].search.n_pieces_ == 3

    def test_many_pieces_and_few_predictions_overfit(self):
        few, many = (lesson07.knots_view(n_pieces=k) for k in (4, 6))
        assert many.map_error > few.map_error

    @pytest.mark.slow
    def test_one_piece_is_too_stiff_for_stairs(self, subtests):
        for space in ("probability", "logit"):
            with subtests.test(space):
                one, four = (
                    lesson07.knots_view(model="stairs", space=space, n=3000, n_pieces=k)
                    for k in (1, 4)
                )
                assert one.map_error > 2 * four.map_error and one.search.n_pieces_ > 1

    def test_pieces_change_neither_data_nor_scores(self):
        first, second = (lesson07.knots_view(n=300, n_pieces=k) for k in (1, 2))
        assert first.search is second.search and first.true_error == second.true_error

    @pytest.mark.slow
    def test_it_says_both_errors_and_the_choice(self):
        view = lesson07.knots_view(model=OVER, space="logit", n=3000)
        words = view.describe()
        assert f"1 piece from 3,000 predictions: the map is off by {view.map_error:.3f}" in words
        assert f"error of {view.error:.3f}; the truth is {view.true_error:.3f}" in words
        assert "folds choose 1 piece" in words
        assert "PL with 1 piece from 300 predictions" in lesson07.knots_view().describe()
