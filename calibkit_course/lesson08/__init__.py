"""Lesson 08: test calibration."""

from calibkit_course.learn import table
from calibkit_course.lesson08.diagram import draw_test_based
from calibkit_course.lesson08.explorer import outlier_hunter
from calibkit_course.lesson08.figures import compare_bins
from calibkit_course.lesson08.trials import mean_tce, powers, rejected
from calibkit_course.lesson08.view import outlier_hunter_view
