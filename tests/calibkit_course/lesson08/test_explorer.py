"""The outlier hunter: its view against the package, its words, its pictures."""

from functools import lru_cache

import matplotlib.pyplot as plt
import numpy as np
import pytest

from calibkit import plot
from calibkit.bins import EqualMass, Pava, PavaBC
from calibkit.significance import test_based_calibration_error
from calibkit_course import lesson08
from calibkit_course.lesson08.view import MODELS, RULES, SIZES, Hunt
from tests.explorers import assert_page_holds, turn_every_dial

KILOBYTE = 1024


@lru_cache
def hunted(rule: str, model: str = "calibrated", n: int = 8000) -> Hunt:
    """Return a state that several tests look at."""
    return lesson08.outlier_hunter_view(n=n, rule=rule, model=model)


class TestView:
    @pytest.mark.parametrize(
        ("rule", "bins"),
        [
            ("mass", EqualMass(10)),
            ("root", EqualMass(22)),
            ("pava", Pava()),
            ("pava-bc", PavaBC(25, 100)),
        ],
    )
    def test_it_is_the_error_of_the_package(self, rule, bins):
        sample = MODELS["over-confident"].sample(500, 8)
        wanted = test_based_calibration_error(
            sample.y_true, sample.y_prob, bins=bins, null_draws=60, rng=8
        )
        hunt = lesson08.outlier_hunter_view(n=500, model="over-confident", rule=rule)
        assert hunt.error.value == wanted.value
        assert np.array_equal(hunt.error.null_values, wanted.null_values)

    @pytest.mark.slow
    def test_sizes_steer_pava_bc_and_nothing_else(self):
        found = {s: lesson08.outlier_hunter_view(n=400, rule="pava-bc", sizes=s) for s in SIZES}
        for sizes, (smallest, largest) in SIZES.items():
            count = found[sizes].error.table.count
            assert count.min() >= 400 // smallest and count.max() <= 400 // largest
        others = [lesson08.outlier_hunter_view(n=400, sizes=s).describe() for s in SIZES]
        assert len(set(others)) == 1

    def test_a_lower_level_rejects_less_but_not_in_proportion(self):
        """What prediction 8b asks."""
        levels = (0.05, 0.01)
        high, low = (lesson08.outlier_hunter_view(n=4000, alpha=a).error.null_mean for a in levels)
        assert high / 3 < low < high

    @pytest.mark.slow
    def test_more_data_raise_the_null_level_of_ten_bins_only(self):
        """What prediction 8c asks, and the remedies of the lesson."""
        for rule, grows in (("mass", True), ("pava-bc", True), ("pava", False), ("root", False)):
            few, many = (hunted(rule, n=n).error.null_mean for n in (500, 8000))
            assert (many > few + 0.08) == grows
            assert grows or many < 0.08

    @pytest.mark.slow
    @pytest.mark.parametrize("rule", RULES)
    def test_an_over_confident_model_is_caught_with_enough_data(self, rule):
        assert hunted(rule, "over-confident").error.p_value < 0.02
        assert hunted(rule).error.p_value > 0.05

    def test_it_says_share_null_level_and_model(self):
        hunt = lesson08.outlier_hunter_view(alpha=0.001)
        words, error = hunt.describe(), hunt.error
        assert f"{100 * error.value:.1f} % ({error.rejected.sum()} of 2,000" in words
        assert "10 bins at the level 0.1 %" in words
        assert f"{100 * error.null_mean:.1f} ± {100 * error.null_sd:.1f} %" in words
        assert f"p = {error.p_value:.2f}" in words and words.endswith("model is calibrated.")
        assert len(hunt.to_frame()["share"]) == 10

    @pytest.mark.parametrize("bad", [{"rule": "x"}, {"model": "x"}, {"sizes": "x"}, {"n": 39}])
    def test_bad_values_are_named(self, bad):
        with pytest.raises(ValueError, match=next(iter(bad))):
            lesson08.outlier_hunter_view(**bad)


class TestExplorer:
    @pytest.mark.slow
    def test_it_fits_the_book(self):
        hunter = lesson08.outlier_hunter()
        assert len(hunter.controls) <= 5
        assert hunter.n_states <= 64
        assert hunter.default in list(hunter.states())
        assert hunter.show()[1] == hunter.view().describe()

    @pytest.mark.slow
    @pytest.mark.parametrize("rule", RULES)
    def test_the_ends_of_all_dials_together(self, rule):
        for n, alpha, sizes, model in (
            (100, 0.001, "large", "calibrated"),
            (8000, 0.2, "small", "over-confident"),
        ):
            values = {"n": n, "alpha": alpha, "sizes": sizes, "rule": rule, "model": model}
            picture, words = lesson08.outlier_hunter().show(**values)
            assert picture.png.startswith(b"\x89PNG") and "nan" not in words

    @pytest.mark.slow
    def test_the_pictures_of_the_page_are_light(self):
        hunter = lesson08.outlier_hunter()
        states = [{"n": 500, "rule": "mass"}, {"n": 8000, "rule": "root"}]
        sizes = [len(hunter.show(**state)[0].small().source) for state in states]
        assert max(sizes) * 3 / 4 <= 15 * KILOBYTE
        assert np.mean(sizes) * hunter.n_states <= 970 * KILOBYTE

    @pytest.mark.slow
    def test_the_static_figure_shows_four_states(self):
        hunter = lesson08.outlier_hunter()
        words = plot.alt_text(hunter.static())
        assert words.count("Test-based reliability diagram") == 4
        assert all(caption in words for caption, _ in hunter.presets)

    @pytest.mark.slow
    def test_the_widgets_reach_both_ends_of_every_dial(self):
        turn_every_dial(lesson08.outlier_hunter(n=200))

    @pytest.mark.slow
    def test_the_page_without_a_kernel_holds_its_states(self):
        assert_page_holds(lesson08.outlier_hunter(n=500), "rule", "mass", "pava-bc")


@pytest.mark.slow
def test_shares_stand_above_all_bars_or_above_none():
    for rule, bins in (("mass", 10), ("pava", 0)):
        figure = plt.figure(layout="constrained")
        hunter = lesson08.outlier_hunter()
        hunter.draw(hunter.view(n=8000, rule=rule), figure, True)
        (ax,) = figure.axes
        (strip,) = ax.child_axes
        assert len([t for t in strip.texts if t.get_gid() == "share"]) == bins
        assert [t.get_text()[:9] for t in ax.texts if t.get_gid() == "sum"] == ["rejected:"]
