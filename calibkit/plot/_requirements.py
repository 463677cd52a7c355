"""What a model must be able to do: value by accuracy and calibration error. Lesson 13.

Source: review of calibration notions, source 001 section 4 (requirements engineering).
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke

from calibkit.plot import _style as look

if TYPE_CHECKING:
    from calibkit.decisions import RequirementSweep

# Light to dark in one hue family that colour-blind readers can order.
_COLOURS = "cividis"
_STYLES: tuple[Any, ...] = ("solid", (0, (2.6, 1)), (0, (1.2, 0.8)), (0, (2.6, 1, 1, 1)))


def requirements(
    sweep: "RequirementSweep",
    ax: Axes | None = None,
    *,
    utilities: Any = (),
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw the value of trusting as a map over accuracy and calibration error.

    Parameters
    ----------
    sweep : RequirementSweep
        From `requirement_sweep`, with evenly spaced accuracies and errors.
    ax : matplotlib Axes, optional
        Where to draw; a fresh figure when left out.
    utilities : sequence of float
        At most four wanted values; a line marks the least accuracy for each.
    title : str, optional
        Title of the figure.
    legend : bool, optional
        Whether to draw a legend below the figure. The default is yes for a fresh figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If the grid has fewer than two rows or columns, or there are too many utilities.

    Notes
    -----
    Hatched: no classifier has such a pair (Lemma 1). Taught in lesson 13.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from calibkit import plot
    >>> from calibkit.decisions import Ward, requirement_sweep
    >>> sweep = requirement_sweep(Ward(), accuracies=[.7, .8, .9], errors=[0, .1, .2])
    >>> ax = plot.requirements(sweep, utilities=[0.5])
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('calibration error', 'accuracy')
    >>> plt.close(ax.figure)
    """
    wanted = [float(utility) for utility in utilities]
    if min(sweep.value.shape) < 2 or len(wanted) > len(_STYLES):
        raise ValueError(
            f"a map needs at least two accuracies and two errors, got {sweep.value.shape}, and at "
            f"most {len(_STYLES)} utilities, got {len(wanted)}."
        )
    with look.style():
        ax, fresh = look.axes_or_new(ax, (6.2, 4.6 if legend is not False else 4.0))
        _frame(ax)
        _draw_values(ax, sweep)
        for utility, line in zip(wanted, _STYLES, strict=False):
            _draw_iso_line(ax, sweep, utility, line)
        ax.set_xlim(*_ends(sweep.error))
        ax.set_ylim(*_ends(sweep.accuracy))
        if title is not None:
            ax.set_title(title)
        if legend or (legend is None and fresh):
            figure = ax.get_figure(root=True)
            assert figure is not None  # an Axes that is drawn on belongs to a figure
            look.legend(figure, columns=3)
    look.remember(ax, _sentences(sweep, wanted))
    return ax


def _frame(ax: Axes) -> None:
    look.dress(ax, grid=None)
    if look.is_last_row(ax):
        ax.set_xlabel("calibration error", fontsize=look.FONT_SIZE)
    if look.is_first_column(ax):
        ax.set_ylabel("accuracy", fontsize=look.FONT_SIZE)


def _ends(axis: Any) -> tuple[float, float]:
    """Return the outer edges of the cells around the first and the last value."""
    values = np.sort(axis)
    first, last = (values[1] - values[0]) / 2, (values[-1] - values[-2]) / 2
    return float(values[0] - first), float(values[-1] + last)


def _draw_values(ax: Axes, sweep: "RequirementSweep") -> None:
    ax.set_facecolor("#EFEFEF")
    ax.patch.set_hatch("////")
    ax.patch.set_edgecolor(look.BAND)
    mesh = ax.pcolormesh(
        sweep.error,
        sweep.accuracy,
        np.ma.masked_invalid(sweep.value),
        cmap=_COLOURS,
        shading="nearest",
        gid="values",
    )
    figure = ax.get_figure(root=True)
    assert figure is not None  # an Axes that is drawn on belongs to a figure
    bar = figure.colorbar(mesh, ax=ax, pad=0.02)
    bar.set_label("value per patient", fontsize=look.FONT_SIZE)
    bar.ax.tick_params(labelsize=look.FONT_SIZE, color=look.GREY, labelcolor=look.INK)
    if not sweep.feasible.all():  # an entry for the legend; the frame itself is hatched
        ax.add_patch(
            Rectangle(
                (float(sweep.error[0]), float(sweep.accuracy[0])),
                0,
                0,
                facecolor="#EFEFEF",
                edgecolor=look.BAND,
                hatch="////",
                label="impossible (Lemma 1)",
                gid="impossible",
            )
        )


def _draw_iso_line(ax: Axes, sweep: "RequirementSweep", utility: float, style: Any) -> None:
    ax.plot(
        sweep.error,
        sweep.iso_line(utility),
        color="white",
        linestyle=style,
        linewidth=2.2,
        path_effects=[withStroke(linewidth=4.0, foreground=look.INK)],
        label=f"worth {utility:g}",
        gid="iso-line",
    )


def _sentences(sweep: "RequirementSweep", wanted: list[float]) -> list[str]:
    words = [f"Map of value by accuracy and calibration error. {sweep.describe()}"]
    for utility in wanted:
        line = sweep.iso_line(utility)
        known = np.flatnonzero(~np.isnan(line))
        ends = [f"{line[j]:.3f} at error {sweep.error[j]:.2g}" for j in (*known[:1], *known[-1:])]
        words.append(
            f"A value of {utility:g} needs accuracy {ends[0]} and {ends[1]}."
            if ends
            else f"A value of {utility:g} is out of reach."
        )
    return words
