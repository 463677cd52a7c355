"""Lesson 11: choose a calibrator."""

from calibkit_course.lesson11.best import best_by_table, best_by_view, favourites
from calibkit_course.lesson11.best_explorer import best_by
from calibkit_course.lesson11.binned import binned_errors
from calibkit_course.lesson11.figures import draw_binned_errors, draw_venn_abers
from calibkit_course.lesson11.number import which_number_view
from calibkit_course.lesson11.number_explorer import which_number
from calibkit_course.lesson11.population import Population, vgg16_lookalike
from calibkit_course.lesson11.view import calibrator_race, standings
