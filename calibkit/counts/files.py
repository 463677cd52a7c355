"""Count the predictions of files: by blocks, in bounded memory, by any number of workers."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import joblib

from calibkit._progress import track
from calibkit.counts import _parquet, _sources
from calibkit.counts._blocks import Block, Place
from calibkit.counts._cells import CELLS
from calibkit.counts._columns import Columns, check_words, columns_of, predictions_of
from calibkit.counts.table import CountTable
from calibkit.views import BinaryProblem, View, binary_problems

FilePath = str | PathLike[str]
_Part = tuple[CountTable, Counter[str]]  # with the labels that were met, in words

# A file is shared in at most so many pieces: enough for progress and for even loads.
_PIECES = 64


@dataclass(frozen=True, slots=True)
class _Piece:
    """Some row groups of a Parquet file, or a whole file."""

    path: str
    columns: Columns
    groups: range | None
    empty: CountTable


def count_file(path: FilePath, **options: Any) -> CountTable:
    """Count the predictions of one file.

    Parameters
    ----------
    path : path
        A file whose name ends in .parquet, .csv, .csv.gz, .tsv, .npz or .npy.
    **options
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
    view: View | None = None,
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
    view, cells
        As in `CountTable`.
    delimiter, decimal : str
        What separates the columns of a CSV file (by default a comma, in .tsv files a tab), and
        its decimal mark.
    n_jobs : int, optional
        Number of workers, as in joblib; -1 for one per core. None means one, or what
        ``joblib.parallel_config`` says, e.g. the machines of a Dask cluster. Only Parquet files
        are shared, by row groups.
    progress : bool
        Show a progress bar on standard error.

    Raises
    ------
    PredictionFileError
        If a file cannot be read to its end, a column is missing, or a value is not valid: the
        message names file, row group and row. No table of a part is returned.

    Notes
    -----
    The table is the same, bit for bit, for any number of workers, and after the loss of some. A
    block of at most a million rows (Parquet) or of 4 MB (CSV) is in memory at a time, per worker.

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
    empty = CountTable(cells=cells, view=view)
    marks: dict[str, Any] = {"delimiter": delimiter, "decimal": decimal}
    wanted = columns_of(label, prob, positive=positive, classes=classes, **marks)
    found = _sources.resolve_all(list(paths), wanted)
    if not found:
        raise ValueError("There are no files to count.")
    pieces = [piece for path, columns in found for piece in _pieces(path, columns, empty)]
    if len(pieces) == 1 and pieces[0].groups is None:  # nothing to share: progress by blocks
        total = _sources.n_blocks(pieces[0].path, len(pieces[0].columns.needed))
        blocks = _sources.blocks(pieces[0].path, pieces[0].columns)
        parts: Iterator[tuple[CountTable, Counter[str]]] = (
            _count(pieces[0], [block]) for block in blocks
        )
    else:
        total = len(pieces)
        parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered")
        parts = parallel(joblib.delayed(_count)(piece) for piece in pieces)
    table, words = empty, Counter[str]()
    for part, seen in track(parts, total, show=progress, label="counting"):
        table, words = table + part, words + seen
    if not table.n:
        raise Place(found[0][0]).error("there are no rows.")
    check_words(words, found[0][1], Place(found[0][0]))
    return table


def _pieces(path: str, columns: Columns, empty: CountTable) -> Iterator[_Piece]:
    """Share the row groups of a Parquet file; other files are one piece."""
    if _sources.kind_of(path) != "parquet":
        yield _Piece(path, columns, None, empty)
        return
    groups = len(_parquet.row_groups(path))
    size = max(1, -(-groups // _PIECES))
    for start in range(0, groups, size):
        yield _Piece(path, columns, range(start, min(start + size, groups)), empty)


def _count(piece: _Piece, blocks: Iterable[Block] | None = None) -> _Part:
    """Return the table of some blocks (by default of all), and the labels in words."""
    words: Counter[str] = Counter()

    def problems() -> Iterator[tuple[BinaryProblem, ...]]:
        for block in blocks or _sources.blocks(piece.path, piece.columns, piece.groups):
            labels, prob = predictions_of(block, piece.columns, words)
            yield binary_problems(labels, prob, view=piece.empty.view)

    return piece.empty.of(problems()), words
