"""The built book in a real browser: complete without any other host, usable by keyboard."""

import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.browser

LESSON = "notebooks/04_read_a_reliability_diagram.html"
# The theme says so on every first visit; it is harmless and not ours.
HARMLESS = ("Got invalid theme mode",)


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
        if message.type in ("error", "warning") and not message.text.startswith(HARMLESS):
            self.messages.append(message.text)

    def open(self, name: str) -> Any:
        """Open a page of the site and wait until it is complete."""
        self.page.goto(f"{self.site}/{name}", wait_until="load")
        self.page.wait_for_timeout(300)
        return self.page


def html_pages(root: Path) -> list[str]:
    """Return the pages that readers visit, found by glob."""
    folder = root / "book" / "_build" / "html"
    found = [*folder.glob("book/*.html"), *folder.glob("notebooks/*.html")]
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
    page.wait_for_selector("mjx-container", timeout=20_000)
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


def test_no_page_is_heavier_than_three_megabytes(root: Path) -> None:
    """Its own weight: text with embedded explorers, and the images it shows."""
    folder = root / "book" / "_build" / "html"
    if not (folder / LESSON).exists():
        pytest.skip("the book has not been built: python dev.py book")
    for name in html_pages(root):
        text = (folder / name).read_text(encoding="utf-8")
        images = [path for path in (folder / "_images").iterdir() if path.name in text]
        weight = len(text.encode()) + sum(path.stat().st_size for path in images)
        assert weight <= 3_000_000, f"{name} weighs {weight / 1e6:.1f} MB"
