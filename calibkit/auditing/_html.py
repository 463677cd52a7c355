"""The report as one page: no script, no request to anywhere, every name from outside escaped.

Figures are drawn without pyplot: nothing is shown, nothing stays open.
"""

import base64
import io
import math
from html import escape
from importlib.resources import files
from typing import Any

from calibkit.auditing.pages import as_rows, cell, plain
from calibkit.results import spell

# Nothing but what the page carries itself may be shown, and nothing may run.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'"
_CAPTIONS = {
    "reliability": "Observed frequency and prediction, bin by bin.",
    "gaps": "How far each bin is off, beside what chance allows.",
    "costs": "What trust costs for every ratio of costs.",
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


def page(report: Any) -> str:
    """Return one self-contained page, figures included."""
    error, null = report.evidence.error, report.evidence.null
    beside = (
        f"<small>Expected calibration error {error.value:.4f}; a calibrated model would show "
        f"{null.mean:.4f}. {_text(report.settings.promise)}</small>"
    )
    symbol = f"<span class='light' aria-hidden='true'>{report.symbol}</span>"
    return _document(
        report,
        _size(report),
        f"<div class='verdict {report.light}' role='status'>{symbol}"
        f"<p>{_text(report.headline)}{beside}</p></div>\n{_board(report)}\n"
        f"<section aria-labelledby='six'><h2 id='six'>Six questions</h2>\n{_verdicts(report)}"
        "</section>",
    )


def comparison_page(found: Any) -> str:
    """Return the page of a comparison; its pieces are those of an audit's page."""
    light = "unknown" if found.codes == {"not separated"} else "caution"
    size = f"{spell(found.n, 'prediction')}, {found.n_classes} classes. Events: {found.view}."
    verdict = f"<div class='verdict {light}' role='status'><p>{_text(found.headline)}</p></div>"
    return _document(found, size, verdict)


def _document(report: Any, size: str, verdict: str) -> str:
    """Return a whole page: title, size, verdict, figures, tables, methods."""
    title = _text(report.title)
    style = files("calibkit.auditing").joinpath("page.css").read_text(encoding="utf-8")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
        f"<header><h1>{title}</h1>\n<p class='soft'>{_text(size)}</p></header>\n{verdict}\n"
        f"{_figures(report)}\n{_tables(report)}\n{_methods(report)}\n</main>\n</body>\n</html>\n"
    )


def panel(report: Any) -> str:
    """Return verdict and answers for a notebook, without figures and without style sheets."""
    left = "style='text-align:left'"
    rows = "".join(
        f"<tr><td {left}>{_text(answer.question)}</td>"
        f"<td style='text-align:left;white-space:nowrap'>{answer.symbol} "
        f"<b>{_text(answer.verdict)}</b></td><td {left}>{_text(answer.sentence)}</td></tr>"
        for answer in (*report.findings, *report.answers)
    )
    head = "".join(f"<th scope='col' {left}>{n}</th>" for n in ("question", "verdict", "answer"))
    return (
        f"<p><b>{report.symbol} {_text(report.headline)}</b><br>{_text(report.title)}: "
        f"{_text(_size(report))} {_text(report.settings.promise)}</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _text(value: Any) -> str:
    # A number stays with its per cent sign.
    return escape(plain(str(value))).replace(" %", "&nbsp;%")


def _size(report: Any) -> str:
    size = f"{spell(report.n, 'prediction')}, {report.n_classes} classes"
    return f"{size}. First view: {report.view}."


def _board(report: Any) -> str:
    items = "".join(
        f"<li class='{answer.light}'><span aria-hidden='true'>{answer.symbol}</span> "
        f"{number}. {_text(answer.topic)}<b>{_text(answer.verdict)}</b></li>"
        for number, answer in enumerate(report.answers, start=1)
    )
    return f"<ul class='board' aria-label='Verdicts'>{items}</ul>"


def _verdicts(report: Any) -> str:
    from calibkit.auditing.report import LIGHTS

    heads = [("", one) for one in report.findings]
    heads += [(f"{number}. ", one) for number, one in enumerate(report.answers, start=1)]
    items = "".join(
        f"<li><h3>{head}{_text(answer.question)}</h3>"
        f"<span class='badge {answer.light}' title='{LIGHTS[answer.light][1]}'>{answer.symbol} "
        f"{_text(answer.verdict)}</span><p>{_text(answer.sentence)}</p></li>\n"
        for head, answer in heads
    )
    groups = "" if report.groups is None else _text(report.groups.describe())
    return f"<ol class='answers'>{items}</ol>{groups and f'<p><b>Groups.</b> {groups}</p>'}"


def _figures(report: Any) -> str:
    from calibkit import plot

    parts = []
    for name, figure in report.figures().items():
        words = _text(plot.alt_text(figure))
        parts.append(
            f'<figure><img src="{as_data_uri(figure)}" alt="{words}">'
            f"<figcaption>{_CAPTIONS[name]} {_text(_shown(report, name))}</figcaption></figure>\n"
        )
    return (
        "<section aria-labelledby='figures'><h2 id='figures'>Figures</h2>"
        f"<div class='figures'>{''.join(parts)}</div></section>"
    )


def _shown(report: Any, name: str) -> str:
    if not hasattr(report, "evidence"):  # a comparison
        return f"View: {next(iter(report.bins.values())).view}." if name == "models" else ""
    table = report.evidence.band.table
    if name in ("reliability", "gaps"):
        return f"View: {table.view}, {table.bins}."
    paid = report.consequences.paid
    given = paid is not None and paid.threshold == paid.threshold  # not NaN: a line is drawn
    line = " Dashed line: the costs that were given." if name == "costs" and given else ""
    return f"View: {report.view}.{line}" if name in ("costs", "groups") else ""


def _tables(report: Any) -> str:
    parts = [
        f"<h3>{name}</h3><p class='soft'>{_text(table.describe())}</p><div class='scroll' "
        f"tabindex='0' role='region' aria-label='{name}'>{_table(table)}</div>"
        for name, table in report.tables.items()
    ]
    return (
        f"<section aria-labelledby='tables'><h2 id='tables'>Tables</h2>{''.join(parts)}</section>"
    )


def _table(table: Any) -> str:
    names, rows = as_rows(table)
    head = "".join(f"<th scope='col'>{_text(name.replace('_', ' '))}</th>" for name in names)
    body = "".join(f"<tr>{''.join(f'<td>{_text(cell(v))}</td>' for v in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _methods(report: Any) -> str:
    notes = "".join(f"<li>{_text(note)}</li>" for note in report.notes)
    versions = ", ".join(f"{name} {number}" for name, number in report.versions.items())
    return (
        "<footer aria-labelledby='methods'><h2 id='methods'>Methods</h2>"
        f"<ul>{notes}<li>{_text(versions)}.</li></ul></footer>"
    )


def draw(report: Any) -> dict[str, Any]:
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
    if (line := evidence.fitted_map()) is not None:
        code = {"color": plot.look.INK, "linewidth": 1.6, "zorder": 3.5}
        axes["reliability"].plot(*line, label="smooth fit (PL3)", gid="map", **code)
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


def draw_comparison(found: Any) -> dict[str, Any]:
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
