"""Lesson 13: decide with probabilities."""

from calibkit.learn import table
from calibkit.lessons.lesson13.explorer import Hospital, hospital, hospital_view
from calibkit.lessons.lesson13.figures import game_scores, requirements
from calibkit.lessons.lesson13.game import WardGame, WardRound, ward_round_view, ward_rounds

__all__ = [
    "Hospital",
    "WardGame",
    "WardRound",
    "game_scores",
    "hospital",
    "hospital_view",
    "requirements",
    "table",
    "ward_round_view",
    "ward_rounds",
]
