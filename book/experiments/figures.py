"""Figures, read again: what chance makes of published diagrams and tables, from their bins alone.

``python -m book.experiments.figures`` computes the table of the page `book/published.md` (seconds;
``python -m book.experiments.published`` writes the page). ``book/_data/figures.csv`` has a row for
each bin, as printed (events expected and observed over the size of the group) or, for the figures
of a repository, from its files with the bins of its code.
"""

import csv
from pathlib import Path

import numpy as np

import calibkit as ck
from book.experiments import pages

DATA = Path(__file__).parents[1] / "_data" / "figures.csv"
HEAD = ("figure", "n", "bins", "outside the band", "ECE", "of a perfect model", "95 % below", "p")


def figures() -> dict[str, ck.BinTable]:
    """Return the bins of each figure."""
    bins: dict[str, list[tuple[int, float, float]]] = {}
    with DATA.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            numbers = int(row["count"]), float(row["mean"]), float(row["frequency"])
            bins.setdefault(row["figure"], []).append(numbers)
    return {name: ck.BinTable.from_bins(*zip(*rows, strict=True)) for name, rows in bins.items()}


def outside(table: ck.BinTable) -> int:
    """Return how many bins lie outside the band that holds 90 of 100 of a perfect model."""
    band = ck.consistency_band(*table.rows(), bins=table.binning, level=0.9, rng=0)
    return int(np.sum((table.frequency < band.lower) | (table.frequency > band.upper)))


def block() -> str:
    """Return the table of the page."""
    lines = []
    for name, table in figures().items():
        ece, rows = ck.expected_calibration_error, table.rows()
        null = ck.null_level(ece, *rows, bins=table.binning, rng=0)
        p = "≤ 0.001" if null.p_value < 0.0015 else f"{null.p_value:.2f}"
        levels = [f"{level:.3f}" for level in (null.value, null.mean, null.high)]
        lines.append([name, f"{table.n:,}", str(len(table.count)), str(outside(table)), *levels, p])
    return pages.markdown(HEAD, lines)


if __name__ == "__main__":
    print(block())
