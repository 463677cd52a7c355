"""The study of evaluators: run it, store it beside the book, print its tables.

``python dev.py study`` runs the 1575 data sets of Kängsepp et al., 75 of each strength, adds the
numbers of every whole strength to ``book/_data`` and rewrites the tables of ``book/study.md``. It
goes on where it stopped, and measures only what is not stored; with ``--afresh``, everything.
``--strengths 3`` measures none, middle and full strength only, ``--only PL^MSE PL3^MSE`` these
evaluators only. With ``--tables`` it only rewrites the tables from the stored numbers.
``--jobs`` is the number of workers, ``--scheduler`` the address of a Dask scheduler; ``--data`` and
``--folder`` name other places for what is stored, and for what is unfinished.
"""

import argparse
import contextlib
import csv
import json
import math
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from book.experiments.synthetic import (
    EVOLVED,
    Cell,
    Derived,
    Direct,
    Grid,
    Measures,
    StudyResult,
    default_evaluators,
    run_study,
)
from book.experiments.synthetic.page import rewrite
from calibkit.calibrators.base import Calibrator
from tools.virtual_environment import ROOT

DATA = ROOT / "book" / "_data"
FOLDER = ROOT / "build" / "study"
SECONDS, TIMES = "study_seconds.json", "mean processor seconds of a fit"
# Errors are stored as whole millionths: half the size, and nothing that the tables would show.
UNIT = 1_000_000
COORDINATES = ("error", "n", "seed")
NAN = float("nan")
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
                writer.writerow(_line([cells.get(Cell(*key, e)) for e in evaluators], key))
    text = json.dumps({TIMES: _times(result, folder / SECONDS)}, indent=1) + "\n"
    (folder / SECONDS).write_text(text, encoding="utf-8")


def _times(result: StudyResult, path: Path) -> dict[str, float]:
    """Return the mean time of a fit; an earlier one where this result has only stored numbers."""
    times: dict[str, float] = json.loads(path.read_text("utf-8"))[TIMES] if path.exists() else {}
    for name in dict.fromkeys(result.evaluator.tolist()):
        seconds = result.seconds[result.evaluator == name]
        if np.isfinite(seconds).any():
            times[name] = round(float(np.nanmean(seconds)), 4)
    return times


def _line(rows: list[Measures | None], key: tuple[Any, ...]) -> list[str]:
    """Return the cells of one data set as text; nothing where nothing was measured."""
    whole = next(row for row in rows if row is not None)
    numbers = [getattr(whole, name) for name in TRUTH]
    for row in rows:
        numbers += [math.nan if row is None else getattr(row, name) for name in STORED]
    return [f"{key[1]:g}", str(key[2]), str(key[3]), *map(_text, numbers)]


def _text(number: float) -> str:
    if isinstance(number, int):
        return str(number)
    return "" if math.isnan(number) else str(round(UNIT * number))


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
        row = {measure: line[f"{name} {measure}"] for measure in STORED}
        if choice := row.pop("choice"):
            values = {measure: int(text) / UNIT if text else NAN for measure, text in row.items()}
            cells[Cell(*key, name)] = Measures(**values, **truth, choice=int(choice), seconds=NAN)
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


def run(chosen: argparse.Namespace) -> None:
    """Measure strength by strength what is not stored, and add it to what is."""
    none = chosen.afresh or not any(chosen.data.glob("study_*.csv"))
    old = None if none else stored(chosen.data)
    jobs = None if chosen.scheduler else chosen.jobs
    for number, error in enumerate(in_order(Grid().errors)[: chosen.strengths], 1):
        evaluators = lacking(old, error, chosen.only)
        print(
            f"strength {number} of {chosen.strengths}: true error {error:g}, "
            f"{len(evaluators)} evaluators to measure",
            flush=True,
        )
        if evaluators:
            part = run_study(Grid(errors=(error,)), evaluators, n_jobs=jobs, folder=chosen.folder)
            add(part, chosen.data)


def lacking(
    old: StudyResult | None, error: float, only: Sequence[str] = ()
) -> dict[str, Calibrator | Derived | Direct]:
    """Return the evaluators that are not stored at a strength, and those they are derived from."""
    every = {**default_evaluators(), **EVOLVED}
    wanted = set(only or every)
    absent = {name for name in wanted if old is None or error not in old.strengths_of(name)}
    sources = {e.source for name, e in every.items() if name in absent and isinstance(e, Derived)}
    return {name: e for name, e in every.items() if name in absent | sources}


def in_order(errors: Sequence[float]) -> list[float]:
    """Return ends and middle first, then what lies between: a stopped run has seen all strengths.

    >>> in_order([0, 1, 2, 3, 4])
    [0, 2, 4, 1, 3]
    """
    last = len(errors) - 1
    order: dict[int, None] = {}
    parts = 2
    while len(order) < len(errors):
        order |= dict.fromkeys(round(i * last / parts) for i in range(parts + 1))
        parts *= 2
    return [errors[i] for i in order]


def add(result: StudyResult, folder: Path = DATA) -> None:
    """Store a part of the study: its cells replace old ones, and all others stay."""
    old = stored(folder).cells() if any(folder.glob("study_*.csv")) else {}
    cells = old | result.cells()
    shapes, names = Grid().shapes, [*default_evaluators(), *EVOLVED]
    cells = {
        cell: cells[cell]
        for cell in sorted(cells, key=lambda c: (shapes.index(c[0]), c[1:4], names.index(c[4])))
    }
    store(StudyResult.of(cells), folder)


def main(arguments: list[str] | None = None) -> int:
    """Run the study, or only rewrite its tables."""
    parser = argparse.ArgumentParser(prog="dev.py study", description=__doc__)
    most = len(Grid().errors)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="workers (default: all)")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where unfinished work is kept")
    parser.add_argument("--data", type=Path, default=DATA, help="where whole strengths are stored")
    parser.add_argument("--strengths", type=int, default=most, help=f"how many (default: {most})")
    names = [*default_evaluators(), *EVOLVED]
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", help="which evaluators")
    parser.add_argument("--afresh", action="store_true", help="also what is stored already")
    parser.add_argument("--scheduler", help="address of a Dask scheduler to send the work to")
    parser.add_argument("--tables", action="store_true", help="only rewrite the tables")
    chosen = parser.parse_args(arguments)
    if not chosen.tables:
        with scheduler(chosen.scheduler):
            run(chosen)
    rewrite(stored(chosen.data))
    return 0


if __name__ == "__main__":
    sys.exit(main())
