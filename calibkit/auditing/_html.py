"""The report as one page: no script, no request to anywhere, every name from outside escaped."""

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from calibkit._result import spell
from calibkit.auditing._pages import cell, plain

if TYPE_CHECKING:
    from calibkit.auditing.report import Answer, AuditReport

# Nothing but what the page carries itself may be shown, and nothing may run.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'"

_STYLE = """
:root{color-scheme:light dark;--ink:#1a1a1a;--soft:#555;--page:#fff;--card:#f6f7f9;--line:#d9dde2;
--good:#00664b;--goodbg:#e3f4ee;--caution:#7a4b00;--cautionbg:#fdf1dc;--bad:#9c2c00;--badbg:#fde9e1;
--unknown:#3f4a56;--unknownbg:#e9edf2}
@media (prefers-color-scheme:dark){:root{--ink:#ececec;--soft:#b4b9c0;--page:#15181c;--card:#1f242a;
--line:#3a424b;--good:#7fdcbb;--goodbg:#12352b;--caution:#f3c26b;--cautionbg:#3b2c10;--bad:#ff9f7c;
--badbg:#44190b;--unknown:#c3ccd6;--unknownbg:#2b333c}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);
font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main{max-width:62rem;margin:0 auto;padding:2rem 1.25rem 4rem}
h1{font-size:1.65rem;line-height:1.25;margin:0 0 .2rem;overflow-wrap:anywhere}
h2{font-size:1.2rem;margin:2.4rem 0 .7rem}
h3{font-size:1.02rem;margin:0 0 .35rem}
p{margin:.3rem 0 .6rem;overflow-wrap:anywhere}
.soft{color:var(--soft)}
.verdict{display:flex;gap:1rem;align-items:center;margin:1.2rem 0;padding:1rem 1.2rem;
border-radius:.7rem;border:1px solid;border-left-width:.5rem}
.verdict p{margin:0;font-size:1.15rem;font-weight:600}
.verdict small{font-weight:400;display:block;font-size:.92rem}
.good{color:var(--good);background:var(--goodbg);border-color:var(--good)}
.caution{color:var(--caution);background:var(--cautionbg);border-color:var(--caution)}
.bad{color:var(--bad);background:var(--badbg);border-color:var(--bad)}
.unknown{color:var(--unknown);background:var(--unknownbg);border-color:var(--unknown)}
.light{flex:none;display:inline-grid;place-items:center;width:2.6rem;height:2.6rem;
border-radius:50%;border:2px solid currentColor;font-size:1.3rem;font-weight:700}
.board{list-style:none;padding:0;margin:0 0 1rem;display:grid;gap:.6rem;
grid-template-columns:repeat(auto-fit,minmax(9.2rem,1fr))}
.board li{padding:.55rem .7rem;border-radius:.5rem;border:1px solid;font-size:.9rem;line-height:1.3}
.board b{display:block}
.answers{list-style:none;padding:0;margin:0}
.answers>li{border-top:1px solid var(--line);padding:1rem 0}
.badge{display:inline-block;padding:.05rem .6rem;border-radius:1rem;border:1px solid;
font-size:.86rem;font-weight:600}
.figures{columns:2 25rem;column-gap:1.2rem}
figure{margin:0 0 1.2rem;break-inside:avoid;border:1px solid var(--line);border-radius:.6rem;
overflow:hidden;background:var(--card)}
figure img{display:block;width:100%;height:auto;background:#fff;padding:.5rem}
figcaption{padding:.6rem .8rem;font-size:.9rem;color:var(--soft)}
.scroll{overflow-x:auto;margin-bottom:1.6rem}
table{border-collapse:collapse;font-size:.88rem;font-variant-numeric:tabular-nums;width:100%}
th,td{padding:.3rem .6rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}
th:first-child,td:first-child{text-align:left;min-width:7rem;max-width:20rem;
white-space:normal;overflow-wrap:anywhere}
thead th{border-bottom:2px solid var(--line)}
footer{margin-top:2.5rem;border-top:1px solid var(--line);padding-top:.8rem;font-size:.88rem;
color:var(--soft)}
footer li{margin:.2rem 0;overflow-wrap:anywhere}
@media print{:root{color-scheme:light;--ink:#000;--soft:#444;--page:#fff;--card:#fff;--line:#bbb;
--good:#00664b;--goodbg:#fff;--caution:#7a4b00;--cautionbg:#fff;--bad:#9c2c00;--badbg:#fff;
--unknown:#3f4a56;--unknownbg:#fff}
body{font-size:10.5pt}main{max-width:none;padding:0}
figure,.answers>li,.verdict,footer,tr{break-inside:avoid}h2,h3{break-after:avoid}
.figures{columns:auto}figure{display:block;max-width:11.5cm;margin:0 auto 1.2rem}
.scroll{overflow:visible}table{font-size:7.5pt}th,td{padding:.15rem .3rem}@page{margin:16mm}}
"""

_CAPTIONS = {
    "reliability": "Observed frequency and prediction, bin by bin.",
    "gaps": "How far each bin is off, beside what chance allows.",
    "costs": "What trust costs for every ratio of costs.",
    "repairs": "What each repair gains on held-out rows, with its interval. A filled point is "
    "recommended.",
    "groups": "How far each group is off, beside what chance allows. A group whose mean is right "
    "can still be over- or under-confident, and so miscalibrated.",
}


def page(report: "AuditReport") -> str:
    """Return the whole page."""
    title = _text(report.title)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"<header><h1>{title}</h1>\n<p class='soft'>{_text(_size(report))}</p></header>\n"
        f"{_verdict(report)}\n{_board(report)}\n"
        f"<section aria-labelledby='six'><h2 id='six'>Six questions</h2>\n{_answers(report)}"
        f"</section>\n{_figures(report)}\n{_tables(report)}\n{_methods(report)}\n"
        "</main>\n</body>\n</html>\n"
    )


def panel(report: "AuditReport") -> str:
    """Return verdict and answers for a notebook, without figures and without style sheets."""
    rows = "".join(
        f"<tr><td style='text-align:left'>{_text(answer.question)}</td>"
        f"<td style='text-align:left;white-space:nowrap'>{answer.symbol} "
        f"<b>{_text(answer.verdict)}</b></td>"
        f"<td style='text-align:left'>{_text(answer.sentence)}</td></tr>"
        for answer in report.answers
    )
    head = "".join(
        f"<th scope='col' style='text-align:left'>{name}</th>"
        for name in ("question", "verdict", "answer")
    )
    return (
        f"<p><b>{_symbol(report)} {_text(report.headline)}</b><br>{_text(report.title)}: "
        f"{_text(_size(report))}</p><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table>"
    )


def _text(value: Any) -> str:
    # A number stays with its per cent sign.
    return escape(plain(str(value))).replace(" %", "&nbsp;%")


def _symbol(report: "AuditReport") -> str:
    from calibkit.auditing.report import LIGHTS

    return LIGHTS[report.light][0]


def _size(report: "AuditReport") -> str:
    return (
        f"{spell(report.n, 'prediction')}, {report.n_classes} classes. First view: {report.view}."
    )


def _verdict(report: "AuditReport") -> str:
    return (
        f"<div class='verdict {report.light}' role='status'>"
        f"<span class='light' aria-hidden='true'>{_symbol(report)}</span>"
        f"<p>{_text(report.headline)}<small>{_text(_second(report))}</small></p></div>"
    )


def _second(report: "AuditReport") -> str:
    error, null = report.evidence.error, report.evidence.null
    return (
        f"Expected calibration error {error.value:.4f}; a calibrated model would show "
        f"{null.mean:.4f}."
    )


def _board(report: "AuditReport") -> str:
    items = "".join(
        f"<li class='{answer.light}'><span aria-hidden='true'>{answer.symbol}</span> "
        f"{number}. {_text(answer.topic)}<b>{_text(answer.verdict)}</b></li>"
        for number, answer in enumerate(report.answers, start=1)
    )
    return f"<ul class='board' aria-label='Verdicts'>{items}</ul>"


def _answers(report: "AuditReport") -> str:
    items = "".join(map(_answer, range(1, len(report.answers) + 1), report.answers))
    groups = ""
    if report.groups is not None:
        groups = f"<p><b>Groups.</b> {_text(report.groups.describe())}</p>"
    return f"<ol class='answers'>{items}</ol>{groups}"


def _answer(number: int, answer: "Answer") -> str:
    from calibkit.auditing.report import LIGHTS

    symbol, word = LIGHTS[answer.light]
    return (
        f"<li><h3>{number}. {_text(answer.question)}</h3>"
        f"<span class='badge {answer.light}' title='{word}'>{symbol} "
        f"{_text(answer.verdict)}</span><p>{_text(answer.sentence)}</p></li>\n"
    )


def _figures(report: "AuditReport") -> str:
    from calibkit import plot
    from calibkit.auditing._figures import as_data_uri

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


def _shown(report: "AuditReport", name: str) -> str:
    table = report.evidence.band.table
    if name in ("reliability", "gaps"):
        return f"View: {table.view}, {table.bins}."
    paid = report.consequences.paid
    given = paid is not None and paid.threshold == paid.threshold  # not NaN: a line is drawn
    line = " Dashed line: the costs that were given." if name == "costs" and given else ""
    return f"View: {report.view}.{line}" if name in ("costs", "groups") else ""


def _tables(report: "AuditReport") -> str:
    tables = [("Views", report.views), ("Repairs", report.repairs), ("Groups", report.groups)]
    parts = [
        f"<h3>{name}</h3><p class='soft'>{_text(table.describe())}</p><div class='scroll' "
        f"tabindex='0' role='region' aria-label='{name}'>{_table(table)}</div>"
        for name, table in tables
        if table is not None
    ]
    return (
        f"<section aria-labelledby='tables'><h2 id='tables'>Tables</h2>{''.join(parts)}</section>"
    )


def _table(table: Any) -> str:
    columns = table._columns()
    head = "".join(f"<th scope='col'>{_text(name.replace('_', ' '))}</th>" for name in columns)
    rows = zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True)
    body = "".join(f"<tr>{''.join(f'<td>{_text(cell(v))}</td>' for v in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _methods(report: "AuditReport") -> str:
    notes = "".join(f"<li>{_text(note)}</li>" for note in report.notes)
    versions = ", ".join(f"{name} {number}" for name, number in report.versions.items())
    return (
        "<footer aria-labelledby='methods'><h2 id='methods'>Methods</h2>"
        f"<ul>{notes}<li>{_text(versions)}.</li></ul></footer>"
    )
