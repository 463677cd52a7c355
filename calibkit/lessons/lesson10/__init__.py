"""Lesson 10: cool a network."""

from calibkit.learn import table
from calibkit.lessons.lesson10.explorer import Thermostat, thermostat, thermostat_view
from calibkit.lessons.lesson10.pictures import gallery, surest_mistakes
from calibkit.lessons.lesson10.runs import (
    compared,
    five_seeds,
    follow,
    images,
)

__all__ = [
    "Thermostat",
    "compared",
    "five_seeds",
    "follow",
    "gallery",
    "images",
    "surest_mistakes",
    "table",
    "thermostat",
    "thermostat_view",
]
