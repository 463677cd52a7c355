"""The tables of `book/study.md`: our numbers beside the printed ones, with a verdict per row."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from book.experiments.compared import Table, at
from book.experiments.pages import filled, markdown
from book.experiments.synthetic import Grid, StudyResult, StudyTable, gallery
from book.experiments.synthetic.claims import claims
from book.experiments.synthetic.published import PUBLISHED
from calibkit.results import spell
from tools.virtual_environment import ROOT

PAGE = ROOT / "book" / "study.md"
# The tables of the source show ensembles of ten maps at the best score, its text describes one by
# the rule: all our forms stand beside the same printed column.
PRINTED_AS = {
    f"{space}^CE{form}": f"{space}^CE" for form in ("", " 10", " rule") for space in ("PL3", "PL")
}
PIECEWISE = (*PRINTED_AS, "PL3^MSE", "PL^MSE", "PL_DE")
# What is compared on the same draws: the last one may not have measured all.
BRIER = ("ES15", "PL3^CE", "PL^CE", "PL3^CE 10", "PL^CE 10", "PL3^MSE", "PL^MSE")
EVOLVED_BESIDE = ("ES15", "PL^CE", "PL^CE 10", "PL^CE refit", "PL_DE")
# How the evaluators are called on the page.
TITLES = {
    "ES15": "15 equal-mass bins",
    "ES_sweep": "bins by sweep",
    "ES_CV": "bins by cross-validation",
    "EW15": "15 equal-width bins",
    "EW_CV": "equal-width bins by cross-validation",
    "ES_CV best": "bins by cross-validation, best score",
    "PL3^CE": "PL3, fold ensemble",
    "PL^CE": "PL, fold ensemble",
    "PL3^CE 10": "PL3, ten maps",
    "PL^CE 10": "PL, ten maps",
    "PL3^CE rule": "PL3, ensemble by the rule",
    "PL^CE rule": "PL, ensemble by the rule",
    "PL3^CE refit": "PL3, refit by the rule",
    "PL^CE refit": "PL, refit by the rule",
    "PL3^MSE": "PL3, Brier score",
    "PL^MSE": "PL, Brier score",
    "PL_DE": "PL by differential evolution",
    "Platt": "Platt",
    "beta": "beta",
    "isotonic": "isotonic",
    "KCE": "kernel calibration error",
}


class Kind(NamedTuple):
    """How one of the source's tables is computed, printed and judged."""

    table: Callable[[StudyResult], StudyTable]
    factor: int
    digits: int
    tolerance: float


KINDS = {
    24: Kind(StudyResult.map_error_table, 1000, 2, 0.02),
    25: Kind(StudyResult.absolute_table, 1000, 2, 0.02),
    26: Kind(StudyResult.squared_table, 1000, 2, 0.02),
    27: Kind(StudyResult.rank_table, 1, 4, 0.002),
}


def verdict(ours: Sequence[float], printed: Sequence[float], kind: Kind, name: str) -> str:
    """Say in a few words how our row compares with the printed one."""
    gap = np.round(ours, kind.digits) - np.array(printed)
    if np.all(np.abs(gap) < 0.1 * 10.0**-kind.digits):
        return "every digit"
    if name not in PIECEWISE:
        within = np.all(np.abs(np.array(ours) - np.array(printed)) <= kind.tolerance)
        return f"within {kind.tolerance:g}" if within else f"differs by {np.abs(gap).max():.4g}"
    better = int(np.sum(gap >= 0 if kind is KINDS[27] else gap <= 0))
    return f"as good or better in {better} of {len(gap)}"


def _mean(part: Table, name: str, kind: Kind, *, bold: bool = True) -> str:
    """Return mean and standard error of an evaluator; bold is what nobody clearly beats."""
    if name not in part.names:
        return "–"
    text = f"{kind.factor * part.mean(name):.{kind.digits}f}"
    text = f"**{text}**" if bold and name in part.leaders() else text
    return f"{text} ± {kind.factor * part.standard_error(name):.{kind.digits}f}"


def printed_table(number: int, result: StudyResult) -> str:
    """Return one of Tables 24 to 27 as Markdown: ours, and the source's in brackets.

    Few strengths are ranked rightly by anyone, so Table 27 shows only who measured all.
    """
    kind = KINDS[number]
    whole = kind.table(result)
    parts = {shape: whole.of(shape) for shape in whole.shapes}
    rows = []
    for name in (name for name in TITLES if name in whole.draws.names):
        if name in whole.evaluators:
            row = [_mean(part, name, kind) for part in parts.values()]
            judged = _verdict(whole, name, number)
        elif number != 27 and name in (few := kind.table(result.only(name))).evaluators:
            row = [_mean(few.of(shape), name, kind, bold=False) for shape in few.shapes]
            judged = f"{len(result.strengths_of(name))} of {len(Grid().errors)} strengths"
        else:
            continue
        rows.append([TITLES[name], *_beside(row, name, number), judged])
    return markdown(["evaluator", *whole.shapes, "verdict"], rows, ["verdict"])


def _printed(name: str, number: int) -> tuple[float, ...] | None:
    return PUBLISHED[number].get(PRINTED_AS.get(name, name))


def _beside(row: list[str], name: str, number: int) -> list[str]:
    """Add what the source prints to the cells of a row."""
    printed, digits = _printed(name, number), KINDS[number].digits
    if printed is None:
        return row
    return [f"{cell} ({value:.{digits}f})" for cell, value in zip(row, printed, strict=True)]


def _verdict(table: StudyTable, name: str, number: int) -> str:
    kind, printed = KINDS[number], _printed(name, number)
    if printed is None:
        return "not printed"
    return verdict((kind.factor * table.column(name)).tolist(), printed, kind, name)


def paired_table(result: StudyResult, names: Sequence[str]) -> str:
    """Return three questions on the data that the last evaluator has, over the five shapes."""
    part = result.only(names[-1])
    kinds = [KINDS[number] for number in (24, 25, 26)]
    tables = [kind.table(part).pooled().only(names) for kind in kinds]
    rows = [
        [TITLES[name], *(_mean(t, name, k) for t, k in zip(tables, kinds, strict=True))]
        for name in names
    ]
    return markdown(["evaluator", "map", "error", "squared error"], rows)


def plain_table(table: StudyTable, factor: float, digits: int) -> str:
    """Return a table without printed counterpart as Markdown."""
    rows = [
        [TITLES[name], *(f"{factor * x:.{digits}f}" for x in table.column(name))]
        for name in TITLES
        if name in table.evaluators
    ]
    return markdown(["evaluator", *table.shapes], rows)


def sizes_table(result: StudyResult) -> str:
    """Return distances of map and error by number of predictions, over the five shapes."""
    sizes = np.unique(result.n).tolist()
    tables = [KINDS[number].table(result).pooled() for number in (24, 25)]
    parts = [table.where(at(size)) for table in tables for size in sizes]
    rows = [
        [TITLES[name], *(_mean(part, name, KINDS[24]) for part in parts)]
        for name in TITLES
        if name in tables[0].names
    ]
    head = [f"{what}, n = {size}" for what in ("map", "error") for size in sizes]
    return markdown(["evaluator", *head], rows)


def spread_table(result: StudyResult) -> str:
    """Return the standard deviations from draw to draw, as means over the five shapes."""
    tables = [KINDS[number].table(result) for number in (24, 25)]
    rows = []
    for name in (name for name in TITLES if name in tables[0].evaluators):
        spreads = [np.mean([t.of(shape).spread(name) for shape in t.shapes]) for t in tables]
        rows.append([TITLES[name], *(f"{1000 * spread:.2f}" for spread in spreads)])
    return markdown(["evaluator", "map", "error"], rows)


def computed(result: StudyResult) -> str:
    """Say what the stored numbers are made of."""
    most = len(Grid().errors)
    few = {name: n for name in TITLES if (n := len(result.strengths_of(name))) < most}
    words = (
        f"Stored are {result.n_cells} cells: {spell(len(TITLES) - len(few), 'evaluator')} on all "
    )
    words += f"{len(Grid())} data sets"
    for name, n in few.items():
        words += f"; {TITLES[name]} on {len(Grid()) * n // most}, {n} of the {most} strengths"
    return words + "."


def blocks(result: StudyResult) -> dict[str, str]:
    """Return the generated parts of the page, by name."""
    parts = {f"table-{number}": printed_table(number, result) for number in KINDS}
    return parts | {
        "computed": computed(result),
        "sizes": sizes_table(result),
        "spread": spread_table(result),
        "brier": paired_table(result, BRIER),
        "evolved": paired_table(result, EVOLVED_BESIDE),
        "claims": claims(result),
        "after": plain_table(result.after_table(), 1000, 2),
        "choice": plain_table(result.choice_table(), 1, 1),
        **gallery.directives(),
    }


def rewrite(result: StudyResult) -> None:
    """Draw the figures and bring the page up to date."""
    gallery.draw_all()
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), blocks(result)), encoding="utf-8")
