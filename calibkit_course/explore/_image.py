"""From a drawing function to the bytes of a picture and the words that go with it."""

import io
import zlib
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from numpy.typing import NDArray
from PIL import Image

from calibkit import plot

_FLAT = 8  # colours of flat areas, kept exactly
_COLOURS = 20  # with those of the edges of letters and lines, which may be rounded
_NEAR, _FAR = 6.0, 40.0
GUTTER = 0.2  # inches between panels, where a telephone's page cuts a picture


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A rendered figure and its alternative text; its bytes are made when they are asked for."""

    image: Image.Image
    alt: str

    @cached_property
    def png(self) -> bytes:
        """The bytes of a PNG, written quickly: a higher level gains little and costs much."""
        out = io.BytesIO()
        how = {"compress_level": 6, "compress_type": zlib.Z_FILTERED}
        self.image.save(out, "PNG", **(how if self.image.mode == "P" else {"compress_level": 1}))
        return out.getvalue()

    @property
    def width(self) -> int:
        """Number of pixels across."""
        return self.image.width

    @property
    def height(self) -> int:
        """Number of pixels down."""
        return self.image.height

    @property
    def source(self) -> str:
        """The picture as a data URI, for the ``src`` of an ``<img>``."""
        return "data:image/png;base64," + b64encode(self.png).decode("ascii")

    def small(self) -> "Picture":
        """Return the same picture with a palette: a third of the bytes."""
        return replace(self, image=_with_palette(np.array(self.image.convert("RGBA"))))


def _with_palette(pixels: NDArray[np.uint8]) -> Image.Image:
    """Return the image with each pixel rounded to the nearest of its main colours."""
    codes = pixels.view("<u4")[..., 0] & 0xFFFFFF  # red, green, blue, and no fourth byte
    values, count = np.unique(codes, return_counts=True)
    colours = np.stack([values & 255, (values >> 8) & 255, values >> 16], axis=1).astype(np.int64)
    main = colours[_main_colours(colours, count)]
    nearest = np.empty(1 << 24, dtype=np.uint8)  # only the entries of colours there are count
    nearest[values] = ((colours[:, None] - main) ** 2).sum(axis=2).argmin(axis=1)
    image = Image.fromarray(nearest[codes])
    image.putpalette(main.astype(np.uint8).ravel().tolist())
    return image


def _main_colours(colours: NDArray[np.int64], count: NDArray[np.int64]) -> list[int]:
    """Return the most frequent colours of a figure, each some way from those before it.

    The usual methods average colours by area, and so turn a thin vermilion line grey.
    """
    chosen: list[int] = []
    free = np.ones(len(colours), dtype=bool)
    distance = np.full(len(colours), np.inf)
    while len(chosen) < _COLOURS and free.any():
        chosen.append(int(np.argmax(np.where(free, count, -1))))
        step = np.sqrt(((colours - colours[chosen[-1]]) ** 2).sum(axis=1))
        distance = np.minimum(distance, step)
        free = distance > (_NEAR if len(chosen) < _FLAT else _FAR)
    return chosen


def render(
    draw: Callable[[Figure], None], size: tuple[float, float], alt: str | None = None
) -> Picture:
    """Run `draw` on a figure of `size` inches that no window and no notebook knows of.

    One legend for all of the figure is added. The alternative text is `alt`, or what
    `plot.alt_text` finds.
    """
    with plot.style():
        figure = Figure(figsize=size, layout=ConstrainedLayoutEngine(w_pad=GUTTER / 2))
        canvas = FigureCanvasAgg(figure)
        draw(figure)
        plot.legend(figure)
        # `savefig` would draw everything twice, the first time only to find the layout.
        engine = figure.get_layout_engine()
        if engine is not None:
            engine.execute(figure)
            figure.set_layout_engine("none")
        canvas.draw()  # type: ignore[no-untyped-call]
        pixels = np.array(canvas.buffer_rgba())  # type: ignore[no-untyped-call]
    words = plot.alt_text(figure) if alt is None else alt
    return Picture(image=Image.fromarray(pixels), alt=words)
