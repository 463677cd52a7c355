"""Lesson 07: fit smoother maps."""

from calibkit.lessons.lesson07.explorer import KnotsView, knots, knots_view

__all__ = ["KnotsView", "knots", "knots_view"]
