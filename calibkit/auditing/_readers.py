"""Read predictions from a file, or count them where the file is too large to keep.

What counts rows and what keeps them is the same stream of checked blocks, `calibkit.counts`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit._progress import track
from calibkit.counts import _sources
from calibkit.counts._blocks import Dialect, Place, quoted
from calibkit.counts._columns import Columns, columns_of, groups_of_rows, predictions_of

FilePath = str | PathLike[str]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Predictions:
    """Labels and predictions of a file.

    Parameters
    ----------
    y_true : ndarray of int, shape (n,)
        Labels.
    scores : ndarray of shape (n,) or (n, K)
        Probabilities or logits.
    logits : bool
        Which of them.
    groups : ndarray of str, shape (n,), or None
        Group of each row.
    class_names : tuple of str or None
        Names of the classes, where the file or the caller has names.
    """

    y_true: NDArray[np.int64]
    scores: NDArray[np.float64]
    logits: bool
    groups: NDArray[np.str_] | None
    class_names: tuple[str, ...] | None

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.y_true)

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
    path: FilePath,
    *,
    label: str,
    prob: str | Sequence[str],
    positive: str | None = None,
    classes: Sequence[str] | None = None,
    group: str | None = None,
    logits: bool = False,
    delimiter: str | None = None,
    decimal: str = ".",
    memory_limit: int | None = None,
) -> Predictions:
    r"""Read labels and predictions from a CSV, Parquet or NumPy file.

    Parameters
    ----------
    path : path
        A file whose name ends in .csv, .csv.gz, .tsv, .parquet, .npz or .npy.
    label : str
        Column of the labels.
    prob : str or sequence of str
        Column of P(y = 1), or one column per class; ``"p_*"`` for all that begin with ``p_``.
    positive : str, optional
        The label that means y = 1.
    classes : sequence of str, optional
        The label that belongs to each column of `prob`.
    group : str, optional
        Column of the groups.
    logits : bool
        Whether `prob` names logits instead of probabilities.
    delimiter : str, optional
        What separates the columns of a CSV file; by default a comma, in .tsv files a tab.
    decimal : {".", ","}
        The decimal mark of a CSV file.
    memory_limit : int, optional
        Bytes that the rows may take.

    Returns
    -------
    Predictions

    Raises
    ------
    PredictionFileError
        If the file cannot be read, a column is missing, or a value is not valid; the message
        names file, row group and row.
    TooLarge
        If the rows take more than `memory_limit`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "log.csv"
    ...     size = path.write_text("answer,score\nyes,.9\nno,.2\n")
    ...     rows = read_predictions(path, label="answer", prob="score", positive="yes")
    >>> rows.y_true.tolist(), rows.scores.tolist()
    ([1, 0], [0.9, 0.2])
    """
    wanted = columns_of(
        label,
        prob,
        positive=positive,
        classes=classes,
        group=group,
        logits=logits,
        dialect=Dialect.checked(delimiter, decimal),
    )
    columns = _sources.resolve(path, wanted)
    rows = keep(rows_in_blocks(path, columns), Place(str(path)), memory_limit)
    check_events(rows, Place(str(path)), columns)
    return rows


def keep(blocks: Iterable[Predictions], place: Place, limit: int | None) -> Predictions:
    """Keep all rows, up to so many bytes; beyond, `TooLarge` is raised."""
    kept, taken = [], 0
    for block in blocks:
        kept.append(block)
        taken += bytes_of(block)
        if limit is not None and taken > limit:
            raise TooLarge
    if not kept:
        raise place.error("there are no rows.")
    return join(kept)


def check_events(rows: Predictions, place: Place, columns: Columns) -> None:
    """Refuse a positive label that never occurs: it is probably misspelt."""
    if columns.positive is not None and not rows.y_true.any():
        raise place.error(
            f"the positive label {quoted(columns.positive)} never occurs in column "
            f"{quoted(columns.label)}."
        )


def rows_in_blocks(
    path: FilePath, columns: Columns, *, progress: bool = False
) -> Iterator[Predictions]:
    """Yield the rows of a file, checked, a block at a time."""
    stream = _sources.blocks(path, columns)
    total = _sources.n_blocks(path, len(columns.needed))
    for block in track(stream, total, show=progress, label="reading"):
        labels, scores = predictions_of(block, columns)
        if not len(labels):
            continue
        yield Predictions(
            y_true=labels.astype(np.int64, copy=False),
            scores=scores.astype(np.float64, copy=False),
            logits=columns.logits,
            groups=groups_of_rows(block, columns) if columns.group else None,
            class_names=columns.classes,
        )


def bytes_of(rows: Predictions) -> int:
    """Return the memory that rows take."""
    return (
        rows.y_true.nbytes + rows.scores.nbytes + (0 if rows.groups is None else rows.groups.nbytes)
    )


def join(blocks: Sequence[Predictions]) -> Predictions:
    """Join blocks of rows of the same columns."""
    first = blocks[0]
    groups: list[Any] = [block.groups for block in blocks]
    return replace(
        first,
        y_true=np.concatenate([block.y_true for block in blocks]),
        scores=np.concatenate([block.scores for block in blocks]),
        groups=None if first.groups is None else np.concatenate(groups),
    )
