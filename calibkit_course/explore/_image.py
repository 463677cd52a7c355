"""From a drawing function to a picture of lines and letters, and the words that go with it."""

import io
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D

from calibkit import plot
from calibkit_course.explore.narrow import narrow as made_narrow

BESIDE = 0.1  # inches on both sides of a panel
MANY = 300  # points of a cloud: more are dots of a picture, each would be a line of text
DENSITY = 200  # such dots to an inch
# Always the same file: names that depend on nothing else, and letters as they were measured.
SAME: dict[Any, Any] = {"svg.hashsalt": "calibkit", "svg.fonttype": "path"}
NEEDLESS = re.compile(
    r"(?<=\n) +|<metadata>.*?</metadata>\n|<!--.*?-->\n|(?<=[1-9]\.\d\d)\d+", re.DOTALL
)
SIZE = re.compile(r'(width="([\d.]+)pt") height="[\d.]+pt" viewBox="[^"]*"')
HATCH = re.compile(r"<pattern.*?</pattern>", re.DOTALL)
DOT = re.compile(r"M (\S+) (\S+) \n(?:C .*\n){8}z")  # a thousand circles, smaller than a pixel


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A rendered figure and its alternative text."""

    svg: str
    alt: str
    width: int  # pixels, 100 to an inch
    height: int

    @property
    def source(self) -> str:
        """The picture as a data URI, for the ``src`` of an ``<img>``."""
        return "data:image/svg+xml," + quote(self.svg, safe="!*'()")  # as a script writes it

    def as_tall(self, height: int) -> "Picture":
        """Return the picture with room below it, so many pixels high."""
        size = rf'\1 height="{0.72 * height:g}pt" viewBox="0 0 \2 {0.72 * height:g}"'
        return replace(self, svg=SIZE.sub(size, self.svg, count=1), height=height)


def render(
    draw: Callable[[Figure], None],
    size: tuple[float, float],
    alt: str | None = None,
    *,
    narrow: bool = False,
) -> Picture:
    """Run `draw` on a figure of `size` inches that no window and no notebook knows of.

    One legend for all of the figure is added. The alternative text is `alt`, or what
    `plot.alt_text` finds. What is `narrow` has its panels below each other.
    """
    with plot.style(), mpl.rc_context(SAME):
        figure = Figure(figsize=size, layout=ConstrainedLayoutEngine(w_pad=BESIDE))
        FigureCanvasAgg(figure)
        draw(figure)
        for line in figure.findobj(Line2D):
            if np.size(line.get_xdata()) == 0:  # else the layout leaves room for it at (0, 0)
                line.set_in_layout(False)
        plot.legend(figure)
        words = plot.alt_text(figure) if alt is None else alt
        if narrow:
            made_narrow(figure)
        for cloud in figure.findobj(PathCollection):
            cloud.set_rasterized(np.shape(cloud.get_offsets())[0] > MANY)
        figure.set_dpi(DENSITY)
        out = io.StringIO()
        FigureCanvasSVG(figure).print_svg(out, metadata={"Date": None})  # type: ignore[no-untyped-call]
        width, height = (round(100 * inches) for inches in figure.get_size_inches())
    svg = NEEDLESS.sub("", out.getvalue().partition('DTD/svg11.dtd">')[2].strip())
    svg = HATCH.sub(lambda hatch: DOT.sub(r"M\1 \2h.3v-.6h-.6v.6z", hatch[0]), svg)
    return Picture(svg=svg, alt=words, width=width, height=height)
