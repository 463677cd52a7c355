"""Lesson 08: test calibration."""

from calibkit_course.learn import table
from calibkit_course.lesson08.diagram import draw_test_based
from calibkit_course.lesson08.explorer import outlier_hunter
from calibkit_course.lesson08.figures import compare_bins
from calibkit_course.lesson08.trials import mean_tce, powers, rejected
from calibkit_course.lesson08.view import Hunt, outlier_hunter_view

__all__ = [
    "Hunt",
    "compare_bins",
    "draw_test_based",
    "mean_tce",
    "outlier_hunter",
    "outlier_hunter_view",
    "powers",
    "rejected",
    "table",
]
