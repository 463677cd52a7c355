"""The report as one page: no script, no request to anywhere, every name from outside escaped.

Pure functions of a report (`calibkit_audit.auditing.pages`). Figures are drawn without pyplot:
nothing is shown, nothing stays open. The colours of the lights are in `page.css`.
"""

import base64
import io
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from html import escape
from importlib.resources import files
from itertools import islice
from string import Template
from typing import Any

from matplotlib.figure import Figure

from calibkit import plot
from calibkit.plot.look import style
from calibkit.results import Result
from calibkit_audit.auditing.differences import prices_with_threshold
from calibkit_audit.plot import overlay
from calibkit_audit.saving import as_rows, format_cell, plain

# Inches: width and usual heights of figures.
_WIDE, _LOW, _HIGH, _TALL = 5.4, 3.7, 4.9, 6.4
_PANEL, _PANELS = 1.9, 3  # height of a panel, and how many stand in a row
_MOST_MODELS = 5


def _file(name: str) -> str:
    return files("calibkit_audit.auditing").joinpath(name).read_text(encoding="utf-8")


_PARTS = dict(re.findall(r"<!-- part: (\w+) -->\n(.*?)(?=<!-- part|\Z)", _file("parts.html"), re.S))


def page(report: Any) -> str:
    """Return one self-contained page: title, verdict, answers, figures, tables, methods."""
    return _fill(
        "page",
        _attributes(report, "title", "size", "light", "symbol", "headline")
        | {
            "style": _Html(_file("page.css")),
            "small": _each("small", filter(None, [report.promise])),
            "advice": _each("advice", filter(None, [report.advice])),
            "answers": _answers(report),
            "figures": _figures(report),
            "tables": _fill("table", *map(_table, report.tables, report.tables.values())),
            "notes": _each("line", report.notes),
            "origin": _each("line", report.origin),
        },
    )


class _Html(str):
    """Text that is HTML already."""


def _fill(part: str, *rows: Mapping[str, Any]) -> _Html:
    """Fill a part of `parts.html` once per row; what is not HTML already is escaped."""
    once = Template(_PARTS[part])
    return _Html("".join(once.substitute({k: _text(v) for k, v in row.items()}) for row in rows))


def _each(part: str, texts: Iterable[str]) -> _Html:
    return _fill(part, *({"text": text} for text in texts))


def _text(value: Any) -> str:
    if isinstance(value, _Html):
        return value
    # A number stays with its per cent sign.
    return escape(plain(str(value))).replace(" %", "&nbsp;%")


def _attributes(result: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(result, name) for name in names}


def _rows(report: Any) -> list[dict[str, str]]:
    """Return what a page says of each finding and answer."""
    names = ("question", "topic", "verdict", "sentence", "light", "symbol")
    return [_attributes(answer, *names) | {"number": number} for number, answer in report.numbered]


def _answers(report: Any) -> _Html:
    """Return the verdicts side by side, and the questions with their answers."""
    rows = _rows(report)
    if not rows:
        return _Html()
    board = _fill("light", *(row for row in rows if row["number"]))
    return _fill("answers", {"board": board, "items": _fill("answer", *rows)})


def _figures(report: Any) -> _Html:
    rows = []
    for name, figure in report.figures().items():
        about = {"words": plot.alt_text(figure), "caption": _fill(f"caption_{name}", {})}
        rows += [{"image": _data_uri(figure)} | about]
    return _fill("figure", *rows)


def _table(name: str, table: Result) -> dict[str, str]:
    heads, rows = as_rows(table)
    return {
        "name": name,
        "sentence": table.describe(),
        "head": _each("head", (head.replace("_", " ") for head in heads)),
        "body": _each("row", (_each("cell", map(format_cell, row)) for row in rows)),
    }


def figures_of(report: Any) -> dict[str, Figure]:
    """Return the figures of an audit, or of a comparison, which has no answers, by name."""
    figures: dict[str, Figure] = {}
    draw = _draw_audit if report.answers else _draw_comparison
    draw(report, partial(_add_axes, figures))
    for figure in figures.values():
        if figure.axes[0].get_legend_handles_labels()[1]:
            plot.legend(figure)
    return figures


def _add_axes(
    figures: dict[str, Figure], name: str, height: float, shape: tuple[int, int] = (1, 1)
) -> Any:
    """Add a figure and return its Axes, of several panels an array."""
    figure = Figure(figsize=(_WIDE, height), layout="constrained", facecolor="white")
    figures[name] = figure
    return figure.subplots(*shape)


def _draw_audit(report: Any, add: Callable[..., Any]) -> None:
    evidence, costs = report.evidence, report.consequences
    band, view = evidence.band, evidence.focus_words
    plot.reliability(band.table, band=band, ax=add("reliability", _TALL), title=view)
    if classes := evidence.classes:
        rows = -(-len(classes) // _PANELS)
        panels = add("classes", _PANEL * rows, shape=(rows, _PANELS))
        for (name, table), ax in zip(classes.items(), panels.flat, strict=False):
            plot.reliability(table, ax=ax, title=name, show=["bars", "means", "gaps"])
            ax.set(xlabel="", ylabel="")
        for ax in panels.flat[len(classes) :]:
            ax.remove()
    curves = {"as it is": costs.curve}
    if costs.repaired is not None:
        curves["repaired (held out)"] = costs.repaired
    plot.murphy(curves, add("costs", _LOW), costs=prices_with_threshold(costs.costs))


def _draw_comparison(found: Any, add: Callable[..., Any]) -> None:
    """Draw the models' diagrams in one frame, and Murphy curves."""
    models = dict(islice(found.bins.items(), _MOST_MODELS))
    view = next(iter(models.values())).view
    overlay(models, add("models", _HIGH), title=view)
    if some := dict(islice(found.curves.items(), _MOST_MODELS)):
        plot.murphy(some, add("costs", _LOW), costs=prices_with_threshold(found.costs))


def _data_uri(figure: Any) -> str:
    """Return a figure as an SVG image in a data URI: sharp in print, and no script can run."""
    buffer = io.BytesIO()
    # The same report gives the same bytes: no date, and names that do not depend on chance.
    with style({"svg.hashsalt": "calibkit"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return f"data:image/svg+xml;base64,{base64.b64encode(buffer.getvalue()).decode('ascii')}"
