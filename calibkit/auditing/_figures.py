"""The figures of a report, drawn without pyplot: nothing is shown, nothing stays open."""

import base64
import io
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDE, _HIGH, _TALL = 5.4, 3.7, 6.4
_ROW = 0.34
_MOST_ROWS = 30
_MOST_MODELS = 5


def draw(report: Any) -> dict[str, "Figure"]:
    """Return fresh figures by name; their alt texts come from `calibkit.plot.alt_text`."""
    try:
        from calibkit import plot
    except ImportError as error:
        raise ImportError(
            "figures need matplotlib (pip install matplotlib); text(), to_frame() and "
            "to_markdown() work without it."
        ) from error
    evidence, costs = report.evidence, report.consequences
    figures = {"reliability": _figure(_TALL), "gaps": _figure(_HIGH), "costs": _figure(_HIGH)}
    axes = {name: figure.subplots() for name, figure in figures.items()}
    plot.reliability(evidence.band.table, band=evidence.band, ax=axes["reliability"])
    plot.audit_gaps(evidence.band, axes["gaps"], legend=False)
    curves = {"as it is": costs.curve}
    if costs.repaired is not None:
        curves["repaired (held out)"] = costs.repaired
    paid = costs.paid
    prices = None if paid is None or math.isnan(paid.threshold) else paid.costs
    plot.murphy(curves, axes["costs"], costs=prices)
    if len(report.repairs.name):
        figures["repairs"] = _figure(1.1 + _ROW * len(report.repairs.name))
        plot.audit_repairs(report.repairs, figures["repairs"].subplots())
    if report.groups is not None:
        rows = min(len(report.groups.group), _MOST_ROWS)
        figures["groups"] = _figure(1.5 + _ROW * rows)
        plot.audit_groups(report.groups, figures["groups"].subplots(), legend=False)
    for name in ("reliability", "gaps", "costs", "groups"):
        if name in figures:
            plot.legend(figures[name])
    return figures


def draw_comparison(found: Any) -> dict[str, "Figure"]:
    """Return the figures of a comparison: the models' diagrams in one frame, Murphy curves."""
    from calibkit import plot
    from calibkit.decisions.costs import stakes

    figures = {"models": _figure(_TALL - 1.5)}
    plot.overlay(dict(list(found.bins.items())[:_MOST_MODELS]), figures["models"].subplots())
    if found.curves:
        figures["costs"], prices = _figure(_HIGH), found.costs
        if prices is not None:
            try:
                stakes(prices)
            except ValueError:  # no threshold: the curves keep their own unit
                prices = None
        curves = dict(list(found.curves.items())[:_MOST_MODELS])
        plot.murphy(curves, figures["costs"].subplots(), costs=prices)
    for figure in figures.values():
        plot.legend(figure)
    return figures


def _figure(height: float) -> "Figure":
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDE, height), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def as_data_uri(figure: "Figure") -> str:
    """Return a figure as an SVG image in a data URI: sharp in print, and no script can run."""
    from calibkit.plot.look import style

    buffer = io.BytesIO()
    # The same report gives the same bytes: no date, and names that do not depend on chance.
    with style({"svg.hashsalt": "calibkit"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return f"data:image/svg+xml;base64,{base64.b64encode(buffer.getvalue()).decode('ascii')}"
