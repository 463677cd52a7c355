"""Make the exercises of a lesson's page ready to be solved; the site's scripts wake them.

A check cell says nothing before there is an answer, so no page shows one. Text, stub and folded
solution stay as they are, and the page's code cells go along as data: what Python runs first.
"""

import json
import re
from collections.abc import Iterator

from docutils import nodes
from predict_first import LESSON, is_cell, raw_html
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

from tools.lesson_pages import extra_packages
from tools.notebook_files import cells_for_page, read_source
from tools.virtual_environment import ROOT

CHECKED = re.compile(r"lesson\.check\(\"([\d.]+)\"")


def code_of(cell: nodes.Element) -> str:
    """Return the code of a cell."""
    return next(iter(cell.findall(nodes.literal_block))).astext()


def following(cell: nodes.Element) -> Iterator[nodes.Element]:
    """Yield what stands after the cell of an exercise, up to its solution."""
    children = cell.parent.children
    for node in children[children.index(cell) + 1 :]:
        yield node
        if is_cell(node, "solution"):
            return


def mark(cell: nodes.Element) -> None:
    """Take the checks out of an exercise, and mark its place by its name."""
    parts = list(following(cell))
    checks = [part for part in parts if is_cell(part, "check")]
    found = CHECKED.search(code_of(checks[0]))
    if found is None or not is_cell(parts[-1], "solution"):
        raise ValueError(f"an exercise without check or solution: {code_of(cell)[:80]}")
    for part in parts[: parts.index(checks[-1]) + 1]:  # words between two checks are about them
        cell.parent.remove(part)
    start = raw_html(f'<div class="ck-exercise" data-exercise="{found[1]}">\n')
    cell.parent.insert(cell.parent.index(cell), start)
    cell.parent.insert(cell.parent.index(parts[-1]) + 1, raw_html("</div>\n"))


class LiveExercises(SphinxTransform):
    """Mark the exercises of a lesson's page, after its outcomes have been folded."""

    default_priority = 505

    def apply(self, **_: object) -> None:
        """Do it; a lesson that no browser can run keeps text, stub and solution alone."""
        lesson = LESSON.match(self.env.docname)
        if lesson is None:
            return
        for cell in list(self.document.findall(is_cell)):
            if is_cell(cell, "exercise"):
                mark(cell)
        path = ROOT / f"{self.env.docname}.md"
        if "torch" not in extra_packages(path):
            text = json.dumps(cells_for_page(read_source(path))).replace("</", "<\\/")
            kind = f'type="application/json" id="ck-cells" data-lesson="{lesson[1]}"'
            self.document.append(raw_html(f"<script {kind}>{text}</script>"))


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the transform."""
    app.add_transform(LiveExercises)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
