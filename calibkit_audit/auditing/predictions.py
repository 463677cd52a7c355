"""Rows of labels and predictions, from files (checked by `calibkit_audit.counts`) or one table."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.inputs import FloatVector, unwrapped
from calibkit_audit.counts.columns import (
    Columns,
    Words,
    columns_of,
    events_of,
    numbers_of,
    scores_of,
    words_of,
)
from calibkit_audit.counts.files import Log, check_words, open_log
from calibkit_audit.counts.places import Place, quotes
from calibkit_audit.counts.readers import Block, FilePath
from calibkit_audit.incoming import (
    LEFT_OUT,
    RESCALED,
    Changes,
    changes_in_words,
    column_names,
    is_blank,
    rescale_rows,
)
from calibkit_audit.progress import track

SAMPLE = 100_000  # rows that are drawn where not all can be kept
_TABLE = Place("the table")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Predictions:
    """Labels and predictions (or logits) of a file, with names where file or caller has some.

    Of several models the columns of `scores` stand side by side. `beside` holds what else is known
    of the rows, under the names of the arguments of `audit`; with `predicted`, the words of the
    predicted classes, `y_true` holds those of the true ones. `right`: `y_true` says whether the
    prediction was right. `event`: what y = 1 is called, where a positive label was named.
    """

    y_true: NDArray[Any]
    scores: NDArray[np.float64]
    logits: bool
    class_names: tuple[str, ...] | None
    beside: Mapping[str, Any] = field(default_factory=dict)
    right: bool = False
    event: str | None = None

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
        named = {"class_names": names, "event": self.event}
        return {"y_true": self.y_true, **named, **self.more, **scores}

    @property
    def more(self) -> dict[str, Any]:
        """What else is known of the rows, as arguments of `audit` and `compare`."""
        return by_role(self.beside) | ({"predicted": True} if self.right else {})

    def take(self, rows: Any) -> "Predictions":
        """Return some rows, by place or mask."""
        beside = {name: values[rows] for name, values in self.beside.items()}
        return replace(self, y_true=self.y_true[rows], scores=self.scores[rows], beside=beside)


def by_role(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return columns by role: of several "groups NAME" a mapping by name, of clusters a list."""
    found: dict[str, Any] = {}
    for key, values in columns.items():
        role, _, name = key.partition(" ")
        if name:
            found.setdefault(role, {})[name] = values
        else:
            found[role] = values
    if isinstance(found.get("cluster"), dict):
        found["cluster"] = list(found["cluster"].values())
    return found


def join_blocks(blocks: Sequence[Predictions]) -> Predictions:
    """Return the rows of all blocks, in their order."""
    names = blocks[0].beside
    return replace(
        blocks[0],
        y_true=np.concatenate([one.y_true for one in blocks]),
        scores=np.concatenate([one.scores for one in blocks]),
        beside={name: np.concatenate([one.beside[name] for one in blocks]) for name in names},
    )


def keep_rows(
    blocks: Iterable[Predictions], limit: float = np.inf, sample: int = SAMPLE, seed: int = 0
) -> tuple[Predictions, int]:
    """Keep all rows, or from so many bytes on a random `sample`, in their order; and count them.

    The sample, without replacement, are the rows with the smallest random keys.
    """
    generator, seen, taken = np.random.default_rng([seed, sample]), 0, 0
    kept, keys = list[Predictions](), list[FloatVector]()
    for block in blocks:
        kept, keys = [*kept, block], [*keys, generator.random(block.n)]
        seen, taken = seen + block.n, taken + block.nbytes
        if taken > limit:
            rows, key = join_blocks(kept), np.concatenate(keys)
            few = np.sort(np.argsort(key)[:sample])
            kept, keys = [rows.take(few)], [key[few]]
    return join_blocks(kept), seen


def read_predictions(path: FilePath, **columns: Any) -> Predictions:
    """Read labels and predictions from a CSV, Parquet or NumPy file.

    `columns`: as in `calibkit_audit.counts.files.open_log`.
    """
    return keep_rows(rows_of_files([open_log([path], **columns)]))[0]


def rows_of_files(models: Sequence[Log], *, progress: bool = False) -> Iterator[Predictions]:
    """Yield the rows of all files, of several models side by side; then judge the words met."""
    log, words, n = models[0], Words(), 0
    any_event = log.columns.confidence or len(log.columns.prob) > 1
    log.changes.clear()
    more = [name for other in models[1:] for name in other.columns.prob]
    for path in track(log.paths, len(log.paths), show=progress, label="reading"):
        for block in log.blocks(path, more):
            rows = _rows_of_block(block, models, words)
            if rows.n:
                n, any_event = n + rows.n, any_event or bool(rows.y_true.any())
                yield rows
    if not n:
        left = changes_in_words(log.changes)
        raise log.place.error(f"there are no rows{f' ({left})' if left else ''}.")
    check_words(words, log.columns, log.place)
    if not any_event:
        raise ValueError("y = 1 never occurs. Is the positive label the right one?")


def _rows_of_block(block: Block, models: Sequence[Log], words: Words) -> Predictions:
    columns, changes = models[0].columns, models[0].changes
    scores = [scores_of(block, one.columns, changes) for one in models]
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
        right=columns.right,
        event=columns.positive and f"{columns.label} = {columns.positive.strip()}",
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


def rows_of_table(
    table: Any,
    roles: Mapping[str, Any],
    models: Mapping[str, Any],
    *,
    logits: bool = False,
    drop_missing: bool = False,
    rescale: bool = False,
) -> tuple[dict[str, Any], dict[str, Any], tuple[str, ...] | None, Changes]:
    """Return columns of a table by role, scores by model, names of classes, and what was changed.

    `roles`: the labels are ``y_true``; None is left out, True stays.
    """
    known, changes = _known_columns(table), Changes()
    named = {role: name for role, name in roles.items() if name is not None and name is not True}
    for name in named.values():
        if name not in known:
            raise ValueError(f"column {name!r} is not there; the columns are {quotes(known)}.")
    columns = {role: table[name] for role, name in named.items()}
    label, names = roles["y_true"], list(map(str, known))
    found = {m: columns_of(label, prob).resolve(names, _TABLE) for m, prob in models.items()}
    parts = {m: [unwrapped(table[k], k) for k in one.prob] for m, one in found.items()}
    if drop_missing:
        needed = [columns[role] for role in ("y_true", "predicted") if role in named]
        arrays = [unwrapped(one, "a column") for one in (*needed, *chain(*parts.values()))]
        kept = ~np.any([[is_blank(value) for value in one.tolist()] for one in arrays], axis=0)
        changes[LEFT_OUT] = int((~kept).sum())
        columns = {role: unwrapped(one, role)[kept] for role, one in columns.items()}
        parts = {model: [one[kept] for one in own] for model, own in parts.items()}
    scores = {m: own[0] if len(own) == 1 else np.column_stack(own) for m, own in parts.items()}
    for model, table in scores.items():
        if rescale:
            scores[model], count = rescale_rows(table, logits=logits)
            changes[RESCALED] += count
    columns |= {role: True for role, name in roles.items() if name is True}
    first = next(iter(found.values()))
    return columns, scores, None if len(first.prob) == 1 else first.classes or first.prob, changes


def _known_columns(table: Any) -> list[Any]:
    names = list(table) if isinstance(table, Mapping) else column_names(table)
    if names is None:
        raise ValueError(
            f"the table must be of pandas, polars or arrow, or a mapping from names to columns; "
            f"got {type(table).__name__}."
        )
    return names
