"""Lesson 02: separate two virtues."""

from calibkit_course.lesson02.explorer import distort_me
from calibkit_course.lesson02.figures import diagrams, expected_fines, repair_curves, score_parts
from calibkit_course.lesson02.tables import exact_forecasts, slide_scores, sum_of_parts, three_parts
from calibkit_course.lesson02.view import Virtues, distort_me_view

__all__ = [
    "Virtues",
    "diagrams",
    "distort_me",
    "distort_me_view",
    "exact_forecasts",
    "expected_fines",
    "repair_curves",
    "score_parts",
    "slide_scores",
    "sum_of_parts",
    "three_parts",
]
