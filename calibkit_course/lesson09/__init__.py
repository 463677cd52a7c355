"""Lesson 09: handle rare events."""

from calibkit_course.lesson09.explorer import prevalence_dial
from calibkit_course.lesson09.figures import rare_events
from calibkit_course.lesson09.gaussian import GaussianDiscriminant
from calibkit_course.lesson09.runs import abalone_splits, estimates, table
from calibkit_course.lesson09.view import prevalence_dial_view
