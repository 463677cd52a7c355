"""JupyterLab in a real browser: open a lesson, run it, move a slider by keyboard."""

import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.browser

LESSON = "04_read_a_reliability_diagram.ipynb"
TOKEN = "calibkit-test"  # noqa: S105


@pytest.fixture(scope="module")
def lab(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a copy of the lessons with settings of its own, and nobody's files touched."""
    folder = tmp_path_factory.mktemp("lab")
    shutil.copytree(root / "notebooks", folder / "notebooks")
    env = dict(os.environ)
    env.pop("CALIBKIT_DATA", None)
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTERLAB_WORKSPACES_DIR"):
        env[name] = str(folder / name.lower())
    log = folder / "lab.log"
    options = ["--no-browser", "--port=0", "--ip=127.0.0.1", f"--IdentityProvider.token={TOKEN}"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--allow-root")
    with log.open("wb") as stream:
        command = [sys.executable, "-m", "jupyterlab", *options]
        server = subprocess.Popen(
            command, cwd=folder / "notebooks", env=env, stdout=stream, stderr=stream
        )
        try:
            yield _address(log, server)
        finally:
            server.terminate()
            server.wait(timeout=20)


def _address(log: Path, server: subprocess.Popen[bytes]) -> str:
    """Wait until the server answers and return its address."""
    for _ in range(240):
        found = re.search(r"http://127\.0\.0\.1:\d+", log.read_text(errors="replace"))
        if found and server.poll() is None:
            try:
                urllib.request.urlopen(f"{found[0]}/api/status?token={TOKEN}", timeout=2).close()
                return found[0]
            except OSError:
                pass
        time.sleep(0.25)
    raise AssertionError(log.read_text(errors="replace")[-2000:])


def _run_all(page: Any) -> None:
    """Run all cells and wait until none is running.

    An order given before the kernel listens is lost, or JupyterLab asks for a kernel: so the
    order is repeated, and the question answered.
    """
    running = ".jp-Notebook .jp-InputPrompt:has-text('[*]')"
    for _ in range(20):
        if page.locator("dialog.jp-Dialog").count():
            page.locator("dialog.jp-Dialog .jp-mod-accept").click()
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        try:
            page.wait_for_selector(running, timeout=3000)
            break
        except Exception:  # lost: once more
            continue
    page.wait_for_selector(running, state="detached", timeout=180_000)


def _scroll_to(page: Any, selector: str) -> Any:
    """Scroll the notebook until an element exists: cells out of sight are not rendered."""
    panel = page.locator(".jp-WindowedPanel-outer").first
    for _ in range(120):
        if page.locator(selector).count():
            return page.locator(selector).first
        panel.evaluate("element => element.scrollBy(0, 500)")
        page.wait_for_timeout(100)
    raise AssertionError(f"{selector} is nowhere in the notebook")


def test_the_lesson_runs_and_its_slider_moves_the_figure(browser: Any, lab: str) -> None:
    page = browser.new_context(viewport={"width": 1300, "height": 1000}).new_page()
    outside: list[str] = []
    page.on("request", lambda r: None if r.url.startswith((lab, "data:", "blob:", "ws://127"))
            else outside.append(r.url))  # fmt: skip
    page.goto(f"{lab}/lab/tree/{LESSON}?token={TOKEN}")
    page.wait_for_selector(".jp-Notebook", timeout=60_000)
    _run_all(page)
    slider = _scroll_to(page, ".jp-OutputArea .widget-slider .noUi-handle")
    slider.scroll_into_view_if_needed()
    box = page.locator(".widget-vbox:has(.noUi-handle)").first
    figure = box.locator("img").first
    before = figure.get_attribute("src"), figure.get_attribute("alt")
    slider.focus()
    page.keyboard.press("ArrowRight")
    for _ in range(200):  # the widget replaces its image, so the place is asked anew
        if figure.get_attribute("src") != before[0]:
            break
        page.wait_for_timeout(100)
    after = figure.get_attribute("src"), figure.get_attribute("alt")
    assert all(old != new for old, new in zip(before, after, strict=True))
    errors = page.locator('.jp-OutputArea-output[data-mime-type="application/vnd.jupyter.stderr"]')
    assert errors.count() == 0
    assert page.locator(".jp-RenderedText[data-mime-type*=error]").count() == 0
    assert outside == []
