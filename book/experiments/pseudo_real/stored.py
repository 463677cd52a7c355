"""The stored numbers: one CSV file per seed and size, so that a longer run only adds files."""

import csv
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from book.experiments.pseudo_real.clones import PseudoSet
from book.experiments.synthetic import Measures
from tools.virtual_environment import ROOT

DATA = ROOT / "book" / "_data"
CLONES = "pseudo_real_clones.json"
# Whole millionths: half the size, and nothing that the tables would show.
UNIT = 1_000_000
COORDINATES = ("task", "truth", "calibrator")
TRUTH = ("true_absolute", "true_squared")
STORED = ("map_error", "absolute", "squared")

Found = Mapping[PseudoSet, Mapping[str, Measures]]


class Row(NamedTuple):
    """What is stored of one evaluator on one data set; NaN where it estimates nothing."""

    map_error: float
    absolute: float
    squared: float
    true_absolute: float
    true_squared: float


Rows = dict[PseudoSet, dict[str, Row]]


def path_of(n: int, seed: int, folder: Path = DATA) -> Path:
    """Return the file of a block."""
    return folder / f"pseudo_real_{seed}_{n}.csv"


def store(found: Found, folder: Path = DATA) -> None:
    """Write the blocks that these data sets make up."""
    folder.mkdir(parents=True, exist_ok=True)
    for n, seed in dict.fromkeys((d.n, d.seed) for d in found):
        block = {d: rows for d, rows in found.items() if (d.n, d.seed) == (n, seed)}
        names = list(dict.fromkeys(name for rows in block.values() for name in rows))
        head = [*COORDINATES, *TRUTH, *(f"{name} {part}" for name in names for part in STORED)]
        with path_of(n, seed, folder).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(head)
            writer.writerows(_line(data_set, rows, names) for data_set, rows in block.items())


def _line(data_set: PseudoSet, rows: Mapping[str, Measures], names: Iterable[str]) -> list[str]:
    numbers = [getattr(next(iter(rows.values())), part) for part in TRUTH]
    for name in names:
        numbers += [getattr(rows[name], part) for part in STORED]
    text = ["" if math.isnan(x) else str(round(UNIT * x)) for x in numbers]
    return [data_set.task, data_set.truth, data_set.calibrator, *text]


def stored(folder: Path = DATA) -> Rows:
    """Read what `store` wrote, seeds first."""
    found: Rows = {}
    for seed, n, path in sorted(_blocks(folder)):
        with path.open(encoding="utf-8", newline="") as file:
            for line in csv.DictReader(file):
                data_set = PseudoSet(line["task"], line["truth"], line["calibrator"], n, seed)
                found[data_set] = _rows(line)
    return found


def _blocks(folder: Path) -> Iterable[tuple[int, int, Path]]:
    for path in folder.glob("pseudo_real_*.csv"):
        seed, n = path.stem.removeprefix("pseudo_real_").split("_")
        yield int(seed), int(n), path


def _rows(line: Mapping[str, Any]) -> dict[str, Row]:
    truth = [int(line[part]) / UNIT for part in TRUTH]
    names = dict.fromkeys(head.rpartition(" ")[0] for head in line if " " in head)
    return {name: Row(*(_number(line[f"{name} {p}"]) for p in STORED), *truth) for name in names}


def _number(text: str) -> float:
    return int(text) / UNIT if text else float("nan")
