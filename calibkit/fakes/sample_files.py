"""Small files of predictions, each with something to find and a known truth. Lesson 14."""

import csv
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibkit._result import read_only
from calibkit.fakes._sample import FakeSample, FloatVector
from calibkit.fakes.knob import KnobClassifier
from calibkit.fakes.logit import LogitDistortion
from calibkit.fakes.verbal import VerbalModel

ANIMALS = ("cat", "dog", "owl")
_EMPTY_ROWS, _EMPTY_COLUMN = slice(400, 440), 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SampleFile:
    """Labels and predictions of a bundled file, and what is true about them.

    Parameters
    ----------
    name : str
        Its name in `SAMPLE_FILES`.
    title : str
        What it claims to be.
    y_true : ndarray of int, shape (n,)
        Labels as the file has them.
    y_prob : ndarray of shape (n,) or (n, K)
        Predictions as the file has them.
    class_names : tuple of str, or None
        Names of the classes, where there are more than two.
    truth : str
        What is wrong with it, in words.

    Notes
    -----
    Taught in lesson 14.

    Examples
    --------
    >>> sample_file("small clinic").n
    300
    """

    name: str
    title: str
    y_true: NDArray[np.int64]
    y_prob: FloatVector
    class_names: tuple[str, ...] | None
    truth: str

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.y_true)

    def write_csv(self, path: str | PathLike[str]) -> Path:
        """Write the rows as a CSV file, and return its path.

        The column ``label`` holds 0 and 1, or the names of the classes. The column ``p`` holds
        P(label = 1); with more classes there is one column per class, such as ``p_cat``.
        """
        names = self.class_names
        heads = ["p"] if names is None else [f"p_{name}" for name in names]
        rows = zip(self.y_true.tolist(), np.atleast_2d(self.y_prob.T).T.tolist(), strict=True)
        with Path(path).open("w", newline="", encoding="utf-8") as stream:
            out = csv.writer(stream)
            out.writerow(["label", *heads])
            for label, prob in rows:
                shown = label if names is None else names[label]
                out.writerow([shown, *(prob if isinstance(prob, list) else [prob])])
        return Path(path)


def sample_file(name: str) -> SampleFile:
    """Return a bundled file of predictions.

    Parameters
    ----------
    name : str
        One of `SAMPLE_FILES`.

    Returns
    -------
    SampleFile

    Raises
    ------
    ValueError
        If there is no file of that name.

    Notes
    -----
    All are drawn from fake classifiers with fixed seeds, so the truth is known. "broken file" is
    not valid on purpose: in forty rows the last column is empty, and each label stands one row
    too low. `mended_file` returns it as it should be. Taught in lesson 14.

    Examples
    --------
    >>> sample_file("language model").title
    'what a language model says of its own answers'
    """
    if name not in _MAKERS:
        raise ValueError(f"there is no sample file {name!r}; there are {', '.join(_MAKERS)}.")
    title, make, truth = _MAKERS[name]
    y_true, y_prob, names = make()
    return SampleFile(
        name=name,
        title=title,
        y_true=read_only(y_true),
        y_prob=read_only(y_prob),
        class_names=names,
        truth=truth,
    )


def mended_file() -> tuple[NDArray[np.int64], FloatVector]:
    """Return labels and probabilities of "broken file" as they should be.

    Returns
    -------
    y_true : ndarray of int, shape (1200,)
    y_prob : ndarray of shape (1200, 3)

    Notes
    -----
    The answer to exercise 14.2.

    Examples
    --------
    >>> labels, prob = mended_file()
    >>> labels.shape, prob.shape
    ((1200,), (1200, 3))
    """
    rows = _animals()
    return np.array(rows.y_true), np.array(rows.y_prob)


_Rows = tuple[NDArray[Any], FloatVector, tuple[str, ...] | None]


def _clinic() -> _Rows:
    rows = LogitDistortion(scores=(0.8, 0.8)).sample(300, rng=4)
    return rows.y_true, rows.y_prob, None


def _mixed_up() -> _Rows:
    rows = LogitDistortion(scores=(1.0, 1.5)).sample(1500, rng=14)
    return np.random.default_rng(1).permutation(rows.y_true), rows.y_prob, None


def _screening() -> _Rows:
    rows = LogitDistortion(slope=0.5, scores=(0.5, 2.0)).sample(2500, rng=14)
    return rows.y_true, rows.y_prob, None


def _language() -> _Rows:
    rows = VerbalModel().sample(2000, rng=17)
    return rows.y_true, rows.y_prob, None


def _few() -> _Rows:
    rows = LogitDistortion(slope=0.8, scores=(1.0, 1.5)).sample(30, rng=14)
    return rows.y_true, rows.y_prob, None


def _animals() -> FakeSample:
    return KnobClassifier(3, 0.75, budget_share=0.5, direction="under").sample(1200, 14)


def _three_animals() -> _Rows:
    rows = _animals()
    return rows.y_true, rows.y_prob, ANIMALS


def _broken() -> _Rows:
    rows = _animals()
    prob = np.array(rows.y_prob)
    prob[_EMPTY_ROWS, _EMPTY_COLUMN] = 0
    return np.roll(rows.y_true, 1), prob, ANIMALS


_MAKERS: dict[str, tuple[str, Callable[[], _Rows], str]] = {
    "small clinic": (
        "300 patients of a clinic",
        _clinic,
        "calibrated: the true probabilities themselves",
    ),
    "mixed-up file": (
        "predictions and labels from two tables",
        _mixed_up,
        "calibrated, but the labels were shuffled",
    ),
    "screening": (
        "a score for the screening of 2,500 people",
        _screening,
        "over-confident: logits twice as large as they should be",
    ),
    "language model": (
        "what a language model says of its own answers",
        _language,
        "few favourite numbers, too high by 23 points on average",
    ),
    "three animals": (
        "pictures of cats, dogs and owls",
        _three_animals,
        "under-confident, by half of what is possible",
    ),
    "thirty patients": (
        "a pilot study",
        _few,
        "slightly over-confident, which thirty rows cannot show",
    ),
    "broken file": (
        "the pictures again, after an export",
        _broken,
        "in 40 rows the last column is empty, and all labels stand one row too low",
    ),
}
SAMPLE_FILES: tuple[str, ...] = tuple(_MAKERS)
