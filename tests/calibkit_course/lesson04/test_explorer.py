"""The diagram lab and the game: which numbers they show, and in which words."""

import numpy as np
import pytest

import calibkit as ck
from calibkit.fakes import LogitDistortion
from calibkit_course import lesson04


class TestDiagramLabView:
    def test_it_is_the_measures_own_number(self):
        view = lesson04.diagram_lab_view(n=500, n_bins=10, rule="mass", model="over-confident")
        sample = LogitDistortion(slope=0.5).sample(500, 4)
        error = ck.expected_calibration_error(sample.y_true, sample.y_prob, bins=ck.EqualMass(10))
        assert float(view.error) == float(error)
        assert view.table.bins == "10 equal-mass bins"

    def test_it_says_error_null_level_and_bins_outside(self):
        view = lesson04.diagram_lab_view(n=10000, model="under-confident")
        words = view.describe()
        assert f"ECE is {view.error.value:.3f} from 10,000 predictions" in words
        assert f"would show {view.error.null_mean:.3f} ± {view.error.null_sd:.3f}" in words
        assert f"{view.band.outside.sum()} of 15 bins lie outside the 90 % band" in words

    def test_same_values_same_result(self):
        first, second = (lesson04.diagram_lab_view(n=200) for _ in range(2))
        assert first.describe() == second.describe()
        assert np.array_equal(first.band.lower, second.band.lower)

    @pytest.mark.parametrize("bad", [{"rule": "x"}, {"model": "x"}, {"show": "x"}, {"n_bins": 0}])
    def test_bad_values_are_named(self, bad):
        with pytest.raises(ValueError, match=next(iter(bad))):
            lesson04.diagram_lab_view(**bad)

    def test_the_table_form(self):
        assert len(lesson04.diagram_lab_view(n_bins=7).to_frame()) == 7


class TestGameView:
    def test_a_draw_deals_the_same_again(self):
        first, second = (lesson04.which_is_perfect_view(draw=3) for _ in range(2))
        assert first.kinds == second.kinds and first.describe() == second.describe()

    def test_each_draw_has_something_to_find_and_something_to_refuse(self):
        counts = [sum(lesson04.which_is_perfect_view(draw=d).perfect) for d in range(1, 41)]
        assert set(counts) == {1, 2, 3, 4}

    def test_the_perfect_model_has_the_stated_mean_error(self):
        """Lesson 04: n = 300, 15 bins, mean ECE .070."""
        rng = np.random.default_rng(0)
        samples = [LogitDistortion().sample(300, rng) for _ in range(400)]
        values = [float(ck.expected_calibration_error(s.y_true, s.y_prob)) for s in samples]
        assert np.mean(values) == pytest.approx(0.070, abs=0.002)

    def test_the_words_for_the_blind_give_the_gaps_but_not_the_answer(self):
        game = lesson04.which_is_perfect_view(draw=2)
        asked, revealed = game.alt(False), game.alt(True)
        assert not any(kind in asked for kind in ("perfect", "confident", "ECE"))
        assert f"{-100 * game.errors[0].tables[0].gap[0]:+.0f}" in asked
        assert all(game.kind(panel) in revealed for panel in range(6))

    def test_its_sentence_counts_the_perfect_ones(self):
        draws = (lesson04.which_is_perfect_view(draw=d) for d in range(1, 20))
        for game in draws:
            verb = "comes" if sum(game.perfect) == 1 else "come"
            assert game.describe().startswith(f"{sum(game.perfect)} of 6 diagrams {verb} from")

    def test_the_table_form(self):
        assert list(lesson04.which_is_perfect_view().to_frame()["panel"]) == list("ABCDEF")
