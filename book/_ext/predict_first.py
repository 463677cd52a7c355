"""Fold each outcome of a lesson's page until the reader has guessed; make its questions forms.

Code is folded on a telephone, as is what follows the story: questions, progress, references. What
nobody reads is hidden; one switch shows all code.

The tags of the cells say where a prediction stands and where it is revealed. From a prediction on,
all outputs and all prose go into `<details>`; the code stays in sight up to the cell that reveals.
The fold ends at the next heading or prediction, because what follows an outcome talks about it.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

from book.bank import item
from book.experiments.your_calibration import STATEMENTS
from calibkit_course import open_lesson
from calibkit_course.learn import STAND_IN, Drawing, Message, Prediction, messages
from calibkit_course.learn.forecasts import least_sure
from calibkit_course.learn.questions import Question, read_questions

LESSON = re.compile(r"notebooks/(?:further/)?(\d\d)_")
NAMED = re.compile(r"\.(?:predict|reveal)\(\s*\"(\w+)\"")
HINT = "guess first, or open it"
GAME = "A round of the game, solved"
GAME_HINT = "play first"
UNREAD = ("setup", "predict", "reveal", "widget", "static-twin")
FOLDED_CODE = '<details class="ck-code" open><summary>Code</summary>'
# In a lesson's first line: what matters to who runs it at home, and what says: nothing.
AT_HOME = re.compile(r" · (?:runs in \d+ s|[a-z ]+: (?:nothing|none))(?= ·|$)")
LATER = {  # sections that a telephone folds, and what their folds say
    "Check yourself": "The questions",
    "Know the lessons": "The lessons",
    "Know the symbols": "The symbols",
    "See how far you are": "What you have solved",
    "References": "The sources",
}
WHY = (
    '<p class="ck-why">Say how sure you are, then press an answer: this draws '
    '<a href="{up}book/your_calibration.html">your own calibration</a>.</p>'
)


class Fold(nodes.General, nodes.Element):
    """What stays folded until every prediction in `ids` has been guessed."""


def visit_fold(self: HTML5Translator, node: Fold) -> None:
    """Begin the `<details>` of a fold."""
    ids = escape(" ".join(node["ids_asked"]))
    title, hint = escape(node["title"]), escape(node["hint"])
    self.body.append(f'<details class="ck-fold" data-predictions="{ids}">')
    self.body.append(f'<summary>{title}<span class="ck-hint">: {hint}</span></summary>\n')


def depart_fold(self: HTML5Translator, node: Fold) -> None:
    """End it."""
    self.body.append("</details>\n")


def is_cell(node: nodes.Node, tag: str = "") -> bool:
    """Tell whether a node is a code cell, with a certain tag if one is given."""
    if not isinstance(node, nodes.container) or node.get("nb_element") != "cell_code":
        return False
    return not tag or f"tag_{tag}" in node["classes"]


def is_unread(cell: nodes.Node) -> bool:
    """Tell whether nobody reads the code of a cell on a page."""
    return any(is_cell(cell, tag) for tag in UNREAD)


def exercise_in(children: list[nodes.Node]) -> int:
    """Return how many of a section's first nodes are an exercise, which is no outcome."""
    tags = ("exercise", "check", "solution")
    places = [i for i, one in enumerate(children) if any(is_cell(one, tag) for tag in tags)]
    count = places[-1] + 1 if places else 0
    others = (is_cell(one, tag) for one in children[:count] for tag in ("predict", "reveal"))
    return 0 if any(others) else count


def prediction_of(cell: nodes.Element) -> str:
    """Return the name of the prediction that a cell asks for or reveals."""
    found = NAMED.search(cell.astext())
    if found is None:
        raise ValueError(f"no prediction is named in: {cell.astext()[:80]}")
    return found.group(1)


def html_of(cell: nodes.Element) -> Iterator[nodes.raw]:
    """Go through the pieces of HTML that a cell has put out."""
    return (raw for raw in cell.findall(nodes.raw) if raw.get("format") == "html")


def edit(cell: nodes.Element, old: str, new: str) -> None:
    """Replace a text that a cell has put out as HTML."""
    for raw in html_of(cell):
        text = raw.astext().replace(old, new)
        raw.children[:] = [nodes.Text(text)]


def prompt(pid: str, *paragraphs: str) -> str:
    """Return what the cell of a prediction shows."""
    heading = messages.PREDICTION.format(id=pid)
    return Message(heading, paragraphs, messages.NOTE_SYMBOLS["guess"])._repr_html_()


def raw_html(text: str) -> nodes.raw:
    """Return a node that is written as it is."""
    return nodes.raw("", text, format="html")


def form(pid: str, prediction: Prediction) -> nodes.raw:
    """Return the buttons, or the field, by which a reader guesses; the script wakes them."""
    if isinstance(prediction, Drawing):
        return drawing_form(pid)
    name = f"guess-{pid}"
    kind = 'type="button" class="ck-button" disabled'
    answers = "\n".join(
        f'<button {kind} aria-pressed="false" value="{escape(option)}">{escape(option)}</button>'
        for option in prediction.options
    )
    if not prediction.options:
        answers = (
            f'<label><input type="number" step="any" autocomplete="off" disabled> '
            f"{escape(prediction.unit)}</label>\n<button {kind}>Guess</button>"
        )
    options = len(prediction.options)
    least = round(100 * least_sure(options)) if options else 1
    return raw_html(
        f'<div class="ck-guess" role="group" aria-labelledby="{name}" data-prediction="{pid}" '
        f'data-options="{options or 2}">'
        f'<label class="ck-sure">How sure are you? <input type="range" min="{least}" max="99" '
        f'value="{least}" autocomplete="off" disabled> <span aria-hidden="true"></span></label>'
        f'<span id="{name}">Your guess for {pid}:</span>\n{answers}\n'
        "<noscript><span>Guess in your mind, then open the outcome.</span></noscript>\n"
        '<span role="status"></span>\n'
        '<button type="button" class="ck-forget" hidden>Forget my guesses</button></div>\n'
    )


def drawing_form(pid: str) -> nodes.raw:
    """Return the buttons below a canvas, which the script wakes with it."""
    kind = 'type="button" class="ck-button" disabled'
    return raw_html(
        f'<div class="ck-guess" role="group" aria-label="Your line for {pid}" data-drawing '
        f'data-prediction="{pid}"><button {kind}>This is my line</button>'
        f"<button {kind}>{messages.DRAW_CLEAR}</button>\n"
        "<noscript><span>Guess in your mind, then open the outcome.</span></noscript>\n"
        '<span role="status"></span>\n'
        '<button type="button" class="ck-forget" hidden>Forget my guesses</button></div>\n'
    )


def verdict(pid: str, prediction: Prediction) -> nodes.raw:
    """Return the line that puts the guess beside the outcome; the script fills it."""
    if isinstance(prediction, Drawing):
        return raw_html(f'<p class="ck-verdict" data-prediction="{pid}" hidden></p>\n')
    outcome = f"{prediction.outcome:g}" if not prediction.options else str(prediction.outcome)
    return raw_html(
        f'<p class="ck-verdict" data-prediction="{pid}" data-outcome="{escape(outcome)}" '
        f'data-unit="{escape(prediction.unit)}" hidden></p>\n'
    )


class Page:
    """One lesson's page while its outcomes are being folded."""

    def __init__(
        self,
        predictions: Mapping[str, Prediction],
        questions: Sequence[Question] = (),
        up: str = "../",
    ) -> None:
        self.predictions = predictions
        self.questions = questions
        self.why = WHY.format(up=up)  # `up` leads from the folder of the page
        self.asked: list[str] = []  # and not yet revealed
        self.told: list[str] = []  # revealed; what follows talks about it
        self.titled: set[str] = set()
        self.game = False  # whether the last cell was a game
        self.explained = False  # what the confidence is for

    def fold(self, parent: nodes.Element) -> None:
        """Fold the children of a section, and those of its sections. No heading is folded."""
        children, parent.children = parent.children, []
        exercise = exercise_in(children)
        for place, child in enumerate(children):
            if isinstance(child, nodes.section | nodes.title):
                self.told.clear()
                self.game = False
            if isinstance(child, nodes.section):
                self.fold(child)
                parent.append(child)
            elif is_cell(child, "predict"):
                parent.extend(self.ask(child))
            elif is_cell(child, "quiz"):
                parent.extend(raw_html(item(question)) for question in self.questions)
            elif place < exercise or isinstance(child, nodes.title):
                parent.append(child)
            elif self.asked or self.told:
                for part, is_outcome in self.parts(child):
                    self.add(parent, part, is_outcome)
            else:
                self.look_for_games(parent, child)

    def ask(self, cell: nodes.Element) -> list[nodes.Node]:
        """Return the cell of a prediction with its buttons below."""
        pid = prediction_of(cell)
        self.told.clear()
        self.asked.append(pid)
        asked = self.predictions[pid]
        edit(cell, prompt(pid, asked.question, asked.invitation), prompt(pid, asked.question))
        asks_sure = not isinstance(asked, Drawing)
        why = [] if self.explained or not asks_sure else [raw_html(self.why)]
        self.explained |= asks_sure
        return [cell, *why, form(pid, asked)]

    def parts(self, node: nodes.Element) -> Iterator[tuple[nodes.Node, bool]]:
        """Split a node into what may be seen before the guess and what may not."""
        if is_cell(node, "reveal"):
            pid = prediction_of(node)
            yield verdict(pid, self.predictions[pid]), True
            edit(node, f"<br>{escape(messages.NO_GUESS)}", "")
            yield node, True
            self.asked = [other for other in self.asked if other != pid]
            self.told.append(pid)
        elif is_cell(node) and not self.told and not is_unread(node):
            yield from self.without_output(node)
        else:
            yield node, True

    def without_output(self, cell: nodes.Element) -> Iterator[tuple[nodes.Node, bool]]:
        """Split a cell into its code and its outputs; what hides anyway stays whole."""
        yield cell, False
        output = cell.children[-1]
        if output.get("nb_element") == "cell_code_output" and not cell.get("hide_mode"):
            cell.remove(output)
            yield nodes.container("", output, classes=["cell"]), True

    def add(self, parent: nodes.Element, node: nodes.Node, is_outcome: bool) -> None:
        """Append a node, inside the fold that is being filled if it shows an outcome."""
        ids = sorted({*self.asked, *self.told})
        last = parent.children[-1] if parent.children else None
        if not is_outcome:
            parent.append(node)
        elif isinstance(last, Fold) and last["ids_asked"] == ids:
            last.append(node)
        else:
            names = " and ".join(ids)
            title = f"Outcome of {names}"
            title += ", continued" if names in self.titled else ""
            self.titled.add(names)
            parent.append(Fold("", node, ids_asked=ids, title=title, hint=HINT))

    def look_for_games(self, parent: nodes.Element, node: nodes.Node) -> None:
        """Append a node; the output of the cell below a game, a solved round, is folded."""
        if not is_cell(node):
            parent.append(node)
            return
        for part, is_outcome in self.without_output(node) if self.game else [(node, False)]:
            if is_outcome:
                part = Fold("", part, ids_asked=[], title=GAME, hint=GAME_HINT)
            parent.append(part)
        self.game = any("ck-quiz" in raw.astext() for raw in html_of(node))


class FoldOutcomes(SphinxTransform):
    """Fold the outcomes of a lesson's page."""

    default_priority = 500

    def apply(self, **_: object) -> None:
        """Do it, if the page is a lesson."""
        lesson = LESSON.match(self.env.docname)
        if lesson is not None:
            name = lesson.group(1)
            predictions = open_lesson(name).predictions
            up = "../" * self.env.docname.count("/")
            Page(predictions, read_questions(name), up).fold(self.document)


class FoldCode(SphinxTransform):
    """Fold the code of a lesson and of the trades; hide what sets up, asks or shows anyway."""

    default_priority = 505

    def apply(self, **_: object) -> None:
        """Do it, but for exercises and for what is folded anyway."""
        if not LESSON.match(self.env.docname) and self.env.docname != "book/trades":
            return
        for cell in list(self.document.findall(is_cell)):
            code = cell.children[0]
            if is_unread(cell):
                code["classes"].append("ck-unread")
            elif not cell.get("hide_mode") and not is_cell(cell, "exercise"):
                cell.replace(code, [raw_html(FOLDED_CODE), code, raw_html("</details>")])


class FoldLater(SphinxTransform):
    """Fold the sections below a lesson's story, for a telephone; the way to the next one stays."""

    default_priority = 506

    def apply(self, **_: object) -> None:
        """Do it."""
        sections = self.document.findall(nodes.section) if LESSON.match(self.env.docname) else []
        for section in list(sections):
            title, *inside = section.children
            if words := LATER.get(title.astext()):
                last = inside.pop() if inside[-1].astext().startswith("Next ") else nodes.raw()
                start = f'<details class="ck-later" open><summary>{words}</summary>'
                section[1:] = [raw_html(start), *inside, raw_html("</details>"), last]


class ShortenFacts(SphinxTransform):
    """Leave in the first line of a lesson's page what a visitor asks: how long, needs what."""

    default_priority = 507

    def apply(self, **_: object) -> None:
        """Do it."""
        lines = self.document.findall(nodes.paragraph) if LESSON.match(self.env.docname) else []
        for line in (line for line in lines if line.astext().startswith("Time: ")):
            line["classes"].append("ck-facts")
            line[:] = [nodes.Text(AT_HOME.sub("", line.astext()))]


class FrameImages(SphinxTransform):
    """Put each picture into a frame of its own, inside which it may scroll."""

    default_priority = 510

    def apply(self, **_: object) -> None:
        """Do it, on every page."""
        for image in list(self.document.findall(nodes.image)):
            if not isinstance(image.parent, nodes.TextElement):
                image.replace_self(nodes.container("", image.deepcopy(), classes=["ck-frame"]))


class OwnCalibration(SphinxDirective):
    """Leave room for twenty statements and the reader's own calibration, with their words.

    The script beside it says the sentences of `my_calibration`, about what this browser keeps.
    """

    def run(self) -> list[nodes.Node]:
        """Return the room, what stands there without scripts, and the script."""
        starts = ("OWN_", "CSV_", "IMPORTED", "INFINITE")
        words = {key: value for key, value in messages.WORDS.items() if key.startswith(starts)}
        stand_in = STAND_IN.read_text("utf-8")
        data = json.dumps({"words": words, "statements": STATEMENTS, "stand_in": stand_in})
        return [
            raw_html(
                '<div id="ck-statements"></div><div id="ck-own"><noscript>This page needs '
                "JavaScript, which is switched off in your browser.</noscript></div>"
                '<script type="application/json" id="ck-own-data">'
                f'{data}</script><script defer src="../_static/own_calibration.js"></script>'
            )
        ]


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect node, transforms and script."""
    app.add_node(Fold, html=(visit_fold, depart_fold))
    app.add_transform(FoldOutcomes)
    app.add_transform(FoldCode)
    app.add_transform(FoldLater)
    app.add_transform(ShortenFacts)
    app.add_transform(FrameImages)
    app.add_directive("own-calibration", OwnCalibration)
    app.add_js_file("draw.js")
    app.add_js_file("predict_first.js")
    app.add_js_file("question_bank.js")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
