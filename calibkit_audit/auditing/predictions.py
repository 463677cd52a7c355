"""Rows of labels and predictions, from files (checked by `calibkit_audit.counts`) or one table."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.inputs import unwrapped
from calibkit_audit.counts.columns import Columns, Words, beside_of, events_of, scores_of, words_of
from calibkit_audit.counts.files import Log, check_words, open_log
from calibkit_audit.counts.places import Place
from calibkit_audit.counts.readers import Block, FilePath
from calibkit_audit.incoming import (
    LEFT_OUT,
    RESCALED,
    Changes,
    column_names,
    is_blank,
    rescale_rows,
)

SAMPLE = 100_000  # rows that are drawn where not all can be kept
_TABLE = Place("the table")


# Labels and scores (of several models side by side), and what else is known of the rows, under the
# names of the arguments of `audit`.
Rows = dict[str, NDArray[Any]]


def options_of(log: Log) -> dict[str, Any]:
    """Return what is known of all rows of a log, as arguments of `audit` and `compare`."""
    columns = log.columns
    event = columns.positive and f"{columns.label} = {columns.positive.strip()}"
    right = {"predicted": True} if columns.right else {}
    return {"class_names": columns.classes, "event": event, **right}


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


def keep_rows(
    blocks: Iterable[Rows], limit: float = np.inf, sample: int = SAMPLE, seed: int = 0
) -> tuple[Rows, int]:
    """Keep all rows, or from so many bytes on a random `sample`, in their order; and count them.

    The sample, without replacement, are the rows with the smallest random keys.
    """
    generator, seen, taken = np.random.default_rng([seed, sample]), 0, 0
    kept = list[Rows]()
    for block in blocks:
        key = generator.random(len(block["y_true"]))
        kept, seen = [*kept, {"key": key} | block], seen + len(key)
        taken += sum(part.nbytes for part in block.values())
        if taken > limit:
            rows = _join(kept)
            few = np.sort(np.argsort(rows["key"])[:sample])
            kept = [{name: part[few] for name, part in rows.items()}]
    rows = _join(kept)
    del rows["key"]
    return rows, seen


def _join(blocks: Sequence[Rows]) -> Rows:
    return {name: np.concatenate([one[name] for one in blocks]) for name in blocks[0]}


def read_predictions(path: FilePath, **columns: Any) -> dict[str, Any]:
    """Read labels and predictions from a CSV, Parquet or NumPy file, as arguments of `audit`.

    `columns`: as in `calibkit_audit.counts.files.open_log`.
    """
    log = open_log([path], **columns)
    return by_role(keep_rows(rows_of_files([log]))[0]) | options_of(log)


def rows_of_files(models: Sequence[Log]) -> Iterator[Rows]:
    """Yield the rows of all files, of several models side by side; then judge the words met."""
    log, words = models[0], Words(set)
    any_event = log.columns.confidence or len(log.columns.prob) > 1
    log.changes.clear()
    more = [name for other in models[1:] for name in other.columns.prob]
    for block in log.blocks(more):
        rows = _rows_of_block(block, models, words)
        any_event = any_event or bool(rows["y_true"].any())
        yield rows
    check_words(words, log)
    if not any_event:
        raise ValueError("y = 1 never occurs. Is the positive label the right one?")


def _rows_of_block(block: Block, models: Sequence[Log], words: Words) -> Rows:
    columns, changes = models[0].columns, models[0].changes
    scores = scores_of(block, [one.columns for one in models], changes)
    y_true: NDArray[Any] = events_of(block, columns, words).astype(np.int64, copy=False)
    beside = beside_of(block, columns)
    if columns.predicted:
        y_true, beside["predicted"] = (
            words_of(block, name) for name in (columns.label, columns.predicted)
        )
    table = scores[0] if len(scores) == 1 else np.column_stack(scores)
    kind = "logits" if columns.logits else "y_prob"
    return {"y_true": y_true, kind: table.astype(np.float64, copy=False), **beside}


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
    table: Any, columns: Columns, *, drop_missing: bool = False
) -> tuple[dict[str, Any], tuple[str, ...] | None, Changes]:
    """Return columns of a table by role, names of classes, and what was changed.

    Columns that nothing names are ``others NAME``.
    """
    known, changes = _known_columns(table), Changes()
    found = columns.resolve(list(map(str, known)), _TABLE)
    named = {"y_true": found.label} | found.beside
    named |= {"predicted": found.predicted} if found.predicted else {}
    rows = {role: table[name] for role, name in named.items()}
    parts = [unwrapped(table[name], name) for name in found.prob]
    for name in filter(lambda name: name not in found.names, known):
        with suppress(TypeError, ValueError):  # what cannot be read was not asked for
            values = unwrapped(table[name], str(name))
            rows |= {f"others {name}": values} if values.shape == parts[0].shape else {}
    if drop_missing:
        needed = [rows[role] for role in ("y_true", "predicted") if role in named]
        arrays = [unwrapped(one, "a column") for one in (*needed, *parts)]
        kept = ~np.any([[is_blank(value) for value in one.tolist()] for one in arrays], axis=0)
        changes[LEFT_OUT] = int((~kept).sum())
        rows = {role: unwrapped(one, role)[kept] for role, one in rows.items()}
        parts = [one[kept] for one in parts]
    scores = parts[0] if len(parts) == 1 else np.column_stack(parts)
    if found.rescale:
        scores, rescaled = rescale_rows(scores)
        changes[RESCALED] = int(rescaled.sum())
    rows["logits" if found.logits else "y_prob"] = scores
    rows |= {"predicted": True} if found.right else {}
    return rows, None if len(parts) == 1 else found.classes or found.prob, changes


def _known_columns(table: Any) -> list[Any]:
    if type(table).__name__ == "LazyFrame":
        raise ValueError("the table is a LazyFrame; pass table.collect().")
    names = list(table) if isinstance(table, Mapping) else column_names(table)
    if names is None:
        raise ValueError(
            f"the table must be of pandas, polars or arrow, or a mapping from names to columns; "
            f"got {type(table).__name__}."
        )
    return names
