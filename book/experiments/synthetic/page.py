"""The tables of `book/study.md`: our numbers beside the printed ones, with a verdict per row."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from book.experiments.pages import filled, markdown
from book.experiments.synthetic import StudyResult, StudyTable
from book.experiments.synthetic.published import PUBLISHED
from tools.virtual_environment import ROOT

PAGE = ROOT / "book" / "study.md"
# The text of the source describes the ensemble by the rule, its tables show the other one: both
# stand beside the same printed column.
PRINTED_AS = {"PL3^CE rule": "PL3^CE", "PL^CE rule": "PL^CE"}
PIECEWISE = ("PL3^CE", "PL^CE", *PRINTED_AS)
# How the evaluators are called on the page.
TITLES = {
    "ES15": "15 equal-mass bins",
    "ES_sweep": "bins by sweep",
    "ES_CV": "bins by cross-validation",
    "PL3^CE": "PL3, fold ensemble",
    "PL^CE": "PL, fold ensemble",
    "PL3^CE rule": "PL3, ensemble by the rule",
    "PL^CE rule": "PL, ensemble by the rule",
    "PL3^CE refit": "PL3, refit by the rule",
    "PL^CE refit": "PL, refit by the rule",
    "Platt": "Platt",
    "beta": "beta",
    "isotonic": "isotonic",
}


class Kind(NamedTuple):
    """How one of the source's tables is computed, printed and judged."""

    table: Callable[[StudyResult], StudyTable]
    factor: int
    digits: int
    tolerance: float
    higher_is_better: bool = False


KINDS = {
    24: Kind(StudyResult.map_error_table, 1000, 2, 0.02),
    25: Kind(StudyResult.absolute_table, 1000, 2, 0.02),
    26: Kind(StudyResult.squared_table, 1000, 2, 0.02),
    27: Kind(StudyResult.rank_table, 1, 4, 0.002, higher_is_better=True),
}


def verdict(ours: Sequence[float], printed: Sequence[float], kind: Kind, name: str) -> str:
    """Say in a few words how our row compares with the printed one."""
    gap = np.round(ours, kind.digits) - np.array(printed)
    if np.all(np.abs(gap) < 0.1 * 10.0**-kind.digits):
        return "every digit"
    if name not in PIECEWISE:
        within = np.all(np.abs(np.array(ours) - np.array(printed)) <= kind.tolerance)
        return f"within {kind.tolerance:g}" if within else f"differs by {np.abs(gap).max():.4g}"
    better = int(np.sum(gap >= 0 if kind.higher_is_better else gap <= 0))
    return f"as good or better in {better} of {len(gap)}"


def printed_table(number: int, result: StudyResult) -> str:
    """Return one of Tables 24 to 27 as Markdown: ours, and the source's in brackets."""
    kind = KINDS[number]
    table = kind.table(result)
    rows = []
    for name in table.evaluators:
        ours = kind.factor * table.column(name)
        printed = PUBLISHED[number].get(PRINTED_AS.get(name, name))
        cells = [f"{value:.{kind.digits}f}" for value in ours]
        judged = "not printed"
        if printed is not None:
            pairs = zip(cells, printed, strict=True)
            cells = [f"{cell} ({value:.{kind.digits}f})" for cell, value in pairs]
            judged = verdict(ours.tolist(), printed, kind, name)
        rows.append([TITLES.get(name, name), *cells, judged])
    return markdown(["evaluator", *table.shapes, "verdict"], rows, ["verdict"])


def plain_table(table: StudyTable, factor: float, digits: int) -> str:
    """Return a table without printed counterpart as Markdown."""
    rows = [
        [TITLES.get(name, name), *(f"{factor * x:.{digits}f}" for x in table.column(name))]
        for name in table.evaluators
    ]
    return markdown(["evaluator", *table.shapes], rows)


def sizes_table(result: StudyResult) -> str:
    """Return the mean distance of the map from the truth by number of predictions."""
    sizes = np.unique(result.n).tolist()
    tables = [result.select(n=size).map_error_table() for size in sizes]
    rows = [
        [TITLES.get(name, name), *(f"{1000 * t.column(name).mean():.2f}" for t in tables)]
        for name in tables[0].evaluators
    ]
    return markdown(["evaluator", *(f"n = {size}" for size in sizes)], rows)


def blocks(result: StudyResult) -> dict[str, str]:
    """Return the generated parts of the page, by name."""
    parts = {f"table-{number}": printed_table(number, result) for number in KINDS}
    parts["sizes"] = sizes_table(result)
    parts["after"] = plain_table(result.after_table(), 1000, 2)
    parts["choice"] = plain_table(result.choice_table(), 1, 1)
    return parts


def rewrite(result: StudyResult) -> None:
    """Bring the page up to date."""
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), blocks(result)), encoding="utf-8")
