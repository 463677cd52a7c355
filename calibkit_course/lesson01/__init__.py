"""Lesson 01: what 70 % means."""

from calibkit_course.lesson01 import true_or_false
from calibkit_course.lesson01.explorer import ForecastRecord, forecaster, forecaster_view
from calibkit_course.lesson01.figures import diagrams
from calibkit_course.lesson01.tables import diary, groups, promise

__all__ = [
    "ForecastRecord",
    "diagrams",
    "diary",
    "forecaster",
    "forecaster_view",
    "groups",
    "promise",
    "true_or_false",
]
