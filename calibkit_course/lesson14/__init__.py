"""Lesson 14: audit your predictions."""

from calibkit_course.lesson14.daily import look_every_day, look_every_day_view
from calibkit_course.lesson14.explorer import audit_board
from calibkit_course.lesson14.sample_files import mended_file, sample_file
from calibkit_course.lesson14.verbal import VerbalModel
from calibkit_course.lesson14.view import audit_board_view
