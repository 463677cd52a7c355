"""Do PL, PL3 and isotonic regression gain from debiasing on clones? Part of the second question.

``python -m book.experiments.pseudo_real.debiased`` measures what is not stored (an hour, on one
core), size by size, and goes on where it stopped; ``python dev.py pseudo --tables`` writes the
page. By the bootstrap of `debiased_pieces`: each family has one map, fitted to all rows.
"""

import csv
import gzip
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import groupby
from typing import Final
from zlib import crc32

import numpy as np

from book.experiments.compared import Table
from book.experiments.debiased_pieces import by_redraws
from book.experiments.pages import markdown
from book.experiments.pseudo_real.clones import PseudoGrid, PseudoSet
from book.experiments.pseudo_real.columns import Column
from book.experiments.pseudo_real.result import bias, distances, error_distance
from book.experiments.pseudo_real.stored import COORDINATES, DATA, Row, Rows, packed
from book.experiments.pseudo_real.study import TITLES
from calibkit.calibrators import IsotonicCalibrator, PiecewiseLinear
from calibkit.calibrators.base import Calibrator

FILE: Final = DATA / "pseudo_real_debiased.csv.gz"
FAMILIES: Final[Mapping[str, Calibrator]] = {
    "PL^CE rule": PiecewiseLinear("probability"),
    "PL3^CE rule": PiecewiseLinear("logit"),
    "isotonic": IsotonicCalibrator(),
}
NEARLY_ZERO: Final = 0.0005
BINS: Final = ("EW15", "ES15", "ES_sweep", "ES_CV")  # are debiased as they stand
WAYS: Final = ("one map", "debiased")
HEAD: Final = (*COORDINATES, "n", "seed", "true", *(f"{f} {w}" for f in FAMILIES for w in WAYS))
# A part of the study, with room to grow: its truths belong to no family of pieces, and of its
# calibrators one leaves the least error, one some, and one the most.
GRID: Final = tuple(
    PseudoGrid(
        truths=("beta", "isotonic"),
        calibrators=("PL3", "Platt", "temperature"),
        sizes=(1_000,),
        seeds=(0,),
    )
)


def estimates(data_set: PseudoSet) -> dict[str, float]:
    """Return the true error of a data set, and what each family finds, plain and debiased."""
    sample = data_set.sample()
    rng = np.random.default_rng(crc32(data_set.key.encode()))
    found = {"true": float(np.mean(np.abs(sample.y_prob - sample.true_prob)))}
    for name, recipe in FAMILIES.items():
        values = by_redraws(recipe, sample.y_prob, sample.y_true, rng)
        found |= {f"{name} {way}": value for way, value in zip(WAYS, values, strict=True)}
    return found


def stored() -> dict[PseudoSet, dict[str, float]]:
    """Return what has been measured."""
    if not FILE.exists():
        return {}
    found: dict[PseudoSet, dict[str, float]] = {}
    with gzip.open(FILE, "rt", encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            task, truth, calibrator = (line[name] for name in COORDINATES)
            data_set = PseudoSet(task, truth, calibrator, int(line["n"]), int(line["seed"]))
            found[data_set] = {name: float(line[name]) for name in HEAD[5:]}
    return found


def measure(data_sets: Iterable[PseudoSet] = GRID) -> None:
    """Measure and store what is not stored, clone by clone."""
    known = stored()
    wanted = [data_set for data_set in data_sets if data_set not in known]
    for clone, some in groupby(wanted, lambda d: (d.n, d.task, d.truth)):
        print(*clone, flush=True)
        known |= {data_set: estimates(data_set) for data_set in some}
        partial = FILE.with_suffix(".partial")
        with packed(partial) as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(HEAD)
            for d, found in known.items():
                where = [d.task, d.truth, d.calibrator, d.n, d.seed]
                writer.writerow([*where, *(f"{found[name]:.6f}" for name in HEAD[5:])])
        os.replace(partial, FILE)


def tables(of: Callable[[Row], float]) -> Table:
    """Return a number of each estimate of the grid, behind its calibrators."""
    known, nothing = stored(), float("nan")
    rows: Rows = {
        data_set: {
            f"{name} {way}": Row(
                nothing, nothing, found[f"{name} {way}"], nothing, found["true"], nothing
            )
            for name in FAMILIES
            for way in WAYS
        }
        for data_set in GRID
        if (found := known[data_set])
    }
    return distances(rows, of).averaged(seed="all")


def column(rows: Rows) -> Column:
    """Return distances of debiased errors; of bins those that are stored, on the same data."""
    mine = tables(error_distance)
    bins = distances({d: {n: rows[d][n] for n in BINS} for d in GRID}, error_distance)
    values = [mine.column(f"{name} {WAYS[1]}") for name in FAMILIES]
    together = np.column_stack([bins.averaged(seed="all").values, *values])
    names = (*BINS, *FAMILIES)
    return Column("debiased, on a part", replace(mine, names=names, values=together))


def gains(rows: Rows) -> str:
    """Return the table of what debiasing does to each family, on the same data.

    Beside them, from the study, what the mean of the folds' maps says.
    """
    off, over, lines = tables(error_distance), tables(bias), []
    folds = distances({d: {n: rows[d][n] for n in FAMILIES} for d in GRID}, error_distance)
    for name in FAMILIES:
        plain, taken = (f"{name} {way}" for way in WAYS)
        gap, error = off.gap(taken, plain)
        lines.append(
            [
                TITLES[name],
                *(f"{1000 * over.mean(one):+.2f}" for one in (plain, taken)),
                *(f"{1000 * off.mean(one):.2f}" for one in (plain, taken)),
                f"{1000 * gap:+.2f} ± {1000 * error:.2f}",
                f"{1000 * folds.mean(name):.2f}" if name.startswith("PL") else "–",
            ]
        )
    heads = ["bias, one map", "bias, debiased", "distance, one map", "distance, debiased"]
    return markdown(["evaluator", *heads, "difference", "distance, maps of folds"], lines)


def zeros() -> str:
    """Say how often PL finds nearly nothing, before and after."""
    counts = [
        sum(stored()[data_set][f"PL^CE rule {way}"] < NEARLY_ZERO for data_set in GRID)
        for way in WAYS
    ]
    return (
        f"Of these {len(GRID)} data sets PL finds an error below {NEARLY_ZERO:g} in {counts[0]}, "
        f"and once debiased in {counts[1]}."
    )


if __name__ == "__main__":
    measure()
