"""The study of evaluators: run it, store it beside the book, print its tables.

``python dev.py study`` runs the 1575 data sets of Kängsepp et al. (an hour or so on two cores; it
goes on where it stopped), stores the numbers in ``book/_data`` and rewrites the tables of
``book/study.md``. With ``--tables`` it only rewrites the tables from the stored numbers.
"""

import argparse
import contextlib
import csv
import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import joblib

from book.experiments.synthetic import Cell, Grid, Measures, StudyResult, run_study
from book.experiments.synthetic.page import rewrite
from tools.virtual_environment import ROOT

DATA = ROOT / "book" / "_data"
FOLDER = ROOT / "build" / "study"
SECONDS = "study_seconds.json"
# Errors are stored as whole millionths: half the size, and nothing that the tables would show.
UNIT = 1_000_000
COORDINATES = ("error", "n", "seed")
TRUTH = ("true_absolute", "true_squared")
STORED = ("map_error", "after", "absolute", "squared", "choice")


def store(result: StudyResult, folder: Path = DATA) -> None:
    """Write one CSV file per shape, and the times of the fits in one more file."""
    folder.mkdir(parents=True, exist_ok=True)
    cells = result.cells()
    evaluators = list(dict.fromkeys(cell.evaluator for cell in cells))
    for shape in dict.fromkeys(cell.shape for cell in cells):
        head = [*COORDINATES, *TRUTH, *(f"{e} {name}" for e in evaluators for name in STORED)]
        sets = dict.fromkeys(cell[:4] for cell in cells if cell.shape == shape)
        with (folder / f"study_{shape}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(head)
            for key in sets:
                writer.writerow(_line([cells[Cell(*key, e)] for e in evaluators], key))
    times = {
        name: round(sum(row.seconds for cell, row in cells.items() if cell.evaluator == name), 1)
        for name in evaluators
    }
    text = json.dumps({"total seconds of all fits": times}, indent=1) + "\n"
    (folder / SECONDS).write_text(text, encoding="utf-8")


def _line(rows: list[Measures], key: tuple[Any, ...]) -> list[str]:
    """Return the cells of one data set as text."""
    numbers = [getattr(rows[0], name) for name in TRUTH]
    for row in rows:
        numbers += [getattr(row, name) for name in STORED]
    text = [str(x if isinstance(x, int) else round(UNIT * x)) for x in numbers]
    return [f"{key[1]:g}", str(key[2]), str(key[3]), *text]


def stored(folder: Path = DATA) -> StudyResult:
    """Read what `store` wrote; the seconds of single cells were not kept and are NaN."""
    cells: dict[Cell, Measures] = {}
    for path in sorted(folder.glob("study_*.csv"), key=_rank):
        shape = path.stem.removeprefix("study_")
        with path.open(encoding="utf-8", newline="") as file:
            for line in csv.DictReader(file):
                cells |= _cells(shape, line)
    return StudyResult.of(cells)


def _rank(path: Path) -> int:
    return Grid().shapes.index(path.stem.removeprefix("study_"))


def _cells(shape: str, line: Mapping[str, str]) -> dict[Cell, Measures]:
    truth = {name: int(line[name]) / UNIT for name in TRUTH}
    key = (shape, float(line["error"]), int(line["n"]), int(line["seed"]))
    names = dict.fromkeys(head.rpartition(" ")[0] for head in line if " " in head)
    cells = {}
    for name in names:
        row = {measure: int(line[f"{name} {measure}"]) for measure in STORED}
        choice = row.pop("choice")
        values = {measure: value / UNIT for measure, value in row.items()}
        cells[Cell(*key, name)] = Measures(**values, **truth, choice=choice, seconds=float("nan"))
    return cells


@contextlib.contextmanager
def scheduler(address: str | None) -> Iterator[None]:
    """Send the work to the Dask scheduler at an address, if one is given."""
    if address is None:
        yield
        return
    from distributed import Client

    with Client(address), joblib.parallel_config(backend="dask"):
        yield


def main(arguments: list[str] | None = None) -> int:
    """Run the study, or only rewrite its tables."""
    parser = argparse.ArgumentParser(prog="dev.py study", description=__doc__)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="workers (default: all)")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where unfinished work is kept")
    parser.add_argument("--scheduler", help="address of a Dask scheduler to send the work to")
    parser.add_argument("--tables", action="store_true", help="only rewrite the tables")
    chosen = parser.parse_args(arguments)
    if not chosen.tables:
        jobs = None if chosen.scheduler else chosen.jobs
        with scheduler(chosen.scheduler):
            store(run_study(n_jobs=jobs, folder=chosen.folder))
    rewrite(stored())
    return 0


if __name__ == "__main__":
    sys.exit(main())
