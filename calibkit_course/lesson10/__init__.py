"""Lesson 10: take a network's temperature."""

from calibkit_course.learn import table
from calibkit_course.lesson10.epochs import confidence_error, confidences, diagram, over_epochs
from calibkit_course.lesson10.explorer import thermostat
from calibkit_course.lesson10.nets import OrderPreserving
from calibkit_course.lesson10.pictures import gallery
from calibkit_course.lesson10.runs import compared, five_seeds, follow, images, smoothed, stored
from calibkit_course.lesson10.smoothing import undo_label_smoothing
