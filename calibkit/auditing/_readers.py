"""Read predictions from a file; the stream of checked blocks is that of `calibkit.counts`."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit._progress import track
from calibkit.counts import _sources
from calibkit.counts._blocks import Place
from calibkit.counts._columns import (
    Columns,
    check_words,
    columns_of,
    groups_of_rows,
    predictions_of,
)

FilePath = str | PathLike[str]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Predictions:
    """Labels and predictions (or logits) of a file, with names where file or caller has some."""

    y_true: NDArray[np.int64]
    scores: NDArray[np.float64]
    logits: bool
    groups: NDArray[np.str_] | None
    class_names: tuple[str, ...] | None

    @property
    def n(self) -> int:
        return len(self.y_true)

    @property
    def nbytes(self) -> int:
        arrays = (self.y_true, self.scores, self.groups)
        return sum(array.nbytes for array in arrays if array is not None)

    @property
    def arguments(self) -> dict[str, Any]:
        """What `audit` is to be told of the rows."""
        return {
            "y_true": self.y_true,
            "logits" if self.logits else "y_prob": self.scores,
            "groups": self.groups,
            "class_names": self.class_names if self.scores.ndim == 2 else None,
        }


class TooLarge(Exception):
    """The rows need more memory than was allowed."""


def read_predictions(
    path: FilePath, *, memory_limit: int | None = None, **columns: Any
) -> Predictions:
    """Read labels and predictions from a CSV, Parquet or NumPy file.

    `columns`: what `calibkit.counts.count_files` is told of a file, and ``group`` and ``logits``.
    More than `memory_limit` bytes of rows are refused with `TooLarge`.
    """
    files = _sources.resolve_all([path], columns_of(**columns))
    return keep(rows_of_files(files), Place(str(path)), memory_limit)


def keep(blocks: Iterable[Predictions], place: Place, limit: int | None) -> Predictions:
    """Keep all rows, up to so many bytes; beyond, `TooLarge` is raised."""
    kept, taken = [], 0
    for block in blocks:
        kept.append(block)
        taken += block.nbytes
        if limit is not None and taken > limit:
            raise TooLarge
    if not kept:
        raise place.error("there are no rows.")
    return join(kept)


def rows_of_files(
    files: Sequence[tuple[str, Columns]], *, progress: bool = False
) -> Iterator[Predictions]:
    """Yield the rows of all files; at their end, look at the labels that were met."""
    words: Counter[str] = Counter()
    for path, columns in files:
        yield from _rows_in_blocks(path, columns, words, progress)
    check_words(words, files[0][1], Place(files[0][0]))


def _rows_in_blocks(
    path: FilePath, columns: Columns, words: Counter[str], progress: bool
) -> Iterator[Predictions]:
    stream = _sources.blocks(path, columns)
    total = _sources.n_blocks(path, len(columns.needed))
    for block in track(stream, total, show=progress, label="reading"):
        labels, scores = predictions_of(block, columns, words)
        if not len(labels):
            continue
        yield Predictions(
            y_true=labels.astype(np.int64, copy=False),
            scores=scores.astype(np.float64, copy=False),
            logits=columns.logits,
            groups=groups_of_rows(block, columns) if columns.group else None,
            class_names=columns.classes,
        )


def join(blocks: Sequence[Predictions]) -> Predictions:
    first = blocks[0]
    groups: list[Any] = [block.groups for block in blocks]
    return replace(
        first,
        y_true=np.concatenate([block.y_true for block in blocks]),
        scores=np.concatenate([block.scores for block in blocks]),
        groups=None if first.groups is None else np.concatenate(groups),
    )
