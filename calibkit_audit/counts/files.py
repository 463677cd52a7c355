"""Logs: files of predictions with the same columns, read, or shown to a monitor."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from itertools import chain
from os.path import samefile
from pathlib import Path
from typing import Any

import numpy as np
from scipy import special

from calibkit.calibrators.multiclass import as_scores
from calibkit.inputs import warn
from calibkit_audit.counts.columns import (
    Columns,
    Words,
    columns_of,
    events_of,
    plain_word,
    scores_of,
    texts_of,
    with_values,
    words_of,
)
from calibkit_audit.counts.places import Place, quote, quotes
from calibkit_audit.counts.readers import Block, Dialect, FilePath, blocks_of, column_names
from calibkit_audit.incoming import AS_PROBABILITIES, LEFT_OUT, Changes, changes_in_words
from calibkit_audit.monitor import Evidence, Monitor


@dataclass(frozen=True, slots=True)
class Log:
    """Files with the same columns, all of which are there."""

    paths: tuple[str, ...]
    columns: Columns
    dialect: Dialect
    drop_missing: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)  # of another file, by `columns.on`
    changes: Changes = field(default_factory=Changes)  # how many rows were left out, or rescaled

    def blocks(self, more: Sequence[str] = ()) -> Iterator[Block]:
        """Yield the rows of all files; `more`: columns of the predictions of other models."""
        names, n = dict.fromkeys((*self.columns.names, *more)), 0
        if self.columns.on:
            names.pop(self.columns.label)
        parts = (blocks_of(path, list(names), dialect=self.dialect) for path in self.paths)
        for block in chain.from_iterable(parts):
            rows = block
            if self.columns.on:
                found = list(map(self.labels.get, texts_of(block, self.columns.on)))
                joined = {self.columns.label: np.array(found, dtype=object)}
                rows = block._replace(columns=block.columns | joined)
            if self.drop_missing:
                rows = with_values(rows, self.columns, (*self.columns.prob, *more))
                self.changes[LEFT_OUT] += block.n - rows.n
            if rows.n:
                n += rows.n
                yield rows
        if not n:
            left = f" ({said})" if (said := changes_in_words(self.changes)) else ""
            raise Place(self.paths[0]).error(f"there are no rows{left}.{self.columns.joined}")


def open_log(
    paths: Iterable[FilePath],
    *,
    label: str,
    prob: str | Sequence[str],
    delimiter: str | None = None,
    decimal: str = ".",
    drop_missing: bool = False,
    labels: FilePath | None = None,
    **given: Any,
) -> Log:
    """Look at the columns of all files: they must hold the same classes, matched by name.

    `drop_missing`: leave out, and count, rows without a label or prediction. `labels`: the file
    that holds the labels, found by the column ``on`` of both. `given`: ``positive``, ``classes``,
    ``predicted`` as in `monitor_files`; ``logits``; ``percent``; ``rescale``; and the columns
    ``group``, ``cluster``, ``time``, ``weight``.
    """
    if (labels is None) != (given.get("on") is None):
        raise ValueError("labels= and on= go together: a file, and a column of both files.")
    wanted = columns_of(label, prob, labels_in=str(labels or ""), **given)
    dialect = Dialect(delimiter, decimal)
    names, found = [str(path) for path in paths], list[Columns]()
    for number, path in enumerate(names):
        place = Place(path)
        there = column_names(path, dialect)
        if labels is not None:  # and not those of the file, if it has some
            there = [*(name for name in there if name != label), label]
        found.append(wanted.resolve(there, place))
        if any(samefile(path, other) for other in names[:number]):  # two links are one file
            raise place.error("the file is named twice; its rows would count twice.")
        if _by_class(found[-1]) != _by_class(found[0]):
            raise place.error(
                f"its columns of probabilities are {quotes(found[-1].prob)}, those of "
                f"{quote(names[0])} are {quotes(found[0].prob)}. Files read together "
                "need the same columns."
            )
    if not names:
        raise ValueError("There are no files to read.")
    log = Log(tuple(names), found[0], dialect, drop_missing)
    return log if labels is None else replace(log, labels=_read_labels(wanted.labels_in, log))


def _read_labels(path: str, log: Log) -> dict[str, str]:
    """Return the label of each value of ``on`` in a file; a value that comes twice is refused."""
    label, on = log.columns.label, log.columns.on or ""
    columns = Columns(label, (on,)).resolve(column_names(path, log.dialect), Place(path))
    labels: dict[str, str] = {}
    own = replace(log, paths=(path,), columns=columns, drop_missing=False)
    for block in own.blocks():
        rows = with_values(block, log.columns)  # a label that is missing is none
        pairs = zip(words_of(rows, on), words_of(rows, label), strict=True)
        for row, (key, text) in enumerate(pairs):
            if key in labels:
                what = f"{quote(on)} = {quote(key)} comes twice; which label is the right one?"
                raise rows.place.error(what, row)
            labels[key] = text
    return labels


def _by_class(columns: Columns) -> dict[str, str]:
    return dict(zip(columns.prob, columns.classes or columns.prob, strict=True))


def monitor_files(
    monitor: Monitor,
    paths: Iterable[FilePath],
    *,
    label: str,
    prob: str | Sequence[str],
    logits: bool = False,
    **columns: Any,
) -> Evidence:
    """Let a monitor bet on the rows of files, in their order; all files count, or none.

    Parameters
    ----------
    monitor : Monitor
        Its `notes` keep name and SHA-256 of each file: neither can come twice. So a log that
        grows is refused; new rows belong in a file of their own.
    paths : iterable of path
    label, prob : str
        Columns of the labels and of P(y = 1); or a sequence of columns, one per class. ``"p_*"``
        stands for all that begin with ``p_``; the rest of their names then name the classes.
    logits : bool
        `prob` names logits.
    **columns
        ``positive``, the label that means y = 1, unless labels are 0 and 1 (or true and false);
        ``classes``, the label of each column of `prob`, unless labels are the numbers of the
        columns, from 0, or their names; ``predicted``, the column of the predicted class: `label`
        is then the true class, spelt alike, and `prob` the confidence; ``labels`` and ``on``, a
        file with the labels and the column by which they are found; ``delimiter``, what separates
        the columns of a CSV file (by default a comma, in .tsv files a tab), and ``decimal``, its
        decimal mark.

    Returns
    -------
    Evidence
        After these rows. Builds on lesson 14.

    Raises
    ------
    PredictionFileError
        If a file cannot be read to its end, a column is missing, or a value is not valid (the
        message names file and row), or if a file was shown before; then the monitor is
        as it was.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/monday.npz", y=[1, 0], p=[.9, .2])
    ...     monitor_files(Monitor(), [f"{folder}/monday.npz"], label="y", prob="p").n
    2
    """
    log = open_log(paths, label=label, prob=prob, logits=logits, **columns)
    new, positive = deepcopy(monitor), log.columns.positive
    # A label that was seen on another day is not misspelt because today has none.
    words = Words(set)
    words[label].update([positive] if positive and monitor.evidence.events else [])
    for path in log.paths:
        _take_note(new, path)
    for block in log.blocks():
        (scores,) = scores_of(block, [log.columns], log.changes)
        labels = events_of(block, log.columns, words)
        if logits:
            scores = as_scores(scores, "logits", AS_PROBABILITIES)
            scores = special.expit(scores) if scores.ndim == 1 else special.softmax(scores, 1)
        new.update(labels, scores)
    check_words(words, log)
    if said := changes_in_words(log.changes):
        new.notes.append(said)
        warn(f"{said}.")
    vars(monitor).update(vars(new))
    return monitor.evidence


def _take_note(monitor: Monitor, path: str) -> None:
    """Keep name and SHA-256 of a file; refuse one that is known by either."""
    name = Path(path).name
    with Path(path).open("rb") as file:
        digest = f"SHA-256 {hashlib.file_digest(file, 'sha256').hexdigest()}"
    for note in monitor.notes:
        known, _, own = note.rpartition(", ")
        if own == digest or (own.startswith("SHA-256") and known == name):
            raise Place(path).error(
                f"its rows have counted already, or may have, as {quote(known)}. Leave it out; new "
                "rows belong in a file of their own, of another name. Nothing has counted now."
            )
    monitor.notes.append(f"{name}, {digest}")


# --- what only all rows can show ------------------------------------------------------------------


def check_words(words: Words, log: Log) -> None:
    """Refuse what only all rows can show: words that are misspelt, and a third label."""
    columns, place = log.columns, Place(log.paths[0])
    if columns.predicted:
        _check_classes(words[columns.label], words[columns.predicted], place)
    if columns.positive is None:
        return
    positive, column = columns.positive.strip(), quote(columns.label)
    seen = words[columns.label]
    if positive not in seen:
        raise place.error(f"the positive label {quote(positive)} never occurs in column {column}.")
    if len(seen) > 2:
        others = quotes(sorted(seen - {positive}))
        raise place.error(
            f"column {column} holds {len(seen) - 1} labels beside the positive {quote(positive)}: "
            f"{others}. Only one may mean y = 0: drop or rename the others."
        )


def _check_classes(true: set[str], predicted: set[str], place: Place) -> None:
    """Refuse predicted classes that are no true ones, or true ones in another spelling."""
    if not true & predicted:
        raise place.error(
            f"No predicted class is among the true ones, which are {quotes(sorted(true))}; the "
            f"predicted ones are {quotes(sorted(predicted))}. Spell both alike."
        )
    known = {plain_word(word): word for word in true}
    for word in sorted(predicted - true):
        if other := known.get(plain_word(word)):
            raise place.error(
                f"{quote(other)} and {quote(word)} look like one class, but one is among the "
                "predicted classes only. Spell both columns alike."
            )
