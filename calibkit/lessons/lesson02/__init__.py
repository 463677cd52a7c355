"""Lesson 02: separate two virtues."""

from calibkit.lessons.lesson02.explorer import Virtues, distort_me, distort_me_view
from calibkit.lessons.lesson02.figures import score_parts

__all__ = ["Virtues", "distort_me", "distort_me_view", "score_parts"]
