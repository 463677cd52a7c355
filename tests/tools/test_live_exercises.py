"""Exercises in the page: all solved by the page's own Python, three of them in a browser."""

import json
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from calibkit_course import open_lesson
from calibkit_course.learn import messages
from calibkit_course.learn.page import Workbook, names_in
from tests.browser_pages import FURTHER, LESSON, TELEPHONE, Visit, reload_until
from tests.helpers import each_case
from tests.paths import PROGRAMS, PYODIDE
from tests.tools.test_live import IN_NODE
from tools import notebook_files as files
from tools.live import site as live
from tools.workbook import name_of

LESSONS = {name_of(path): files.cells_for_page(files.read_source(path.with_suffix(".md")))
           for path in IN_NODE}  # fmt: skip


def exercises(cells: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield each exercise with its right answer."""
    for cell in cells:
        if cid := cell.get("exercise"):
            yield cid, f"{cell['source']}\n{cell['solution']}"


def workbook(lesson: str) -> Workbook:
    return Workbook(open_lesson(lesson[:2], keep=False), LESSONS[lesson])


# --- what the page's Python is asked, asked here -------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("lesson", LESSONS)
def test_each_exercise_is_solved_with_the_cells_that_it_needs(lesson: str, subtests) -> None:
    for cid, answer in exercises(LESSONS[lesson]):
        with subtests.test(cid):
            page = workbook(lesson)  # nothing of another exercise helps
            for number in page.needed(cid, answer):
                page.run(number)
            said = page.check(cid, answer)
            assert said["error"] == "" and said["state"] in ("Correct", "Compare")
            if said["state"] == "Compare":
                every = list(range(1, len(said["points"]) + 1))
                assert page.check(cid, answer, every)["state"] == "Self-assessed"
            assert page.needed(cid, answer) == []  # it runs again at once


WRONG = {
    ("00", "0.1", "share = 5 / 36"): "Almost",
    ("00", "0.1", "share = ..."): "Not attempted",
    ("00", "0.1", "other = 1"): "Not defined",
    ("02", "2.1", "my_parts = 0.42"): "Wrong kind",
    ("02", "2.1", "def my_parts(rain, said, repaired):\n    return 0, 0, rain.var()"): "Almost",
}


def test_wrong_answers_get_their_message_in_the_words_of_a_page(subtests) -> None:
    page_of = {cid: page for page, cells in LESSONS.items() for cid, _ in exercises(cells)}
    for (_, cid, answer), state in WRONG.items():
        with subtests.test(answer):
            page = workbook(page_of[cid])
            for number in page.needed(cid, answer):
                page.run(number)
            said = page.check(cid, answer)
            assert (said["state"], said["error"]) == (state, "")
            assert state in said["html"] and "cell above" not in said["html"]


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("share = (1", "Line 1: SyntaxError: '(' was never closed"),
        ("share = 1\nshare / 0", "Line 2: ZeroDivisionError: division by zero"),
        ("import sys\nsys.exit(3)", "Line 2: SystemExit: 3"),
        ("def f():\n    return nowhere\n\nf()", "Line 2: NameError: name 'nowhere' is not defined"),
    ],
)
def test_code_that_fails_is_told_with_its_line_and_spoils_nothing(code: str, error: str) -> None:
    page = workbook("00")
    assert page.check("0.1", f"{code}")["error"] == error
    assert page.check("0.1", "share = 6 / 36")["state"] == "Correct"


def test_an_answer_shows_what_it_prints_returns_and_draws() -> None:
    pytest.importorskip("matplotlib")
    code = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nshare = 6 / 36\nprint('x')\n'<b>'"
    said = workbook("00").check("0.1", code)
    assert said["printed"] == "x\n" and said["shown"][0] == "<pre>&#x27;&lt;b&gt;&#x27;</pre>"
    assert said["shown"][1].startswith(f'<img alt="{messages.PAGE_FIGURE}" src="data:image/png')
    assert workbook("00").check("0.1", "share = 1")["shown"] == []  # the figure is closed


@each_case(
    ("code", "needs", "touches"),
    [
        ("x = y\ny = 1", {"y"}, {"x", "y"}),
        ("for k in ks:\n    t[k] = k", {"ks", "t"}, {"k", "t"}),
        ("n += 1", {"n"}, {"n"}),
        ("if a:\n    b = 1\nc = b", {"a", "b"}, {"b", "c"}),
        ("def f(x):\n    return x + g", {"g"}, {"f"}),
        ("import a.b, c as d", set(), {"a", "d"}),
        ("a = {k: v for k, v in b}; c = {x for x in [y for y in d]}", {"b", "d"}, {"a", "c"}),
        ("(", set(), set()),
    ],
)
def test_names_that_code_needs_and_may_change(code, needs, touches) -> None:
    found = names_in(code)
    assert (found.needs, found.touches) == (needs, touches)


# --- the same in Pyodide, and in a browser -------------------------------------------------------


@pytest.mark.site
@pytest.mark.slow
@pytest.mark.parametrize("path", IN_NODE, ids=lambda path: path.stem)
def test_each_exercise_is_solved_in_the_pages_own_python(path, subtests) -> None:
    questions: list[tuple[str, list[Any]]] = []
    lesson = name_of(path)
    page, given = workbook(lesson), json.dumps(LESSONS[lesson])
    for cid, answer in exercises(LESSONS[lesson]):
        for number in page.needed(cid, answer):
            questions.append(("exercise", [lesson[:2], given, "run", number]))
            page.done.add(number)
        questions.append(("exercise", [lesson[:2], given, "check", cid, answer]))
    command = [str(live.program("node")), str(PROGRAMS / "in_page.mjs"), str(PYODIDE)]
    asked = json.dumps(questions)
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=True)
    for (_, words), answer in zip(
        questions, map(json.loads, done.stdout.splitlines()), strict=True
    ):
        with subtests.test(" ".join(map(str, [words[0], *words[2:4]]))):
            if words[2] == "run":
                assert answer is None
            else:
                assert (answer["state"] in ("Correct", "Compare")) and not answer["error"], answer


class Exercise:
    """An exercise of a page."""

    def __init__(self, here: Visit, cid: str) -> None:
        self.page, self.root = here.page, here.page.locator(f'[data-exercise="{cid}"]')

    def press(self, name: str) -> None:
        self.root.get_by_role("button", name=name).click()

    def write(self, code: str) -> None:
        self.root.get_by_role("textbox").focus()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(code)

    def said(self) -> str:
        """Wait for a verdict, and return it."""
        self.page.wait_for_function("root => !root.ariaBusy && !root.hasAttribute('aria-busy')",
                                    arg=self.root.element_handle())  # fmt: skip
        return str(self.root.locator(".ck-answer").inner_text())


@pytest.mark.site
@pytest.mark.browser
def test_a_stranger_walks_from_the_landing_page_to_a_first_right_answer_and_goes_on(
    live_page,
) -> None:
    here = live_page("book/intro.html", viewport=TELEPHONE)
    here.page.locator(".ck-door").get_by_role("button", name="Model B").click()
    here.page.get_by_role("status").filter(has_text="Yes, model B").wait_for()
    here.page.get_by_role("link", name="Start lesson 01").click()
    answers = dict(pair for cells in LESSONS.values() for pair in exercises(cells))
    first = Exercise(here, "1.1")
    first.root.get_by_role("textbox").focus()
    here.page.keyboard.press("Escape")
    here.page.keyboard.press("Tab")
    assert first.root.evaluate("root => document.activeElement.textContent") == "Run and check"
    here.page.keyboard.press("Enter")
    assert "Not attempted" in first.said()
    for cid in ("1.1", "1.2"):
        one = Exercise(here, cid)
        one.write(answers[cid])
        here.page.keyboard.press("Control+Enter")
        assert "Correct" in one.said()
    assert here.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    reload_until(here.page, ".ck-reached:has-text('Correct in this browser')")
    reached = here.page.locator(".ck-reached").all_inner_texts()
    assert reached.count("✓ Correct in this browser.") == 2
    assert first.root.get_by_role("textbox").inner_text().strip().endswith(answers["1.1"][-20:])
    first.press("Start again")
    assert "6 / 36" not in first.root.get_by_role("textbox").inner_text()
    here.open("notebooks/further/01_further_what_70_percent_means.html")
    endless = Exercise(here, "1.3")
    endless.write("while True: pass")
    endless.press("Run and check")
    endless.root.get_by_text("Running your code").wait_for()
    endless.press("Stop")
    assert endless.root.get_by_role("status").last.inner_text() == "Stopped."
    here.open(FURTHER)
    text = Exercise(here, "4.3")
    text.write(answers["4.3"])
    text.press("Run and check")
    assert "Compare" in text.said()
    text.root.get_by_role("checkbox").first.check()
    text.press("These are in my text")
    assert "Self-assessed" in text.said()


@pytest.mark.site
@pytest.mark.browser
def test_hints_and_solutions_come_when_asked_and_text_remains_without_scripts(
    live_page, browser, address
) -> None:
    here = live_page(LESSON)
    one = Exercise(here, "4.1")
    hints = one.root.locator(".ck-helps > details")
    assert hints.count() >= 2 and not one.root.locator(".ck-helps :visible").count()
    one.press("Hint")
    assert hints.nth(0).is_visible() and not hints.nth(1).is_visible()
    one.press("Solution")
    assert one.root.locator(".tag_solution .cell_input").is_visible()
    here.page.context.route("**/pyodide.js", lambda route: route.abort())
    one.press("Run and check")
    one.root.get_by_text("did not arrive").wait_for()
    for options, script in (({"java_script_enabled": False}, "none"), ({}, "**/live_python.js")):
        context = browser.new_context(**options)
        context.route(script, lambda route: route.abort())
        page = context.new_page()
        page.goto(f"{address}/{LESSON}")
        root = page.locator('[data-exercise="4.1"]')
        assert root.locator(".tag_exercise pre").is_visible()
        assert page.get_by_text("Hint 1").first.is_visible()
        assert not root.locator(".tag_solution pre").is_visible()
        assert page.locator(".tag_check").count() == 0
        context.close()
