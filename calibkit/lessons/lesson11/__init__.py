"""Lesson 11: choose a calibrator."""

from calibkit.lessons.lesson11.binned import BinnedErrors, binned_errors
from calibkit.lessons.lesson11.explorer import RaceView, calibrator_race, calibrator_race_view
from calibkit.lessons.lesson11.figures import draw_binned_errors
from calibkit.lessons.lesson11.population import Population
from calibkit.lessons.lesson11.tables import scores, standings

__all__ = [
    "BinnedErrors",
    "Population",
    "RaceView",
    "binned_errors",
    "draw_binned_errors",
    "calibrator_race",
    "calibrator_race_view",
    "scores",
    "standings",
]
