"""Lesson 10: cool a network."""

from calibkit.learn import table
from calibkit.lessons.lesson10.epochs import confidences, over_epochs
from calibkit.lessons.lesson10.explorer import thermostat
from calibkit.lessons.lesson10.nets import OrderPreserving
from calibkit.lessons.lesson10.pictures import gallery
from calibkit.lessons.lesson10.runs import compared, five_seeds, follow, images

__all__ = [
    "OrderPreserving",
    "compared",
    "confidences",
    "five_seeds",
    "follow",
    "gallery",
    "images",
    "over_epochs",
    "table",
    "thermostat",
]
