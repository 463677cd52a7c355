"""Lesson 07: fit smoother maps."""

from calibkit_course.learn import table
from calibkit_course.lesson07.explorer import two_patients
from calibkit_course.lesson07.figures import draw_map
from calibkit_course.lesson07.trials import map_error, reported, train_with_adam, true_error
from calibkit_course.lesson07.view import TwoPatients, two_patients_view

__all__ = [
    "TwoPatients",
    "draw_map",
    "map_error",
    "reported",
    "table",
    "train_with_adam",
    "true_error",
    "two_patients",
    "two_patients_view",
]
