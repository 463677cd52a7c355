"""Lesson 06: choose the number of bins."""

from calibkit_course.learn import table
from calibkit_course.lesson06.draws import Replicates
from calibkit_course.lesson06.explorer import bin_tuner
from calibkit_course.lesson06.figures import replicates
from calibkit_course.lesson06.trials import estimate, null_ece, squares
from calibkit_course.lesson06.view import bin_tuner_view
