"""Lesson 01: what 70 % means."""

from calibkit.lessons.lesson01 import true_or_false
from calibkit.lessons.lesson01.explorer import ForecastRecord, forecaster, forecaster_view

__all__ = ["ForecastRecord", "forecaster", "forecaster_view", "true_or_false"]
