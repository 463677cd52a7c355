"""Lesson 11: choose a calibrator."""

from calibkit_course.lesson11.best import best_by_table, best_by_view, favourites
from calibkit_course.lesson11.best_explorer import best_by
from calibkit_course.lesson11.binned import BinnedErrors, binned_errors
from calibkit_course.lesson11.explorer import calibrator_race
from calibkit_course.lesson11.figures import draw_binned_errors
from calibkit_course.lesson11.number import which_number_view
from calibkit_course.lesson11.number_explorer import which_number
from calibkit_course.lesson11.population import Population
from calibkit_course.lesson11.tables import standings
from calibkit_course.lesson11.view import RaceView, calibrator_race_view

__all__ = [
    "BinnedErrors",
    "Population",
    "RaceView",
    "best_by",
    "best_by_table",
    "best_by_view",
    "binned_errors",
    "calibrator_race",
    "calibrator_race_view",
    "draw_binned_errors",
    "favourites",
    "standings",
    "which_number",
    "which_number_view",
]
