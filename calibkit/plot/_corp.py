"""The CORP diagram: the reliability curve without bins. Lesson 04.

Source: Dimitriadis, Gneiting and Jordan (2021).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection

from calibkit.corp import CorpBand, CorpDecomposition
from calibkit.plot import _scale, look
from calibkit.plot._elements import Truth

ELEMENTS = ("counts", "band", "truth", "curve", "parts")
_FEW = 40  # distinct predictions: drawn one by one; of more, a histogram
_N_COLUMNS = 40
_STRIP = (-0.20, -0.05)  # where the distribution stands below the diagram
_SMALL = 170  # width of a diagram in points
_WORDS = {
    "counts": "the distribution of the predictions below",
    "band": "consistency band",
    "truth": "true map",
    "curve": "isotonic curve",
    "parts": "the parts of the score",
}


@dataclass(frozen=True, slots=True)
class _Drawn:
    """What the element functions may look at."""

    parts: CorpDecomposition
    band: CorpBand | None
    truth: Truth | None


def corp(
    parts: CorpDecomposition,
    *,
    band: CorpBand | None = None,
    truth: Truth | None = None,
    ax: Axes | None = None,
    show: Iterable[str] | None = None,
    title: str | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw the CORP reliability diagram.

    Parameters
    ----------
    parts : CorpDecomposition
        From `calibkit.corp.corp_decomposition`.
    band : CorpBand, optional
        Where the curve of a calibrated model would lie, from `calibkit.corp.corp_band`.
    truth : callable, optional
        The true map, from predictions to true probabilities (known for fake classifiers).
    ax : matplotlib Axes, optional
        Where to draw; a fresh figure when left out.
    show : iterable of str, optional
        Elements to draw, out of ``"curve"``, ``"parts"``, ``"counts"``, ``"band"``,
        ``"truth"``. The default is the first three, and band and true map where given.
    title : str, optional
        Title of the diagram.
    legend : bool, optional
        Whether to draw a legend to the right. The default is yes for a fresh figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If `show` names something else or an element whose data are not given, or if the band
        belongs to other predictions.

    See Also
    --------
    reliability : the diagram with bins.

    Notes
    -----
    Thick: blocks, in which all predictions get the same frequency. Thin: from one block to the
    next. Taught in lesson 04.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from calibkit import plot
    >>> from calibkit.corp import corp_decomposition
    >>> ax = plot.corp(corp_decomposition([0, 1, 0, 1], [.2, .3, .4, .9]))
    >>> ax.get_ylabel()
    'observed frequency'
    >>> plt.close(ax.figure)
    """
    drawn = _Drawn(parts, band, truth)
    names = _chosen(show, drawn)
    with look.style():
        ax, fresh = look.axes_or_new(ax, (6.6 if legend is not False else 4.6, 4.2))
        _frame(ax, parts, with_counts="counts" in names)
        for name in ELEMENTS:
            if name in names:
                _DRAW[name](ax, drawn)
        if title is not None:
            ax.set_title(title)
        if legend or (legend is None and fresh):
            look.outside_legend(ax)
    shown = ", ".join(_WORDS[name] for name in ELEMENTS if name in names)
    words = [f"CORP reliability diagram{f' with {shown}' if shown else ''}.", parts.describe()]
    if "band" in names and band is not None:
        words.append(band.describe())
    look.remember(ax, words)
    return ax


def _chosen(show: Iterable[str] | None, drawn: _Drawn) -> frozenset[str]:
    band = drawn.band
    if band is not None and not np.array_equal(band.parts.prediction, drawn.parts.prediction):
        raise ValueError("The band belongs to other predictions than the curve.")
    given = {"band": band is not None, "truth": drawn.truth is not None}
    if show is None:
        return frozenset(ELEMENTS) - {name for name, is_given in given.items() if not is_given}
    names = frozenset([show] if isinstance(show, str) else show)
    unknown = sorted(map(str, names.difference(ELEMENTS)))
    if unknown:
        options = ", ".join(sorted(ELEMENTS))
        raise ValueError(f"show has no element {', '.join(map(repr, unknown))}; choose: {options}.")
    for name, is_given in given.items():
        if name in names and not is_given:
            raise ValueError(f'show asks for "{name}", but {name}= was not given; pass {name}=….')
    return names


def _frame(ax: Axes, parts: CorpDecomposition, *, with_counts: bool) -> None:
    _scale.frame(ax, _scale.axis_words(parts.view), "linear")
    if with_counts:
        ax.set_ylim(bottom=_STRIP[0])
        ax.spines["left"].set_bounds(0, 1)


def _draw_counts(ax: Axes, drawn: _Drawn) -> None:
    """Draw one stick per distinct prediction, or a histogram if they are many."""
    value, count = drawn.parts.prediction, drawn.parts.prediction_count
    left, right, height = value - 0.009, value + 0.009, count.astype(np.float64)
    if len(value) > _FEW:
        edges = np.arange(_N_COLUMNS + 1) / _N_COLUMNS
        left, right = edges[:-1], edges[1:]
        height = np.histogram(value, edges, weights=count)[0]
    low, high = _STRIP
    top = low + (high - low) * height / height.max()
    floor = np.full(len(top), low)
    corners = [(left, floor), (left, top), (right, top), (right, floor)]
    ax.add_collection(
        PolyCollection(
            look.paths(*corners),
            facecolors="#9A9A9A",
            edgecolors="white",
            linewidths=0.4,
            zorder=1.2,
            label="distribution of\nthe predictions",
            gid="counts",
        ),
        autolim=False,
    )


def _draw_band(ax: Axes, drawn: _Drawn) -> None:
    band = drawn.band
    assert band is not None  # `_chosen` has refused a band that was not given
    ax.fill_between(
        band.at,
        band.lower,
        band.upper,
        color="#DADADA",
        linewidth=0,
        zorder=1.5,
        label=f"{100 * band.level:g} % consistency band\n(pointwise)",
        gid="band",
    )
    for edge in (band.lower, band.upper):
        ax.plot(band.at, edge, color="#9A9A9A", linewidth=0.8, zorder=1.6, gid="band-edge")


def _draw_truth(ax: Axes, drawn: _Drawn) -> None:
    assert drawn.truth is not None  # `_chosen` has refused a map that was not given
    across = np.linspace(0, 1, 201)
    ax.plot(
        across,
        np.asarray(drawn.truth(across), dtype=float),
        color=look.TRUTH,
        linewidth=2.0,
        linestyle=(0, (6, 1.5, 1.2, 1.5)),
        zorder=3.4,
        label="true map",
        gid="truth",
    )


def _draw_curve(ax: Axes, drawn: _Drawn) -> None:
    parts = drawn.parts
    across = np.column_stack([parts.low, parts.high]).ravel()
    ax.plot(
        across, parts.recalibrated.repeat(2), color=look.UNDER, linewidth=1.0, zorder=3, gid="curve"
    )
    ends = (parts.low, parts.recalibrated), (parts.high, parts.recalibrated)
    ax.add_collection(
        LineCollection(
            look.paths(*ends),
            colors=look.UNDER,
            linewidths=3.2,
            capstyle="round",
            zorder=3.2,
            label="isotonic curve",
            gid="blocks",
        ),
        autolim=False,
    )
    if len(parts.prediction) <= _FEW:
        ax.plot(
            parts.prediction,
            parts.recalibrate(parts.prediction),
            linestyle="none",
            marker="o",
            markersize=5.5,
            markerfacecolor=look.UNDER,
            markeredgecolor="white",
            markeredgewidth=0.7,
            clip_on=False,
            zorder=3.3,
            label="distinct prediction",
            gid="predictions",
        )


def _draw_parts(ax: Axes, drawn: _Drawn) -> None:
    """Print the parts, right-aligned, into the corner that the curve avoids.

    A small panel has room for two of them: miscalibration and discrimination.
    """
    parts = drawn.parts
    rows = [("MCB", parts.miscalibration), ("DSC", parts.discrimination)]
    reach = 62  # in points, from the first letter to the last digit
    if look.width_in_points(ax) > _SMALL:
        score = "Brier score" if parts.scoring.startswith("Brier") else "log loss"
        rows = [
            (score, parts.score),
            ("= miscalibration", parts.miscalibration),
            ("− discrimination", parts.discrimination),
            ("+ uncertainty", parts.uncertainty),
        ]
        reach = 124
    names = "\n".join(name for name, _ in rows)
    numbers = "\n".join(f"{number:.4f}" for _, number in rows)
    left = parts.recalibrate(0.5) <= 0.65
    corner = (0.0, 1.0) if left else (1.0, float(ax.transLimits.transform((0, 0))[1]))
    first = 5 if left else -5 - reach
    for offset, text, side in ((first, names, "left"), (first + reach, numbers, "right")):
        ax.annotate(
            text,
            corner,
            xycoords="axes fraction",
            xytext=(offset, -4 if left else 4),
            textcoords="offset points",
            ha=side,
            va="top" if left else "bottom",
            fontsize=look.FONT_SIZE - 0.5,
            linespacing=1.25,
            zorder=4,
            gid="parts",
        )


_DRAW: dict[str, Callable[[Axes, _Drawn], None]] = {
    "counts": _draw_counts,
    "band": _draw_band,
    "truth": _draw_truth,
    "curve": _draw_curve,
    "parts": _draw_parts,
}
