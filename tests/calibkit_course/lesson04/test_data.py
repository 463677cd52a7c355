"""The numbers that lesson 04 states about published forecasts, recomputed from the files."""

import re

import pytest

import calibkit as ck
from calibkit_course import data
from tests.paths import lesson_text

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
