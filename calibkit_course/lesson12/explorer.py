"""The simplex lens: three notions of calibration, before and after repair. Lesson 12."""

from typing import Any

from matplotlib.axes import Axes

from calibkit import plot
from calibkit.plot import look
from calibkit.plot.look import AnyFigure
from calibkit_course import simplex
from calibkit_course.explore import Choice, Explorer, Slider
from calibkit_course.lesson12 import figures
from calibkit_course.lesson12.models import CALIBRATORS, FAKES
from calibkit_course.lesson12.view import VIEWS, LensView, simplex_lens_view


def _draw(lens: LensView, figure: AnyFigure, compact: bool) -> None:
    axes = _panels(figure, compact)
    stated, seen = lens.arrows
    shown = {"points", "arrows", "regions"}
    simplex.draw(stated, truth=seen, ax=axes[0], show=shown)
    axes[0].set_anchor("N")
    _shorten_legend(axes[0], lens.view)
    figures.stated_and_true(*lens.points, axes[1])
    parts = {"means", "gaps"}
    for ax, error in zip(axes[2:], lens.measured, strict=True):
        plot.reliability(error.tables[0], ax=ax, show=parts)
    axes[3].set_xlabel(f"probability of class {lens.k}", fontsize=look.FONT_SIZE)
    for ax, name in zip(axes[1:], VIEWS, strict=True):
        verdict = "straight" if lens.straight[name] else f"off by {lens.errors[name]:.3f}"
        # With a given height, matplotlib does not search for one, which takes 30 ms.
        ax.set_title(f"{lens.name_of(name)}: {verdict}", y=1.0)
        figures.light(ax, lens.straight[name], name == lens.view)
    if compact:  # room between the upper corner and the caption
        axes[0].set_ylim(-0.11, 1.1)
    else:
        axes[0].set_title(f"Arrows of the view: {lens.name_of(lens.view)}", pad=18, y=1.0)


def _panels(figure: AnyFigure, compact: bool) -> list[Axes]:
    """Give the simplex the most room, for its arrows, and the three diagrams the rest."""
    if compact:
        return list(figure.subplots(1, 4, width_ratios=(1.7, 1, 1, 1)))
    grid = figure.add_gridspec(2, 3, height_ratios=(1.7, 1))
    below = [figure.add_subplot(grid[1, place]) for place in range(3)]
    return [figure.add_subplot(grid[0, :]), *below]


def _shorten_legend(ax: Axes, view: str) -> None:
    """Leave colours and markers of the classes to the entries of the next panel."""
    for line in ax.get_lines():
        label = str(line.get_label())
        if label.startswith("predicts"):
            line.set_label("_nolegend_")
        elif view != "strong" and label.startswith("to the true"):
            line.set_label("to what the\nview sees")


_CONTROLS = (
    Choice(
        "view",
        "View",
        VIEWS,
        default="strong",
        book=("strong", "class"),
        texts={"top-label": "confidence", "class": "one class"},
    ),
    Slider("k", "Class", (0, 1, 2), default=0, form="{:d}"),
    Choice("model", "Model", tuple(FAKES), default="per class", book=tuple(FAKES)),
    Choice(
        "calibrator",
        "Calibrator",
        CALIBRATORS,
        default="none",
        book=("none", "temperature", "vector", "Dirichlet"),
        texts={"matrix": "matrix, centred logits"},
    ),
    Slider("n_fit", "Fitted to", (50, 200, 1000, 5000, 20_000), default=5000, unit="predictions"),
)


def simplex_lens(**defaults: Any) -> Explorer[LensView]:
    """Return the simplex lens: arrows to the truth, and three diagrams that light up."""
    return Explorer(
        name="simplex-lens",
        title="Simplex lens",
        controls=_CONTROLS,
        view=simplex_lens_view,
        draw=_draw,
        presets=(
            ("per class", {}),
            ("per class, scaled", {"calibrator": "temperature"}),
            ("cyclic, scaled", {"model": "cyclic", "calibrator": "temperature"}),
            ("cyclic, Dirichlet", {"model": "cyclic", "calibrator": "Dirichlet"}),
        ),
        size=(7.2, 7.0),
        cell=(9.6, 2.8),
    ).starting_at(**defaults)
