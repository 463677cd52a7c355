"""The tables of `book/tce_tables.md`: our values beside those that Matsubara et al. prints.

``python -m book.experiments.tce`` computes the simulations (half a minute) and rewrites the page.
With ``--real predictions.npz`` it first measures predictions that `real` has written, with
``--imagenet`` the authors' files; both are stored in ``book/_data``.
"""

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit, logit

from book.experiments.pages import filled, markdown
from book.experiments.tce import imagenet, printed
from book.experiments.tce.measures import (
    COLUMNS,
    CRITERION_BINS,
    AsGiven,
    ByIndex,
    Labelled,
    criterion,
    percent,
    seven,
    sized,
)
from book.experiments.tce.power import power_table
from book.experiments.tce.t_test import percent_by_t
from calibkit_course.lesson09.gaussian import GaussianDiscriminant
from tools.virtual_environment import ROOT

PAGE = ROOT / "book" / "tce_tables.md"
STORED = printed.DATA / "tce_real.json"
IMAGENET = printed.DATA / "tce_imagenet.json"
SOURCE_VERSION, LATER_VERSION = "1.2.2", "1.9.1"
USED_AT = (0.5, 0.4)
ROWS = 6000

Found = dict[str, list[float]]


@cache
def simulated(
    made_for: float, used_at: float, n_test: int = ROWS, *, afresh: bool = False
) -> Labelled:
    """Return labels and predictions of one simulation, with coefficients copied or fitted."""
    n_train = 7 * n_test // 3
    fitted = printed.afresh if afresh else printed.copied
    slope, intercept = fitted(made_for, n_train)
    model = GaussianDiscriminant(made_for, deployed=used_at)
    data = model.source_data(n_train=n_train, n_test=n_test)
    return data[3], expit(intercept + slope * data[2])


def noisy(used_at: float) -> list[Labelled]:
    """Return the predictions with noise on their logits; the generator goes on after the data."""
    label, prob = simulated(0.5, used_at)
    generator = np.random.RandomState(0)
    for share, n in ((0.5, 14_000), (used_at, ROWS)):
        generator.binomial(1, share, n)
    generator.normal(size=20_000)
    levels = [float(level) for level in printed.table(9)["50"]]
    noise = [generator.normal(size=ROWS) for _ in levels]
    return [(label, expit(logit(prob) + size * e)) for size, e in zip(levels, noise, strict=True)]


def head_of(row: tuple[float, ...]) -> str:
    """Return how a row of Table 2 is called."""
    return f"{100 * row[0]:g} % → {100 * row[1]:g} %"


def table_2() -> Found:
    """Return TCE, TCE(Q), ECE and ACE of each row of Table 2."""
    found: Found = {}
    for row in printed.TABLE_2:
        tce, tce_q, _, ece, ace, _, _ = seven(simulated(row[0], row[1]))
        found[head_of(row)] = [tce, tce_q, ece, ace]
    return found


def table_6(used_at: float) -> Found:
    """Return Table 6: a smallest size only."""
    found: Found = {}
    for name, n_bins in zip(printed.table(6)["50"], printed.N_BINS, strict=True):
        low = printed.FIRST_SMALLEST if name == "1" else int(name)
        found[name] = seven(simulated(0.5, used_at), sized(low, ROWS), n_bins)
    return found


def table_7(used_at: float) -> Found:
    """Return Table 7: a largest size only."""
    names = printed.table(7)["50"]
    return {
        name: seven(simulated(0.5, used_at), sized(0, int(name)), n_bins)
        for name, n_bins in zip(names, printed.N_BINS, strict=True)
    }


def table_8(used_at: float) -> Found:
    """Return Table 8: both sizes; the labels are numbers of bins."""
    names = printed.table(8)["50"]
    return {
        name: seven(simulated(0.5, used_at), sized(low, high), n_bins)
        for name, (low, high), n_bins in zip(names, printed.PAIRS, printed.PAIR_BINS, strict=True)
    }


def table_9(used_at: float) -> Found:
    """Return Table 9: noise on the logits."""
    return dict(zip(printed.table(9)["50"], map(seven, noisy(used_at)), strict=True))


def table_10(used_at: float) -> Found:
    """Return Table 10: levels of the test."""
    data = simulated(0.5, used_at)
    return {name: seven(data, alpha=float(name)) for name in printed.table(10)["50"]}


def table_12(used_at: float) -> Found:
    """Return Table 12: more and more rows."""
    return {name: seven(simulated(0.5, used_at, int(name))) for name in printed.table(12)["50"]}


def table_13() -> Found:
    """Return Table 13: other prevalences, as they were in training or shifted."""
    found: Found = {}
    for name in printed.table(13):
        made_for, used_at = (int(part) / 100 for part in name.split(" to "))
        found[name] = seven(simulated(made_for, used_at))
    return found


# Where all seven numbers are printed for a model used at 50 % and at 40 %.
BY_PREVALENCE = {
    6: (table_6, "smallest bin"),
    7: (table_7, "largest bin"),
    8: (table_8, "numbers of bins"),
    9: (table_9, "noise"),
    10: (table_10, "level"),
    12: (table_12, "test rows"),
}


def cell(ours: float, theirs: float) -> str:
    """Return our number, and the printed one in brackets where it is another."""
    return f"{ours:.4f}" if ours == theirs else f"{ours:.4f} ({theirs:.4f})"


def lines(ours: Found, theirs: Mapping[str, Sequence[float]], before: str = "") -> list[list[str]]:
    """Return the rows of a table."""
    return [
        [before + name, *(cell(x, y) for x, y in zip(values, theirs[name], strict=True))]
        for name, values in ours.items()
    ]


def by_prevalence(number: int) -> str:
    """Return a table whose model is used at 50 % and at 40 %."""
    table, head = BY_PREVALENCE[number]
    rows = []
    for share in USED_AT:
        name = f"{100 * share:g}"
        rows += lines(table(share), printed.table(number)[name], f"used at {name} %: ")
    return markdown([head, *COLUMNS], rows)


def t_tests() -> str:
    """Return Table 11, with the t-test as it should be in columns of its own."""
    rows = []
    for share in USED_AT:
        data = simulated(0.5, share)
        theirs = printed.table(11)[f"{100 * share:g}"]
        for (name, row), pair, n_bins in zip(
            theirs.items(), printed.PAIRS, printed.PAIR_BINS, strict=True
        ):
            binnings = sized(*pair), ByIndex(n_bins=n_bins), AsGiven()
            cells = []
            for binning, both in zip(binnings, (row[:2], row[2:4], row[4:]), strict=True):
                tests = percent, partial(percent_by_t, published=True), percent_by_t
                ours = [round(test(data, binning), 4) for test in tests]
                cells += [*map(cell, ours, both), f"{ours[2]:.4f}"]
            rows.append([f"used at {100 * share:g} %: {name}", *cells])
    heads = [f"{kind}{test}" for kind in COLUMNS[:3] for test in ("-B", "-T", ", t with root")]
    return markdown(["numbers of bins", *heads], rows)


def fitted_afresh() -> str:
    """Return TCE with copied coefficients, beside TCE of the same model at its optimum."""
    rows = []
    cases = [(0.5, n) for n in map(int, printed.table(12)["50"])]
    cases += [(share / 100, ROWS) for share in (40, 30, 20, 10, 8, 6, 4, 2)]
    for made_for, n in cases:
        n_train = 7 * n // 3
        pairs = printed.copied(made_for, n_train), printed.afresh(made_for, n_train)
        both = [percent(simulated(made_for, made_for, n, afresh=new)) for new in (False, True)]
        slopes = [f"{slope:.6f}" for slope, _ in pairs]
        shown = [f"{value:.4f}" for value in both]
        rows.append([f"{100 * made_for:g} %, {n:,} test rows", *slopes, *shown])
    heads = ["slope, copied", "slope, optimum", "TCE, copied", "TCE, optimum"]
    return markdown(["made for and used at", *heads], rows)


def stored(path: Path = STORED) -> dict[str, Any]:
    """Return stored results."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def table_1() -> str:
    """Return Table 1 from the stored result: errors of three kinds of bins."""
    ours = stored()[SOURCE_VERSION]["satimage, RF: Table 1"]
    rows = [
        [name, *(f"{x:.4f} ({y:.3f})" for x, y in zip(ours[place], theirs, strict=True))]
        for place, (name, theirs) in enumerate(
            zip(("total error", "mean error within bins"), printed.table(1).values(), strict=True)
        )
    ]
    return markdown(["satimage, random forest", *CRITERION_BINS], rows)


def real_table() -> str:
    """Return rows of Tables 3 and 14, with TCE of a later library beside them."""
    found, rows = stored(), []
    for name, theirs in printed.real_rows().items():
        cells = [cell(x, y) for x, y in zip(found[SOURCE_VERSION][name], theirs, strict=True)]
        rows.append([name, *cells, f"{found[LATER_VERSION][name][0]:.4f}"])
    heads = [name for name in COLUMNS if name != "TCE(V)"]
    return markdown(["data, method", *heads, f"TCE, scikit-learn {LATER_VERSION}"], rows)


def table_5() -> str:
    """Return Table 5; TCE(Q) is not in the source."""
    ours, rows = stored(IMAGENET), []
    for name, theirs in printed.table(5).items():
        tce, tce_q, *errors = ours[name]
        shown = [f"{tce:.3f} ({theirs[0]:.2f})", f"{tce_q:.3f}"]
        rows.append([name, *shown, *map(cell, errors, theirs[1:])])
    seconds = ["71.78", "–", "0.4873", "0.4221", "0.0046", "0.0063"]
    rows.append(["seconds, in the source", *seconds])
    heads = ["TCE, ours (printed)", *(name for name in COLUMNS[1:] if name != "TCE(V)")]
    return markdown(["network", *heads], rows)


def table_2_beside() -> str:
    """Return Table 2 beside the printed one."""
    theirs = {head_of(row): row[2:] for row in printed.TABLE_2}
    heads = ["made for → used at", "TCE", "TCE(Q)", "ECE", "ACE"]
    return markdown(heads, lines(table_2(), theirs))


def table_13_beside() -> str:
    """Return Table 13 beside the printed one."""
    heads = ["made for to used at, in per cent", *COLUMNS]
    return markdown(heads, lines(table_13(), printed.table(13)))


BLOCKS: dict[str, Callable[[], str]] = {
    "table-1": table_1,
    "table-2": table_2_beside,
    **{f"table-{number}": partial(by_prevalence, number) for number in BY_PREVALENCE},
    "table-13": table_13_beside,
    "power": power_table,
    "tests": t_tests,
    "afresh": fitted_afresh,
    "real": real_table,
    "table-5": table_5,
}


def rewritten(text: str) -> str:
    """Return the text of the page with its generated parts brought up to date."""
    return filled(text, {name: build() for name, build in BLOCKS.items()})


def measured(data: Labelled) -> list[float]:
    """Return the six numbers of Tables 3 and 14."""
    found = seven(data)
    return found[:2] + found[3:]


def store_real(path: Path) -> None:
    """Measure predictions that `real` has written, and store the numbers by library version."""
    found = stored() if STORED.exists() else {}
    with np.load(path) as given:
        version = str(given["scikit-learn"])
        rows: dict[str, Any] = {
            name: measured((given[name][0].astype(np.int64), given[name][1]))
            for name in printed.real_rows()
        }
        label, prob = given["satimage, RF"]
        both = [criterion((label.astype(np.int64), prob), one) for one in CRITERION_BINS.values()]
    rows["satimage, RF: Table 1"] = [[round(pair[place], 4) for pair in both] for place in (0, 1)]
    found[version] = rows
    STORED.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def main(arguments: list[str] | None = None) -> None:
    """Bring the page up to date."""
    parser = argparse.ArgumentParser(description="Rewrite the tables of book/tce_tables.md.")
    parser.add_argument("--real", type=Path, help="measure the predictions in this file first")
    parser.add_argument("--imagenet", action="store_true", help="measure the authors' files first")
    options = parser.parse_args(arguments)
    if options.real:
        store_real(options.real)
    if options.imagenet:
        rows = {name: measured(data) for name, data in imagenet.predictions().items()}
        IMAGENET.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(rewritten(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
