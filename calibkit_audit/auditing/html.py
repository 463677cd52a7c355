"""The report as one page: no script, no request to anywhere, every name from outside escaped.

Pure functions of a `Report` and of what its figures show. Figures are drawn without pyplot:
nothing is shown, nothing stays open. The colours of the lights are in `auditing.settings`.
"""

import base64
import io
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from calibkit.decisions import MurphyCurve, decision_threshold
from calibkit.inputs import FloatVector
from calibkit.reliability import BinTable
from calibkit.results import Result
from calibkit_audit.auditing.costs import Consequences, prices_with_threshold
from calibkit_audit.auditing.evidence import Measurements
from calibkit_audit.auditing.groups import GroupTable
from calibkit_audit.auditing.pages import Report, as_rows, format_cell, plain
from calibkit_audit.auditing.repair_table import RepairTable
from calibkit_audit.auditing.settings import LIGHTS

_CAPTIONS = {
    "reliability": "Observed frequency and prediction, bin by bin.",
    "gaps": "How far each bin is off, beside what chance allows.",
    "costs": "What trust costs for every ratio of costs.",
    "benefit": "Net benefit for every threshold, beside treating all and none.",
    "repairs": "What each repair gains on held-out rows, with its interval. A filled point is "
    "recommended.",
    "models": "Observed frequency and prediction of each model, bin by bin.",
    "groups": "How far each group is off, beside what chance allows. A group whose mean is right "
    "can still be over- or under-confident, and so miscalibrated.",
}
# Inches: width and usual heights of figures, and what a row of a dot plot takes.
_WIDE, _HIGH, _TALL = 5.4, 3.7, 6.4
_ROW = 0.34
_MOST_ROWS = 30
_MOST_MODELS = 5


def page(report: Report) -> str:
    """Return one self-contained page: title, verdict, answers, figures, tables, methods."""
    parts = (_answers(report), _figures(report), _tables(report), _methods(report))
    advice, small = _text(report.advice), _text(report.small_print)
    return Template(_file("page.html")).substitute(
        title=_text(report.title),
        style=_style(),
        size=_text(report.size),
        light=report.light,
        symbol=report.symbol,
        headline=_text(report.headline),
        small=f"<small>{small}</small>" if small else "",
        advice=f"<p><b>In short.</b> {advice}</p>" if advice else "",
        parts="\n".join(part for part in parts if part),
    )


def _file(name: str) -> str:
    return files("calibkit_audit.auditing").joinpath(name).read_text(encoding="utf-8")


def panel(report: Report) -> str:
    """Return verdict and answers for a notebook, without figures and without style sheets."""
    left = "style='text-align:left'"
    rows = "".join(
        f"<tr><td {left}>{_text(answer.question)}</td>"
        f"<td style='text-align:left;white-space:nowrap'>{answer.symbol} "
        f"<b>{_text(answer.verdict)}</b></td><td {left}>{_text(answer.sentence)}</td></tr>"
        for _, answer in report.numbered
    )
    head = "".join(f"<th scope='col' {left}>{n}</th>" for n in ("question", "verdict", "answer"))
    return (
        f"<p><b>{report.symbol} {_text(report.headline)}</b><br>{_text(report.title)}: "
        f"{_text(report.size)} {_text(report.promise)}</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _style() -> str:
    """Return the style sheet: the colours of the lights by day and at night, and all else."""
    day = "\n".join(f".{k}{{color:{c.ink};background:{c.ground}}}" for k, c in LIGHTS.items())
    night = "\n".join(
        f".{k}{{color:{c.ink_at_night};background:{c.ground_at_night}}}" for k, c in LIGHTS.items()
    )
    sheet = _file("page.css")
    return f"{day}\n@media screen and (prefers-color-scheme:dark){{\n{night}}}\n{sheet}"


def _text(value: Any) -> str:
    # A number stays with its per cent sign.
    return escape(plain(str(value))).replace(" %", "&nbsp;%")


def _answers(report: Report) -> str:
    """Return the verdicts side by side, and the questions with their answers."""
    if not report.numbered:
        return ""
    board = "".join(
        f"<li class='{answer.light}'><span aria-hidden='true'>{answer.symbol}</span> "
        f"{number}{_text(answer.topic)}<b>{_text(answer.verdict)}</b></li>"
        for number, answer in report.numbered
        if number
    )
    items = "".join(
        f"<li><h3>{number}{_text(answer.question)}</h3>"
        f"<span class='badge {answer.light}' title='{LIGHTS[answer.light].word}'>{answer.symbol} "
        f"{_text(answer.verdict)}</span><p>{_text(answer.sentence)}</p></li>\n"
        for number, answer in report.numbered
    )
    table = report.tables.get("Groups")
    groups = "" if table is None else f"<p><b>Groups.</b> {_text(table.describe())}</p>"
    return (
        f"<ul class='board' aria-label='Verdicts'>{board}</ul>\n"
        "<section aria-labelledby='six'><h2 id='six'>Six questions</h2>\n"
        f"<ol class='answers'>{items}</ol>{groups}</section>"
    )


def _figures(report: Report) -> str:
    from calibkit import plot

    parts = []
    for name, figure in report.figures().items():
        words = _text(plot.alt_text(figure))
        parts.append(
            f'<figure><img src="{as_data_uri(figure)}" alt="{words}">'
            f"<figcaption>{_CAPTIONS[name]} {_text(report.caption(name))}</figcaption></figure>\n"
        )
    return (
        "<section aria-labelledby='figures'><h2 id='figures'>Figures</h2>"
        f"<div class='figures'>{''.join(parts)}</div></section>"
    )


def _tables(report: Report) -> str:
    parts = [
        f"<h3>{name}</h3><p class='soft'>{_text(table.describe())}</p><div class='scroll' "
        f"tabindex='0' role='region' aria-label='{name}'>{_html_table(table)}</div>"
        for name, table in report.tables.items()
    ]
    return (
        f"<section aria-labelledby='tables'><h2 id='tables'>Tables</h2>{''.join(parts)}</section>"
    )


def _html_table(table: Result) -> str:
    names, rows = as_rows(table)
    head = "".join(f"<th scope='col'>{_text(name.replace('_', ' '))}</th>" for name in names)
    body = "".join(
        f"<tr>{''.join(f'<td>{_text(format_cell(v))}</td>' for v in row)}</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _methods(report: Report) -> str:
    notes, origin = (
        "".join(f"<li>{_text(line)}</li>" for line in lines)
        for lines in (report.notes, report.origin)
    )
    return (
        "<footer aria-labelledby='methods'><h2 id='methods'>Methods</h2>"
        f"<ul>{notes}</ul><h2 id='origin'>Where it comes from</h2><ul>{origin}</ul></footer>"
    )


def draw_audit(
    evidence: Measurements, costs: Consequences, repairs: RepairTable, groups: GroupTable | None
) -> dict[str, Any]:
    """Return the figures of an audit by name."""
    try:
        from calibkit import plot
        from calibkit_audit import plot as audit_plot
    except ImportError as error:
        raise ImportError(
            "figures need matplotlib (pip install matplotlib); text(), to_frame() and "
            "to_markdown() work without it."
        ) from error
    figures = {"reliability": _figure(_TALL), "gaps": _figure(_HIGH), "costs": _figure(_HIGH)}
    axes = {name: figure.subplots() for name, figure in figures.items()}
    plot.reliability(evidence.band.table, band=evidence.band, ax=axes["reliability"])
    audit_plot.audit_gaps(evidence.band, axes["gaps"], legend=False)
    curves = {"as it is": costs.curve}
    if costs.repaired is not None:
        curves["repaired (held out)"] = costs.repaired
    plot.murphy(curves, axes["costs"], costs=costs.prices)
    if costs.prices is not None and costs.curve.base_rate > 0:
        figures["benefit"] = _figure(_TALL - 1.5)
        ax = figures["benefit"].subplots()
        plot.decision_curve({name: curve.net_benefit() for name, curve in curves.items()}, ax)
        given = decision_threshold(costs.prices)
        ax.axvline(given, gid="mark", **plot.look.stroke(plot.look.INK, 1.0, (0, (4, 3))))
    if len(repairs.name):
        figures["repairs"] = _figure(1.1 + _ROW * len(repairs.name))
        audit_plot.audit_repairs(repairs, figures["repairs"].subplots())
    if groups is not None:
        figures["groups"] = _figure(1.5 + _ROW * min(len(groups.group), _MOST_ROWS))
        audit_plot.audit_groups(groups, figures["groups"].subplots(), legend=False)
    for name in figures.keys() - {"repairs"}:
        plot.legend(figures[name])
    return figures


def draw_comparison(
    bins: Mapping[str, BinTable], curves: Mapping[str, MurphyCurve], costs: FloatVector | None
) -> dict[str, Any]:
    """Return the figures of a comparison: the models' diagrams in one frame, Murphy curves."""
    from calibkit import plot
    from calibkit_audit import plot as audit_plot

    figures = {"models": _figure(_TALL - 1.5)}
    audit_plot.overlay(dict(list(bins.items())[:_MOST_MODELS]), figures["models"].subplots())
    if curves:
        figures["costs"] = _figure(_HIGH)
        some = dict(list(curves.items())[:_MOST_MODELS])
        plot.murphy(some, figures["costs"].subplots(), costs=prices_with_threshold(costs))
    for figure in figures.values():
        plot.legend(figure)
    return figures


def _figure(height: float) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDE, height), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def as_data_uri(figure: Any) -> str:
    """Return a figure as an SVG image in a data URI: sharp in print, and no script can run."""
    from calibkit.plot.look import style

    buffer = io.BytesIO()
    # The same report gives the same bytes: no date, and names that do not depend on chance.
    with style({"svg.hashsalt": "calibkit"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return f"data:image/svg+xml;base64,{base64.b64encode(buffer.getvalue()).decode('ascii')}"
