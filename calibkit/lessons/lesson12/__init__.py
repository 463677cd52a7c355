"""Lesson 12: go multi-class."""

from calibkit.lessons.lesson12.explorer import LensView, simplex_lens, simplex_lens_view

__all__ = ["LensView", "simplex_lens", "simplex_lens_view"]
