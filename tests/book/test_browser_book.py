"""Every page of the built book in a real browser, by day and in the dark."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from calibkit_course import open_lesson
from tests.browser_pages import (
    DESK,
    HIDDEN,
    LESSON,
    OPEN_ALL,
    SETTLED,
    TELEPHONE,
    Visit,
    html_pages,
    number_of,
    squeezed,
)

pytestmark = pytest.mark.browser

LEGIBLE = 12  # pixels: three quarters of the text's 16
# What axe finds in the theme and its extensions: not ours, and not to grow.
OF_THE_THEME = {
    "label-content-name-mismatch": ".search-button-field, .theme-switch-button, .above-input > *",
    "region": ".logo__image",
    "summary-name": ".bd-links summary",
    "aria-required-children": ".citation-list",
    "aria-allowed-role": ".citation",
    "aria-deprecated-role": ".citation",
}
# The rules that a colour scheme can break.
OF_COLOURS = ["color-contrast", "link-in-text-block"]
RUN_AXE = """async ([theirs, rules]) => {
  const options = rules.length ? {runOnly: rules} : {};
  const found = await axe.run(document, {resultTypes: ["violations"], ...options});
  return found.violations.flatMap(({id, nodes}) => nodes
    .filter(node => !document.querySelector(node.target[0]).matches(theirs[id] || ":not(*)"))
    .map(node => `${id}: ${node.html.slice(0, 120)}`));
}"""
POOR_IMAGES = """[...document.querySelectorAll('article img')]
  .filter(image => !(image.complete && image.naturalWidth > 0) || image.alt.length <= 20)
  .map(image => image.outerHTML.slice(0, 200))"""
# The page would wrap a long line; none should need it.
CUT_OFF = """[...document.querySelectorAll('article .cell_input pre')].filter(code => {
  code.style.whiteSpace = 'pre';
  const isLong = code.scrollWidth > code.clientWidth;
  code.style.whiteSpace = '';
  return isLong;
}).map(code => code.innerText.split('\\n').sort((a, b) => b.length - a.length)[0])"""
# Letters of figures are 9.5 points, some half a point smaller; a figure has 100 pixels to an inch.
TINY = """least => [...document.querySelectorAll('article .ck-frame img')]
  .filter(image => image.getClientRects().length)
  .map(image => [9 / 72 * 100 * image.clientWidth / image.naturalWidth, image.alt])
  .filter(([size]) => size < least)"""
OVERFLOWING = """[...document.querySelectorAll('article .ck-frame')]
  .filter(frame => frame.scrollWidth > frame.clientWidth + 1 && frame.tabIndex !== 0).length"""


class Looks:
    """What is seen on each page, in one visit: at a desk, all open, in the dark, on a telephone."""

    def __init__(self, browser: Any, site: str, pages: list[str]) -> None:
        visit = Visit(browser, site, color_scheme="light", viewport=DESK)
        self.predictions = 0
        self.pages, self.seen = pages, dict[str, dict[str, list[Any]]]()
        for name in pages:
            page = visit.open(name)
            found: dict[str, list[Any]] = {"poor images": page.evaluate(POOR_IMAGES)}
            if name.startswith("notebooks/"):
                found["told too early"] = list(self._told(page, number_of(name)))
            # Pages of rooms are all alike.
            if os.environ.get("AXE_JS") and ("/api/" not in name or name.endswith("errors.html")):
                found |= self._barriers(page, name)
            found |= self._layout(page, name)
            found["formulas"] = ["mjx-merror"] * page.locator("mjx-merror").count()
            found["elsewhere"], found["messages"] = [*visit.elsewhere], [*visit.messages]
            visit.elsewhere.clear()
            visit.messages.clear()
            self.seen[name] = found
        visit.close()

    def _barriers(self, page: Any, name: str) -> dict[str, list[Any]]:
        page.evaluate(Path(os.environ["AXE_JS"]).read_text(encoding="utf-8"))
        found = {}
        if name == LESSON:
            found["barriers while folded"] = page.evaluate(RUN_AXE, [OF_THE_THEME, []])
        page.evaluate(OPEN_ALL)
        page.evaluate(SETTLED)
        found["barriers"] = page.evaluate(RUN_AXE, [OF_THE_THEME, []])
        page.emulate_media(color_scheme="dark")
        page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
        page.evaluate(SETTLED)
        found["barriers in the dark"] = page.evaluate(RUN_AXE, [OF_THE_THEME, OF_COLOURS])
        page.emulate_media(color_scheme="light")
        return found

    def _layout(self, page: Any, name: str) -> dict[str, list[Any]]:
        page.evaluate(OPEN_ALL)
        page.evaluate(SETTLED)
        found = {"cut off": page.evaluate(CUT_OFF)} if name.startswith("notebooks/") else {}
        page.set_viewport_size(TELEPHONE)
        page.evaluate(SETTLED)
        width = page.evaluate("document.documentElement.scrollWidth")
        found["too wide"] = [width] * (width > TELEPHONE["width"])
        found["tiny"] = page.evaluate(TINY, LEGIBLE)
        found["no keyboard"] = ["frame"] * page.evaluate(OVERFLOWING)
        page.set_viewport_size(DESK)
        return found

    def _told(self, page: Any, number: str) -> Iterator[str]:
        """Go through what a reader sees of the outcomes of a lesson before any guess."""
        seen = squeezed(page.locator("article").inner_text())
        if not page.evaluate(HIDDEN):
            yield "an open fold"
        for pid, asked in open_lesson(number).predictions.items():
            self.predictions += 1
            if f"Outcome {pid}" in seen or squeezed(asked.why) in seen:
                yield pid
            if not page.locator(f'.ck-guess[data-prediction="{pid}"]').is_visible():
                yield f"{pid} has no buttons"

    def of(self, *kinds: str) -> list[str]:
        """Return what was found of these kinds, each with its page."""
        return [
            f"{name}: {kind}: {item}"
            for name, found in self.seen.items()
            for kind in kinds
            for item in found.get(kind, [])
        ]


@pytest.fixture(scope="module")
def looks(browser: Any, site: str, root: Path) -> Looks:
    """Return what is seen on all pages, which are visited once."""
    return Looks(browser, site, html_pages(root))


def test_every_page_is_complete_without_any_other_host(looks: Looks) -> None:
    assert len(looks.pages) >= 9
    assert looks.of("elsewhere", "messages", "poor images", "formulas") == []


def test_nothing_is_cut_off_on_a_telephone(looks: Looks) -> None:
    assert looks.of("too wide") == []


def test_letters_in_figures_are_legible_on_a_telephone(looks: Looks) -> None:
    assert looks.of("tiny", "no keyboard") == []


def test_no_line_of_code_is_cut_off_at_a_desk(looks: Looks) -> None:
    assert looks.of("cut off") == []


@pytest.mark.skipif(not os.environ.get("AXE_JS"), reason="AXE_JS names no axe.min.js")
def test_no_page_has_barriers_beyond_those_of_the_theme(looks: Looks) -> None:
    assert looks.of("barriers", "barriers while folded", "barriers in the dark") == []


def test_before_a_guess_no_outcome_of_any_lesson_is_seen(looks: Looks) -> None:
    assert looks.predictions >= 20 and looks.of("told too early") == []
