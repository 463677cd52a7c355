"""The numbers that lesson 04 states about published forecasts, recomputed from the files."""

import re
from pathlib import Path

import numpy as np
import pytest

import calibkit as ck
from calibkit_course import data, lesson04

LESSON = "04_read_a_reliability_diagram.md"
ROW = re.compile(
    r"^\| (MLB|NBA|World Cup) \| ([\d,]+) \| (0\.\d+) \| (0\.\d+) \| (0\.\d+) \|", re.M
)
FILES = {"MLB": ("mlb", None), "NBA": ("nba", None), "World Cup": ("world_cup", 0)}

pytestmark = pytest.mark.data


def verdict(name: str, **options: int) -> ck.significance.NullLevel:
    """Return the error of one file beside its null level, as the lesson computes it."""
    key, view = FILES[name]
    game = data.load(key)
    chosen = {"view": view, "bins": 10, "rng": 4} | options
    return ck.null_level(ck.expected_calibration_error, game.y_true, game.y_prob, **chosen)


@pytest.mark.parametrize("name", FILES)
def test_the_table_of_the_lesson_is_what_the_files_give(root: Path, name: str) -> None:
    rows = {
        row[0]: row[1:] for row in ROW.findall((root / "notebooks" / LESSON).read_text("utf-8"))
    }
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
    assert found.value == pytest.approx(error, abs=0.0005)
    assert found.p_value > 0.05


def test_nba_forecasts_are_too_high_on_average() -> None:
    game = data.load("nba")
    assert f"{game.y_prob.mean():.3f} {game.y_true.mean():.3f}" == "0.619 0.572"


def test_the_lesson_looks_at_these_files(subtests: pytest.Subtests) -> None:
    games = lesson04.published_games()
    assert [name.split(",")[0] for name in games] == list(FILES)
    for (key, view), (y_true, _, seen) in zip(FILES.values(), games.values(), strict=True):
        with subtests.test(key=key, view=view, seen=seen):
            assert np.array_equal(y_true, data.load(key).y_true) and seen == view


def test_what_the_alt_text_of_the_figure_says() -> None:
    outside = {}
    for name, (key, view) in FILES.items():
        game = data.load(key)
        band = ck.consistency_band(game.y_true, game.y_prob, view=view, bins=10, rng=4)
        outside[name] = int(band.outside.sum()), int((band.table.gap > 0)[band.outside].sum())
    assert outside == {"MLB": (0, 0), "NBA": (7, 7), "World Cup": (0, 0)}


def test_the_first_and_the_last_bin_of_the_mlb_file_are_off() -> None:
    game = data.load("mlb")
    table = ck.reliability_table(game.y_true, game.y_prob, bins=10)
    used = table.occupied
    rows = zip(table.count[used], table.mean_prob[used], table.frequency[used], strict=True)
    first, *middle, last = ((int(n), round(p, 2), round(y, 2)) for n, p, y in rows)
    assert (first, last) == ((49, 0.28, 0.18), (3, 0.81, 0.33))
    assert all(abs(p - y) < 0.02 for _, p, y in middle)
