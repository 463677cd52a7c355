"""What all tests share: paths, optional resources, a fixed set-up for drawing and searching."""

import contextlib
import functools
import gc
import http.server
import importlib.util
import os
import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from tests.browser_pages import SITE, Visit
from tests.paths import LIVE, ROOT

collect_ignore = ["tools/in_node"]  # programs for another Python
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Chromium as root, without its own requests to the world; it finds no host but this machine.
BROWSER_OPTIONS = (
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
# Milliseconds. Only what never comes meets this limit: how quick a machine is decides nothing.
PATIENCE = 300_000

# Else jsonschema builds grammars of web addresses for a second, in each process.
sys.modules.setdefault("rfc3987_syntax", None)

for variable in ("CALIBKIT_BOOK", "CALIBKIT_WORKBOOK"):  # those of the same shell must not leak in
    os.environ.pop(variable, None)

# The same examples each time. `dev.py test --long` looks at the usual hundred of each property.
hypothesis.settings.register_profile("long", deadline=None, derandomize=True)
hypothesis.settings.register_profile(
    "calibkit", hypothesis.settings.get_profile("long"), max_examples=30
)
hypothesis.settings.load_profile("calibkit")


class _Quiet(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # one connection for many files

    def log_message(self, *arguments: object) -> None:
        """Keep the test's output free of requests."""


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder from this machine; the address is given."""
    handler = functools.partial(_Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def browser_path() -> str | None:
    """Return the Chromium of this machine."""
    return next((path for path in map(shutil.which, BROWSERS) if path), None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests whose resource is missing, with the reason."""
    data = Path(os.environ.get("CALIBKIT_DATA") or os.devnull)
    missing = {
        "playwright is not installed": ("browser", importlib.util.find_spec("playwright") is None),
        "Chromium is not installed": ("browser", browser_path() is None),
        "CALIBKIT_DATA names no folder": ("data", not data.is_dir()),
        "the site is not built: python dev.py test --only live": ("site", not LIVE),
    }
    for reason, (marker, is_missing) in missing.items():
        for item in items if is_missing else []:
            if item.get_closest_marker(marker):  # a room may be called `data` too
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Spare the collector of garbage ten thousand tests that stay, now and later."""
    gc.disable()
    result = yield
    gc.freeze()
    gc.enable()
    return result


@pytest.fixture
def subtests(subtests: pytest.Subtests) -> pytest.Subtests:
    """Report the cases that fail: a report of each of 14,000 that pass costs more than they do."""
    report = subtests.test

    @contextlib.contextmanager
    def test(msg: str | None = None, **named: Any) -> Iterator[None]:
        try:
            yield
        except BaseException:
            with report(msg, **named):
                raise

    subtests.test = test
    return subtests


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the folder of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def chromium() -> str:
    """Return the path of Chromium; a test that asks for it carries the marker `browser`."""
    path = browser_path()
    assert path is not None
    return path


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Any]:
    """Start a headless browser that all browser tests share."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=[*BROWSER_OPTIONS])
        new_context = browser.new_context

        def patient(**options: Any) -> Any:
            context = new_context(**options)
            context.set_default_timeout(PATIENCE)
            return context

        browser.new_context = patient
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def site() -> Iterator[str]:
    """Serve the built book from this machine."""
    if not (SITE / "index.html").exists():
        pytest.skip("the book has not been built: python dev.py book")
    with served(SITE) as address:
        yield address


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """Serve the site with Python in its pages below a sub-path, as static hosts do."""
    folder = Path(LIVE).resolve()
    with served(folder.parent) as host:
        yield f"{host}/{folder.name}"


@pytest.fixture
def live_page(browser: Any, address: str) -> Iterator[Any]:
    """Return what opens a page of that site, which asks no other host and meets no fault."""
    opened: list[Visit] = []

    def opener(name: str, site: str = address, **options: Any) -> Visit:
        opened.append(Visit(browser, site, **options))
        opened[-1].open(name)
        return opened[-1]

    yield opener
    for one in opened:
        assert one.elsewhere == [] and one.errors == []
        one.close()


@pytest.fixture
def visit(browser: Any, site: str) -> Iterator[Visit]:
    """Return a page of the book in a browser that remembers nothing."""
    visit = Visit(browser, site)
    yield visit
    visit.close()
