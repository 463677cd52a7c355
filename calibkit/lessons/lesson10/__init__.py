"""Lesson 10: cool a network."""

from calibkit.lessons.lesson10.explorer import Thermostat, thermostat, thermostat_view
from calibkit.lessons.lesson10.figures import training
from calibkit.lessons.lesson10.runs import compared, epochs, gap, measured, row, table

__all__ = [
    "Thermostat",
    "compared",
    "epochs",
    "gap",
    "measured",
    "row",
    "table",
    "thermostat",
    "thermostat_view",
    "training",
]
