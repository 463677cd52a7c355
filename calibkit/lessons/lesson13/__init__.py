"""Lesson 13: decide with probabilities."""

from calibkit.learn import table
from calibkit.lessons.lesson13.explorer import Hospital, hospital, hospital_view
from calibkit.lessons.lesson13.figures import game_scores, requirements
from calibkit.lessons.lesson13.game import WardGame, WardRound, ward_round_view, ward_rounds
from calibkit.lessons.lesson13.needs import least_accuracy, requirement_sweep
from calibkit.lessons.lesson13.real import play_predictions
from calibkit.lessons.lesson13.wards import Capacity, Clinic, Ward

__all__ = [
    "Capacity",
    "Clinic",
    "Hospital",
    "Ward",
    "WardGame",
    "WardRound",
    "game_scores",
    "hospital",
    "hospital_view",
    "least_accuracy",
    "play_predictions",
    "requirement_sweep",
    "requirements",
    "table",
    "ward_round_view",
    "ward_rounds",
]
