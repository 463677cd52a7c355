"""Lesson 02: separate two virtues."""

from calibkit_course.lesson02.explorer import distort_me
from calibkit_course.lesson02.figures import diagrams, expected_fines, repair_curves
from calibkit_course.lesson02.tables import exact_forecasts, slide_scores, sum_of_parts, three_parts
from calibkit_course.lesson02.view import distort_me_view
