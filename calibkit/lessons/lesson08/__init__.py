"""Lesson 08: test calibration."""

from calibkit.lessons.lesson08.explorer import Hunt, outlier_hunter, outlier_hunter_view
from calibkit.lessons.lesson08.figures import compare_bins

__all__ = ["Hunt", "compare_bins", "outlier_hunter", "outlier_hunter_view"]
