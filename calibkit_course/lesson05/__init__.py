"""Lesson 05: look inside the ECE."""

from calibkit_course.learn import table
from calibkit_course.lesson05.explorer import two_families
from calibkit_course.lesson05.figures import compare_maps
from calibkit_course.lesson05.tables import (
    by_position,
    mean_estimate,
    nearest_of_twenty,
    only_hatched,
)
from calibkit_course.lesson05.view import two_families_view
