"""The lessons in the reader's browser: official files only, every lesson runs, nothing is lost."""

import hashlib
import io
import json
import os
import re
import subprocess
import tarfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import pytest

from tests.browser_pages import BLOCKED, Visit, hidden_words, script
from tests.conftest import served
from tests.paths import LIVE, PROGRAMS, PYODIDE
from tools.lesson_pages import NOTEBOOKS, lesson_pages
from tools.live import compiled, pins, pyodide, site as live
from tools.virtual_environment import Failure

IN_NODE = [p for p in lesson_pages(suffix=".ipynb") if p.name[:2] not in live.NEEDS_TORCH]


# --- what the folder is made of ----------------------------------------------------------------


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path, Path]:
    """Return a small Pyodide: an archive, a folder of wheels, and a wheel of our own."""
    packages: dict[str, dict[str, Any]] = {}
    (tmp_path / "wheels").mkdir()
    for name in (*pyodide.WANTED, "pytz", "fonttools"):
        path = tmp_path / "wheels" / f"{name}-1-py3-none-any.whl"
        path.write_bytes(name.encode())
        depends = ["pytz", "fonttools"] if name == "matplotlib" else []
        sha = digest(name.encode())
        packages[name] = {"file_name": path.name, "sha256": sha, "depends": depends}
    lock = json.dumps({"info": {}, "packages": packages}).encode()
    core = {name: lock if name.endswith("lock.json") else name.encode() for name in pins.CORE}
    with tarfile.open(tmp_path / "core.tgz", "w:gz") as archive:
        for name, data in core.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    monkeypatch.setattr(pins, "CORE", {name: digest(data) for name, data in core.items()})
    ours = tmp_path / "ipykernel-4.66.2-py3-none-any.whl"
    with zipfile.ZipFile(ours, "w") as wheel:
        wheel.writestr("ipykernel.py", "a module")
    return tmp_path / "core.tgz", tmp_path / "wheels", ours


def test_a_folder_holds_what_lessons_need_and_no_more(parts, tmp_path, subtests) -> None:
    archive, wheels, ours = parts
    (wheels / "stray.whl").write_bytes(b"not asked for")
    lock = pyodide.assemble(archive, wheels, [ours], tmp_path / "out")["packages"]
    assert set(lock) == {*pyodide.WANTED, "pytz", "fonttools", "ipykernel"}
    assert lock["matplotlib"]["depends"] == []  # what it names but hardly needs waits
    assert not (tmp_path / "out" / "stray.whl").exists()
    for entry in lock.values():
        with subtests.test(entry["file_name"]):
            data = (tmp_path / "out" / entry["file_name"]).read_bytes()
            assert digest(data) == entry["sha256"]


def test_a_changed_wheel_is_refused(parts: tuple[Path, Path, Path], tmp_path: Path) -> None:
    archive, wheels, ours = parts
    (wheels / "ipython-1-py3-none-any.whl").write_bytes(b"ipythom")
    with pytest.raises(Failure, match="ipython-1-py3-none-any.whl is not the official file"):
        pyodide.assemble(archive, wheels, [ours], tmp_path / "out")


@pytest.mark.parametrize(
    ("name", "stem", "wanted"),
    [
        ("scipy/signal/__init__.py", "scipy/signal/__init__", "find_peaks"),
        ("scipy/spatial/_qhull.cpython-312.so", "scipy/spatial/_qhull", "Delaunay"),
        ("sklearn/neighbors/_base.py", "sklearn/neighbors/_base", "_get_weights"),
    ],
)
def test_what_is_left_out_says_so_when_it_is_used(name, stem, wanted, subtests) -> None:
    found = compiled.stand_in(name, b"data")
    assert found is not None and found[0] == f"{stem}.py"
    module = ModuleType("absent")
    exec(found[1], vars(module))
    with pytest.raises(ImportError, match="is left out in the browser"):
        getattr(module, wanted)([1, 2, 3])
    for exported in vars(module)["__all__"]:  # a star takes these
        with subtests.test(exported):
            assert getattr(module, exported).__name__ == exported
    with pytest.raises(AttributeError):  # Python asks modules for such names
        _ = module.__wrapped__


def test_versions_fit_each_other() -> None:
    versions = dict(pin.split("==") for pin in (*pins.BUILDERS, *pins.PURE))
    # Each kernel is made for one Pyodide: the table of its releases.
    assert (versions["jupyterlite-pyodide-kernel"][:3], pins.PYODIDE[:4]) == ("0.6", "0.27")
    assert versions["jupyterlite-core"][:3] == versions["jupyterlite-pyodide-kernel"][:3]
    assert versions["ipywidgets"][0] == "8" and versions["jupyterlab_widgets"][0] == "3"
    asked = json.loads((live.HERE / "jupyter-lite.json").read_text(encoding="utf-8"))
    kernel = asked["jupyter-config-data"]["litePluginSettings"]
    options = kernel["@jupyterlite/pyodide-kernel-extension:kernel"]["loadPyodideOptions"]
    assert {*pyodide.UNWANTED, "calibkit", "pyodide-kernel"} <= set(options["packages"])


# --- what a reader is told when something fails --------------------------------------------------


@pytest.fixture
def watched(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """Return what opens a page with our watch and the packages of a lesson, whose kernel sleeps."""
    folder = tmp_path / "lite"
    packed = b"a wheel"
    entry = {"file_name": "calibkit.whl", "sha256": digest(packed), "depends": []}
    for name, data in {
        "static/pyodide/watch.js": (live.HERE / "watch.js").read_bytes(),
        "static/pyodide/pyodide-lock.json": json.dumps({"packages": {"calibkit": entry}}).encode(),
        "static/pyodide/calibkit.whl": packed,
        "notebooks/index.html": (
            f"<!DOCTYPE html><head>{live.WATCH}<script id=jupyter-config-data "
            "type=application/json>{}</script></head><p>…</p>"
        ).encode(),
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    context = browser.new_context()
    context.add_init_script("window.ckPatience = 0.1")
    with served(tmp_path) as host:

        def opened(script: str = "") -> Any:
            page = context.new_page()
            if script:
                page.add_init_script(script)
            page.goto(f"{host}/lite/notebooks/index.html?path=04.ipynb")
            return page

        yield opened, folder / "static" / "pyodide"
        context.close()


@pytest.mark.browser
def test_a_wheel_that_is_missing_or_damaged_is_named(watched: Any) -> None:
    opened, folder = watched
    told = opened().get_by_role("status")
    told.wait_for()
    assert "still at work, longer than usual" in told.inner_text()
    (folder / "calibkit.whl").write_bytes(b"a whe")
    later = time.time() + 60  # in the same second, server and browser would take it for the old one
    os.utime(folder / "calibkit.whl", (later, later))
    told = opened().get_by_role("status").filter(has_text="cannot start")
    told.wait_for()
    assert "calibkit.whl arrived damaged. Reload the page" in told.inner_text()
    (folder / "calibkit.whl").unlink()
    told = opened().get_by_role("status").filter(has_text="cannot start")
    told.wait_for()
    assert "calibkit.whl is not on the server" in told.inner_text()


@pytest.mark.browser
def test_a_second_tab_and_a_full_storage_are_told(watched: Any) -> None:
    opened, _ = watched
    first = opened("navigator.storage.estimate = async () => ({quota: 100, usage: 99})")
    told = first.get_by_role("status").filter(has_text="nearly full")
    told.wait_for()
    assert "File > Download" in told.inner_text()
    first.get_by_role("button", name="Close").click()
    second = opened()
    for page in (first, second):
        page.get_by_role("status").filter(has_text="open in another tab").wait_for()
    blocked = opened(BLOCKED)
    told = blocked.get_by_role("status").filter(has_text="store nothing")
    told.wait_for()
    given = "document.getElementById('jupyter-config-data').textContent"
    blocked.evaluate(f'{given} = \'{{"appName": "lite"}}\'')  # as JupyterLite does, later
    blocked.wait_for_function(f"JSON.parse({given}).contentsStorageDrivers")


@pytest.mark.browser
def test_a_lesson_that_has_changed_since_it_was_saved_says_so(watched: Any) -> None:
    opened, folder = watched
    lesson = folder.parent.parent / "files" / "04.ipynb"
    lesson.parent.mkdir()
    lesson.write_text('{"metadata": {"calibkit": {"source": "new"}}}', encoding="utf-8")
    told = opened().get_by_role("status")
    told.filter(has_text="longer than usual").wait_for()  # nothing is saved: nothing to say
    for made, often in (("new", 0), ("old", 1)):
        page = opened()
        page.evaluate(script("save_lesson"), made)
        page.reload()
        told = page.get_by_role("status")
        told.filter(has_text="longer than usual").wait_for()
        assert told.filter(has_text="has changed since you saved yours").count() == often
        page.close()


# --- what was built ------------------------------------------------------------------------------


@pytest.mark.site
def test_every_file_of_the_lock_is_there_and_unchanged(subtests: pytest.Subtests) -> None:
    lock = json.loads((PYODIDE / "pyodide-lock.json").read_text(encoding="utf-8"))
    assert (
        lock["info"]["python"].startswith(pins.PYTHON) and lock["info"]["version"] == pins.PYODIDE
    )
    for entry in lock["packages"].values():
        with subtests.test(entry["file_name"]):
            assert digest((PYODIDE / entry["file_name"]).read_bytes()) == entry["sha256"]
    for name in pins.CORE.keys() - {"pyodide-lock.json", "python_stdlib.zip"}:  # we compile it
        with subtests.test(name):
            assert digest((PYODIDE / name).read_bytes()) == pins.CORE[name]


@pytest.mark.site
def test_lessons_stand_there_without_outputs(subtests: pytest.Subtests) -> None:
    folder = Path(LIVE, "lite", "files")
    names = [str(path.relative_to(folder)) for path in lesson_pages(suffix=".ipynb", folder=folder)]
    assert names == [str(path.relative_to(NOTEBOOKS)) for path in IN_NODE]
    for name in names:
        with subtests.test(name):
            cells = json.loads((folder / name).read_text(encoding="utf-8"))["cells"]
            assert not any(cell.get("outputs") for cell in cells)


@pytest.mark.site
@pytest.mark.slow
@pytest.mark.parametrize("lesson", IN_NODE, ids=lambda path: path.stem)
def test_a_lesson_runs_and_prints_what_the_desktop_prints(lesson: Path) -> None:
    command = [str(live.program("node")), str(PROGRAMS / "lessons.mjs")]
    command += [str(PYODIDE), str(lesson)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found.get("crash") is None and found["errors"] == []
    lacking = [pair for pair in found["differs"] if "scikit-lego is not installed" not in pair[2]]
    assert lacking == []
    assert found["moved"] == lesson.read_text(encoding="utf-8").count('"widget"')


IDLE = "document.querySelector('.jp-Notebook-ExecutionIndicator')?.dataset.status === 'idle'"


class Lite(Visit):
    """A lesson, opened by the button of its page."""

    def __init__(self, browser: Any, address: str, lesson: str) -> None:
        host = address.rpartition("/")[0]  # one question of the service worker is asked above
        super().__init__(browser, host, viewport={"width": 1100, "height": 900})
        self.address, self.missing = address, []
        self.page.on("response", self._look)
        self.enter(lesson)

    def enter(self, lesson: str) -> None:
        self.page.goto(f"{self.address}/notebooks/{lesson}.html")
        self.page.locator(".ck-run a").click()
        self.settle()

    def _look(self, response: Any) -> None:
        if response.status >= 400:
            self.missing.append(f"{response.status} {response.url}")

    def settle(self) -> None:
        """Wait until the lesson is shown and Python is at rest."""
        self.page.locator(".jp-Notebook .jp-CodeCell").first.wait_for()
        self.page.wait_for_function(IDLE)

    def cell(self, text: str) -> Any:
        return self.page.locator(".jp-CodeCell").filter(has_text=re.compile(text)).first

    def run(self, cell: Any) -> Any:
        """Run a cell by keyboard, and return what it shows."""
        handle = cell.element_handle()
        cell.locator(".jp-InputArea-editor").click()
        handle.evaluate(script("watch"))
        self.page.keyboard.press("Shift+Enter")
        self.page.wait_for_function(script("ran"), arg=handle)
        return cell.locator(".jp-OutputArea")

    def write(self, cell: Any, text: str) -> None:
        cell.locator(".jp-InputArea-editor").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.type(text)

    def run_all(self, file: str) -> list[Any]:
        """Run the lesson to its end, and return its code cells, as they are stored."""
        self.page.locator(".lm-MenuBar-item").filter(has_text="Run").click()
        self.page.locator("[data-command='runmenu:run-all']").click()
        while True:  # each step waits two seconds; who runs the tests decides when it is too long
            self.page.wait_for_timeout(2000)
            self.page.keyboard.press("Control+s")
            stored = json.loads(
                self.page.evaluate(script("file"), file) or '{"content": {"cells": []}}'
            )
            cells = [cell for cell in stored["content"]["cells"] if cell["cell_type"] == "code"]
            if cells and all(cell["execution_count"] for cell in cells if cell["source"]):
                return cells

    def save(self, file: str, text: str) -> None:
        """Save, and wait until the file with this text is in the browser's storage."""
        self.page.keyboard.press("Control+s")
        self.page.wait_for_function(script("stored"), arg=[file, text])


@pytest.fixture
def lite(browser: Any, address: str) -> Iterator[Any]:
    """Return what opens a lesson in a browser that remembers nothing."""
    opened: list[Lite] = []

    def opener(lesson: str) -> Lite:
        opened.append(Lite(browser, address, lesson))
        return opened[-1]

    yield opener
    for one in opened:
        assert one.elsewhere == [] and one.missing == [] and one.messages == []
        one.close()


@pytest.mark.site
@pytest.mark.browser
def test_work_and_progress_survive_a_reload_and_can_be_taken_home(lite: Any, tmp_path) -> None:
    lesson = lite("00_start_here")
    lesson.run(lesson.cell("open_lesson"))
    lesson.write(lesson.cell("your code"), "share = 6 / 36  # mine")
    lesson.run(lesson.cell("# mine"))
    assert "Correct" in lesson.run(lesson.cell("lesson.check")).inner_text()
    lesson.save("00_start_here.ipynb", "# mine")
    lesson.page.reload()  # and run a cell before Python is there, which waits
    lesson.cell("# mine").wait_for()  # an editor comes into the page later than its cell
    lesson.run(lesson.cell("open_lesson"))
    told = lesson.run(lesson.cell("lesson.progress")).inner_text()
    assert re.search(r"0\.1.*Correct", told.replace("\n", " ")), told
    with lesson.page.expect_download() as waiting:
        lesson.page.locator(".lm-MenuBar-item").filter(has_text="File").click()
        lesson.page.locator("[data-command='docmanager:download']").click()
    path = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(path)
    taken = nbformat.read(path, as_version=4)  # as a local JupyterLab reads it
    nbformat.validate(taken)
    assert path.name == "00_start_here.ipynb"
    assert any("# mine" in cell.source for cell in taken.cells)


@pytest.mark.site
@pytest.mark.browser
def test_a_lesson_opens_as_saved_with_its_answers_hidden(lite: Any) -> None:
    opened = lite("00_start_here")
    for name in ("00_start_here", "02_separate_two_virtues"):
        opened.enter(name)
        source = NOTEBOOKS / f"{name}.md"
        folds = source.read_text(encoding="utf-8").count("<details>")
        opened.page.wait_for_function(  # until then a cell shows its source
            "many => document.querySelectorAll('.jp-Notebook details').length === many", arg=folds
        )
        text, hidden = opened.page.locator(".jp-Notebook").inner_text(), hidden_words(source)
        assert len(hidden) >= 2 and [words for words in hidden if words in text] == []
        assert opened.page.locator(".jp-mod-dirty").count() == 0


@pytest.mark.site
@pytest.mark.browser
def test_a_lesson_runs_to_its_end_and_its_explorer_moves_by_keyboard(lite: Any) -> None:
    lesson, explorer = "04_read_a_reliability_diagram", "lesson04.chance_at_work()"
    opened = lite(lesson)
    opened.run(opened.cell("open_lesson"))
    shown = opened.run(opened.cell(re.escape(explorer)))
    shown.locator("img").first.wait_for()
    before = shown.locator("img").first.get_attribute("src")
    slider = shown.locator("[role=slider]").first
    if not slider.is_visible():  # one control is seen, the others are folded
        shown.get_by_text("More controls").click()
    slider.focus()
    opened.page.keyboard.press("ArrowRight")
    opened.page.wait_for_function(
        "([cell, before]) => cell.querySelector('img')?.src !== before",
        arg=[shown.first.element_handle(), before],
    )
    assert lesson in opened.page.url  # the key moved the slider, not the notebook
    for cell in opened.run_all(f"{lesson}.ipynb"):
        is_meant = "raises-exception" in cell["metadata"].get("tags", [])
        failed = [output for output in cell["outputs"] if output["output_type"] == "error"]
        assert is_meant or not failed, (cell["source"], failed)
