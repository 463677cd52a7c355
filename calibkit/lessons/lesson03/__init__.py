"""Lesson 03: make miscalibration to order."""

from calibkit.learn import table
from calibkit.lessons.lesson03.explorer import FactoryView, fake_factory, fake_factory_view
from calibkit.lessons.lesson03.figures import accuracy_error, same_counts
from calibkit.lessons.lesson03.tables import by_predicted, measured

__all__ = [
    "FactoryView",
    "accuracy_error",
    "by_predicted",
    "fake_factory",
    "fake_factory_view",
    "measured",
    "same_counts",
    "table",
]
