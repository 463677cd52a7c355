"""The diagram lab, the game, the tables of lesson 04, and its numbers of published forecasts."""

import re

import pytest

import calibkit as ck
from calibkit_course import data, lesson04
from tests.paths import lesson_text


class TestGameView:
    def test_each_draw_has_something_to_find_and_something_to_refuse(self):
        counts = [sum(lesson04.which_is_perfect_view(draw=d).perfect) for d in range(1, 41)]
        assert set(counts) == {1, 2, 3, 4}

    def test_the_words_for_the_blind_give_the_gaps_but_not_the_answer(self):
        game = lesson04.which_is_perfect_view(draw=2)
        asked, revealed = game.alt(False), game.alt(True)
        assert not any(kind in asked for kind in ("perfect", "confident", "ECE"))
        gaps = [f"{-100 * gap:+.0f}" for gap in game.errors[0].tables[0].gap]
        assert f" A: {' '.join(gaps).replace('+nan', 'empty')}. B: " in asked
        assert all(game.kind(panel) in revealed for panel in range(6))


def test_two_models_see_the_same_digits_and_naive_bayes_is_the_surer_one():
    """The numbers of the lesson's figure."""
    models, label = lesson04.digits()
    assert len(label) == 899
    stated = {"naive Bayes": (0.821, 0.990), "logistic regression": (0.966, 0.950)}
    for name, wanted in stated.items():
        right = models[name].argmax(axis=1) == label
        found = right.mean(), models[name].max(axis=1).mean()
        assert found == pytest.approx(wanted, abs=0.002), name


ROW = re.compile(
    r"^\| (MLB|NBA|World Cup) \| ([\d,]+) \| (0\.\d+) \| (0\.\d+) \| (0\.\d+) \|", re.M
)
FILES = {"MLB": ("mlb", None), "NBA": ("nba", None), "World Cup": ("world_cup", 0)}


def verdict(name: str, **options: int) -> ck.chance.NullLevel:
    """Return the error of one file beside its null level, as the lesson computes it."""
    key, view = FILES[name]
    game = data.load(key)
    chosen = {"view": view, "bins": 10, "rng": 4} | options
    return ck.null_level(ck.expected_calibration_error, game.y_true, game.y_prob, **chosen)


@pytest.mark.parametrize("name", FILES)
def test_the_table_of_the_lesson_is_what_the_files_give(name: str) -> None:
    rows = {r[0]: r[1:] for r in ROW.findall(lesson_text("04"))}
    games, error, median, p_value = rows[name]
    found = verdict(name)
    assert len(data.load(FILES[name][0]).y_true) == int(games.replace(",", ""))
    stated = [f"{number:.3f}" for number in (found.value, found.median, found.p_value)]
    assert stated == [error, median, p_value]


@pytest.mark.parametrize(("view", "error"), [("top-label", 0.074), ("class-wise", 0.070)])
def test_other_views_of_the_world_cup_agree(view: str, error: float) -> None:
    game = data.load("world_cup")
    options = {"view": view, "bins": 10, "rng": 4}
    found = ck.null_level(ck.calibration_error, game.y_true, game.y_prob, **options)
    assert found.value == pytest.approx(error, abs=0.0005) and found.p_value > 0.05


def test_nba_forecasts_are_too_high_on_average() -> None:
    game = data.load("nba")
    assert f"{game.y_prob.mean():.3f} {game.y_true.mean():.3f}" == "0.619 0.572"
