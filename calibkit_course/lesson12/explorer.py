"""The simplex lens: three notions of calibration of one classifier, before and after repair.

Lesson 12. Source: the review of calibration notions, sections 1.1, 1.4 (notions), 5 (calibrators).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from calibkit import plot
from calibkit.bins import Binning, EqualMass, EqualWidth
from calibkit.errors import CalibrationError, expected_calibration_error
from calibkit.fakes import FakeSample
from calibkit.plot import look
from calibkit.plot.look import AnyFigure
from calibkit.results import Result
from calibkit.validation import as_choice, as_count
from calibkit_course.explore import Choice, Explorer, Preset, Slider
from calibkit_course.lesson12 import figures
from calibkit_course.lesson12.models import CALIBRATORS, FAKES, Table, calibrated

VIEWS = ("strong", "top-label", "class")
_DRAWN = 150
# Up to here a panel counts as straight. The strong distance adds up the gaps of three classes.
NEAR = {"strong": 0.05, "top-label": 0.02, "class": 0.02}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class LensView(Result):
    """One state of the simplex lens."""

    points: tuple[Table, Table]  # stated and true: different ones among the first 150 rows
    arrows: tuple[Table, Table]  # stated vectors on a grid, and where the view moves them
    view: str  # what the reader looks at
    k: int  # the class of the view "class"
    errors: Mapping[str, float]  # mean L1 distance to the truth for "strong", otherwise the ECE
    measured: tuple[CalibrationError, CalibrationError]  # of "top-label" and "class"
    words: tuple[str, str]  # names of the fake and of the calibrator

    @property
    def straight(self) -> dict[str, bool]:
        """For each notion, whether its error is small enough to count as repaired."""
        return {name: self.errors[name] <= NEAR[name] for name in VIEWS}

    @property
    def moved(self) -> float:
        """Mean L1 length of the arrows."""
        stated, seen = self.arrows
        return float(np.abs(stated - seen).sum(axis=1).mean())

    def describe(self) -> str:
        """Give the three errors, the null levels of two, and which panels are straight."""
        top, one = self.measured
        straight = [self._name(name) for name in VIEWS if self.straight[name]]
        fake, calibrator = self.words
        return (
            f"With model {fake!r} and calibrator {calibrator!r}, the distance to the truth is "
            f"{self.errors['strong']:.3f}; the confidence error is {top.value:.3f} (a calibrated "
            f"model would show {top.null_mean:.3f}); the error of class {self.k} is "
            f"{one.value:.3f} ({one.null_mean:.3f}). The straight panels are: "
            f"{', '.join(straight) or 'none'}. The arrows of "
            f"the view {self._name(self.view)} have the mean length {self.moved:.3f}."
        )

    def _name(self, view: str) -> str:
        names = {"strong": "strong", "top-label": "confidence", "class": f"class {self.k}"}
        return names[view]

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        return {
            "notion": np.array([self._name(name) for name in VIEWS]),
            "error": np.array([self.errors[name] for name in VIEWS]),
            "straight": np.array([self.straight[name] for name in VIEWS]),
        }


def simplex_lens_view(
    *,
    view: str = "strong",
    k: int = 0,
    model: str = "per class",
    calibrator: str = "none",
    n_fit: int = 5000,
    seed: int = 12,
) -> LensView:
    """Calibrate a fake classifier of three classes, and look at it in three ways."""
    as_choice(view, "view", VIEWS)
    as_choice(model, "model", FAKES)
    as_choice(calibrator, "calibrator", CALIBRATORS)
    if k not in (0, 1, 2):
        raise ValueError(f"k={k!r} is no class; choose 0, 1 or 2.")
    bins = _bins(model)
    sample, stated, true = calibrated(model, calibrator, as_count(n_fit, "n_fit"), seed)
    measured = (
        expected_calibration_error(sample.y_true, sample.y_prob, view="top-label", bins=bins),
        expected_calibration_error(sample.y_true, sample.y_prob, view=k, bins=bins),
    )
    errors = {
        "strong": float(np.abs(sample.y_prob - sample.true_prob).sum(axis=1).mean()),
        "top-label": measured[0].value,
        "class": measured[1].value,
    }
    place = stated.argmax(axis=1) if view == "top-label" else np.full(len(stated), k)
    table = measured[0 if view == "top-label" else 1].tables[0]
    seen = true if view == "strong" else _seen(stated, place, (table.edges, table.frequency))
    return LensView(
        points=_different(sample),
        arrows=(stated, seen),
        view=view,
        k=k,
        errors=errors,
        measured=measured,
        words=(model, calibrator),
    )


def _bins(model: str) -> Binning:
    """Return bins of equal mass, so that none holds a handful of rows and a point far away.

    The six vectors share their numbers only up to rounding, which bins of equal mass would split.
    """
    return EqualWidth(10) if model == "hidden" else EqualMass(10)


def _different(sample: FakeSample) -> tuple[Table, Table]:
    """Return the different rows among the first ones, stated and true."""
    both = np.hstack([sample.y_prob, sample.true_prob])[:_DRAWN]
    both = np.unique(both, axis=0)
    return both[:, :3], both[:, 3:]


def _seen(stated: Table, place: NDArray[np.intp], table: tuple[Table, Table]) -> Table:
    """Move one entry of each vector to the frequency of its bin; the others share the rest."""
    edges, frequency = table
    row = np.arange(len(stated))
    said = stated[row, place]
    observed = frequency[np.searchsorted(edges[1:-1], said, side="right")]
    observed = np.where(np.isnan(observed), said, observed)
    seen = stated * ((1 - observed) / (1 - said))[:, np.newaxis]
    seen[row, place] = observed
    return seen


def _draw(lens: LensView, figure: AnyFigure, compact: bool) -> None:
    axes = _panels(figure, compact)
    stated, seen = lens.arrows
    shown = {"points", "arrows", "regions"}
    plot.simplex(stated, truth=seen, ax=axes[0], show=shown)
    axes[0].set_anchor("N")
    _shorten_legend(axes[0], lens.view)
    figures.stated_and_true(lens.points[0], truth=lens.points[1], ax=axes[1])
    parts = {"means", "gaps"}
    for ax, error in zip(axes[2:], lens.measured, strict=True):
        plot.reliability(error.tables[0], ax=ax, show=parts)
    axes[3].set_xlabel(f"probability of class {lens.k}", fontsize=look.FONT_SIZE)
    for ax, name in zip(axes[1:], VIEWS, strict=True):
        verdict = "straight" if lens.straight[name] else f"off by {lens.errors[name]:.3f}"
        # With a given height, matplotlib does not search for one, which takes 30 ms.
        ax.set_title(f"{lens._name(name)}: {verdict}", y=1.0)
        figures.light(ax, lens.straight[name], name == lens.view)
    if compact:  # room between the upper corner and the caption
        axes[0].set_ylim(-0.11, 1.1)
    else:
        axes[0].set_title(f"Arrows of the view: {lens._name(lens.view)}", pad=18, y=1.0)
        plot.legend(figure)


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
        name="view",
        label="View",
        values=VIEWS,
        default="strong",
        book=("strong", "class"),
        texts={"strong": "strong", "top-label": "confidence", "class": "one class"},
    ),
    Slider(name="k", label="Class", values=(0, 1, 2), default=0, form="{:d}"),
    Choice(
        name="model", label="Model", values=tuple(FAKES), default="per class", book=tuple(FAKES)
    ),
    Choice(
        name="calibrator",
        label="Calibrator",
        values=CALIBRATORS,
        default="none",
        book=("none", "temperature", "vector", "Dirichlet"),
        texts={
            "none": "none",
            "temperature": "temperature",
            "vector": "vector",
            "matrix": "matrix, centred logits",
            "Dirichlet": "Dirichlet",
        },
    ),
    Slider(
        name="n_fit",
        label="Fitted to",
        values=(50, 200, 1000, 5000, 20_000),
        default=5000,
        unit="predictions",
    ),
)
_PRESETS: tuple[Preset, ...] = (
    ("per class", {}),
    ("per class, cooled", {"calibrator": "temperature"}),
    ("cyclic, cooled", {"model": "cyclic", "calibrator": "temperature"}),
    ("cyclic, Dirichlet", {"model": "cyclic", "calibrator": "Dirichlet"}),
)


def simplex_lens(**defaults: Any) -> Explorer[LensView]:
    """Return the simplex lens: arrows to the truth, and three diagrams that light up."""
    return Explorer(
        name="simplex-lens",
        title="Simplex lens",
        controls=_CONTROLS,
        view=simplex_lens_view,
        draw=_draw,
        presets=_PRESETS,
        size=(7.2, 7.0),
        cell=(9.6, 2.8),
    ).starting_at(**defaults)
