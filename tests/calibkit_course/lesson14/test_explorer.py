"""The audit board: against the package, in words, with a file of one's own, without a kernel."""

from datetime import UTC, datetime
from typing import Any

import matplotlib.pyplot as plt
import pytest

from calibkit_audit.auditing import audit
from calibkit_course import lesson14
from calibkit_course.lesson14 import figures as figures14
from calibkit_course.lesson14.files import MOST_BYTES, audit_bytes
from calibkit_course.lesson14.sample_files import sample_file
from calibkit_course.lesson14.view import FILES, UNKNOWN, VIEWS

# --- the board -----------------------------------------------------------------------------------


class TestBoard:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("state", "topic", "verdict"),
        [
            ({"file": "small clinic"}, "calibration", "no evidence"),
            ({"file": "screening"}, "costs", "costs unknown"),
            ({"file": "screening", "costs": "1 : 20"}, "costs", "worse than ignoring"),
            ({"file": "language model"}, "direction", "over-forecast"),
            ({"file": "three animals"}, "direction", "under-confident"),
            ({"file": "three animals", "view": "class-wise"}, "calibration", "miscalibrated"),
            ({"file": "thirty patients"}, "data", "too little data"),
            ({"file": "thirty patients"}, "calibration", "cannot say"),
        ],
    )
    def test_what_the_lesson_says_lights_up(self, state, topic, verdict):
        assert lesson14.audit_board_view(**state).report.verdicts[topic] == verdict

    @pytest.mark.slow
    def test_prices_for_two_classes_are_not_used_for_three(self):
        for costs, said in ((UNKNOWN, False), ("1 : 20", True)):
            board = lesson14.audit_board_view(file="three animals", costs=costs)
            assert ("for two classes only" in board.describe()) == said
            assert board.verdicts[4] == "costs unknown"


# --- the figure ----------------------------------------------------------------------------------


class TestFigure:
    @pytest.mark.parametrize("view", VIEWS)
    def test_the_diagram_names_the_class(self, view):
        board, figure = lesson14.audit_board(), plt.figure(layout="constrained")
        board.draw(board.view(file="three animals", view=view), figure, False)
        axes = [part for ax in figure.axes for part in (ax, *ax.child_axes)]
        words = " ".join(ax.get_xlabel() + ax.get_ylabel() for ax in axes)
        assert words.count("of class cat") == (3 if view == "class-wise" else 0)
        assert "class 0" not in words

    @pytest.mark.parametrize("file", FILES)
    def test_no_text_leaves_the_picture(self, file):
        figure, ax = plt.subplots(figsize=(4.6, 3.1), layout="constrained")
        figures14.audit_board(lesson14.audit_board_view(file=file), ax)
        figure.draw_without_rendering()
        right = max(text.get_window_extent().x1 for text in ax.texts)
        assert right <= figure.bbox.x1


# --- a file of one's own -------------------------------------------------------------------------


def csv_of(name: str) -> bytes:
    rows = sample_file(name)
    lines = [f"{y},{p!r}" for y, p in zip(rows.y_true.tolist(), rows.y_prob.tolist(), strict=True)]
    return "\n".join(["label,p", *lines]).encode()


class TestOwnFile:
    @pytest.mark.slow
    def test_a_picked_file_gets_the_audit_of_its_rows(self):
        found = audit_bytes(csv_of("screening"), "own.csv", label="label", prob="p")
        rows = sample_file("screening")
        wanted = audit(rows.y_true, rows.y_prob)
        assert found.title == "own.csv" and found.verdicts == wanted.verdicts

    @pytest.mark.parametrize(
        ("content", "name", "options", "words"),
        [
            (b"y,p\n1,.5\n", "rows.exe", {}, "must end in"),
            (b"y,p\n1,2.5\n", "rows.csv", {}, "rows.csv"),
            (b"y,p\n1,.5\n", "rows.csv", {"label": " "}, "name the column"),
            (bytes(MOST_BYTES + 1), "rows.csv", {}, "larger than 50 MB"),
        ],
    )
    def test_what_cannot_be_used_is_named(self, content, name, options, words):
        with pytest.raises(ValueError, match=words) as caught:
            audit_bytes(content, name, **({"label": "y", "prob": "p"} | options))
        assert "picked" not in str(caught.value) and "tmp" not in str(caught.value)

    def test_a_path_in_the_name_is_not_followed(self, tmp_path):
        target = tmp_path / "victim.csv"
        audit_bytes(csv_of("small clinic"), str(target), label="label", prob="p")
        assert not target.exists()

    @pytest.mark.slow
    def test_the_picker_says_what_is_wrong_and_what_is_right(self):
        box = lesson14.audit_board().widget()
        *_, inputs, answer = box.children
        picker, *texts, run = inputs.children
        assert next(text.description for text in texts) == "Column of the labels"
        run.click()
        assert "Pick a file first" in answer.value
        pick(picker, "<b>own</b>.csv", csv_of("file in the mail"))
        run.click()
        assert "no discrimination" in answer.value and "<b>own</b>" not in answer.value
        texts[0].value = "<script>"
        run.click()
        assert "<script>" not in answer.value and "script" in answer.value


def pick(picker: Any, name: str, content: bytes) -> None:
    """Do what the browser does when a file is chosen."""
    picker.value = (
        {"name": name, "type": "text/csv", "size": len(content), "content": memoryview(content),
         "last_modified": datetime(2026, 1, 1, tzinfo=UTC)},
    )  # fmt: skip
