"""Lesson 07: fit smoother maps."""

from calibkit_course.learn import table
from calibkit_course.lesson07.explorer import two_patients
from calibkit_course.lesson07.figures import draw_map
from calibkit_course.lesson07.trials import map_error, reported, train_with_adam, true_error
from calibkit_course.lesson07.view import two_patients_view
