"""Lesson 10: cool a network."""

from calibkit.lessons.lesson10.explorer import Thermostat, thermostat, thermostat_view
from calibkit.lessons.lesson10.figures import training

__all__ = ["Thermostat", "thermostat", "thermostat_view", "training"]
