"""Files of predictions of all kinds (the ending of the name says which), and counting them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from os import PathLike, stat
from os.path import realpath
from pathlib import Path
from typing import Any

import joblib

from calibkit.inputs import BinaryProblem, View, binary_problems, shared_classes, warn
from calibkit.progress import track
from calibkit_audit.counts import _arrays, _parquet, csv_files
from calibkit_audit.counts._measures import CELLS
from calibkit_audit.counts.blocks import Block, Place, existing, listed, quoted, rows_of_a_block
from calibkit_audit.counts.columns import (
    Columns,
    check_words,
    columns_of,
    count_words,
    predictions_of,
    texts_of,
)
from calibkit_audit.counts.csv_files import LONGEST_LINE, Dialect
from calibkit_audit.counts.table import CountTable

FilePath = str | PathLike[str]
_KINDS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "csv"}
_KINDS |= {".npz": "arrays", ".npy": "arrays"}


def kind_of(path: FilePath) -> str:
    """Return ``"parquet"``, ``"csv"`` or ``"arrays"``."""
    name = Path(path).name.lower()
    ending = Path(name.removesuffix(".gz")).suffix
    kind = _KINDS.get(ending, "")
    if not kind or (name.endswith(".gz") and kind != "csv"):
        raise Place(str(path)).error(
            f"the name must end in {', '.join(_KINDS)} or .csv.gz, to say what kind of file it is."
        )
    return kind


def column_names(path: FilePath, dialect: Dialect) -> list[str]:
    """Return the names of a file's columns."""
    kind = kind_of(path)
    file = str(existing(path))
    if kind == "csv":
        return csv_files.names(file, dialect)
    return _parquet.names(file) if kind == "parquet" else _arrays.names(file)


def resolve_all(paths: Sequence[FilePath], columns: Columns) -> list[tuple[str, Columns]]:
    """Look at the columns of all files: the same classes, matched by name, in one order."""
    found: list[tuple[str, Columns]] = []
    seen: set[object] = set()
    for path in map(str, paths):
        here = columns.found_in(column_names(path, columns.dialect), Place(path))
        status = stat(path)  # two hard links are one file
        file = (status.st_dev, status.st_ino) if status.st_ino else realpath(path)
        if file in seen:
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
    return _with_codes(found) if columns.predicted else found


def _with_codes(files: list[tuple[str, Columns]]) -> list[tuple[str, Columns]]:
    """Look at all true and predicted classes before any is counted: which are the same."""
    label, predicted = files[0][1].label, str(files[0][1].predicted)
    words = {label: Counter[str](), predicted: Counter[str]()}
    for path, columns in files:
        for block in blocks_of(path, replace(columns, prob=(), group=None)):
            for name, counter in words.items():
                count_words(texts_of(block, name), counter)
    if not words[label]:
        raise Place(files[0][0]).error("there are no rows.")
    try:
        codes, names, notes = shared_classes(words[label], words[predicted])
    except ValueError as error:
        raise Place(files[0][0]).error(str(error)) from None
    warn(*notes)
    return [(path, replace(columns, codes=codes, classes=names)) for path, columns in files]


def blocks_of(path: FilePath, columns: Columns, parts: range | None = None) -> Iterator[Block]:
    """Yield the rows of the columns that are needed, a block at a time."""
    kind, file = kind_of(path), str(path)
    if kind == "parquet":
        return _parquet.blocks(file, columns.needed, parts)
    if kind == "csv":
        numbers = [name for name in (*columns.prob, columns.weight) if name]
        return csv_files.blocks(file, columns.needed, numbers, columns.dialect)
    return _arrays.blocks(file, columns.needed)


def n_blocks(path: FilePath, n_columns: int) -> int:
    """Say, or guess, in how many blocks a file will come, for a progress bar."""
    if kind_of(path) == "parquet":
        size = rows_of_a_block(n_columns)
        return max(1, sum(-(-rows // size) for rows in _parquet.row_groups(str(path))))
    return max(1, -(-Path(path).stat().st_size // LONGEST_LINE))


# A file is shared in at most so many pieces: enough for progress and for even loads.
_PIECES = 64
_Piece = tuple[str, Columns, range | None]  # a file and some of its row groups (None: all of it)


def count_file(path: FilePath, **options: Any) -> CountTable:
    """Count the predictions of one file.

    Parameters
    ----------
    path : path
        A file; the ending says whether it is Parquet, CSV or NumPy's.
    **options
        ``label`` and ``prob`` name the columns; ``positive``, ``classes``, ``view`` and the others
        are those of `count_files`.

    Returns
    -------
    CountTable
        Of all rows of the file.

    Raises
    ------
    PredictionFileError
        As in `count_files`.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/log.npz", answer=["yes", "no"], score=[.9, .2])
    ...     count_file(f"{folder}/log.npz", label="answer", prob="score", positive="yes").n
    2
    """
    return count_files([path], **options)


def count_files(
    paths: Iterable[FilePath],
    *,
    label: str,
    prob: str | Sequence[str],
    positive: str | None = None,
    classes: Sequence[str] | None = None,
    predicted: str | None = None,
    view: View = None,
    cells: int = CELLS,
    delimiter: str | None = None,
    decimal: str = ".",
    n_jobs: int | None = None,
    progress: bool = False,
) -> CountTable:
    """Count the predictions of several files into one table.

    Parameters
    ----------
    paths : iterable of path
        The files; they may be of different kinds.
    label, prob : str
        Columns of the labels and of P(y = 1); or a sequence of columns, one per class. ``"p_*"``
        stands for all that begin with ``p_``; the rest of their names then name the classes.
    positive : str, optional
        The label that means y = 1. Needed unless labels are 0 and 1 (or true and false).
    classes : sequence of str, optional
        The label that belongs to each column of `prob`. Needed unless labels are the numbers of
        the columns, from 0, or their names.
    predicted : str, optional
        Column of the predicted class: `label` is then the true class, `prob` the confidence, and
        the view ``"confidence"``. Both columns are read once before the rest.
    view : {"top-label", "class-wise", "confidence"} or int, optional
        Which events are counted; needed with one column per class.
    cells : int
        Number of cells of the grid; numbers of bins must divide it.
    delimiter, decimal : str
        What separates the columns of a CSV file (by default a comma, in .tsv files a tab), and
        its decimal mark.
    n_jobs : int, optional
        Number of workers, as in joblib; -1 for one per core. None means one, or what
        ``joblib.parallel_config`` says, e.g. the machines of a Dask cluster. Only Parquet files
        are shared, by row groups.
    progress : bool
        Show a progress bar on standard error: it counts files, and pieces of Parquet files.

    Returns
    -------
    CountTable
        Of all rows of all files.

    Raises
    ------
    PredictionFileError
        If a file cannot be read to its end, a column is missing, or a value is not valid: the
        message names file, row group and row. No table of a part is returned.

    Notes
    -----
    The table is the same, bit for bit, for any number of workers, and after the loss of some. A
    block of at most a million rows (Parquet) or of 2¹⁸ values (CSV) is in memory at a time,
    per worker.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = [f"{folder}/{name}.npz" for name in ("monday", "tuesday")]
    ...     for path in paths:
    ...         np.savez(path, y=[1, 0], p=[.9, .2])
    ...     count_files(paths, label="y", prob="p").n
    4
    """
    if predicted is not None:
        if view not in (None, "top-label", "confidence"):
            raise ValueError(f'predicted= has one view, "top-label", got view={view!r}.')
        view = "confidence"
    empty = CountTable(cells=cells, view=view)
    more = {"positive": positive, "classes": classes, "predicted": predicted}
    wanted = columns_of(label, prob, delimiter=delimiter, decimal=decimal, **more)
    found = resolve_all(list(paths), wanted)
    if not found:
        raise ValueError("There are no files to count.")
    pieces = [piece for path, columns in found for piece in _pieces(path, columns)]
    parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    parts = parallel(joblib.delayed(_count)(empty, *piece) for piece in pieces)
    table, words = empty, Counter[str]()
    for part, seen in track(parts, len(pieces), show=progress, label="counting"):
        table, words = table + part, words + seen
    if not table.n:
        raise Place(found[0][0]).error("there are no rows.")
    first = found[0][1]
    check_words(words, first, Place(found[0][0]))
    return replace(table, n_classes=len(first.classes or ())) if first.predicted else table


def _pieces(path: str, columns: Columns) -> Iterator[_Piece]:
    """Share the row groups of a Parquet file; other files are one piece."""
    if kind_of(path) != "parquet":
        yield path, columns, None
        return
    groups = len(_parquet.row_groups(path))
    size = max(1, -(-groups // _PIECES))
    for start in range(0, groups, size):
        yield path, columns, range(start, min(start + size, groups))


def _count(
    empty: CountTable, path: str, columns: Columns, groups: range | None
) -> tuple[CountTable, Counter[str]]:
    """Return the table of a piece, and the labels that were met, in words."""
    words: Counter[str] = Counter()

    def problems() -> Iterator[tuple[BinaryProblem, ...]]:
        for block in blocks_of(path, columns, groups):
            labels, prob = predictions_of(block, columns, words)
            yield binary_problems(labels, prob, view=empty.view)

    return empty.of(problems()), words
