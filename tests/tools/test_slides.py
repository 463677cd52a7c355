"""What is projected: each guess before its outcome, each exercise, a sheet for the guesses."""

import re
from html import escape

from nbformat import NotebookNode

from calibkit_course import lessons, open_lesson
from calibkit_course.learn import Drawing
from tests.helpers import each_case
from tools import notebook_files as files, slides
from tools.lesson_pages import lesson_pages


@each_case("lesson", lessons())
def test_a_guess_stands_before_its_outcome_and_every_exercise_is_shown(lesson: str) -> None:
    notebook = files.read_source(lesson_pages(lesson)[0])
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type == "code":
            picture = {"output_type": "display_data", "data": {"image/png": f"PNG{number}"}}
            drawn = {"text/html": f'<p>?</p><svg class="ck-canvas">{number}</svg>'}
            sketch = {"output_type": "display_data", "data": drawn}
            cell.outputs = [NotebookNode(picture), NotebookNode(sketch)]
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    asked = [pid for cell in code for pid in files.called_ids(cell, "predict")]
    *screens, sheet = slides.slides(notebook, lesson)
    seen = "".join(screens)
    for pid in asked:
        one = open_lesson(lesson).predictions[pid]
        question, why = slides.shown(one.question), slides.shown(one.why)
        assert seen.count(question) == 1 == sheet.count(question) and why not in sheet
        assert seen.index(question) < seen.index(why)
        answer = (
            one.canvas(pid) if isinstance(one, Drawing) else f"<b>{escape(one.shown(one.outcome))}"
        )
        assert answer in seen and (answer in sheet) == isinstance(one, Drawing)
    lines = sum(isinstance(open_lesson(lesson).predictions[pid], Drawing) for pid in asked)
    assert len(re.findall(r'<svg class="ck-canvas">\d+</svg>', seen)) == lines
    assert "not computed yet" not in seen and sheet.count("sure:") == len(asked) - lines
    exercises = {cid for cell in code for cid in files.called_ids(cell, "check")}
    found = set(re.findall(r"<h2>Exercise (\S+)", seen))
    assert found == exercises
    pictures = re.findall("PNG[0-9]+", seen)
    assert len(pictures) == len({*pictures}) >= len(asked)
