"""What the site needs beyond the theme: nothing from another host."""

from typing import Any

from sphinx.application import Sphinx


def offline(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Drop scripts and styles that extensions register from other hosts.

    RequireJS would serve ipywidgets, which no page of the book holds, and Thebe a kernel.
    """
    for kind in ("script_files", "css_files"):
        files = context.get(kind, [])
        context[kind] = [file for file in files if not _reaches_out(file)]


def _reaches_out(file: Any) -> bool:
    words = [str(getattr(file, "filename", file) or "")]
    words += [str(value) for value in getattr(file, "attributes", {}).values()]
    return any("://" in word or "thebe" in word.lower() for word in words)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the hook."""
    app.connect("html-page-context", offline, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
