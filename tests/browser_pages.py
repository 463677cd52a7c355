"""Pages of the built book in a real browser: how tests open them, and what they ask of them."""

import re
from pathlib import Path
from typing import Any

from calibkit_course import open_lesson
from calibkit_course.learn import Prediction
from tests.paths import ROOT

SITE = ROOT / "book" / "_build" / "html"
LESSON = "notebooks/04_read_a_reliability_diagram.html"
FURTHER = "notebooks/further/04_further_read_a_reliability_diagram.html"
DESK, TELEPHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 800}
# What a page meets where the browser blocks a site's storage.
BLOCKED = """Object.defineProperty(window, 'localStorage', {
  get() { throw new DOMException('Access is denied for this document.', 'SecurityError'); } })"""
SCRIPTS = (ROOT / "tests" / "page_scripts.js").read_text(encoding="utf-8")


def script(name: str) -> str:
    """Return a function of `page_scripts.js`, to be evaluated in a page."""
    return f"given => ({SCRIPTS}).{name}(given)"


class Visit:
    """A page that notes every message, fault and request; none of another host is answered."""

    def __init__(self, browser: Any, site: str, **options: Any) -> None:
        self.site, self.requests, self.elsewhere, self.messages, self.errors = site, [], [], [], []
        self.page = browser.new_context(**options).new_page()
        self.page.on("request", self._watch)
        self.page.on("console", self._note)
        self.page.on("pageerror", self._fail)

    def _watch(self, request: Any) -> None:
        if not request.url.startswith(("data:", "blob:", "about:")):
            self.requests.append(request.url)
            if not request.url.startswith(self.site):
                self.elsewhere.append(request.url)

    def _fail(self, error: Any) -> None:
        self.errors.append(str(error))
        self.messages.append(str(error))

    def _note(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.messages.append(message.text)

    def open(self, name: str) -> Any:
        """Open a page of the site and wait until it is complete."""
        self.page.goto(f"{self.site}/{name}", wait_until="load")
        self.page.evaluate(script("settled"))
        return self.page

    def close(self) -> None:
        """Forget the page with all that it has stored."""
        self.page.context.close()


def reload_until(page: Any, sign: str) -> None:
    """Load a page anew until it shows what it had stored: Chromium may still be writing that."""
    for _ in range(100):
        page.reload()
        if page.locator(sign).count():
            return
    raise AssertionError(f"{sign} does not survive a reload")


def hidden_words(source: Path) -> list[str]:
    """Return how each fold of a lesson begins, where the same words stand nowhere else in it."""
    text = source.read_text(encoding="utf-8")
    folds = re.findall(r"<details>.*?</summary>(.*?)</details>", text, re.DOTALL)
    starts = [found[0] for fold in folds if (found := re.match(r"[\w ,.’-]{15,}", fold.strip()))]
    return [start for start in starts if text.count(start) == 1]


def html_pages(folder: Path = SITE) -> list[str]:
    """Return the pages that readers visit, found by glob."""
    found = [*folder.glob("book/**/*.html"), *folder.glob("notebooks/**/*.html")]
    return sorted(path.relative_to(folder).as_posix() for path in found)


def asked_on(name: str) -> dict[str, Prediction]:
    """Return the predictions that the page of a lesson asks for."""
    text = (ROOT / name).with_suffix(".md").read_text(encoding="utf-8")
    asked = set(re.findall(r'lesson\.predict\(\s*"(\w+)"', text))
    found = open_lesson(Path(name).name[:2]).predictions
    return {pid: one for pid, one in found.items() if pid in asked}


def lesson_pages() -> list[str]:
    """Return the pages that are lessons."""
    return [name for name in html_pages() if name.startswith("notebooks/")]


def squeezed(text: str) -> str:
    """Return a text without what HTML changes about it."""
    return " ".join(text.replace("`", "").split())
