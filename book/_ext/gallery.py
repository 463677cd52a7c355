"""Each plot with its picture: the example in its docstring, run when the book is built.

So nothing stands twice: the gallery and the API page show what the example draws, and a test runs
all of them.
"""

import importlib
import inspect
import io
from doctest import DocTestParser
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from book._ext import narrow_twins

ROOMS = ("calibkit.plot", "calibkit_audit.plot", "calibkit_course.simplex")
PICTURES = Path(__file__).parent.parent / "api"  # beside the pages that are written at each build


def plots() -> list[str]:
    """Return the public functions that return Axes, by their full names."""
    found = []
    for room in ROOMS:
        module = importlib.import_module(room)
        for name in getattr(module, "__all__", vars(module)):
            item = getattr(module, name)
            if inspect.isfunction(item) and item.__module__.startswith(room) and name[0] != "_":
                returned = str(inspect.signature(item).return_annotation)
                found += [f"{room}.{name}"] if "Axes" in returned else []
    return found


def code_of(name: str) -> str:
    """Return the lines of a plot's example that draw; those that compare a value stay out."""
    room, _, function = name.rpartition(".")
    text = inspect.getdoc(getattr(importlib.import_module(room), function)) or ""
    return "".join(one.source for one in DocTestParser().get_examples(text) if not one.want)


def place(name: str) -> str:
    """Return where an entry stands in the gallery: the end of its address."""
    return name.replace(".", "-").replace("_", "-")


@cache
def drawn(name: str) -> tuple[str, bytes, bytes]:
    """Run a plot's example by itself; return what its figure says, the picture, and its twin."""
    import matplotlib.pyplot as plt

    from calibkit import plot

    plt.switch_backend("agg")
    stream, space = io.BytesIO(), dict[str, Any]()
    exec(code_of(name), space)
    figure = space["ax"].figure
    figure.savefig(stream, format="png", dpi=72, bbox_inches="tight")
    narrow = narrow_twins.twin(figure) if figure.get_size_inches()[0] > narrow_twins.WIDTH else b""
    plt.close(figure)
    return plot.alt_text(space["ax"]), stream.getvalue(), narrow


def image(name: str) -> list[str]:
    """Write a plot's picture, and its twin for a telephone; return the lines that show it."""
    words, picture, twin = drawn(name)
    path = PICTURES / f"{name}.png"
    if not path.exists() or path.read_bytes() != picture:
        path.write_bytes(picture)
    if twin:
        narrow_twins.FOLDER.mkdir(parents=True, exist_ok=True)
        (narrow_twins.FOLDER / path.name).write_bytes(twin)
    return [f".. image:: /book/api/{path.name}", f"   :alt: {' '.join(words.split())}", ""]


class Gallery(SphinxDirective):
    """Show every plot: its picture, its name, and the lines that draw it."""

    def run(self) -> list[nodes.Node]:
        """Return the entries as if they had been written out by hand."""
        lines = []
        for name in plots():
            inside = [*image(name), f":py:func:`{name.partition('.')[2]} <{name}>`", ""]
            inside += [".. code-block:: python", ""]
            inside += [f"   {line}" for line in code_of(name).splitlines()]
            lines += [".. container:: ck-plot", f"   :name: {place(name)}", ""]
            lines += [f"   {line}" for line in inside] + [""]
        holder = nodes.container(classes=["ck-gallery"])
        self.state.nested_parse(StringList(lines, source="gallery"), self.content_offset, holder)
        return [holder]


def show_picture(
    app: Sphinx, what: str, name: str, item: Any, options: Any, lines: list[str]
) -> None:
    """Put its picture under the example of a plot, with the way to the others."""
    if name in plots():
        link = f"`Beside the other plots <../gallery.html#{place(name)}>`__"
        lines += ["", *image(name), link, ""]


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the directive and the hook."""
    app.add_directive("gallery", Gallery)
    app.connect("autodoc-process-docstring", show_picture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
