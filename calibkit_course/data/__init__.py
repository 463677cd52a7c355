"""Real predictions with outcomes, each with origin, licence and checksum.

Those that lessons use come with the package, in compact form (folder `shipped`), so that everybody
sees the same digits. For the others, and for originals, `load` looks in the folder that the
environment variable ``CALIBKIT_DATA`` names, then in the user's cache, then downloads the file; its
SHA-256 must be right. Used from lesson 01 on.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit.results import Frozen, read_only, spell
from calibkit_course.data.files import DataUnavailable, download, find, read, read_shipped, shipped
from calibkit_course.data.registry import REGISTRY, Entry

__all__ = ["REGISTRY", "DataUnavailable", "Entry", "Predictions", "available", "load"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Predictions(Frozen):
    """Predictions with what happened.

    Parameters
    ----------
    y_true, y_prob : ndarray
        As in `binary_problem`; read-only.
    name, title, note, origin, licence : str
        Name in the registry, what it is, which rows were left out and why (empty if none),
        where it comes from, and its licence there.
    columns : mapping of str to ndarray
        What else a row has: of a game ``season``, ``date``, ``team1`` and ``team2``, by which rows
        cluster; of an ImageNet file ``true_label`` and ``pred_label``.
    """

    y_true: NDArray[np.int64]
    y_prob: NDArray[np.floating[Any]]
    name: str
    title: str
    note: str
    origin: str
    licence: str
    columns: Mapping[str, NDArray[Any]]

    @property
    def n(self) -> int:
        """Number of predictions."""
        return len(self.y_true)

    def describe(self) -> str:
        """Say what it is, how much of it there is, and where it is from."""
        classes = f", {self.y_prob.shape[1]} classes" if self.y_prob.ndim == 2 else ""
        note = f"; {self.note}" if self.note else ""
        return (
            f"{self.title[0].upper()}{self.title[1:]}: {spell(self.n, 'prediction')}{classes}"
            f"{note}. From {self.origin} ({self.licence})."
        )

    def __repr__(self) -> str:
        return f"<Predictions: {self.describe()}>"


def load(name: str, *, original: bool = False) -> Predictions:
    """Load a data set of the registry.

    Games and matches: ``y_prob`` is P(team 1 wins), or win, tie and loss of team 1. ImageNet
    files hold the confidence in the predicted class only, so they are binary: was it right?

    Parameters
    ----------
    name : str
        One of ``REGISTRY``, e.g. ``"mlb"``, ``"nba"``, ``"world_cup"``, ``"cifar10-vgg16"``.
    original : bool, default=False
        Whether to take the file as published, also where the package has it. There forecasts of
        games are the same to the last bit; logits of networks are rounded, so that their
        probabilities differ by 0.0002 at most.

    Returns
    -------
    Predictions
        With ``y_true`` and ``y_prob``, further columns, and where they come from.

    Raises
    ------
    ValueError
        If there is no data set of this name, or if the file found is another one.
    DataUnavailable
        If the file is neither on this machine nor to be downloaded.

    Examples
    --------
    >>> load("nfl").columns["season"].max()
    np.int64(2021)
    >>> load("chess")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: There is no data set 'chess'; there are mlb, nba, nfl, world_cup, ...
    """
    entry = _entry(name)
    compact = None if original else shipped(entry)
    if compact is not None:
        y_true, y_prob, note, columns = read_shipped(compact)
    else:
        y_true, y_prob, note, columns = read(find(entry) or download(entry), entry.kind)
    return Predictions(
        y_true=y_true,
        y_prob=y_prob,
        name=name,
        title=entry.title,
        note=note,
        origin=entry.origin,
        licence=entry.licence,
        columns={name: read_only(column) for name, column in columns.items()},
    )


def available(name: str, *, original: bool = False) -> bool:
    """Tell whether a data set can be loaded without a network.

    Parameters
    ----------
    name : str
        One of ``REGISTRY``.
    original : bool, default=False
        Whether to ask for the file as published.

    Examples
    --------
    >>> available("mlb")
    True
    """
    entry = _entry(name)
    return bool((not original and shipped(entry)) or find(entry))


def _entry(name: str) -> Entry:
    if name not in REGISTRY:
        raise ValueError(f"There is no data set {name!r}; there are {', '.join(REGISTRY)}.")
    return REGISTRY[name]
