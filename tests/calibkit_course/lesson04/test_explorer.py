"""The diagram lab, the game and the tables of lesson 04."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import calibkit as ck
from calibkit import plot
from calibkit.fakes import LogitDistortion
from calibkit_course import lesson04


class TestDiagramLabView:
    def test_it_is_the_measures_own_number(self):
        view = lesson04.diagram_lab_view(n=10000, n_bins=10, rule="mass", model="over-confident")
        sample = LogitDistortion(slope=0.5).sample(10_000, 4)
        error = ck.expected_calibration_error(sample.y_true, sample.y_prob, bins=ck.EqualMass(10))
        words = view.describe()
        assert f"ECE is {error.value:.3f} from 10,000 predictions in 10 equal-mass bins" in words
        assert f"would show {error.null_mean:.3f} ± {error.null_sd:.3f}" in words

    def test_it_counts_the_bins_outside(self):
        view = lesson04.diagram_lab_view(n=10000, model="under-confident")
        words = view.describe()
        assert f"{view.band.outside.sum()} of 15 bins lie outside the 90 % band" in words


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
        gaps = [f"{-100 * gap:+.0f}" for gap in game.errors[0].tables[0].gap]
        assert f" A: {' '.join(gaps).replace('+nan', 'empty')}. B: " in asked
        assert all(game.kind(panel) in revealed for panel in range(6))

    def test_its_sentence_counts_the_perfect_ones(self, subtests):
        for draw in range(1, 20):
            game = lesson04.which_is_perfect_view(draw=draw)
            with subtests.test(draw=draw):
                verb = "comes" if sum(game.perfect) == 1 else "come"
                assert game.describe().startswith(f"{sum(game.perfect)} of 6 diagrams {verb} from")


class TestTables:
    def test_two_models_see_the_same_digits_and_naive_bayes_is_the_surer_one(self):
        """The numbers of the lesson's figure."""
        models, label = lesson04.digits()
        assert len(label) == 899
        stated = {"naive Bayes": (0.821, 0.990), "logistic regression": (0.966, 0.950)}
        for name, wanted in stated.items():
            right = models[name].argmax(axis=1) == label
            found = right.mean(), models[name].max(axis=1).mean()
            assert found == pytest.approx(wanted, abs=0.002), name

    @pytest.mark.parametrize(
        ("scale", "bottom", "label"), [("log", 0.5, "count\n(log)"), ("linear", 0, "count")]
    )
    def test_counts_of_several_diagrams_get_the_same_kind_of_scale(
        self, scale, bottom, label, subtests
    ):
        view = lesson04.diagram_lab_view(n=500, n_bins=5)
        axes = plt.subplots(1, 2)[1]
        for ax in axes:
            plot.reliability(view.table, ax=ax, show={"means", "counts"})
        lesson04.count_scale(axes, scale)
        top = view.table.count.max()
        for ax in axes:
            with subtests.test(ax=ax):
                (strip,) = (child for child in ax.child_axes if child.get_label() == "counts")
                assert strip.get_yscale() == scale
                assert strip.get_ylim() == pytest.approx((bottom, 1.3 * top))
                assert strip.get_yticks().tolist() == [1, top]
                assert strip.get_ylabel() == label and len(strip.texts) == 0
