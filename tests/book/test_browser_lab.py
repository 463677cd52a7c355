"""JupyterLab in a real browser: nothing is spoiled, a lesson runs, a slider moves by keyboard."""

import contextlib
import json
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

import nbformat
import pytest

from tools.virtual_environment import installed

pytestmark = [pytest.mark.browser, pytest.mark.long]

LESSON = "04_read_a_reliability_diagram.ipynb"
TOKEN = "calibkit-test"


@pytest.fixture(scope="module")
def lab(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Serve working copies with settings of their own, and nobody's files touched."""
    if not installed() or os.name == "nt":
        pytest.skip("`dev.py lab` hands over to JupyterLab where dev.py has installed it, on Unix")
    folder = tmp_path_factory.mktemp("lab")
    for name in ("dev.py", "pyproject.toml", "constraints.txt"):
        shutil.copy(root / name, folder)
    for name in ("notebooks", "tools"):
        shutil.copytree(root / name, folder / name)
    (folder / ".venv").symlink_to(root / ".venv")
    env = dict(os.environ)
    env.pop("CALIBKIT_DATA", None)
    for setting in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTERLAB_WORKSPACES_DIR"):
        env[setting] = str(folder / setting.lower())
    log = folder / "lab.log"
    options = ["--no-browser", "--port=0", "--ip=127.0.0.1", f"--IdentityProvider.token={TOKEN}"]
    with log.open("wb") as stream:
        command = [sys.executable, str(folder / "dev.py"), "lab", *options]
        server = subprocess.Popen(command, cwd=folder, env=env, stdout=stream, stderr=stream)
        try:
            yield _address(log, server), folder / "workbook"
        finally:
            server.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):  # it may wait for a kernel
                server.wait(timeout=60)
            server.kill()  # how it ends decides nothing
            server.wait()


def _address(log: Path, server: subprocess.Popen[bytes]) -> str:
    """Wait until the server answers and return its address."""
    for _ in range(2400):
        found = re.search(r"http://127\.0\.0\.1:\d+", log.read_text(errors="replace"))
        if found and server.poll() is None:
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{found[0]}/api/status?token={TOKEN}", timeout=60).close()
                return found[0]
        time.sleep(0.25)
    raise AssertionError(log.read_text(errors="replace")[-2000:])


def _run_all(page: Any) -> None:
    """Run all cells and wait until none is running.

    An order given before the kernel listens is lost, or JupyterLab asks for a kernel: so the
    order is repeated, and the question answered.
    """
    running = ".jp-Notebook .jp-InputPrompt:has-text('[*]')"
    for _ in range(100):
        if page.locator("dialog.jp-Dialog").count():
            page.locator("dialog.jp-Dialog .jp-mod-accept").click()
        try:
            page.get_by_role("menuitem", name="Run", exact=True).click(timeout=3000)
            page.get_by_role("menuitem", name="Run All Cells", exact=True).click(timeout=3000)
            page.wait_for_selector(running, timeout=3000)
            break
        except Exception:  # lost, or the question came meanwhile: once more
            continue
    page.wait_for_selector(running, state="detached")


def _scroll_to(page: Any, selector: str) -> Any:
    """Scroll the notebook, again and again, until an element exists.

    Cells out of sight are not rendered, and may still be running when they are first passed.
    """
    panel = page.locator(".jp-WindowedPanel-outer").first
    scroll = """element => {
        const before = element.scrollTop;
        element.scrollBy(0, 500);
        if (element.scrollTop === before) element.scrollTo(0, 0);
    }"""
    for _ in range(6000):
        if page.locator(selector).count():
            return page.locator(selector).first
        panel.evaluate(scroll)
        page.wait_for_timeout(100)
    raise AssertionError(f"{selector} is nowhere in the notebook")


def test_the_first_lesson_opens_by_itself(browser: Any, lab: tuple[str, Path]) -> None:
    page = browser.new_context().new_page()
    page.goto(f"{lab[0]}/?token={TOKEN}")
    page.wait_for_url("**/lab/tree/00_start_here.ipynb*")
    page.wait_for_selector(".jp-Notebook")


def test_the_lesson_runs_and_its_slider_moves_the_figure(browser, lab) -> None:
    address, folder = lab
    page = browser.new_context(viewport={"width": 1300, "height": 1000}).new_page()
    outside: list[str] = []
    page.on("request", lambda r: None if r.url.startswith((address, "data:", "blob:", "ws://127"))
            else outside.append(r.url))  # fmt: skip
    page.goto(f"{address}/lab/tree/{LESSON}?token={TOKEN}&reset")
    page.wait_for_selector(".jp-Notebook")
    _run_all(page)
    slider = _scroll_to(page, ".jp-OutputArea .widget-slider .noUi-handle")
    slider.scroll_into_view_if_needed()
    box = page.locator(".widget-vbox:has(.noUi-handle)").first
    figure = box.locator("img").first
    before = figure.get_attribute("src"), figure.get_attribute("alt")
    slider.focus()
    page.keyboard.press("ArrowRight")
    for _ in range(6000):  # the widget replaces its image, so the place is asked anew
        if figure.get_attribute("src") != before[0]:
            break
        page.wait_for_timeout(100)
    after = figure.get_attribute("src"), figure.get_attribute("alt")
    assert all(old != new for old, new in zip(before, after, strict=True))
    assert outside == []
    # Only cells in sight are on the page; what is saved holds them all.
    page.keyboard.press("Escape")

    outputs: list[Any] = []
    for _ in range(600):  # cells out of sight may still run: saved until all have answered
        page.keyboard.press("Control+s")
        page.wait_for_timeout(1000)
        with contextlib.suppress(ValueError):  # it is just being written
            saved = nbformat.read(folder / LESSON, as_version=4)
            outputs = [item for cell in saved.cells for item in cell.get("outputs", [])]
        if len(outputs) >= 20:
            break
    assert len(outputs) >= 20
    assert [item for item in outputs if item.output_type == "error"] == []
    assert [item for item in outputs if item.get("name") == "stderr"] == []
    # The copy still knows what it was made from, and stays alone; progress was kept beside it.
    assert saved.metadata["calibkit"]["source"]
    assert not list(folder.glob("*.md"))
    assert "4a" in json.loads((folder / ".progress" / "04.json").read_text())["revealed"]
