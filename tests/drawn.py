"""How tests look at a drawn figure: every artist carries the name of its element as gid."""

from collections.abc import Callable, Mapping
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import Collection
from matplotlib.lines import Line2D
from matplotlib.text import Annotation, Text
from matplotlib.transforms import Bbox

from calibkit.plot import alt_text


def find(ax: Axes, gid: str) -> list[Any]:
    """Return the artists of an element."""
    return [artist for artist in ax.findobj() if artist.get_gid() == gid]


def one(ax: Axes, gid: str) -> Any:
    """Return the only artist of an element."""
    (artist,) = find(ax, gid)
    return artist


def drawn(ax: Axes, gid: str) -> list[Any]:
    """Return the points of an element's lines and texts, and left, bottom, right, top of the rest.

    The element "frame" are the limits of the Axes, and of those beside it.
    """
    if gid == "frame":
        return [[*np.transpose([a.get_xlim(), a.get_ylim()]).flat] for a in (ax, *ax.child_axes)]
    rows: list[Any] = []
    for artist in find(ax, gid):
        if isinstance(artist, Line2D | Annotation):
            rows += [artist.xy] if isinstance(artist, Annotation) else [*artist.get_xydata()]
        elif isinstance(artist, Collection):
            rows += [path.get_extents().extents for path in artist.get_paths()]
        else:
            path = artist.get_patch_transform().transform_path(artist.get_path())
            rows.append(path.get_extents().extents)
    return rows


def labels(ax: Axes) -> list[str]:
    """Return what the legend of an Axes says."""
    return [text.get_text() for text in ax.get_legend().get_texts()]


def heights(ax: Axes, gid: str) -> tuple[float, float]:
    """Return where a strip across the figure begins and ends (a polygon before matplotlib 3.9)."""
    box = one(ax, gid).get_extents().transformed(ax.transData.inverted())
    return box.y0, box.y1


def area(ax: Axes, gid: str) -> float:
    """Return the area of all polygons of an element."""
    shapes = [path.vertices.T for artist in find(ax, gid) for path in artist.get_paths()]
    return sum(0.5 * abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1))) for x, y in shapes)


def assert_nothing_is_cut_off(ax: Axes) -> None:
    """Lay the figure out: all of it lies on the page, and no letter is tiny."""
    figure = ax.figure
    figure.canvas.draw()
    box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height
    visible = [text for text in figure.findobj(Text) if text.get_text().strip()]
    assert min(text.get_fontsize() for text in visible) >= 9


def assert_drawn_inside(ax: Axes) -> None:
    """All elements lie in their Axes and fill two fifths of them; the lowest says its numbers."""
    elements = [a for a in (*ax.collections, *ax.lines, *ax.patches, *ax.texts) if a.get_gid()]
    boxes = [
        a.get_datalim(ax.transData).transformed(ax.transData)
        if isinstance(a, Collection)
        else a.get_window_extent()
        for a in elements
    ]
    box = Bbox.union([box for box in boxes if np.isfinite(box.extents).all()])
    frame = ax.get_window_extent()
    assert (box.min >= frame.min - 4).all() and (box.max <= frame.max + 4).all()
    assert (box.size >= 0.4 * frame.size).all()
    printed = any(text.get_visible() and text.get_text() for text in ax.get_xticklabels())
    assert printed == all(inner.get_label() != "counts" for inner in ax.child_axes)


def corners(ax: Axes, gid: str) -> list[Any]:
    """Return the corners of the polygons of an element."""
    return [path.vertices for path in one(ax, gid).get_paths()]


def assert_manners(subtests: Any, drawings: Mapping[str, Callable[[Axes | None], Axes]]) -> None:
    """Draw each on a figure of its own and on Axes that are given: all figures hold to this.

    A figure of its own fits a page; given Axes get no legend, and nothing else is touched.
    """
    for name, draw in drawings.items():
        with subtests.test(name), mpl.rc_context({"font.size": 17, "hatch.linewidth": 5}):
            before = dict(mpl.rcParams)
            figure = draw(None).figure
            width, height = figure.get_size_inches()
            assert width <= 9.2 and height <= 5.6 and figure.dpi <= 100
            assert figure.get_facecolor() == (1, 1, 1, 1)
            assert_nothing_is_cut_off(figure.axes[0])
            plt.close(figure)
            _, (left, right) = plt.subplots(1, 2, layout="constrained")
            assert draw(right) is right
            assert right.get_legend() is None and not right.figure.legends
            assert len(plt.get_fignums()) == 1 and not left.lines and not left.patches
            assert dict(mpl.rcParams) == before
        plt.close("all")


def assert_points(ax: Axes, elements: Mapping[str, Any]) -> None:
    """Each element holds these columns: points, or left, bottom, right and top of areas.

    What stands as NaN depends on the layout.
    """
    for gid, columns in elements.items():
        wanted = np.column_stack(np.broadcast_arrays(*columns))
        found = np.reshape(drawn(ax, gid), wanted.shape)  # refuses more or fewer
        assert (np.isclose(found, wanted) | np.isnan(wanted)).all(), gid


def assert_title_legend_and_words(draw: Callable[..., Axes], sentence: str) -> None:
    """The title is the given one, a legend stands to the right, the words say the result."""
    ax = draw(title="Mine")
    assert "Mine" in (ax.get_title(), ax.get_title(loc="left"))
    assert sentence in alt_text(ax)
    ax.figure.canvas.draw()
    if ax.get_legend():
        assert ax.get_legend().get_window_extent().x0 > ax.get_window_extent().x1
    assert draw(legend=False).get_legend() is None
