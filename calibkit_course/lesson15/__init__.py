"""Lesson 15: judge the judge."""

from calibkit_course.learn import table
from calibkit_course.lesson15.explorer import judge_bench
from calibkit_course.lesson15.view import Bench, answers, judge_bench_view

__all__ = ["Bench", "answers", "judge_bench", "judge_bench_view", "table"]
