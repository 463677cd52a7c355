"""Lesson 01: what 70 % means."""

from calibkit_course.lesson01 import true_or_false
from calibkit_course.lesson01.explorer import forecaster
from calibkit_course.lesson01.figures import diagrams
from calibkit_course.lesson01.tables import diary, groups, promise, towns
from calibkit_course.lesson01.view import ForecastRecord, forecaster_view

__all__ = [
    "ForecastRecord",
    "diagrams",
    "diary",
    "forecaster",
    "forecaster_view",
    "groups",
    "promise",
    "towns",
    "true_or_false",
]
