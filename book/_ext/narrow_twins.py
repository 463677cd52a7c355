"""A twin of each wide figure for a telephone: the same panels, drawn again below each other.

A kernel that executes a page of the book loads this module as an extension of IPython. A figure
that it shows is copied and made narrow, as an explorer makes its own. The twin is a file named
after the figure's own bytes, as the builder of the book names its pictures, so that
`narrow_figures` finds it. A figure that cannot be copied has no twin, and is cut.
"""

import hashlib
import io
import pickle
from base64 import b64decode
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from calibkit_course.explore.narrow import WIDTH, narrow

FOLDER = Path(__file__).resolve().parent.parent / "_build" / "twins"
DENSITY = 2  # pixels of the twin for one of the page: a telephone's are small
GAP = 16  # pixels: more empty rows are not kept
COLOURS = 128


def load_ipython_extension(shell: Any) -> None:
    """Draw a twin of whatever figure this kernel shows."""
    show = shell.display_formatter.format

    def shown(drawn: Any, include: Any = None, exclude: Any = None) -> Any:
        data, about = show(drawn, include, exclude)
        if isinstance(drawn, Figure) and "image/png" in data:
            keep(drawn, data["image/png"])
        return data, about

    shell.display_formatter.format = shown


def keep(figure: Figure, picture: str | bytes, folder: Path = FOLDER) -> None:
    """Write the twin of a figure that is too wide; its own picture gives the name."""
    if figure.get_size_inches()[0] <= WIDTH:
        return
    png = b64decode(picture) if isinstance(picture, str) else picture
    folder.mkdir(parents=True, exist_ok=True)
    name = hashlib.sha256(png).hexdigest()
    (folder / f"{name}.png").write_bytes(twin(figure))


def twin(figure: Figure) -> bytes:
    """Return the PNG of a figure's twin; the figure itself stays as it is."""
    copy = pickle.loads(pickle.dumps(figure))
    plt.close(copy)  # pyplot would show the copy, too
    canvas = FigureCanvasAgg(copy)
    narrow(copy)
    copy.set_dpi(100 * DENSITY)
    canvas.draw()
    image = Image.fromarray(np.asarray(canvas.buffer_rgba())[:, :, :3])
    out = io.BytesIO()
    without_gaps(image).quantize(COLOURS).save(out, "PNG", optimize=True)
    return out.getvalue()


def without_gaps(image: Image.Image) -> Image.Image:
    """Return a picture without its empty margins, and without much of its empty rows."""
    pixels = np.asarray(image)
    rows = (pixels < 250).any(axis=(1, 2))
    used = np.flatnonzero(rows)
    if not used.size:
        return image
    since = np.zeros(len(rows), dtype=int)  # empty rows up to here
    for row in range(1, len(rows)):
        since[row] = 0 if rows[row] else since[row - 1] + 1
    kept = since <= GAP * DENSITY
    kept[: max(0, used[0] - 6)] = kept[used[-1] + 7 :] = False
    return Image.fromarray(pixels[kept])
