"""Rows of labels and predictions, from files (checked by `calibkit_audit.counts`) or one table."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.inputs import unwrapped
from calibkit_audit.counts.columns import (
    Columns,
    Words,
    check_words,
    columns_of,
    events_of,
    numbers_of,
    scores_of,
    words_of,
)
from calibkit_audit.counts.files import Log, open_log
from calibkit_audit.counts.places import Place, quotes
from calibkit_audit.counts.readers import Block, FilePath, pieces_of
from calibkit_audit.progress import track

_TABLE = Place("the table")
_NO_CLASSES = 0.1  # rows of classes that miss the sum 1 by more are none


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Predictions:
    """Labels and predictions (or logits) of a file, with names where file or caller has some.

    Of several models the columns of `scores` stand side by side. `beside` holds what else is known
    of the rows, under the names of the arguments of `audit`; with `predicted`, the words of the
    predicted classes, `y_true` holds those of the true ones.
    """

    y_true: NDArray[Any]
    scores: NDArray[np.float64]
    logits: bool
    class_names: tuple[str, ...] | None
    beside: Mapping[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> NDArray[np.int64]:
        """What `scores` are about: the label, or whether the predicted class was right."""
        if "predicted" not in self.beside:
            return self.y_true
        return np.asarray(self.y_true == self.beside["predicted"]).astype(np.int64)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.y_true)

    @property
    def nbytes(self) -> int:
        """Memory that labels, scores and names take."""
        return sum(one.nbytes for one in (self.y_true, self.scores, *self.beside.values()))

    @property
    def arguments(self) -> dict[str, Any]:
        """The rows as arguments of `audit`."""
        names = self.class_names if self.scores.ndim == 2 else None
        scores = {"logits" if self.logits else "y_prob": self.scores}
        return {"y_true": self.y_true, "class_names": names, **self.beside, **scores}

    def take(self, rows: Any) -> "Predictions":
        """Return some rows, by place or mask."""
        beside = {name: values[rows] for name, values in self.beside.items()}
        return replace(self, y_true=self.y_true[rows], scores=self.scores[rows], beside=beside)


def join_blocks(blocks: Sequence[Predictions]) -> Predictions:
    """Return the rows of all blocks, in their order."""
    names = blocks[0].beside
    return replace(
        blocks[0],
        y_true=np.concatenate([one.y_true for one in blocks]),
        scores=np.concatenate([one.scores for one in blocks]),
        beside={name: np.concatenate([one.beside[name] for one in blocks]) for name in names},
    )


class TooLarge(Exception):
    """The rows need more memory than was allowed."""


def keep_rows(blocks: Iterable[Predictions], limit: int | None) -> Predictions:
    """Keep all rows, up to so many bytes; beyond, `TooLarge` is raised."""
    kept, taken = [], 0
    for block in blocks:
        kept.append(block)
        taken += block.nbytes
        if limit is not None and taken > limit:
            raise TooLarge
    return join_blocks(kept)


def read_predictions(path: FilePath, *, limit: int | None = None, **columns: Any) -> Predictions:
    """Read labels and predictions from a CSV, Parquet or NumPy file; see `keep_rows` for the limit.

    `columns`: as in `calibkit_audit.counts.files.open_log`.
    """
    return keep_rows(rows_of_files([open_log([path], **columns)]), limit)


def rows_of_files(models: Sequence[Log], *, progress: bool = False) -> Iterator[Predictions]:
    """Yield the rows of all files, of several models side by side; then judge the words met."""
    log, words, n, any_event = models[0], Words(), 0, False
    pieces = [(path, piece) for path in log.paths for piece in pieces_of(path)]
    more = [name for other in models[1:] for name in other.columns.prob]
    for path, piece in track(pieces, len(pieces), show=progress, label="reading"):
        for block in log.blocks(path, piece, more):
            rows = _rows_of_block(block, models, words)
            if rows.n:
                n, any_event = n + rows.n, any_event or bool(rows.label.any())
                yield rows
    if not n:
        raise log.place.error("there are no rows.")
    check_words(words, log.columns, log.place)
    if not any_event and len(log.columns.prob) == 1 and not log.columns.predicted:
        raise ValueError("y = 1 never occurs. Is the positive label the right one?")


def _rows_of_block(block: Block, models: Sequence[Log], words: Words) -> Predictions:
    columns, scores = models[0].columns, [scores_of(block, one.columns) for one in models]
    y_true: NDArray[Any] = events_of(block, columns, words).astype(np.int64, copy=False)
    beside = {
        role: numbers_of(block, name, finite=True).astype(np.float64)
        if role == "sample_weight"
        else words_of(block, name)
        for role, name in columns.beside.items()
    }
    if columns.predicted:
        y_true, beside["predicted"] = (
            words_of(block, name) for name in (columns.label, columns.predicted)
        )
    table = scores[0] if len(scores) == 1 else np.column_stack(scores)
    return Predictions(
        y_true=y_true,
        scores=table.astype(np.float64, copy=False),
        logits=columns.logits,
        class_names=columns.classes,
        beside=beside,
    )


def side_by_side(models: Sequence[Log]) -> list[Log]:
    """Return the models with their classes in the order of the first's."""
    names = _model_classes(models[0].columns)
    ordered = []
    for log in models:
        own = _model_classes(log.columns)
        if set(own) != set(names):
            raise ValueError(
                f"the models have different classes: {', '.join(names)} and {', '.join(own)}."
            )
        prob = tuple(log.columns.prob[own.index(name)] for name in names)
        ordered.append(replace(log, columns=replace(log.columns, prob=prob)))
    return ordered


def _model_classes(columns: Columns) -> tuple[str, ...]:
    return columns.classes or tuple(map(str, range(len(columns.prob))))


# --- one table in memory --------------------------------------------------------------------------


def table_columns(table: Any, names: Mapping[str, str]) -> dict[str, Any]:
    """Return columns of a table (of pandas, polars or arrow, or a mapping) by their roles."""
    known = _known_columns(table)
    for name in names.values():
        if name not in known:
            raise ValueError(f"column {name!r} is not there; the columns are {quotes(known)}.")
    return {role: table[name] for role, name in names.items()}


def class_columns(
    table: Any, label: str, names: Any, *, sums: bool = True
) -> tuple[Any, tuple[str, ...] | None]:
    """Return the column of P(y = 1), or one per class and their names; whether rows sum to 1."""
    found = columns_of(label, names).resolve(list(map(str, _known_columns(table))), _TABLE)
    columns = [unwrapped(table[name], name) for name in found.prob]
    if len(columns) == 1:
        return columns[0], None
    off = np.abs(np.sum(columns, axis=0) - 1)
    if sums and off.max() > _NO_CLASSES:
        raise ValueError(
            f"the columns {quotes(found.prob)} do not sum to 1, but columns are classes of one "
            "model. Several targets are several audits: call audit_table for each label. Several "
            "models: see compare_table."
        )
    return np.column_stack(columns), found.classes or found.prob


def _known_columns(table: Any) -> list[Any]:
    names = table
    if not isinstance(table, Mapping):
        names = getattr(table, "column_names", getattr(table, "columns", None))
    if names is None or callable(names):
        raise ValueError(
            f"the table must be of pandas, polars or arrow, or a mapping from names to columns; "
            f"got {type(table).__name__}."
        )
    return list(names)
