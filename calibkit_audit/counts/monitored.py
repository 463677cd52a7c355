"""Show files of any size to a `calibkit_audit.Monitor`, each of them once."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from scipy import special

from calibkit_audit.counts.blocks import Place, quoted
from calibkit_audit.counts.columns import check_words, columns_of, predictions_of
from calibkit_audit.counts.files import FilePath, blocks_of, resolve_all
from calibkit_audit.monitor import Evidence, Monitor


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
        Its `notes` keep name and SHA-256 of each file: the same rows cannot count twice.
    paths : iterable of path
    label, prob : str
        Columns, as in `count_files`.
    logits : bool
        `prob` names logits.
    **columns
        ``positive``, ``classes``, ``predicted``, ``delimiter``, ``decimal``, as in `count_files`.

    Returns
    -------
    Evidence
        After these rows. Builds on lesson 14.

    Raises
    ------
    PredictionFileError
        As in `count_files`, or if a file was shown before; then the monitor is as it was.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/monday.npz", y=[1, 0], p=[.9, .2])
    ...     monitor_files(Monitor(), [f"{folder}/monday.npz"], label="y", prob="p").n
    2
    """
    files = resolve_all(list(paths), columns_of(label, prob, logits=logits, **columns))
    new, positive = deepcopy(monitor), columns.get("positive")
    # A label that was seen on another day is not misspelt because today has none.
    words = Counter([positive.strip()] if positive and monitor.evidence.events else [])
    for path, found in files:
        place = Place(path)
        with Path(path).open("rb") as file:
            digest = f"SHA-256 {hashlib.file_digest(file, 'sha256').hexdigest()}"
        for note in new.notes:
            if digest in note:
                raise place.error(
                    f"its rows have counted already, as {quoted(note.partition(', SHA-256')[0])}. "
                    "Leave it out; nothing has counted now."
                )
        new.notes.append(f"{Path(path).name}, {digest}")
        for block in blocks_of(path, found):
            labels, scores = predictions_of(block, found, words)
            if logits:
                scores = special.expit(scores) if scores.ndim == 1 else special.softmax(scores, 1)
            if len(labels):
                new.update(labels, scores)
    if files and new.evidence.n == monitor.evidence.n:
        raise Place(files[0][0]).error("there are no rows.")
    if files:
        check_words(words, files[0][1], Place(files[0][0]))
    vars(monitor).update(vars(new))
    return monitor.evidence
