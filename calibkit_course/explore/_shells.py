"""Which shells show an explorer and a quiz: the one place that knows both sides."""

from typing import Any

from calibkit_course.explore._shown import Shell
from calibkit_course.explore.page import explorer_page, quiz_page, still


def _lab() -> Any:
    """Return the shell for JupyterLab, when it is wanted: it needs ipywidgets."""
    from calibkit_course.explore import lab

    return lab


OF_EXPLORERS = Shell(
    widget=lambda explorer: _lab().explorer_box(explorer),
    page=explorer_page,
    still=lambda explorer: still(*explorer.show()),
)
OF_QUIZZES = Shell(
    widget=lambda quiz: _lab().quiz_box(quiz),
    page=quiz_page,
    still=lambda quiz: still(quiz.picture(quiz.first, revealed=False), quiz.question),
)
