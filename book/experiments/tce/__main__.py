"""The tables of `book/tce_tables.md`: our values beside those that Matsubara et al. prints.

``python -m book.experiments.tce`` computes the simulations (some seconds) and rewrites the page.
With ``--real`` it first fits the models on those real data sets whose packages are installed (a
minute), and stores the results in ``book/_data/tce_real.json``.
"""

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from book.experiments.pages import filled, markdown
from book.experiments.tce import printed, real
from calibkit import bins, significance
from calibkit.fakes import GaussianDiscriminant
from tools.virtual_environment import ROOT

PAGE = ROOT / "book" / "tce_tables.md"
STORED = ROOT / "book" / "_data" / "tce_real.json"
USED_AT = (0.5, 0.4)

Labelled = tuple[NDArray[np.int64], NDArray[np.float64]]


@cache
def simulated(made_for: float, used_at: float) -> Labelled:
    """Return labels and predictions of one simulation."""
    slope, intercept = printed.FITTED[made_for]
    data = GaussianDiscriminant(made_for, deployed=used_at).source_data()
    return data[3], expit(intercept + slope * data[2])


def percent(data: Labelled, binning: bins.Binning | None = None, **options: Any) -> float:
    """Return a test-based error in per cent; by default with PAVA-BC bins."""
    error = significance.test_based_calibration_error(*data, bins=binning, null_draws=0, **options)
    return 100 * error.value


def sized(smallest: int, largest: int) -> bins.PavaBC:
    """Return bins that treat the last rows as the source's code does."""
    return bins.PavaBC(smallest, largest, tail="reference", ties="as-given")


def noisy(used_at: float) -> list[Labelled]:
    """Return the predictions with noise on their logits; the generator goes on after the data."""
    label, prob = simulated(0.5, used_at)
    generator = np.random.RandomState(0)
    for share, n in ((0.5, 14_000), (used_at, 6_000)):
        generator.binomial(1, share, n)
    generator.normal(size=20_000)
    noise = [generator.normal(size=6_000) for _ in printed.NOISE]
    return [
        (label, expit(logit(prob) + size * e)) for size, e in zip(printed.NOISE, noise, strict=True)
    ]


def table_2() -> str:
    """Return Table 2."""
    rows = []
    for row in printed.TABLE_2:
        data = simulated(row.made_for, row.used_at)
        found = [percent(data), percent(data, bins.EqualMass(10))]
        for binning in (10, bins.EqualMass(10)):
            found.append(float(significance.general_calibration_error(*data, bins=binning)))
        head = f"{100 * row.made_for:g} % → {100 * row.used_at:g} %"
        rows.append([head, *beside(found, row[2:])])
    return markdown(["made for → used at", "TCE", "TCE(Q)", "ECE", "ACE"], rows)


def by_setting(
    head: str,
    settings: Iterable[object],
    rows: Mapping[str, tuple[Sequence[float], Sequence[float]]],
) -> str:
    """Return a table with one row per setting."""
    columns = [beside(ours, theirs) for ours, theirs in rows.values()]
    lines = [[str(name), *cells] for name, *cells in zip(settings, *columns, strict=True)]
    return markdown([head, *rows], lines)


def table_6() -> str:
    """Return Table 6: a smallest size only."""
    rows = {
        used(share): (
            [percent(simulated(0.5, share), sized(low, 6000)) for low in printed.SMALLEST],
            printed.TABLE_6[share],
        )
        for share in USED_AT
    }
    return by_setting("smallest bin", printed.SMALLEST, rows)


def table_7() -> str:
    """Return Table 7: a largest size only."""
    rows = {
        used(share): (
            [percent(simulated(0.5, share), sized(0, high)) for high in printed.LARGEST],
            printed.TABLE_7[share],
        )
        for share in USED_AT
    }
    return by_setting("largest bin", printed.LARGEST, rows)


def tables_8_and_11() -> str:
    """Return Tables 8 and 11, with the t-test as it should be in a row of its own."""
    rows = []
    for share in USED_AT:
        for words, test, theirs in (
            ("binomial", "binomial", printed.TABLE_8[share]),
            ("t-test as published", "t-as-published", printed.TABLE_11[share]),
            ("t-test with its root", "t", None),
        ):
            data = simulated(0.5, share)
            ours = [percent(data, sized(low, 4 * low), test=test) for low in printed.BOTH]
            cells = beside(ours, theirs) if theirs else [f"{value:.4f}" for value in ours]
            rows.append([f"{used(share)}, {words}", *cells])
    return markdown(["sizes of bins", *(f"{low} to {4 * low}" for low in printed.BOTH)], rows)


def table_9() -> str:
    """Return Table 9: noise on the logits."""
    rows = {
        used(share): ([percent(data) for data in noisy(share)], printed.TABLE_9[share])
        for share in USED_AT
    }
    return by_setting("standard deviation of the noise", printed.NOISE, rows)


def table_10() -> str:
    """Return Table 10: levels of the test."""
    rows = {
        used(share): (
            [percent(simulated(0.5, share), alpha=level) for level in printed.LEVELS],
            printed.TABLE_10[share],
        )
        for share in USED_AT
    }
    return by_setting("level of the test", printed.LEVELS, rows)


def refitted(row: printed.Refitted, model: GaussianDiscriminant, n: int) -> float:
    """Return the error of a model with coefficients of its own, on `n` test rows."""
    data = model.source_data(n_train=7 * n // 3, n_test=n)
    return percent((data[3], expit(row.intercept + row.slope * data[2])))


def table_12() -> str:
    """Return Table 12: a calibrated model on more and more rows."""
    rows = printed.TABLE_12
    ours = [refitted(row, GaussianDiscriminant(0.5), n) for n, row in rows.items()]
    named = {"TCE": (ours, [row.tce for row in rows.values()])}
    return by_setting("test rows", [f"{n:,}" for n in rows], named)


def table_13() -> str:
    """Return Table 13: calibrated models for other prevalences."""
    rows = printed.TABLE_13
    ours = [refitted(row, GaussianDiscriminant(share), 6000) for share, row in rows.items()]
    named = {"TCE": (ours, [row.tce for row in rows.values()])}
    return by_setting("prevalence", rows, named)


def real_table() -> str:
    """Return cells of Tables 3 and 14 from the stored results."""
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    rows = [
        [f"{data}, {method}", *beside(stored[f"{data}, {method}"], theirs)]
        for (data, method), theirs in printed.TABLES_3_AND_14.items()
    ]
    return markdown(["data, method", "TCE", "TCE(Q)", "ECE", "ACE"], rows)


def used(share: float) -> str:
    """Return how a row is called."""
    return f"used at {100 * share:g} %"


def beside(ours: Sequence[float], theirs: Sequence[float]) -> list[str]:
    """Return cells that hold our number and, in brackets, the printed one."""
    return [f"{x:.4f} ({y:.4f})" for x, y in zip(ours, theirs, strict=True)]


BLOCKS = {
    "table-2": table_2,
    "table-6": table_6,
    "table-7": table_7,
    "tests": tables_8_and_11,
    "table-9": table_9,
    "table-10": table_10,
    "table-12": table_12,
    "table-13": table_13,
    "real": real_table,
}


def rewritten(text: str) -> str:
    """Return the text of the page with its generated parts brought up to date."""
    return filled(text, {name: build() for name, build in BLOCKS.items()})


def store_real() -> None:
    """Fit the models whose data are installed and store what they give."""
    found = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}
    for data, method in printed.TABLES_3_AND_14:
        if lacking := real.missing(data):
            print(f"{data}: not computed, {lacking} is not installed")
            continue
        found[f"{data}, {method}"] = real.measured(*real.predictions(data, method))
        print(f"{data}, {method}: {found[f'{data}, {method}']}")
    STORED.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Bring the page up to date."""
    parser = argparse.ArgumentParser(description="Rewrite the tables of book/tce_tables.md.")
    parser.add_argument("--real", action="store_true", help="fit the models on real data first")
    if parser.parse_args().real:
        store_real()
    PAGE.write_text(rewritten(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
