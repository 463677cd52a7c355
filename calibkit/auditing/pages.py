"""The report as Markdown, as a dictionary for JSON, and as a file that is whole or absent."""

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np

from calibkit.counts.store import whole_file
from calibkit.results import spell

# Everything that Markdown or the HTML inside it could read as more than text.
_MARKS = re.compile(r"([\\`*_{}\[\]()#+!|<>&~$])")


def as_dict(report: Any) -> dict[str, Any]:
    """Return verdicts, sentences and numbers for JSON; NaN and infinity become None."""
    plain = ("title", "headline", "light", "n", "n_classes", "view", "repair", "verdicts")
    return {name: getattr(report, name) for name in plain} | {
        "class_names": list(report.class_names),
        "promise": report.settings.promise,
        "answers": [_answer(one) for one in report.answers],
        "findings": [_answer(one) for one in report.findings],
        "groups": None,
        **_end(report),
    }


def _answer(answer: Any) -> dict[str, Any]:
    texts = ("topic", "question", "verdict", "light", "sentence")
    numbers = {name: _finite(value) for name, value in answer.numbers.items()}
    return {name: getattr(answer, name) for name in texts} | {"numbers": numbers}


def _end(report: Any) -> dict[str, Any]:
    """Return what an audit and a comparison end with."""
    tables = {name.lower(): _records(table) for name, table in report.tables.items()}
    return tables | {"notes": list(report.notes), "versions": dict(report.versions)}


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def as_rows(table: Any) -> tuple[list[str], list[tuple[Any, ...]]]:
    columns = {name: np.asarray(column).tolist() for name, column in table._columns().items()}
    return list(columns), list(zip(*columns.values(), strict=True))


def _records(table: Any) -> list[dict[str, Any]]:
    names, rows = as_rows(table)
    return [dict(zip(names, map(_finite, row), strict=True)) for row in rows]


def plain(text: str) -> str:
    """Return text on one line, without characters that are not printed."""
    return "".join(c for c in " ".join(str(text).split()) if c.isprintable())


def _mark(text: str) -> str:
    return _MARKS.sub(r"\\\1", plain(text))


def as_markdown(report: Any) -> str:
    """Return an audit or a comparison as Markdown; names from outside are escaped."""
    lines = [f"# {_mark(report.title)}", "", f"**{_mark(report.headline)}**", ""]
    answers = [] if not hasattr(report, "answers") else [*report.findings, *report.answers]
    if answers:
        lines += [_mark(report.settings.promise), ""]
    lines += [f"{spell(report.n, 'prediction')}, {report.n_classes} classes.", ""]
    for number, answer in enumerate(answers, start=7 - len(answers)):
        lines += [f"## {f'{number}. ' if number else ''}{_mark(answer.question)}", ""]
        lines += [f"{answer.symbol} **{answer.verdict}**: {_mark(answer.sentence)}", ""]
    for name, table in report.tables.items():
        names, rows = as_rows(table)
        lines += [f"## {name}", "", f"| {' | '.join(map(_mark, names))} |"]
        lines += [f"|{' --- |' * len(names)}"]
        lines += [f"| {' | '.join(_mark(cell(value)) for value in row)} |" for row in rows]
        lines += [""]
    lines += ["## Methods", "", *(f"- {_mark(note)}" for note in report.notes)]
    versions = ", ".join(f"{name} {number}" for name, number in report.versions.items())
    return "\n".join([*lines, f"- {_mark(versions)}"]) + "\n"


def comparison_dict(found: Any) -> dict[str, Any]:
    """Return findings and numbers for JSON; NaN and infinity become None."""
    plain = ("title", "headline", "n", "n_classes", "view", "level")
    head = {name: getattr(found, name) for name in plain}
    return head | {"models": list(found.models), "codes": sorted(found.codes)} | _end(found)


def as_json(report: Any) -> str:
    """Return the report as JSON in ASCII."""
    return json.dumps(report.to_dict(), indent=2, ensure_ascii=True, allow_nan=False)


def save(report: Any, path: str | Path) -> Path:
    """Write the report to a file: .html, .md or .json, whole or not at all.

    The folder must exist; a file that is there is replaced and keeps its permissions.

    Raises
    ------
    ValueError
        If the name ends otherwise, or names a folder, a device, or a folder that is not there.
    """
    kinds = {".html": report.to_html, ".md": report.to_markdown, ".json": lambda: as_json(report)}
    suffix = Path(path).suffix.lower()
    if suffix not in kinds:
        raise ValueError(
            f"{str(path)!r} must end in .html, .md or .json, to say what the report becomes."
        )
    return write_whole(path, kinds[suffix]())


def cell(value: Any) -> str:
    """Return a value as it stands in a table.

    >>> cell(0.12345), cell(float("nan")), cell(True), cell(12000), cell(2e-9), cell(-2e-9)
    ('0.1235', '–', 'yes', '12,000', '< 0.0001', '0.0000')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if math.isinf(value):
            return "infinite" if value > 0 else "-infinite"
        if 0 < value < 5e-5:
            return "< 0.0001"
        return f"{value:.4f}".replace("-0.0000", "0.0000") if math.isfinite(value) else "–"
    return f"{value:,}" if isinstance(value, int) else plain(value)


def write_whole(path: str | Path, text: str) -> Path:
    """Write a text file under a temporary name and move it: whole or not at all."""
    target = Path(path)
    if target.is_dir():
        raise ValueError(f"{target} is a folder; name a file in it, e.g. report.html.")
    if target.exists() and not target.is_file():
        raise ValueError(f"{target} is a device or a pipe, which a report would replace.")
    if not target.parent.is_dir():
        raise ValueError(f"the folder {target.parent} does not exist; make it first.")
    with whole_file(target) as file:
        file.write(text.encode("utf-8"))
    return target
