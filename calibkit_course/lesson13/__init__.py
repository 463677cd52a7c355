"""Lesson 13: decide with probabilities."""

from calibkit_course.learn import table
from calibkit_course.lesson13.abstaining import abstention
from calibkit_course.lesson13.explorer import boldness, hospital
from calibkit_course.lesson13.figures import game_scores, requirements
from calibkit_course.lesson13.game import ward_rounds
from calibkit_course.lesson13.needs import least_accuracy, requirement_sweep
from calibkit_course.lesson13.real import play_predictions
from calibkit_course.lesson13.view import hospital_view, ward_round_view
from calibkit_course.lesson13.wards import Capacity, Clinic, Ward
