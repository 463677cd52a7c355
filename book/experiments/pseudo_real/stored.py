"""The stored numbers: one CSV file per seed and size, so that a longer run only adds files."""

import csv
import gzip
import io
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from book.experiments.pseudo_real.clones import CALIBRATORS, TASKS, TRUTHS, PseudoSet
from book.experiments.synthetic import Measures
from tools.virtual_environment import ROOT

DATA = ROOT / "book" / "_data"
CLONES = "pseudo_real_clones.json"
# Whole millionths: half the size, and nothing that the tables would show.
UNIT = 1_000_000
COORDINATES = ("task", "truth", "calibrator")
TRUTH = ("true_absolute", "true_squared")
STORED = ("map_error", "map_squared", "absolute", "squared")

Found = Mapping[PseudoSet, Mapping[str, Measures]]


class Row(NamedTuple):
    """What is stored of one evaluator on one data set; NaN where it estimates nothing.

    Squares of `map_error` came late: only the size that was measured last has them.
    """

    map_error: float
    map_squared: float
    absolute: float
    squared: float
    true_absolute: float
    true_squared: float


Rows = dict[PseudoSet, dict[str, Row]]


def path_of(n: int, seed: int, folder: Path = DATA) -> Path:
    """Return the file of a block."""
    return folder / f"pseudo_real_{seed}_{n}.csv.gz"


def store(found: Found, folder: Path = DATA) -> None:
    """Add these data sets to the blocks that they belong to, in the order of the grid."""
    folder.mkdir(parents=True, exist_ok=True)
    known = {**stored(folder), **found}
    for n, seed in dict.fromkeys((d.n, d.seed) for d in found):
        block = {d: known[d] for d in sorted(known, key=place) if (d.n, d.seed) == (n, seed)}
        names = list(dict.fromkeys(name for rows in block.values() for name in rows))
        head = [*COORDINATES, *TRUTH, *(f"{name} {part}" for name in names for part in STORED)]
        with packed(path_of(n, seed, folder)) as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(head)
            writer.writerows(_line(data_set, rows, names) for data_set, rows in block.items())


@contextmanager
def packed(path: Path) -> Iterator[io.StringIO]:
    """Take a text and write it compressed: the same bytes at any time."""
    text = io.StringIO(newline="")
    yield text
    path.write_bytes(gzip.compress(text.getvalue().encode("utf-8"), mtime=0))


def place(data_set: PseudoSet) -> tuple[int, ...]:
    """Return where a data set stands: seed, size, task, truth, calibrator."""
    axes = (TASKS, TRUTHS, CALIBRATORS)
    names = (data_set.task, data_set.truth, data_set.calibrator)
    order = (
        list(axis).index(name) if name in axis else -1
        for axis, name in zip(axes, names, strict=True)
    )
    return (data_set.seed, data_set.n, *order)


def _line(data_set: PseudoSet, rows: Mapping[str, Any], names: Iterable[str]) -> list[str]:
    numbers = [getattr(next(iter(rows.values())), part) for part in TRUTH]
    for name in names:
        numbers += [getattr(rows.get(name), part, math.nan) for part in STORED]
    text = ["" if math.isnan(x) else str(round(UNIT * x)) for x in numbers]
    return [data_set.task, data_set.truth, data_set.calibrator, *text]


def stored(folder: Path = DATA) -> Rows:
    """Read what `store` wrote, seeds first."""
    found: Rows = {}
    for seed, n, path in sorted(_blocks(folder)):
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            for line in csv.DictReader(file):
                data_set = PseudoSet(line["task"], line["truth"], line["calibrator"], n, seed)
                found[data_set] = _rows(line)
    return found


def _blocks(folder: Path) -> Iterable[tuple[int, int, Path]]:
    for path in folder.glob("pseudo_real_*_*.csv.gz"):
        seed, n = path.name.removesuffix(".csv.gz").removeprefix("pseudo_real_").split("_")
        yield int(seed), int(n), path


def _rows(line: Mapping[str, Any]) -> dict[str, Row]:
    truth = [int(line[part]) / UNIT for part in TRUTH]
    names = dict.fromkeys(head.rpartition(" ")[0] for head in line if " " in head)
    found = {name: [_number(line.get(f"{name} {part}")) for part in STORED] for name in names}
    return {name: Row(*row, *truth) for name, row in found.items() if not all(map(math.isnan, row))}


def _number(text: str | None) -> float:
    return int(text) / UNIT if text else float("nan")
