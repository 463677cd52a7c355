"""Lesson 03: make miscalibration to order."""

from calibkit.lessons.lesson03.explorer import FactoryView, fake_factory, fake_factory_view
from calibkit.lessons.lesson03.figures import accuracy_error

__all__ = ["FactoryView", "accuracy_error", "fake_factory", "fake_factory_view"]
