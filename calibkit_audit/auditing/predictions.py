"""Read predictions from a file; the stream of checked blocks is that of `calibkit_audit.counts`."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.inputs import column_names, unwrapped
from calibkit.progress import track
from calibkit_audit.counts.blocks import Place, listed
from calibkit_audit.counts.columns import (
    Columns,
    check_words,
    columns_of,
    predictions_of,
    true_and_predicted,
    weights_of,
    words_of,
)
from calibkit_audit.counts.files import blocks_of, n_blocks, resolve_all

_NAMES = ("groups", "cluster", "time")
Files = Sequence[tuple[str, Columns]]
_BESIDE = (*_NAMES, "sample_weight")
_COLUMNS = ("y_true", "scores", "predicted", *_BESIDE)
_BY_NAME = ("logits", "predicted", *_BESIDE)
_NO_CLASSES = 0.1  # rows of classes that miss the sum 1 by more are none


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Predictions:
    """Labels and predictions (or logits) of a file, with names where file or caller has some.

    Of several models the columns of `scores` stand side by side.
    """

    y_true: NDArray[np.int64]
    scores: NDArray[np.float64]
    logits: bool
    class_names: tuple[str, ...] | None
    groups: NDArray[np.str_] | None = None
    cluster: NDArray[np.str_] | None = None
    time: NDArray[np.str_] | None = None
    sample_weight: NDArray[np.float64] | None = None
    predicted: NDArray[np.int64] | None = None  # number of the predicted class, as `y_true`

    @property
    def label(self) -> NDArray[np.int64]:
        """What `scores` are about: the label, or whether the predicted class was right."""
        if self.predicted is None:
            return self.y_true
        return np.asarray(self.y_true == self.predicted).astype(np.int64)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.y_true)

    @property
    def nbytes(self) -> int:
        """Memory that labels, scores and names take."""
        arrays = (getattr(self, name) for name in _COLUMNS)
        return sum(array.nbytes for array in arrays if array is not None)

    @property
    def named(self) -> dict[str, Any]:
        """What is known of the rows beside labels and scores: groups, cluster, time, weight."""
        return {name: getattr(self, name) for name in _BESIDE if getattr(self, name) is not None}

    @property
    def arguments(self) -> dict[str, Any]:
        """What `audit` is to be told of the rows."""
        named = self.scores.ndim == 2 or self.predicted is not None
        names = self.class_names if named else None
        scores = {"logits" if self.logits else "y_prob": self.scores, "predicted": self.predicted}
        return {"y_true": self.y_true, "class_names": names} | self.named | scores

    def take(self, rows: Any) -> "Predictions":
        """Return some rows, by place or mask."""
        parts: dict[str, Any] = {name: getattr(self, name) for name in _COLUMNS}
        chosen: dict[str, Any] = {k: None if v is None else v[rows] for k, v in parts.items()}
        return replace(self, **chosen)


def of_table(given: Mapping[str, Any], label: str | None, prob: Any) -> dict[str, Any]:
    """Return what an audit is given, with columns in the place of the names of a table."""
    if label is None and prob is None:
        return dict(given)
    table = given["y_true"]
    names = column_names(table) or (list(table) if isinstance(table, Mapping) else None)
    if names is None or label is None or given["y_prob"] is not None:
        raise ValueError(
            "label= and prob= name columns of one table, which comes first: audit(table, "
            f'label="y", prob="p"); got {type(table).__name__} and label={label!r}.'
        )
    named = {k: v for k, v in given.items() if k in _BY_NAME and isinstance(v, str)}
    if missing := [name for name in (label, *named.values()) if name not in names]:
        raise ValueError(f"column {missing[0]!r} is not there; the columns are {listed(names)}.")
    taken = {key: table[name] for key, name in named.items()}
    if prob is not None:
        found = columns_of(label, prob).found_in(list(map(str, names)), Place("the table"))
        columns = [unwrapped(table[name], name) for name in found.prob]
        taken["y_prob"] = columns[0] if len(columns) == 1 else np.column_stack(columns)
        off = np.abs(np.sum(columns, axis=0) - 1)
        if len(columns) > 1 and off.max() > _NO_CLASSES:
            raise ValueError(
                f"the columns {listed(found.prob)} do not sum to 1, but columns are classes of one "
                "model. Several targets are several audits: a label for each. Models: see compare."
            )
        if len(columns) > 1 and given["class_names"] is None:
            taken["class_names"] = found.classes or found.prob
    return {**given, "y_true": table[label], **taken}


def pairs_of(labels: Sequence[str], probs: Any) -> list[tuple[str, Any]]:
    """Return each of several labels with its predictions."""
    if isinstance(probs, str | None) or len(probs) != len(labels) or len({*labels}) < len(labels):
        raise ValueError(
            f"several labels need as many predictions, e.g. y1, y2 by p1, p2; got {labels!r} by "
            f"{probs!r}. Several models of one label are for compare."
        )
    return list(zip(labels, probs, strict=True))


class TooLarge(Exception):
    """The rows need more memory than was allowed."""


def read_predictions(
    path: str | PathLike[str], *, limit: int | None = None, **columns: Any
) -> Predictions:
    """Read labels and predictions from a CSV, Parquet or NumPy file; see `keep` for the limit.

    `columns`: what `counts.count_files` is told of a file, and ``group``, ``cluster``,
    ``time``, ``weight`` and ``logits``.
    """
    return keep(rows_of_files(resolve_all([path], columns_of(**columns))), limit)


def keep(blocks: Iterable[Predictions], limit: int | None) -> Predictions:
    """Keep all rows, up to so many bytes; beyond, `TooLarge` is raised."""
    kept, taken = [], 0
    for block in blocks:
        kept.append(block)
        taken += block.nbytes
        if limit is not None and taken > limit:
            raise TooLarge
    return join(kept)


def side_by_side(models: Sequence[Files]) -> Files:
    """Return the files with the columns of all models, classes in the order of the first's."""
    files = []
    for (path, first), *others in zip(*models, strict=True):
        prob, names = list(first.prob), _names(first)
        for _, other in others:
            if set(_names(other)) != set(names):
                raise ValueError(
                    f"the models have different classes: {', '.join(names)} and "
                    f"{', '.join(_names(other))}."
                )
            prob += [other.prob[_names(other).index(name)] for name in names]
        files.append((path, replace(first, prob=tuple(prob))))
    return files


def _names(columns: Columns) -> tuple[str, ...]:
    if columns.predicted:
        return ("confidence",)
    return columns.classes or tuple(map(str, range(len(columns.prob))))


def rows_of_files(
    files: Files, *, models: int = 1, progress: bool = False
) -> Iterator[Predictions]:
    """Yield the rows of all files; at their end, look at the labels that were met."""
    words, n, events, place = Counter[str](), 0, 0, Place(files[0][0])
    for path, columns in files:
        for block in _blocks_of(path, columns, words, models, progress):
            n, events = n + block.n, events + int(block.label.any())
            yield block
    if not n:
        raise place.error("there are no rows.")
    check_words(words, files[0][1], place)
    first = files[0][1]
    if not events and len(first.prob) == models and not first.predicted:
        raise ValueError("y = 1 never occurs. Is the positive label the right one?")


def _blocks_of(
    path: str, columns: Columns, words: Counter[str], models: int, progress: bool
) -> Iterator[Predictions]:
    each = np.reshape(columns.prob, (models, -1)).tolist()
    total = n_blocks(path, len(columns.needed))
    for block in track(blocks_of(path, columns), total, show=progress, label="reading"):
        # Labels are those of the first model, and counted once.
        seen = [words] + [Counter[str]()] * (models - 1)
        read = [
            predictions_of(block, replace(columns, prob=tuple(prob)), counter)
            for prob, counter in zip(each, seen, strict=True)
        ]
        if not len(read[0][0]):
            continue
        true, said = read[0][0], None
        if columns.predicted:
            true, said = true_and_predicted(block, columns)
        scores = read[0][1] if models == 1 else np.column_stack([scores for _, scores in read])
        held = zip(_NAMES, (columns.group, columns.cluster, columns.time), strict=True)
        named: dict[str, Any] = {name: words_of(block, column) for name, column in held if column}
        if columns.weight:
            named["sample_weight"] = weights_of(block, columns.weight)
        yield Predictions(
            y_true=true.astype(np.int64, copy=False),
            predicted=said,
            scores=scores.astype(np.float64, copy=False),
            logits=columns.logits,
            class_names=columns.classes,
            **named,
        )


def join(blocks: Sequence[Predictions]) -> Predictions:
    """Return the rows of all blocks, in their order."""
    parts: dict[str, list[Any]] = {k: [getattr(one, k) for one in blocks] for k in _COLUMNS}
    joined: dict[str, Any] = {
        k: None if v[0] is None else np.concatenate(v) for k, v in parts.items()
    }
    return replace(blocks[0], **joined)
