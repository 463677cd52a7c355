"""Lesson 04: read a reliability diagram."""

from calibkit.lessons.lesson04.explorer import DiagramView, diagram_lab, diagram_lab_view
from calibkit.lessons.lesson04.game import PerfectGame, which_is_perfect, which_is_perfect_view

__all__ = [
    "DiagramView",
    "PerfectGame",
    "diagram_lab",
    "diagram_lab_view",
    "which_is_perfect",
    "which_is_perfect_view",
]
