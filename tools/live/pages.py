"""Python for the book's own pages: explorers, exercises, and the page that audits a file."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tools.lesson_pages import lesson_pages

HERE = Path(__file__).parent
PYTHON = "lite/static/pyodide/"
AUDIT_PAGE = "book/audit_a_file.html"
EDITOR = "live_editor.js"  # CodeMirror, which `site.editor` puts together
SCRIPTS = {
    "data-explorer=": ("live.js",),
    'id="ck-cells"': (EDITOR, "shuffled_lines.js", "live_exercises.js"),
    'id="ck-file"': ("audit_page.js",),
    'class="doctest ': ("live_examples.js",),
}
COMPRESSED = {"pyodide.asm.wasm": 0.32, "pyodide.asm.js": 0.19}  # what a server makes of them
JUPYTERLITE = 2.3e6  # bytes of its scripts, as a browser counts them
CORE = ("pyodide.asm.wasm", "pyodide.asm.js", "python_stdlib.zip")


def closure(lock: dict[str, Any], wanted: Iterable[str], without: Iterable[str] = ()) -> set[str]:
    """Return packages with all that they depend on, except some."""
    found, todo = set[str](), [*wanted]
    while todo:
        name = todo.pop().replace("_", "-")
        if name not in found and name not in without:
            found.add(name)
            todo += lock["packages"][name]["depends"]
    return found


def files_for(lock: dict[str, Any], wanted: Iterable[str]) -> set[str]:
    """Return the files of packages with all that they depend on."""
    return {lock["packages"][name]["file_name"] for name in closure(lock, wanted)}


def sizes(python: Path) -> dict[str, int]:
    """Return what is loaded: bytes as they arrive, and megabytes as sent, also for two extras."""
    lock: dict[str, Any] = json.loads((python / "pyodide-lock.json").read_text(encoding="utf-8"))
    base = files_for(lock, ["calibkit"])

    def size(names: Iterable[str]) -> int:
        return sum((python / name).stat().st_size for name in names)

    sent = sum(COMPRESSED.get(name, 1) * size([name]) for name in (*base, *CORE))
    return {
        "megabytes": round(sent / 1e6),
        "lite": round((sent + JUPYTERLITE) / 1e6),
        "bytes": size([*base, *CORE]),
        "parquet": round(size(files_for(lock, ["pyarrow"]) - base) / 1e6),
    }


def with_scripts(html: str, python: dict[str, int], up: str, *scripts: str) -> str:
    """Return a page whose scripts find Python, `up` from its folder; its head has the looks."""
    said = " ".join(f'data-{name}="{value}"' for name, value in python.items())
    found = f'src="{up}_static/live_python.js" data-python="{up}{PYTHON}"'
    tags = [f"<script {found} {said}></script>"]
    tags += [f'<script src="{up}_static/{name}"></script>' for name in scripts]
    look = f'<link rel="stylesheet" href="{up}_static/live.css">'
    head, end, body = html.partition("</head>")
    start, close, rest = body.rpartition("</body>")
    scripts_last = start + "\n".join(tags) + "\n" + close + rest
    return f"{head}{look}\n{end}{scripts_last}"


def add(site: Path, python: Path) -> None:
    """Give Python to the pages of a site that have a use for it."""
    found = sizes(python)
    lessons = lesson_pages(suffix=".html", folder=site / "notebooks")
    for page in [*lessons, site / AUDIT_PAGE, *(site / "book" / "api").glob("*.html")]:
        if not page.exists():
            continue
        html = page.read_text(encoding="utf-8")
        scripts = [name for mark, names in SCRIPTS.items() if mark in html for name in names]
        if scripts:
            up = "../" * (len(page.relative_to(site).parts) - 1)
            page.write_text(with_scripts(html, found, up, *scripts), encoding="utf-8")
