"""One door to all kinds of files; the ending of the name says which."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from os import PathLike
from os.path import realpath
from pathlib import Path

from calibkit.counts import _arrays, _csv, _parquet
from calibkit.counts._blocks import (
    LONGEST_LINE,
    Block,
    Dialect,
    Place,
    existing,
    listed,
    quoted,
    rows_of_a_block,
)
from calibkit.counts._columns import Columns

_KINDS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "csv"}
_KINDS |= {".npz": "arrays", ".npy": "arrays"}


def kind_of(path: str | PathLike[str]) -> str:
    """Return ``"parquet"``, ``"csv"`` or ``"arrays"``."""
    name = Path(path).name.lower()
    ending = Path(name.removesuffix(".gz")).suffix
    kind = _KINDS.get(ending, "")
    if not kind or (name.endswith(".gz") and kind != "csv"):
        raise Place(str(path)).error(
            f"the name must end in {', '.join(_KINDS)} or .csv.gz, to say what kind of file it is."
        )
    return kind


def names(path: str | PathLike[str], dialect: Dialect) -> list[str]:
    kind = kind_of(path)
    file = str(existing(path))
    if kind == "csv":
        return _csv.names(file, dialect)
    return _parquet.names(file) if kind == "parquet" else _arrays.names(file)


def resolve_all(
    paths: Sequence[str | PathLike[str]], columns: Columns
) -> list[tuple[str, Columns]]:
    """Look at the columns of all files: the same classes, matched by name, in one order."""
    found: list[tuple[str, Columns]] = []
    seen: set[str] = set()
    for path in map(str, paths):
        here = columns.found_in(names(path, columns.dialect), Place(path))
        if (file := realpath(path)) in seen:
            raise Place(path).error("the file is named twice; its rows would count twice.")
        seen.add(file)
        first = found[0][1] if found else here
        given, wanted = (dict(zip(c.prob, c.classes or c.prob, strict=True)) for c in (here, first))
        if given != wanted:
            raise Place(path).error(
                f"its columns of probabilities are {listed(here.prob)}, those of "
                f"{quoted(found[0][0])} are {listed(first.prob)}. Files counted together need the "
                "same columns."
            )
        found.append((path, replace(here, prob=first.prob, classes=first.classes)))
    return found


def blocks(
    path: str | PathLike[str], columns: Columns, parts: range | None = None
) -> Iterator[Block]:
    kind, file = kind_of(path), str(path)
    if kind == "parquet":
        return _parquet.blocks(file, columns.needed, parts)
    if kind == "csv":
        return _csv.blocks(file, columns.needed, columns.prob, columns.dialect)
    return _arrays.blocks(file, columns.needed)


def n_blocks(path: str | PathLike[str], n_columns: int) -> int:
    """Say, or guess, in how many blocks a file will come, for a progress bar."""
    if kind_of(path) == "parquet":
        size = rows_of_a_block(n_columns)
        return max(1, sum(-(-rows // size) for rows in _parquet.row_groups(str(path))))
    return max(1, -(-Path(path).stat().st_size // LONGEST_LINE))
