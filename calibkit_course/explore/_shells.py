"""Which shells show an explorer and a quiz: the one place that knows both sides."""

from typing import Any

from calibkit_course.explore._explorer import Explorer
from calibkit_course.explore._quiz import Quiz
from calibkit_course.explore._shown import Shell
from calibkit_course.explore.page import explorer_page, quiz_page, still


def _explorer_box(explorer: Explorer[Any]) -> Any:
    from calibkit_course.explore.lab import explorer_box  # needs ipywidgets

    return explorer_box(explorer)


def _quiz_box(quiz: Quiz[Any]) -> Any:
    from calibkit_course.explore.lab import quiz_box

    return quiz_box(quiz)


def _first_state(explorer: Explorer[Any]) -> str:
    return still(*explorer.show())


def _first_draw(quiz: Quiz[Any]) -> str:
    return still(quiz.picture(quiz.first, revealed=False), quiz.question)


OF_EXPLORERS = Shell(_explorer_box, explorer_page, _first_state)
OF_QUIZZES = Shell(_quiz_box, quiz_page, _first_draw)
