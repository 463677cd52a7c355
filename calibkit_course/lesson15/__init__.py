"""Lesson 15: judge the judge."""

from calibkit_course.lesson15.explorer import judge_bench
from calibkit_course.lesson15.view import answers, judge_bench_view
