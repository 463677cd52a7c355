"""Lesson 12: go multi-class."""

from calibkit_course.learn import table
from calibkit_course.lesson12.confidence import ByPredictedClass, Reduced
from calibkit_course.lesson12.explorer import simplex_lens
from calibkit_course.lesson12.hiding import six_vectors, six_vectors_view
from calibkit_course.lesson12.models import SIX_STATED, SIX_TRUE, LogLinear
from calibkit_course.lesson12.tables import (
    binned_strong_error,
    label_conditional_error,
    repair_table,
    whole_vector_test,
)
from calibkit_course.lesson12.view import simplex_lens_view
