"""Lesson 03: make miscalibration to order."""

from calibkit_course.learn import table
from calibkit_course.lesson03.explorer import fake_factory
from calibkit_course.lesson03.figures import accuracy_error, same_counts
from calibkit_course.lesson03.mixture import DirichletMixture
from calibkit_course.lesson03.tables import by_predicted, measured
from calibkit_course.lesson03.view import fake_factory_view
