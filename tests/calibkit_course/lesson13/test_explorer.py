"""The hospital and the calibration game: against the package, in words, by artists, on a page."""

import gzip
import json
import re
from dataclasses import replace
from importlib import resources
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from calibkit_course import lesson13
from calibkit_course.explore.lab import quiz_box
from calibkit_course.explore.page import quiz_page
from calibkit_course.lesson13.game import PLAYERS
from calibkit_course.lesson13.models import MODELS
from calibkit_course.lesson13.view import IGNORE, TRUST, TRUTH, WARM_UP

KILOBYTE = 1024


# --- the hospital ------------------------------------------------------------------------------


class TestHospital:
    def test_ignoring_treats_everybody_or_nobody(self):
        assert lesson13.hospital_view(harm=2, rounds=5).plays[IGNORE].acted == 1
        assert lesson13.hospital_view(harm=18, rounds=5).plays[IGNORE].acted == 0
        assert lesson13.hospital_view(harm=2, beds=4, rounds=5).plays[IGNORE].acted == 0.4

    def test_what_the_lesson_says_to_look_for(self):
        def regret(**values: Any) -> float:
            plays = lesson13.hospital_view(**values).plays
            return plays[TRUTH].value - plays[TRUST].value

        assert regret() == 0 and regret(harm=2) < 0.05 and regret(harm=6) > 0.15
        assert lesson13.hospital_view(model="calibrated", rounds=50).curve.regret.max() == 0
        assert abs(regret(harm=6, beds=4)) < 0.02 > abs(regret(harm=6, model="recalibrated"))
        waits = lesson13.hospital_view(harm=6, model="under-confident").plays
        assert waits[TRUST].value < waits[IGNORE].value
        repaired, raw = (lesson13.hospital_view(model=m).curve for m in ("recalibrated", MODELS[1]))
        assert repaired.regret.max() < 0.1 * raw.regret.max()
        worst = f"{raw.threshold[raw.regret.argmax()]:.1f}"
        assert MODELS[1] == "over-confident" and worst == "0.7"


# --- the calibration game ----------------------------------------------------------------------


def treat_by(game: Any, draw: int, rule: str) -> list[bool]:
    dealt = game.view(draw=draw)
    said = dealt.said if rule == "machine" else dealt.true
    return (said >= dealt.threshold).tolist()


class TestGame:
    @pytest.mark.parametrize("model", MODELS)
    def test_who_plays_like_another_player_wins_the_same(self, model):
        game = lesson13.ward_rounds(model=model)
        for draw in (1, 2, 7):
            you, machine, _ = game.answer(draw, treat_by(game, draw, "machine")).points
            assert you == machine
            answer = game.answer(draw, treat_by(game, draw, "truth"))
            assert answer.points[0] == answer.points[2] and all(answer.hits)

    def test_waiting_wins_nothing_and_treating_all_wins_the_gains(self):
        game = lesson13.ward_rounds()
        dealt = game.view(draw=3)
        assert "8 patients" in dealt.describe() and f"won {dealt.trust.sum():g}" in dealt.describe()
        other_week = lesson13.ward_round_view(draw=3, week=2)
        assert not np.array_equal(dealt.said, other_week.said)
        assert "array(" not in repr(dealt)
        assert game.answer(3, [False] * 8).points[0] == 0
        wanted = np.where(dealt.right, 2, -6).sum()
        assert game.answer(3, [True] * 8).points[0] == wanted == dealt.gain.sum()

    def test_the_record_holds_all_past_patients_and_no_future_ones(self):
        rounds = [lesson13.ward_round_view(draw=draw) for draw in (1, 2, 3)]
        for place, dealt in enumerate(rounds):
            assert dealt.before.count.sum() == 8 * (WARM_UP + place)
            assert dealt.after.count.sum() == 8 * (WARM_UP + place + 1)
        for now, later in pairwise(rounds):
            assert np.array_equal(now.after.count, later.before.count)
            assert np.array_equal(now.after.frequency, later.before.frequency, equal_nan=True)

    @pytest.mark.slow
    def test_the_question_does_not_tell_and_the_answer_does(self):
        game = lesson13.ward_rounds()
        asked, told = (game.picture(2, revealed=r).alt for r in (False, True))
        assert "wrong" not in asked.split("Past")[0] and "(right)" in told
        assert "confident" not in asked
        lines = game.answer(1, [True] * 8).lines
        assert "true 68 %" in lines[0] and "treating wins -6" in lines[0]

    def test_bad_values_are_named(self):
        with pytest.raises(ValueError, match="draw=0"):
            lesson13.ward_round_view(draw=0)
        with pytest.raises(ValueError, match="model must be .*, got 'x'"):
            lesson13.ward_round_view(model="x")

    @pytest.mark.long
    def test_the_widgets_count_the_points(self):
        game = lesson13.ward_rounds()
        figure, ticks, buttons, feedback = quiz_box(game).children
        assert [box.description for box in ticks.children][:2] == ["Treat A", "Treat B"]
        assert "<table" not in feedback.value
        reveal, again = buttons.children
        totals = np.zeros(3)
        for draw in (1, 2):
            chosen = treat_by(game, draw, "truth")
            for box, tick in zip(ticks.children, chosen, strict=True):
                box.value = tick
            before = figure.value
            reveal.click()
            assert figure.value != before
            totals += game.answer(draw, chosen).points
            won = re.findall(r'ck-won">(-?\d+)</td>', feedback.value)
            assert [float(number) for number in won] == totals.tolist()
            again.click()
            assert PLAYERS[1] in feedback.value


@pytest.fixture(scope="module")
def twin():
    """The page without a kernel, with fewer draws."""
    return quiz_page(replace(lesson13.ward_rounds(), n_book=2))


class TestGamePage:
    @pytest.mark.slow
    def test_the_page_holds_points_and_a_hidden_table(self, twin):
        assert twin.count("<tr>") == 3 and '<table class="ck-tally" hidden>' in twin
        assert all(f'<th scope="row">{player}</th>' in twin for player in PLAYERS)
        assert "Treat H" in twin
        data = json.loads(re.search(r'json">(.*)</script>', twin, re.DOTALL).group(1))
        game = lesson13.ward_rounds()
        for draw, stored in enumerate(data["draws"], start=1):
            assert np.array_equal(stored["points"], game.points(draw))

    @pytest.mark.slow
    def test_the_page_is_light(self, twin):
        packed = len(gzip.compress(twin.encode()))
        assert packed * lesson13.ward_rounds().n_book / 2 <= 500 * KILOBYTE

    @pytest.mark.browser
    def test_a_browser_counts_like_python(self, twin, browser):
        folder = resources.files("calibkit_course.explore")
        script = folder.joinpath("explorer.js").read_text("utf-8")
        css = folder.joinpath("explorer.css").read_text("utf-8")
        game = lesson13.ward_rounds()
        tab = browser.new_page()
        tab.set_content(f"<style>{css}</style>{twin}<script>{script}</script>")
        totals = np.zeros(3)
        assert tab.locator(".ck-tally").is_hidden()
        for draw in (1, 2):
            chosen = treat_by(game, draw, "machine" if draw == 2 else "truth")
            for place, tick in enumerate(chosen):
                tab.locator("input").nth(place).set_checked(tick)
            tab.get_by_role("button", name="Reveal").click()
            totals += game.answer(draw, chosen).points
            shown = tab.locator(".ck-won").all_text_contents()
            assert [float(number) for number in shown] == totals.tolist()
            assert tab.locator(".ck-tally").is_visible()
            tab.get_by_role("button", name="New draw").click()
        tab.close()
