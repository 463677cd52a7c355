"""Every page of the built book in a real browser, by day and in the dark."""

import os
import re
from pathlib import Path
from typing import Any

import pytest

from book.experiments import front_door
from calibkit import expected_calibration_error, null_level
from tests.browser_pages import DESK, LESSON, TELEPHONE, Visit, html_pages, script, squeezed

pytestmark = [pytest.mark.browser, pytest.mark.long]

LEGIBLE = 11  # pixels
# The rules that a colour scheme can break take most of the time.
OF_COLOURS = {"runOnly": ["color-contrast", "link-in-text-block"]}
OF_STRUCTURE = {"rules": {name: {"enabled": False} for name in OF_COLOURS["runOnly"]}}


class Looks:
    """What is seen on each page, in one visit: at a desk, all open, in the dark, on a telephone."""

    def __init__(self, browser: Any, site: str, pages: list[str]) -> None:
        visit = Visit(browser, site, color_scheme="light", viewport=DESK)
        self.colours = set[str]()
        self.pages, self.seen = pages, dict[str, dict[str, list[Any]]]()
        for name in pages:
            page = visit.open(name)
            found: dict[str, list[Any]] = {"poor images": page.evaluate(script("poor_images"))}
            # Pages of rooms are all alike.
            if os.environ.get("AXE_JS") and ("/api/" not in name or name.endswith("errors.html")):
                found |= self._barriers(page, name)
            found |= self._layout(page, name)
            found["formulas"] = ["mjx-merror"] * page.locator("mjx-merror").count()
            found["elsewhere"], found["messages"] = [*visit.elsewhere], [*visit.messages]
            visit.elsewhere.clear()
            visit.messages.clear()
            self.seen[name] = found
        # Beyond the screen, and in a box that scrolls without saying so.
        page.set_viewport_size(TELEPHONE)
        for style in ("", "overflow: auto"):
            page.evaluate(script("plant"), style)
        self.planted = page.evaluate(script("cut_text"))
        visit.close()

    def _barriers(self, page: Any, name: str) -> dict[str, list[Any]]:
        page.evaluate(Path(os.environ["AXE_JS"]).read_text(encoding="utf-8"))
        found = {}
        if name == LESSON:
            found["barriers while folded"] = page.evaluate(script("barriers"), {})
        page.evaluate(script("open_all"))
        page.evaluate(script("settled"))
        found["barriers"] = page.evaluate(script("barriers"), OF_STRUCTURE)
        new = {*page.evaluate(script("colours"))} - self.colours
        if not new:  # earlier pages have shown all that it shows
            return found
        self.colours |= new
        found["barriers"] += page.evaluate(script("barriers"), OF_COLOURS)
        page.emulate_media(color_scheme="dark")
        # A page that forbids `eval` forbids a function to wait for, too.
        page.locator("html[data-theme=dark]").wait_for(state="attached")
        page.evaluate(script("settled"))
        found["barriers in the dark"] = page.evaluate(script("barriers"), OF_COLOURS)
        page.emulate_media(color_scheme="light")
        return found

    def _layout(self, page: Any, name: str) -> dict[str, list[Any]]:
        page.evaluate(script("open_all"))
        page.evaluate(script("settled"))
        found = (
            {"cut off": page.evaluate(script("cut_code"))} if name.startswith("notebooks/") else {}
        )
        page.set_viewport_size(TELEPHONE)
        page.evaluate(script("settled"))
        width = page.evaluate("document.documentElement.scrollWidth")
        found["too wide"] = [width] * (width > TELEPHONE["width"])
        found["cut text"] = page.evaluate(script("cut_text"))
        found |= self._figures(page)
        found["no keyboard"] = ["frame"] * page.evaluate(script("overflowing"))
        page.set_viewport_size(DESK)
        return found

    def _figures(self, page: Any) -> dict[str, list[Any]]:
        """Look at each figure and its letters on a telephone, inside the frame and beyond it."""
        found: dict[str, list[Any]] = {"tiny": [], "off screen": [], "uncut": [], "scrolling": []}
        for figure in page.evaluate(script("figures")):
            alt = figure["alt"]
            found["uncut"] += [alt] * (not figure["isCut"])
            found["scrolling"] += [alt] * figure["wider"]
            for left, right, letters in figure["parts"]:
                found["tiny"] += [(letters, alt)] * (letters < LEGIBLE)
                is_seen = left > -1 and right < TELEPHONE["width"] + 1
                found["off screen"] += [alt] * (not is_seen and not figure["wider"])
        return found

    def of(self, *kinds: str) -> list[str]:
        """Return what was found of these kinds, each with its page."""
        return [
            f"{name}: {kind}: {item}"
            for name, found in self.seen.items()
            for kind in kinds
            for item in found.get(kind, [])
        ]


@pytest.fixture(scope="module")
def looks(browser: Any, site: str) -> Looks:
    """Return what is seen on all pages, which are visited once."""
    return Looks(browser, site, html_pages())


def test_every_page_is_complete_without_any_other_host(looks: Looks) -> None:
    assert len(looks.pages) >= 9
    assert looks.of("elsewhere", "messages", "poor images", "formulas") == []


def test_nothing_is_cut_off_on_a_telephone_and_no_line_of_code_at_a_desk(looks: Looks) -> None:
    assert looks.of("too wide", "cut text", "cut off") == []
    assert looks.planted == ["planted"] * 2, "cut text would be found"


def test_every_figure_and_its_letters_fit_a_telephone_or_say_that_they_scroll(looks: Looks) -> None:
    assert looks.of("tiny", "off screen", "uncut", "no keyboard", "scrolling") == []


@pytest.mark.skipif(not os.environ.get("AXE_JS"), reason="AXE_JS names no axe.min.js")
def test_no_page_has_barriers(looks: Looks) -> None:
    assert looks.of("barriers", "barriers while folded", "barriers in the dark") == []
    assert sum("barriers in the dark" in found for found in looks.seen.values()) >= 10


@pytest.mark.parametrize("name", ["book/intro.html", LESSON, "book/api/calibkit.errors.html"])
def test_the_keyboard_is_seen_and_its_first_link_leads_to_the_text(browser, site, name) -> None:
    visit = Visit(browser, site, viewport=DESK)
    page = visit.open(name)
    unseen = []
    for _ in range(50):
        page.keyboard.press("Tab")
        unseen.append(page.evaluate(script("unseen")))
    assert not any(unseen), unseen
    page = visit.open(name)
    for key in ("Tab", "Enter", "Tab"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.closest('article') !== null")
    visit.close()


def test_paper_asks_and_shows_what_is_folded_but_no_outcome_that_nobody_has_opened(
    browser: Any, site: str
) -> None:
    visit = Visit(browser, site, viewport=DESK)
    page = visit.open(LESSON)
    page.emulate_media(media="print")
    assert page.evaluate(script("unprinted")) == []
    inside, solution = (
        page.locator(".ck-fold > .cell").first,
        page.locator(".tag_solution pre").first,
    )
    options = page.locator(".ck-guess button[value]")
    assert options.count() >= 6 and all(one.is_visible() for one in options.all())
    assert not inside.is_visible() and not solution.is_visible()
    page.evaluate(script("open_all"))
    assert inside.is_visible() and solution.is_visible()
    visit.close()


def test_the_front_door_asks_first_and_then_fills_the_null_level(browser: Any, site: str) -> None:
    options: dict[str, Any] = {"viewport": TELEPHONE, "reduced_motion": "reduce"}
    visit = Visit(browser, site, **options)
    page = visit.open("book/intro.html")
    door = page.locator(".ck-door")
    seen = squeezed(page.locator("article").inner_text())
    assert seen.index(front_door.QUESTION) < seen.index("Start lesson 01")
    assert "perfect" not in door.inner_text() + door.locator(".visually-hidden").first.inner_text()
    assert door.bounding_box()["y"] + door.bounding_box()["height"] < TELEPHONE["height"]
    door.get_by_role("button", name="Model B").focus()
    page.keyboard.press("Enter")
    status = door.get_by_role("status")
    assert status.inner_text().startswith("Yes, model B") and "Draw again" in status.inner_text()
    assert page.evaluate("document.activeElement.textContent") == "Draw again"
    page.keyboard.press("Enter")
    first, second = front_door.exercise()["perfect"]["error"], front_door.exercise()["draws"][0][0]
    assert f"Draw 2 of a perfect model: error {second:.3f}" in status.inner_text()
    assert f"on average {(first + second) / 2:.3f}" in status.inner_text()
    assert door.locator(".ck-dots circle").count() == 2
    more = door.get_by_role("button", name="more draws")
    for seen in [*range(22, front_door.DRAWS + 1, 20), front_door.DRAWS + 1]:
        more.click()
        page.wait_for_function(f"document.querySelectorAll('.ck-dots circle').length === {seen}")
    assert more.is_disabled()
    level = null_level(expected_calibration_error, front_door.PERFECT.y_true,
        front_door.PERFECT.y_prob, bins=front_door.BINS, rng=1).mean  # fmt: skip
    said = re.search(r"average (0\.\d+), its null level", status.inner_text())
    assert said and abs(float(said[1]) - level) < 0.005  # three standard errors of 201 draws
    assert visit.messages == [] and visit.elsewhere == []
    visit.close()


def test_a_link_shows_title_words_and_picture_and_a_lost_address_the_search(browser, site) -> None:
    visit = Visit(browser, site)
    tag = "document.querySelector('meta[property=\"og:{}\"]').content"
    for name in ("book/intro.html", LESSON):
        page = visit.open(name)
        assert page.evaluate(tag.format("title")) in page.title()
        assert len(page.evaluate(tag.format("description"))) > 40
        picture = page.evaluate(f"new URL({tag.format('image')}, location).href")
        assert page.request.get(picture).ok
    page = visit.open("404.html")
    page.get_by_role("searchbox", name="Search the course").fill("null level")
    page.get_by_role("button", name="Search", exact=True).click()
    page.wait_for_url("**/search.html?q=null+level")
    visit.close()
