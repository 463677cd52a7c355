"""No page tells an outcome before its guess; and what looks for telling words finds them."""

import re

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from calibkit_course import lessons, open_lesson
from calibkit_course.learn import Lesson, Prediction
from calibkit_course.learn.questions import Option, Question
from tests.helpers import each_case
from tools.spoilers import telling, told, visible


@pytest.mark.slow
@pytest.mark.parametrize("name", lessons())
def test_nothing_tells_an_outcome_before_its_guess(name: str, subtests: pytest.Subtests) -> None:
    early = list(told(name))
    for pid, prediction in open_lesson(name, keep=False).predictions.items():
        with subtests.test(pid=pid):
            assert prediction.tells and not any(re.search(one, "") for one in prediction.tells)
            assert [f"{place}: {words}" for one, place, words in early if one == pid] == []


COIN = Prediction(
    question="Which side?", options=("heads", "tails"), outcome="heads", why="w", tells=("is bent",)
)
TOLD = "The coin\n*is* `bent`."


def cell(source: str = "", shown: str = "", **metadata: object) -> NotebookNode:
    outputs = [new_output("stream", text=shown)] if shown else []
    return new_code_cell(source, outputs=outputs, metadata=metadata)


CAPTION = {"mystnb": {"figure": {"caption": TOLD}}}
TELLING = {  # cells above the guess, between it and what reveals, and after; does it tell?
    "a heading far below": ([], [], [new_markdown_cell("Text.\n\n### The coin is bent\n")], True),
    "the text far below": ([], [], [new_markdown_cell(TOLD)], False),
    "text above": ([new_markdown_cell(TOLD)], [], [], True),
    "text below the guess": ([], [new_markdown_cell(TOLD)], [], True),
    "a comment in the experiment": ([], [cell("toss()  # it is bent")], [], True),
    "a variable in the experiment": ([], [cell("coin_is_bent = True")], [], True),
    "what the experiment prints": ([], [cell("toss()", TOLD)], [], False),
    "its caption": ([], [cell("draw()", **CAPTION)], [], False),
    "a caption above": ([cell("draw()", **CAPTION)], [], [], True),
    "what is printed above": ([cell("toss()", TOLD)], [], [], True),
    "the quiz above": ([cell("lesson.quiz()", tags=["quiz"])], [], [], True),
    "the quiz below": ([], [], [cell("lesson.quiz()", tags=["quiz"])], False),
}


@each_case(("above", "amid", "after", "tells"), TELLING.values())
def test_telling_words_are_found_where_a_learner_sees_them(above, amid, after, tells) -> None:
    right = Option(text="no", says=TOLD, right=True)
    quiz = (Question(id="1", text="Is it fair?", options=(right, Option(text="yes", says="No."))),)
    lesson = Lesson("00", "Coins", {}, {"0a": COIN}, questions=quiz)
    ask = cell('lesson.predict("0a", ...)  # "heads" or "it is bent"', tags=["predict"])
    cells = [*above, ask, *amid, cell('lesson.reveal("0a")'), *after]
    seen = visible(lesson, cells, "0a")
    assert any(list(telling(COIN, text)) for _, text in seen) is tells
