"""Lesson 01: what 70 % means."""

from calibkit_course.lesson01 import true_or_false
from calibkit_course.lesson01.explorer import forecaster
from calibkit_course.lesson01.figures import diagrams
from calibkit_course.lesson01.tables import groups, promise
from calibkit_course.lesson01.view import forecaster_view
