"""The built book in a real browser: complete without any other host, usable by keyboard."""

import functools
import http.server
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.browser

LESSON = "notebooks/04_read_a_reliability_diagram.html"
# What axe finds in the theme and its extensions: not ours, and not to grow.
OF_THE_THEME = {
    "label-content-name-mismatch": ".search-button-field, .theme-switch-button, .above-input > *",
    "region": ".logo__image",
    "summary-name": ".bd-links summary",
    "aria-required-children": ".citation-list",
    "aria-allowed-role": ".citation",
    "aria-deprecated-role": ".citation",
}
RUN_AXE = """async theirs => {
  const found = await axe.run(document, {resultTypes: ["violations"]});
  return found.violations.flatMap(({id, nodes}) => nodes
    .filter(node => !document.querySelector(node.target[0]).matches(theirs[id] || ":not(*)"))
    .map(node => `${id}: ${node.html.slice(0, 120)}`));
}"""


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        """Keep the test's output free of requests."""


@pytest.fixture(scope="module")
def site(root: Path) -> Iterator[str]:
    """Serve the built book from this machine."""
    folder = root / "book" / "_build" / "html"
    if not (folder / LESSON).exists():
        pytest.skip("the book has not been built: python dev.py book")
    handler = functools.partial(_Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


class Visit:
    """A page on which every other host is blocked, and every request and message is noted."""

    def __init__(self, browser: Any, site: str, **options: Any) -> None:
        self.site, self.blocked, self.messages = site, [], []
        self.page = browser.new_context(**options).new_page()
        self.page.route("**/*", self._route)
        self.page.on("console", self._note)
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))

    def _route(self, route: Any) -> None:
        url = route.request.url
        if url.startswith((self.site, "data:", "blob:")):
            route.continue_()
        else:
            self.blocked.append(url)
            route.abort()

    def _note(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.messages.append(message.text)

    def open(self, name: str) -> Any:
        """Open a page of the site and wait until it is complete."""
        self.page.goto(f"{self.site}/{name}", wait_until="load")
        self.page.wait_for_timeout(300)
        return self.page


def html_pages(root: Path) -> list[str]:
    """Return the pages that readers visit, found by glob."""
    folder = root / "book" / "_build" / "html"
    found = [*folder.glob("book/**/*.html"), *folder.glob("notebooks/*.html")]
    return sorted(path.relative_to(folder).as_posix() for path in found)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_is_complete_without_any_other_host(
    browser: Any, site: str, root: Path, scheme: str
) -> None:
    visit = Visit(browser, site, color_scheme=scheme)
    pages = html_pages(root)
    assert len(pages) >= 9
    for name in pages:
        page = visit.open(name)
        assert visit.blocked == [], name
        assert visit.messages == [], name
        for image in page.locator("article img").all():
            assert image.evaluate("image => image.complete && image.naturalWidth > 0"), name
            assert len(image.get_attribute("alt") or "") > 20, name
        assert page.locator("mjx-merror").count() == 0, name


def test_the_lesson_shows_figures_and_formulas(browser: Any, site: str) -> None:
    page = Visit(browser, site).open(LESSON)
    page.wait_for_selector("mjx-container")
    assert page.locator("mjx-container").count() >= 4
    assert page.locator(".cell_output img").count() >= 8


def test_the_explorer_moves_by_keyboard(browser: Any, site: str) -> None:
    visit = Visit(browser, site)
    page = visit.open(LESSON)
    explorer = page.locator(".ck-explorer").first
    figure, readout = explorer.locator("img"), explorer.locator("[aria-live]")

    def state() -> tuple[str | None, str | None, str]:
        return figure.get_attribute("src"), figure.get_attribute("alt"), readout.inner_text()

    first = state()
    explorer.locator("input[type=range]").first.focus()
    page.keyboard.press("ArrowRight")
    moved = state()
    assert all(before != after for before, after in zip(first, moved, strict=True))
    page.keyboard.press("ArrowLeft")
    assert state() == first
    assert visit.messages == []
    assert visit.blocked == []


def test_nothing_is_cut_off_on_a_telephone(browser: Any, site: str, root: Path) -> None:
    visit = Visit(browser, site, viewport={"width": 400, "height": 800})
    for name in html_pages(root):
        page = visit.open(name)
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= 400, f"{name} is {width} pixels wide"


def test_the_game_is_played_by_keyboard(browser: Any, site: str) -> None:
    visit = Visit(browser, site)
    page = visit.open(LESSON)
    game = page.locator(".ck-quiz")
    figure, readout = game.locator("img"), game.locator("[aria-live]")
    asked, question = figure.get_attribute("alt"), readout.inner_text()
    first = game.locator("input[type=checkbox]").first
    first.focus()
    page.keyboard.press("Space")
    assert first.is_checked()
    game.get_by_role("button", name="Reveal").focus()
    page.keyboard.press("Enter")
    assert figure.get_attribute("alt") != asked
    assert "Score: " in readout.inner_text()
    again = game.get_by_role("button", name="New draw")
    assert again.evaluate("button => button === document.activeElement")
    page.keyboard.press("Enter")
    assert figure.get_attribute("alt") != asked
    assert question in readout.inner_text()
    assert not first.is_checked()
    assert visit.messages == []


def test_every_control_of_every_explorer_changes_the_page(
    browser: Any, site: str, root: Path
) -> None:
    """From one end to the other by keyboard, and back by the reset button."""
    visit = Visit(browser, site)
    for name in filter(lambda name: name.startswith("notebooks/"), html_pages(root)):
        page = visit.open(name)
        for explorer in page.locator(".ck-explorer").all():
            figure, readout = explorer.locator("img"), explorer.locator("[aria-live]")
            start = figure.get_attribute("src"), readout.inner_text()
            for control in explorer.locator("input[type=range], select").all():
                ends = []
                for key in ("Home", "End"):
                    control.press(key)
                    ends.append(figure.get_attribute("src"))
                assert ends[0] != ends[1], name
            explorer.get_by_role("button", name="Reset").click()
            assert (figure.get_attribute("src"), readout.inner_text()) == start
    assert visit.messages == []


def test_without_scripts_the_default_state_and_all_text_remain(browser: Any, site: str) -> None:
    page = Visit(browser, site, java_script_enabled=False).open(LESSON)
    for shown in page.locator(".ck-explorer, .ck-quiz").all():
        assert shown.locator("img").is_visible()
        assert shown.locator("[aria-live]").inner_text()
        assert not shown.locator(".ck-controls").is_visible()


def test_a_solution_is_folded_and_opens_by_keyboard(browser: Any, site: str) -> None:
    page = Visit(browser, site).open(LESSON)
    solution = page.locator(".tag_solution").first
    code = solution.locator(".cell_input")
    assert not code.is_visible()
    solution.locator("summary").press("Enter")
    assert code.is_visible()
    assert solution.locator("summary").inner_text() == "Hide the solution"


def test_the_search_finds_a_lesson_without_any_other_host(browser: Any, site: str) -> None:
    visit = Visit(browser, site)
    page = visit.open("search.html?q=consistency+band")
    page.wait_for_selector("#search-results a[href*='04_read']")
    assert visit.blocked == []
    assert visit.messages == []


def test_the_reader_chooses_light_or_dark(browser: Any, site: str) -> None:
    page = Visit(browser, site, color_scheme="light").open(LESSON)
    ground = "getComputedStyle(document.body).backgroundColor"
    grounds = {page.evaluate(ground)}
    for _ in range(3):
        page.locator(".theme-switch-button").first.click()
        grounds.add(page.evaluate(ground))
    assert len(grounds) == 2


@pytest.mark.skipif(not os.environ.get("AXE_JS"), reason="AXE_JS names no axe.min.js")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_has_barriers_beyond_those_of_the_theme(
    browser: Any, site: str, root: Path, scheme: str
) -> None:
    axe = Path(os.environ["AXE_JS"]).read_text(encoding="utf-8")
    visit = Visit(browser, site, color_scheme=scheme)
    one_of_its_kind = [name for name in html_pages(root) if "/api/" not in name]
    for name in [*one_of_its_kind, "book/api/errors.html"]:
        page = visit.open(name)
        page.evaluate(axe)
        assert page.evaluate(RUN_AXE, OF_THE_THEME) == [], name
