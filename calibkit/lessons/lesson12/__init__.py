"""Lesson 12: go multi-class."""

from calibkit.learn import table
from calibkit.lessons.lesson12.explorer import LensView, simplex_lens, simplex_lens_view
from calibkit.lessons.lesson12.models import SIX_STATED, SIX_TRUE
from calibkit.lessons.lesson12.tables import (
    binned_strong_error,
    label_conditional_error,
    repair_table,
    whole_vector_test,
)

__all__ = [
    "SIX_STATED",
    "SIX_TRUE",
    "LensView",
    "binned_strong_error",
    "label_conditional_error",
    "repair_table",
    "simplex_lens",
    "simplex_lens_view",
    "table",
    "whole_vector_test",
]
