"""A guess that is drawn: its score, what counts as none, and the canvas under a hand."""

import importlib.util
import json
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calibkit_course.learn import Drawing, Lesson
from calibkit_course.learn.drawing import SCRIPT, live
from calibkit_course.learn.record import Record
from tests.browser_pages import reload_until

X = (0.1, 0.3, 0.5, 0.7, 0.9)
TRUTH = np.array([0.2, 0.2, 0.4, 0.4, 1.0])


def lesson(record: Record | None = None, **changes: Any) -> Lesson:
    named = {"question": "Draw it.", "axes": ("stated", "share"), "why": "So it is."} | changes
    return Lesson("98", "Drawn", {}, {"8a": Drawing(x=X, **named)}, record or Record())


def test_the_score_is_the_mean_distance_beside_that_of_the_best_level_line() -> None:
    drawn = lesson()
    assert "Noted: 0.10 at 0.1, 0.30 at 0.3" in drawn.predict("8a", X).text
    said = drawn.reveal("8a", TRUTH).text
    assert "0.20 at 0.1, 0.20 at 0.3, 0.40 at 0.5, 0.40 at 0.7, 1.00 at 0.9." in said
    # (.1 + .1 + .1 + .3 + .1) / 5; the median .4 is off by (.2 + .2 + 0 + 0 + .6) / 5
    assert "off by 0.14 on average (the best level line: 0.20)" in said
    assert "most where stated = 0.7: you drew 0.70, it is 0.40" in said and "close" not in said
    drawn.predict("8a", TRUTH)
    assert "You came close: your line is off by 0.00" in drawn.reveal("8a", TRUTH).text


SLOPE = np.array([0.3, 0.4, 0.5, 0.6, 0.7])  # the best level line is off by 0.12
# A truth, and how far off a line is that comes close, and one that does not.
CLOSE = ((SLOPE, 0.05, 0.07), (0.9 * TRUTH, 0.08, 0.1), (SLOPE / 4 + 0.2, 0.09, 0.11))


def test_a_line_that_is_close_is_clearly_better_than_the_best_level_line() -> None:
    asked = lesson().predictions["8a"]
    for truth, near, far in CLOSE:  # the last is nearly level: a tenth of the axis will do
        assert asked.is_right(truth + near, truth) and not asked.is_right(truth + far, truth)


def test_decimals_follow_the_axis() -> None:
    assert [lesson(top=top).predictions["8a"].digits for top in (0.02, 1, 60, 400)] == [4, 2, 1, 0]


BAD = {
    "half-way": ([0.1, None, 0.3, None, 0.5], "Only 3 of 5 heights are there; a line left half"),
    "a blank": ([0.1, ..., 0.3, 0.4, 0.5], "Only 4 of 5"),
    "too short": ([0.1, 0.2], "Only 2 of 5"),
    "off the axis": ([0.1, 0.2, 0.3, 0.4, 50], "The height 50 at stated 0.9 lies off the axis"),
    "below it": ([0.1, 0.2, -0.3, 0.4, 0.5], "The height -0.3 at stated 0.5"),
    "no number": ([0.1, 0.2, float("nan"), 0.4, 0.5], "The height nan at stated 0.5"),
    "words": (["a", "b", "c", "d", "e"], "This is no line; give a list of 5 numbers."),
    "one number": (0.4, "This is no line"),
    "a table": (np.zeros((5, 2)), "This is no line"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_whole_line_gets_a_sentence_and_leaves_the_earlier_one(name: str) -> None:
    drawn, (guess, words) = lesson(), BAD[name]
    assert words in drawn.predict("8a", guess).text
    assert "You made no guess" in drawn.reveal("8a", TRUTH).text
    drawn.predict("8a", X)
    assert "Your earlier guess, 0.10 at 0.1" in drawn.predict("8a", guess).text
    assert "not computed yet" in drawn.reveal("8a", guess).text


def test_a_line_needs_no_confidence() -> None:
    drawn = lesson()
    assert "needs no confidence" in drawn.predict("8a", X, sure=0.7).text
    drawn.reveal("8a", TRUTH)
    assert drawn.log.rows == {}


def test_a_line_survives_a_restart_and_an_option_of_an_older_course_is_none(tmp_path: Path) -> None:
    path = tmp_path / "98.json"
    lesson(Record(path)).predict("8a", X)
    assert "off by 0.14" in lesson(Record(path)).reveal("8a", TRUTH).text
    path.write_text(path.read_text("utf-8").replace("[", '"0.7", "other": ['), "utf-8")
    assert "You made no guess" in lesson(Record(path)).reveal("8a", TRUTH).text


def canvas_of(html: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(unescape(html.split('data-canvas="')[1].split('"')[0]))
    return found


def test_a_page_holds_the_canvas_and_the_truth_only_in_its_outcome(monkeypatch) -> None:
    monkeypatch.setenv("CALIBKIT_BOOK", "1")
    drawn = lesson()
    asked = drawn.predict("8a", ...)._repr_mimebundle_()
    assert set(asked) == {"text/plain", "text/html"}
    assert canvas_of(asked["text/html"])["truth"] is None and "ck-truth" not in asked["text/html"]
    drawn.predict("8a", X)
    told = drawn.reveal("8a", TRUTH)._repr_html_()
    assert canvas_of(told)["truth"] == list(TRUTH)
    assert 'd="M74.6,179.0L' in told  # a height of .1: a tenth of the way up from 196
    assert "Yours: 0.10 at 0.1" in told and "The truth: 0.20 at 0.1" in told


def test_a_widget_notes_a_line_once_it_is_whole() -> None:
    pytest.importorskip("anywidget")
    drawn, noted = lesson(), list[Any]()
    bundle, _ = drawn.predict("8a", ...)._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    widget = live("", lambda heights: noted.append(drawn.predict("8a", heights)))
    for heights in ([0.1, None, None, None, None], list(X), [None] * 5):
        widget.heights = heights
        assert drawn.record.guesses.get("8a") == (list(X) if len(noted) > 1 else None)


# --- on a page, under a hand ---------------------------------------------------------------------


def site_of(root: Path, folder: Path) -> str:
    """Write a page with a drawing as the book does, and its scripts."""
    pytest.importorskip("sphinx")
    path = root / "book" / "_ext" / "predict_first.py"
    spec = importlib.util.spec_from_file_location("predict_first", path)
    assert spec and spec.loader
    extension = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(extension)
    drawn = lesson()
    asked = drawn.predictions["8a"]
    parts = (
        drawn.predict("8a", ...)._repr_html_(),
        extension.form("8a", asked).astext(),
        '<details class="ck-fold" data-predictions="8a"><summary>Outcome</summary>',
        extension.verdict("8a", asked).astext(),
        drawn.reveal("8a", TRUTH)._repr_html_(),
        "</details>",
    )
    scripts = (SCRIPT, root / "book" / "_static" / "predict_first.js")
    code = "".join(f"<script>{one.read_text('utf-8')}</script>" for one in scripts)
    look = f"<style>{(root / 'book' / '_static' / 'book.css').read_text('utf-8')}</style>"
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    page = f"<!doctype html><html lang=en><head><title>t</title>{head}{look}</head><body>"
    (folder / "page.html").write_text(page + "".join(parts) + code + "</body></html>", "utf-8")
    return (folder / "page.html").as_uri()


@pytest.mark.browser
@pytest.mark.parametrize("hand", ["mouse", "finger", "keys"])
def test_a_line_is_drawn_and_laid_beside_the_truth(browser, root, tmp_path, hand) -> None:
    finger = {"width": 390, "height": 800} if hand == "finger" else {"width": 1280, "height": 900}
    context = browser.new_context(viewport=finger, has_touch=hand == "finger")
    page, errors = context.new_page(), list[str]()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(site_of(root, tmp_path))
    canvas, status = page.locator(".ck-canvas").first, page.locator(".ck-guess [role=status]")
    done, fold = page.get_by_role("button", name="This is my line"), page.locator(".ck-fold")
    box = canvas.bounding_box()
    assert box["width"] <= finger["width"]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    def place(k: int, height: float) -> tuple[float, float]:
        scale = box["width"] / 360
        x, y = 44 + 306 / 5 * (k + 0.5), 196 - 170 * height
        return box["x"] + scale * x, box["y"] + scale * y

    if hand == "mouse":  # one quick stroke from end to end passes all the others
        page.mouse.move(*place(0, 0.1))
        page.mouse.down()
        page.mouse.move(*place(1, 0.3))
        assert "2 of 5 heights" in status.inner_text() and done.is_disabled()
        page.mouse.move(*place(4, 0.9))
        page.mouse.up()
    elif hand == "finger":
        for k, height in enumerate(X):
            assert done.is_disabled()
            page.touchscreen.tap(*place(k, height))
    else:
        canvas.focus()
        for k in range(5):
            for key in ["PageUp"] if k == 0 else ["ArrowRight", "PageUp", "PageUp"]:
                canvas.press(key)
        assert canvas.get_attribute("aria-valuetext") == "at stated 0.9: 0.90"
        canvas.press("ArrowDown")
        assert canvas.get_attribute("aria-valuetext") == "at stated 0.9: 0.88"
        canvas.press("ArrowUp")
    assert status.inner_text() == "Your line is complete."
    assert not fold.evaluate("fold => fold.open")
    done.press("Enter")
    assert fold.evaluate("fold => fold.open")
    guess = json.loads(page.evaluate("JSON.parse(localStorage['calibkit-guesses'])['8a']"))
    assert guess == pytest.approx(X, abs=0.02)
    drawn = lesson()
    drawn.predict("8a", guess)
    lines = drawn.predictions["8a"]
    said = page.locator(".ck-verdict").inner_text()
    assert said == drawn.reveal("8a", TRUTH).paragraphs[1]
    reload_until(page, ".ck-verdict:not([hidden])")
    assert page.locator(".ck-verdict").inner_text() == said
    compare = """([truth, line]) => {
      const svg = document.querySelector(".ck-fold .ck-canvas");
      svg.dataset.canvas = JSON.stringify({ ...JSON.parse(svg.dataset.canvas), truth });
      return calibkitDraw.compare(svg, line);
    }"""
    for truth, *offs in CLOSE:
        for line in (list(truth + off) for off in offs):
            told = page.evaluate(compare, [list(truth), line]).partition(", and")[0]
            assert told == lines.compare(line, truth).partition(", and")[0]
    page.get_by_role("button", name="Forget my guesses").click()
    assert not fold.evaluate("fold => fold.open") and "0 of 5" in status.inner_text()
    assert errors == []
    context.close()
