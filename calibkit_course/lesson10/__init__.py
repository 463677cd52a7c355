"""Lesson 10: cool a network."""

from calibkit_course.learn import table
from calibkit_course.lesson10.epochs import confidences, over_epochs
from calibkit_course.lesson10.explorer import thermostat
from calibkit_course.lesson10.nets import OrderPreserving
from calibkit_course.lesson10.pictures import gallery
from calibkit_course.lesson10.runs import compared, five_seeds, follow, images

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
