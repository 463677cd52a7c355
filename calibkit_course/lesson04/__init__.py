"""Lesson 04: read a reliability diagram."""

from calibkit_course.learn import table
from calibkit_course.lesson04.explorer import chance_at_work, diagram_lab
from calibkit_course.lesson04.game import which_is_perfect, which_is_perfect_view
from calibkit_course.lesson04.tables import count_scale, digits, published_games, same_bars
from calibkit_course.lesson04.view import chance_at_work_view, diagram_lab_view, sellers
